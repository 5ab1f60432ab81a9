# SPDX-License-Identifier: Apache-2.0
"""Messages that a page quotes: in the column `message` of its tables, `..` for what varies, as in `ensemble .. was removed`."""
import glob
import os
import re

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|\'(?:\\.|[^\'\\\n])+\'|(?P<text>"(?:\\.|[^"\\\n])*"(?:\s*(?:"(?:\\.|[^"\\\n])*"|PRI\w+))*)', re.S)
PART = re.compile(r'"((?:\\.|[^"\\])*)"|PRI\w+')
CONVERSION = re.compile(r"%%|%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]")
VARIES = "\0"
LEAST = 6  # letters of a message


def unescaped(found):
    return "\n" if found[1] == "n" else found[1]


def texts(source):
    """The string literals of a C file, those side by side as one; conversions of printf are VARIES."""
    for found in TOKEN.finditer(source):
        if found["text"]:
            parts = PART.finditer(found["text"])
            text = "".join("d" if part[1] is None else re.sub(r"\\(.)", unescaped, part[1]) for part in parts)
            yield CONVERSION.sub(lambda it: "%" if it[0] == "%%" else VARIES, text)


def sources(root):
    names = [name for top in ("engine", "daemon", "client") for name in glob.glob(f"{root}/{top}/**/*.[ch]", recursive=True)]
    for name in names + [os.path.join(root, "schemas/errors.def")]:
        with open(name, encoding="utf-8") as f:
            yield f.read()


class Messages:
    """All that programs can say."""

    def __init__(self, root):
        self.texts = sorted({text for source in sources(root) for text in texts(source)})

    def said(self, message):
        parts = [part for part in (p.strip() for p in message.split("..")) if part]
        pattern = re.compile(".*".join(map(re.escape, parts)), re.S)
        return sum(map(str.isalpha, "".join(parts))) >= LEAST and any(pattern.search(text) for text in self.texts)


def quoted(page):
    """[(line, message)]"""
    found, inside = [], False
    for number, line in page.prose:
        inside = line.startswith("| message |") or inside and line.startswith("|")
        if inside:
            found += [(number, message) for message in re.findall(r"`([^`]+)`", line.split(" | ")[0])]
    return found


def counted(page):
    number = len(quoted(page))
    return {"messages looked up": number} if number else {}


def messages(page, known):
    return [f"{page.name}:{number}: no program says '{message}'" for number, message in quoted(page) if not known.said(message)]
