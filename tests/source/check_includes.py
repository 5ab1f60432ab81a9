#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the tree to its include directions and to one owner per library, as README's architecture section gives them.

Usage: check_includes.py SOURCE_ROOT [--self-test]
"""
import fnmatch
import os
import re
import sys

ENGINE = ["engine", "graphs", "schemas"]
# Folder -> the project folders, or single headers, that its files may include. The longest matching folder wins.
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
    # Rooms of the programs, each after those that it includes, so that there are no circles. First shoald.
    "daemon/quota": ["engine/base", "daemon/quota"],
    "daemon/host": ["engine/base", "daemon/host"],
    "daemon/processes": ["engine/base", "daemon/processes"],
    "daemon/http": ["engine/base", "daemon/quota", "daemon/http"],
    "daemon/schedule": ["engine/base", "schemas", "daemon/quota", "daemon/schedule"],
    "daemon/store": ["engine/base", "daemon/host", "daemon/schedule", "daemon/store"],
    "daemon/service": ["engine/base", "daemon/host", "daemon/processes", "daemon/schedule", "daemon/store",
                       "daemon/service"],
    "daemon/api": ["engine/base", "daemon/http", "daemon/processes", "daemon/service", "daemon/api"],
    # The sections and the advice fill in and read struct spec, which spec.c above them reads as a whole.
    "daemon/spec/document": ["engine/base", "daemon/spec/document"],
    "daemon/spec/sections": [*ENGINE, "daemon/spec/document", "daemon/spec/spec.h", "daemon/spec/sections"],
    "daemon/spec/advice": [*ENGINE, "daemon/spec/spec.h", "daemon/spec/advice"],
    "daemon/spec": [*ENGINE, "daemon/spec"],
    "daemon/campaign": ["engine/base", "daemon/spec", "daemon/campaign"],
    # shoal-worker.
    "daemon/worker/command": ["engine/base", "daemon/worker/command"],
    "daemon/worker/threads": [*ENGINE, "daemon/worker/threads"],
    "daemon/worker/files": [*ENGINE, "daemon/worker/threads", "daemon/worker/files"],
    "daemon/worker/device": [*ENGINE, "daemon/spec", "daemon/host", "daemon/worker/command", "daemon/worker/threads",
                             "daemon/worker/device"],
    "daemon/worker/replica": [*ENGINE, "daemon/spec", "daemon/worker/device", "daemon/worker/files",
                              "daemon/worker/threads", "daemon/worker/replica"],
    "daemon/worker/children": [*ENGINE, "daemon/spec", "daemon/host", "daemon/worker/command", "daemon/worker/device",
                               "daemon/worker/files", "daemon/worker/threads", "daemon/worker/children"],
    "daemon/worker/offline": [*ENGINE, "daemon/spec", "daemon/campaign", "daemon/worker/command",
                              "daemon/worker/device", "daemon/worker/replica", "daemon/worker/threads",
                              "daemon/worker/offline"],
    "daemon/worker/observe": [*ENGINE, "daemon/spec", "daemon/worker/command", "daemon/worker/offline",
                              "daemon/worker/observe"],
    "daemon/worker": [*ENGINE, "daemon/processes", "daemon/worker"],
    # The main file of shoald.
    "daemon": ["engine/base", "daemon/options.h", "daemon/api", "daemon/host", "daemon/quota", "daemon/service"],
    # shoal.
    "client/show": ["engine/base", "engine/plot", "client/show"],
    "client/statistics": ["engine/base", "client/statistics"],
    "client/command": ["engine/base", "client/show", "client/command"],
    "client/ask": ["engine/base", "client/command", "client/ask"],
    "client/need": ["engine/base", "client/ask", "client/command", "client/need"],
    "client/propose": ["engine/base", "client/ask", "client/command", "client/propose"],
    "client/results": ["engine/base", "engine/plot", "client/ask", "client/command", "client/need", "client/show",
                       "client/results"],
    "client/programs": ["engine/base", "client/ask", "client/command", "client/results", "client/programs"],
    "client/specs": ["engine/base", "client/ask", "client/command", "client/programs", "client/specs"],
    "client/import": ["engine/base", "client/command", "client/programs", "client/specs", "client/import"],
    "client/ensembles": ["engine/base", "client/ask", "client/command", "client/need", "client/results", "client/show",
                         "client/ensembles"],
    "client/report": ["engine/base", "engine/plot", "client/ask", "client/command", "client/need", "client/results",
                      "client/show", "client/report"],
    "client/campaign/model": ["engine/base", "client/ask", "client/command", "client/programs",
                              "client/campaign/model"],
    "client/gather": ["engine/base", "engine/plot", "client/ask", "client/campaign/model", "client/command",
                      "client/programs", "client/results", "client/show", "client/statistics", "client/gather"],
    "client/campaign": ["engine/base", "client/ask", "client/command", "client/ensembles", "client/gather",
                        "client/need", "client/programs", "client/propose", "client/report", "client/show",
                        "client/specs", "client/campaign"],
    "client": ["engine/base", "client", "schemas"],
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


def self_test(root):
    spdx = "/* SPDX-License-Identifier: Apache-2.0 */\n"
    bad = {
        "graphs/a.c": '#include "engine/system/system.h"',
        "engine/base/a.c": '#include "graphs/tape.h"',
        "engine/run/a.c": '#include "daemon/spec/spec.h"',
        "client/a.c": '#include "engine/system/system.h"',
        "client/ask/a.c": '#include "client/show/out.h"',
        "client/campaign/model/a.c": '#include "client/campaign/campaign.h"',
        "daemon/schedule/a.c": '#include "daemon/store/store.h"',
        "daemon/spec/sections/a.c": '#include "daemon/spec/submission.h"',
        "daemon/main.c": '#include "daemon/worker/replica/replica.h"',
        "daemon/api/api.c": "#include <sqlite3.h>",
        "daemon/worker/a.c": '#include "daemon/store/store.h"',
        "engine/run/b.c": '#include "b.h"',
    }
    for path, line in bad.items():
        assert problems_of(path, spdx + line + "\n"), f"not caught: {path}: {line}"
    assert problems_of("engine/run/c.c", "int x;\n"), "missing SPDX line not caught"
    assert not problems_of("daemon/spec/sections/a.c", spdx + '#include "daemon/spec/spec.h"\n')
    rooms = [r for r in MAY_INCLUDE if r.split("/")[0] in ("daemon", "client")]
    for i, room in enumerate(rooms):
        assert os.path.isdir(os.path.join(root, room)), f"a rule for a room that is not there: {room}"
        for other in MAY_INCLUDE[room]:
            assert other not in rooms[i + 1:], f"{room} may include {other}, whose rule comes later: no circles"
    assert not problems_of("engine/run/c.c", spdx + '#include "graphs/tape.h"\n#include <math.h>\n')


def main():
    root = sys.argv[1]
    self_test(root)
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
