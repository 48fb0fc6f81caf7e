#!/usr/bin/env bash
# seconds: 900
# The models hold at the sizes of every check, and the search can fail. spec: W-12
. "$(dirname "$0")/../lib/tally.sh"
TALLY_SECONDS=800

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
# Reality through the model: the moves that engines on MPICH ranks make, the models made.
watch() { # `alar`, but for what it tells of the table
    gcc -std=c11 -O1 -Iref -I. tests/gates/rows_seen.c "$BUILD"/obj/ref/{timeline,cost,view,cli}/*.o "$BUILD/obj/view_page.o" \
        "$BUILD/libparts.a" \
        -Wl,--as-needed,--wrap=alar_handle_step -lyajl -lm -ldl -lfiu -o "$SCRATCH/watched"
}
run() { # run NAME OPTION...: a recorded run on 4 MPICH ranks
    local name=$1
    shift
    timeout -k 2 60 mpiexec.mpich -n 4 "$SCRATCH/watched" run --backend "$PWD/$BUILD/alar-mpich.so" \
        --async-log-allreduce --quiet --compare none "$@" 2>"$SCRATCH/$name.rows"
}
seen() { # the moves of the recorded runs, one a line
    sed -n 's/^row \(.*\) moved$/\1/p' "$SCRATCH"/{well,raised,late}.rows | sort -u
}
known() { # every move seen is one that the models made, and enough were seen to say so
    seen >"$SCRATCH/seen"
    sed -n 's/ moved$//p' "$BUILD/spec/rows.txt" | sort >"$SCRATCH/reached"
    echo "never seen in these runs:" && comm -13 "$SCRATCH/seen" "$SCRATCH/reached"
    [ -z "$(comm -23 "$SCRATCH/seen" "$SCRATCH/reached")" ] && [ "$(wc -l <"$SCRATCH/seen")" -ge 4 ]
}

if [ -e "$BUILD/alar-mpich.so" ]; then
    check "the engine can be watched" watch
    check "a run that is well" run well --wait log
    expect_code "a run in which ranks raise" 1 run raised \
        --losses tests/data/gpt-losses/diverge --check-for-nan raise --deadline-ms 500
    expect_code "a run with a late rank" 2 run late \
        --straggler 2:1000000 --deadline-ms 300
    check "what MPICH runs go through, the models went through" known
    cat "$SCRATCH/.output"
else
    skip "rows seen in MPICH runs" "the MPICH back end is not built"
fi
tally
