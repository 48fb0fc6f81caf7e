"""Does the compiled part of the recorder keep what it should let go? leaks.py DIR STORE. Prints which operations a handle
has, and how many blocks of memory 2000 operations leave behind; exit 1 for more than one in ten of them."""
import gc
import os
import sys

import torch
import torch.distributed as dist

import alar.torch
from alar.torch import capture

COUNT = 1000  # of each kind


def batch(directory):
    with alar.torch.record(directory):
        for _ in range(COUNT):
            tensor = torch.ones(2)
            dist.all_reduce(tensor, async_op=True).wait()
            dist.all_reduce(tensor)
        dist.all_reduce(tensor, async_op=True)  # nobody waits
    os.remove(os.path.join(directory, "rank0.jsonl"))
    del tensor
    gc.collect()
    return sys.getallocatedblocks()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=0, world_size=1)
    with alar.torch.record(os.path.join(sys.argv[1], "kind")):
        dist.all_reduce(torch.ones(1))
        handle = dist.all_reduce(torch.ones(1), async_op=True)
        print("operations of a handle:", type(capture.operations_of(handle)[0]).__module__)
        handle.wait()
    blocks = [batch(os.path.join(sys.argv[1], str(number))) for number in range(6)]
    left = (blocks[-1] - blocks[2]) / 3
    print("blocks left by %d operations: %.1f" % (2 * COUNT, left))
    dist.destroy_process_group()
    return 1 if left > 2 * COUNT / 10 else 0


sys.exit(main())
