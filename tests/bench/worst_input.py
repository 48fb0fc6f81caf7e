#!/usr/bin/env python3
"""Histories that ask the most of `alar check` for their size, one kind each.

    tests/bench/worst_input.py NAME N FILE

writes about N operations, reports or names; --list says which kinds there are. Two ranks unless the kind is about
ranks; every all-reduce is a float32 sum of 1 and 1. All of it is one merged file."""

import sys

ONE, TWO = '"3f800000"', '"40000000"'


def issue(rank, op, more=""):
    return f'{{"ev":"issue","rank":{rank},"op":"{op}","red":"sum","dtype":"f32","n":1,"in":[{ONE}]{more}}}'


def done(rank, op):
    return f'{{"ev":"done","rank":{rank},"op":"{op}","out":[{TWO}]}}'


def report(rank, metric, step, more=""):
    return f'{{"ev":"report","rank":{rank},"metric":"{metric}","step":{step},"loss":1{more}}}'


def each(numbers, *makers):
    """For each number what every maker says of it, for both ranks in turn."""
    return [make(rank, k) for k in numbers for make in makers for rank in (0, 1)]


def pending(n):
    return (each(range(n), lambda r, k: issue(r, f"world/{k}", f',"buf":"b{k}"')) +
            each(range(n), lambda r, k: done(r, f"world/{k}")))


def newest_first(n):
    return (each(range(n), lambda r, k: issue(r, f"world/{k}", f',"buf":"b{k}"')) +
            each(reversed(range(n)), lambda r, k: done(r, f"world/{k}")))


def slices(n):
    """Pending on slices of one buffer, which are read one by one once they are done."""
    return (each(range(n), lambda r, k: issue(r, f"world/{k}", f',"buf":"all","at":{k}')) +
            each(range(n), lambda r, k: done(r, f"world/{k}")) +
            each(range(n), lambda r, k: f'{{"ev":"read","rank":{r},"buf":"all","at":{k},"n":1}}'))


def rank_by_rank(n):
    """All lines of a rank before those of the other; one buffer, read and written after each operation."""
    def lines(rank):
        for k in range(n):
            yield issue(rank, f"world/{k}", ',"buf":"b"')
            yield done(rank, f"world/{k}")
            yield f'{{"ev":"read","rank":{rank},"buf":"b"}}'
            yield f'{{"ev":"write","rank":{rank},"buf":"b"}}'
    return [*lines(0), *lines(1)]


def other_starts(n):
    """One rank begins where the other has almost ended."""
    return ([issue(0, f"world/{k}") for k in range(n - 1, 2 * n)] + [issue(1, f"world/{k}") for k in range(2 * n)] +
            each(range(n - 1, 2 * n), lambda r, k: done(r, f"world/{k}")))


def groups(n):
    return each(range(n), lambda r, k: issue(r, f"g{k}/0"), lambda r, k: done(r, f"g{k}/0"))


def metrics(n):
    """A name for each all-reduce, and a report of each."""
    return each(range(n), lambda r, k: issue(r, f"world/{k}", f',"key":"m{k}","step":{k}'),
                lambda r, k: done(r, f"world/{k}"), lambda r, k: report(r, f"m{k}", k))


def metrics_pending(n):
    """The same, one rank ahead of the other by all of them."""
    def lines(rank):
        for k in range(n):
            yield issue(rank, f"world/{k}", f',"key":"m{k}","step":{k}')
            yield done(rank, f"world/{k}")
            yield report(rank, f"m{k}", k)
    return [*lines(0), *lines(1)]


def reports_waiting(n):
    """One metric: each report waits for operations that the other rank has not issued yet."""
    def lines(rank):
        for k in range(n):
            yield issue(rank, f"world/{k}", f',"key":"loss","step":{k}')
            yield done(rank, f"world/{k}")
            yield report(rank, "loss", k)
    return [*lines(0), *lines(1)]


def ops_list(n):
    """One report that names all operations, the last one first."""
    ops = ",".join(str(k) for k in reversed(range(n)))
    return (each(range(n), lambda r, k: issue(r, f"world/{k}", f',"key":"loss","step":{k}'),
                 lambda r, k: done(r, f"world/{k}")) +
            [report(r, "loss", n - 1, f',"first_step":0,"ops":[{ops}]') for r in (0, 1)])


def microbatches(n):
    """One step of many microbatches."""
    return (each(range(n), lambda r, k: issue(r, f"world/{k}", f',"key":"loss","step":1,"mb":{k}'),
                 lambda r, k: done(r, f"world/{k}")) + [report(r, "loss", 1) for r in (0, 1)])


def stream_waits(n):
    """Waits that order a stream, and one sync at the end."""
    return (['{"ev":"contract","wait":"stream"}'] +
            each(range(n), lambda r, k: issue(r, f"world/{k}", f',"stream":{k % 5},"buf":"b{k}"'),
                 lambda r, k: f'{{"ev":"done","rank":{r},"op":"world/{k}"}}') +
            [f'{{"ev":"sync","rank":{r}}}' for r in (0, 1)])


def syncs(n):
    """One rank issues and syncs, and the other comes later."""
    def lines(rank):
        for k in range(n):
            yield issue(rank, f"world/{k}")
            yield f'{{"ev":"sync","rank":{rank}}}'
    return [*lines(0), *lines(1)]


def calls(n):
    """Collective calls of one rank before those of the other."""
    return [f'{{"ev":"call","rank":{rank},"function":"MPI_Barrier","nth":{k}}}' for rank in (0, 1) for k in range(n)]


def ranks(n):
    """One all-reduce of many ranks, each on a clock of its own and with a label of its own."""
    return ([f'{{"ev":"trace","rank":{r},"v":1,"world":{n},"host":"h{r}","boot_id":"b{r}","t0":0}}' for r in range(n)] +
            [issue(r, "world/0", f',"key":"loss","step":{r}') for r in range(n)] +
            [f'{{"ev":"end","rank":{r}}}' for r in range(n)])


def wrong_values(n):
    """Each value is illegal, and the last operation is done first."""
    return (each(range(n), lambda r, k: issue(r, f"world/{k}")) +
            each(reversed(range(n)), lambda r, k: done(r, f"world/{k}").replace("40", "41")))


KINDS = {function.__name__.replace("_", "-"): function for function in (
    pending, newest_first, slices, rank_by_rank, other_starts, groups, metrics, metrics_pending, reports_waiting,
    ops_list, microbatches, stream_waits, syncs, calls, ranks, wrong_values)}


def write(name, count, path):
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(KINDS[name](count)) + "\n")


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(KINDS))
    elif len(sys.argv) == 4 and sys.argv[1] in KINDS:
        write(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    else:
        sys.exit("usage: worst_input.py NAME N FILE | --list")


if __name__ == "__main__":
    main()
