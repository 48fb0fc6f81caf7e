#!/usr/bin/env python3
"""Enumerates small histories, healthy ones and their faults, and asks `alar check` of each.

    tests/prove/prove_judge.py [--full] [--alar FILE] [--not-yet FILE] [SECTION]...

What is healthy is said by model.py, from spec/semantics.md alone. The judge must pass what is healthy,
answer UNKNOWN where something needed was not recorded, and pass nothing that breaks a rule.
"""

import argparse
import collections
import functools
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from model import Contract, HEALTHY, History, LEFT, LESS, Life, NAMES, OPEN, Rec, WRONG  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BATCH = 10000
BLOCKING, STREAM, ONCE = Contract(), Contract("stream"), Contract(once=True)
PUT = (1, 8, 64)  # what the ranks contribute


# ---- asking the judge ----------------------------------------------------------------------------

class Asked:
    """Writes histories, has them judged by the thousand, and counts what came of them."""

    def __init__(self, alar):
        self.alar = alar
        self.folder = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.waiting = []
        self.counts = collections.defaultdict(collections.Counter)  # by section
        self.open = collections.Counter()
        self.shy = collections.Counter()  # wrong and answered UNKNOWN, by reason
        self.faults = collections.Counter()
        self.wrong = collections.defaultdict(list)  # what was judged otherwise than it must be

    def add(self, section, history, order):
        what, reason = history.verdict()
        path = os.path.join(self.folder, "%d.jsonl" % len(self.waiting))
        text = history.contract.text + "".join(
            history.ranks[rank][k][0].line(rank, history.ranks[rank][k][1]) for rank, k in order)
        with open(path, "w", encoding="ascii") as file:
            file.write(history.frame + text)
        self.waiting.append((section, what, reason))
        if len(self.waiting) == BATCH:
            self.flush()

    def flush(self):
        if not self.waiting:
            return
        paths = [os.path.join(self.folder, "%d.jsonl" % k) for k in range(len(self.waiting))]
        told = subprocess.run([self.alar, "check", "-q", *paths], capture_output=True, text=True, timeout=300)
        found = {}
        for line in told.stdout.splitlines():
            path, kind, reason = line.split("\t")
            found[path] = kind, reason
        for line in told.stderr.splitlines():
            found.setdefault(line.split(": ", 2)[1].rsplit(":", 2)[0], ("REFUSED", line))
        for path, (section, what, reason) in zip(paths, self.waiting):
            self.compare(section, what, reason, path, *found.get(path, ("NOTHING", told.stderr[-200:])))
        self.waiting = []

    def compare(self, section, what, reason, path, kind, words):
        self.counts[section][what, kind] += 1
        if what == OPEN:
            self.open[reason, kind] += 1
            return
        if what == WRONG:
            self.faults[reason] += 1
            self.shy[reason] += kind == "UNKNOWN"
        must = {HEALTHY: ("PASS",), LESS: ("UNKNOWN",), WRONG: ("FAIL", "UNKNOWN")}[what]
        if reason == LEFT:  # the format may say so as well
            must += ("REFUSED",)
        if kind not in must:
            anomaly = words.split(":")[0] if kind == "FAIL" else ""
            kept = self.wrong[what, kind, reason, anomaly]
            if len(kept) < 3:
                with open(path, encoding="ascii") as file:
                    kept.append((section, file.read(), words))
            else:
                kept.append(None)

    def close(self):
        shutil.rmtree(self.folder)


# ---- orders of lines -----------------------------------------------------------------------------

def lined_up(ranks, turn):
    """One of the orders of lines that keep each rank's, by turns."""
    queues = [[(rank, k) for k in range(len(program))] for rank, program in enumerate(ranks)]
    if turn % 3 == 0:
        return [line for queue in queues for line in queue]
    if turn % 3 == 1:
        return [line for queue in reversed(queues) for line in queue]
    mixed = itertools.zip_longest(*queues)
    return [line for row in mixed for line in row if line is not None]


