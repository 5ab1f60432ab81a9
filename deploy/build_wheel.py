#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel of the Python package with the setuptools and wheel of the Python that runs it: no network, no pip.

Usage: build_wheel.py PACKAGE_FOLDER WHEEL [DEPFILE]    WHEEL has the name that the package's version asks for
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv.pop()))"
LEFT_OVER = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")  # of earlier builds and runs


def build(package, folder):
    """The name of the wheel, which is put into the folder."""
    with tempfile.TemporaryDirectory() as copy:
        source = shutil.copytree(package, os.path.join(copy, "source"), ignore=LEFT_OVER)  # setuptools builds beside the source
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", BUILD, folder], cwd=source, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"build_wheel.py: {package}: no wheel was built\n{done.stdout}{done.stderr}")
    return done.stdout.split()[-1]


def main():
    package, (folder, wanted) = os.path.abspath(sys.argv[1]), os.path.split(os.path.abspath(sys.argv[2]))
    name = build(package, folder)
    if name != wanted:
        sys.exit(f"build_wheel.py: {package}: the wheel is {name}, expected {wanted}: meson.build and shoal/__init__.py have different versions")
    if len(sys.argv) > 3:
        sources = [os.path.join(package, "pyproject.toml"), *glob.glob(os.path.join(package, "shoal", "*.py"))]
        with open(sys.argv[3], "w", encoding="utf-8") as f:
            f.write(f"{sys.argv[2]}: {' '.join(source.replace(' ', chr(92) + ' ') for source in sources)}\n")


if __name__ == "__main__":
    main()
