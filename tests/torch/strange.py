"""A torch that the recorder has never seen: strange.py WHAT ARGUMENT..., then as python3 -m alar.torch. WHAT:

undistributed  built without torch.distributed
renamed        the methods of a process group have other names
without        a function that the recorder needs is gone
"""
import runpy
import sys

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d


def gone():
    raise AttributeError("module 'torch.distributed' has no attribute 'get_rank'")


torch.__version__ = "99.0.0"
what = sys.argv.pop(1)
if what == "undistributed":
    dist.is_available = lambda: False
elif what == "renamed":
    reduce = dist.ProcessGroup.allreduce
    del dist.ProcessGroup.allreduce

    def all_reduce(tensor, group=None, async_op=False):
        work = reduce(group or c10d._get_default_group(), [tensor])
        return work if async_op else work.wait()
    dist.all_reduce = all_reduce
elif what == "without":
    dist.get_rank = gone
sys.argv[0] = "-m"
runpy.run_module("alar.torch", run_name="__main__", alter_sys=True)