def interleavings(lengths):
    """All orders of lines that keep each rank's, as tuples of ranks."""
    left, row = list(lengths), []

    def go():
        if not any(left):
            yield tuple(row)
            return
        for rank, count in enumerate(left):
            if count:
                left[rank] -= 1
                row.append(rank)
                yield from go()
                row.pop()
                left[rank] += 1

    return go()


def untimed(records):
    return [(record, None) for record in records]


# ---- records -------------------------------------------------------------------------------------

def issue(op, rank, buf=None, **field):
    return Rec("issue", op, in_=[PUT[rank] << op], **({"buf": buf} if buf else {}), **field)


def right(op, world):
    return [sum(PUT[:world]) << op]


@functools.cache
def plain(contract, world, rank, ops=1):
    """What the other ranks do: each operation issued, waited for and, where it has to be, taken."""
    records = [record for op in range(ops) for record in (issue(op, rank), Rec("done", op, out=right(op, world)))]
    if contract.is_once:
        records += [Rec("read", op) for op in range(ops)]
    if contract.is_stream:
        records += [Rec("complete", op) for op in range(ops)]
    return tuple(untimed(records))


# ---- A: all lives of one operation ---------------------------------------------------------------

def life_symbols(contract, world):
    """Every record there is, as far as it can speak of one operation on storage `a`."""
    good, bad = right(0, world), [5]
    symbols = [
        Rec("test", 0, done=False), Rec("test", 0, done=True), Rec("wait", 0), Rec("wait", 0, done=False),
        Rec("wait", 0, done=True), Rec("done", 0, out=good), Rec("complete", 0, out=good), Rec("read", 0),
        Rec("write", 0), Rec("write", 0, by="backend"), Rec("free", None, buf="a"), Rec("alloc", None, buf="a"),
        Rec("free", 0), Rec("drop", 0), Rec("cancel", 0), Rec("sync"), Rec("abort"),
        Rec("fail", 0, error="RuntimeError"), Rec("fail", 0, error="timeout"), Rec("exit", None, code=-9),
        Rec("done", 0, out=bad), Rec("complete", 0, out=bad), Rec("read", 0, bits=good), Rec("read", 0, bits=bad),
        Rec("twin", 0, out=good), Rec("done", 0)]
    if contract.is_stream:
        symbols += [Rec("done", 0, out=good, stream=1), Rec("read", 0, stream=1), Rec("write", 0, stream=1),
                    Rec("free", None, buf="a", stream=1), Rec("sync", None, stream=1), Rec("done", 0, out=good, stream=2)]
    return symbols


def programs(contract, first, symbols, depth, beyond, twice=()):
    """All programs that begin with `first`: while nothing is wrong up to `depth` more records of different
    kinds (those of `twice` may come twice); after the first wrong one `beyond` more."""
    def go(program, used, beyond_left):
        yield program
        if len(program) >= len(first) + depth:
            return
        life = Life(contract)
        for record in program:
            life.see(record)
        if life.worst in (WRONG, OPEN):
            if not beyond_left:
                return
            beyond_left -= 1
        for k, record in enumerate(symbols):
            if used.count(k) <= (record in twice) and may_stand(record, life):
                yield from go(program + [record], used + [k], beyond_left)

    return go(list(first), [], beyond)


def may_stand(record, life):
    """What the format asks for: operations are issued in order, and named after that; a twin before the done."""
    if record.ev == "twin":
        return not life.ops[0].is_done
    if record.ev == "issue":
        return record.op == len(life.ops)
    return record.op is None or record.op in life.ops


def lives(asked, depth, beyond):
    for contract in (BLOCKING, STREAM, ONCE):
        symbols = life_symbols(contract, 2)
        first = [issue(0, 0, "a", **({"stream": 1} if contract.is_stream else {}))]
        for turn, program in enumerate(programs(contract, first, symbols, depth, beyond, {symbols[5], symbols[7]})):
            ranks = [untimed(program), plain(contract, 2, 1)]
            asked.add("lives", History(contract, ranks), lined_up(ranks, turn))


# ---- B: two operations of one rank on storage that they share, or not ------------------------------

