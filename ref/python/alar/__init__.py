"""alar: asynchronous log all-reduce, a reference engine and a correctness oracle.

    alar.Log        logs a loss over all ranks without waiting for the slowest one
    alar.torch      records the collectives of a PyTorch program as a history that `alar check` judges
    alar.flight     makes a history of PyTorch's Flight Recorder dumps

Importing this package imports neither torch nor anything that is not in the standard library.
"""

__version__ = "0.1.0"

LOG = ("BadInput", "Error", "Log", "Lost", "NonFinite", "Report")  # of alar.log, which needs torch


def __getattr__(name):
    if name in LOG:
        from . import log
        return getattr(log, name)
    raise AttributeError("module 'alar' has no attribute %r" % name)
