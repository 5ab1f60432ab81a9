#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what was built to the rooms of its sources, where READMEs say what they may include: no circle of files that
use each other's functions or data, and no use of what a file's README does not let it include, however it was declared.
Seen are global symbols of object files, of C sources and of CUDA kernels as they are compiled for the emulated device.

Usage: check_calls.py SOURCE_ROOT BUILD_ROOT
"""
import json
import os
import shutil
import subprocess
import sys

import rooms

TOPS = ("engine", "graphs", "daemon", "client")  # those of which a README says what they may include
# Files that know what stands above them, because they list it.
LISTS = {
    "daemon/api/api.c": "has all commands of the API",
    "graphs/dev_open.c": "opens any device by its name",
    "engine/run/program.c": "has the programs of all devices",
    "engine/cpu/kernels.c": "has all kernels of the program",
    "engine/cpu/isa.c": "has the kernels of all instruction sets",
}


def source_of(command, root, kernels):
    """From the source root; of a kernel that is compiled for the CPU, the .cu file that it is a copy of."""
    path = os.path.relpath(os.path.realpath(os.path.join(command["directory"], command["file"])), root)
    name = os.path.basename(path)
    return kernels.get(name[:-len(".cc")], path) if name.endswith(".cu.cc") else path


def built(root, build):
    """(source, path of an object) of all that a build has compiled, tests too."""
    kernels = {name: os.path.relpath(os.path.join(folder, name), root)
               for folder, _, names in os.walk(os.path.join(root, "engine/cuda")) for name in names
               if name.endswith(".cu")}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        objects = [(source_of(c, root, kernels), os.path.join(c["directory"], c["output"])) for c in json.load(f)]
    return [(source, path) for source, path in objects if os.path.exists(path)]


def symbols(objects):
    """Name -> the sources that define it, source -> the names that it uses. objects: (source, path of an object)."""
    defined, used, sources = {}, {}, {path: source for source, path in objects}
    lines = subprocess.run(["nm", "-A", "-g", *sources], capture_output=True, text=True, check=True).stdout.splitlines()
    for line in lines:
        path, symbol = line.rsplit(":", 1)
        *_, kind, name = symbol.split()
        if kind == "U":
            used.setdefault(sources[path], set()).add(name)
        elif kind in "TDBRC":
            defined.setdefault(name, set()).add(sources[path])
    return defined, used


def uses_of(defined, used, known):
    """Source -> source -> the names that the first uses of the second; of several that define a name, as different
    programs may, those that its README lets it include, if there are any."""
    uses = {}
    for source, names in used.items():
        for name in names:
            owners = defined.get(name, set())
            near = {owner for owner in owners if not is_refused(source, owner, known)}
            for owner in near or owners if source not in owners else ():
                uses.setdefault(source, {}).setdefault(owner, set()).add(name)
    return uses


def circles(uses):
    """Ways from a source back to itself, one for each set of sources that reach each other."""
    found, done = [], set()

    def walk(source, way):
        if source in way:
            circle = way[way.index(source):]
            if not any(set(circle) & set(other) for other in found):
                found.append(circle)
        elif source not in done:
            for other in sorted(uses.get(source, {})):
                walk(other, [*way, source])
            done.add(source)

    for source in sorted(uses):
        walk(source, [])
    return found


def may_use(folder, may, owner):
    """As rooms.allowed; a header that may be included stands for its sources, x.c and x_*.c of x.h."""
    def is_of(header):
        stem, name = os.path.splitext(header)[0], os.path.splitext(owner)[0]
        return header.endswith(".h") and (name == stem or name.startswith(stem + "_"))
    return rooms.allowed(folder, may, owner) or any(is_of(given) for given in may)


def is_refused(source, owner, known):
    folder = os.path.dirname(source)
    return folder in known and not may_use(folder, known[folder].may or [], owner)


def problems_of(uses, known, lists):
    def some(source, owner):
        return ", ".join(sorted(uses[source][owner])[:3])
    found = ["use each other: " + " -> ".join(f"{a} ({some(a, b)})" for a, b in zip(way, way[1:] + way[:1]))
             for way in circles(uses)]
    excused = set()
    for source in sorted(uses):
        for owner in sorted(uses[source]):
            if is_refused(source, owner, known):
                excused.add(source)
                if source not in lists:
                    found.append(f"{source}: uses {some(source, owner)} of {owner}: "
                                 f"{os.path.dirname(source)} may not include that (its README)")
    return found + [f"{source}: needs no excuse any more ({lists[source]})"
                    for source in sorted(set(lists) & set(uses) - excused)]


def self_test():
    known = {folder: rooms.Room(f"May include: {may}.\n") for folder, may in {
        "e/top": "`e/low`, `e/top/near.h`", "e/low": "nothing", "e/top/in": "`e/top/near.h`"}.items()}
    defined, used = {"f": {"e/low/a.c"}, "g": {"e/top/b.c"}, "h": {"e/top/d.c"}, "i": {"e/low/c.c", "e/top/d.c"}}, {
        "e/top/b.c": {"f", "malloc"}, "e/low/a.c": {"h", "i"}, "e/top/d.c": {"h"}}
    uses = uses_of(defined, used, known)
    assert uses == {"e/top/b.c": {"e/low/a.c": {"f"}}, "e/low/a.c": {"e/low/c.c": {"i"}, "e/top/d.c": {"h"}}}
    assert not circles(uses)
    round_trip = {"a": {"b": {"x"}}, "b": {"c": {"y"}}, "c": {"a": {"z"}, "d": {"w"}}}
    assert [sorted(circle) for circle in circles(round_trip)] == [["a", "b", "c"]]
    assert any("a (x) -> b (y) -> c (z)" in p for p in problems_of(round_trip, {}, {}))
    assert any("e/low/a.c: uses h of e/top/d.c" in p for p in problems_of(uses, known, {}))
    assert not problems_of(uses, known, {"e/low/a.c": "has both"})
    assert any("no excuse" in p for p in problems_of({"e/top/b.c": {"e/low/a.c": {"f"}}}, known, {"e/top/b.c": "?"}))
    inner = known["e/top/in"].may
    assert may_use("e/top/in", inner, "e/top/near_text.c") and may_use("e/top/in", inner, "e/top/near.c")
    assert not may_use("e/top/in", inner, "e/top/nearer.c")


def main():
    root, build = os.path.realpath(sys.argv[1]), sys.argv[2]
    if not shutil.which("nm"):
        print("skipped: nm is not installed")
        return 77
    self_test()
    known = rooms.read(root, TOPS)
    objects = [(source, path) for source, path in built(root, build) if source.split("/")[0] in known]
    uses = uses_of(*symbols(objects), known)
    found = problems_of(uses, known, LISTS)
    print("\n".join(found))
    print(f"{len({source for source, _ in objects})} sources looked at, {len(found)} problems")
    return 1 if found or len(uses) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