LAYOUTS = {"none": ({}, {}), "same": ({"buf": "a"}, {"buf": "a"}), "two": ({"buf": "a"}, {"buf": "b"}),
           "slices": ({"buf": "a", "at": 0}, {"buf": "a", "at": 1})}


def pair_symbols(contract, world, layout):
    symbols = []
    streams = ({}, {"stream": 1}, {"stream": 2}) if contract.is_stream else ({},)
    for op in (0, 1):
        symbols += [Rec("test", op, done=False), Rec("test", op, done=True), Rec("wait", op)]
        symbols += [Rec("done", op, out=right(op, world), **stream) for stream in streams[-2:]]
        symbols += [Rec("read", op, **stream) for stream in streams[:2]]
        symbols += [Rec("write", op, **stream) for stream in streams[:2]]
    symbols += [issue(1, 0, **LAYOUTS[layout][1], **stream) for stream in streams[-2:]]
    symbols += [Rec("complete", 0, out=right(0, world)), Rec("complete", 1, out=right(1, world)), Rec("sync")]
    if layout != "none":
        symbols += [Rec("free", None, buf="a", **stream) for stream in streams[:2]] + [Rec("alloc", None, buf="a")]
    return symbols


def pairs(asked, depth, beyond):
    for contract in (BLOCKING, STREAM, ONCE):
        for layout in LAYOUTS:
            symbols = pair_symbols(contract, 2, layout)
            first = [issue(0, 0, **LAYOUTS[layout][0], **({"stream": 1} if contract.is_stream else {}))]
            for turn, program in enumerate(programs(contract, first, symbols, depth, beyond)):
                ops = sum(record.ev == "issue" for record in program)
                ranks = [untimed(program), plain(contract, 2, 1, ops)]
                asked.add("pairs", History(contract, ranks), lined_up(ranks, turn))


# ---- C: all orders in time -----------------------------------------------------------------------

def shapes(rank, world, ops):
    """The orders in which one rank can issue and be told."""
    i = [issue(op, rank) for op in range(2)]
    d = [Rec("done", op, out=right(op, world)) for op in range(2)]
    if ops == 1:
        return [[i[0], d[0]]]
    return [[i[0], d[0], i[1], d[1]], [i[0], i[1], d[0], d[1]], [i[0], i[1], d[1], d[0]]]


def ways(program, world):
    """The ways in which the first operation of the program can be told as complete, before its done."""
    at = next(k for k, record in enumerate(program) if record.ev == "done" and record.op == 0)
    early = [Rec("test", 0, done=True), Rec("wait", 0, done=True), Rec("complete", 0, out=right(0, world)), Rec("sync"),
             Rec("read", 0, by="backend", of=0)]
    return [program] + [program[:at] + [record] + program[at:] for record in early]


def timed(asked, world, ops, with_ways, every):
    each = [shapes(rank, world, ops) for rank in range(world)]
    if with_ways:
        each[-1] = [way for shape in each[-1] for way in ways(shape, world)]
    turn = 0
    for chosen in itertools.product(*each):
        # Ranks that do the same are told apart by nothing but their name.
        marks = [[(record.ev, record.op) for record in program] for program in chosen[:-1]]
        if marks != sorted(marks):
            continue
        for order in interleavings([len(program) for program in chosen]):
            turn += 1
            if turn % every:
                continue
            ranks = [[] for _ in chosen]
            lines = []
            for t, rank in enumerate(order):
                lines.append((rank, len(ranks[rank])))
                ranks[rank].append((chosen[rank][len(ranks[rank])], t))
            asked.add("timed", History(BLOCKING, ranks), lines if turn % 2 else lined_up(ranks, turn))


def ties(asked, last):
    """Two ranks, one operation, all times 0 to `last`, equal ones too."""
    for way in ways(shapes(1, 2, 1)[0], 2):
        mine = list(itertools.combinations_with_replacement(range(last + 1), len(way)))
        for turn, (t, u) in enumerate(itertools.product(mine, itertools.combinations_with_replacement(range(last + 1), 2))):
            ranks = [list(zip(shapes(0, 2, 1)[0], u)), list(zip(way, t))]
            asked.add("ties", History(BLOCKING, ranks), lined_up(ranks, turn))


