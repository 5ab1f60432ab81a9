#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds folders to their READMEs (rooms.py says how they are written), those of engine and graphs and of each program
whose folder has one that says what it may include, and both to the rules of the house: no folder of over 16 modules
(files of one name are one), a README of at most 40 lines with every file and room in it, includes that go in no circle,
header guards that are the header's path, and no name of a file in a comment or a README that is none. Holds
docs/architecture.md to the folders that there are, and its arrows to what the READMEs let files include.

Usage: check_rooms.py SOURCE_ROOT
"""
import os
import re
import sys

import rooms
from check_includes import OWNERS

TOPS = ("engine", "graphs")
PROGRAMS = ("daemon", "client")
PAGE = "docs/architecture.md"
SOURCES = (".c", ".h", ".cu", ".cuh", ".cc", ".def", ".sh", ".css")
GUARDED = (".h", ".cuh")
NO_GUARD = {"graphs/kernels.h", "graphs/kernels_table.h"}  # included once for each list of kernels
ANY_OF_THE_NAME = {"kernels.def", *OWNERS}  # the list of kernels of whichever program; headers of libraries
MODULES_MOST, LINES_MOST = 16, 40

NAME = re.compile(r"(?<![\w./<>*-])(?:\w+/)*\w{2,}\.(?:c|h|cu|cuh|cc|def)(?![\w(/])")
FOLDER = re.compile(r"`([\w/]+)/`")
ARROWS = re.compile(r"^(\w[\w/]*(?:(?: <-|,) \w[\w/]*)* <- \w[\w/]*(?:, \w[\w/]*)*)$", re.M)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def folder_problems(folder, files, folders, text):
    """Of one folder: names of its files and rooms, the text of its README (None: there is none)."""
    sources = {name for name in files if name.endswith(SOURCES)}
    modules = {name.rsplit(".", 1)[0] for name in sources}
    found = []
    if len(modules) > MODULES_MOST:
        found.append(f"{folder}: {len(modules)} modules, expected at most {MODULES_MOST}: divide it by topic")
    if text is None:
        return found + [f"{folder}: no README.md"]
    readme, room = f"{folder}/README.md", rooms.Room(text)
    if room.wrong:
        found.append(f"{readme}: {room.wrong}")
    if text.count("\n") > LINES_MOST:
        found.append(f"{readme}: {text.count(chr(10))} lines, expected at most {LINES_MOST}")
    there = sources | {name + "/" for name in folders}
    found += [f"{readme}: {name} is not named" for name in sorted(there - set(room.items))]
    found += [f"{readme}: {name} is not there" for name in sorted(set(room.items) - there)]
    return found


def ways_of(known):
    """Folder -> the folders that its README lets it include."""
    def opens(folder, given, other):
        return other == given or (rooms.is_below(other, given) and not rooms.is_below(folder, given))
    return {folder: {other for given in room.may or [] for other in known if opens(folder, given, other)} - {folder}
            for folder, room in known.items()}


def page_problems(path, text, known, required, paths):
    """Of the page about the whole: folders that are not there, required ones that it lacks, arrows that are not so."""
    named = set(FOLDER.findall(text))
    found = [f"{path}: names {folder}/, which is not there" for folder in sorted(named - paths)]
    found += [f"{path}: {folder}/ is not named" for folder in sorted(required - named)]
    ways = ways_of(known)

    def reaches(folder, other):
        seen, ahead = set(), [folder]
        while ahead:
            at = ahead.pop()
            if at not in seen:
                seen.add(at)
                ahead += ways.get(at, ())
        return other in seen
    for line in ARROWS.findall(text):
        levels = [level.split(", ") for level in line.split(" <- ")]
        for low, high in ((low, high) for lows, highs in zip(levels, levels[1:]) for low in lows for high in highs):
            if low not in ways.get(high, ()) or reaches(low, high):
                found.append(f"{path}: {low} <- {high}: the READMEs of these say otherwise")
    return found


def permission_problems(known, paths):
    """Of all rooms: what they name is there, and nothing may include itself by way of others."""
    found = []
    for folder, room in known.items():
        for given in room.may or []:
            if given not in paths:
                found.append(f"{folder}/README.md: may include {given}, which is not there")
    ways, done = ways_of(known), set()

    def walk(folder, way):
        if folder in way:
            found.append("may include each other: " + " -> ".join([*way[way.index(folder):], folder]))
        elif folder not in done:
            for other in sorted(ways[folder]):
                walk(other, [*way, folder])
            done.add(folder)

    for folder in sorted(ways):
        walk(folder, [])
    return found


def resolves(name, folder, paths):
    """A name of a file stands for itself below the folder that it is used in, below one above, or at the root."""
    while folder:
        if f"{folder}/{name}" in paths:
            return True
        folder = os.path.dirname(folder)
    return name in paths


def name_problems(path, text, paths):
    """Names of files in comments of a source, or anywhere in a README."""
    pieces = [(0, text)] if path.endswith(".md") else [(m.start(), m.group()) for m in COMMENT.finditer(text)]
    found = []
    for start, piece in pieces:
        for match in NAME.finditer(piece):
            name = match.group()
            if name not in ANY_OF_THE_NAME and not resolves(name, os.path.dirname(path), paths):
                line = text.count("\n", 0, start + match.start()) + 1
                found.append(f"{path}:{line}: names {name}, which is no file here, in a folder above, or from the root")
    return found


def guard_problems(path, text):
    guard = "SHOAL_" + re.sub(r"[./]", "_", path).upper()
    if path.endswith(GUARDED) and path not in NO_GUARD and f"#ifndef {guard}\n#define {guard}\n" not in text:
        return [f"{path}: expected the header guard {guard}"]
    return []


def self_test():
    text = "# X\n\n- `a.h`, `a.c`: first\n- `in/`: second\n\nMay include: `graphs`,\n`engine/base`.\n"
    assert rooms.Room(text).items == ["a.h", "a.c", "in/"] and rooms.Room(text).may == ["graphs", "engine/base"]
    assert not folder_problems("x", ["a.h", "a.c", "README.md", "meson.build"], ["in"], text)
    for files, folders, said in ((["a.h"], ["in"], "a.c is not there"), (["a.h", "a.c"], [], "in/ is not there"),
                                 (["a.h", "a.c", "b.cuh"], ["in"], "b.cuh is not named"),
                                 (["a.h", "a.c"], ["in", "on"], "on/ is not named"),
                                 ([f"m{k}.c" for k in range(17)], [], "17 modules")):
        assert any(said in problem for problem in folder_problems("x", files, folders, text)), said
    assert folder_problems("x", [], [], None) and folder_problems("x", ["a.h", "a.c"], ["in"], text + "\n" * 40)
    assert rooms.Room("May include: what it likes.\n").wrong and rooms.Room("- `a.c`: b\n").wrong
    assert not rooms.Room("May include: nothing.\n").wrong

    def known(**may):
        return {name: rooms.Room(f"May include: {', '.join(f'`{m}`' for m in given) or 'nothing'}.\n")
                for name, given in may.items()}
    assert not permission_problems(known(a=["b"], b=[]), {"a", "b"})
    assert permission_problems(known(a=["b"], b=["a"]), {"a", "b"}) and permission_problems(known(a=["c"]), {"a"})
    inner = known(a=["b"], b=[])
    inner["b/c"] = rooms.Room("May include: `b`.\n")
    assert not permission_problems(inner, {"a", "b", "b/c"})  # a folder above: its own files
    inner["b"] = rooms.Room("May include: `b/c`.\n")
    assert permission_problems(inner, {"a", "b", "b/c"})

    way = known(low=[], mid=["low"], high=["mid"])
    page = "`low/` `mid/` `high/`\n\nlow <- mid <- high\n"
    assert not page_problems("p", page, way, set(way), set(way))
    assert page_problems("p", page, way, set(), {"low", "mid"})
    assert page_problems("p", page.replace("`mid/`", ""), way, set(way), set(way))
    for wrong in ("mid <- low", "low <- high"):
        assert page_problems("p", f"{page}{wrong}\n", way, set(), set(way)), wrong

    assert rooms.allowed("e/cuda/pairs", ["e/cuda/lists", "e/cuda/kernels.h"], "e/cuda/lists/layout.h")
    assert rooms.allowed("e/cuda/pairs", ["e/cuda/kernels.h"], "e/cuda/kernels.h")
    assert not rooms.allowed("e/cuda/pairs", ["e/cuda/kernels.h"], "e/cuda/nonbonded.h")
    assert not rooms.allowed("e/cuda/lists", ["e/cuda/device"], "e/cuda/pairs/pairs.h")
    assert rooms.allowed("e/io/top", ["e/io"], "e/io/io.h")
    assert not rooms.allowed("e/io/top", ["e/io"], "e/io/other/a.h")
    assert rooms.allowed("e/io", ["e/base"], "e/base/json/a.h") and not rooms.allowed("e/io", [], "e/io/top/a.h")

    paths = {"e/up.c", "e/in/near.h", "e/in/this.c"}
    assert not name_problems("e/in/this.c", "/* near.h, up.c, in/near.h, e/up.c; k.c */ x.field.c", paths)
    assert name_problems("e/in/this.c", "\n/* gone.c */", paths)[0].startswith("e/in/this.c:2:")
    assert name_problems("e/up.c", "// near.h", paths) and name_problems("e/README.md", "`gone.cuh`", paths)
    assert not name_problems("e/up.c", "gone.c", paths)
    assert not guard_problems("e/a.h", "#ifndef SHOAL_E_A_H\n#define SHOAL_E_A_H\n")
    assert guard_problems("e/a.h", "#ifndef SHOAL_E_B_H\n#define SHOAL_E_B_H\n")


def walk_tree(root, tops):
    for top in tops:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            yield os.path.relpath(folder, root), sorted(names), folders


def all_paths(root):
    """Every file and folder of the tree, from the root, but for hidden ones and what is built."""
    paths = set()
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(".")]
        paths.update(os.path.relpath(os.path.join(folder, name), root) for name in [*names, *folders])
    return paths


def main():
    root = sys.argv[1]
    self_test()
    found, count, paths = [], 0, all_paths(root)
    known = rooms.read(root, TOPS + PROGRAMS)
    for folder, names, folders in walk_tree(root, TOPS + tuple(p for p in PROGRAMS if p in known)):
        texts = {}
        for name in names:
            if name.endswith((*SOURCES, ".md")):
                with open(os.path.join(root, folder, name), encoding="utf-8") as f:
                    texts[name] = f.read()
        found += folder_problems(folder, names, folders, texts.get("README.md"))
        for name, text in texts.items():
            if folder.startswith(TOPS):
                found += guard_problems(f"{folder}/{name}", text)
            if folder.startswith(TOPS) or name.endswith(".md"):
                found += name_problems(f"{folder}/{name}", text, paths)
        count += 1
    found += permission_problems(known, paths)
    required = {folder for folder in known if folder.startswith(TOPS) and folder.count("/") < 2} - {TOPS[0]}
    with open(os.path.join(root, PAGE), encoding="utf-8") as f:
        found += page_problems(PAGE, f.read(), known, required, paths)
    print("\n".join(found))
    print(f"{count} folders read, {len(found)} problems")
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
