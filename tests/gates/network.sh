#!/usr/bin/env bash
# Ranks on four hosts of two sites, that is network namespaces: what is lost between them ends the run by its deadline, each
# side names the other, and nothing is left behind. The long form: make bench-network.
# seconds: 900
# only: full
. "$(dirname "$0")/../lib/tally.sh"

ci/install-deps.sh network
code=0
python3 tests/network/faults.py >"$SCRATCH/faults" || code=$?
cat "$SCRATCH/faults"
if [ "$code" -eq 77 ]; then
    skip "ranks between two sites" "$(cat "$SCRATCH/faults")"
    tally
fi
said() { grep -F -e ": $1: " "$SCRATCH/faults" && grep -qF -e "as it should: $1: " "$SCRATCH/faults"; }
while read -r name; do
    check "$name" said "$name"
done < <(sed -nE 's/^(as it should|WRONG): ([^:]*): .*/\2/p' "$SCRATCH/faults")
check "no namespace is left" test -z "$(ip netns list | grep '^alar')"
tally
