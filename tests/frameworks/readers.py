"""Who reads what was reduced, and when: from a recording with `--watch`, laid beside the steps and lines that the program
said (ledger.py). A read is the first function that is given the result, or the report that names its operation."""
import bisect
import collections

AT_ONCE, IN_STEP = "in its microbatch", "in its step"
Operation = collections.namedtuple("Operation", "kind place is_blocking")
Looked = collections.namedtuple("Looked", "place is_early")  # of one operation: where in the program, before its end?


class Program:
    """The places of one rank: a place is what lies between one part that it contributed and the next; 0 is the start. A
    rank that contributes nothing has its own calls for that: those that it makes oftenest, one a step; another rank's
    clock would say how far apart the two happened to be."""

    def __init__(self, parts, records):
        self.times = [part["ns"] for part in parts] or oftenest(records)
        self.steps = [0] + ([part["step"] for part in parts] or list(range(1, len(self.times) + 1)))

    def place(self, ns):
        return bisect.bisect(self.times, ns)

    def end(self, step):
        return bisect.bisect(self.steps, step) - 1


def oftenest(records):
    """When the calls of the commonest kind were made, in ns."""
    calls, begin = collections.defaultdict(list), 0
    for record in records:
        begin = record["t0"] if record["ev"] == "trace" else begin
        if record["ev"] == "issue":
            calls[record.get("coll", "all_reduce"), record["dtype"]].append(begin + record["t"])
    return max(calls.values(), key=len, default=[])


def looks(records, program):
    """[(Operation, Looked or None)] of one rank. Kinds are told apart by their place in the source, and of several in one
    place of the program by their order there."""
    made, ended, looked, begin, count = {}, set(), {}, 0, collections.Counter()
    for record in records:
        begin = record["t0"] if record["ev"] == "trace" else begin
        place = program.place(begin + record["t"])
        if record["ev"] == "issue":
            kind = record.get("coll", "all_reduce"), record["dtype"], record.get("src")
            count[kind, place] += 1
            made[record["op"]] = Operation((*kind, count[kind, place]), place, bool(record.get("sync")))
        elif record["ev"] in ("done", "complete"):
            ended.add(record["op"])
        elif record["ev"] in ("read", "report"):
            for name in record.get("ops", ()) if record["ev"] == "report" else (record.get("op"),):
                looked.setdefault(name, Looked(place, name not in ended))
    return [(op, looked.get(name)) for name, op in made.items()]


def when(pairs, program, lines):
    """In words, for the operations of one kind and their looks. `lines`: the places at which what a line stands for ends, in
    order. How a run ends is not how it goes on: what belongs to its last step, or else to its last line, does not count."""
    steps = program.steps
    pairs = [(op, look) for op, look in pairs if steps[op.place] < steps[-1]] or pairs
    lags = {steps[look.place] - steps[op.place] for op, look in pairs}
    if lags == {0}:
        if is_of_lines(pairs, program, lines):
            return "at the line"
        is_at_once = all(op.place == look.place for op, look in pairs)
        return AT_ONCE if is_at_once and has_several(pairs, program) else IN_STEP
    if len(lags) == 1:
        return "%s later" % in_steps(lags)
    late = {steps[look.place] - steps[min(line for line in lines if line >= op.place)]
            for op, look in pairs if len(lines) > 1 and op.place <= lines[-2]}
    if not late:
        return "%s later" % in_steps(lags)
    return "at the line" if late == {0} else "%s after the line" % in_steps(late)


def is_of_lines(pairs, program, lines):
    """Is there one for each line, where not each part of the data has one?"""
    return len(lines) < len(program.times) and all(op.place in lines for op, _ in pairs)


def has_several(pairs, program):
    """Is there one for each microbatch, of which a step has several?"""
    return len({op.place for op, _ in pairs}) > len({program.steps[op.place] for op, _ in pairs})


def in_steps(lags):
    text = "%d" % max(lags) if len(lags) == 1 else "%d to %d" % (min(lags), max(lags))
    return text + (" step" if text == "1" else " steps")


def of_rank(records, program, lines):
    """{(kind, when, how)} of one rank; `when` None where it never looks."""
    kinds, answers = collections.defaultdict(list), set()
    for op, look in looks(records, program):
        if op.place > 0:  # else it belongs to the start
            kinds[op.kind].append((op, look))
    for kind, pairs in kinds.items():
        seen = [(op, look) for op, look in pairs if look is not None]
        is_blocking = all(op.is_blocking for op, _ in pairs)
        how = "before the wait" if any(look.is_early for _, look in seen) else "after the %s" % ("call" if is_blocking else "wait")
        answers.add((kind, when(seen, program, lines), how) if seen else (kind, None, None))
    return answers


def words(run):
    """The cell."""
    programs = [Program(parts, run.recorded(rank)) for rank, parts in enumerate(run.parts)]
    lines = sorted({programs[0].end(line["step"]) for line in run.lines})
    ranks, of_kind, said = collections.defaultdict(set), collections.defaultdict(set), collections.defaultdict(set)
    for rank, program in enumerate(programs):
        for answer in of_rank(run.recorded(rank), program, lines) if lines else ():
            ranks[answer].add(rank)
            of_kind[answer[0]].add(rank)
    for (kind, moment, how), who in ranks.items():
        if moment == AT_ONCE and (kind, IN_STEP, how) in ranks:
            who, moment = who | ranks[kind, IN_STEP, how], IN_STEP  # what one rank does a little later is no difference
        name = "all ranks" if who == of_kind[kind] else "rank%s %s" % ("s" * (len(who) > 1), ", ".join(map(str, sorted(who))))
        if moment is not None and not (moment == IN_STEP and (kind, AT_ONCE, how) in ranks and len(who) < len(of_kind[kind])):
            said[name, moment, how].add("%s %s" % kind[:2])
        elif who == of_kind[kind] and not any(other[:2] == kind[:2] and at for other, at, _ in ranks):
            said["nobody", "", ""].add("%s %s" % kind[:2])
    return told(said) or "-"


def told(said):
    """{(who, when, how): what} in words; what only where it makes a difference."""
    if len(said) == 1:
        return ", ".join(filter(None, next(iter(said))))
    whos = sorted({(who, how) for who, _, how in said})
    return "; ".join("%s: %s" % (", ".join(filter(None, one)), ", ".join(
        " ".join(filter(None, (moment, " and ".join(sorted(what)))))
        for (who, moment, how), what in sorted(said.items()) if (who, how) == one)) for one in whos)
