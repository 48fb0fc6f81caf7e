"""Which values an all-reduce may give: written from spec/history.md and spec/semantics.md alone, by
plain enumeration over fractions. No code is shared with alar, and none of it was looked at for the
arithmetic: floats are decoded, added, multiplied, divided and rounded here once more.

A value of a dtype is its bits, an int. `legal()` gives the set of all results that some order of
combining the contributions may give under a contract: every binary tree over every permutation.
"""
from fractions import Fraction
from functools import lru_cache

NAN = "nan"  # any of the many bit patterns: payloads are not compared


class Float:
    """A binary interchange format: precision p with the hidden bit, exponents as in IEEE 754."""

    def __init__(self, bits, p):
        self.bits, self.p = bits, p
        self.sign = 1 << (bits - 1)
        self.inf = ((1 << (bits - p)) - 1) << (p - 1)
        self.largest = self.inf - 1
        self.lowest = 3 - (1 << (bits - p - 1)) - p  # exponent of the smallest value
        self.mask = (1 << bits) - 1

    def is_nan(self, b):
        return (b & ~self.sign) > self.inf

    def number(self, b):
        """The exact number that finite bits stand for."""
        magnitude = b & ~self.sign
        field, low = magnitude >> (self.p - 1), magnitude & ((1 << (self.p - 1)) - 1)
        if field:
            low |= 1 << (self.p - 1)
            field -= 1
        exponent = self.lowest + field
        value = Fraction(low << exponent) if exponent >= 0 else Fraction(low, 1 << -exponent)
        return -value if b & self.sign else value

    def round(self, x, negative_zero, model):
        """A number, rounded once; a result of exactly zero takes the sign that is given."""
        if x == 0:
            return self.sign if negative_zero else 0
        sign, x = (self.sign, -x) if x < 0 else (0, x)
        # The exponent e with 2^e <= x < 2^(e+1).
        e = x.numerator.bit_length() - x.denominator.bit_length()
        if Fraction(2) ** e > x:
            e -= 1
        quantum = max(e - self.p + 1, self.lowest)
        scaled = x / Fraction(2) ** quantum
        low = scaled.numerator // scaled.denominator
        rest = scaled - low
        if model == "truncate":
            up = False
        elif model == "half-up":
            up = rest >= Fraction(1, 2)
        else:
            up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 1)
        low += up
        if low == 0:
            return sign
        # Bits go on counting across the border of two exponents.
        bits = ((quantum - self.lowest) << (self.p - 1)) + low
        if bits >= self.inf:
            bits = self.largest if model in ("truncate", "saturate") else self.inf
        if model == "flush" and bits < 1 << (self.p - 1):
            bits = 0
        return sign | bits

    def clean(self, b, model):
        """What a model makes of an operand."""
        if b is NAN:
            return 0 if model == "saturate" else NAN
        magnitude = b & ~self.sign
        if model == "saturate" and magnitude == self.inf:
            return (b & self.sign) | self.largest
        if model == "flush" and magnitude < 1 << (self.p - 1):
            return b & self.sign
        return b

    def is_inf(self, b):
        return b is not NAN and (b & ~self.sign) == self.inf

    def add(self, a, b, model):
        a, b = self.clean(a, model), self.clean(b, model)
        if a is NAN or b is NAN:
            return NAN
        if self.is_inf(a) or self.is_inf(b):
            if self.is_inf(a) and self.is_inf(b) and a != b:
                return NAN
            return a if self.is_inf(a) else b
        both = bool(a & self.sign) and bool(b & self.sign)
        return self.round(self.number(a) + self.number(b), both, model)

    def multiply(self, a, b, model):
        a, b = self.clean(a, model), self.clean(b, model)
        if a is NAN or b is NAN:
            return NAN
        negative = bool(a & self.sign) != bool(b & self.sign)
        if self.is_inf(a) or self.is_inf(b):
            if not (a & ~self.sign) or not (b & ~self.sign):
                return NAN
            return self.inf | (self.sign if negative else 0)
        return self.round(self.number(a) * self.number(b), negative, model)

    def divide(self, a, n):
        if a is NAN or self.is_inf(a):
            return a
        return self.round(self.number(a) / n, bool(a & self.sign), "nearest")

    def convert(self, b, other, model):
        """These bits, brought to another format."""
        b = self.clean(b, model)
        if b is NAN:
            return NAN
        if self.is_inf(b):
            return other.inf | (other.sign if b & self.sign else 0)
        return other.round(self.number(b), bool(b & self.sign), model)

    def one(self):
        return self.round(Fraction(1), False, "nearest")

    def order(self, b):
        """A key that sorts numbers; both zeros alike."""
        magnitude = b & ~self.sign
        return -magnitude if b & self.sign else magnitude


