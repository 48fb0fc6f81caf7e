#!/usr/bin/python3
"""mutate.py [--count N] [--seed N] [--only TEXT] [--quick] [--again LOG]: draws small changes of the core, one at a time, and asks
whether a check notices.

A change is one operator on one line of ref/{engine,judge,legal,numbers}. The file alone is compiled again, apart from the tree,
and linked before the archives that `make tests` left. It is *killed* when a check of CHECKS fails, *equivalent* when the object
is the same byte for byte, and *survives* otherwise. Checks are asked from the cheapest on, each until its first failure; what
they start may use CPU_SECONDS of a processor each, whatever else the machine does. Survivors are printed as they are found;
equivalents that no compiler sees are listed, with a reason, in tests/mutate/equivalent (FILE:LINE-TEXT => NEW-TEXT # why)."""
import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOMS = ("engine", "judge", "legal", "numbers")
BUILD = os.environ.get("BUILD", "build")
CPU_SECONDS = 15
MEMORY = 4 << 30


def script(name):
    return ["bash", "tests/cli/%s.sh" % name]


WORDS = ("reports", "collectives", "values", "life", "drawn")  # scripts that hold every word told of their histories


def suites(*names):
    return ["unit", "-j1", "--fail-fast", "--filter", "@(%s)/*" % "|".join(names)]


# Two lists for each room: what every change is asked, and what those that are left are asked besides.
CHECKS = {
    "engine": ([suites("engine", "engine_*", "window", "window_*", "handle", "payload", "payload_*", "participation", "loss", "schema",
                       "roll", "embed"), script("told"), script("run")],
               [script("exact"), script("topology"), suites("run_*", "driver_*", "golden", "judge*", "report")]),
    "judge": ([script("told"), ["words"], script("check"), suites("judge", "judge_[a-ce-nq-uw-z]*", "report", "check", "words"),
               suites("judge_[dov]*")],
              [script("histories"), script("table")]),
    "legal": ([script("told"), ["words"], suites("bound", "certificate", "hull", "power", "provenance", "specials")],
              [suites("diagnose", "certificate_*"), script("proof"), script("values"),
               suites("judge*", "report", "order", "mutant"), script("outcomes")]),
    "numbers": ([suites("fp", "exact", "exact_*", "tree", "order", "inputs", "payload_*"), script("told"), ["words"], script("hostile")],
                [script("values"), script("exact"), script("order"), suites("bound", "hull", "provenance", "backend_sim", "dataset", "order")]),
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


def said(old, new):
    return "%s => %s" % (old.strip(), new.strip())


def bounded():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Tree:
    """Builds alar and unit with one file changed, as make would, beside what make has built."""

    SAMPLE = "ref/judge/judge"

    def __init__(self, scratch):
        self.scratch = scratch
        self.farm = os.path.join(scratch, "build")
        self.originals = {}  # (path, program): the object of the file as it is
        os.mkdir(self.farm)
        for name in os.listdir(BUILD):
            if name not in ("alar", "unit", "results"):
                os.symlink(os.path.abspath(os.path.join(BUILD, name)), os.path.join(self.farm, name))
        words = ["make", "-n", "V=1", "-W", self.SAMPLE + ".c", BUILD + "/alar", BUILD + "/unit"]
        if "-Werror" in open(BUILD + "/flags").read():
            words.insert(2, "WERROR=1")
        lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
        compiles = [line for line in lines if " -c %s.c " % self.SAMPLE in line]
        self.compiles = {"unit" if "/deep/" in line else "alar": line for line in compiles}
        self.links = {line.rsplit("/", 1)[1]: line for line in lines if re.search(r" -o \S*/(alar|unit)$", line)}
        self.restore()

    def restore(self):
        for program in ("alar", "unit"):
            shutil.copy(os.path.join(BUILD, program), self.farm)

    def collect(self):
        """The histories that the scripts of WORDS judge, and what is said of them: a script holds every word."""
        inputs = os.path.join(self.scratch, "inputs")
        os.mkdir(inputs)
        for name in WORDS:
            assert run(script(name), self.farm, WORDS_INPUTS=inputs)[0] == 0, name
        self.ask = [os.path.join(self.farm, "alar"), "check", *sorted(os.path.join(inputs, name) for name in os.listdir(inputs))]
        self.words = run(self.ask, self.farm)

    def compile(self, program, path, text):
        """The object's file, or None. What it says of lines and files is what it would say in the tree."""
        source = os.path.join(self.scratch, os.path.basename(path))
        target = os.path.join(self.scratch, program + ".o")
        with open(source, "w") as out:
            out.write('#line 1 "%s"\n%s' % (path, text))
        line = re.sub(r" -MMD| -MP| -Werror| -g\b", "", self.compiles[program])
        line = re.sub(r" -c \S+ -o \S+", " -w -c %s -o %s" % (source, target), line)
        done = subprocess.run(line, shell=True, stderr=subprocess.DEVNULL, env={**os.environ, "CCACHE_DISABLE": "1"})
        return target if done.returncode == 0 else None

    def original(self, program, path):
        if (path, program) not in self.originals:
            self.originals[path, program] = open(self.compile(program, path, open(path).read()), "rb").read()
        return self.originals[path, program]

    def build(self, program, path, text):
        """True when the program is built, False when it is the same as ever, None when the text is no program."""
        original = self.original(program, path)
        target = self.compile(program, path, text)
        if target is None or open(target, "rb").read() == original:
            return None if target is None else False
        line = re.sub(r" -o \S*/(alar|unit)$", r" -s -o %s/\1" % self.farm, self.links[program])
        line = line.replace("gcc ", "gcc " + target + " ", 1)
        return True if subprocess.run(line, shell=True, stderr=subprocess.DEVNULL).returncode == 0 else None


def run(words, farm, **environment):
    """Exit code and all that is said."""
    done = subprocess.run(words, env={**os.environ, "BUILD": farm, "TALLY_STOP": "1", **environment}, stdin=subprocess.DEVNULL,
                          text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=bounded)
    return done.returncode, done.stdout + done.stderr


def passes(tree, check):
    """One check, of the program in the farm. A filter that fits no suite passes nothing."""
    if check == ["words"]:
        return run(tree.ask, tree.farm) == tree.words
    code, said = run([os.path.join(tree.farm, "unit"), *check[1:]] if check[0] == "unit" else check, tree.farm)
    return code == 0 and "Tested: 0 " not in said


def name_of(check):
    return os.path.basename(check[-1]) if check[0] == "bash" else check[0]


def judge(tree, checks, path, text):
    """"killed NAME", "SURVIVED", "same" or "no C". A program is built when the first check asks for it."""
    built = {}
    for check in checks:
        program = "unit" if check[0] == "unit" else "alar"
        if program not in built:
            built[program] = tree.build(program, path, text)
        if built[program] is None:
            return "no C"
        if built[program] and not passes(tree, check):
            return "killed " + name_of(check)
    return "SURVIVED" if any(built.values()) else "same"


def healthy(tree, checks):
    """On the tree as it is every check passes; else all would be called killed."""
    tree.restore()
    for check in checks:
        assert passes(tree, check), "the tree as it is fails " + " ".join(check)


def known():
    listed = os.path.join(os.path.dirname(os.path.abspath(__file__)), "equivalent")
    return {line.split(" # ")[0].strip() for line in open(listed) if not line.startswith("#")}


def options():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--count", type=int, default=300)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--only", default="", help="paths that hold this text")
    ask.add_argument("--quick", action="store_true", help="the first checks of each room alone")
    ask.add_argument("--trust", action="store_true", help="don't ask first whether the tree as it is passes")
    ask.add_argument("--blind", action="store_true", help="ask a check that can't fail: the score is 0")
    ask.add_argument("--again", help="only what survived in this log")
    ask.add_argument("--floor", type=float, default=95, help="percent; below it the exit code is 1 (95)")
    return ask.parse_args()


