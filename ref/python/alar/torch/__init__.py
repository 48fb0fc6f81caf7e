"""Records the collectives of a torch program as histories that `alar check` judges.

    python3 -m alar.torch -o DIR script.py [ARGUMENT]...               # spawned children too
    torchrun --nproc-per-node 4 -m alar.torch -o DIR script.py [ARGUMENT]...

or, inside the program:

    with alar.torch.record(DIR):
        ...

One file for each rank, DIR/rankR.jsonl, in the format of spec/history.md; then `alar check DIR`.
Made for torch 1.13 to 2.13, with any back end; needs torch and the standard library only. Nothing
here raises into the program: what can't be recorded is left out, with a line on standard error.

What is seen, and what is not, stands in the header of each file (`sees`) and in ref/python/README.md.
"""
from .labels import label, report
from .recorder import record, recording

__all__ = ["label", "record", "recording", "report"]
