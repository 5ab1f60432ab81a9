#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a computed solvation free energy beside the published one: results.json on standard input, an example's
expected.json as argument. Kcal/mol."""
import json
import sys


def main():
    results = json.load(sys.stdin)
    with open(sys.argv[1], encoding="utf-8") as f:
        expected = json.load(f)
    if not results["solvation"]:
        print(f"no solvation free energy: {results['status']}: {results['reason']}", file=sys.stderr)
        return 1
    computed = results["solvation"]["free_energy"]["kcal/mol"]
    print(f"{expected['what']}, kcal/mol")
    print(f"  Shoal      {computed['value']:6.2f} +- {computed['error']:.2f}   {results['verdict']['verdict']}")
    print(f"  published  {expected['value']:6.2f} +- {expected['uncertainty']:.2f}   {expected['source']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
