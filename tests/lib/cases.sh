#!/usr/bin/env bash
# Cases whose expectation leaves room: tests/histories/FOLDER with an expected.tsv of
#
#   case  verdict  anomaly  ranks  words  why
#
# verdict: PASS, FAIL, UNKNOWN, REFUSED; alternatives by `|`. anomaly and ranks are those of the worst
# finding and speak of a FAIL alone; `*` is any, an anomaly ending in `-` a family (`mismatch-`), ranks a
# list by commas. words: extended regular expressions that the words of the verdict match, or with `!`
# in front do not, joined by `&&`; the path reads `CASE` there. `-` is nothing. The case is FOLDER/CASE.jsonl, or the directory of its
# rank files.
#
# To be sourced after tally.sh.
# case_told FOLDER CASE: JSON in $SCRATCH/case.json, words in $SCRATCH/case.words, the exit code in $code.
case_told() {
    local path=tests/histories/$1/$2
    [ -d "$path" ] || path=$path.jsonl
    code=0
    timeout -k 2 20 "$BUILD/alar" check --json "$path" >"$SCRATCH/case.json" 2>"$SCRATCH/case.words" || code=$?
    timeout -k 2 20 "$BUILD/alar" check "$path" >>"$SCRATCH/case.words" 2>&1
    # What a case is called is no word of its verdict.
    sed -i "s|tests/histories/$1/$2|CASE|g" "$SCRATCH/case.words"
}

one_of() { # one_of FOUND ALTERNATIVES
    local found=$1 allowed
    IFS='|' read -ra allowed <<<"$2"
    for allowed in "${allowed[@]}"; do
        case $allowed in
        '*') return 0 ;;
        *-) [[ $found == "$allowed"* ]] && return 0 ;;
        *) [ "$found" = "$allowed" ] && return 0 ;;
        esac
    done
    return 1
}

words_hold() { # words_hold WORDS: each expression, or the absence of each that begins with !
    local rest=$1 part
    [ "$rest" != - ] || return 0
    while [ -n "$rest" ]; do
        part=${rest%%&&*}
        case $part in
        !*) grep -qE -e "${part#!}" "$SCRATCH/case.words" && { echo "says /${part#!}/"; return 1; } ;;
        *) grep -qE -e "$part" "$SCRATCH/case.words" || { echo "does not say /$part/"; return 1; } ;;
        esac
        [ "$part" != "$rest" ] || break
        rest=${rest#*&&}
    done
    return 0
}

# case_holds FOLDER CASE VERDICT ANOMALY RANKS WORDS: prints what is otherwise.
case_holds() {
    local verdict anomaly ranks code
    case_told "$1" "$2"
    read -r verdict anomaly ranks < <(jq -r '.findings[0] as $worst | [.verdict, $worst.anomaly // "-",
        ([$worst.ranks[]?] | if length == 0 then "-" else map(tostring) | join(",") end)] | join(" ")' \
        "$SCRATCH/case.json") || true
    [ "$code" -ne 3 ] || verdict=REFUSED
    case ${verdict:-none}$code in
    PASS0 | FAIL1 | UNKNOWN2 | REFUSED3) ;;
    *) echo "verdict ${verdict:-none} with exit code $code"; return 1 ;;
    esac
    one_of "$verdict" "$3" || { echo "expected $3, found $verdict $anomaly $ranks"; return 1; }
    if [ "$verdict" = FAIL ]; then
        one_of "$anomaly" "$4" || { echo "expected anomaly $4, found $anomaly"; return 1; }
        one_of "$ranks" "$5" || { echo "expected ranks $5, found $ranks"; return 1; }
    fi
    words_hold "$6"
}

# cases_hold FOLDER: all of its table hold.
cases_hold() {
    local folder=$1 name verdict anomaly ranks words why told bad=0 good=0
    while IFS=$'\t' read -r name verdict anomaly ranks words why; do
        [[ $name != \#* ]] || continue
        if told=$(case_holds "$folder" "$name" "$verdict" "$anomaly" "$ranks" "$words"); then
            good=$((good + 1))
        else
            bad=$((bad + 1))
            echo "$folder/$name: $told ($why)"
        fi
    done <"tests/histories/$folder/expected.tsv"
    echo "$folder: $good as expected, $bad otherwise"
    [ "$bad" -eq 0 ] && [ "$good" -gt 0 ]
}

# cases_complete FOLDER: every history there has a row.
cases_complete() {
    local folder=$1
    diff <(for path in tests/histories/"$folder"/*; do
               case $path in *.jsonl) basename "$path" .jsonl ;; *) [ ! -d "$path" ] || basename "$path" ;; esac
           done | LC_ALL=C sort) \
        <(grep -v '^#' "tests/histories/$folder/expected.tsv" | cut -f 1 | LC_ALL=C sort)
}