# ---- D: single faults ----------------------------------------------------------------------------

FRAMES = {"bare": "", "framed": '{"ev":"trace","v":1,"world":%d,"clock":"ticks"}\n'}


def base_programs(contract, rank, world, ops):
    """Healthy programs with one record of every kind in its place."""
    one = {"stream": 1} if contract.is_stream else {}
    local = [issue(0, rank, "a", ver=0, key="loss", red="sum", dtype="f32", step=1, **one)]
    local += [Rec("test", 0, done=False), Rec("twin", 0, out=right(0, world)), Rec("wait", 0, done=False, ver=0)]
    local += [Rec("done", 0, out=right(0, world), **one)]
    if contract.is_stream:
        local += [Rec("read", 0, stream=1), Rec("complete", 0, out=right(0, world))]
    local += [Rec("read", 0, bits=right(0, world))] if not contract.is_stream else []
    if ops == 2:
        local += [issue(1, rank, "a", **one), Rec("done", 1, out=right(1, world), **one)]
        if contract.is_stream:
            local += [Rec("sync", None, stream=1)]
        local += [Rec("read", 1)]
    if not contract.is_once:
        local += [Rec("write", ops - 1)]
    return local + [Rec("free", None, buf="a")]


def field_changes(record):
    """The record with one field that says something else, and what that is."""
    other = {"key": "acc", "red": "max", "dtype": "f64", "step": 2, "in_": [7], "out": [5], "bits": [5], "ver": 3,
             "done": True, "stream": 2}
    for field, value in other.items():
        if record.get(field) is not None and record.get(field) != value:
            yield record.but(**{field: value})
    for field in ("out", "in_", "bits", "stream"):
        if record.get(field) is not None and record.ev != "twin":
            yield record.but(**{field: None, **({"n": 1} if field == "in_" else {})})
    if record.ev == "issue":
        yield record.but(in_=record.get("in_") + [1])
        yield record.but(members=[0])


def mutations(program):
    """Every single-record fault: lost, doubled, moved to every other place, changed in one field, replaced."""
    for k, record in enumerate(program):
        rest = program[:k] + program[k + 1:]
        yield "lost", rest
        if record.ev not in ("issue", "end"):
            yield "doubled", program[:k] + [record] + program[k:]
        for place in range(len(rest) + 1):
            if place != k:
                yield "moved", rest[:place] + [record] + rest[place:]
        for changed in field_changes(record):
            yield "changed", program[:k] + [changed] + program[k + 1:]
        if record.ev in ("done", "complete"):
            for kind in ("RuntimeError", "timeout"):
                yield "failed", program[:k] + [Rec("fail", record.op, error=kind)] + program[k + 1:]


def inserted(program, contract, world):
    """Every record of the alphabet at every place."""
    for symbol in life_symbols(contract, world):
        for place in range(1, len(program) + 1):
            if program[place - 1].ev != "end":
                yield "added", program[:place] + [symbol] + program[place:]


def is_format(program):
    """Whether the format allows it at all: what it refuses is no history (O-01)."""
    issued = 0
    for k, record in enumerate(program):
        if record.ev == "issue":
            if record.op != issued:
                return False
            issued += 1
        elif record.op is not None and record.op >= issued:
            return False
        if not all(number < issued for number in record.get("ops", ())):
            return False
        if record.ev == "end" and k != len(program) - 1:
            return False
        if record.ev == "twin" and any(r.ev == "done" and r.op == record.op for r in program[:k]):
            return False
    return True


def faults(asked, worlds, with_faults=True):
    turn = 0
    for world, ops, contract, frame in itertools.product(worlds, (1, 2), (BLOCKING, STREAM, ONCE), FRAMES):
        head = FRAMES[frame] and FRAMES[frame] % world
        end = [Rec("end")] if frame == "framed" else []
        base = [base_programs(contract, rank, world, ops) + end for rank in range(world)]
        if not with_faults:
            asked.add("bases", History(contract, list(map(untimed, base)), head), lined_up(base, turn))
            continue
        for rank in range(world):
            for _, program in itertools.chain(mutations(base[rank]), inserted(base[rank], contract, world)):
                if not is_format(program):
                    continue
                turn += 1
                ranks = list(map(untimed, base[:rank] + [program] + base[rank + 1:]))
                asked.add("faults", History(contract, ranks, head), lined_up(ranks, turn))


