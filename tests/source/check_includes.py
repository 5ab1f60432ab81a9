#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the tree to its include directions and to one owner per library, as README's architecture section gives them.

Usage: check_includes.py SOURCE_ROOT [--self-test]
"""
import fnmatch
import os
import re
import sys

# Folder -> the project folders that its files may include from. The longest matching folder wins.
MAY_INCLUDE = {
    "engine/base": ["engine/base", "schemas"],
    "graphs": ["engine/base", "graphs", "schemas"],
    "engine/math": ["engine/base", "engine/math"],
    "engine/io": ["engine/base", "engine/io", "engine/system", "schemas"],
    "engine/system": ["engine/base", "engine/math", "engine/system"],
    "engine/observe": ["engine/base", "engine/math", "engine/system", "engine/observe", "engine/estimate/json_writer.h"],
    "engine/run": ["engine/base", "engine/math", "engine/system", "engine/observe", "engine/run", "graphs"],
    "engine/kernels": ["engine/base", "engine/math", "engine/system", "engine/observe", "engine/run", "engine/kernels"],
    "engine/cpu": ["engine/base", "engine/math", "engine/system", "engine/observe", "engine/run", "engine/kernels", "engine/cpu", "graphs"],
    "engine/cuda": ["engine/base", "engine/math", "engine/system", "engine/observe", "engine/run", "engine/kernels", "engine/cuda",
                    "graphs"],
    "engine/estimate": ["engine/base", "engine/estimate", "engine/system", "schemas"],
    "engine/plot": ["engine/base", "engine/plot"],
    "daemon": ["engine", "graphs", "daemon", "schemas"],
    "client": ["engine/base", "client", "engine/plot", "schemas"],
    "tests": ["engine", "graphs", "daemon", "client", "schemas", "tests"],
}

# Library header -> the only files that may include it (tests aside).
OWNERS = {
    "sqlite3.h": ["daemon/store/*.[ch]"],
    "yaml.h": ["daemon/spec/document/node.c"],
    "ucontext.h": ["daemon/worker/threads/co.c"],
    "zlib.h": ["engine/base/gzip.c", "engine/base/xvg.c"],
    "microhttpd.h": ["daemon/http/*.[ch]"],
    "curl/curl.h": ["client/ask/http.c"],
    "nettle/sha2.h": ["daemon/spec/submission.c"],
    "cuda.h": ["graphs/dev_cuda*", "engine/cuda/*"],
    "cuda_runtime.h": ["graphs/dev_cuda*", "engine/cuda/*"],
    "cuda_runtime_api.h": ["graphs/dev_cuda*", "engine/cuda/*"],
    "cufft.h": ["engine/cuda/*"],
    "kissfft/kissfft.hh": ["engine/cpu/fft.cc"],
    "kissfft.hh": ["engine/cpu/fft.cc"],
}
# `shoald` never touches CUDA, the worker never touches SQLite, the engine knows neither service nor network.
FORBIDDEN = {
    "daemon/worker": ["sqlite3.h", "microhttpd.h", "daemon/store/store.h"],
    "engine": ["uv.h", "sqlite3.h", "microhttpd.h", "curl/curl.h"],
    "graphs": ["uv.h", "sqlite3.h", "jansson.h"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = (".c", ".h", ".cu", ".cc", ".def")


def layer_of(path):
    folders = [f for f in MAY_INCLUDE if path.startswith(f + "/")]
    return max(folders, key=len) if folders else None


def allowed(path, target):
    layer = layer_of(path)
    return layer is None or any(target == f or target.startswith(f + "/") for f in MAY_INCLUDE[layer])


def problems_of(path, text):
    """Every broken rule of one file, as 'path:line: reason'."""
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
        elif kind == '"' and not allowed(path, target):
            found.append(f"{where}: {layer_of(path)} may include only {', '.join(MAY_INCLUDE[layer_of(path)])}")
        owners = OWNERS.get(target)
        if owners and not path.startswith("tests/") and not any(fnmatch.fnmatch(path, o) for o in owners):
            found.append(f"{where}: only {', '.join(owners)} may")
        for folder, headers in FORBIDDEN.items():
            if path.startswith(folder + "/") and target in headers:
                found.append(f"{where}: {folder} may not")
    return found


def sources(root):
    for top in ("engine", "graphs", "daemon", "client", "tests"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith(SOURCES):
                    yield os.path.relpath(os.path.join(folder, name), root)


def self_test():
    spdx = "/* SPDX-License-Identifier: Apache-2.0 */\n"
    bad = {
        "graphs/a.c": '#include "engine/system/system.h"',
        "engine/base/a.c": '#include "graphs/tape.h"',
        "engine/run/a.c": '#include "daemon/spec/spec.h"',
        "client/a.c": '#include "engine/system/system.h"',
        "daemon/api/api.c": "#include <sqlite3.h>",
        "daemon/worker/a.c": '#include "daemon/store/store.h"',
        "engine/run/b.c": '#include "b.h"',
    }
    for path, line in bad.items():
        assert problems_of(path, spdx + line + "\n"), f"not caught: {path}: {line}"
    assert problems_of("engine/run/c.c", "int x;\n"), "missing SPDX line not caught"
    assert not problems_of("engine/run/c.c", spdx + '#include "graphs/tape.h"\n#include <math.h>\n')


def main():
    root = sys.argv[1]
    self_test()
    found, count = [], 0
    for path in sources(root):
        count += 1
        with open(os.path.join(root, path), encoding="utf-8") as f:
            found += problems_of(path, f.read())
    print("\n".join(found))
    print(f"{count} files read, {len(found)} problems")
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
