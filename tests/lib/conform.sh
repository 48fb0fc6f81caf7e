# For the scripts that try `alar conform` on a healthy back end with lines changed.

# shellcheck source=tally.sh
. "$(dirname "${BASH_SOURCE[0]}")/tally.sh"
alar=$PWD/$BUILD/alar
cp tests/data/ring.txt "$SCRATCH/base.txt"

compile() { gcc -std=c11 -Wall -Wextra ${2:-} -O2 -fPIC -shared -Iref/api "$SCRATCH/$1.c" -o "$SCRATCH/$1.so" -lrt; }

build() { # build NAME [SED-SCRIPT]: that back end, with lines changed
    sed "${2:-}" "$SCRATCH/base.txt" >"$SCRATCH/$1.c"
    compile "$1"
}

conform() { "$alar" conform "$@" --output "$SCRATCH/failures"; }

says() { # says ANOMALY HISTORY: the verdict's line, when it is that anomaly
    local line
    line=$("$alar" check -q "$2" | cut -f 2-) || true
    echo "$line"
    case $line in FAIL*"$1: "*) return 0 ;; esac
    return 1
}

# breaks NAME PROMISE ANOMALY SED-SCRIPT [TEXT]: one with that line changed breaks that promise, and alar check
# says the same of the history that is left.
breaks() {
    local name=$1 row=$2 anomaly=$3 text=${5:-}
    rm -rf "$SCRATCH/failures"
    check "$name: it compiles" build "$name" "$4"
    cmp -s "$SCRATCH/base.txt" "$SCRATCH/$name.c" && { check "$name: it is changed" false; return; }
    expect_text "$name: a must is broken, named $row" 1 "must    BROKEN  $row" conform "$SCRATCH/$name.so" --ranks 3
    expect_text "$name: alar check says $anomaly $text of its history" 0 "$text" \
        says "$anomaly" "$SCRATCH/failures/${row// /-}.jsonl"
}
