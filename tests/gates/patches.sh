#!/usr/bin/env bash
# seconds: 900
# Checks of the checks: faults/patches/*.patch break the core on purpose, and the check named in the
# head of each must object in the words given there. Three lines head a patch:
#
#   Breaks: what is wrong from now on
#   Check: unit SUITE/TEST | spec SEARCH       one Criterion test, or one search of spec/verify.sh
#   Says: the words that must appear
#
# What is broken is a copy, one for each patch, so that two patches are tried at a time; a patch that no
# longer applies is a failure.
. "$(dirname "$0")/../lib/tally.sh"

shopt -s nullglob
work=$SCRATCH/whole
units=("$BUILD"/deep/tests/unit/engine/test_*.o)
flags=(-std=c11 -O1 -g -ffp-contract=off -fno-tree-slp-vectorize -D_XOPEN_SOURCE=700 -DALAR_DEEP -I. -Iref)

plant() { # a fresh copy of what is broken, with the objects that the models drive
    rm -rf "$work" && mkdir "$work" && cp -a "$SCRATCH/pristine" "$work/tree"
}
# link [SOURCE]...: the suites with these sources in place of the library's own, as $work/unit
link() {
    local source
    mkdir "$work/objects"
    for source in "$@"; do
        (cd "$work/tree" && gcc "${flags[@]}" -c "$source" -o "$work/objects/$(basename "$source" .c).o") ||
            return 1
    done
    gcc "$work"/objects/*.o "${units[@]}" "$BUILD"/deep/tests/lib/*.o "$BUILD/libdeep.a" \
        -Wl,--as-needed -lcriterion -lmpfr -lgmp -lyajl -lm -ldl -lfiu -o "$work/unit"
}
run_unit() { timeout -k 2 200 "$work/unit" -j2 --filter "$1" 2>&1; }
run_spec() { (cd "$work/tree" && CI='' BUILD=build timeout -k 2 400 spec/verify.sh "$1" 2>&1); }

touched() { # touched PATCH: what to compile again; rows of the table are compiled into one file
    sed -n 's|^+++ b/||p' "$1" | sed 's|^ref/engine/handle.def$|ref/engine/handle.c|'
}
head_of() { sed -n "1,5s/^$2: //p" "$1"; }

objects() { # objects PATCH: the named check fails, in the named words
    local check name words said code=0
    read -r check name < <(head_of "$1" Check)
    words=$(head_of "$1" Says)
    [ -n "$check" ] && [ -n "$words" ] && [ -n "$(head_of "$1" Breaks)" ] || { echo "no head" && return 1; }
    plant
    (cd "$work/tree" && git apply --unsafe-paths -p1 -) <"$1" || { echo "does not apply" && return 1; }
    if [ "$check" = unit ]; then
        # shellcheck disable=SC2046 # one source a word
        link $(touched "$1") || return 1
        said=$(run_unit "$name") || code=$?
    else
        said=$(run_spec "$name") || code=$?
    fi
    echo "$said" | tail -n 40
    [ "$code" -ne 0 ] && grep -qF -e "$words" <<<"$said"
}
try() { # try PATCH: objects to it, and leaves the answer for `told`
    local work
    work=$SCRATCH/try-$(basename "$1" .patch)
    objects "$1" >"$work.said" 2>&1
    echo $? >"$work.code"
    rm -rf "$work"
}
told() { # told PATCH
    local kept
    kept=$SCRATCH/try-$(basename "$1" .patch)
    cat "$kept.said"
    return "$(cat "$kept.code")"
}
whole() { # everything passes before anything is broken
    mkdir -p "$SCRATCH/pristine/ci"
    cp -r Makefile ref spec "$SCRATCH/pristine"
    plant && run_spec handle || return 1
    rm -rf "$SCRATCH/pristine" && cp -a "$work/tree" "$SCRATCH/pristine"
    link && run_unit '*' | grep 'Failing: 0 | Crashing: 0'
}

check "unbroken, the core's suites pass" whole
count=0
for patch in faults/patches/*.patch; do
    while [ "$(jobs -r | wc -l)" -ge 2 ]; do wait -n; done
    try "$patch" &
done
wait
for patch in faults/patches/*.patch; do
    check "$(basename "$patch" .patch): $(head_of "$patch" Breaks)" told "$patch"
    count=$((count + 1))
done
check "there are at least 12 patches" [ "$count" -ge 12 ]
printf 'Breaks: nothing\nCheck: unit handle/*\nSays: handle.def\n' >"$SCRATCH/idle.patch"
expect_code "a patch that changes nothing is a failure" 1 objects "$SCRATCH/idle.patch"
sed 's/^-\(.*\)/-\1 gone/' faults/patches/early-read.patch >"$SCRATCH/stale.patch"
expect_text "a patch that no longer applies is a failure" 1 "does not apply" \
    objects "$SCRATCH/stale.patch"
tally
