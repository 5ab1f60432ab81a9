#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the schemas of what people write to what the interpreter in daemon/spec/document/schema.c knows, and to being documented: every
key has a description, and every key that holds a value an example. Holds specs and results to the kinds of observables that there are.

Usage: check_schema.py OBSERVABLES.def RESULTS.json ENSEMBLE.json SCHEMA.json...
"""
import json
import re
import sys

KNOWN = {
    "$schema", "$comment", "title", "description", "default", "examples", "type", "properties", "required",
    "additionalProperties", "minProperties", "maxProperties", "oneOf", "items", "minItems", "maxItems", "enum", "pattern",
    "minLength", "maxLength", "minimum", "maximum", "x-unit", "x-steps", "x-none", "x-minimum", "x-exclusive-minimum",
    "x-maximum", "x-boolean", "x-word", "x-unsupported", "x-open",
}
KINDS = [{"$ref": f"#/definitions/{kind}"} for kind in ("selection", "coordination", "ladder")]
UNITS = {"nm", "ps", "K", "bar", "1/ps", "1/nm", "1/nm^3", "kJ/mol", "kJ/mol/nm", "kJ/mol/nm^2", "s", "mPa s"}


def problems(schema, where, item=False):
    found = [f"unknown keyword {key}" for key in schema if key not in KNOWN]
    kind = schema.get("type")
    if "x-word" in schema:
        if kind not in (["integer", "string"], ["number", "string"]) or schema.get("pattern") != f"^{schema['x-word']}$":
            found.append("a word, but of no such type or pattern")
        kind = kind[0]
    if "$ref" in schema:
        return [] if schema in KINDS else [f"{where}: refers to something else than a selection, a coordination or a ladder"]
    if kind == ["string", "object"]: # a text, or a mapping
        found += [] if "maxLength" in schema else ["no maxLength"]
        kind = "object"
    if kind == ["string", "integer"]: # a text that may look like a number
        found += [] if "pattern" in schema else ["no pattern"]
        kind = "string"
    listed = kind == ["string", "array"] # a text, or a list
    if listed:
        kind = "array"
        found += [] if "maxLength" in schema else ["no maxLength"]
    value = kind not in ("object",) and "x-unsupported" not in schema
    if not item:
        found += [] if schema.get("description", "").endswith(".") or "x-unsupported" in schema else ["no description"]
        found += [] if not value or schema.get("examples") else ["no example"]
    if "x-unsupported" in schema:
        return [f"{where}: {f}" for f in found]
    if kind == "object":
        if (schema.get("additionalProperties") is not False) != ("x-open" in schema):
            found.append("takes any key")
        found += [f"required {r} is no property" for r in schema.get("required", []) if r not in schema.get("properties", {})]
    elif kind == "array":
        if "maxItems" not in schema:
            found.append("no maxItems")
    elif "x-unit" in schema:
        if schema["x-unit"] not in UNITS or kind != "string":
            found.append("bad quantity")
        if "x-maximum" not in schema or ("x-minimum" in schema) == ("x-exclusive-minimum" in schema):
            found.append("no range")
    elif kind in ("number", "integer"):
        if "minimum" not in schema or "maximum" not in schema:
            found.append("no range")
        found += ["default of another type" for d in [schema.get("default", 0)] if not isinstance(d, (int, float))]
    elif kind == "string":
        if "maxLength" not in schema:
            found.append("no maxLength")
    elif "enum" not in schema:
        found.append("neither type nor enum")
    if "enum" in schema and "default" in schema and schema["default"] not in schema["enum"]:
        found.append("default is not a choice")
    for one in schema.get("oneOf", []):
        if list(one) != ["required"] or len(one["required"]) != 1:
            found.append("oneOf of another shape")
    found = [f"{where}: {f}" for f in found]
    for key, below in schema.get("properties", {}).items():
        found += problems(below, f"{where}.{key}")
    if kind == "array":
        found += problems(schema["items"], f"{where}[]", item=True)
    return found


def kinds_of(table):
    return re.findall(r"^OBSERVABLE\(\w+, (\w+), ", table, re.M)


def observables(kinds, ensemble, results):
    """Keys of a spec's observables, and the kinds that results have, in the order of the table."""
    keys = ensemble["properties"]["observables"]["items"]["properties"]
    told = results["properties"]["observables"]["items"]["properties"]["kind"]["enum"]
    found = [f"observables: a spec has {sorted(keys)}, the table {sorted(kinds)}"] if sorted(keys) != sorted(kinds) else []
    return found + ([f"observables: results have {told}, the table {kinds}"] if told != kinds else [])


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def main():
    table, results, *schemas = sys.argv[1:]
    kinds, results, ensemble = kinds_of(read(table)), json.loads(read(results)), json.loads(read(schemas[0]))
    found = observables(kinds, ensemble, results)
    if len(observables(kinds[1:], ensemble, results)) != 2:
        found.append("the check of observables is broken")
    for path in schemas:
        schema = json.loads(read(path))
        found += problems({key: value for key, value in schema.items() if key != "definitions"}, path)
        for name, definition in schema.get("definitions", {}).items():
            found += problems(definition, f"{path}#{name}")
    planted = problems({"type": "number", "minimun": 1, "maximum": 2, "examples": [1], "description": "A."}, "planted")
    if planted != ["planted: unknown keyword minimun", "planted: no range"]:
        found.append(f"the check itself is broken: {planted}")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
