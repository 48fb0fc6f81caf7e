#!/usr/bin/python3
"""make_drawn.py DIRECTORY: histories that nobody chose, always the same ones. tests/cli/drawn.sh says what is done with them.

values-*.jsonl   one all-reduce of drawn contributions; the result is a fold of them, or one with a mistake
reports-*.jsonl  pairs over drawn steps, microbatches and ranks, some of them empty, and a log line: right, or with a mistake
life-*.jsonl     records of one to three ranks in a drawn order, mostly against the rules

A name that ends with -right must not be convicted, one that ends with -wrong must not pass; of the others the words alone are held."""
import fractions
import json
import os
import random
import struct
import sys

F = fractions.Fraction


class Draw:
    """random() is the one function whose sequence Python promises to keep."""

    def __init__(self, seed):
        self.next = random.Random(seed).random

    def below(self, n):
        return int(self.next() * n)

    def one(self, *choices):
        return choices[self.below(len(choices))]

    def often(self, parts):
        return self.below(parts) != 0


def record(ev, **fields):
    return json.dumps({"ev": ev, **{name.rstrip("_"): value for name, value in fields.items() if value is not None}})


# ---- values ----------------------------------------------------------------------------------------
FORMATS = {"f16": ("<e", "<H", 4), "f32": ("<f", "<I", 8), "f64": ("<d", "<Q", 16)}
SPECIALS = {"f16": (0x7c00, 0xfc00, 0x7e00, 0x8000, 0x0001, 0x7bff), "f32": (0x7f800000, 0xff800000, 0x7fc00000, 0x80000000, 1, 0x7f7fffff),
            "f64": (0x7ff0 << 48, 0xfff0 << 48, 0x7ff8 << 48, 1 << 63, 1, (0x7ff0 << 48) - 1)}
BITS = {"u8": (0, 255), "i8": (-128, 127), "i32": (-1 << 31, (1 << 31) - 1), "i64": (-1 << 63, (1 << 63) - 1)}


def rounded(dtype, value):
    try:
        return struct.unpack(FORMATS[dtype][1], struct.pack(FORMATS[dtype][0], value))[0]
    except OverflowError:
        return SPECIALS[dtype][value < 0]


def number(dtype, bits):
    return struct.unpack(FORMATS[dtype][0], struct.pack(FORMATS[dtype][1], bits))[0]


def shown(dtype, value):
    return "%0*x" % (FORMATS[dtype][2], value) if dtype in FORMATS else value


def step(red, dtype, a, b):
    """One operation, rounded; for integers modulo their size."""
    if dtype in FORMATS:
        x, y = number(dtype, a), number(dtype, b)
        if red in ("sum", "avg"):
            return rounded(dtype, x + y)
        if red == "product":
            return rounded(dtype, x * y)
        return a if (x > y) == (red == "max") else b
    low, high = BITS[dtype]
    value = {"sum": a + b, "avg": a + b, "product": a * b, "max": max(a, b), "min": min(a, b), "band": a & b, "bor": a | b, "bxor": a ^ b,
             "land": int(a != 0 and b != 0), "lor": int(a != 0 or b != 0), "lxor": int((a != 0) != (b != 0))}[red]
    return (value - low) % (high - low + 1) + low


def fold(red, dtype, values):
    total = values[0]
    for value in values[1:]:
        total = step(red, dtype, total, value)
    if red == "avg" and dtype in FORMATS:
        total = rounded(dtype, number(dtype, total) / len(values))
    return total


def contribution(draw, dtype, is_tame):
    if dtype not in FORMATS:
        return draw.one(0, 1, BITS[dtype][0], BITS[dtype][1], draw.below(100), draw.below(100))
    if not is_tame and draw.below(6) == 0:
        return draw.one(*SPECIALS[dtype])
    return rounded(dtype, draw.one(1, -1, 1) * (1 + draw.below(4096) / 4096) * 2.0 ** (draw.below(12) - 6))