# ---- E: log lines --------------------------------------------------------------------------------

SHARES = (((4, 1), (20, 2)), ((12, 3), (36, 6)))  # by rank and step: 16 / 4 = 4, then 56 / 8 = 7


def report(step, loss, **field):
    return Rec("report", None, metric="loss", step=step, normalization="token-weighted", loss=loss, **field)


def lines_of_log():
    """Right lines, and every way of being wrong."""
    return [report(1, 4), report(2, 7), report(1, 4, tokens=4, ops=[0]), report(2, 7, tokens=8, ops=[1]),
            report(2, 6, first_step=1, over="pooled"), report(2, 5.5, first_step=1, over="steps", tokens=12),
            report(1, 7), report(2, 4), report(1, 4, tokens=8), report(2, 7, ops=[0]), report(2, 5, first_step=1, over="pooled"),
            report(1, 4, sink="json"), report(2, 7, sink="json")]


def reported(asked, most):
    logged = lines_of_log()
    work = [[record for step in (0, 1) for record in (
        Rec("issue", step, step=step + 1, key="loss", pairs=1, in_=list(SHARES[rank][step])),
        Rec("done", step, out=[sum(SHARES[r][step][k] for r in (0, 1)) for k in (0, 1)]))] for rank in (0, 1)]
    turn = 0
    for count in range(1, most + 1):
        for chosen in itertools.permutations(range(len(logged)), count):
            for places in itertools.combinations_with_replacement(range(len(work[0]) + 1), count):
                turn += 1
                program = work[0][:]
                for place, k in reversed(list(zip(places, chosen))):
                    program.insert(place, logged[k])
                if not is_format(program):
                    continue
                ranks = [untimed(program), untimed(work[1])]
                if turn % 2:
                    ranks.reverse()
                asked.add("reports", History(BLOCKING, ranks), lined_up(ranks, turn))


# ---- F: drawn from everything that is healthy ------------------------------------------------------

