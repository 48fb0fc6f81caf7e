#!/usr/bin/env bash
# The pages of `alar view`, opened, clicked and looked at in a headless Chromium: `make view-test`.
# seconds: 600
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
expect_text "a page has to go somewhere" 3 "expected -o FILE, found none" "$alar" view tests/data/histories-gloo/early-read
expect_text "one history a page" 3 "expected one history, found 3" "$alar" view tests/data/histories-gloo -o "$SCRATCH/x.html"
expect_text "a history that can't be used" 3 "expected a file or directory" "$alar" view nowhere -o "$SCRATCH/x.html"
expect_text "a full disk" 2 "/dev/full: expected to write all of it" "$alar" view tests/data/histories-gloo/early-read -o /dev/full

if command -v chromium >/dev/null; then
    mkdir "$SCRATCH/pages"
    timeout -k 2 540 /usr/bin/python3 tests/view/pages.py "$alar" "$SCRATCH/pages" >"$SCRATCH/claims" 2>&1 </dev/null
    code=$?
    while read -r word claim; do
        case $word in
        ok) tally_pass "$claim" ;;
        FAIL) echo "$claim" >"$SCRATCH/.output"; tally_fail "${claim%%: *}" "${claim#*: }" ;;
        *) echo "$word $claim" ;;
        esac
    done <"$SCRATCH/claims"
    came_to_its_end() { [ "$code" -le 1 ] && [ "$(grep -cE '^(ok|FAIL) ' "$SCRATCH/claims")" -eq 12 ]; }
    check "the browser's run came to its end" came_to_its_end
else
    skip "the pages in a browser" "there is no chromium"
fi
tally
