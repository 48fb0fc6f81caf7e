# All that `alar check` says, held against words on file, so that no word of a verdict changes unseen. To
# be sourced after tally.sh.
#
#   words_add PROGRAM...   runs it and keeps what it says, paths without their directories
#   words_hold NAME        the claim that all of it is tests/histories/told/NAME.txt
#
# `REWRITE=1 SCRIPT` writes that file anew; every line that changes has to be explained. With WORDS_INPUTS=DIR what is judged
# goes there, a file each, and the script ends: tests/mutate asks it all at once.

export LC_ALL=C # the order of files

words_input() { # words_input FILE...
    local file
    [ -n "${WORDS_INPUTS:-}" ] || return 0
    for file in "$@"; do cp "$file" "$(mktemp "$WORDS_INPUTS/XXXXXXXX.jsonl")"; done
}

words_add() {
    local code=0
    if [ -f "${*: -1}" ] && [ $# -eq 3 ]; then words_input "${*: -1}"; fi
    timeout -k 2 60 "$@" >"$SCRATCH/.said" 2>"$SCRATCH/.complaints" || code=$?
    sed -E "s#($SCRATCH|tests/histories)/##g" "$SCRATCH/.said" "$SCRATCH/.complaints" | tee -a "$SCRATCH/.words"
    return "$code"
}

words_same() { # words_same FILE: prints what is told otherwise
    diff --unchanged-line-format= --old-line-format='kept  %L' --new-line-format='found %L' "$1" "$SCRATCH/.words"
}

words_hold() {
    local kept=tests/histories/told/$1.txt
    [ -z "${WORDS_INPUTS:-}" ] || exit 0
    if [ -n "${REWRITE:-}" ]; then cp "$SCRATCH/.words" "$kept"; fi
    check "each word is the one on file" words_same "$kept"
    sed '0,/allowed   /s//allowed   not /' "$kept" >"$SCRATCH/.planted"
    expect_text "a word that is told otherwise is shown" 1 "kept    allowed   not " words_same "$SCRATCH/.planted"
}
