#!/usr/bin/env python3
"""The score, where users stand: what `alar conform`, and `alar run` + `alar check`, say of back ends that are wrong on purpose.

    faults/score.py [--quick] [--page] [NAME]...      BUILD (build) is where alar lies; writes BUILD/score.json

Two tables of mutants, each on two paths:
  shm      faults/shm: a back end of its own, wrong as its configuration says        alar conform; alar run on four processes
  wrapped  faults/mutants.def: wrappers around the simulator                 alar conform --mutant; alar run --mutant

Named rightly: the promise or anomaly that the table expects, and, where the defect sits on one rank, that very rank and
no other. What can't show on a path is listed with the reason and not counted; the tables say which that is, and a defect
that shows nowhere and is not among them counts as silent. --page prints the table of spec/conform.md. Exit code 0 only
when all that can show was named rightly.
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
SHM = os.path.join(BUILD, "alar-shm.so")
WORLDS, RANKS = "4:5", 4
RUN = ["run", "--async-log-allreduce", "--wait", "log", "--check-for-nan", "off", "--compare", "none"]
CULPRITS = re.compile(r"^[\w-]+: (?:reports? [^,:]*, |operations? .*?, )?ranks? ([\d, ]+)")
MISSING = re.compile(r"missing \{([\d, ]+)\}")
VERDICTS = ("right", "other rank", "other reason", "silent")


def table(path, macro, fields):
    pattern = macro + r"\(\s*(\w+)," + r",".join(fields) + r"\s*\)"
    with open(path, encoding="utf-8") as file:
        return re.findall("^" + pattern, file.read(), re.M)


TEXT, WORD = r'\s*"([^"]+)"', r"\s*(\w+)"


def shm_mutants():
    return table("faults/shm/shm_mutants.def", "WRONG", [TEXT, TEXT, TEXT, WORD, TEXT])


def wrapped_mutants():
    return table("faults/mutants.def", "MUTANT", [TEXT, TEXT, WORD, WORD, WORD, WORD])


def wrapped_seen(path):
    return {token: seen for token, on, seen in table("faults/mutants.def", "ON", [WORD, TEXT]) if on == path}


def numbers(found):
    return set(found.group(1).replace(" ", "").strip(",").split(",")) if found else set()


def ranks_of(reason):
    """Whom it blames: of a timeout those who are missing, where they are said to be."""
    missing = numbers(MISSING.search(reason)) if reason.startswith("timeout") else set()
    return missing or numbers(CULPRITS.match(reason))


def run(words, **more):
    environment = dict(os.environ, **{name: str(value) for name, value in more.items()})
    return subprocess.Popen(["timeout", "-k", "2", "90", *words], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def output(process):
    text = process.communicate()[0]
    if process.returncode == 3 or process.returncode == 4:
        sys.exit("score: %s: %s" % (" ".join(process.args), text.strip()))
    return text


def conform(folder, words, **more):
    """Musts that are broken, as {name, reason, ranks}."""
    report = os.path.join(folder, "table.json")
    output(run([ALAR, "conform", *words, "--output", os.path.join(folder, "failures"), "--json", report, "--seconds", "60"],
               **more))
    with open(report, encoding="utf-8") as file:
        return [row for row in json.load(file)["rows"] if row["level"] == "must" and row["failed"]]


def check(history):
    said = output(run([ALAR, "check", "-q", history])).strip().split("\t")
    return [(said[2].split(":")[0], said[2])] if len(said) > 2 and said[1] == "FAIL" else []


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
    _, name, _, promises, culprit, _ = mutant
    rows = conform(folder, [SHM, "--config", "mutant=" + name, "--ranks", WORLDS])
    last = {row["reason"]: {str(row["ranks"] - 1)} for row in rows}
    found = [(row["name"], row["reason"]) for row in rows]
    return grade(found, promises.split("|"), lambda reason: culprit == "ALL" or ranks_of(reason) == last[reason]), found


def shm_run(folder, mutant):
    _, name, _, _, culprit, seen = mutant
    history = os.path.join(folder, "history")
    ranks = [run([ALAR, *RUN, "--backend", SHM, "--deadline-ms", "1500", "--history", history], ALAR_RANK=rank,
                 ALAR_RANKS=RANKS, ALAR_JOB=os.path.basename(folder), ALAR_SHM_MUTANT=name) for rank in range(RANKS)]
    for rank in ranks:
        rank.communicate()
    found = check(history)
    return grade(found, seen.split("|"), lambda reason: culprit == "ALL" or ranks_of(reason) == {str(RANKS - 1)}), found


def wrapped_grade(found, mutant, path, strikes):
    token, _, _, _, _, anomaly, culprit = mutant
    wanted = wrapped_seen(path).get(token, anomaly.lower().replace("_", "-"))
    return grade([(reason.split(":")[0], reason) for _, reason in found], wanted.split("|"),
                 lambda reason: culprit == "OP" or len(ranks_of(reason)) == 1 and ranks_of(reason) <= strikes)


def wrapped_conform(folder, mutant):
    strikes = os.path.join(folder, "strikes")
    rows = conform(folder, ["sim", "--mutant", mutant[1], "--ranks", "5"], ALAR_STRIKES=strikes)
    found = [(row["name"], row["reason"]) for row in rows]
    return wrapped_grade(found, mutant, "conform", strikes_read(strikes)), found


def wrapped_run(folder, mutant):
    strikes, history = os.path.join(folder, "strikes"), os.path.join(folder, "history")
    output(run([ALAR, *RUN, "--ranks", str(RANKS), "--mutant", mutant[1], "--history", history], ALAR_STRIKES=strikes))
    found = check(history)
    return wrapped_grade(found, mutant, "run", strikes_read(strikes)), found


def interval(hits, trials):
    if trials == 0:
        return 0.0, 1.0
    z, p = 1.959964, hits / trials
    middle = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    return max(0.0, middle - half), min(1.0, middle + half)


def path_play(title, mutants, play, unseen):
    """Plays one path; returns its counts and what was not right."""
    count, worst, listed = dict.fromkeys(VERDICTS, 0), [], []
    for mutant in mutants:
        if mutant[0] in unseen:
            listed.append((mutant[1], unseen[mutant[0]]))
            continue
        with tempfile.TemporaryDirectory() as folder:
            verdict, found = play(folder, mutant)
        count[verdict] += 1
        if verdict != "right":
            worst.append((mutant[1], verdict))
            print("  %-18s %-13s %s" % (mutant[1], verdict, "; ".join(reason[:150] for _, reason in found)), flush=True)
    shown = sum(count.values())
    low, high = interval(count["right"], shown)
    print("%s: %d of %d named rightly (95 %% within %.1f to %.1f %%); %s; %d can't show" % (
        title, count["right"], shown, 100 * low, 100 * high, ", ".join("%d %s" % (count[v], v) for v in VERDICTS[1:]),
        len(listed)), flush=True)
    for why in sorted(set(why for _, why in listed)):
        print("  %s: %s" % (why, ", ".join(name for name, reason in listed if reason == why)))
    return {"path": title, "mutants": len(mutants), "count": count, "unseen": listed, "not_right": worst}


def page(paths):
    print("\n| path | mutants | can show | right | other rank | other reason | silent |\n|---|---|---|---|---|---|---|")
    for path in paths:
        count = path["count"]
        print("| %s | %d | %d | %s |" % (path["path"], path["mutants"], sum(count.values()),
                                        " | ".join(str(count[v]) for v in VERDICTS)))


def unseen_of(pairs):
    return {token: seen[1:] for token, seen in pairs if seen.startswith("-")}


def main():
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    shm, wrapped = shm_mutants(), wrapped_mutants()
    if names:
        shm, wrapped = [m for m in shm if m[1] in names], [m for m in wrapped if m[1] in names]
    if "--quick" in sys.argv:
        shm, wrapped = shm[3::23], wrapped[4::14]
    print("%d mutants: %d of a shared-memory back end, %d wrapped around the simulator" % (
        len(shm) + len(wrapped), len(shm), len(wrapped)))
    paths = [path_play("`alar conform`, shared memory", shm, shm_conform, {}),
             path_play("`alar conform`, wrapped", wrapped, wrapped_conform, unseen_of(wrapped_seen("conform").items())),
             path_play("`alar run` + `alar check`, shared memory", shm, shm_run, unseen_of((m[0], m[5]) for m in shm)),
             path_play("`alar run` + `alar check`, wrapped", wrapped, wrapped_run, unseen_of(wrapped_seen("run").items()))]
    with open(os.path.join(BUILD, "score.json"), "w", encoding="utf-8") as file:
        json.dump(paths, file, indent=1)
    if "--page" in sys.argv:
        page(paths)
    return 1 if any(path["not_right"] for path in paths) else 0


if __name__ == "__main__":
    sys.exit(main())
