# SPDX-License-Identifier: Apache-2.0
"""What scripts of scenarios share: each scenario is a function, with services of its own in folders of its own.

Such a script is called with the program shoald first, and ends with the names of scenarios, where not all of them are wanted.
"""
import os
import shutil
import sys
import tempfile
import time

from fake import Fake

SHOALD = sys.argv[1]
ROOT = tempfile.mkdtemp(prefix="shoald-")


def service(name, *options, **rules):
    """A service with a fake worker, in a folder of that name."""
    return Fake(SHOALD, os.path.join(ROOT, name), options, **rules)


def run(scenarios, wanted):
    """Each of them, or those wanted by name; the first that fails ends the script and leaves its folders."""
    os.chmod(ROOT, 0o755)  # other users' children reach their sockets
    for scenario in scenarios:
        if wanted and scenario.__name__ not in wanted:
            continue
        begin = time.monotonic()
        scenario()
        print(f"{scenario.__name__}: ok, {time.monotonic() - begin:.1f} s", flush=True)
    shutil.rmtree(ROOT)
