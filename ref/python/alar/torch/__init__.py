"""Records the collectives of a torch program as histories that `alar check` judges.

    python3 -m alar.torch -o DIR script.py [ARGUMENT]...               # spawned children too
    torchrun --nproc_per_node 4 -m alar.torch -o DIR script.py [ARGUMENT]...

or, inside the program:

    with alar.torch.record(DIR):
        ...

One file for each rank, DIR/rankR.jsonl, in the format of spec/history.md; then `alar check DIR`.
Made for torch 1.13 to 2.13, with any back end; needs torch and the standard library only. Nothing
here raises into the program: what can't be recorded is left out, with a line on standard error.

What is seen, and what is not, stands in the header of each file (`sees`) and in ref/python/README.md.
"""
import sys


def _need(condition, text):
    """One line, and 3 where the package is run as a program."""
    if not condition:
        if sys.argv[:1] == ["-m"]:
            print("alar.torch: " + text, file=sys.stderr)
            sys.exit(3)
        raise ImportError("alar.torch: " + text)


try:
    import torch
    import torch.distributed
except ImportError:
    torch = None
_need(torch is not None, "expected torch 1.13 or later, found none: pip install torch")
_need(torch.distributed.is_available(), "expected a torch with distributed, found %s without"
      % getattr(torch, "__version__", "one"))

from .labels import declare, label, report  # noqa: E402
from .recorder import record, recording  # noqa: E402

__all__ = ["declare", "label", "record", "recording", "report"]
