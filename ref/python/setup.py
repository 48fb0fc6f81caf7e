"""Builds the program, the engine and the hot part of the recorder with the Makefile of this tree, and packs them with
the Python."""
import os
import shutil
import subprocess
import sys
import sysconfig

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
MADE = ("alar", "libalar.so")  # what is packed, as the Makefile names it
NATIVE = "_alar_torch.abi3.so"


class Build(build_py):
    def run(self):
        super().run()
        build = os.environ.get("ALAR_WHEEL_BUILD") or os.path.join(TOP, "build", "wheel")
        command = ["make", "-C", TOP, "-j%d" % (os.cpu_count() or 1), "BUILD=" + build]
        try:
            subprocess.run(command + ["python-programs"], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit("alar: the program can't be built: expected make, gcc and yajl's headers "
                     "(Debian: gcc make libyajl-dev): %s" % error)
        target = os.path.join(self.build_lib, "alar", "bin")
        os.makedirs(target, exist_ok=True)
        for name in MADE:
            shutil.copy2(os.path.join(build, name), target)
        self.pack_native(command, build)

    def pack_native(self, command, build):
        """Where this Python has its headers; without it the recorder does all in Python."""
        headers = sysconfig.get_path("include")
        if sys.version_info < (3, 10) or not os.path.exists(os.path.join(headers, "Python.h")):
            print("alar: no Python.h of 3.10 or later in %s: the recorder will be Python alone" % headers)
        elif subprocess.run(command + ["PYTHON_INCLUDE=" + headers, "python-native"], check=False).returncode == 0:
            shutil.copy2(os.path.join(build, "python", NATIVE), self.build_lib)


class Binary(Distribution):
    """The wheel is this machine's."""

    def has_ext_modules(self):
        return True


try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel


class AnyPython(bdist_wheel):
    """One wheel for all Pythons: the module in it is of the stable interface, and may be missing."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": Build, "bdist_wheel": AnyPython}, distclass=Binary)
