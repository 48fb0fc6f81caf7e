#!/usr/bin/env bash
# Writes a long healthy history of 4 ranks by repeating 48 recorded operations of gloo:
#
#   tests/bench/history.sh EVENTS DIRECTORY
#
# The directory gets rank0.jsonl ... rank3.jsonl with EVENTS records in all, rounded up to whole rounds.
set -eu
cd "$(dirname "$0")/../.."

events=${1:?how many records} directory=${2:?where to}
rounds=$(((events + 959) / 960))
mkdir -p "$directory"
for rank in 0 1 2 3; do
    awk -v rounds="$rounds" -v rank="$rank" '
        NR == 1 { print field($0, "t", 0); next }
        NR <= 241 { line[++lines] = $0 }
        function field(text, key, value) { # the number after "key": replaced by value
            match(text, "\"" key "\":[0-9]+")
            return substr(text, 1, RSTART - 1) "\"" key "\":" value substr(text, RSTART + RLENGTH)
        }
        END {
            for (k = 1; k <= lines; k++) {
                match(line[k], /world\/[0-9]+/)
                number[k] = substr(line[k], RSTART + 6, RLENGTH - 6)
                head[k] = substr(line[k], 1, RSTART + 5)
                tail[k] = substr(line[k], RSTART + RLENGTH)
            }
            for (r = 0; r < rounds; r++) {
                for (k = 1; k <= lines; k++) {
                    i++
                    printf "%s%d%s\n", field(field(head[k], "i", i), "t", 1000 * i),
                           number[k] + 48 * r, tail[k]
                }
            }
            printf "{\"ev\":\"end\",\"rank\":%d,\"i\":%d,\"t\":%d}\n", rank, i + 1, 1000 * (i + 1)
        }' "tests/data/histories-gloo/fault-free/rank$rank.jsonl" >"$directory/rank$rank.jsonl"
done
