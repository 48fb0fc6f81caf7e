#!/usr/bin/env bash
# The committed pages of the handle's machine are what `alar table` prints. spec: H-02
. "$(dirname "$0")/../lib/tally.sh"

same() { # same FILE OPTION: what to type when they differ is in the output
    "$BUILD/alar" table "$2" | diff -u "$1" - || {
        echo "again: $BUILD/alar table $2 >$1"
        return 1
    }
}
rows() { # rows COUNT PATTERN: lines of the plain table that match
    [ "$("$BUILD/alar" table | grep -cE "$2")" -eq "$1" ]
}

check "spec/handle.md is what the table prints" same spec/handle.md --markdown
check "spec/terms.md is what the table prints" same spec/terms.md --terms
check "spec/handle.dot is what the table prints" same spec/handle.dot --dot
in_page() { diff <("$BUILD/alar" table --mermaid) <(sed -n '/^```mermaid$/,/^```$/p' spec/handle.md | sed '1d;$d'); }
check "the picture alone is the one on the page" in_page
check "the table has 64 rows" rows 64 .
check "of which 16 move" rows 16 '^[A-Z_]+ +[A-Z]+ +[A-Z_]+ '
expect_text "an early read is refused, with its reason" 0 \
    "PENDING      READ      refused      an early read" "$BUILD/alar" table
expect_code "an unknown option can't be used" 3 "$BUILD/alar" table --svg
tally
