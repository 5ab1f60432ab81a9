#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns files into C arrays, so that programs carry them and need no path at run time.

Usage: embed.py OUTPUT.c SYMBOL=FILE...   gives `const char SYMBOL[]`, NUL-terminated, and `const size_t SYMBOL_len`.
"""
import sys


def array(symbol, data):
    lines = [f"const size_t {symbol}_len = {len(data)};", f"const char {symbol}[] = {{"]
    data += b"\0"
    for i in range(0, len(data), 24):
        # Octal character literals: a byte above 127 stays a char on every compiler.
        lines.append("".join(f"'\\{byte:o}'," for byte in data[i:i + 24]))
    return lines + ["};"]


def main():
    lines = ["#include <stddef.h>"]
    for item in sys.argv[2:]:
        symbol, path = item.split("=", 1)
        lines += [f"extern const size_t {symbol}_len;", f"extern const char {symbol}[];"]
        with open(path, "rb") as f:
            lines += array(symbol, f.read())
    with open(sys.argv[1], "w", encoding="ascii") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
