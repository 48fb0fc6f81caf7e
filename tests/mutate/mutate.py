#!/usr/bin/python3
"""mutate.py [--count N] [--seed N] [--only TEXT]: draws small changes of the core, one at a time, and asks whether a check notices.

A change is one operator on one line of ref/{engine,judge,legal,numbers}. The file alone is compiled again, apart from the tree,
and linked before the archives that `make tests` left. It is *killed* when a check of CHECKS fails or does not end, *equivalent*
when the machine code is the same byte for byte, and *survives* otherwise. Survivors are printed as they are found; equivalents
that no compiler sees are listed, with a reason, in tests/mutate/equivalent (FILE:LINE-TEXT => NEW-TEXT # why)."""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOMS = ("engine", "judge", "legal", "numbers")
BUILD = os.environ.get("BUILD", "build")
UNIT = ["{build}/unit", "-j2", "--fail-fast"]
HISTORIES = ["bash", "tests/cli/histories.sh"]
# In the order in which they are asked: what is quick and likely first.
CHECKS = {
    "engine": [UNIT, ["bash", "tests/cli/run.sh"], ["bash", "tests/cli/exact.sh"]],
    "judge": [HISTORIES, ["bash", "tests/cli/reports.sh"], ["bash", "tests/cli/life.sh"], UNIT],
    "legal": [HISTORIES, ["bash", "tests/cli/proof.sh"], ["bash", "tests/cli/values.sh"], UNIT],
    "numbers": [UNIT, HISTORIES, ["bash", "tests/cli/values.sh"], ["bash", "tests/cli/hostile.sh"]],
}
SWAPS = [(r"(?<![<>=!-])<(?![<=])", "<="), (r"<=", "<"), (r"(?<![<>-])>(?![>=])", ">="), (r"(?<!-)>=", ">"), (r"==", "!="),
         (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"), (r"(?<=[\w)] )\+(?= )", "-"), (r"(?<=[\w)] )-(?= )", "+"),
         (r"(?<=[\w)] )\*(?= \w)", "+"), (r"(?<=[\w)] )/(?= )", "*"), (r"\+\+", "--"), (r"\btrue\b", "false"),
         (r"\bfalse\b", "true"), (r"(?<![\w.])0(?![\w.])", "1"), (r"(?<![\w.])1(?![\w.])", "2"), (r"\bif \((?=[^()]*\) \{)", "if (!(")]
STATEMENT = re.compile(r"^\s+(?!return\b|break\b|continue\b|goto\b|PRE|POST|INV|CHECK|static\b|const\b)[\w>.\-\[\]()*]+( [|&+\-]?=[^=].*|\(.*\)|\+\+|--);$")


def changes(path):
    """(line number, old line, new line) for every place an operator fits, outside comments, strings and assertions."""
    for number, line in enumerate(open(path), 1):
        text = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'', lambda m: "\x01" * len(m.group()), line.split("/*")[0])
        if re.match(r"\s*(#|\*|//|PRE|POST|INV|enum\b|static const\b)", line) or "*/" in line:
            continue
        for pattern, new in SWAPS:
            for match in re.finditer(pattern, text):
                changed = line[:match.start()] + new + line[match.end():]
                yield number, line, changed.replace(") {", ")) {", 1) if new == "if (!(" else changed
        if STATEMENT.match(text.rstrip("\n")):
            yield number, line, re.match(r"\s*", line).group() + ";\n"


