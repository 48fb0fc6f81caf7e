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

tree=$SCRATCH/tree
core=(status terms dtype fp tree handle window engine exact lanes census loss loss_exact payload roll)
suites=(handle window window_claims engine engine_programs loss payload roll)
library=(claim draw engine_rig)
flags=(-std=c11 -O1 -ffp-contract=off -D_XOPEN_SOURCE=700 -DALAR_DEEP -I. -Iref)

plant() { # a fresh copy of what is broken, with the objects that the models drive
    rm -rf "$tree" && cp -a "$SCRATCH/pristine" "$tree"
}
compile() { # compile SOURCE...: into $SCRATCH/objects, two at a time
    (cd "$tree" && printf '%s\n' "$@" | xargs -P 2 -I{} sh -c \
        'gcc "$@" -c {} -o "$0/$(basename {} .c).o"' "$SCRATCH/objects" "${flags[@]}")
}
link() { gcc "$SCRATCH"/objects/*.o -lcriterion -lm -o "$SCRATCH/unit"; }
core_sources() { printf 'ref/%s.c ' "${core[@]}"; }
run_unit() { timeout -k 2 60 "$SCRATCH/unit" -j2 --filter "$1" 2>&1; }
run_spec() { (cd "$tree" && CI='' BUILD=build timeout -k 2 120 spec/verify.sh "$1" 2>&1); }

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
    (cd "$tree" && git apply --unsafe-paths -p1 -) <"$1" || { echo "does not apply" && return 1; }
    if [ "$check" = unit ]; then
        rm -rf "$SCRATCH/objects" && cp -r "$SCRATCH/whole" "$SCRATCH/objects"
        # shellcheck disable=SC2046 # one source a word
        compile $(touched "$1") && link || return 1
        said=$(run_unit "$name") || code=$?
    else
        said=$(run_spec "$name") || code=$?
    fi
    echo "$said" | tail -n 40
    [ "$code" -ne 0 ] && grep -qF -e "$words" <<<"$said"
}
# shellcheck disable=SC2046 # one source a word
whole() { # everything passes before anything is broken
    mkdir -p "$SCRATCH"/{objects,pristine/tests,pristine/ci}
    cp -r Makefile ref spec "$SCRATCH/pristine"
    cp -r tests/lib tests/unit "$SCRATCH/pristine/tests"
    plant && run_spec handle || return 1
    rm -rf "$SCRATCH/pristine" && cp -a "$tree" "$SCRATCH/pristine"
    compile $(core_sources) $(printf 'tests/unit/test_%s.c ' "${suites[@]}") \
        $(printf 'tests/lib/%s.c ' "${library[@]}") && link || return 1
    mv "$SCRATCH/objects" "$SCRATCH/whole"
    run_unit '*' | grep 'Failing: 0 | Crashing: 0'
}

check "unbroken, the core's suites pass" whole
count=0
for patch in faults/patches/*.patch; do
    check "$(basename "$patch" .patch): $(head_of "$patch" Breaks)" objects "$patch"
    count=$((count + 1))
done
check "there are at least 12 patches" [ "$count" -ge 12 ]
printf 'Breaks: nothing\nCheck: unit handle/*\nSays: handle.def\n' >"$SCRATCH/idle.patch"
expect_code "a patch that changes nothing is a failure" 1 objects "$SCRATCH/idle.patch"
sed 's/^-\(.*\)/-\1 gone/' faults/patches/early-read.patch >"$SCRATCH/stale.patch"
expect_text "a patch that no longer applies is a failure" 1 "does not apply" \
    objects "$SCRATCH/stale.patch"
tally