class Integer:
    def __init__(self, bits, signed):
        self.bits, self.signed = bits, signed
        self.mask = (1 << bits) - 1
        self.least = -(1 << (bits - 1)) if signed else 0
        self.most = (1 << (bits - (1 if signed else 0))) - 1

    def number(self, b):
        return b - (1 << self.bits) if self.signed and b >> (self.bits - 1) else b

    def fit(self, x, model):
        if model == "saturate":
            x = min(max(x, self.least), self.most)
        return x & self.mask

    order = number


FORMATS = {
    "f16": Float(16, 11), "bf16": Float(16, 8), "f32": Float(32, 24), "f64": Float(64, 53),
    "i8": Integer(8, True), "i16": Integer(16, True), "i32": Integer(32, True),
    "i64": Integer(64, True), "u8": Integer(8, False), "u16": Integer(16, False),
    "u32": Integer(32, False), "u64": Integer(64, False),
}
EXACT = ("land", "lor", "lxor", "band", "bor", "bxor")


def trees(leaves, combine):
    """All values of all binary trees over all permutations: by subsets, which is the same."""
    n = len(leaves)
    values = {1 << i: {leaves[i]} for i in range(n)}
    for subset in sorted(range(1, 1 << n), key=lambda s: bin(s).count("1")):
        if subset in values:
            continue
        found = set()
        part = (subset - 1) & subset
        while part:
            if part > subset ^ part:  # each split once: operands commute
                for a in values[part]:
                    for b in values[subset ^ part]:
                        found.add(combine(a, b))
            part = (part - 1) & subset
        values[subset] = found
    return values[(1 << n) - 1]


def reduced(bits, dtype, wide, model, product):
    """Contributions brought to `wide`, combined there in any order, brought back."""
    own, acc = FORMATS[dtype], FORMATS[wide]

    @lru_cache(maxsize=None)
    def combine(a, b):
        return acc.multiply(a, b, model) if product else acc.add(a, b, model)

    if dtype == wide:
        leaves = [own.clean(b, model) for b in bits]
        if model not in ("flush", "saturate"):
            leaves = list(bits)
    else:
        leaves = [own.convert(b, acc, model) for b in bits]
    results = trees(leaves, combine)
    return results if dtype == wide else {acc.convert(b, own, model) for b in results}


def averaged(bits, dtype, wide, model, convention):
    """An average whose multiplications and divisions are rounded in the dtype itself."""
    own, n = FORMATS[dtype], len(bits)
    factor = own.divide(own.one(), n)
    if convention == "multiply-sum":
        bits = [own.multiply(b, factor, "nearest") for b in bits]
    elif convention == "divide-sum":
        bits = [own.divide(b, n) for b in bits]
    sums = reduced(bits, dtype, wide, model, False)
    if convention == "sum-divide":
        sums = {own.divide(s, n) for s in sums}
    elif convention == "sum-multiply":
        sums = {own.multiply(s, factor, "nearest") for s in sums}
    return sums | ({own.clean(s, "flush") for s in sums} if model == "flush" else set())