class Tree:
    """How make would build alar and unit after a change of one file, with other names."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.farm = os.path.join(scratch, "build")
        os.mkdir(self.farm)
        for name in os.listdir(BUILD):
            if name not in ("alar", "unit", "results"):
                os.symlink(os.path.abspath(os.path.join(BUILD, name)), os.path.join(self.farm, name))

    def commands(self, path):
        words = ["make", "-n", "V=1", "-W", path, BUILD + "/alar", BUILD + "/unit"]
        if "-Werror" in open(BUILD + "/flags").read():
            words.insert(2, "WERROR=1")
        lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
        compiles = [line for line in lines if " -c %s " % path in line]
        links = [line for line in lines if re.search(r" -o \S*/(alar|unit)$", line)]
        return compiles, links

    def build(self, path, source, commands):
        """True, False when it does not compile, None when it is the same code."""
        objects = {}
        for k, line in enumerate(commands[0]):
            old = line.split(" -o ")[1].split()[0]
            objects[old] = os.path.join(self.scratch, "%d.o" % k)
            line = re.sub(r" -MMD| -MP| -Werror", "", line).replace(" -c %s " % path, " -c %s " % source)
            line = line.replace(" -o " + old, " -o " + objects[old])
            if subprocess.run(line, shell=True, stderr=subprocess.DEVNULL).returncode != 0:
                return False
        if all(self.code(old) == self.code(new) for old, new in objects.items()):
            return None
        for line in commands[1]:
            deep = line.endswith("/unit")
            mine = [new for old, new in objects.items() if ("/deep/" in old) == deep]
            for old, new in objects.items():
                line = line.replace(" %s " % old, " %s " % new)
            if mine and mine[0] not in line:
                line = line.replace("gcc ", "gcc " + mine[0] + " ", 1)
            line = re.sub(r" -o \S*/(alar|unit)$", r" -o %s/\1" % self.farm, line)
            subprocess.run(line, shell=True, check=True, stderr=subprocess.DEVNULL)
        return True

    def code(self, name):
        return subprocess.run(["objdump", "-d", "-r", "-s", "-j", ".text", "-j", ".rodata", "-j", ".data.rel.ro.local", name],
                              capture_output=True).stdout.split(b"\n", 3)[-1]

    def killer(self, path):
        room = path.split("/")[1]
        for check in CHECKS[room]:
            words = [word.format(build=self.farm) for word in check]
            try:
                done = subprocess.run(words, env={**os.environ, "BUILD": self.farm}, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=400)
            except subprocess.TimeoutExpired:
                return os.path.basename(words[-1] if words[0] == "bash" else words[0]) + ", without end"
            if done.returncode != 0:
                return os.path.basename(words[-1] if words[0] == "bash" else words[0])
        return None


def known(path):
    listed = os.path.join(os.path.dirname(os.path.abspath(__file__)), "equivalent")
    return {line.split(" # ")[0].strip() for line in open(path or listed) if " # " in line}


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--count", type=int, default=300)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--only", default="", help="paths that hold this text")
    asked = ask.parse_args()
    files = sorted(os.path.join(at, name) for room in ROOMS for at, _, names in os.walk("ref/" + room) for name in names
                   if name.endswith(".c"))
    every = [(path, *change) for path in files if asked.only in path for change in changes(path)]
    random.Random(asked.seed).shuffle(every)
    scratch = tempfile.mkdtemp()
    tree, equivalents, began = Tree(scratch), known(None), time.monotonic()
    killed = survived = same = listed = 0
    healthy = set()  # rooms whose checks pass on the tree as it is
    try:
        for path, number, old, new in every:
            if killed + survived == asked.count:
                break
            if "%s:%s => %s" % (path, old.strip(), new.strip()) in equivalents:
                listed += 1
                continue
            room = path.split("/")[1]
            if room not in healthy:  # else everything would be called killed
                shutil.copy(os.path.join(BUILD, "alar"), tree.farm)
                shutil.copy(os.path.join(BUILD, "unit"), tree.farm)
                by = tree.killer(path)
                assert by is None, "the tree as it is fails " + str(by)
                healthy.add(room)
            source = os.path.join(scratch, os.path.basename(path))
            lines = open(path).readlines()
            lines[number - 1] = new
            open(source, "w").writelines(lines)
            built = tree.build(path, source, tree.commands(path))
            if not built:
                same += built is None
                continue
            by = tree.killer(path)
            killed, survived = killed + (by is not None), survived + (by is None)
            print("%s %s:%d: %s => %s%s" % ("killed  " if by else "SURVIVED", path, number, old.strip(), new.strip(),
                                            " (%s)" % by if by else ""), flush=True)
    finally:
        shutil.rmtree(scratch)
    count = killed + survived
    print("%d of %d killed, %.1f %%; %d had the same machine code, %d are listed; %d places in all; seed %d, %.0f s" % (
        killed, count, 100 * killed / max(1, count), same, listed, len(every), asked.seed, time.monotonic() - began))
    sys.exit(count == 0 or killed < 0.95 * count)


main()
