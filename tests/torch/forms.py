"""Ways to look at a result that is still to come, one history each: forms.py DIR STORE (two spawned ranks).

Rank 1 joins only when rank 0 has looked, so that every look is early. What is no look must pass.
"""
import copy
import os
import sys

import numpy
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import alar.torch

READS = {
    "item": lambda t: t[0].item(),
    "tolist": lambda t: t.tolist(),
    "float": lambda t: float(t[0]),
    "numpy": lambda t: t.numpy().copy(),
    "asarray": lambda t: numpy.asarray(t)[0],
    "print": lambda t: str(t),
    "format": lambda t: f"{t[0]:.3f}",
    "ratio-item": lambda t: (t[0] / t[1]).item(),
    "clone": lambda t: t.clone().tolist(),
    "cpu": lambda t: t.cpu().tolist(),
    "divided": lambda t: t / 2,
    "divides": lambda t: torch.ones(3) / t,
    "double": lambda t: t.double(),
    "stack": lambda t: torch.stack([t, t]),
    "sum-item": lambda t: t.sum().item(),
    "mean-item": lambda t: t.mean().item(),
    "copied": lambda t: torch.empty(3).copy_(t),
    "isnan": lambda t: torch.isnan(t).any().item(),
    "compared": lambda t: bool(t[0] > 2),
    "deepcopy": lambda t: copy.deepcopy(t),
    "detach-item": lambda t: t.detach()[0].item(),
    "data-item": lambda t: t.data[0].item(),
    "foreach": lambda t: torch._foreach_mul([t], 2),
    "unpacked": lambda t: [one.item() for one in t],
    "gathered": lambda t: dist.all_reduce(t.clone(), group=ALONE),
}
WRITES = {
    "div_": lambda t: t.div_(2),
    "setitem": lambda t: t.__setitem__(0, 7.0),
    "iadd": lambda t: t.__iadd__(1),
    "zero": lambda t: t.zero_(),
    "view-write": lambda t: t[1:].fill_(3.0),
    "out": lambda t: torch.add(torch.ones(3), 1, out=t),
}
NOTHING = {
    "shape": lambda t: (t.shape, t.numel(), t.dtype, t.device, len(t), t.is_contiguous(), t.data_ptr()),
    "views": lambda t: (t[1:], t.view(3, 1), t.detach(), t.reshape(1, 3), t.t()),
    "likes": lambda t: (torch.empty_like(t), torch.zeros_like(t), t.new_zeros(2)),
    "kinds": lambda t: (isinstance(t, torch.Tensor), type(t) == torch.Tensor, type(t).__name__ == "Tensor"),
}
ALIASES = {
    "alias": lambda t: t[1].clone(),
    "alias-write": lambda t: t[1].add_(1),
}
ALONE = None


def form(name, look, rank, store, directory, with_alias=False):
    """One all-reduce; rank 0 looks while rank 1 has yet to join."""
    tensor = torch.tensor([3.0 + rank, 2.0, 1.0])
    alias = tensor[:2]
    with alar.torch.record(os.path.join(directory, name), watch=with_alias):
        if rank == 1:
            store.wait(["looked " + name])
        handle = dist.all_reduce(tensor, async_op=True)
        assert isinstance(handle, dist.distributed_c10d.Work), type(handle)
        if rank == 0:
            seen = look(alias if with_alias else tensor)
            assert name not in READS or not isinstance(seen, torch.Tensor) or (
                type(seen) is torch.Tensor), name
            store.set("looked " + name, "1")
        handle.wait()
        if name not in WRITES and name != "alias-write":
            assert tensor.tolist() == [7.0, 4.0, 2.0], (name, tensor)
        tensor.tolist()
        assert type(tensor) is torch.Tensor and not tensor.__dict__, name
        dist.barrier()


def run(rank, directory, place):
    global ALONE
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + place, rank=rank, world_size=2)
    groups = [dist.new_group([0]), dist.new_group([1])]
    ALONE = groups[rank]
    store = dist.distributed_c10d._get_default_store()
    for forms in (READS, WRITES, NOTHING):
        for name, look in forms.items():
            form(name, look, rank, store, directory)
    for name, look in ALIASES.items():
        form(name, look, rank, store, directory, with_alias=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, args=sys.argv[1:3], nprocs=2)
    print("reads", *READS, "alias")
    print("writes", *WRITES, "alias-write")
    print("nothing", *NOTHING)
