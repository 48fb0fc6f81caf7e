#!/usr/bin/env bash
# Every command that the README shows (lines that begin with "$ ") does what the README says, in a tree that holds what
# git tracks and what was built, and nothing else. A command exits with 0, or with the N of its "# exits N"; what is
# shown below it must be among what it prints, digits and directories apart. Lines that end in "..." are not held.
. "$(dirname "$0")/../lib/tally.sh"

tree=$SCRATCH/clone
mkdir "$tree"
git ls-files -z | tar --null --files-from=- -c | tar -x -C "$tree"
mkdir -p "$tree/$(dirname "$BUILD")" && cp -a "$BUILD" "$tree/build"
export PATH=$tree/build:$PATH

plain() { sed -E 's/[0-9]+(\.[0-9]+)?/#/g; s/[[:space:]]+/ /g; s/ $//'; }

# shows COMMAND EXPECTED-CODE SHOWN: runs it in the tree; its output holds every line of the file SHOWN.
shows() {
    local code=0 line
    (cd "$tree" && timeout -k 2 300 bash -c "$1") >"$SCRATCH/said" 2>&1 </dev/null || code=$?
    cat "$SCRATCH/said"
    [ "$code" -eq "$2" ] || { echo "exit code $code, the README says $2" && return 1; }
    plain <"$SCRATCH/said" >"$SCRATCH/said.plain"
    while IFS= read -r line; do
        grep -qF -e "$(plain <<<"$line")" "$SCRATCH/said.plain" || { echo "not printed: $line" && return 1; }
    done <"$3"
}

# commands FILE: each "    $ COMMAND" and the lines shown below it, as COMMAND.N and SHOWN.N in $SCRATCH.
commands() {
    awk -v out="$SCRATCH" '
        /^    \$ / { n++; print substr($0, 7) >(out "/command." n); printf "" >(out "/shown." n); inside = 1; next }
        /^    / && inside { if (!/\.\.\.$/) print substr($0, 5) >(out "/shown." n); next }
        { inside = 0 }
        END { print n + 0 }' "$1"
}

count=$(commands README.md)
check "the README shows commands" test "$count" -ge 8
for ((n = 1; n <= count; n++)); do
    command=$(sed 's/  *# exits [0-9]*$//' "$SCRATCH/command.$n")
    wanted=$(sed -n 's/.*# exits \([0-9]*\)$/\1/p' "$SCRATCH/command.$n")
    check "README: $command" shows "$command" "${wanted:-0}" "$SCRATCH/shown.$n"
done

# A README that lies is noticed.
printf '    $ echo 7 apples\n    7 pears\n' >"$SCRATCH/lies.md"
commands "$SCRATCH/lies.md" >/dev/null
expect_text "another output is noticed" 1 "not printed: 7 pears" shows "echo 7 apples" 0 "$SCRATCH/shown.1"
expect_text "another exit code is noticed" 1 "exit code 3" shows "exit 3" 0 "$SCRATCH/shown.1"
tally
