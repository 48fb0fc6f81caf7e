"""What the program says of its collectives, and the numbers it logs. A mistake in what is said costs that
record, with a line on standard error, and never the program."""
import json
import operator
import threading

import torch

from . import native, values
from .caller import caller
from .writer import warn

KINDS = ("mean", "sum", "min", "max")
NORMALIZATIONS = ("token-weighted", "rank-mean", "microbatch-mean", "seed-undivided")
OVER = ("steps", "pooled")


class _Current(threading.local):
    fields, elements = "", values.ELEMENTS


current = native.part.Current() if native.part else _Current()


class label:
    """Says what the collectives issued inside are, for `with` or as a decorator of nothing else:

        with alar.torch.label(key="lm loss", step=3, microbatch=0, pairs=1):
            handle = dist.all_reduce(pair, async_op=True)

    key         name of the metric; ranks must agree on it
    step        training step, from 0
    microbatch  microbatch within the step, from 0; without one the operation covers the step
    pairs       how many [loss sum, token count] pairs the tensor begins with
    elements    how many of the tensor's first elements are kept; default 16
    """

    def __init__(self, key=None, step=None, microbatch=None, pairs=None, elements=None):
        fields, self.elements = [], values.ELEMENTS
        try:
            if elements is not None:
                self.elements = _whole("elements", elements)
            if key is not None:
                fields.append('"key":' + json.dumps(_name("key", key)))
            for word, name, value in (("step", "step", step), ("mb", "microbatch", microbatch),
                                      ("pairs", "pairs", pairs)):
                if value is not None:
                    fields.append('"%s":%d' % (word, _whole(name, value)))
        except _Wrong as wrong:
            warn("label: %s: the label was left out" % wrong)
            fields = []
        self.fields = "".join("," + field for field in fields)
        self.before = []

    def __enter__(self):
        self.before.append((current.fields, current.elements))
        current.fields, current.elements = self.fields, self.elements
        return self

    def __exit__(self, *unused):
        current.fields, current.elements = self.before.pop() if self.before else ("", values.ELEMENTS)


class _Wrong(Exception):
    """expected ..., found ..."""


def _found(value):
    try:
        text = repr(value)
    except Exception:
        text = "?"
    return "%s %s" % (type(value).__name__, text if len(text) <= 60 else text[:57] + "...")


def _name(field, value):
    if not isinstance(value, str) or not value:
        raise _Wrong("%s: expected a text, found %s" % (field, _found(value)))
    return value


def _word(field, value, known):
    if value not in known:
        raise _Wrong("%s: expected one of %s, found %s" % (field, " ".join(known), _found(value)))
    return value


def _whole(field, value):
    """A number from 0: an int, or what stands for one: a tensor or array of one element, 3.0."""
    try:
        if hasattr(value, "item") and not isinstance(value, (int, float)):
            value = value.item()
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        number = operator.index(value)
    except Exception:
        raise _Wrong("%s: expected a whole number, found %s" % (field, _found(value))) from None
    if number < 0 or number >= 1 << 63:
        raise _Wrong("%s: expected a whole number from 0, found %s" % (field, _found(value)))
    return number


def _loss(value):
    """The number as JSON, and its bits where it is a tensor."""
    if value is None:
        return "null", None
    bits = None
    if isinstance(value, torch.Tensor):
        if value.numel() != 1:
            raise _Wrong("loss: expected one element, found %d" % value.numel())
        value = value.detach()
        dtype = "f64" if value.dtype == torch.float64 else "f32"
        value = value.double() if dtype == "f64" else value.float()
        bits = values.text(values.copy(value.cpu().reshape(-1)), dtype)[1:-1]
        value = value.item()
    try:
        value = float(value)
    except Exception:
        raise _Wrong("loss: expected a number, a tensor of one element or None, found %s"
                     % _found(value)) from None
    if value != value:
        return '"nan"', bits
    if value in (float("inf"), float("-inf")):
        return ('"inf"' if value > 0 else '"-inf"'), bits
    return repr(value), bits


def _operations(ops):
    """As the history names them: handles, "group/number", or a number; one of these, or several."""
    from . import capture
    if isinstance(ops, (str, int)) or not hasattr(ops, "__iter__"):
        ops = [ops]
    named = []
    for one in ops:
        made = capture.operations_of(one)
        if made is not None:
            named += ["%s/%d" % (op.group, op.number) for op in made]
        elif isinstance(one, (int, str)) and not isinstance(one, bool):
            named.append(one)
        else:
            raise _Wrong("ops: expected handles of recorded collectives, found %s" % _found(one))
    return json.dumps(named)


def declare(key, kind):
    """Says what reports make of the metric `key`: kind is mean, sum, min or max. What is a min or max, and is reduced
    beside other metrics, has its elements behind theirs (spec/history.md). The same on all ranks; once a recording.

    Returns whether it was recorded. Outside of a recording, and after a mistake, it was not.
    """
    from . import recorder
    active = recorder.recording()
    if active is None:
        return False
    try:
        active.declare(',"key":%s,"kind":"%s"' % (json.dumps(_name("key", key)), _word("kind", kind, KINDS)))
    except _Wrong as wrong:
        warn("declare: %s: it was left out" % wrong)
        return False
    return True


def report(metric, loss, step, ops=None, logged_at_step=None, first_step=None, normalization=None,
           over=None, kind=None, tokens=None, nonfinite=None, empty=None, sink="log"):
    """Records one logged value, to be recomputed by `alar check` from the operations it was made of.

    metric          its name
    loss            what was logged: a number, a tensor of one element, or None where there was no token
    step            the last step it stands for; first_step the first one (default: the same)
    ops             the handles it was made of, or one of them; default: those of its steps with its key
    logged_at_step  the step at which the line was written
    normalization   token-weighted, rank-mean, microbatch-mean or seed-undivided: what the number means
    over            steps (mean of the steps' values) or pooled (one ratio of sums)
    kind            mean, sum, min or max
    tokens, nonfinite, empty  tokens it stands for; steps that are not finite; steps without a token
    sink            where it went: log, json, ...

    Returns whether it was recorded. Outside of a recording, and after a mistake, it was not.
    """
    from . import recorder
    active = recorder.recording()
    if active is None or active.writer is None:
        return False
    try:
        number, bits = _loss(loss)
        fields = [("metric", json.dumps(_name("metric", metric))), ("step", _whole("step", step))]
        for name, value in (("first_step", first_step), ("logged_at_step", logged_at_step),
                            ("tokens", tokens), ("nonfinite", nonfinite), ("empty", empty)):
            if value is not None:
                fields.append((name, _whole(name, value)))
        for name, value, known in (("normalization", normalization, NORMALIZATIONS),
                                   ("over", over, OVER), ("kind", kind, KINDS)):
            if value is not None:
                fields.append((name, json.dumps(_word(name, value, known))))
        fields += [("loss", number), ("sink", json.dumps(_name("sink", sink)))]
        if bits is not None:
            fields.append(("bits", bits))
        if ops is not None:
            fields.append(("ops", _operations(ops)))
    except _Wrong as wrong:
        warn("report: %s: the report was left out" % wrong)
        return False
    except Exception as error:
        warn("report: %s: %s: the report was left out" % (type(error).__name__, error))
        return False
    active.add("report", None, "".join(',"%s":%s' % field for field in fields), caller(2))
    return True