def values(draw):
    dtype = draw.one("f32", "f32", "f64", "f16", "i32", "i64", "u8", "i8")
    red = draw.one("sum", "sum", "sum", "max", "min", "product", "avg") if dtype in FORMATS else \
        draw.one("sum", "max", "min", "product", "band", "bor", "bxor", "land", "lor", "lxor")
    ranks, elements, is_tame = 1 + draw.below(6), 1 + draw.below(3), draw.often(3)
    steps = [[[contribution(draw, dtype, is_tame) for _ in range(elements)] for _ in range(ranks)] for _ in range(2)]
    mistake = draw.one("none", "none", "reversed", "ulp", "missing", "twice", "stale", "own", "undivided", "odd", "other")
    contract = draw.one(None, None, None, {"nan": draw.one("propagate", "ignore", "idiom")}, {"order": draw.one("fixed", "free")},
                        {"adder": "nearest", "width": draw.one("f32", "f64")}, {"avg": draw.one("sum-divide", "divide-sum", "multiply-sum")},
                        {"tree": draw.one("left-fold", "right-fold", "recursive-doubling")}, {"height": 1 + draw.below(6)})
    lines = [record("contract", **contract)] if contract else []
    for op in range(2):
        for rank in range(ranks):
            lines.append(record("issue", rank=rank, op=op, red=red, dtype=dtype, step=op, in_=[shown(dtype, v) for v in steps[op][rank]]))
        out, who = [], draw.below(ranks)
        for e in range(elements):
            column = [steps[op][rank][e] for rank in range(ranks)]
            which = mistake if op == 1 and e == draw.below(elements) else "none"
            column = {"reversed": column[::-1], "missing": column[:who] + column[who + 1:] or column, "twice": column + [column[who]],
                      "stale": column[:who] + [steps[0][who][e]] + column[who + 1:], "own": column[:1]}.get(which, column)
            value = fold("sum" if which == "other" else red, dtype, column)
            if which == "undivided" and dtype in FORMATS:
                value = fold("sum", dtype, column)
            if which == "ulp":
                value = value + 1 if dtype in FORMATS or value < 100 else value - 1
            out.append(shown(dtype, value))
        for rank in range(ranks):
            is_odd = op == 1 and mistake == "odd" and rank == who
            lines.append(record("done", rank=rank, op=op, out=[shown(dtype, steps[1][who][0])] + out[1:] if is_odd else out))
    return lines, "right" if mistake in ("none", "reversed") and is_tame and set(contract or {}) <= {"nan"} else None


# ---- reports ---------------------------------------------------------------------------------------
def mean(of):
    of = [value for value in of if value is not None]
    return sum(of, F(0)) / len(of) if of else None


def ratio(sums, counts):
    return F(sum(sums), sum(counts)) if sum(counts) else None


