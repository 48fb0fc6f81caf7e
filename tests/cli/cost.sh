#!/usr/bin/env bash
# `alar cost` and `alar export`: sums that are known by hand, every format, two histories side by side.
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar

# Two ranks on one clock, 30 operations of one element in 10 steps of 3, a report after every fifth step.
# Rank 1 issues 3 ms after rank 0 and blocks 1 ms for each, rank 0 blocks 4 ms. 2 ms later both go on.
made() { # made WAIT_OF_RANK_0
    local rank
    for rank in 0 1; do
        awk -v rank=$rank -v blocked="$1" 'BEGIN {
            print "{\"ev\":\"trace\",\"rank\":" rank ",\"t\":0,\"v\":1,\"world\":2,\"clock\":\"monotonic_ns\",\"host\":\"h\",\"t0\":" 1000 * rank "}"
            ms = 1000000; shift = 1000 * rank
            for (k = 0; k < 30; k++) {
                head = "\"rank\":" rank ",\"op\":" k
                from = 10 * k * ms + (rank ? 3 * ms : 0) - shift + 1000
                done = 10 * k * ms + 8 * ms - shift + 1000
                printf "{\"ev\":\"issue\",%s,\"t\":%d,\"in\":[1],\"step\":%d,\"mb\":%d,\"src\":\"train.c:%d\",\"key\":\"loss\"}\n", head, from, k / 3, k % 3, k % 3 == 2 ? 9 : 7
                printf "{\"ev\":\"wait\",%s,\"t\":%d,\"done\":false}\n", head, done - (rank ? 1 : blocked) * ms
                printf "{\"ev\":\"done\",%s,\"t\":%d,\"out\":[2]}\n", head, done
                if (k % 15 == 14 && rank == 0)
                    printf "{\"ev\":\"report\",\"rank\":0,\"t\":%d,\"metric\":\"loss\",\"step\":%d,\"first_step\":%d,\"loss\":1}\n", done + 1, k / 3, k / 3 - 4
            }
            print "{\"ev\":\"end\",\"rank\":" rank ",\"t\":" 300 * ms - shift + 1000 "}"
        }' >"$2/rank$rank.jsonl"
    done
}
mkdir "$SCRATCH/a" "$SCRATCH/b"
made 4 "$SCRATCH/a"
made 2 "$SCRATCH/b"

"$alar" cost --format json "$SCRATCH/a" >"$SCRATCH/a.json"
holds() { jq -e "$1" "$SCRATCH/a.json"; }
check "calls, operations and steps are counted" holds '.all_reduces == 30 and .calls == 60 and .steps == 10 and .ranks == 2'
check "by the place that called" holds '[.sites[] | [.site, .calls]] == [["train.c:7", 40], ["train.c:9", 20]]'
check "blocked time is from the wait to its end: 30 x (4 + 1) ms" holds '.blocked == 150000000 and .sites[0].blocked == 100000000'
check "overlapped time is from the issue to the wait: 30 x (4 + 4) ms" holds '.overlapped == 240000000'
check "rank 1 is last always, and chronically" holds '.last[1].times == 30 and .last[1].of == 30 and .last[1].chronic and
    .last[0].times == 0 and (.last[0].chronic | not)'
