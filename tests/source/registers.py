#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the registers and spills of each CUDA kernel to the table in the tree (registers.txt), as a build for sm_90 left
them beside its objects (graphs/cuda/compile.sh). They decide how fast a kernel is, and a change of them is seen nowhere else
without a GPU. Other compilers spill otherwise: they are not compared.

Usage: registers.py SOURCE_ROOT BUILD_ROOT NVCC_VERSION           compares; NVCC_VERSION none: built without CUDA
       registers.py SOURCE_ROOT BUILD_ROOT NVCC_VERSION --write   writes the table anew
"""
import os
import re
import sys

ARCH = "sm_90"
COLUMNS = ("registers", "stack", "spill stores", "spill loads", "shared")  # bytes, but the first; of all it calls, too
HEAD = """# Registers of each CUDA kernel, and bytes of its stack, of spill stores and loads, and of static shared memory.
# nvcc {version}, {arch}. Written by tests/source/registers.py.
"""

ENTRY = re.compile(r"Compiling entry function 'cuda_(\w+)' for '(\w+)'")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")


def read_build(text):
    """Kernel -> its row, of what ptxas said of one source."""
    rows, row = {}, None
    for line in text.splitlines():
        if entry := ENTRY.search(line):
            row = rows.setdefault(entry[1], [0] * len(COLUMNS)) if entry[2] == ARCH else [0] * len(COLUMNS)
        elif (frame := FRAME.search(line)) and row:
            for i, bytes_ in enumerate(frame.groups(), 1):
                row[i] += int(bytes_)
        elif (used := USED.search(line)) and row:
            shared = SHARED.search(line)
            row[0], row[4] = int(used[1]), int(shared[1]) if shared else 0
    return rows


def build_rows(root, build):
    """Of all kernels of the engine that were built and whose source is there still."""
    sources = {name for _, _, names in os.walk(os.path.join(root, "engine/cuda")) for name in names}
    rows = {}
    for folder, _, names in os.walk(os.path.join(build, "engine")):
        for name in names:
            if name.endswith(".o.ptxas") and name[:-len(".o.ptxas")] in sources:
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    rows.update(read_build(f.read()))
    return rows


def write_table(rows, version):
    lines = [f"{name:<34}" + "".join(f"{number:>7}" for number in rows[name]) for name in sorted(rows)]
    return HEAD.format(version=version, arch=ARCH) + "\n".join(lines) + "\n"


def read_table(text):
    """The compiler's version, and kernel -> its row."""
    version = re.search(r"^# nvcc (\S+),", text, re.M)[1]
    words = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return version, {name: [int(number) for number in numbers] for name, *numbers in words}


def differences(table, rows):
    found = [f"{name}: is not in the table" for name in sorted(set(rows) - set(table))]
    found += [f"{name}: is in the table, but not in the build" for name in sorted(set(table) - set(rows))]
    for name in sorted(set(rows) & set(table)):
        found += [f"{name}: {column} {was} -> {now}" for column, was, now in zip(COLUMNS, table[name], rows[name])
                  if was != now]
    return found


def self_test():
    said = ("ptxas info    : Compiling entry function 'cuda_a' for 'sm_80'\n    8 bytes stack frame, 0 bytes spill stores, 9 bytes spill loads\n"
            "ptxas info    : Used 99 registers\n"
            "ptxas info    : Compiling entry function 'cuda_a' for 'sm_90'\nptxas info    : Function properties for cuda_a\n"
            "    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
            "ptxas info    : Used 40 registers, used 1 barriers, 16 bytes cumulative stack size, 512 bytes smem\n"
            "ptxas info    : Function properties for _Z1fv\n    8 bytes stack frame, 1 bytes spill stores, 2 bytes spill loads\n")
    rows = read_build(said)
    assert rows == {"a": [40, 24, 5, 10, 512]}, rows
    assert read_table(write_table(rows, "13.0.88")) == ("13.0.88", rows)
    assert differences(rows, rows) == []
    assert differences(rows, {"a": [41, 24, 5, 10, 512]}) == ["a: registers 40 -> 41"]
    assert len(differences(rows, {"b": [1] * 5})) == 2


def main():
    root, build, version = sys.argv[1:4]
    path = os.path.join(root, "tests/source/registers.txt")
    self_test()
    rows = build_rows(root, build)
    if version == "none" or not rows:
        print(f"skipped: nothing was built for {ARCH} here")
        return 77
    if "--write" in sys.argv:
        with open(path, "w", encoding="utf-8") as f:
            f.write(write_table(rows, version))
        return 0
    with open(path, encoding="utf-8") as f:
        of, table = read_table(f.read())
    if of != version:
        print(f"skipped: the table is of nvcc {of}, this is {version}")
        return 77
    found = differences(table, rows)
    print("\n".join(found + [f"if that is meant: python3 {' '.join(sys.argv)} --write"] * bool(found)))
    print(f"{len(rows)} kernels, {len(found)} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
