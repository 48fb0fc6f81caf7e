#!/usr/bin/env bash
# seconds: 1200
# The library matrix: each algorithm of each library, a row each: its tree, whether ranks agree (a
# must), whether a rerun agrees (a should), whether the other kind of call agrees (a note), and what
# becomes of NaN under `propagate`. Each row leaves its histories in $BUILD/matrix, and `alar check`
# on them must say what plain MPI said. Every row's outcome is known: another one is a failure.
#
#   MATRIX_ROWS=REGEX   those rows alone          MATRIX_STRICT=1   a should counts as a must
#   MATRIX_FULL=1       all rows of the libraries from the package index, too, and the page is written anew
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/newer.sh

alar=$BUILD/alar
out=$BUILD/matrix
n=5
seed=${SEED:-8}
python=/usr/bin/python3
export UCX_TLS=self,sm HWLOC_PLUGINS_PATH=/nonexistent UCX_LOG_LEVEL=error
export PYTHONPATH=$PWD/ref/python PYTHONDONTWRITEBYTECODE=1
echo "seed $seed, $n ranks"

# launched LIBRARY PROGRAM...: a bounded run on n ranks.
launched() {
    local library=$1
    shift
    library_take "$library"
    timeout -k 2 60 "${launcher[@]}" -n $n "$@"
}

# recorded LIBRARY DIR MODE RUN CALL: one run of the probe, into DIR; what it printed goes to DIR.out.
recorded() {
    local library=$1 directory=$2 mode=$3 run=$4 call=$5 rank code=0
    if [ "$library" = gloo ]; then
        rm -rf "$SCRATCH/store"
        for ((rank = 0; rank < n; rank++)); do
            timeout -k 2 60 "$python" tests/matrix/gloo.py "$mode" "$seed" "$run" "$call" "$rank" $n \
                "$directory" "$SCRATCH/store" >>"$directory.out" 2>>"$directory.err" &
        done
        wait || code=$?
        return "$code"
    fi
    library_take "$library"
    timeout -k 2 60 "$library_build/alar" record --nan propagate -o "$directory" -- "${launcher[@]}" -n $n \
        "$library_build/tests/matrix/probe-$family" "$mode" "$seed" "$run" "$call" \
        >"$directory.out" 2>"$directory.err"
}

# The tree of two elements' first, on rank 0: an expression and its name.
tree_of() { # tree_of LIBRARY CALL DIR
    local kind=non-blocking
    [ "$2" = async ] || kind=blocking
    if [ "$1" = gloo ]; then
        echo "$gloo_tree$([ "$gloo_tree" != "(0+(1+(2+(3+4))))" ] || echo " right-fold")"
        return
    fi
    library_take "$1"
    ALAR_MPI=$family launched "$1" "$library_build/alar" order --json --counts 2 --repeat 0 --call "$kind" \
        2>"$3.order" | jq -r 'select(.at == 0 and .rank == 0) | .tree + (if .name then " " + .name else "" end)'
}

verdict_of() { # verdict_of DIR: PASS, or FAIL and the anomaly
    "$alar" check --quiet "$1" | cut -f 2-3 | sed -E 's/^FAIL\t([a-z-]*):.*/FAIL \1/; s/\t.*//'
}

reproducer() { # reproducer DIR LIBRARY CALL MODE SETTING...: a script that needs nothing of ours
    local directory=$1 library=$2 call=$3 mode=$4 reduce
    shift 4
    if [ "$library" = gloo ]; then
        cat tests/matrix/reproduce_gloo.py >"$directory/reproduce-$mode.py"
        return
    fi
    reduce='MPI_Iallreduce(\&x, \&y, 1, MPI_FLOAT, O, MPI_COMM_WORLD, \&q); MPI_Wait(\&q, MPI_STATUS_IGNORE);'
    [ "$call" = async ] || reduce='MPI_Allreduce(\&x, \&y, 1, MPI_FLOAT, O, MPI_COMM_WORLD);'
    library_reproducer "$library" "$mode" "$reduce" "$@" >"$directory/reproduce-$mode.sh"
}

