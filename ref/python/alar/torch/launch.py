"""Runs a script with a recorder in it, and in the processes that it spawns."""
import argparse
import multiprocessing.process
import os
import runpy
import sys

from .recorder import record, recording
from .writer import warn

EPILOG = """examples:
  python3 -m alar.torch -o rec train.py --steps 10        a script; what it spawns is recorded too
  torchrun --nproc_per_node 4 -m alar.torch -o rec train.py
  python3 -m alar.torch -o rec -m package.train           a module
  alar check rec                                          the verdict

exit codes: the program's own; 3 when it could not be started, or nothing was recorded and it ended well.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(3, "alar.torch: %s: expected -o DIR script.py [ARGUMENT]..., see --help\n" % message)


def _parser():
    parser = _Parser(
        prog="python3 -m alar.torch", description="Records the collectives of a torch program.",
        epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", metavar="DIR", required=True, help="where the histories go, one file a rank")
    parser.add_argument("-m", action="store_true", dest="is_module", help="the program is a module")
    parser.add_argument("--last", metavar="N", type=int,
                        help="keep only the last N to 2 N operations of each group")
    parser.add_argument("--no-values", action="store_true",
                        help="keep no elements: order, sizes and waits are judged, values are not")
    parser.add_argument("--watch", action="store_true",
                        help="see reads through aliases too, and first looks at results; every operator "
                             "costs more")
    parser.add_argument("--gradients", action="store_true",
                        help="see what DistributedDataParallel reduces too (torch 2)")
    parser.add_argument("program", help="script, or module with -m")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the program")
    return parser


class _Recorded:
    """What a spawned child runs instead of its target: the same, recorded."""

    def __init__(self, target, directory, settings):
        self.target, self.directory, self.settings = target, directory, settings

    def __call__(self, *arguments, **named):
        if recording() is not None:
            return self.target(*arguments, **named)
        with record(self.directory, **self.settings):
            return self.target(*arguments, **named)


def record_children(directory, settings):
    """Children of multiprocessing that start as new programs take the recorder along; forked ones have it."""
    start = multiprocessing.process.BaseProcess.start

    def recorded_start(self):
        if self._target is not None and getattr(self, "_start_method", None) in ("spawn", "forkserver"):
            self._target = _Recorded(self._target, directory, settings)
        return start(self)

    multiprocessing.process.BaseProcess.start = recorded_start


def _can_start(options):
    """Says what is wrong before the program runs, as far as that can be known."""
    if not options.is_module and not os.path.exists(options.program):
        return "%s: expected a script, found none" % options.program
    rank = os.environ.get("RANK", "")
    if rank.isdigit() and os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0" and not options.last:
        path = os.path.join(options.o, "rank%d.jsonl" % int(rank))
        if os.path.exists(path):
            return "%s: expected a directory without a history, found one" % path
    try:
        os.makedirs(options.o, exist_ok=True)
        return None
    except OSError as error:
        return "%s: expected a directory to write to: %s" % (options.o, error.strerror)


def _run(options):
    sys.argv = [options.program] + options.arguments
    if options.is_module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(options.program, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(options.program)))
        runpy.run_path(options.program, run_name="__main__")


def _was_recorded(directory):
    return any(name.startswith("rank") and name.endswith(".jsonl")
               for _, _, names in os.walk(directory) for name in names)


def main(arguments):
    """Returns the exit code, or raises what the program raised."""
    options = _parser().parse_args(arguments)
    wrong = _can_start(options)
    if wrong:
        warn(wrong)
        return 3
    settings = {"values": not options.no_values, "last": options.last, "watch": options.watch,
                "gradients": options.gradients}
    directory = os.path.abspath(options.o)
    record_children(directory, settings)
    recorder, code = record(directory, **settings), 0
    try:
        with recorder:
            _run(options)
    except SystemExit as end:
        code = end.code
    if code:
        return code
    if recorder.was_refused:
        return 3
    if not _was_recorded(directory):
        warn("%s: no collective was recorded: does the program call torch.distributed, in this process "
             "or in ones that multiprocessing starts?" % options.o)
        return 3
    return 0
