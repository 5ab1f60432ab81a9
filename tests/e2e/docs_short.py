#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the test of the guide does to specs.

shorten STEPS FOLDER     every spec below FOLDER gets stages of a few steps and production of STEPS, and every campaign a
                         budget of 64 windows of STEPS of 2 fs: what a block marked `short` runs with
replace PART SPEC NAME   beside SPEC writes NAME: SPEC with the top-level keys of PART in place of its own
"""
import glob
import os
import re
import sys


def shorter(text, steps):
    text = re.sub(r"(minimize: \{steps:) \d+", r"\1 20", text)
    text = re.sub(r"(equilibrate: \{time:) [^,}]+", r"\1 10 steps", text)
    text = re.sub(r"(produce: \{time:) [^,}]+", rf"\1 {steps} steps", text)
    text = re.sub(r"(sample-every:) [^,}]+", r"\1 2 steps", text)
    text = re.sub(r"(switch: \{length:) [^,}]+", r"\1 100 steps", text)
    text = re.sub(r"(snapshots-every:) [^,}]+", r"\1 10 steps", text)
    text = re.sub(r"(budget: \{time:) [^,}]+", rf"\1 {64 * steps * 2} fs", text)
    return re.sub(r"(frames-every:) [^,}]+", r"\1 10 steps", text)


def top_level(text):
    """{key: lines} of a YAML mapping written in block style; what is before the first key is left out."""
    found, key = {}, None
    for line in text.splitlines(keepends=True):
        match = re.match(r"([a-z-]+):", line)
        key = match[1] if match else key
        if key and not line.startswith("#"):
            found[key] = found.get(key, "") + line
    return found


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    if sys.argv[1] == "shorten":
        for path in glob.glob(os.path.join(sys.argv[3], "**/*.yaml"), recursive=True):
            if not path.startswith(os.path.join(sys.argv[3], "state")):
                write(path, shorter(read(path), int(sys.argv[2])))
    else:
        part, spec, name = sys.argv[2:]
        merged = {**top_level(read(spec)), **top_level(read(part))}
        write(os.path.join(os.path.dirname(spec), name), "".join(merged.values()))


if __name__ == "__main__":
    main()
