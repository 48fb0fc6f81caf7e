"""What comes out of a log: reports, and the exceptions in which it ends."""
import collections

from .embed import Error

Report = collections.namedtuple(
    "Report", "metric value first_step step logged_at_step steps kind tokens nonfinite nan_steps empty rank")
Report.__doc__ = """One logged value.

metric          its name; `kind` is mean, sum, min or max
value           the number, of a loss in the unit of its sum per token; None: no rank had a token (EMPTY)
first_step, step  the steps that it covers, `steps` of them; logged_at_step: when it was logged
tokens          of all ranks; 0 under rank-mean and seed-undivided, which carry none
nonfinite       local values that are NaN or infinite; nan_steps: steps whose value is
empty           steps without a token; under rank-mean local losses without one
rank            min, max: the lowest rank that holds it, or a NaN
"""


class NonFinite(Error):
    """A local value was NaN or infinite: the same on all ranks, after the same step. `findings` has (rank,
    step, microbatch)."""

    def __init__(self, status, text, findings):
        super().__init__(status, text)
        self.findings = findings


class Lost(Error):
    """A deadline passed, or an operation failed. `ranks` are those that are missing or at fault."""

    def __init__(self, status, text, ranks):
        super().__init__(status, text)
        self.ranks = ranks
