#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the last lines of each test that failed, and 'N passed, N failed, N skipped', from a meson testlog.json."""
import json
import sys

LAST = 20  # lines


def show(test):
    print(f"---- {test['name']}: {test['result']}")
    for stream in ("stdout", "stderr"):
        print("\n".join(test.get(stream, "").splitlines()[-LAST:]))


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with open(sys.argv[1], encoding="utf-8") as log:
        for line in log:
            test = json.loads(line)
            kind = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}.get(test["result"], "failed")
            counts[kind] += 1
            if kind == "failed":
                show(test)
    print(", ".join(f"{n} {kind}" for kind, n in counts.items()))


if __name__ == "__main__":
    main()
