"""The command `alar` of the installed package: the program itself, and what is written in Python."""
import os
import sys

PYTHON = {"import": "alar.flight"}  # subcommands that are modules, with a main(arguments)


def program():
    """Path of the alar program: the package's own, else what $ALAR names, else the one on the PATH."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "alar")
    if os.path.exists(own):
        return own
    return os.environ.get("ALAR") or "alar"


def main():
    if len(sys.argv) > 1 and sys.argv[1] in PYTHON:
        import importlib
        return importlib.import_module(PYTHON[sys.argv[1]]).main(sys.argv[2:])
    path = program()
    try:
        os.execvp(path, ["alar"] + sys.argv[1:])
    except OSError as error:
        print("alar: %s: expected the program alar: %s" % (path, error.strerror), file=sys.stderr)
        return 4
