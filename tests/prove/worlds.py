"""Small histories of several ranks, each with a healthy program of its own, and their single faults: worlds,
faults, reports, drawn. Like small.py, every section hands its histories to `asked.add`.
"""

import functools
import itertools

from life import HEALTHY, Life, Rec, WRONG
from model import History
from small import BLOCKING, LAYOUTS, ONCE, PUT, STREAM, issue, life_symbols, lined_up, may_stand, plain, right, untimed

FRAMES = {"bare": "", "framed": '{"ev":"trace","v":1,"world":%d,"clock":"ticks"}\n'}


# ---- healthy programs of one rank ------------------------------------------------------------------

def words(contract, layout, ops):
    """What a healthy program is made of: the records that it has to have, and those that it may have, one of
    each kind and operation. `logged` operations carry a pair and are reported."""
    one = {"stream": 1} if contract.is_stream else {}
    needed, more = [], []
    for op in range(ops):
        storage = LAYOUTS[layout][op] if layout in LAYOUTS else {"key": "loss", "step": op + 1, "pairs": 1}
        reads = [Rec("read", op, **one)]
        needed += [issue(op, 0, **storage, **one), Rec("done", op, out=right(op, 1), **one)]
        needed += reads if contract.is_once else []
        more += [] if contract.is_once else reads
        more += [Rec("test", op, done=False), Rec("test", op, done=True), Rec("wait", op), Rec("write", op, **one)]
        more += [] if layout in LAYOUTS else [report(op + 1, 1)]
        more += [Rec("complete", op, out=right(op, 1))] if contract.is_stream else []
    if layout in ("same", "slices"):
        more += [Rec("free", None, buf="a", **one), Rec("alloc", None, buf="a", **one)]
    return needed, more + ([Rec("sync", None, **one)] if contract.is_stream else [])


@functools.cache
def pool(contract, layout, ops, most):
    """All healthy programs, as (how many records more than needed, program); each record at most once."""
    needed, more = words(contract, layout, ops)
    found = []

    def go(program, left, count):
        life = life_so_far(contract, program)
        if life.worst == WRONG:
            return
        if not left:
            life.finish(False)
            if life.worst == HEALTHY:
                found.append((count, tuple(program)))
        for k, record in enumerate(left):
            if may_stand(record, life):
                go(program + [record], left[:k] + left[k + 1:], count)

    for count in range(most + 1):
        for chosen in itertools.combinations(more, count):
            go([], [*needed, *chosen], count)
    return found


def life_so_far(contract, program):
    life = Life(contract)
    for record in program:
        life.see(record)
    return life


@functools.cache
def retold(program, rank, world):
    """The program as another rank would have recorded it: its contributions, and the sums of this world."""
    def again(record):
        pair = record.ev == "issue" and record.get("pairs")
        if record.ev == "issue":
            return record.but(in_=[PUT[rank] << record.op] + ([1] if pair else []))
        if record.ev == "report":
            return record.but(loss=right(record.get("step") - 1, world)[0] / world)
        if record.get("out") is not None:
            return record.but(out=right(record.op, world) + ([world] if is_logged else []))
        return record

    is_logged = any(record.get("pairs") for record in program)
    return tuple((again(record), None) for record in program)


def worlds(asked, most):
    """Every rank its own: all programs of one rank with up to most[0] records more than needed, all pairs of
    programs with up to most[1] of them together, all triples with up to most[2]."""
    for contract, layout, ops in itertools.product((BLOCKING, STREAM, ONCE), (*LAYOUTS, "logged"), (1, 2)):
        for world, limit in enumerate(most, 1):
            turn = 0
            for chosen in itertools.combinations_with_replacement(pool(contract, layout, ops, limit), world):
                if sum(count for count, _ in chosen) > limit:
                    continue
                turn += 1
                ranks = [retold(program, rank, world) for rank, (_, program) in enumerate(chosen)]
                asked.add("worlds", History(contract, ranks), lined_up(ranks, turn))


# ---- single faults ---------------------------------------------------------------------------------

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
    for field in ("out", "in_", "bits", "stream", "ver"):
        if record.get(field) is not None and record.ev != "twin":
            yield record.but(**{field: None, **({"n": 1} if field == "in_" else {})})
    if record.ev == "issue":
        yield record.but(in_=record.get("in_") + [1])
        yield record.but(members=[0])
    if record.ev == "test" and record.get("done"):
        yield record.but(done=False)


