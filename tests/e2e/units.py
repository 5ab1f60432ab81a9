#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The system service's unit is one that systemd takes and calls safe. Skipped where there is no systemd-analyze.

Usage: units.py UNIT
"""
import re
import shutil
import subprocess
import sys

LIMIT = 2.0


def main():
    if not shutil.which("systemd-analyze"):
        print("skipped: systemd-analyze is not installed")
        return 77
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", sys.argv[1]], capture_output=True,
                          text=True, check=False)
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    assert found, f"no score: {done.stdout[-500:]}\n{done.stderr}"
    print(f"exposure {found.group(1)}, below {LIMIT} wanted")
    assert float(found.group(1)) < LIMIT, done.stdout
    # An option that this systemd does not know would be no protection at all.
    for complaint in ("Unknown", "Failed to parse", "Invalid"):
        assert complaint not in done.stderr, done.stderr
    return 0


if __name__ == "__main__":
    sys.exit(main())
