"""Every collective that is recorded, with the group said in every way: collectives.py STORE, two spawned
ranks. What torch's version lacks is left out; the values are asserted, so that recording changes nothing."""
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

RANKS = 2
IS_NEW = hasattr(torch.ops._c10d_functional, "all_reduce") if torch.__version__ > "2.3" else False


def plain(rank):
    pair = torch.tensor([rank + 1.0, 2.0])
    dist.all_reduce(pair)
    assert pair.tolist() == [3.0, 4.0]
    rows = [torch.zeros(2) for _ in range(RANKS)]
    dist.all_gather(rows, torch.tensor([rank + 0.5, -0.0]))
    assert [str(one.tolist()) for one in rows] == ["[0.5, -0.0]", "[1.5, -0.0]"]
    dist.all_gather(rows, torch.tensor([float("nan"), rank]), async_op=True).wait()
    three = torch.full((3,), float(rank))
    dist.broadcast(three, 1)
    assert three.tolist() == [1.0, 1.0, 1.0]
    dist.reduce(three, 0)
    rows = [torch.zeros(2, dtype=torch.int64) for _ in range(RANKS)] if rank == 0 else None
    dist.gather(torch.tensor([rank, 5]), rows, 0)
    assert rank or rows[1].tolist() == [1, 5]
    objects = [None] * RANKS
    dist.all_gather_object(objects, {"rank": rank})
    assert objects[1] == {"rank": 1}
    many = [torch.tensor([float(rank)]), torch.tensor([1.0, 2.0])]
    dist.all_reduce_coalesced(many)
    assert many[1].tolist() == [2.0, 4.0]
    for dtype in (torch.int8, torch.int32, torch.int64, torch.float64, torch.float16):
        dist.all_reduce(torch.tensor([rank, 3]).to(dtype), dist.ReduceOp.MAX)
    sparse = torch.tensor([rank, 0.0, 1.0]).to_sparse()  # left out, with a line
    dist.all_reduce(sparse)
    assert sparse.to_dense().tolist() == [1.0, 0.0, 2.0]
    if IS_NEW:  # gloo had no bytes of truth before
        rows = [torch.zeros(1, dtype=torch.bool) for _ in range(RANKS)]
        dist.all_gather(rows, torch.tensor([rank > 0]))


def groups(rank):
    both, mine = dist.new_group([0, 1]), [dist.new_group([0]), dist.new_group([1])][rank]
    dist.all_reduce(torch.ones(3), group=both)
    dist.all_reduce(torch.ones(3), group=mine)


def late(rank):
    """Nobody is told before a late rank comes: this shows on clocks that are compared."""
    for one in range(RANKS):
        for call in (dist.all_reduce, lambda tensor: dist.all_reduce(tensor, async_op=True).wait(),
                     lambda tensor: dist.broadcast(tensor, 0), lambda tensor: dist.reduce(tensor, 0)):
            if rank == one:
                time.sleep(0.02)
            call(torch.ones(2))


def into_tensors(rank):
    out = torch.zeros(2 * RANKS)
    dist.all_gather_into_tensor(out, torch.tensor([1.0 * rank, 9.0]))
    assert out.tolist() == [0.0, 9.0, 1.0, 9.0]
    dist.all_gather_into_tensor(torch.zeros(2000), torch.full((1000,), 1.0 * rank))
    out = torch.zeros(2)
    dist.reduce_scatter_tensor(out, torch.arange(4.0) + rank)
    assert out.tolist() == ([1.0, 3.0] if rank == 0 else [5.0, 7.0])
    dist.reduce_scatter_tensor(torch.zeros(1000), torch.ones(2000) * rank)
    mask = torch.full((3,), rank > 0)
    dist.broadcast(mask, 1)
    assert mask.all()


def coalesced(rank):
    tensors = [torch.full((2,), float(rank)) for _ in range(3)]
    with dist.distributed_c10d._coalescing_manager():
        for one in tensors:
            dist.all_reduce(one)
    assert tensors[2].tolist() == [1.0, 1.0]
    with dist.distributed_c10d._coalescing_manager(async_ops=True) as manager:
        for one in tensors:
            dist.all_reduce(one)
    manager.wait()
    assert tensors[0].tolist() == [2.0, 2.0]


def functional(rank):
    import torch.distributed._functional_collectives as funcol
    from torch.distributed.device_mesh import init_device_mesh
    mesh = init_device_mesh("cpu", (RANKS,), mesh_dim_names=("dp",))
    mine = torch.tensor([rank + 1.0, 4.0])
    for group in (dist.group.WORLD, mesh, (mesh, 0), dist.group.WORLD.group_name, list(range(RANKS))):
        made = funcol.all_reduce(mine, reduceOp="sum", group=group)  # as torchtitan calls it
        assert (made * 1).tolist() == [3.0, 8.0]
    assert funcol.all_gather_tensor(mine, 0, mesh).tolist() == [1.0, 4.0, 2.0, 4.0]
    assert (funcol.reduce_scatter_tensor(torch.ones(4), "sum", 0, mesh) + 1).tolist() == [3.0, 3.0]
    assert [(one + 1).tolist() for one in funcol.all_reduce_coalesced([mine, mine], "sum", mesh)]
    assert (funcol.broadcast(mine, 1, mesh) + 1).tolist() == [3.0, 5.0]
    assert funcol.wait_tensor(torch.ops._c10d_functional.all_reduce(mine, "max", mesh.get_group().group_name)
                              ).tolist() == [2.0, 4.0]


def sharded(rank):
    """FSDP2 and DTensor on gloo: parameters gathered, gradients scattered."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    mesh = init_device_mesh("cpu", (RANKS,))
    torch.manual_seed(0)
    model = fully_shard(torch.nn.Linear(8, 8), mesh=mesh)
    for _ in range(2):
        model(torch.ones(2, 8) * rank).sum().backward()
    assert model.weight.grad.to_local().shape[0] == 4


def ddp(rank):
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 3))
    for _ in range(3):
        model(torch.ones(2, 3) * rank).sum().backward()
    assert model.module.weight.grad is not None


def run(rank, place):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + place, rank=rank, world_size=RANKS)
    for part in [plain, groups, late] + ([into_tensors, coalesced, functional, sharded] if IS_NEW else []) + [ddp]:
        part(rank)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, args=sys.argv[1:2], nprocs=RANKS)
