"""Small histories as data, and what spec/semantics.md says of what takes several ranks: members, labels,
values, times and log lines. Nothing here knows the judge; what one rank's records say alone is in life.py.

All contributions are small whole numbers, so a sum has one legal value.
"""

from fractions import Fraction

from life import HEALTHY, LESS, Life, WRONG, length


class History:
    """ranks: for each, a list of (record, t or None) in its order. frame: "" for a bare history, else
    the line of its header."""

    def __init__(self, contract, ranks, frame=""):
        self.contract, self.ranks, self.frame = contract, ranks, frame

    def verdict(self):
        """(worst, reason, the ranks that may be named; None where what is wrong takes several of them)."""
        lives = [life_of(self.contract, program, bool(self.frame)) for program in self.ranks]
        worst = max(lives, key=lambda life: life.worst)
        together = self.across(lives)
        what, reason = max((worst.worst, worst.reason), together, key=lambda pair: pair[0])
        wrong = {rank for rank, life in enumerate(lives) if life.worst == WRONG}
        return what, reason, wrong if wrong and together[0] != WRONG else None

    def across(self, lives):
        """Members, labels, values and, on the one clock of a bare history, times."""
        mine = {number: [life.ops.get(number) for life in lives]
                for number in sorted({number for life in lives for number in life.ops})}
        for number, row in mine.items():
            if None in row:
                return self.unjoined(lives, row)
            for field in ("key", "red", "dtype", "members", "step", "mb"):
                if len({str(op.issue.get(field)) for op in row}) > 1:
                    return WRONG, "O-10 another %s" % field
            if len({length(op.issue) for op in row}) > 1:
                return WRONG, "O-10 another n"
        return max([(HEALTHY, "-"), self.times(lives, mine), self.late(mine), *map(self.value, mine.values()),
                    *(log_lines(life, mine) for life in lives if life.reports)], key=lambda pair: pair[0])

    def unjoined(self, lives, row):
        """A rank that never issued it, or whose recording stops before."""
        absent = [life for life, op in zip(lives, row) if op is None]
        if self.frame and any(not life.has_ended and not life.has_left for life in absent):
            return LESS, "O-06 a rank was cut off before it issued"
        if any(op and (op.told or op.is_done) for op in row):
            return WRONG, "O-16 told, and a rank never contributed"
        if any(life.has_left for life in absent):
            return LESS, "O-06 a rank left before it issued"
        return WRONG, "O-11 not all ranks issued it"

    @staticmethod
    def value(row):
        given = [op.issue.get("in_") for op in row]
        if None in given:
            return LESS, "O-06 a contribution was not recorded"
        right = [sum(parts) for parts in zip(*given)]

        def is_right(out):
            return list(out) == right[:len(out)]

        for op in row:
            if not all(map(is_right, op.results + op.twins)):
                return WRONG, "O-31 no legal value"
            if not all(is_right(bits) for bits, is_counted in op.found if is_counted):
                return WRONG, "O-73 the buffer shows no legal value, and nobody wrote there"
        for op in row:
            if not all(is_right(bits) for bits, _ in op.found):
                return LESS, "O-73 the buffer shows no legal value: maybe the program wrote there"
            known = op.results + [bits for bits, _ in op.found]
            if not op.is_aborted and not any(len(out) == len(right) for out in known):
                return LESS, "O-06 a value was not recorded"
        return HEALTHY, "-"

    def late(self, mine):
        """A deadline that was declared and passed, even when success came after it."""
        limit = self.contract.deadline
        if limit and any(op.told_t is not None and op.told_t - op.issue_t > limit for row in mine.values() for op in row):
            return WRONG, "O-76 told after its deadline"
        return HEALTHY, "-"

    @staticmethod
    def times(lives, mine):
        """On the one clock of a bare history; a time that is equal proves nothing."""
        for row in mine.values():
            given = [op.issue_t for op in row if op.issue_t is not None]
            told = [op.told_t for op in row if op.told_t is not None]
            if given and told and min(told) < max(given):
                return WRONG, "O-16 told before all had contributed"
        for life in lives:
            for number, of, t in life.fetched:
                told = None if of is None else mine[number][of].told_t
                if t is not None and told is not None and told < t:
                    return WRONG, "O-16 told before a peer had fetched its input"
        return HEALTHY, "-"


LIVES = {}


def life_of(contract, program, is_framed):
    """Of a list anew; of a tuple, which the caller uses again and again, once."""
    key = (contract, is_framed, id(program)) if isinstance(program, tuple) else None
    if key in LIVES:
        return LIVES[key][0]
    life = Life(contract)
    for record, t in program:
        life.see(record, t)
    life.finish(is_framed)
    if key:
        LIVES[key] = life, program  # held, so that its id stays its own
    return life


def log_lines(life, mine):
    """The reports of one rank: every step in one line of each sink, right, and after its operation."""
    steps = {row[0].issue.get("step"): number for number, row in mine.items()}
    said = [(HEALTHY, "-")]
    seen = {}
    for record, issued, done in life.reports:
        covered = range(record.get("first_step", record.get("step")), record.get("step") + 1)
        named = {steps[step] for step in covered if step in steps}
        if record.get("ops") is not None and set(record.get("ops")) != named:
            said.append((WRONG, "O-53 operations of other steps"))
        if not named <= issued:
            said.append((WRONG, "O-102 logged before its operation was issued"))
        elif not named <= done and not life.contract.is_stream:
            said.append((WRONG, "O-104 logged before its operation was complete"))
        elif not is_right(record, [mine[number] for number in sorted(named)]):
            said.append((WRONG, "O-50 no value of its steps"))
        seen.setdefault(record.get("sink", ""), []).extend(covered)
    for lines in seen.values():
        if len(lines) != len(set(lines)):
            said.append((WRONG, "O-100 a step in two lines"))
        if set(lines) != set(steps):
            said.append((WRONG, "O-60 a step in no line"))
    return max(said, key=lambda pair: pair[0])


def is_right(record, rows):
    """Token-weighted: one ratio of all sums, or the mean of the steps' ratios; and the tokens beside it."""
    sums = [[sum(part) for part in zip(*(op.issue.get("in_") for op in row))] for row in rows]
    over = record.get("over", "steps")
    if not sums:
        return False
    if over == "pooled":
        value = Fraction(sum(s[0] for s in sums), sum(s[1] for s in sums))
    else:
        value = sum(Fraction(s[0], s[1]) for s in sums) / len(sums)
    return record.get("loss") == value and record.get("tokens", sum(s[1] for s in sums)) == sum(s[1] for s in sums)
