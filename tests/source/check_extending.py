#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/extending.md to the tree. Each section follows an example: its command lists the files that have it, its table
says what to change in each, a line above the table counts them.

Usage: check_extending.py SOURCE_ROOT
"""
import os
import re
import shlex
import sys

PAGE = "docs/extending.md"
COMMAND = re.compile(r"^```sh build\ngit grep -lF (.+)\n```$", re.M)
COUNT = re.compile(r"^\*\*(\d+) files, and (\d+) of tests\*\*$", re.M)
ROW = re.compile(r"^\| (`[^|]+`) \| (`[^|]+`) \| .+ \|$", re.M)
SPAN = re.compile(r"`([^`]+)`")
PATH = re.compile(r"`([\w.-]+/[\w./-]*)`")


def tree(root, tops):
    """Path -> text of every file in `tops`, folders or files."""
    paths = [os.path.join(root, top) for top in tops]
    paths += [os.path.join(folder, name) for path in paths for folder, _, names in os.walk(path) for name in names]
    texts = {}
    for path in filter(os.path.isfile, paths):
        if not path.endswith(".pyc"):
            with open(path, encoding="utf-8", errors="replace") as f:
                texts[os.path.relpath(path, root)] = f.read()
    return texts


def within(path, place):
    return path == place or path.startswith(place + "/")


def parse(command):
    """The words that are searched for, the places to look at, the places left out."""
    words = shlex.split(command)
    places = words[words.index("--") + 1:]
    return ([word for before, word in zip(words, words[1:]) if before == "-e"],
            [place for place in places if not place.startswith(":!")], [place[2:] for place in places if place.startswith(":!")])


def have(command, texts):
    """The files that git grep would list."""
    words, places, apart = parse(command)
    return {path for path, text in texts.items() if any(within(path, place) for place in places)
            and not any(within(path, place) for place in apart) and any(word in text for word in words)}


def rows(files, symbols, texts):
    """Of one row: what it names that is not there."""
    for path in files:
        if path not in texts:
            yield f"{path} is not there"
        else:
            yield from (f"{path} has no {symbol}" for symbol in symbols if symbol not in texts[path])


def section(text, texts):
    """What is wrong with a section that follows an example."""
    command, count = COMMAND.search(text), COUNT.search(text)
    table = [(SPAN.findall(files), SPAN.findall(symbols)) for files, symbols in ROW.findall(text)]
    if not (command and count and table):
        return ["expected a command, a count and a table"]
    listed = [path for files, _ in table for path in files]
    tests = sum(path.startswith("tests/") for path in listed)
    found = [problem for files, symbols in table for problem in rows(files, symbols, texts)]
    found += [f"{path} is listed twice" for path in sorted({path for path in listed if listed.count(path) > 1})]
    found += [f"{path} names the example and is not listed" for path in sorted(have(command[1], texts) - set(listed))]
    if (len(listed) - tests, tests) != (int(count[1]), int(count[2])):
        found.append(f"{len(listed) - tests} files and {tests} of tests are listed, not {count[1]} and {count[2]}")
    return found


def problems(page, texts):
    return [f"{PAGE}: {part.splitlines()[0]}: {problem}" for part in page.split("\n## ")[1:] for problem in section(part, texts)]


def self_test():
    """Faults that are not found, and what is found though it is right."""
    texts = {"a/b.c": "case THIS:", "a/c/d.c": "THIS", "tests/t.c": "test_this", "a/e.c": "that"}
    right = ("# T\n## Case\n```sh build\ngit grep -lF -e THIS -e 'or that' -- a ':!a/c'\n```\n**1 files, and 1 of tests**\n"
             "| file | symbol | what |\n|---|---|---|\n| `a/b.c` | `case THIS` | x |\n| `tests/t.c` | `test_this` | y |\n")
    faults = ((" ':!a/c'", ""), ("or that", "that"), ("1 files", "2 files"), ("1 of", "0 of"), ("`case THIS`", "`case OTHER`"),
              ("tests/t.c", "tests/u.c"), ("`a/b.c`", "`a/b.c`, `a/b.c`"), ("git grep", "grep"), ("| x |", "x"))
    return [f"not found: {new!r} for {old!r}" for old, new in faults if not problems(right.replace(old, new), texts)] + \
        problems(right, texts)


def main():
    root = sys.argv[1]
    with open(os.path.join(root, PAGE), encoding="utf-8") as f:
        page = f.read()
    tops = {place for command in COMMAND.findall(page) for place in parse(command)[1]}
    texts = tree(root, tops)
    wrong = self_test() + problems(page, texts)
    wrong += [f"{PAGE}: {path} is not there" for path in PATH.findall(page) if not os.path.exists(os.path.join(root, path))]
    print("\n".join(wrong))
    print(f"{len(COMMAND.findall(page))} examples, {len(texts)} files read, {len(wrong)} problems")
    return 1 if wrong or not texts or "\n## " not in page else 0


if __name__ == "__main__":
    sys.exit(main())
