#!/usr/bin/env bash
# seconds: 400
# Checks of the checks: faults/patches/*.patch break the core on purpose, and the check named in the
# head of each must object in the words given there. Three lines head a patch:
#
#   Breaks: what is wrong from now on
#   Check: unit SUITE/TEST | spec SEARCH       one Criterion test, or one search of spec/verify.sh
#   Says: the words that must appear
#
# What is broken is a copy; a patch that no longer applies is a failure.
. "$(dirname "$0")/../lib/tally.sh"

shopt -s nullglob
place=$SCRATCH/first # where one copy is broken; every patch has its own
suites=(handle window window_claims engine engine_programs loss payload payload_extreme roll)
units=("${suites[@]/#/$BUILD/deep/tests/unit/test_}")
units=("${units[@]/%/.o}")
flags=(-std=c11 -O1 -g -ffp-contract=off -D_XOPEN_SOURCE=700 -DALAR_DEEP -I. -Iref)

plant() { # a fresh copy of what is broken, with the objects that the models drive
    rm -rf "$place" && mkdir "$place" && cp -a "$SCRATCH/pristine" "$place/tree"
}
# link [SOURCE]...: the suites with these sources in place of the library's own, as $place/unit
link() {
    local source
    mkdir -p "$place/objects"
    for source in "$@"; do
        (cd "$place/tree" && gcc "${flags[@]}" -c "$source" -o "$place/objects/$(basename "$source" .c).o") ||
            return 1
    done
    # shellcheck disable=SC2046 # one object a word
    gcc $(find "$place/objects" -name '*.o') "${units[@]}" "$BUILD"/deep/tests/lib/*.o "$BUILD/libdeep.a" \
        -Wl,--as-needed -lcriterion -lmpfr -lgmp -lyajl -lm -ldl -lfiu -o "$place/unit"
}
run_unit() { timeout -k 2 60 "$place/unit" -j2 --filter "$1" 2>&1; }
run_spec() { (cd "$place/tree" && CI='' BUILD=build timeout -k 2 120 spec/verify.sh "$1" 2>&1); }

touched() { # touched PATCH: what to compile again; rows of the table are compiled into one file
    sed -n 's|^+++ b/||p' "$1" | sed 's|^ref/handle.def$|ref/handle.c|'
}
head_of() { sed -n "1,5s/^$2: //p" "$1"; }

objects() { # objects PATCH: the named check fails, in the named words
    local check name words said code=0
    read -r check name < <(head_of "$1" Check)
    words=$(head_of "$1" Says)
    [ -n "$check" ] && [ -n "$words" ] && [ -n "$(head_of "$1" Breaks)" ] || { echo "no head" && return 1; }
    plant
    (cd "$place/tree" && git apply --unsafe-paths -p1 -) <"$1" || { echo "does not apply" && return 1; }
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
whole() { # everything passes before anything is broken
    mkdir -p "$SCRATCH/pristine/ci"
    cp -r Makefile ref spec "$SCRATCH/pristine"
    plant && run_spec handle || return 1
    rm -rf "$SCRATCH/pristine" && cp -a "$place/tree" "$SCRATCH/pristine"
    link && run_unit '*' | grep 'Failing: 0 | Crashing: 0'
}

# tried PATCH: `objects` in a place of its own; its words and its exit code are kept for `told`.
tried() {
    local code=0
    place=$SCRATCH/$(basename "$1" .patch)
    objects "$1" >"$place.said" 2>&1 || code=$?
    echo "$code" >"$place.code"
    rm -rf "$place"
}
told() { # told PATCH
    cat "$SCRATCH/$1.said"
    return "$(cat "$SCRATCH/$1.code")"
}

check "unbroken, the core's suites pass" whole
count=0
for patch in faults/patches/*.patch; do
    # Two at a time: one a core.
    while [ "$(jobs -r | wc -l)" -ge 2 ]; do wait -n; done
    tried "$patch" &
done
wait
for patch in faults/patches/*.patch; do
    name=$(basename "$patch" .patch)
    check "$name: $(head_of "$patch" Breaks)" told "$name"
    count=$((count + 1))
done
check "there are at least 12 patches" [ "$count" -ge 12 ]
printf 'Breaks: nothing\nCheck: unit handle/*\nSays: handle.def\n' >"$SCRATCH/idle.patch"
expect_code "a patch that changes nothing is a failure" 1 objects "$SCRATCH/idle.patch"
sed 's/^-\(.*\)/-\1 gone/' faults/patches/early-read.patch >"$SCRATCH/stale.patch"
expect_text "a patch that no longer applies is a failure" 1 "does not apply" \
    objects "$SCRATCH/stale.patch"
tally
