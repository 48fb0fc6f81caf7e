#!/usr/bin/env bash
# seconds: 300
# The models hold at the sizes of every check, and the search can fail. spec: W-12
. "$(dirname "$0")/../lib/tally.sh"
TALLY_SECONDS=280

searched() { # searched NAME: what its row of the table says
    cat "$BUILD/spec/$1/row"
    grep -q 'proven$' "$BUILD/spec/$1/row"
}
sizes() { # sizes SED-SCRIPT: spec/sizes.txt changed
    sed "$1" spec/sizes.txt >"$SCRATCH/sizes"
    ! cmp -s "$SCRATCH/sizes" spec/sizes.txt
}

check "the searches end" spec/verify.sh
cat "$SCRATCH/.output"
while read -r name when _; do
    [[ $name == '#'* || $name == '' || $when != check ]] || check "$name" searched "$name"
done <spec/sizes.txt

# Each move of the table is one that some execution of a window or of ranks makes.
moves() { diff -u <("$BUILD/alar" table | awk '$3 != "refused" { print $1, $2 }' | sort) - ; }
reached() { sed -n 's/ moved$//p' "$BUILD/spec/rows.txt" | moves; }
check "the models make every move of the table" reached

sizes 's/^\(window  *check  *window  *safety  *exhaustive  *\)[0-9]*/\199999/'
expect_text "too few states are no proof" 1 "fewer than 99999" \
    spec/verify.sh --sizes "$SCRATCH/sizes" window
sizes 's/^\(handle  *check  *handle  *safety  *exhaustive  *[0-9]*  *\)1/\10/'
expect_text "an unreached state is no proof" 1 "left 1 states of the model unreached" \
    spec/verify.sh --sizes "$SCRATCH/sizes" handle
sizes 's/SLOTS=3 OPS=5/SLOTS=3 OPS=5)/'
expect_text "a model that does not compile is no proof" 1 "the model did not compile" \
    spec/verify.sh --sizes "$SCRATCH/sizes" window
expect_text "a name that nobody knows is no proof" 1 "nothing to search" spec/verify.sh nothing
tally