expected() { # expected CLAIM WANTED FOUND
    echo "expected '$2', found '$3'" >"$SCRATCH/.output"
    if [ "$2" = "$3" ]; then tally_pass "$1"; else tally_fail "$1" "expected '$2', found '$3'"; fi
}

row() { # row NAME LIBRARY CALL EXPECTED SETTING...
    local name=$1 library=$2 call=$3 wanted=$4 directory tree sum nan agree rerun bits must code=0
    local calls=0 disagree=0 repeated=0 changed=0 twin=0 digest='' nan_sum='' nan_max='' nan_min='' gloo_tree='' again=''
    shift 4
    directory=$out/$(tr -c 'a-zA-Z0-9\n' '-' <<<"$name" | tr -s -)
    mkdir -p "$directory"
    recorded "$library" "$directory/sum" sum 0 "$call" || code=$?
    if [ "$wanted" = aborts ]; then
        printf '%s | none: the library ends the job itself, by an assertion | | | | | | \n' "$name" >>"$table"
        check "$name: the library itself ends the job" test "$code" -ne 0
        return
    fi
    recorded "$library" "$directory/again" sum 1 "$call" || code=$?
    recorded "$library" "$directory/nan" nan 0 "$call" || code=$?
    expected "$name: runs" 0 "$code"
    eval "$(cat "$directory/sum.out" "$directory/nan.out")"
    tree=$(tree_of "$library" "$call" "$directory/sum")
    agree=yes
    [ "$disagree" -eq 0 ] || agree=no
    rerun=yes
    again=$(sed -n "s/.*digest='\{0,1\}\([0-9a-f-]*\).*/\1/p" "$directory/again.out")
    [ "$changed" -eq 0 ] && [ "$digest" = "$again" ] || rerun=no
    "$alar" check --rerun --json "$directory/sum" "$directory/again" >"$directory/rerun"
    bits=$(jq -r 'select(.rerun) | .different' "$directory/rerun")
    sum=$(verdict_of "$directory/sum")
    nan=$(verdict_of "$directory/nan")
    must=PASS
    [ "$agree" = yes ] && [ "$nan_sum" = kept ] || must=FAIL
    [ -z "${MATRIX_STRICT:-}" ] || [ "$rerun" = yes ] || must=FAIL
    printf '%s | `%s` | %s | %s | %s | %s | %s / %s | %s\n' "$name" "${tree:-?}" \
        "$([ $agree = yes ] && echo yes || echo "**no**, $disagree of $calls")" \
        "$([ $rerun = yes ] && echo yes || echo "no, $changed of $repeated")" \
        "$([ "$twin" -eq 0 ] && echo same || echo "other in $twin of $((calls / 3))")" \
        "$nan_sum" "$nan_max" "$nan_min" "$must" >>"$table"
    row_judge
}

# What is known of the row; reads row's variables.
row_judge() {
    local known_agree=yes known_rerun=yes
    case $wanted in disagree | both) known_agree=no ;; esac
    case $wanted in rerun | both) known_rerun=no ;; esac
    expected "$name: do ranks agree" "$known_agree" "$agree"
    # Arrival orders are chance: that one shows is known only where it is all but certain.
    [ "$wanted" = both ] || expected "$name: does a rerun agree" "$known_rerun" "$rerun"
    # Operations on which ranks disagree can't be compared with a rerun, so their rows tell nothing.
    [ "$agree" = no ] ||
        expected "$name: alar check on the rerun" "$rerun" "$([ "${bits:-1}" -eq 0 ] && echo yes || echo no)"
    expected "$name: SUM keeps NaN" kept "$nan_sum"
    check "$name: has a tree or none" test -n "$tree"
    expected "$name: alar check on the sums" "$([ $agree = yes ] && echo PASS || echo 'FAIL ranks-disagree')" "$sum"
    case "$nan_max/$nan_min" in
        kept/kept) expected "$name: alar check on NaN" PASS "$nan" ;;
        *differ*) expected "$name: alar check on NaN" "FAIL ranks-disagree" "$nan" ;;
        *) expected "$name: alar check on NaN" "FAIL nan-lost" "$nan" ;;
    esac
    [ "$agree" = yes ] || reproducer "$directory" "$library" "$call" disagree "${setting[@]}"
    [ "$rerun" = yes ] || reproducer "$directory" "$library" "$call" rerun "${setting[@]}"
    [ "$nan_max" = kept ] || reproducer "$directory" "$library" "$call" max "${setting[@]}"
}

