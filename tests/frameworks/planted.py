"""Recordings made by hand, of nine steps with a line every third and an all-reduce each step: readers.py must say what was put in."""
import types

import readers

STEPS, EVERY = 9, 3


def run(delay, readers_are=(0, 1), is_early=False):
    """Two ranks. `delay`: steps from a line to the reads of its steps; None: each is read in its step. Times are hundreds a step."""
    recorded = {rank: [{"ev": "trace", "t0": 0, "t": 0}] for rank in (0, 1)}
    for rank, records in recorded.items():
        events = []
        for step in range(1, STEPS + 1):
            line = -(-step // EVERY) * EVERY
            at = 100 * step + 50 if delay is None else min(100 * (line + delay) + 50, 100 * STEPS + 60)
            events.append((100 * step + 10, {"ev": "issue", "op": "world/%d" % step, "dtype": "f32", "sync": False}))
            events.append((at + is_early, {"ev": "done", "op": "world/%d" % step}))
            if rank in readers_are:
                events.append((at + (not is_early), {"ev": "read", "op": "world/%d" % step}))
        records += [dict(event, t=t) for t, event in sorted(events, key=lambda one: one[0])]
    return types.SimpleNamespace(
        parts=[[{"ns": 100 * step, "step": step} for step in range(1, STEPS + 1)] for _ in recorded],
        lines=[{"step": step} for step in range(EVERY, STEPS + 1, EVERY)], recorded=lambda rank: iter(recorded[rank]))


def apart():
    """One in which rank 1 contributes nothing, and has its steps later than rank 0."""
    made = run(None)
    recorded = [list(made.recorded(rank)) for rank in (0, 1)]
    recorded[1][0]["t0"] = 60
    return types.SimpleNamespace(parts=[made.parts[0], []], lines=made.lines, recorded=lambda rank: iter(recorded[rank]))


for made, expected in (
        (apart(), "all ranks, in its step, after the wait"), (run(None), "all ranks, in its step, after the wait"), (run(0), "all ranks, at the line, after the wait"),
        (run(0, is_early=True), "all ranks, at the line, before the wait"), (run(0, (1,)), "rank 1, at the line, after the wait"),
        (run(1), "all ranks, 1 step after the line, after the wait"), (run(2), "all ranks, 2 steps after the line, after the wait"),
        (run(0, ()), "nobody")):
    found = readers.words(made)
    assert found == expected, "expected %r, found %r" % (expected, found)
