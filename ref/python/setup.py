"""Builds the program and the engine with the Makefile of this tree, and packs them with the Python."""
import os
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
MADE = ("alar", "libalar.so")  # what is packed, as the Makefile names it


class Build(build_py):
    def run(self):
        super().run()
        build = os.environ.get("ALAR_WHEEL_BUILD") or os.path.join(TOP, "build", "wheel")
        command = ["make", "-C", TOP, "-j%d" % (os.cpu_count() or 1), "BUILD=" + build, "python-programs"]
        try:
            subprocess.run(command, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit("alar: the program can't be built: expected make, gcc and yajl's headers "
                     "(Debian: gcc make libyajl-dev): %s" % error)
        target = os.path.join(self.build_lib, "alar", "bin")
        os.makedirs(target, exist_ok=True)
        for name in MADE:
            shutil.copy2(os.path.join(build, name), target)


class Binary(Distribution):
    """The wheel is this machine's, though no module is compiled."""

    def has_ext_modules(self):
        return True


try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel


class AnyPython(bdist_wheel):
    """One wheel for all Pythons: nothing in it is linked to one."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": Build, "bdist_wheel": AnyPython}, distclass=Binary)
