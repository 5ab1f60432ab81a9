#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package installs with what Debian has and no network, from the tree and from its wheel, works from there, and is typed:
mypy --strict (where it is installed) finds nothing in it, nor in the examples that use it.

Usage: python_install.py SOURCE_ROOT
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

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


def install(python, what, target):
    """Into a folder, from which the package then works."""
    run(python, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-index", "--no-deps", "--target", target, what,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"})
    missing = WANTED - set(os.listdir(os.path.join(target, "shoal")))
    if missing:
        sys.exit(f"not installed: {missing}")
    said = run(python, "-I", "-c", f"import sys; sys.path.insert(0, {target!r}); import shoal; "
               "print(shoal.__file__, shoal.Service('/nowhere').socket, 'pandas' in sys.modules)").split()
    if said != [os.path.join(target, "shoal/__init__.py"), "/nowhere", "False"]:
        sys.exit(f"the installed package says {said}")


def check_wheel(python, folder):
    """It holds the package and nothing that earlier builds left, and is named by the package's version."""
    source, script = os.path.join(folder, "used"), os.path.join(ROOT, "deploy/build_wheel.py")
    shutil.copytree(os.path.join(ROOT, "client/python"), source)
    os.makedirs(os.path.join(source, "build/lib/shoal"))
    with open(os.path.join(source, "build/lib/shoal/stale.py"), "w", encoding="utf-8"):
        pass
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as f:
        version = re.search(r"version: '([^']+)'", f.read())[1]
    wheel, depfile = os.path.join(folder, f"shoal-{version}-py3-none-any.whl"), os.path.join(folder, "wheel.d")
    run(python, script, source, wheel, depfile)
    modules = {os.path.relpath(path, source) for path in glob.glob(os.path.join(source, "shoal/*.py"))}
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    if held != modules | {"shoal/py.typed"}:
        sys.exit(f"the wheel holds {held}")
    with open(depfile, encoding="utf-8") as f:
        told = f.read()
    if any(f"{source}/{module}" not in told for module in modules):
        sys.exit(f"the depfile says {told}")
    install(python, wheel, os.path.join(folder, "from-wheel"))
    wrong = subprocess.run([python, script, source, os.path.join(folder, "shoal-9.9-py3-none-any.whl")], capture_output=True, text=True, check=False)
    if wrong.returncode != 1 or "expected shoal-9.9-py3-none-any.whl" not in wrong.stderr:
        sys.exit(f"another version: {wrong}")


def main():
    pythons = [python for python in ("/usr/bin/python3", sys.executable) if has(python, "setuptools", "wheel", "pip")]
    if not pythons:
        print("skipped: no Python here has pip, setuptools and wheel (python3-pip, python3-setuptools, python3-wheel)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
        shutil.copytree(os.path.join(ROOT, "client/python"), source)  # setuptools builds beside it
        install(pythons[0], source, target)
        check_wheel(pythons[0], folder)
        check_types(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
