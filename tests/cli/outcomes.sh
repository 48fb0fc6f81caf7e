#!/usr/bin/env bash
# Verdicts for machines: JSON by its schema, JUnit, TAP and SARIF, over every history there is.
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar
mapfile -t histories < <(find tests/histories -name '*.jsonl' ! -path '*/rank*' | sort)
histories+=(tests/data/histories-gloo)
echo '{"ev":"isue"}' >"$SCRATCH/broken.jsonl"
"$alar" check --json --all "${histories[@]}" "$SCRATCH/broken.jsonl" "$SCRATCH/nowhere" \
    >"$SCRATCH/all.json" 2>/dev/null

by_schema() { # by_schema FILE: every line is what the schema says, and every kind of line is there
    /usr/bin/python3 - "$1" <<'PYTHON'
import collections, json, sys
import jsonschema
schema = json.load(open("spec/verdict.schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
of = lambda name: jsonschema.Draft202012Validator({**schema, "oneOf": [{"$ref": "#/$defs/" + name}]})
verdict, unusable = of("verdict"), of("unusable")
seen, bad = collections.Counter(), 0
for line in open(sys.argv[1]):
    data = json.loads(line)
    seen[data["verdict"]] += 1
    for error in (unusable if data["verdict"] == "UNUSABLE" else verdict).iter_errors(data):
        leaf = min(error.context, key=lambda e: -len(e.path)) if error.context else error
        print(data["path"], list(leaf.absolute_path), leaf.message[:300])
        bad += 1
print(dict(seen))
sys.exit(bad > 0 or any(seen[k] == 0 for k in ("PASS", "FAIL", "UNKNOWN")) or seen["UNUSABLE"] < 2)
PYTHON
}
check "every line is what spec/verdict.schema.json says" by_schema "$SCRATCH/all.json"
jq -c '.findings_more = "none"' "$SCRATCH/all.json" >"$SCRATCH/odd.json"
expect_text "another shape is refused" 1 "is not of type 'integer'" by_schema "$SCRATCH/odd.json"
as_many() { [ "$(wc -l <"$SCRATCH/all.json")" -eq $((${#histories[@]} + 2 + 2)) ]; } # gloo has three
check "a line for each history and each unusable input" as_many

# ---- JUnit ---------------------------------------------------------------------------------------
"$alar" check --junit "${histories[@]}" "$SCRATCH/broken.jsonl" >"$SCRATCH/all.xml" 2>/dev/null
junit() {
    /usr/bin/python3 - "$SCRATCH/all.xml" "$SCRATCH/all.json" <<'PYTHON'
import collections, json, sys
import xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot().find("testsuite")
seen = collections.Counter(json.loads(line)["verdict"] for line in open(sys.argv[2]))
cases = suite.findall("testcase")
kinds = collections.Counter(child.tag for case in cases for child in case)
assert int(suite.get("tests")) == len(cases) == sum(seen.values()) - 1, (suite.attrib, seen)
assert int(suite.get("failures")) == kinds["failure"] == seen["FAIL"]
assert int(suite.get("errors")) == kinds["error"] == seen["UNKNOWN"] + seen["UNUSABLE"] - 1
early = next(case for case in cases if case.get("name").endswith("histories-gloo/early-read"))
failure = early.find("failure")
assert failure.get("type") == "early-read" and "However," in failure.text, failure.attrib
PYTHON
}
check "JUnit: as many cases, failures and errors as verdicts" junit
printf '{"ev":"issue","rank":0,"op":"a<b\\u0001&\\"c/0","in":[1]}\n{"ev":"done","rank":0,"op":"a<b\\u0001&\\"c/0","out":[2]}\n' >"$SCRATCH/odd"$'\xff''.jsonl'
odd() { "$alar" check --junit "$SCRATCH"/odd*.jsonl >"$SCRATCH/odd.xml"; /usr/bin/python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$SCRATCH/odd.xml"; }
check "JUnit: names of any bytes stay XML" odd
odd_json() { "$alar" check --json "$SCRATCH"/odd*.jsonl | /usr/bin/python3 -c 'import json, sys; json.loads(sys.stdin.buffer.read().decode("utf-8"))'; }
check "JSON: names of any bytes stay UTF-8" odd_json

# ---- TAP -----------------------------------------------------------------------------------------
"$alar" check --tap "${histories[@]}" >"$SCRATCH/all.tap" 2>/dev/null
tap() { # numbered without gaps, the plan at the end; what is not PASS is not ok
    awk -v good="$(grep -c '"verdict":"PASS"' "$SCRATCH/all.json")" '
        NR == 1 { if ($0 != "TAP version 13") exit bad = 1 }
        /^(not )?ok / { n++; if ($0 !~ "^(not )?ok " n " - ") exit bad = 1; oks += /^ok/ }
        END { exit bad || $0 != "1.." n || oks != good }' "$SCRATCH/all.tap"
}
check "TAP: a numbered line for each history, and a plan" tap
if command -v prove >/dev/null; then
    expect_text "TAP: prove reads it" 1 "Failed" prove -e cat "$SCRATCH/all.tap"
fi

# ---- SARIF ---------------------------------------------------------------------------------------
sarif() {
    "$alar" check --sarif tests/data/histories-gloo 2>/dev/null | jq -e '.version == "2.1.0" and
        (.runs[0].tool.driver.rules | length > 20) and (.runs[0].results | length == 2) and
        (.runs[0].results[0] | .ruleId == "early-read" and
         (.locations[0].physicalLocation | .region.startLine == 44 and
          (.artifactLocation.uri | endswith("early-read/rank2.jsonl"))))'
}
check "SARIF: a result for each finding, at its line" sarif

# ---- all findings --------------------------------------------------------------------------------
for k in $(seq 0 39); do
    echo '{"ev":"issue","rank":0,"op":'"$k"',"in":[1]}'
    echo '{"ev":"done","rank":0,"op":'"$k"',"out":[2]}'
done >"$SCRATCH/forty.jsonl"
expect_text "16 findings are told, and how many more there are" 1 "24 more findings; --all tells them" \
    "$alar" check "$SCRATCH/forty.jsonl"
all_told() { "$alar" check --all "$SCRATCH/forty.jsonl" | grep -c 'illegal-value: operation world/' | grep -qx 40; }
check "--all tells all 40" all_told
all_json() { "$alar" check --json --all "$SCRATCH/forty.jsonl" | jq -e '(.findings | length) == 40 and .findings_more == 0'; }
check "--all in JSON" all_json
some_json() { "$alar" check --json "$SCRATCH/forty.jsonl" | jq -e '(.findings | length) == 16 and .findings_more == 24'; }
check "without it, JSON counts the rest" some_json

# ---- colours and formats -------------------------------------------------------------------------
coloured() { "$@" | grep -q $'\033'; }
expect_code "no colours into a pipe" 1 coloured "$alar" check -q "$SCRATCH/forty.jsonl"
check "--color always" coloured "$alar" check -q --color always "$SCRATCH/forty.jsonl"
on_terminal() { env "$1" script -qec "$alar check -q --color $2 $SCRATCH/forty.jsonl" /dev/null </dev/null | grep -q $'\033'; }
check "colours on a terminal" on_terminal A=1 auto
expect_code "NO_COLOR: none on a terminal" 1 on_terminal NO_COLOR=1 auto
check "--color always beats NO_COLOR" on_terminal NO_COLOR=1 always
expect_code "--color never beats the terminal" 1 on_terminal A=1 never
expect_text "one format at a time" 3 "expected one of --json, --junit, --tap, --sarif" \
    "$alar" check --json --tap "$SCRATCH/forty.jsonl"
expect_code "a path that is not there does not hide the others: 1 wins" 1 \
    "$alar" check -q "$SCRATCH/nowhere" "$SCRATCH/forty.jsonl"
tally
