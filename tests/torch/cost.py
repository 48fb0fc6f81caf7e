"""What recording costs: cost.py DIR STORE, one rank; JSON on standard output. Processor time of the calling
thread an operation, bare and recorded by turns in one process, so that what else the machine does counts for
none of them; beside them the floor: the two methods behind a Python function each that keeps the time and the
handle, nothing else. Then the parts that an operation's recording is made of, and what the background thread spends.
ALAR_NATIVE=0: what it costs without the compiled part, and the parts in Python."""
import json
import os
import sys
import time
import timeit

import torch
import torch.distributed as dist

import alar.torch
from alar.torch import caller, calls, capture, native, pending, values, writer

ROUNDS, COUNT = int(os.environ.get("BENCH_ROUNDS") or 25), 300
MODES = {"bare": None, "recorded": {}, "without values": {"values": False}}
if native.part:
    MODES.update({"with watch": {"watch": True}, "floor": "wrapped"})


def blocking(tensor):
    for _ in range(COUNT):
        dist.all_reduce(tensor)


def asynchronous(tensor):
    for _ in range(COUNT):
        dist.all_reduce(tensor, async_op=True).wait()


def looked_at(tensor):
    """The same, and the result is taken out."""
    for _ in range(COUNT):
        dist.all_reduce(tensor, async_op=True).wait()
        tensor[0].item()


def others(tensor):
    """Operators that have nothing to do with a reduction."""
    for _ in range(COUNT):
        tensor + 1


class Wrapped:
    """What any recorder in Python costs at least."""
    METHODS = (dist.ProcessGroup, "allreduce"), (dist.distributed_c10d.Work, "wait")

    def __init__(self):
        self.before, self.kept = [(owner, name, vars(owner)[name]) for owner, name in self.METHODS], []
        for owner, name in self.METHODS:
            setattr(owner, name, self.method(getattr(owner, name), self.kept.append))

    @staticmethod
    def method(original, keep):
        def method(self, *arguments, **named):
            keep((self, time.monotonic_ns()))
            return original(self, *arguments, **named)
        return method

    def stop(self):
        for owner, name, original in self.before:
            setattr(owner, name, original)


PROGRAMS = {"blocking": blocking, "issue and wait": asynchronous, "issue, wait, item()": looked_at,
            "another operator": others}


def spent(program):
    """Microseconds of this thread an operation."""
    tensor = torch.ones(2)
    start = time.thread_time_ns()
    program(tensor)
    return (time.thread_time_ns() - start) / COUNT / 1e3


def wholes(directory):
    """{program: {mode: [microseconds]}}"""
    found = {name: {mode: [] for mode in MODES} for name in PROGRAMS}
    for number in range(ROUNDS):
        for mode, settings in MODES.items():
            recorder = None if settings is None else Wrapped() if settings == "wrapped" else alar.torch.record(
                os.path.join(directory, "%s-%d" % (mode.replace(" ", "-"), number)), **settings).start()
            for name, program in PROGRAMS.items():
                time.sleep(1.5 * writer.FLUSH_SECONDS)  # all is written; caches cool down for all modes alike
                found[name][mode].append(spent(program))
            if recorder is not None:
                recorder.stop()
    return found


STAND_IN = """
def blocking(call, wait, group, tensor, options, async_op=False):
    wait(call(group, [tensor], options))


def asynchronous(call, wait, group, tensor, options, async_op=True):
    return call(group, [tensor], options)
"""


class Handle:
    """What a stand-in for torch's method returns."""


def timed(call, queue):
    """Microseconds, the least of many rounds; the records are dropped in between."""
    taken = []
    for _ in range(50):
        taken.append(timeit.timeit(call, number=200, timer=time.thread_time) / 200 * 1e6)
        queue.clear()
    return min(taken) - 0.03  # the call of the lambda itself