# ---- the rows ------------------------------------------------------------------------------------

rm -rf "$out"
mkdir -p "$out"
table=$out/table
: >"$table"
while IFS='|' read -r -u 3 name library call wanted settings; do
    case $name in '#'* | '') continue ;; esac
    name=${name% } library=${library// /} call=${call// /} wanted=${wanted// /}
    [[ $name =~ ${MATRIX_ROWS:-.} ]] || continue
    full=
    [ "${wanted%+}" = "$wanted" ] || full=1 wanted=${wanted%+}
    [ -z "$full" ] || [ -n "${MATRIX_FULL:-}" ] || continue
    library_make "$library" || { skip "$name" "$library can't be had from the package index"; continue; }
    read -ra setting <<<"$settings"
    for assignment in "${setting[@]}"; do export "${assignment?}"; done
    row "$name" "$library" "$call" "$wanted" "${setting[@]}"
    for assignment in "${setting[@]}"; do unset "${assignment%%=*}"; done
done 3<tests/matrix/rows

# ---- reproducers: run as anybody would -----------------------------------------------------------
reproduces() { # reproduces FILE: it is short, and it shows the defect
    if [ "$(wc -l <"$1")" -gt 20 ]; then
        echo "$1 has more than 20 lines"
        return 9
    fi
    (cd "$SCRATCH" && case $1 in
        *.py) timeout -k 2 60 "$python" "$1" ;;
        *) timeout -k 2 60 sh "$1" ;;
    esac)
}
shopt -s nullglob
ran=0 known=6
for file in "$PWD/$out"/MPICH-non-blocking-tsp-recexch-single-buffer-k-[34]/reproduce-disagree.sh \
    "$PWD/$out"/MPICH-5-non-blocking-tsp-recexch-single-buffer-k-[34]/reproduce-disagree.sh \
    "$PWD/$out"/MPICH-non-blocking-tsp-tree-a-buffer-per-child*/reproduce-rerun.sh \
    "$PWD/$out"/*non-blocking-default/reproduce-max.sh "$PWD/$out"/gloo-*asynchronous/reproduce-max.py; do
    expect_code "reproduced: ${file#"$PWD/$out/"}" 1 reproduces "$file"
    ran=$((ran + 1))
done
for library in $library_made; do
    case $library in
        mpich5) known=$((known + 3)) ;;
        openmpi5 | impi) known=$((known + 1)) ;;
    esac
done
[ -n "${MATRIX_ROWS:-}" ] || expected "reproducers of all that must be detected" "$known" "$ran"

{
    echo "| library, $n ranks | tree of 2 floats | ranks agree (must) | rerun agrees (should) | the other kind of call | NaN in SUM | in MAX / MIN | verdict on SUM |"
    echo "|---|---|---|---|---|---|---|---|"
    sed 's/^/| /; s/$/ |/' "$table"
} >"$out/README.md"
cat "$out/README.md"

# The page shows all that was asked of this machine; a part of the rows, or a run of CI, leaves it alone.
publish() {
    awk -v table="$out/README.md" '/^<!-- end of table -->/ { within = 0 }
        !within
        /^<!-- table -->/ { within = 1; print ""; while ((getline line <table) > 0) print line; print "" }' \
        spec/libraries.md >"$SCRATCH/page" && cp "$SCRATCH/page" spec/libraries.md
}
[ -z "${MATRIX_FULL:-}" ] || [ -n "${MATRIX_ROWS:-}${CI:-}" ] || publish
tally