def mutations(program):
    """Every single-record fault: lost, doubled, moved to every other place, changed in one field, replaced."""
    for k, record in enumerate(program):
        rest = program[:k] + program[k + 1:]
        yield "lost " + record.ev, rest
        if record.ev not in ("issue", "end"):
            yield "doubled " + record.ev, program[:k] + [record] + program[k:]
        for place in range(len(rest) + 1):
            if place != k:
                yield "moved " + record.ev, rest[:place] + [record] + rest[place:]
        for changed in field_changes(record):
            yield "changed " + record.ev, program[:k] + [changed] + program[k + 1:]
        if record.ev in ("done", "complete"):
            for kind in ("RuntimeError", "timeout"):
                yield "failed", program[:k] + [Rec("fail", record.op, error=kind)] + program[k + 1:]


def inserted(program, contract, world, ops):
    """Every record of the alphabet at every place."""
    symbols = life_symbols(contract, world)
    if ops == 2:
        symbols = symbols + [symbol for symbol in life_symbols(contract, world, 1) if symbol.op == 1]
    for symbol in symbols:
        for place in range(1, len(program) + 1):
            if program[place - 1].ev != "end":
                yield "added " + symbol.ev, program[:place] + [symbol] + program[place:]


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


def single_faults(asked, contract, base, rank, ops, frame):
    """Of one rank's program, beside the others as they are."""
    for turn, (fault, program) in enumerate(itertools.chain(
            mutations(base[rank]), inserted(base[rank], contract, len(base), ops))):
        if is_format(program):
            ranks = [untimed(program) if r == rank else tuple(untimed(base[r])) for r in range(len(base))]
            asked.add("faults", History(contract, ranks, frame), lined_up(ranks, turn), fault)


def bases():
    """Long healthy histories of 1 to 3 ranks, bare and with a frame."""
    for world, ops, contract, frame in itertools.product((1, 2, 3), (1, 2), (BLOCKING, STREAM, ONCE), FRAMES):
        head = FRAMES[frame] and FRAMES[frame] % world
        end = [Rec("end")] if frame == "framed" else []
        yield contract, ops, head, [base_programs(contract, rank, world, ops) + end for rank in range(world)]


def long(asked):
    for turn, (contract, _, head, base) in enumerate(bases()):
        asked.add("long", History(contract, list(map(untimed, base)), head), lined_up(base, turn))


def faults(asked, most):
    """Single faults of the long histories, and of every healthy program with up to `most` records more than
    needed beside a rank that does what is needed."""
    for contract, ops, head, base in bases():
        for rank in range(len(base)):
            single_faults(asked, contract, base, rank, ops, head)
    for contract, layout, ops in itertools.product((BLOCKING, STREAM, ONCE), LAYOUTS, (1, 2)):
        peer = [record for record, _ in plain(contract, 2, 1, ops)]
        for _, program in pool(contract, layout, ops, most):
            base = [[record for record, _ in retold(program, 0, 2)], peer]
            single_faults(asked, contract, base, 0, ops, "")


# ---- log lines -------------------------------------------------------------------------------------

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


# ---- drawn: real orders in time ----------------------------------------------------------------------

def drawn(asked, count, most, rng):
    """Ranks that draw their healthy programs, and a real order in time: nobody is told before all issued."""
    for contract, layout in itertools.product((BLOCKING, STREAM), LAYOUTS):
        programs = pool(contract, layout, 2, most)
        for turn in range(count):
            world = rng.choice((2, 3))
            told = [[record for record, _ in retold(rng.choice(programs)[1], rank, world)] for rank in range(world)]
            ranks = timed_by(contract, told, rng)
            asked.add("drawn", History(contract, ranks), lined_up(ranks, turn))


def timed_by(contract, programs, rng):
    """Gives every record a time on the one clock; None of the ranks waits for ever, for all issue in order."""
    at, issued = [0] * len(programs), [0] * len(programs)
    ranks, t = [[] for _ in programs], 0

    def may(rank):
        record = programs[rank][at[rank]]
        told = record.ev in ("done", "complete", "sync") or record.get("done") is True
        number = record.op if record.op is not None else issued[rank] - 1
        return not told or min(issued) > number

    while True:
        free = [rank for rank in range(len(at)) if at[rank] < len(programs[rank]) and may(rank)]
        if not free:
            return ranks if sum(map(len, ranks)) == sum(map(len, programs)) else list(map(untimed, programs))
        rank = rng.choice(free)
        record = programs[rank][at[rank]]
        issued[rank] += record.ev == "issue"
        ranks[rank].append((record, t))
        at[rank] += 1
        t += rng.choice((0, 1, 1))