check "with an interval by Wilson" holds '.last[1].low == 0.8865 and .last[1].high == 1'
check "late by 3 ms each" holds '.last[1].late == 90000000'
# Of each rank's 15 operations before a log line, the last is waited for all the same.
check "waiting at the log line saves what the others blocked" holds '.saving_at_most == 140000000'
check "reductions are counted by kind" holds '.sites[0].calls_by_reduction | .sum == 40 and add == 40 and length == 13'
expect_text "the table" 0 "train.c:7                       20        40     0 %      100.000   16.67 %" "$alar" cost "$SCRATCH/a"
expect_text "its sum" 0 "30 all-reduces in 60 calls of 2 ranks, 600.001 ms of their time; 150.000 ms blocked (25.00 %), 61.5 % of pending time overlapped" "$alar" cost "$SCRATCH/a"
expect_text "and who is late" 0 "rank 1: 100 % (84 to 100 %), chronic" "$alar" cost "$SCRATCH/a"
csv() {
    "$alar" cost --format csv "$SCRATCH/a" | /usr/bin/python3 -c 'import csv, sys
rows = list(csv.DictReader(sys.stdin))
assert [row["site"] for row in rows] == ["train.c:7", "train.c:9"] and float(rows[0]["blocked_ms"]) == 100, rows
assert rows[1]["last_rank"] == "1" and rows[1]["last_times"] == "10" and rows[1]["chronic"] == "0", rows'
}
check "CSV: one line a site; 10 of 10 alone are not called chronic" csv
picture() { "$alar" cost --format svg -o "$SCRATCH/a.svg" "$SCRATCH/a" && /usr/bin/python3 -c 'import sys, xml.dom.minidom as x
texts = [t.firstChild.data for t in x.parse(sys.argv[1]).getElementsByTagName("text")]
assert "rank 0" in texts and "40.00 % blocked" in texts and "10.00 % blocked, often last" in texts, texts' "$SCRATCH/a.svg"; }
check "a picture of each rank's time" picture
expect_text "two histories side by side" 0 "all                             60        60      150.000       90.000    0.600   25.00 %   15.00 %" \
    "$alar" cost --compare "$SCRATCH/a" "$SCRATCH/b"
expect_text "without a shared clock nobody is called last" 0 "who arrives last is not known" "$alar" cost tests/data/histories-gloo/fault-free
expect_text "two histories without --compare" 3 "expected one history" "$alar" cost "$SCRATCH/a" "$SCRATCH/b"
expect_text "a directory of several histories" 3 "expected one history, found 3" "$alar" cost tests/data/histories-gloo
expect_text "no such format" 3 "expected text|csv|json|svg, found 'xml'" "$alar" cost --format xml "$SCRATCH/a"
expect_text "a place that can't be written" 3 "expected a file to write, found: No such file" "$alar" cost -o /nonexistent/x "$SCRATCH/a"
expect_text "a full disk" 2 "/dev/full: expected to write all of it, found: No space left on device" "$alar" cost -o /dev/full "$SCRATCH/a"

# What a run says of itself, and what its history says of it.
agrees() {
    "$alar" run --async-log-allreduce --steps 32:60 --quiet --history "$SCRATCH/h" --stats-json "$SCRATCH/stats.json" >/dev/null &&
        "$alar" cost --format json "$SCRATCH/h" | jq -e '.calls == 4 * .all_reduces and .unfinished == 0 and .blocked <= .time'
}
check "a run of alar is accounted" agrees

# ---- traces --------------------------------------------------------------------------------------
"$alar" export --perfetto -o "$SCRATCH/a.trace" "$SCRATCH/a"
trace() { # the rules of the trace event format, and sums as above
    /usr/bin/python3 - "$SCRATCH/a.trace" <<'PYTHON'
import collections, json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
pending, blocked = {}, collections.Counter()
for event in events:
    assert event["ph"] in "MbeXi" and isinstance(event["pid"], int) and isinstance(event["tid"], int), event
    if event["ph"] == "M":
        continue
    assert event["ts"] >= 0, event
    if event["ph"] == "b":
        assert event["id2"]["local"] not in pending
        pending[event["id2"]["local"]] = event["ts"]
    elif event["ph"] == "e":
        assert pending.pop(event["id2"]["local"]) <= event["ts"]
    elif event["ph"] == "X":
        assert event["dur"] >= 0
        blocked[event["pid"]] += event["dur"]
assert not pending and dict(blocked) == {1: 120000, 2: 30000}, blocked
named = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
assert named == {1: "rank 0", 2: "rank 1"}, named
assert sum(e["ph"] == "i" for e in events) == 4  # two reports, two ends
PYTHON
}
check "the trace keeps the format's rules and the history's times" trace
every() { # histories without times, cut ones, odd ones
    local file
    for file in tests/histories/*.jsonl; do
        "$alar" check -q "$file" >/dev/null 2>&1
        [ $? -eq 3 ] || "$alar" export --perfetto "$file" | jq -e '.traceEvents | length > 0' >/dev/null || { echo "$file"; return 1; }
        [ $? -eq 3 ] || "$alar" cost --format json "$file" >/dev/null 2>&1 || [ $? -eq 3 ] || { echo "cost $file"; return 1; }
    done
}
check "every history can be exported and accounted" every
expect_text "a format is asked for" 3 "expected a format: --perfetto" "$alar" export "$SCRATCH/a"
tally
