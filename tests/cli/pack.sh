#!/usr/bin/env bash
# `alar pack` and `alar unpack`: the same bytes come back, and a packed history has the verdict of its text,
# letter by letter. What can be done to the bytes of a packed file is in tests/unit/pack.
# cores: 1
. "$(dirname "$0")/../lib/tally.sh"

alar=$PWD/$BUILD/alar
[[ $BUILD != /* ]] || alar=$BUILD/alar
gloo=tests/data/histories-gloo/fault-free

# ---- every history on file -----------------------------------------------------------------------
# Two trees of the same names: one text, one packed.
cp -r tests/histories "$SCRATCH/text"
folders() { (cd "$SCRATCH/text" && find . -name '*.jsonl' -printf '%h\n' | sort -u); }
pack_all() {
    local folder file
    for folder in $(folders); do
        mkdir -p "$SCRATCH/packed/$folder"
        "$alar" pack -q -o "$SCRATCH/packed/$folder" "$SCRATCH/text/$folder" || return
        "$alar" unpack -o "$SCRATCH/again/$folder" "$SCRATCH/packed/$folder" || return
    done
    for file in $(cd "$SCRATCH/packed" && find . -name '*.alar'); do
        mv "$SCRATCH/packed/$file" "$SCRATCH/packed/${file%.alar}.jsonl"
    done
}
come_back() {
    (cd "$SCRATCH/text" && find . -name '*.jsonl' -print0 | tar -c --null -T -) | tar -x -C "$SCRATCH/only" && diff -r "$SCRATCH/only" "$SCRATCH/again"
}
mkdir -p "$SCRATCH"/{packed,again,only}
check "every history on file is packed and unpacked" pack_all
check "and comes back byte by byte" come_back
told() { # told TREE OPTION...: all verdicts, of files and of directories of rank files
    local tree=$1
    shift
    (cd "$SCRATCH/$tree" && find . -name '*.jsonl' | sort | xargs "$alar" check "$@"
     find . -mindepth 2 -type d | sort | xargs "$alar" check "$@") 2>&1
}
same() { # same OPTION...
    told text "$@" >"$SCRATCH/of-text"
    told packed "$@" >"$SCRATCH/of-packed"
    [ "$(wc -l <"$SCRATCH/of-text")" -gt 300 ] && diff "$SCRATCH/of-text" "$SCRATCH/of-packed"
}
check "packed, each has the same verdict, with the same places" same
check "in JSON too" same --json
sed -i 's/"out":\[3\]/"out":[4]/' "$SCRATCH/text/own-four-lines.jsonl"
expect_text "another verdict would be seen" 1 "own-four-lines" same

# ---- a recording ---------------------------------------------------------------------------------
small() { # at most 40 bytes a line
    "$alar" pack -o "$SCRATCH/gloo" "$gloo" | tee /dev/stderr | sed -n 's/.* \([0-9.]*\) a line$/\1/p' | awk '{ exit !($1 > 0 && $1 <= 40) }'
}
check "a recording takes at most 40 bytes a line" small
expect_text "a directory of packed rank files is one history" 0 "PASS	50 of 50 operations judged" "$alar" check "$SCRATCH/gloo"
mixed() { mkdir "$SCRATCH/mixed" && cp "$SCRATCH"/gloo/rank[01].alar "$gloo"/rank[23].jsonl "$SCRATCH/mixed/" && "$alar" check -q "$SCRATCH/mixed"; }
expect_text "some of them packed, some not" 0 "PASS	50 of 50" mixed
twice() { cp "$gloo/rank0.jsonl" "$SCRATCH/mixed/" && "$alar" check -q "$SCRATCH/mixed"; }
expect_code "the same rank in both forms is refused" 3 twice
exact() { # values of many elements: `alar run` on the simulator
    rm -rf "$SCRATCH/run" "$SCRATCH/run-packed"
    "$alar" run --steps 32:36 --encoding exact --extremes --quiet --history "$SCRATCH/run" >/dev/null &&
        "$alar" pack -q -o "$SCRATCH/run-packed" "$SCRATCH/run" &&
        "$alar" unpack -o "$SCRATCH/run-again" "$SCRATCH/run-packed" && diff -r "$SCRATCH/run" "$SCRATCH/run-again" &&
        "$alar" check "$SCRATCH/run-packed" | sed 's/run-packed/run/g' | diff - <("$alar" check "$SCRATCH/run")
}
check "a run of ours" exact
for command in view cost "export --perfetto"; do
    looks() { "$alar" $command "$SCRATCH/gloo" | sed "s|$SCRATCH/gloo|H|g; s|\.alar|.jsonl|g" | cmp - <("$alar" $command "$gloo" | sed "s|$gloo|H|g"); }
    check "alar $command reads it packed" looks
done

# ---- pipes ---------------------------------------------------------------------------------------
piped() { "$alar" pack - <"$gloo/rank0.jsonl" | cat | "$alar" unpack - | cmp - "$gloo/rank0.jsonl"; }
check "through pipes" piped
judged() { cat "$SCRATCH/gloo/rank0.alar" | "$alar" check -q -; }
expect_text "a packed history on standard input" 2 "-	UNKNOWN" judged

# ---- what can't be -------------------------------------------------------------------------------
head -c 1000 "$SCRATCH/gloo/rank1.alar" >"$SCRATCH/cut.alar"
expect_text "a cut file" 3 "cut.alar: expected a whole packed history, found it cut at byte 1000" "$alar" check "$SCRATCH/cut.alar"
unpack_cut() { "$alar" unpack -o "$SCRATCH/cut.jsonl" "$SCRATCH/cut.alar"; }
expect_text "is not unpacked" 3 "found it cut at byte 1000" unpack_cut
expect_code "and no half of it is left behind" 1 test -e "$SCRATCH/cut.jsonl"
{ head -c 500 "$SCRATCH/gloo/rank1.alar"; printf x; tail -c +502 "$SCRATCH/gloo/rank1.alar"; } >"$SCRATCH/damaged.alar"
expect_text "a changed byte" 3 "expected the block at byte 12 as it was packed, found other bytes" "$alar" check "$SCRATCH/damaged.alar"
{ cat "$SCRATCH/gloo/rank1.alar"; echo; } >"$SCRATCH/more.alar"
expect_text "something behind it" 3 "found more behind it" "$alar" check "$SCRATCH/more.alar"
expect_text "what is no packed history" 3 "expected a packed history, found another file" "$alar" unpack "$gloo/rank0.jsonl"
expect_text "what is one already" 3 "expected JSON lines, found a packed history" "$alar" pack "$SCRATCH/gloo/rank0.alar"
expect_text "a file that is not there" 3 "nowhere: expected a file to read, found: No such file" "$alar" pack "$SCRATCH/nowhere"
expect_text "a directory without -o" 3 "expected -o DIRECTORY for a directory" "$alar" pack "$gloo"
expect_text "a directory without histories" 3 "expected files that end in .alar, found: none" "$alar" unpack -o "$SCRATCH/none" "$gloo"
onto() { cp "$gloo/rank0.jsonl" "$SCRATCH/own.jsonl" && "$alar" pack -o "$SCRATCH/own.jsonl" "$SCRATCH/own.jsonl"; }
expect_text "onto itself" 3 "expected a file to write, found: the one that is read" onto
check "which is as it was" cmp "$gloo/rank0.jsonl" "$SCRATCH/own.jsonl"
expect_text "no path" 3 "expected one file or directory, or -" "$alar" pack
full() { "$alar" pack "$gloo/rank0.jsonl" >/dev/full; }
expect_text "a full disk" 2 "found: No space left" full
tally