class Losses:
    """Sums and counts of [step][microbatch][rank]: fractions that every order of additions keeps."""

    def __init__(self, draw):
        self.steps, self.microbatches, self.ranks = 1 + draw.below(3), 1 + draw.below(3), 1 + draw.below(3)
        has_empty = draw.below(2)
        self.cell = {}
        for s in range(self.steps):
            for c in range(self.microbatches):
                for r in range(self.ranks):
                    count = 0 if has_empty and draw.below(4) == 0 else 1 + draw.below(9)
                    self.cell[s, c, r] = (F(draw.below(400) + 8, 8) if count else F(0), count)

    def of(self, s, microbatches=None, ranks=None):
        return [self.cell[s, c, r] for c in (range(self.microbatches) if microbatches is None else microbatches)
                for r in (range(self.ranks) if ranks is None else ranks)]

    def value(self, rule, s, who):
        """What a rule makes of one step."""
        def pooled(cells):
            return ratio([cell[0] for cell in cells], [cell[1] for cell in cells])
        cells, each = self.of(s), range(self.microbatches)
        return {
            "token-weighted": lambda: pooled(cells),
            "rank-mean": lambda: mean([pooled([cell]) for cell in cells]),
            "microbatch-mean": lambda: mean([pooled(self.of(s, [c])) for c in each]),
            "totals": lambda: mean([pooled(self.of(s, None, [r])) for r in range(self.ranks)]),
            "sum-ranks": lambda: mean([sum((pooled([cell]) or F(0) for cell in self.of(s, [c])), F(0)) for c in each]),
            "sum-microbatches": lambda: sum((pooled(self.of(s, [c])) or F(0) for c in each), F(0)),
            "sum-all": lambda: sum((pooled([cell]) or F(0) for cell in cells), F(0)),
            "numerators": lambda: sum((cell[0] for cell in cells), F(0)),
            "last": lambda: pooled(self.of(s, [self.microbatches - 1])),
            "own": lambda: pooled(self.of(s, None, [who])),
            "left-out": lambda: pooled([cell for k, cell in enumerate(cells) if k % self.ranks != who]),
            "floored": lambda: sum((cell[0] for cell in cells), F(0)) / self.ranks / max(1, sum(cell[1] for cell in cells) // self.ranks),
            "empty-ranks": lambda: sum((pooled([cell]) or F(0) for cell in cells), F(0)) / len(cells),
            "empty-microbatches": lambda: sum((pooled(self.of(s, [c])) or F(0) for c in each), F(0)) / self.microbatches,
        }[rule]()


RULES = ("token-weighted", "rank-mean", "microbatch-mean", "totals", "sum-ranks", "sum-microbatches", "sum-all", "numerators", "last", "own",
         "left-out", "floored", "empty-ranks", "empty-microbatches")


def reports(draw):
    losses, said = Losses(draw), draw.one("token-weighted", "rank-mean", "microbatch-mean")
    declared = draw.one(said, said, said, None)
    if declared == "rank-mean":  # a pair is then the rank's own mean, and 1
        losses.cell = {at: (F(float(total / count)), 1) if count else (F(0), 0) for at, (total, count) in losses.cell.items()}
    who, interval = draw.below(losses.ranks), 1 + draw.below(5)
    rule = said if draw.below(3) == 0 else draw.one(*RULES)
    over = draw.one("mean", "mean", "mean", "mean", "zeros", "sum", "last")
    n, m, s = losses.ranks, losses.microbatches, losses.steps
    factor = draw.one(F(1), F(1), F(1), F(n), F(m), F(s), F(s * m), F(1, n), F(1, m), F(1, s), F(1, s * m), F(1, interval), F(s, interval))
    each = [losses.value(rule, k, who) for k in range(s)]
    value = {"mean": mean(each), "zeros": sum((x or F(0) for x in each), F(0)) / s, "sum": sum((x or F(0) for x in each), F(0)), "last": each[-1]}[over]
    right = mean([losses.value(said, k, 0) for k in range(s)])
    value = None if value is None else value * factor
    lines = [record("trace", v=1, world=n, microbatches=m, log_interval=interval)] if draw.below(2) else []
    has_trace = bool(lines)
    for k in range(s):
        for c in range(m):
            cells = losses.of(k, [c])
            for r in range(n):
                lines.append(record("issue", rank=r, op=k * m + c, step=k + 1, mb=c, key="loss", pairs=1, dtype="f64", in_=[float(cells[r][0]), cells[r][1]]))
            for r in range(n):
                lines.append(record("done", rank=r, op=k * m + c, out=[float(sum(cell[0] for cell in cells)), sum(cell[1] for cell in cells)]))
    empty = sum(x is None for x in each)
    counts = {"tokens": sum(cell[1] for cell in losses.cell.values()) + draw.one(0, 0, 0, 1), "empty": empty + draw.one(0, 0, 0, 1),
              "nonfinite": draw.one(0, 0, 0, 1)}
    fields = {name: counts[name] for name in counts if draw.below(4) == 0}
    bits = None if value is None else struct.unpack("<Q", struct.pack("<d", float(value)))[0]
    lines.append(record("report", rank=draw.below(n), metric="loss", first_step=1, step=s, normalization=declared, over="steps", **fields,
                        **({"bits": "%016x" % bits} if bits is not None else {"loss": "nan"})))
    if has_trace:
        lines += [record("end", rank=r) for r in range(n)]
    is_off = value is None or right is None or abs(value - right) > F(1, 10**6)
    return lines, "wrong" if is_off and declared else None


# ---- lives -----------------------------------------------------------------------------------------
def life(draw):
    ranks, ops = 1 + draw.below(3), 1 + draw.below(3)
    fields = draw.one({}, {}, {"wait": "stream"}, {"use": "once"}, {"deadline": 20}, {"order": "fixed"})
    lines, has_clock, has_buffers, has_streams = [], draw.below(2), draw.below(2), "wait" in fields
    if draw.below(3) == 0:
        lines.append(record("trace", v=1, world=ranks, clock="ticks" if has_clock else None, sees=draw.one(None, "values polls ends reads writes storage handles")))
    if fields:
        lines.append(record("contract", **fields))
    queues = []
    for rank in range(ranks):
        t, queue = draw.below(4), []
        for op in range(ops):
            buf = draw.one("a", "b") if has_buffers else None
            at = draw.one(None, None, 4) if buf else None

            def stamp():
                nonlocal t
                t += draw.below(9)
                return {"t": t if has_clock else None, "stream": draw.one(None, 1, 2) if has_streams else None}
            one = {"rank": rank, "op": op}
            queue.append(record("issue", **one, in_=[rank + 1, op], buf=buf, at=at, n=2 if at else None, ver=draw.one(None, None, 3), **stamp()))
            out = [ranks * (ranks + 1) // 2 + (draw.below(12) == 0), ops and ranks * op]
            for _ in range(draw.below(4)):
                queue.append(draw.one(
                    lambda: record("test", **one, done=draw.below(2) == 0, **stamp()),
                    lambda: record("wait", **one, **stamp()),
                    lambda: record("done", **one, out=out, **stamp()),
                    lambda: record("read", **one, at=draw.below(2), n=1, **stamp()),
                    lambda: record("read", **one, bits=out, **stamp()),
                    lambda: record("write", **one, by=draw.one(None, "backend"), **stamp()),
                    lambda: record("free", rank=rank, buf=buf or "a", **stamp()),
                    lambda: record("alloc", rank=rank, buf=buf or "a", **stamp()),
                    lambda: record("complete", **one, out=out, **stamp()),
                    lambda: record("sync", rank=rank, **stamp()),
                    lambda: record("cancel", **one, **stamp()),
                    lambda: record("drop", **one, **stamp()),
                    lambda: record("twin", **one, out=out),
                    lambda: record("fail", **one, error=draw.one("timeout", "ECONN"), **stamp()),
                    lambda: record("abort", rank=rank, **stamp()) if draw.below(2) else record("exit", rank=rank, code=draw.one(0, 1, -9)))())
            if draw.often(5):
                queue.append(record("done", **one, out=out, **stamp()))
        if draw.below(2):
            queue.append(record("end", rank=rank))
        queues.append(queue)
    while any(queues):
        queue = draw.one(*[queue for queue in queues if queue])
        lines.append(queue.pop(0))
    return lines, None


def main():
    for make, count, seed in ((values, 200, 5), (reports, 200, 6), (life, 240, 7)):
        draw = Draw(seed)
        for k in range(count):
            lines, kind = make(draw)
            with open(os.path.join(sys.argv[1], "%s-%03d%s.jsonl" % (make.__name__, k, "-" + kind if kind else "")), "w") as out:
                out.write("\n".join(lines) + "\n")


main()
