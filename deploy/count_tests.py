#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints 'N passed, N failed, N skipped' from a meson testlog.json."""
import json
import sys


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with open(sys.argv[1], encoding="utf-8") as log:
        for line in log:
            result = json.loads(line)["result"]
            kind = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}.get(result, "failed")
            counts[kind] += 1
    print(", ".join(f"{n} {kind}" for kind, n in counts.items()))


if __name__ == "__main__":
    main()
