#!/usr/bin/env python3
"""Holds `alar check` against an independent enumeration of what an all-reduce may give.

    audit.py --alar build/alar [--values N] [--seed S] [--floor N] [--keep FOLDER]

Draws small reductions of every dtype, reduction and contract, asks arithmetic.py for the set of all
results that some order gives, and writes one history for each value to be judged: members of the
set, their neighbours, values of other conventions, of other reductions, zeros of the other sign,
Inf, NaN and noise. PASS must mean that the value is in the set, FAIL that it is not; UNKNOWN is
counted. For more ranks than can be enumerated the right value is known otherwise: sums of powers of
two and of equal numbers, random trees, and numbers far from all of them.

The last lines are a table and "N values, F false FAIL, W wrong PASS, U undecided".
Exit code 0 when there is no false FAIL, no wrong PASS, and at least --floor values were decided.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arithmetic import EXACT, FORMATS, NAN, Float, legal, located  # noqa: E402

BATCH = 4000
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
MODELS = ("nearest", "half-up", "truncate", "flush", "saturate")
CONVENTIONS = ("any", "sum-divide", "sum-multiply", "multiply-sum", "divide-sum")
POLICIES = ("any", "propagate", "ignore", "idiom")


def near(form, x):
    return form.round(Fraction(x), False, "nearest")


def draw_float(rng, form, family):
    """One contribution of a family."""
    if family == "loss":
        return near(form, rng.uniform(1, 12))
    if family == "mixed":
        return near(form, rng.uniform(-12, 12))
    if family == "whole":
        return near(form, rng.randint(-40, 40))
    if family == "ties":
        return near(form, 1 + Fraction(rng.randint(0, 7), 1 << form.p))
    if family == "wide":
        return near(form, Fraction(rng.uniform(-2, 2)) * Fraction(2) ** rng.randint(-form.p, form.p))
    if family == "tiny":
        return rng.randint(0, 3 << (form.p - 1)) | (form.sign if rng.random() < 0.4 else 0)
    if family == "huge":
        return form.largest - rng.randint(0, 1 << form.p) | (form.sign if rng.random() < 0.4 else 0)
    if family == "spread":
        return rng.getrandbits(form.bits) % form.inf | (form.sign if rng.random() < 0.4 else 0)
    if family == "zeros":
        return rng.choice((0, form.sign, form.sign, near(form, rng.randint(-2, 2)), 1, form.sign | 1))
    special = (0, form.sign, form.inf, form.inf | form.sign, NAN, form.largest, 1, form.sign | 1,
               near(form, 1), near(form, -1), near(form, 3))
    return rng.choice(special)


FAMILIES = ("loss", "mixed", "whole", "ties", "wide", "tiny", "huge", "spread", "zeros", "special")


def draw_integer(rng, form):
    kind = rng.randrange(4)
    if kind == 0:
        x = rng.randint(-9, 9)
    elif kind == 1:
        x = rng.choice((form.least, form.most, form.most - 1, 0, 1, -1))
    else:
        x = rng.getrandbits(form.bits)
    return x & form.mask


def draw_contract(rng, dtype, red):
    contract = {}
    is_float = dtype in FLOATS
    if rng.random() < 0.5:
        return contract
    if is_float and rng.random() < 0.5:
        contract["adder"] = rng.choice(MODELS)
    elif rng.random() < 0.1:
        contract["adder"] = "saturate"
    if is_float and rng.random() < 0.4:
        # Narrower accumulators than the data are the rare case of a promise, and allowed.
        contract["width"] = rng.choice(("f32", "f32", "f64", dtype, rng.choice(FLOATS)))
    if red == "avg" and rng.random() < 0.6:
        contract["avg"] = rng.choice(CONVENTIONS)
    if red in ("max", "min") and rng.random() < 0.6:
        contract["nan"] = rng.choice(POLICIES)
    return contract


def draw_case(rng):
    dtype = rng.choice(FLOATS) if rng.random() < 0.75 else rng.choice(INTEGERS)
    form = FORMATS[dtype]
    if isinstance(form, Float):
        red = rng.choice(("sum", "sum", "product", "product", "avg", "avg", "avg", "max", "min",
                          "land", "lor", "lxor"))
        family = rng.choice(FAMILIES)
        mixed = rng.random() < 0.15
        n = rng.choice((1, 2, 2, 3, 3, 3, 4, 4, 5))
        bits = [draw_float(rng, form, rng.choice(FAMILIES) if mixed else family)
                for _ in range(n)]
    else:
        red = rng.choice(("sum", "product", "avg", "max", "min") + EXACT)
        family = "integers"
        n = rng.choice((1, 2, 3, 4, 5))
        bits = [draw_integer(rng, form) for _ in range(n)]
    return dtype, red, draw_contract(rng, dtype, red), bits, family


def neighbours(form, b):
    if b is NAN:
        return []
    found = [(b + 1) & form.mask, (b - 1) & form.mask]
    return [NAN if isinstance(form, Float) and form.is_nan(x) else x for x in found]


def candidates(rng, dtype, red, contract, bits, right):
    """Values to be judged: right ones, and ones that a fault would give."""
    form = FORMATS[dtype]
    is_float = isinstance(form, Float)
    some = sorted(right, key=str)
    rng.shuffle(some)
    values = some[:3]
    for b in some[:2]:
        values += neighbours(form, b)
    others = {"adder": {"adder": rng.choice(MODELS)}, "plain": {}}
    if is_float and len(bits) <= 4:
        values += list(legal(bits, dtype, red, others[rng.choice(list(others))]))[:1]
        values += list(legal(bits, dtype, rng.choice(("sum", "avg", "product")), contract))[:1]
    if len(bits) > 1:
        values += list(legal(bits[1:], dtype, red, contract))[:1]
        values += list(legal(bits + bits[:1], dtype, "max", {}))[:1]
    if is_float:
        values += rng.sample((0, form.sign, form.inf, form.inf | form.sign, NAN), 2)
    if len(bits) > 1:
        values.append(rng.choice(bits))
    values.append(rng.getrandbits(form.bits) & form.mask)
    return [NAN if is_float and v is not NAN and form.is_nan(v) else v for v in dict.fromkeys(values)]


def spelled(rng, form, b):
    """A value as a history has it; a NaN with any payload, or by its name."""
    if b is NAN:
        return "nan" if rng.random() < 0.5 else f"{form.inf | 1 << (form.p - 2) | 5:0{form.bits // 4}x}"
    return f"{b:0{form.bits // 4}x}"


def history(rng, dtype, red, contract, columns, results):
    """One all-reduce: columns[rank] are its elements, results what every rank was given."""
    form = FORMATS[dtype]
    lines = [dict(ev="contract", **contract)] if contract else []
    for rank, column in enumerate(columns):
        lines.append({"ev": "issue", "rank": rank, "op": 0, "red": red, "dtype": dtype,
                      "in": [spelled(rng, form, b) for b in column]})
    out = [spelled(rng, form, b) for b in results]
    for rank in range(len(columns)):
        lines.append({"ev": "done", "rank": rank, "op": 0, "out": out})
    return "".join(json.dumps(line) + "\n" for line in lines)


def small_cases(rng):
    """Enumerated: whether each value is legal is known."""
    dtype, red, contract, bits, family = draw_case(rng)
    right = legal(bits, dtype, red, contract)
    for value in candidates(rng, dtype, red, contract, bits, right):
        yield (dtype, red, "promised" if contract else "plain", family), value in right, \
            history(rng, dtype, red, contract, [[b] for b in bits], [value])


def located_cases(rng):
    """Pairs of a value and an index."""
    dtype, red = rng.choice(FLOATS + INTEGERS), rng.choice(("maxloc", "minloc"))
    form = FORMATS[dtype]
    is_float = isinstance(form, Float)

    def index(i):
        return near(form, i) if is_float else i & form.mask

    pairs = [(draw_float(rng, form, rng.choice(("whole", "loss", "zeros"))) if is_float
              else draw_integer(rng, form), index(rng.randint(0, 9))) for _ in range(rng.randint(2, 5))]
    if rng.random() < 0.5:
        pairs[1] = (pairs[0][0], pairs[1][1])
    right = located(pairs, dtype, red)
    wrong = [rng.choice(pairs), (rng.choice(pairs)[0], rng.choice(pairs)[1]),
             (rng.choice(pairs)[0], index(7))]
    for value in dict.fromkeys(list(right) + wrong):
        yield (dtype, red, "plain", "pairs"), value in right, \
            history(rng, dtype, red, {}, [list(p) for p in pairs], list(value))


def many_cases(rng):
    """More ranks than can be enumerated. Legal values come out of random trees; illegal ones are
    farther away than (n + 2)^2 roundings of the largest number about, which no order can be."""
    dtype = rng.choice(FLOATS)
    form = FORMATS[dtype]
    red = rng.choice(("sum", "avg", "product"))
    n = rng.choice((13, 16, 17, 24, 33, 40))
    family = "many"
    if red == "product":
        bits = [near(form, rng.uniform(0.8, 1.25) * rng.choice((1, 1, 1, -1))) for _ in range(n)]
    elif rng.random() < 0.3:
        bits = [near(form, rng.randint(1, 3))] * n
    else:
        bits = [draw_float(rng, form, rng.choice(("loss", "mixed"))) for _ in range(n)]
    part = list(bits)
    while len(part) > 1:
        a = part.pop(rng.randrange(len(part)))
        i = rng.randrange(len(part))
        part[i] = (form.multiply if red == "product" else form.add)(part[i], a, "nearest")
    value = form.divide(part[0], n) if red == "avg" else part[0]
    yield (dtype, red, "plain", family), True, history(rng, dtype, red, {}, [[b] for b in bits], [value])
    numbers = [form.number(b) for b in bits]
    exact = Fraction(1)
    for x in numbers:
        exact = exact * x if red == "product" else exact
    size = abs(exact) if red == "product" else sum(abs(x) for x in numbers)
    exact = exact if red == "product" else sum(numbers)
    exact, size = (exact / n, size / n) if red == "avg" else (exact, size)
    slack = size * (n + 2) ** 2 * Fraction(2) ** (1 - form.p)
    off = slack + abs(exact) * Fraction(2) ** (2 - form.p) + Fraction(2) ** form.lowest
    wrong = [near(form, exact + 2 * off), near(form, exact - 3 * off), NAN, form.inf]
    if red == "product":
        wrong.append(near(form, exact) ^ form.sign)
    for value in wrong:
        if value is NAN or form.is_inf(value) or abs(form.number(value) - exact) > off:
            yield (dtype, red, "plain", family), False, \
                history(rng, dtype, red, {}, [[b] for b in bits], [value])


def judge(alar, cases, folder):
    """The verdict of each history."""
    names = []
    for i, (_, _, text) in enumerate(cases):
        name = os.path.join(folder, f"{i:05d}.jsonl")
        with open(name, "w", encoding="ascii") as file:
            file.write(text)
        names.append(name)
    run = subprocess.run([alar, "check", "-q", *names], capture_output=True, text=True, check=False,
                         timeout=900)
    verdicts = {}
    for line in run.stdout.splitlines():
        name, _, rest = line.partition("\t")
        word = rest.split("\t")[0].split(" ")[0]
        if name in names or name.endswith(".jsonl"):
            verdicts[name] = word
    if any(verdicts.get(name) not in ("PASS", "FAIL", "UNKNOWN") for name in names):
        missing = [n for n in names if verdicts.get(n) not in ("PASS", "FAIL", "UNKNOWN")]
        sys.exit(f"no verdict of {len(missing)} histories, first {missing[0]}: exit code "
                 f"{run.returncode}\n{open(missing[0]).read()}{run.stderr[-2000:]}")
    return [verdicts[name] for name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alar", default="build/alar", help="the binary to be judged")
    parser.add_argument("--values", type=int, default=100000, help="values to judge, at least")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--floor", type=int, default=0, help="values that must be decided, at least")
    parser.add_argument("--keep", help="a folder for the histories that are judged wrong")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    count = Counter()
    bad = 0
    total = 0
    pending = []

    def flush():
        nonlocal bad
        with tempfile.TemporaryDirectory() as folder:
            for (kind, is_legal, text), verdict in zip(pending, judge(args.alar, pending, folder)):
                count[kind[0], kind[1], is_legal, verdict] += 1
                if (verdict == "FAIL" and is_legal) or (verdict == "PASS" and not is_legal):
                    bad += 1
                    if bad <= 5:
                        print(f"{'false FAIL' if is_legal else 'wrong PASS'}: {kind}\n{text}")
                    if args.keep:
                        os.makedirs(args.keep, exist_ok=True)
                        with open(os.path.join(args.keep, f"{bad}.jsonl"), "w") as file:
                            file.write(text)
        pending.clear()

    while total < args.values:
        pick = rng.random()
        source = small_cases if pick < 0.9 else many_cases if pick < 0.95 else located_cases
        for case in source(rng):
            pending.append(case)
            total += 1
        if len(pending) >= BATCH or total >= args.values:
            flush()
    decided = report(count, total)
    if decided < args.floor:
        print(f"{decided} values decided, at least {args.floor} were asked for")
    return 1 if bad or decided < args.floor else 0


def report(count, total):
    """A row for each reduction: legal values by verdict, illegal ones by verdict."""
    print("reduction   legal: PASS   UNKNOWN  FAIL   illegal: FAIL   UNKNOWN  PASS")
    reds = sorted({key[1] for key in count})
    for red in reds:
        row = [sum(n for k, n in count.items() if k[1:] == (red, is_legal, verdict))
               for is_legal, verdict in ((True, "PASS"), (True, "UNKNOWN"), (True, "FAIL"),
                                         (False, "FAIL"), (False, "UNKNOWN"), (False, "PASS"))]
        print(f"{red:10} {row[0]:12} {row[1]:9} {row[2]:5} {row[3]:15} {row[4]:9} {row[5]:5}")
    false = sum(n for k, n in count.items() if k[2] and k[3] == "FAIL")
    wrong = sum(n for k, n in count.items() if not k[2] and k[3] == "PASS")
    open_ = sum(n for k, n in count.items() if k[3] == "UNKNOWN")
    print(f"{len({k[0] for k in count})} dtypes, {len(reds)} reductions")
    print(f"{total} values, {false} false FAIL, {wrong} wrong PASS, {open_} undecided")
    return total - open_


if __name__ == "__main__":
    sys.exit(main())
