"""Ranks of many runs out of one process, so that what they import is imported once.

    python warm.py MODULE... <RUNS      RUNS: JSON, [{"program", "directory", "ranks", "seconds", "env", "recorder"}]

Prints the exit codes of each run's ranks, [[CODE]]. The ranks are forked, one run after the other; what rank R
prints goes to DIRECTORY/outR and DIRECTORY/errR, what alar.torch records to DIRECTORY/recording; `recorder`: its options,
or null where nothing is recorded.
"""
import importlib
import json
import os
import runpy
import signal
import sys
import traceback


def keep_store():
    """(process, port) of the store at which ranks meet: as under torchrun it is no rank's, so that any may leave first."""
    told, tell = os.pipe()
    keeper = os.fork()
    if keeper == 0:
        from torch.distributed import TCPStore
        store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        os.write(tell, b"%d\n" % store.port)
        while True:
            signal.pause()
    os.close(tell)
    with os.fdopen(told) as file:
        return keeper, int(file.readline())


def become(run, rank, port):
    """The child: does not return."""
    code = 1
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(os.path.join(run["directory"], "%s%d" % (name, rank)), os.O_WRONLY | os.O_CREAT), stream)
    os.environ.update(run["env"], MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(run["ranks"]),
                      LOCAL_WORLD_SIZE=str(run["ranks"]), RANK=str(rank), LOCAL_RANK=str(rank), SCRATCH=run["directory"],
                      TORCHELASTIC_USE_AGENT_STORE="True", TORCHELASTIC_RESTART_COUNT="0")
    signal.alarm(run["seconds"])  # what hangs ends by it, wherever it hangs
    try:
        if run["recorder"] is not None:
            from alar.torch.launch import main
            code = main([*run["recorder"], "-o", os.path.join(run["directory"], "recording"), run["program"]])
        else:
            code = runpy.run_path(run["program"], run_name="__main__") and 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


def codes_of(run):
    (keeper, port), children = keep_store(), []
    for rank in range(run["ranks"]):
        pid = os.fork()
        if pid == 0:
            become(run, rank, port)
        children.append(pid)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    os.kill(keeper, signal.SIGKILL)
    os.waitpid(keeper, 0)
    return codes


if __name__ == "__main__":
    said, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # what packages print when they are imported
    runs = json.load(sys.stdin)
    for name in sys.argv[1:]:
        importlib.import_module(name)
    os.write(said, json.dumps([codes_of(run) for run in runs]).encode())
