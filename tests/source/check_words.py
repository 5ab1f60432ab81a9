#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that readers stumble over are in no message and no help of the programs, no description of schemas/, no manual page, no page of
the guide and not in README.md. A description of a schema is a tooltip, which has to be understood without the others.

Names in the sources say which thing is meant: no struct is defined in two files; no two files of one folder have static functions of one
name; no static function has the name of one that a header declares. What is excused below says why, and is taken out when it need not be.

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


CODE = ("engine", "graphs", "daemon", "client")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRUCT = re.compile(r"\bstruct\s+(?:\w+\([^()]*\)\s+)?(\w+)\s*\{")
STATIC = re.compile(r"^static\s[^;={}()]*?\b(\w+)\s*\([^;{}]*\)\s*\{", re.M)
DECLARED = re.compile(r"^(?!static|typedef|#|\s)[\w\s*]*?[\s*](\w+)\([^;{}]*\)[^;{}]*;", re.M)
SEAM = "each device has its own"
STRUCTS_TWICE = {"lane": SEAM, "graph": SEAM, "nonbonded": SEAM}
STATICS_TWICE = {}


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


def defined(pattern, texts):
    """Name -> the files of `texts` that have it, by the pattern."""
    found = {}
    for path, text in texts.items():
        for name in pattern.findall(COMMENT.sub(" ", text)):
            found.setdefault(name, set()).add(path)
    return found


def names_twice(texts, structs_excused, statics_excused):
    """Of the sources, path -> text."""
    statics = defined(STATIC, texts)
    declared = defined(DECLARED, {path: text for path, text in texts.items() if path.endswith((".h", ".cuh"))})
    wrong, structs, in_rooms = [], {}, {}
    for name, paths in defined(STRUCT, texts).items():
        if len(paths) > 1:
            structs[name] = f"struct {name} is defined in {', '.join(sorted(paths))}: expected a name for each"
    for name, paths in statics.items():
        rooms = [os.path.dirname(path) for path in paths]
        same = sorted(path for path in paths if rooms.count(os.path.dirname(path)) > 1)
        if same:
            in_rooms[name] = f"{', '.join(same)}: each has a static function {name}: expected names that say what each does"
        wrong += [f"{path}: the static function {name} has the name of another one, of {', '.join(sorted(declared[name]))}"
                  for path in sorted(paths) if name in declared]
    for found, excused in ((structs, structs_excused), (in_rooms, statics_excused)):
        wrong += [text for name, text in sorted(found.items()) if name not in excused]
        wrong += [f"check_words.py: {name} is excused and need not be" for name in excused if name not in found]
    return wrong


def self_test_names():
    """Faults that are not found, and what is found though it is right."""
    a, b, other, header = "x/a.c", "x/b.c", "y/c.c", "y/d.h"
    function = "static int take(int n,\n    int m)\n{\n}\n"
    faults = ({a: "struct row {", other: "static const struct row {"}, {a: "struct alignas(8) row {", b: "    struct row {"},
              {a: function, b: function}, {a: function, header: "int take(int n);\n"}, {a: "", "y/e.cuh": "", other: ""})
    right = ({a: "struct row {};\nstruct row r = {0};", b: "struct row;\nvoid f(struct row *r) {"}, {a: function, other: function},
             {a: function, b: "/* static int take(int n) { */\n static int taken(int n)\n{"}, {a: "static int take(int n);", b: function},
             {a: function, header: "struct take;\nint take_all(int n);\nstatic inline int take_one(int n) {}\n"})
    excuse = {"row": "?"}
    return [f"not found in {texts}" for texts in faults[:-1] if not names_twice(texts, {}, {})] + \
        [f"{texts}: {names_twice(texts, {}, {})}" for texts in right if names_twice(texts, {}, {})] + \
        [f"excused: {texts}" for texts in (faults[0],) if names_twice(texts, excuse, {})] + \
        [f"excused for nothing: {texts}" for texts in (faults[-1],) if not names_twice(texts, excuse, {})]


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
    wrong = self_test() + self_test_names()
    for name in names:
        with open(os.path.join(root, name), encoding="utf-8") as f:
            wrong += problems(name, f.read())
    code = {}
    for name in (name for top in CODE for ext in ("c", "h", "cu", "cuh", "cc") for name in glob.glob(f"{top}/**/*.{ext}", root_dir=root, recursive=True)):
        with open(os.path.join(root, name), encoding="utf-8") as f:
            code[name] = f.read()
    wrong += names_twice(code, STRUCTS_TWICE, STATICS_TWICE)
    print("\n".join(wrong))
    print(f"{len({*names, *code})} files read, {len(wrong)} problems")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
