#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds functions and data that a file exports and no other file uses, tests among them: they are static, or dead.

Usage: check_exported.py SOURCE_ROOT BUILD_ROOT
"""
import os
import shutil
import sys

from check_calls import TOPS, built, symbols


def problems_of(defined, used):
    """Names with one underscore or more in front are the compiler's."""
    users = {}
    for source, names in used.items():
        for name in names:
            users.setdefault(name, set()).add(source)
    return sorted(f"{owner}: exports {name}, which no other file uses" for name, owners in defined.items()
                  for owner in owners if owner.split("/")[0] in TOPS and not users.get(name, set()) - owners
                  and name != "main" and not name.startswith("_"))


def self_test():
    defined = {"own": {"engine/a.c"}, "other": {"engine/a.c"}, "of_test": {"engine/b.c"}, "main": {"client/main.c"},
               "test": {"tests/t.c"}, "dead": {"daemon/d.c"}}
    used = {"engine/a.c": {"own"}, "engine/b.c": {"other"}, "tests/t.c": {"of_test"}}
    assert problems_of(defined, used) == ["daemon/d.c: exports dead, which no other file uses",
                                          "engine/a.c: exports own, which no other file uses"]


def main():
    root, build = os.path.realpath(sys.argv[1]), sys.argv[2]
    if not shutil.which("nm"):
        print("skipped: nm is not installed")
        return 77
    self_test()
    defined, used = symbols(built(root, build))
    found = problems_of(defined, used)
    print("\n".join(found))
    print(f"{len(defined)} names, {len(found)} problems")
    return 1 if found or len(defined) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