def drawn(asked, count, depth, rng):
    """Ranks that draw their healthy programs, and a real order in time: nobody is told before all issued."""
    for contract in (BLOCKING, STREAM):
        pool = {layout: list(healthy_programs(contract, layout, depth)) for layout in LAYOUTS}
        for turn in range(count // 2):
            world = rng.choice((2, 3))
            mine = [rng.choice(pool[rng.choice(list(LAYOUTS))]) for _ in range(world)]
            ranks = timed_by(contract, [retold(program, rank, world) for rank, program in enumerate(mine)], rng)
            asked.add("drawn", History(contract, ranks), lined_up(ranks, turn))


def healthy_programs(contract, layout, depth):
    """Programs of two operations of which one rank's records say nothing wrong."""
    first = [issue(0, 0, **LAYOUTS[layout][0], **({"stream": 1} if contract.is_stream else {}))]
    for program in programs(contract, first, pair_symbols(contract, 1, layout), depth, 0):
        life = Life(contract)
        for record in program:
            life.see(record)
        life.finish(False)
        if life.worst == HEALTHY and len(life.ops) == 2 and all(op.outs for op in life.ops.values()):
            yield program


def retold(program, rank, world):
    """The program as another rank would have recorded it: its contributions, and the sums of this world."""
    def again(record):
        if record.ev == "issue":
            return record.but(in_=[PUT[rank] << record.op])
        return record.but(out=right(record.op, world)) if record.get("out") is not None else record

    return [again(record) for record in program]


def timed_by(contract, programs_of, rng):
    """Gives every record a time on the one clock; None of the ranks waits for ever, for all issue in order."""
    at, issued, life = [0] * len(programs_of), [0] * len(programs_of), [Life(contract) for _ in programs_of]
    ranks, t = [[] for _ in programs_of], 0

    def may(rank):
        record = programs_of[rank][at[rank]]
        told = record.ev in ("done", "complete", "sync") or record.get("done") is True
        number = record.op if record.op is not None else issued[rank] - 1
        return not told or min(issued) > number

    while True:
        free = [rank for rank in range(len(at)) if at[rank] < len(programs_of[rank]) and may(rank)]
        if not free:
            break
        rank = rng.choice(free)
        record = programs_of[rank][at[rank]]
        life[rank].see(record)
        issued[rank] += record.ev == "issue"
        ranks[rank].append((record, t))
        at[rank] += 1
        t += rng.choice((0, 1, 1))
    if any(at[rank] < len(program) for rank, program in enumerate(programs_of)):
        return [list(zip(program, [None] * len(program))) for program in programs_of]
    return ranks


# ---- the whole -----------------------------------------------------------------------------------

def sections(full):
    return {
        "lives": lambda asked: lives(asked, 4 if full else 3, 1 if full else 0),
        "pairs": lambda asked: pairs(asked, 5 if full else 4, 0),
        "timed": lambda asked: [timed(asked, 2, 1, True, 1), timed(asked, 3, 1, True, 1), timed(asked, 2, 2, True, 1),
                                timed(asked, 3, 2, full, 1 if full else 23)],
        "ties": lambda asked: ties(asked, 4 if full else 3),
        "reports": lambda asked: reported(asked, 3 if full else 2),
        "drawn": lambda asked: drawn(asked, 200000 if full else 4000, 5 if full else 4, random.Random(1)),
        "bases": lambda asked: faults(asked, (1, 2, 3), with_faults=False),
        "faults": lambda asked: faults(asked, (1, 2, 3)),
    }


def show(asked, seconds, waiting):
    total = collections.Counter()
    print("%-8s %9s %9s %7s %7s %9s" % ("section", "histories", "healthy", "less", "open", "wrong"))
    for section, counts in asked.counts.items():
        by_what = collections.Counter()
        for (what, _), count in counts.items():
            by_what[what] += count
        print("%-8s %9d %9d %7d %7d %9d" % (section, sum(by_what.values()), *(by_what[k] for k in range(4))))
        total.update(by_what)
    print("%-8s %9d %9d %7d %7d %9d" % ("all", sum(total.values()), *(total[k] for k in range(4))))
    for reason, count in sorted(asked.faults.items()):
        print("  wrong: %-55s %8d, of these UNKNOWN %d" % (reason, count, asked.shy[reason]))
    for (reason, kind), count in sorted(asked.open.items()):
        print("  open:  %-55s %8d %s" % (reason, count, kind))
    bad = later = 0
    for (what, kind, reason, anomaly), cases in sorted(asked.wrong.items()):
        told = ("%s (%s) and judged %s %s" % (NAMES[what], reason, kind, anomaly)).rstrip()
        if told in waiting:
            later += len(cases)
            continue
        bad += len(cases)
        print("MISJUDGED %d: %s" % (len(cases), told))
        for case in cases[:1]:
            print("  " + case[1].rstrip().replace("\n", "\n  ") + "\n  -> " + case[2][:200])
    print("%d histories in %.0f s: %d misjudged, %d more not yet mended" % (sum(total.values()), seconds, bad, later))
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--alar", default=os.path.join(TOP, os.environ.get("BUILD", "build"), "alar"))
    parser.add_argument("--not-yet", default=os.devnull, help="what need not hold yet, as the lines MISJUDGED say it")
    parser.add_argument("section", nargs="*")
    options = parser.parse_args()
    asked, began = Asked(options.alar), time.monotonic()
    try:
        for name, go in sections(options.full).items():
            if not options.section or name in options.section:
                go(asked)
        asked.flush()
    finally:
        asked.close()
    with open(options.not_yet, encoding="utf-8") as file:
        waiting = set(file.read().splitlines())
    return 1 if show(asked, time.monotonic() - began, waiting) else 0


if __name__ == "__main__":
    sys.exit(main())
