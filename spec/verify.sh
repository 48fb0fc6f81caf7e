#!/usr/bin/env bash
# Searches the models of spec/ with Spin, over the production objects: spec/verify.sh [--full]
# [--sizes FILE] [NAME]...   What is searched, and what is demanded of it, stands in spec/sizes.txt.
#
# A search passes when pan says "errors: 0", finished, stored at least as many states as the floor, and
# left no more of the model unreached than allowed: pan's exit code says none of that. A failure is told
# handle by handle, with the command that tells it again. The rows of the handle's table that the window
# and the ranks went through are left in $BUILD/spec/rows.txt, unless single searches were asked for.
set -u
cd "$(dirname "$0")/.." || exit 4
export LC_ALL=C BUILD=${BUILD:-build}
top=$PWD
sizes=spec/sizes.txt when=check
asked=()
while [ $# -gt 0 ]; do
    case $1 in
    --full) when=full ;;
    --sizes) sizes=$2 && shift ;;
    *) asked+=("$1") ;;
    esac
    shift
done
modules=(base/status engine/handle engine/window engine/engine engine/barrier)
objects=("${modules[@]/#/$BUILD/obj/ref/}")
objects=("${objects[@]/%/.o}")

# number PATTERN FILE: the first number before the pattern in pan's output, without a fraction.
number() {
    sed -n "s/^[[:space:]]*\([0-9][0-9.e+]*\)[[:space:]]*$1.*/\1/p" "$2" | head -n 1 | awk '{ printf "%d", $1 }'
}

# build NAME MODEL MODE PROOF STORY DEFINITION...: $dir/pan, or $dir/story that tells what it does.
build() {
    local dir=$BUILD/spec/$1 model=$2 mode=$3 proof=$4 story=$5 flags=()
    shift 5
    flags=("${@/#/-D}")
    [ "$mode" = live ] && flags+=(-DLIVE)
    (cd "$dir" && spin "${flags[@]}" -a "$top/spec/$model.pml") >"$dir/spin.log" 2>&1 || return 1
    [ "$mode" = live ] && flags+=(-DNFAIR=4) || flags+=(-DSAFETY -DNOCLAIM)
    [ "$proof" = bitstate ] && flags+=(-DBITSTATE) || flags+=(-DCOLLAPSE)
    [ "$story" = pan ] && flags+=(-O2) || flags+=(-O0 -DSTORY)
    gcc -w -DNOREDUCE -DMEMLIM=8000 -I. -Iref "${flags[@]}" -Wl,--wrap=alar_handle_step \
        "$dir/pan.c" "${objects[@]}" -o "$dir/$story" >>"$dir/spin.log" 2>&1
}

# Why the search in $1 is no proof, or nothing; the demands are $2 floor, $3 open.
objection() {
    local out=$1 floor=$2 open=$3 states unreached
    states=$(number 'states, stored' "$out")
    unreached=$(sed -n 's/^\t(\([0-9]*\) of [0-9]* states)$/\1/p' "$out" | awk '{ sum += $1 } END { print sum + 0 }')
    grep -m 1 '^pan:[0-9]*: ' "$out" | sed 's/ ([^()]*embed[^()]*)//; s/^pan:[0-9]*: //' | grep . && return
    grep -q 'errors: 0$' "$out" || { echo "pan did not say 'errors: 0'" && return; }
    grep -q '^pan: elapsed time' "$out" || { echo "the search did not finish" && return; }
    grep -qE 'Search not completed|max search depth too small|out of memory' "$out" &&
        { grep -m 1 -oE 'Search not completed|max search depth too small|out of memory' "$out" && return; }
    [ "${states:-0}" -ge "$floor" ] || { echo "stored ${states:-0} states, fewer than $floor" && return; }
    [ "$unreached" -le "$open" ] || echo "left $unreached states of the model unreached, more than $open"
}

search() { # search NAME MODEL MODE PROOF FLOOR OPEN DEFINITION...
    local name=$1 model=$2 mode=$3 proof=$4 floor=$5 open=$6 dir=$BUILD/spec/$1 run=() why start=$EPOCHREALTIME
    shift 6
    rm -rf "$dir" && mkdir -p "$dir"
    if ! build "$name" "$model" "$mode" "$proof" pan "$@"; then
        cat "$dir/spin.log" >"$dir/out"
        why="the model did not compile"
    else
        [ "$mode" = live ] && run=(-a -f)
        [ "$proof" = bitstate ] && run+=(-w32)
        (cd "$dir" && timeout -k 2 "${SECONDS_MAX:-900}" ./pan -m500000 "${run[@]}") >"$dir/out" 2>&1
        why=$(objection "$dir/out" "$floor" "$open")
    fi
    printf '%-15s %11d %7d %8.1f  %s\n' "$name" "$(number 'states, stored' "$dir/out")" \
        "$(number 'total actual memory usage' "$dir/out")" \
        "$(awk "BEGIN { print $EPOCHREALTIME - $start }")" \
        "$([ -n "$why" ] && echo "FAIL: $why" || { [ "$proof" = bitstate ] && echo "no error found, not proven" || echo proven; })" \
        >"$dir/row"
    [ -z "$why" ] && return
    if ls "$dir"/*.trail >/dev/null 2>&1 && build "$name" "$model" "$mode" exhaustive story "$@"; then
        {
            echo "how $name comes to it (again: cd $dir && ./story -r $model.pml.trail):"
            (cd "$dir" && timeout -k 2 60 ./story -r "$model.pml.trail") 2>&1 |
                grep -E '^rank|^    slot|CYCLE|^pan:' | tail -n 60
        } >"$dir/told" 2>&1
    elif [ ! -x "$dir/pan" ]; then
        tail -n 20 "$dir/out" >"$dir/told"
    fi
}

make -s "${objects[@]}" || exit 1
mkdir -p "$BUILD/spec"
names=()
while read -r name at model mode proof floor open definitions; do
    [[ $name == '#'* || -z $name ]] && continue
    if [ ${#asked[@]} -gt 0 ]; then
        [[ " ${asked[*]} " == *" $name "* ]] || continue
    elif [ "$at" = full ] && [ "$when" != full ]; then
        continue
    fi
    names+=("$name")
    # Two at a time: one a core.
    while [ "$(jobs -r | wc -l)" -ge 2 ]; do wait -n; done
    # shellcheck disable=SC2086 # one definition a word
    search "$name" "$model" "$mode" "$proof" "$floor" "$open" $definitions &
done <"$sizes"
wait

printf '%-15s %11s %7s %8s\n' search states MB seconds
code=0
for name in "${names[@]}"; do
    cat "$BUILD/spec/$name/row"
    ! grep -q FAIL "$BUILD/spec/$name/row" || code=1
done
for name in "${names[@]}"; do
    [ ! -s "$BUILD/spec/$name/told" ] || cat "$BUILD/spec/$name/told"
done
if [ ${#asked[@]} -eq 0 ]; then
    for name in "${names[@]}"; do
        [[ $name == handle* ]] || sed -n 's/^row //p' "$BUILD/spec/$name/out"
    done | sort -u >"$BUILD/spec/rows.txt"
fi
[ ${#names[@]} -gt 0 ] || { echo "nothing to search" && code=1; }
exit "$code"
