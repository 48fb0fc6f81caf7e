#!/usr/bin/env bash
# The command line itself: help, versions, letters, suggestions, completions, manual pages, full disks.
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
mapfile -t commands < <("$alar" help | awk '/^  [a-z]/ { print $1 }')

# ---- help and versions ---------------------------------------------------------------------------
check "there are commands" test "${#commands[@]}" -ge 11
expect_text "no command is a wrong command line" 3 "usage: alar SUBCOMMAND" "$alar"
for asked in help --help -h; do expect_text "alar $asked" 0 "exit codes: 0 good, 1 wrong" "$alar" $asked; done
for asked in version --version -V; do expect_text "alar $asked" 0 "alar 0" "$alar" $asked; done
same_help() { # the three ways to ask a command give the same text, with examples
    local command
    for command in "${commands[@]}"; do
        "$alar" help "$command" >"$SCRATCH/a" && "$alar" "$command" --help | cmp "$SCRATCH/a" - &&
            "$alar" "$command" -h | cmp "$SCRATCH/a" - && grep -q '^examples:$' "$SCRATCH/a" &&
            "$alar" "$command" -V | grep -q '^alar 0' || { echo "$command"; return 1; }
    done
}
check "every command has its help, and its version" same_help
widths() { "$alar" help check; "$alar" help run; }
expect_text "a letter is told beside its option" 0 "  -q, --quiet " widths
expect_text "help of what is no command" 3 "alar help: expected a subcommand, found 'chek'; did you mean 'check'?" "$alar" help chek

# ---- suggestions ---------------------------------------------------------------------------------
expect_text "a near name is suggested" 3 "did you mean 'check'?" "$alar" chekc
far() { "$alar" xylophone 2>&1 | tee "$SCRATCH/far"; grep -q 'did you mean' "$SCRATCH/far"; }
expect_code "a far one is not" 1 far
expect_text "and says where the names are" 3 "alar help lists them" "$alar" xylophone
expect_text "an option far from all" 3 "found '--xylophone'; see: alar help check" "$alar" check --xylophone h

# ---- -o is --output everywhere -------------------------------------------------------------------
check "-o" "$alar" hostile ledger -o "$SCRATCH/in"
check "with its value in the same word" "$alar" hostile ledger -o"$SCRATCH/in2"
check "is --output" cmp "$SCRATCH"/in/ledger.jsonl "$SCRATCH"/in2/ledger.jsonl
no_other() { # a command that writes what it is asked for has -o, none has --out or --file
    local command
    for command in "${commands[@]}"; do
        ! "$alar" help "$command" | grep -E '^ +--(out|file|output) ' || { echo "$command"; return 1; }
    done
}
check "no command spells it another way" no_other

# ---- completions and manual pages ----------------------------------------------------------------
for shell in bash zsh fish; do
    "$alar" completion $shell >"$SCRATCH/completion.$shell"
    all_in() { # each option of each command
        local command option
        for command in "${commands[@]}"; do
            for option in $("$alar" help "$command" | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -e '--[a-z-]+' | tr -d -); do
                tr -d - <"$SCRATCH/completion.$shell" | grep -q "$option" || { echo "$command $option"; return 1; }
            done
        done
    }
    check "$shell: every option is there" all_in
    if command -v $shell >/dev/null; then
        check "$shell: its parser takes the script" $shell -n "$SCRATCH/completion.$shell"
    else
        echo "(no $shell here)"
    fi
done
completed() { # completed WORD...: what bash offers for the last word
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _alar; echo "${COMPREPLY[@]}"' \
        _ "$SCRATCH/completion.bash" "$@"
}
expect_text "bash: commands" 0 "check" completed alar che
expect_text "bash: options" 0 "--junit" completed alar check --ju
expect_text "bash: words of an option" 0 "always" completed alar check --color al
expect_text "bash: files" 0 "Makefile" completed alar check Mak
expect_text "another shell" 3 "expected bash, zsh or fish, found 'csh'" "$alar" completion csh

pages() { # every page is troff that says nothing to its checker, with all options
    local command
    "$alar" help --man >"$SCRATCH/alar.1" && grep -q 'alar\\-check (1)' "$SCRATCH/alar.1" || return
    for command in "${commands[@]}"; do
        "$alar" help --man "$command" >"$SCRATCH/alar-$command.1" || return
    done
    if command -v groff >/dev/null; then
        ! groff -man -ww -z "$SCRATCH"/alar*.1 2>&1 | grep .
    fi
}
check "every command has its manual page" pages
page_options() { [ "$(grep -c '^\.TP' "$SCRATCH/alar-run.1")" -gt "$("$alar" help run | grep -cE '^ +(-., )?--')" ]; }
check "with all its options" page_options

# ---- a full disk, a closed standard output -------------------------------------------------------
full() { "$@" >/dev/full; }
for command in "check tests/data/histories-gloo/fault-free" "explain" "table" "faults" "hostile ledger" "help" \
    "completion bash" "run --steps 32:34 --quiet" "order --backend sim"; do
    expect_text "/dev/full: alar $command" 2 \
        "alar: expected to write all of standard output, found: No space left on device" full "$alar" $command
done
closed() { "$alar" run --async-log-allreduce --steps 32:36 --history "$SCRATCH/h" --quiet >&-; }
expect_text "a closed standard output is one that can't be written" 2 "found: Bad file descriptor" closed
kept() { "$alar" check -q "$SCRATCH/h" && ! grep -q '^summary' "$SCRATCH"/h/*; }
check "and nobody else's file is written instead" kept

# ---- progress: on a terminal, after a second -----------------------------------------------------
slow() { # slow COMMAND...: repeated more and more often until it takes a second
    local times
    for times in 500 2000 8000 32000; do
        "$@" --repeat $times && grep -q 'all-reduces so far' "$SCRATCH/seen" && return
    done
    return 1
}
order() { script -qec "$alar order --backend sim --ranks 9 --counts 1024 $* >/dev/null" /dev/null </dev/null >"$SCRATCH/seen"; }
check "progress on a terminal" slow order
gone() { tail -c 5 "$SCRATCH/seen" | od -c | grep -q 'r *033 *\[ *K'; }
check "and its line is taken away" gone
piped() { "$alar" order --backend sim --ranks 9 --counts 1024 --repeat "$1" 2>&1 >/dev/null | wc -c | grep -qx 0; }
check "none into a pipe" piped 2000
tally
