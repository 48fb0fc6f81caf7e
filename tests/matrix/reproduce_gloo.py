"""One rank contributes NaN to a maximum. Exit code 1 when a rank gets a number."""
import os, tempfile, torch, torch.distributed as dist, torch.multiprocessing as mp

def rank(r, n, store, bad):
    dist.init_process_group("gloo", init_method="file://" + store, rank=r, world_size=n)
    for k in range(n):
        x = torch.tensor([float("nan") if r == k else r + 1.0])
        dist.all_reduce(x, dist.ReduceOp.MAX)
        print("NaN on rank %d: rank %d gets %g" % (k, r, x), flush=True)
        bad.value += not bool(torch.isnan(x))
    os._exit(0)

if __name__ == "__main__":
    bad = mp.get_context("fork").Value("i", 0)
    store = os.path.join(tempfile.mkdtemp(), "store")
    ranks = [mp.get_context("fork").Process(target=rank, args=(r, 4, store, bad)) for r in range(4)]
    [r.start() for r in ranks], [r.join() for r in ranks]
    os._exit(bad.value > 0)
