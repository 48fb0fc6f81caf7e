"""Small histories of which one rank does everything there is, or of which every order in time is tried: lives,
pairs, timed, ties. What is healthy is said by model.py; every section hands its histories to `asked.add`, with
an order of their lines.
"""

import functools
import itertools

from life import Contract, Life, Rec, WRONG
from model import History

BLOCKING, STREAM, ONCE, HURRIED = Contract(), Contract("stream"), Contract(once=True), Contract(deadline=1)
PUT = (1, 8, 63)  # what the ranks contribute


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

def life_symbols(contract, world, op=0):
    """Every record there is, as far as it can speak of one operation on storage `a`."""
    good, bad = right(op, world), [5]
    symbols = [
        Rec("test", op, done=False), Rec("test", op, done=True), Rec("wait", op), Rec("wait", op, done=False),
        Rec("wait", op, done=True), Rec("done", op, out=good), Rec("complete", op, out=good), Rec("read", op),
        Rec("write", op), Rec("write", op, by="backend"), Rec("free", None, buf="a"), Rec("alloc", None, buf="a"),
        Rec("free", op), Rec("drop", op), Rec("cancel", op), Rec("sync"), Rec("abort"),
        Rec("fail", op, error="RuntimeError"), Rec("fail", op, error="timeout"), Rec("exit", None, code=-9),
        Rec("done", op, out=bad), Rec("complete", op, out=bad), Rec("read", op, bits=good), Rec("read", op, bits=bad),
        Rec("twin", op, out=good), Rec("done", op)]
    if contract.is_stream:
        symbols += [Rec("done", op, out=good, stream=1), Rec("read", op, stream=1), Rec("write", op, stream=1),
                    Rec("free", None, buf="a", stream=1), Rec("sync", None, stream=1), Rec("done", op, out=good, stream=2)]
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
        if life.worst == WRONG:
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
    """Two ranks, one operation, all times 0 to `last`, equal ones too, with a deadline and without."""
    for contract, way in itertools.product((BLOCKING, HURRIED), ways(shapes(1, 2, 1)[0], 2)):
        mine = list(itertools.combinations_with_replacement(range(last + 1), len(way)))
        for turn, (t, u) in enumerate(itertools.product(mine, itertools.combinations_with_replacement(range(last + 1), 2))):
            ranks = [list(zip(shapes(0, 2, 1)[0], u)), list(zip(way, t))]
            asked.add("ties", History(contract, ranks), lined_up(ranks, turn))