def main():
    asked, equivalents = options(), known()
    files = sorted(os.path.join(at, name) for room in ROOMS for at, _, names in os.walk("ref/" + room) for name in names
                   if name.endswith(".c"))
    every = [(path, *change) for path in files if asked.only in path for change in changes(path)]
    random.Random(asked.seed).shuffle(every)
    stale = equivalents - {"%s:%s" % (path, said(old, new)) for path, _, old, new in every}
    assert asked.only or not stale, "listed as equivalent, and no longer there: " + ", ".join(sorted(stale))
    if asked.again:
        left = set(re.findall(r"^SURVIVED (\S+):\d+: (.*)$", open(asked.again).read(), re.MULTILINE))
        every = [drawn for drawn in every if (drawn[0], said(drawn[2], drawn[3])) in left]
    scratch = tempfile.mkdtemp()
    tree = Tree(scratch)
    if not asked.blind:
        tree.collect()
    ends, checked = {room: {"killed": 0, "SURVIVED": 0} for room in ROOMS}, set()
    same = listed = 0
    try:
        for path, number, old, new in every:
            if sum(sum(end.values()) for end in ends.values()) == asked.count:
                break
            change, room = said(old, new), path.split("/")[1]
            if "%s:%s" % (path, change) in equivalents:
                listed += 1
                continue
            checks = [["true"]] if asked.blind else CHECKS[room][0] + ([] if asked.quick else CHECKS[room][1])
            if room not in checked and not (asked.blind or asked.trust):
                healthy(tree, checks)
                checked.add(room)
            lines = open(path).readlines()
            lines[number - 1] = new
            verdict = judge(tree, checks, path, "".join(lines))
            same += verdict == "same"
            if verdict not in ("same", "no C"):
                ends[room][verdict.split()[0]] += 1
                print("%s %s:%d: %s" % (verdict, path, number, change), flush=True)
    finally:
        shutil.rmtree(scratch)
    summary(asked, ends, same, listed, len(every))


def summary(asked, ends, same, listed, places):
    for room, end in ends.items():
        if sum(end.values()):
            print("%-8s %d of %d killed" % (room, end["killed"], sum(end.values())))
    killed, count = (sum(end[which] for end in ends.values()) for which in ("killed", "SURVIVED"))
    count += killed
    print("%d of %d killed, %.1f %%; %d were the same objects, %d are listed; %d places in all; seed %d; %.0f s of a core" % (
        killed, count, 100 * killed / max(1, count), same, listed, places, asked.seed,
        sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))))
    sys.exit(count == 0 or 100 * killed < asked.floor * count)


main()
