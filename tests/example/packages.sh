#!/usr/bin/env bash
# Packages and a clean prefix: what is installed works away from the tree, and goes away again.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

# ---- make install, make uninstall ----------------------------------------------------------------
prefix=$SCRATCH/usr
mkdir -p "$prefix/share/doc" && echo mine >"$prefix/share/doc/mine"
check "make install" make -s install PREFIX="$prefix"
away() { (cd / && env -u BUILD "$@"); } # from a folder where nothing of the tree is
expect_text "alar run finds its losses" 0 "same bits" away "$prefix/bin/alar" run --async-log-allreduce --steps 32:36
expect_text "and its plans" 0 "asynchronous" \
    away "$prefix/bin/alar" run --async-log-allreduce --quiet --steps 32:36 --faults faults/plans/straggler.plan
looked() { away "$prefix/bin/alar" run --async-log-allreduce --quiet --steps 32:36 --history "$SCRATCH/h" &&
    away "$prefix/bin/alar" check -q "$SCRATCH/h" && away "$prefix/bin/alar" view "$SCRATCH/h" -o "$SCRATCH/h.html" &&
    grep -q '"verdict":{"path"' "$SCRATCH/h.html" && away "$prefix/bin/alar" cost "$SCRATCH/h"; }
check "records, judges, draws and accounts" looked
expect_text "a back end beside it" 0 "0 leaked" \
    ranks 2 "$prefix/bin/alar" run --backend mpi --async-log-allreduce --quiet --steps 32:36
recorded() { cat >"$SCRATCH/p.c" <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    float in = 1, out;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Finalize();
}
C
    mpicc.mpich "$SCRATCH/p.c" -o "$SCRATCH/p" && away "$prefix/bin/alar" record -o "$SCRATCH/r" -- timeout 60 mpiexec.mpich -n 2 "$SCRATCH/p"; }
check "and a recorder" recorded
pages() { [ "$(ls "$prefix"/share/man/man1/alar*.1 | wc -l)" -ge 14 ] && man -l "$prefix/share/man/man1/alar-check.1" | grep -q -e --junit; }
if command -v man >/dev/null; then check "manual pages that man reads" pages; fi
all_listed() { diff <(cd "$prefix" && find . -type f ! -name installed ! -path ./share/doc/mine | sed 's,^\./,,' | sort) <(sort "$prefix/share/alar/installed" | while read -r file; do [ -L "$prefix/$file" ] || echo "$file"; done); }
check "every installed file is on the list" all_listed
check "make uninstall" make -s uninstall PREFIX="$prefix"
check "leaves what is not ours, and nothing else" test "$(find "$prefix" ! -type d)" = "$prefix/share/doc/mine"
expect_text "uninstalling what is not there" 2 "expected $prefix/share/alar/installed" make -s uninstall PREFIX="$prefix"

# ---- make deb ------------------------------------------------------------------------------------
check "make deb" make -s deb
debs=("$BUILD"/deb/*.deb)
check "three packages" test "${#debs[@]}" -eq 3
no_errors() { lintian --fail-on error --allow-root "${debs[@]}" >"$SCRATCH/lintian" 2>&1; local code=$?; cat "$SCRATCH/lintian"; return $code; }
if command -v lintian >/dev/null; then
    check "lintian finds no error" no_errors
else
    skip "lintian finds no error" "there is no lintian"
fi
root=$SCRATCH/root
unpack() { for deb in "${debs[@]}"; do dpkg-deb -x "$deb" "$root" || return; done; }
check "they unpack beside each other" unpack
expect_text "the packaged program runs" 0 "same bits" away "$root/usr/bin/alar" run --async-log-allreduce --steps 32:36
depends() { dpkg-deb -f "$BUILD"/deb/alar_*.deb Depends | grep -q 'libc6 .*libyajl2'; }
check "and says what it needs" depends
links() {
    local flags
    flags=$(PKG_CONFIG_LIBDIR=$(echo "$root"/usr/lib/*/pkgconfig) PKG_CONFIG_SYSROOT_DIR=$root pkg-config --cflags --libs alar) &&
        cc -std=c11 tests/example/train.c $flags -o "$SCRATCH/train" &&
        LD_LIBRARY_PATH=$(echo "$root"/usr/lib/*-linux-gnu*) ranks 2 "$SCRATCH/train"
}
expect_text "a program builds against -dev and runs with the library" 0 "step 19: loss" links
python() { PYTHONPATH=$root/usr/lib/python3/dist-packages /usr/bin/python3 -c 'import alar'; }
check "the Python package is there" python
completed() { bash -c '. "$1"/usr/share/bash-completion/completions/alar && complete -p alar' _ "$root"; }
check "and the completion" completed
tally
