#!/bin/sh
# Installs what `make all` built, and removes it: ci/install.sh HEADER... | ci/install.sh --uninstall,
# with BUILD, PREFIX, LIBDIR (lib), DESTDIR, VERSION and LIBS in the environment. `make install` and
# `make uninstall` are the way to call it. What was installed is listed in share/alar/installed.
set -eu

root=${DESTDIR}${PREFIX}
lib=${LIBDIR:-lib}
list=$root/share/alar/installed

if [ "${1:-}" = --uninstall ]; then
    if [ ! -e "$list" ]; then
        echo "make uninstall: expected $list, which make install writes, found none" >&2
        exit 3
    fi
    # Files first; then the directories that are empty now, the deepest first.
    while read -r file; do rm -f "$root/$file"; done <"$list"
    folders=$(sed 's,/[^/]*$,,' "$list" | sort -u | while read -r folder; do
        while [ "$folder" != . ] && [ -n "$folder" ]; do
            echo "$folder"
            case $folder in */*) folder=${folder%/*} ;; *) folder= ;; esac
        done
    done | sort -ru)
    rm -f "$list"
    for folder in $folders share/alar; do
        case $folder in
        *alar*) rmdir "$root/$folder" 2>/dev/null || true ;;
        esac
    done
    exit 0
fi

mkdir -p "$root/share/alar"
: >"$list"
note() { echo "$1" >>"$list"; } # note FILE: below $root
put() { # put MODE DIRECTORY FILE...: files that were not built are passed over
    mode=$1 directory=$2
    shift 2
    for file in "$@"; do
        [ -e "$file" ] || continue
        install -D -m "$mode" "$file" "$root/$directory/$(basename "$file")"
        note "$directory/$(basename "$file")"
    done
}

put 755 bin "$BUILD/alar"
put 644 "$lib" "$BUILD/libalar.a"
put 755 lib/alar "$BUILD"/alar-*.so
put 644 include/alar "$@"

# The losses that `alar run` logs, and the fault plans: share/alar/gpt-losses, share/alar/plans.
put 644 share/alar/gpt-losses tests/data/gpt-losses/README.md
put 644 share/alar/gpt-losses/train tests/data/gpt-losses/train/*
put 644 share/alar/gpt-losses/diverge tests/data/gpt-losses/diverge/*
put 644 share/alar/plans faults/plans/*.plan
put 644 share/alar/spec spec/*.md spec/view*.png spec/verdict.schema.json
put 644 share/alar/examples ci/examples/*
# The Python package, for PYTHONPATH=.../share/alar/python; pip install ./ref/python is the other way.
(cd ref/python && find alar -name '*.py' -o -name py.typed) | while read -r file; do
    put 644 "share/alar/python/$(dirname "$file")" "ref/python/$file"
done

# Written by the program itself, from its tables of options.
write() { # write FILE ARGUMENT...: what alar prints
    file=$1
    shift
    mkdir -p "$(dirname "$root/$file")"
    "$BUILD/alar" "$@" >"$root/$file"
    note "$file"
}
write share/man/man1/alar.1 help --man
for command in $("$BUILD/alar" help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'); do
    write "share/man/man1/alar-$command.1" help --man "$command"
done
write share/bash-completion/completions/alar completion bash
write share/zsh/site-functions/_alar completion zsh
write share/fish/vendor_completions.d/alar.fish completion fish

put 755 "$lib" "$BUILD/libalar.so"
mv "$root/$lib/libalar.so" "$root/$lib/libalar.so.0"
ln -sf libalar.so.0 "$root/$lib/libalar.so"
note "$lib/libalar.so.0"

mkdir -p "$root/$lib/pkgconfig"
note "$lib/pkgconfig/alar.pc"
cat > "$root/$lib/pkgconfig/alar.pc" <<END
prefix=$PREFIX
includedir=\${prefix}/include
libdir=\${prefix}/$lib

Name: alar
Description: asynchronous log all-reduce: reference engine and correctness oracle
Version: $VERSION
Cflags: -I\${includedir}/alar
Libs: -L\${libdir} -lalar
Libs.private: $LIBS
END

# The program needs no library of ours; other programs find it by the loader's list.
if [ -z "$DESTDIR" ] && ! /sbin/ldconfig -N -v 2>/dev/null | grep -q "^$PREFIX/$lib:"; then
    echo "libalar.so.0 is in $PREFIX/$lib, where the loader does not look: link with -Wl,-rpath,$PREFIX/$lib," \
        "set LD_LIBRARY_PATH, or name the folder in /etc/ld.so.conf.d"
elif [ -z "$DESTDIR" ] && [ "$(id -u)" -eq 0 ]; then
    /sbin/ldconfig
fi
