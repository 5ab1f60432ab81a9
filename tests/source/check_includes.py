#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the tree to its include directions, as the READMEs of its folders give them, and to one owner per library.

Usage: check_includes.py SOURCE_ROOT [--self-test]
"""
import fnmatch
import os
import re
import sys

import rooms

# What the files of folders without a README that says it (rooms.py) may include from: those of the tests.
OTHERS_MAY_INCLUDE = ["engine", "graphs", "daemon", "client", "schemas", "tests"]

# Library header -> the only files that may include it (tests aside).
OWNERS = {
    "sqlite3.h": ["daemon/store/*.[ch]"],
    "yaml.h": ["daemon/spec/document/node.c"],
    "ucontext.h": ["daemon/worker/threads/co.c"],
    "zlib.h": ["engine/base/gzip.c", "engine/series/xvg.c"],
    "microhttpd.h": ["daemon/http/*.[ch]", "client/web/web.c"],
    "curl/curl.h": ["client/ask/http.c"],
    "archive.h": ["daemon/archive/*.c"],
    "archive_entry.h": ["daemon/archive/*.c"],
    "nettle/sha2.h": ["daemon/archive/sums.h", "daemon/spec/submission.c"],
    "cuda.h": ["graphs/cuda/*", "engine/cuda/*"],
    "cuda_runtime.h": ["graphs/cuda/*", "engine/cuda/*"],
    "cuda_runtime_api.h": ["graphs/cuda/*", "engine/cuda/*"],
    "cufft.h": ["engine/cuda/*"],
    "kissfft/kissfft.hh": ["engine/cpu/mesh/fft.cc"],
    "kissfft.hh": ["engine/cpu/mesh/fft.cc"],
}
# `shoald` never touches CUDA, the worker never touches SQLite, the engine knows neither service nor network.
FORBIDDEN = {
    "daemon/worker": ["sqlite3.h", "microhttpd.h", "daemon/store/store.h"],
    "engine": ["uv.h", "sqlite3.h", "microhttpd.h", "curl/curl.h"],
    "graphs": ["uv.h", "sqlite3.h", "jansson.h"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = (".c", ".h", ".cu", ".cuh", ".cc", ".def")
TOPS = ("engine", "graphs", "daemon", "client", "tests")


def refused(path, target, known):
    """Why it may not be included; None: it may."""
    folder = os.path.dirname(path)
    if folder in known:
        may = known[folder].may or []
        return None if rooms.allowed(folder, may, target) else f"{folder} may include only {', '.join(may) or 'its own'} (its README)"
    if any(rooms.is_below(target, top) for top in OTHERS_MAY_INCLUDE):
        return None
    return f"may include only {', '.join(OTHERS_MAY_INCLUDE)}"


def problems_of(path, text, known):
    """Every broken rule of one file, as 'path:line: reason'. known: the rooms by folder."""
    found = []
    if "SPDX-License-Identifier: Apache-2.0" not in text[:400] and not path.endswith(".def"):
        found.append(f"{path}:1: no SPDX-License-Identifier line")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        kind, target = match.groups()
        where = f"{path}:{number}: includes {target}"
        if kind == '"' and "/" not in target:
            found.append(f"{where}: project includes are written from the source root")
        elif kind == '"' and refused(path, target, known):
            found.append(f"{where}: {refused(path, target, known)}")
        owners = OWNERS.get(target)
        if owners and not path.startswith("tests/") and not any(fnmatch.fnmatch(path, o) for o in owners):
            found.append(f"{where}: only {', '.join(owners)} may")
        for folder, headers in FORBIDDEN.items():
            if path.startswith(folder + "/") and target in headers:
                found.append(f"{where}: {folder} may not")
    return found


def sources(root):
    for top in TOPS:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith(SOURCES):
                    yield os.path.relpath(os.path.join(folder, name), root)


def self_test():
    spdx = "/* SPDX-License-Identifier: Apache-2.0 */\n"
    known = {folder: rooms.Room(f"May include: {may}.\n") for folder, may in {
        "graphs": "`engine/base`", "engine/base": "nothing", "engine/run": "`graphs`, `engine/base`",
        "engine/cuda/lists": "`engine/cuda/device`, `engine/cuda/kernels.h`", "engine/io/top": "`engine/io`",
        "client": "`client/command`", "client/ask": "`client/command`", "daemon": "`daemon/api`", "daemon/api": "`daemon/http`",
        "daemon/schedule": "`daemon/quota`", "daemon/spec/sections": "`daemon/spec/document`, `daemon/spec/spec.h`",
        "daemon/worker": "`daemon/worker/replica`"}.items()}
    bad = {
        "graphs/a.c": '#include "engine/system/system.h"',
        "engine/base/a.c": '#include "graphs/tape.h"',
        "engine/run/a.c": '#include "daemon/spec/spec.h"',
        "client/a.c": '#include "engine/system/system.h"',
        "client/ask/a.c": '#include "client/show/out.h"',
        "daemon/schedule/a.c": '#include "daemon/store/store.h"',
        "daemon/spec/sections/a.c": '#include "daemon/spec/submission.h"',
        "daemon/a.c": '#include "daemon/worker/replica/replica.h"',
        "daemon/api/api.c": "#include <sqlite3.h>",
        "daemon/worker/a.c": '#include "daemon/store/store.h"',
        "engine/run/b.c": '#include "b.h"',
        "engine/cuda/lists/a.cuh": '#include "engine/cuda/pairs/pairs.h"',
        "engine/cuda/lists/b.cuh": '#include "engine/cuda/nonbonded.h"',
        "engine/io/top/a.c": '#include "engine/io/other/a.h"',
    }
    for path, line in bad.items():
        assert problems_of(path, spdx + line + "\n", known), f"not caught: {path}: {line}"
    assert problems_of("engine/run/c.c", "int x;\n", known), "missing SPDX line not caught"
    good = {
        "engine/run/c.c": '#include "graphs/tape.h"\n#include <math.h>',
        "engine/cuda/lists/c.cuh": '#include "engine/cuda/device/device.cuh"\n#include "engine/cuda/kernels.h"\n'
                                   '#include "engine/cuda/lists/layout.h"',
        "engine/io/top/b.c": '#include "engine/io/io.h"',
        "daemon/spec/sections/b.c": '#include "daemon/spec/spec.h"',
    }
    for path, lines in good.items():
        assert not problems_of(path, spdx + lines + "\n", known), f"refused: {path}: {lines}"


def main():
    root = sys.argv[1]
    self_test()
    found, count, known = [], 0, rooms.read(root, TOPS)
    for path in sources(root):
        count += 1
        with open(os.path.join(root, path), encoding="utf-8") as f:
            found += problems_of(path, f.read(), known)
    print("\n".join(found))
    print(f"{count} files read, {len(found)} problems")
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