def compiled_parts(directory, has_values):
    """What recording costs by itself: two methods that do nothing, called as torch's are from its own file."""
    recorder = alar.torch.record(os.path.join(directory, "parts-%d" % has_values), values=has_values).start()
    tensor, functions, found = torch.ones(2), {"__name__": dist.distributed_c10d.__name__}, {}
    dist.all_reduce(tensor)
    recorder.writer.wake.set()
    time.sleep(2 * writer.FLUSH_SECONDS)  # from here on nobody else writes
    exec(compile(STAND_IN, dist.distributed_c10d.__file__, "exec"), functions)  # as if it stood in that file
    world, queue = dist.distributed_c10d._get_default_group(), recorder.writer.queue
    bare = (lambda group, tensors, options: Handle()), (lambda work: True)
    call = native.method("allreduce", bare[0], capture._method_of("allreduce", bare[0]))
    wait = native.method("wait", bare[1], capture._wait_of("wait", bare[1]))
    for name in ("blocking", "asynchronous"):
        options, function = dist.AllreduceOptions(), functions[name]
        if hasattr(options, "asyncOp"):
            options.asyncOp = name == "asynchronous"

        def whole(call, wait):
            work = function(call, wait, world, tensor, options)
            if work is not None:
                wait(work)
        found["%s, %s values" % (name, "with" if has_values else "without")] = timed(
            lambda: whole(call, wait), queue) - timed(lambda: whole(*bare), queue)
    recorder.stop()
    return found


def answers():
    """What torch takes for its answers to what a record asks."""
    tensor, options = torch.ones(2), dist.AllreduceOptions()
    asked = {"size": lambda: tensor.numel(), "address": lambda: tensor.data_ptr(), "dtype": lambda: tensor.dtype,
             "counter of writes": lambda: tensor._version}
    if hasattr(options, "asyncOp"):
        asked["is it asynchronous"] = lambda: options.asyncOp
    return {"torch's answer, " + name: timed(call, []) for name, call in asked.items()}


def python_parts(directory):
    """{part: microseconds}, the least of many rounds."""
    recorder = alar.torch.record(os.path.join(directory, "parts")).start()
    tensor, options = torch.ones(2), dist.AllreduceOptions()
    dist.all_reduce(tensor)
    recorder.writer.wake.set()
    time.sleep(2 * writer.FLUSH_SECONDS)  # from here on nobody else writes
    world = dist.distributed_c10d._get_default_group()
    op, frame = calls.METHODS["allreduce"]([tensor], options)[0], sys._getframe()
    recorder.issue(world, [op], False, None)
    handle = dist.all_reduce(torch.ones(2), async_op=True)
    queue, found = recorder.writer.queue, {}

    def finish():
        op.targets = (tensor,)
        recorder.finish(op)

    def watch():
        pending.put(tensor, op)
        pending.take(tensor)

    for name, call in {
            "its record: kind, tensors, reduction": lambda: calls.METHODS["allreduce"]([tensor], options),
            "whose line": lambda: caller.caller_of(frame),
            "does it block": lambda: capture.is_blocking(frame),
            "numbered, measured, copied": lambda: recorder.issue(world, [op], False, None),
            "of that, the copy": lambda: values.bytes_at(op.address, op.flat),
            "the tensor's class, there and back": watch,
            "a handle's operations": lambda: capture._attach(handle, []),
            "the end, copied": finish}.items():
        found[name] = timed(call, queue)
    recorder.stop()
    return found


def written(directory):
    """What the background thread spends an operation."""
    recorder, found = alar.torch.record(os.path.join(directory, "written")).start(), {}
    dist.all_reduce(torch.ones(2))
    recorder.writer.wake.set()
    time.sleep(2 * writer.FLUSH_SECONDS)
    for name, program in (("written behind it, blocking", blocking), ("asynchronous", asynchronous)):
        taken = []
        for _ in range(10):
            program(torch.ones(2))
            start = time.thread_time_ns()
            recorder.writer._drain()
            taken.append((time.thread_time_ns() - start) / COUNT / 1e3)
        found[name] = min(taken)
    recorder.stop()
    return found


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=0, world_size=1)
    parts = {**compiled_parts(sys.argv[1], True), **compiled_parts(sys.argv[1], False),
             **answers()} if native.part else python_parts(sys.argv[1])
    parts.update(written(sys.argv[1]))
    print(json.dumps({"torch": torch.__version__, "rounds": ROUNDS, "count": COUNT,
                      "compiled": native.part is not None, "wholes": wholes(sys.argv[1]), "parts": parts}))


main()
