#!/usr/bin/env python3
"""The score, where users stand: what `alar conform`, and `alar run` + `alar check`, say of back ends that are wrong on purpose.

    faults/score.py [--quick] [NAME]...      BUILD (build) is where alar lies; writes BUILD/score.json

Three rows of mutants and two paths:
  shm      faults/shm: a back end of its own, wrong as its configuration says          alar conform
  wrapped  faults/mutants.def: wrappers around the simulator                           alar conform --mutant
  wrapped  the same                                                  alar run --mutant --history, then alar check

Named rightly: the promise or anomaly that the table expects, and, where the defect sits on one rank, that very rank and
no other. A wrapped mutant leaves word where its defect showed, which the judge never sees; where it showed nowhere on a
path it is listed and not counted. Exit code 0 when nothing that showed was passed in silence or blamed on another rank.
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", "build")
ALAR = os.path.join(BUILD, "alar")
WORLDS = "4:5"
RANKS = re.compile(r"^[\w-]+: (?:reports? [^,:]*, |operations? .*?, )?ranks? ([\d, ]+)")
VERDICTS = ("right", "other rank", "other reason", "silent", "not shown")


def table(path, macro, fields):
    pattern = macro + r"\((\w+)," + r",".join(fields) + r"\)"
    with open(path, encoding="utf-8") as file:
        return re.findall("^" + pattern, file.read(), re.M)


def shm_mutants():
    text = r'\s*"([^"]+)"'
    return table("faults/shm/shm_mutants.def", "WRONG", [text, text, text, r"\s*(\w+)"])


def wrapped_mutants():
    text, word = r'\s*"([^"]+)"', r"\s*(\w+)"
    return table("faults/mutants.def", "MUTANT", [text, text, word, word, word, word])


def ranks_of(reason):
    found = RANKS.match(reason)
    return set(found.group(1).replace(" ", "").strip(",").split(",")) if found else set()


def run(words, folder, **more):
    environment = dict(os.environ, **more)
    return subprocess.run(["timeout", "-k", "2", "90", *words], cwd=os.getcwd(), env=environment, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def conform(folder, words, **more):
    """Musts that are broken, as {name, reason, ranks}."""
    report = os.path.join(folder, "table.json")
    run([ALAR, "conform", *words, "--out", os.path.join(folder, "failures"), "--json", report, "--seconds", "60"], folder,
        **more)
    if not os.path.exists(report):
        return []
    with open(report, encoding="utf-8") as file:
        return [row for row in json.load(file)["rows"] if row["level"] == "must" and row["failed"]]


def strikes_read(path):
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as file:
        return {line.split()[2] for line in file}


def grade(found, wanted, is_culprit):
    """`found`: (what, reason) pairs; `wanted`: the names of what is expected."""
    right = [reason for what, reason in found if what in wanted]
    if right:
        return "right" if all(map(is_culprit, right)) else "other rank"
    return "other reason" if found else "silent"


def shm_conform(folder, mutant):
    _, name, _, promises, culprit = mutant
    rows = conform(folder, [os.path.join(BUILD, "alar-shm.so"), "--config", "mutant=" + name, "--ranks", WORLDS])
    last = {row["reason"]: {str(row["ranks"] - 1)} for row in rows}
    found = [(row["name"], row["reason"]) for row in rows]
    return grade(found, promises.split("|"), lambda reason: culprit == "ALL" or ranks_of(reason) == last[reason]), found


def wrapped_grade(found, mutant, strikes):
    _, _, _, _, _, anomaly, culprit = mutant
    wanted = anomaly.lower().replace("_", "-")
    verdict = grade([(reason.split(":")[0], reason) for _, reason in found], {wanted},
                    lambda reason: culprit == "OP" or len(ranks_of(reason)) == 1 and ranks_of(reason) <= strikes)
    return verdict if strikes or found else "not shown"


def wrapped_conform(folder, mutant):
    strikes = os.path.join(folder, "strikes")
    rows = conform(folder, ["sim", "--mutant", mutant[1], "--ranks", "5"], ALAR_STRIKES=strikes)
    found = [(row["name"], row["reason"]) for row in rows]
    return wrapped_grade(found, mutant, strikes_read(strikes)), found


def wrapped_run(folder, mutant):
    strikes, history = os.path.join(folder, "strikes"), os.path.join(folder, "history")
    run([ALAR, "run", "--ranks", "4", "--async-log-allreduce", "--wait", "log", "--check-for-nan", "off", "--mutant",
         mutant[1], "--history", history], folder, ALAR_STRIKES=strikes)
    said = run([ALAR, "check", "-q", history], folder).stdout.strip().split("\t")
    found = [("", said[2])] if len(said) > 2 and said[1] == "FAIL" else []
    return wrapped_grade(found, mutant, strikes_read(strikes)), found


def interval(hits, trials):
    if trials == 0:
        return 0.0, 1.0
    z, p = 1.959964, hits / trials
    middle = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    return max(0.0, middle - half), min(1.0, middle + half)


def path_play(title, mutants, play, names):
    """Plays one path; returns its counts and what was not right."""
    count, worst = dict.fromkeys(VERDICTS, 0), []
    for mutant in mutants:
        if names and mutant[1] not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            verdict, found = play(folder, mutant)
        count[verdict] += 1
        if verdict != "right":
            worst.append((mutant[1], verdict, found))
            reasons = "; ".join(reason[:150] for _, reason in found)
            print("  %-18s %-13s %s" % (mutant[1], verdict, reasons), flush=True)
    shown = sum(count[v] for v in VERDICTS[:-1])
    low, high = interval(count["right"], shown)
    print("%s: %d of %d named rightly (95 %% within %.1f to %.1f %%); %s\n" % (
        title, count["right"], shown, 100 * low, 100 * high,
        ", ".join("%d %s" % (count[v], v) for v in VERDICTS[1:])), flush=True)
    return {"path": title, "count": count, "not_right": [w[:2] for w in worst]}


def main():
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    shm, wrapped = shm_mutants(), wrapped_mutants()
    if "--quick" in sys.argv:
        shm, wrapped = shm[::8], wrapped[::8]
    print("%d mutants: %d of a shared-memory back end, %d wrapped around the simulator\n" % (
        len(shm) + len(wrapped), len(shm), len(wrapped)))
    paths = [path_play("alar conform, shared memory", shm, shm_conform, names),
             path_play("alar conform, wrapped", wrapped, wrapped_conform, names),
             path_play("alar run + alar check, wrapped", wrapped, wrapped_run, names)]
    with open(os.path.join(BUILD, "score.json"), "w", encoding="utf-8") as file:
        json.dump(paths, file, indent=1)
    bad = sum(path["count"][v] for path in paths[:2] for v in VERDICTS[1:4])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
