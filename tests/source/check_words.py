#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that readers stumble over are in no message and no help of the programs, no description of schemas/, no manual page, no page of
the guide and not in README.md. A description of a schema is a tooltip, which has to be understood without the others.

Usage: check_words.py SOURCE_ROOT
"""
import glob
import json
import os
import re
import sys

LITERAL = re.compile(r'/\*.*?\*/|//[^\n]*|\'(?:\\.|[^\'\\\n])+\'|("(?:\\.|[^"\\\n])*")(?:\s*"(?:\\.|[^"\\\n])*")*', re.S)
# What is to be said in its place.
STUMBLES = {
    r"as (above|below)": "say it again",
    r"likewise": "say what is done",
    r"go(es)? by (?!(it|them)sel)": "depends on, uses, follows",
    r"stands?(?! (for|out)\b)": "is, has, comes",
    r"(is|are|was|were) told of": "gets, learns",
    r"none but|not unless": "only",
}
IN_DESCRIPTIONS = {r"one of them": "name the thing", r"of those": "name the things"}
HELP = ("client/commands.c", "client/help.c", "client/command/options.def", "daemon/options.c")
LEAST = 3  # words of a description in a JSON schema


def stumbles(text, patterns):
    """[(the words, what to say instead)]"""
    return [(found[0], better) for pattern, better in patterns.items() for found in re.finditer(rf"\b(?:{pattern})\b".replace(" ", r"\s+"), text, re.I)]


def literals(source):
    """String literals of a C file; those side by side are one."""
    for found in LITERAL.finditer(source):
        if found[1]:
            yield re.sub(r'"\s*"', "", found[0]).replace("\\n", " ")


def descriptions(value, path=""):
    """(path, text) of a JSON schema."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        if key == "description" and isinstance(inner, str):
            yield path, inner
        else:
            yield from descriptions(inner, f"{path}/{key}")


def prose(text):
    """A Markdown page without its blocks of code."""
    return re.sub(r"(?ms)^```.*?^```$", "", text)


def problems(name, text):
    """Of one file."""
    patterns, short = STUMBLES, []
    if name.endswith((".json", ".yaml")) or name in HELP:
        patterns = {**STUMBLES, **IN_DESCRIPTIONS}
    if name.endswith(".json"):
        told = [(f"{name}: {path}", d) for path, d in descriptions(json.loads(text))]
        short = [f"{where}: '{d}' says too little for a tooltip" for where, d in told if len(d.split()) < LEAST]
    elif name.endswith((".c", ".h", ".def")):
        told = [(name, literal) for literal in literals(text)]
    else:
        told = [(name, prose(text) if name.endswith(".md") else text)]
    return short + [f"{where}: '{words}': {better}" for where, d in told for words, better in stumbles(d, patterns)]


def self_test():
    """Faults that are not found, and what is found though it is right."""
    faults = (("a.json", '{"properties": {"b": {"description": "As above."}}}'), ("a.json", '{"items": {"description": "Which of those it is."}}'),
              ("a.json", '{"description": "The value."}'), ("a.c", '"it "\n  "goes by need"'), ("a.md", "A verdict stands beside it."),
              ("client/help.c", '"names one of them"'),
              ("a.yaml", "description: Likewise.\n"), ("a.md", "```sh\n```\nNone but root may."))
    right = (("a.json", '{"properties": {"description": {"description": "A word that stands for it."}}}'), ("a.c", "/* as above */ 'x' \"goes on\""),
             ("a.md", "```text\nas above\n```\nIt goes by itself, and windows stand out."))
    return [f"not found in {text!r}" for name, text in faults if not problems(name, text)] + \
        [f"{text!r}: {problems(name, text)}" for name, text in right if problems(name, text)]


def main():
    root = sys.argv[1]
    kinds = ["engine/**/*.[ch]", "daemon/**/*.[ch]", "client/**/*.[ch]", "client/**/*.def", "schemas/*.json", "schemas/api/*.yaml", "docs/*.md", "README.md",
             "client/*.scd.in", "deploy/man/*.scd.in"]
    names = sorted(name for kind in kinds for name in glob.glob(kind, root_dir=root, recursive=True))
    wrong = self_test()
    for name in names:
        with open(os.path.join(root, name), encoding="utf-8") as f:
            wrong += problems(name, f.read())
    print("\n".join(wrong))
    print(f"{len(names)} files read, {len(wrong)} problems")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
