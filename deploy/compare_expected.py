#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a computed free energy beside the expected one: results.json on standard input, expected.json as argument."""
import json
import sys

KJ_PER_KCAL = 4.184


def main():
    results = json.load(sys.stdin)
    with open(sys.argv[1], encoding="utf-8") as f:
        expected = json.load(f)
    estimate, uncertainty = results["estimate"], results["uncertainty"]
    if estimate is None or estimate.get("magnitude") is None:
        print(f"no free energy: {results.get('status')}", file=sys.stderr)
        return 1
    scale = {"kilojoule_per_mole": 1 / KJ_PER_KCAL, "kilocalorie_per_mole": 1.0}[estimate["unit"]]
    print(f"{expected['what']}, kcal/mol")
    print(f"  Shoal      {estimate['magnitude'] * scale:6.2f} +- {uncertainty['magnitude'] * scale:.2f}")
    print(f"  published  {expected['value']:6.2f} +- {expected['uncertainty']:.2f}   {expected['source']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