def averaged_once(bits, dtype, wide, model, convention):
    """An average made in `wide` from beginning to end, and rounded once."""
    own, acc = FORMATS[dtype], FORMATS[wide]
    loaded = [own.convert(b, acc, model) for b in bits]
    return {acc.convert(b, own, model)
            for b in averaged(loaded, wide, wide, model, convention)}


def float_sums(bits, dtype, red, contract):
    model = contract.get("adder", "nearest")
    given = "adder" in contract or "width" in contract
    widths = [contract.get("width", dtype)]
    if dtype in ("f16", "bf16") and not given:
        widths.append("f32")
    results = set()
    for wide in widths:
        if red in ("sum", "product"):
            results |= reduced(bits, dtype, wide, model, red == "product")
            continue
        convention = contract.get("avg", "any")
        for each in ("sum-divide", "sum-multiply", "multiply-sum", "divide-sum"):
            if convention in ("any", each):
                results |= averaged(bits, dtype, wide, model, each)
                if wide != dtype:
                    results |= averaged_once(bits, dtype, wide, model, each)
    return results


def integer_sums(bits, dtype, red, contract):
    form, n = FORMATS[dtype], len(bits)
    model = "saturate" if contract.get("adder") == "saturate" else "wrap"
    numbers = [form.number(b) for b in bits]

    def quotient(x):
        return abs(x) // n * (-1 if x < 0 else 1)

    if red == "avg" and contract.get("avg") == "divide-sum":
        numbers = [quotient(x) for x in numbers]

    def combine(a, b):
        return form.number(form.fit(a * b if red == "product" else a + b, model))

    results = trees(numbers, combine)
    if red == "avg" and contract.get("avg") != "divide-sum":
        results = {quotient(x) for x in results}
    return {x & form.mask for x in results}


def extremes(bits, dtype, red, contract):
    form, policy = FORMATS[dtype], contract.get("nan", "any")
    numbers = [b for b in bits if b is not NAN]
    holes = len(numbers) < len(bits)
    if not numbers or (holes and policy == "propagate"):
        return {NAN}
    best = (max if red == "max" else min)(form.order(b) for b in numbers)
    results = {b for b in numbers if form.order(b) == best}
    if holes and policy in ("any", "idiom"):
        results = set(numbers) | {NAN}
    return results


def bitwise(bits, dtype, red):
    form = FORMATS[dtype]
    if len(bits) == 1 and red[0] != "l":
        return set(bits)
    if red[0] == "l":
        is_float = isinstance(form, Float)
        true = form.one() if is_float else 1
        truth = [b is NAN or (b & ~form.sign if is_float else b) != 0 for b in bits]
        if red == "lxor":
            answer = sum(truth) % 2 == 1
        else:
            answer = all(truth) if red == "land" else any(truth)
        results = {true if answer else 0}
        if answer and all(b in (0, form.mask) for b in bits):
            results.add(form.mask)  # as some Fortran compilers write .true.
        return results | (set(bits) if len(bits) == 1 else set())
    result = bits[0]
    for b in bits[1:]:
        result = result & b if red == "band" else result | b if red == "bor" else result ^ b
    return {result}


def legal(bits, dtype, red, contract):
    """The set of results that are right: bits, or NAN for any NaN."""
    if red in ("max", "min"):
        return extremes(bits, dtype, red, contract)
    if red in EXACT:
        return bitwise(bits, dtype, red)
    if isinstance(FORMATS[dtype], Float):
        return float_sums(bits, dtype, red, contract)
    return integer_sums(bits, dtype, red, contract)


def located(pairs, dtype, red):
    """MAXLOC and MINLOC without NaN: the extreme, and the least index among those that hold it."""
    form = FORMATS[dtype]
    best = (max if red == "maxloc" else min)(form.order(v) for v, _ in pairs)
    holders = [(v, i) for v, i in pairs if form.order(v) == best]
    index = min((i for _, i in holders), key=form.order)
    return {(v, index) for v, _ in holders}
