#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package installs from the tree with what Debian has and no network, works from there, and is typed: mypy --strict
(where it is installed) finds nothing in it, nor in the examples that use it.

Usage: python_install.py SOURCE_ROOT
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(sys.argv[1])
WANTED = {"__init__.py", "campaigns.py", "service.py", "results.py", "py.typed"}


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100, **more)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def has(python, *modules):
    code = "; ".join(f"import {module}" for module in modules)
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def check_types(target):
    mypy = shutil.which("mypy")
    if not mypy:
        print("types: skipped, no mypy")
        return
    config = os.path.join(ROOT, "client/python/pyproject.toml")
    examples = glob.glob(os.path.join(ROOT, "examples/python/*.py"))
    print(run(mypy, "--config-file", config, "--cache-dir", os.path.join(target, "cache"), "--ignore-missing-imports",
              os.path.join(target, "shoal"), *examples, env={**os.environ, "MYPYPATH": target}).strip())


def main():
    pythons = [python for python in ("/usr/bin/python3", sys.executable) if has(python, "setuptools", "wheel", "pip")]
    if not pythons:
        print("skipped: no Python here has pip, setuptools and wheel (python3-pip, python3-setuptools, python3-wheel)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
        shutil.copytree(os.path.join(ROOT, "client/python"), source)  # setuptools builds beside it
        run(pythons[0], "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-index", "--no-deps", "--target", target, source,
            env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"})
        missing = WANTED - set(os.listdir(os.path.join(target, "shoal")))
        if missing:
            sys.exit(f"not installed: {missing}")
        said = run(pythons[0], "-I", "-c", f"import sys; sys.path.insert(0, {target!r}); import shoal; "
                   "print(shoal.__file__, shoal.Service('/nowhere').socket, 'pandas' in sys.modules)").split()
        if said != [os.path.join(target, "shoal/__init__.py"), "/nowhere", "False"]:
            sys.exit(f"the installed package says {said}")
        check_types(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
