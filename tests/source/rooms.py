# SPDX-License-Identifier: Apache-2.0
"""What the README of a folder says: which files and rooms there are, in the order to read them, and what its files may
include.

    - `err.h`, `err.c`: errors             an item: files of the folder, or a room (`json/`)
    May include: `engine/base`, `graphs`.  folders with all their rooms, single files; of a folder above its own files

Nothing else says it: check_includes.py holds includes to these lines, check_rooms.py the lines to the files.
"""
import os
import re

ITEM = re.compile(r"^- ((?:`[^`]+`(?:, )?)+): .", re.M)
MAY = re.compile(r"^May include: (.+?)\.$", re.M | re.S)


class Room:
    def __init__(self, text):
        self.items = [name for item in ITEM.findall(text) for name in re.findall("`([^`]+)`", item)]
        lines = MAY.findall(text)
        self.may = re.findall("`([^`]+)`", lines[0]) if len(lines) == 1 else None
        self.wrong = None
        if len(lines) != 1:
            self.wrong = f"{len(lines)} paragraphs 'May include: ... .', expected one"
        elif (lines[0] == "nothing") != (not self.may):
            self.wrong = "'May include:' names neither folders nor files; expected them, or 'nothing'"


def read(root, tops):
    """Folder -> its room, of all folders below `tops` that have a README with a line about includes."""
    found = {}
    for top in tops:
        for folder, _, names in os.walk(os.path.join(root, top)):
            if "README.md" in names:
                with open(os.path.join(folder, "README.md"), encoding="utf-8") as f:
                    text = f.read()
                if "May include:" in text:
                    found[os.path.relpath(folder, root)] = Room(text)
    return found


def is_below(path, folder):
    return path.startswith(folder + "/")


def allowed(folder, may, target):
    """Whether a file in `folder`, which may include `may`, may include `target`."""
    there = os.path.dirname(target)
    return there == folder or any(
        target == given or (there == given if is_below(folder, given) else is_below(target, given)) for given in may)
