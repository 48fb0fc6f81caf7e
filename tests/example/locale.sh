#!/usr/bin/env bash
# Numbers are written and read the same under any LC_NUMERIC.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

export LOCPATH=$SCRATCH/locale
mkdir "$LOCPATH"
made() { localedef -i de_DE -f UTF-8 "$LOCPATH/de_DE.UTF-8"; }
check "a locale with a decimal comma" made
build() { make -s install PREFIX="$SCRATCH/usr" >/dev/null && cc -std=c11 tests/example/locale.c -I"$SCRATCH/usr/include/alar" \
    -L"$SCRATCH/usr/lib" -Wl,-rpath,"$SCRATCH/usr/lib" -lalar -o "$SCRATCH/host"; }
check "a host that takes the user's locale" build
german() { LC_ALL=de_DE.UTF-8 ranks 2 "$SCRATCH/host" "$SCRATCH/h"; }
expect_text "prints a comma itself" 0 "1,54286" german
json() { jq -es 'map(select(.ev == "report").loss) | length > 0 and all(type == "number")' "$SCRATCH"/h/*.jsonl; }
check "and its history is JSON, with losses that are numbers" json
expect_text "which is judged, and passes" 0 "PASS" "$BUILD/alar" check -q "$SCRATCH/h"
tally
