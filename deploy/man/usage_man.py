#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a manual page's scdoc source: where the template says @OPTIONS@ or @COMMANDS@, what PROGRAM --help says of them.

Usage: usage_man.py PROGRAM TEMPLATE OUTPUT
"""
import re
import subprocess
import sys

# "  --option ARGUMENT  what it is [default]" and "  command    what it does"
OPTION = re.compile(r"^  --([a-z-]+) (?:([A-Z]+)\s|\s)\s*(\S.*)$")
COMMAND = re.compile(r"^  ([a-z]+)  +(\S.*)$")


def escape(text):
    for character in "\\_*<>[]#|":
        text = text.replace(character, "\\" + character)
    return text.replace("++", "+\\+")


def sentence(text):
    """The help of an option as sentences: what stands in brackets at its end is the default."""
    match = re.match(r"^(.*?) \[([^\]]*)\](.*)$", text)
    text, default = (match.group(1) + match.group(3), match.group(2)) if match else (text, None)
    if not re.match(r"\w+,", text):  # a list of values begins with a value
        text = text[0].upper() + text[1:]
    text = escape(text) + "."
    return text + (f" Default: {escape(default)}." if default else "")


def option(name, argument, text):
    if name.startswith("user-"):
        text = "limit of one user: " + text
    return f"*--{name}*" + (f" _{argument}_" if argument else "") + f"\n\t{sentence(text)}"


def options(lines):
    return "\n\n".join(option(*m.groups()) for m in map(OPTION.match, lines) if m)


def commands(lines):
    return "\n\n".join(f"*{m.group(1)}*\n\t{sentence(m.group(2))}" for m in map(COMMAND.match, lines) if m)


def main():
    program, template, output = sys.argv[1:4]
    lines = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout.splitlines()
    with open(template, encoding="utf-8") as f:
        text = f.read()
    for mark, write in (("@OPTIONS@", options), ("@COMMANDS@", commands)):
        if mark in text:
            made = write(lines)
            assert made, f"{program} --help has nothing for {mark}"
            text = text.replace(mark, made)
    with open(output, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
