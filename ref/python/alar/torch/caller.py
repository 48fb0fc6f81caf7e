"""Which line of the program made a call: the first frame outside the packages that only pass it on."""
import sys

# Modules, with all below them, whose frames are not the program's. By the module's name: a program
# may well live in a folder called torch.
PASSED_OVER = frozenset((
    "torch", "alar", "deepspeed", "lightning", "pytorch_lightning", "lightning_fabric", "accelerate",
    "torchmetrics", "contextlib", "functools"))

_is_program = {}  # name of a module: is it the program's?


def _decide(name):
    answer = str(name).partition(".")[0] not in PASSED_OVER
    if type(name) is str and len(_is_program) < 100000:
        _is_program[name] = answer
    return answer


def caller_of(frame):
    """File and line of the program, from that frame upwards."""
    while True:
        name = frame.f_globals.get("__name__")
        known = _is_program.get(name) if type(name) is str else None
        if known or (known is None and _decide(name)):
            break
        above = frame.f_back
        if above is None:
            break
        frame = above
    return frame.f_code.co_filename, frame.f_lineno


def caller(depth):
    """The same, from `depth` frames above this one."""
    return caller_of(sys._getframe(depth))
