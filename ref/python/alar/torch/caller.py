"""Which line of the program made a call: the first frame outside the packages that only pass it on."""
import sys

# Modules, with all below them, whose frames are not the program's. By the module's name: a program
# may well live in a folder called torch.
PASSED_OVER = frozenset((
    "torch", "alar", "deepspeed", "lightning", "pytorch_lightning", "lightning_fabric", "accelerate",
    "torchmetrics", "contextlib", "functools"))

_is_program = {}  # code object: is it the program's?


def _decide(frame):
    name = frame.f_globals.get("__name__") or ""
    answer = name.partition(".")[0] not in PASSED_OVER
    if len(_is_program) < 100000:
        _is_program[frame.f_code] = answer
    return answer


def caller(depth):
    """File and line of the program, seen from `depth` frames above this one."""
    frame = sys._getframe(depth)
    while frame.f_back is not None:
        known = _is_program.get(frame.f_code)
        if known is None:
            known = _decide(frame)
        if known:
            break
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
