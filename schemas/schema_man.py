#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual page of what people write, shoal-ensemble(5), shoal-campaign(5) or shoald.yaml(5), from its schema, as scdoc source.

Usage: schema_man.py SCHEMA.json EXAMPLE.yaml OUTPUT.scd
"""
import json
import os
import sys

HEAD = """{upper}(5)
; SPDX-License-Identifier: Apache-2.0

# NAME

{name} - {about}

# DESCRIPTION

{description} Unknown keys are errors. Anchors, aliases and tags are not accepted.

# KEYS

"""
PAGES = {  # by schema: fields of HEAD, what the example is
    "ensemble.schema.json": ({"name": "shoal-ensemble", "about": "what shoal is asked to simulate", "description": """\
An ensemble spec is a YAML file. Quantities carry units, as in 0.9 nm; where a time is wanted a count of steps is welcome too, as in 25 steps, and times are
whole multiples of the timestep."""}, "The hydration of methane, small enough for minutes"),
    "shoald.schema.json": ({"name": "shoald.yaml", "about": "the configuration of shoald", "see": "*shoald*(8)", "description": """\
_/etc/shoal/shoald.yaml_, for a user's own service _$XDG_CONFIG_HOME/shoal/shoald.yaml_, is a YAML file with the options of *shoald*(8). Every option is a key of
the same name; *device* may be a list. An option of the command line comes before the key. The file need not be there, and may be empty.

After a SIGHUP (*systemctl reload shoald*) the service reads the file again, and its log says what changed. If something is wrong with the file, the log says line
and key, and nothing changes. *shoald --check-config* says the same before."""}, "A GPU node for many"),
    "campaign.schema.json": ({"name": "shoal-campaign", "about": "many ensembles that belong together", "description": """\
A campaign is a YAML file for *shoal campaign*: systems, legs for each of them or for pairs of them, and repeats. Each of its ensembles has a spec of its own,
*shoal-ensemble*(5), made of the leg's with the campaign's parts merged in and $(NAME) replaced. Errors in it name the file and the line that a part is from.

An ensemble's key and name are NAME.SYSTEM.LEG.REPEAT, with LIGAND_I\\_LIGAND_J for a system where the leg is of edges; beyond 64 characters the end is a
checksum. Its labels are campaign, system or edge, leg and repeat. A pilot (*ladder*) ends in .pilotROUND and has the labels pilot, in place of campaign, and
round; the repeats have its key as their label ladder."""}, "Two molecules, the way between them, three repeats"),
}


def escape(text):
    for character in "\\_*<>[]#|":
        text = text.replace(character, "\\" + character)
    return text.replace("++", "+\\+")


def words(value):
    return value if isinstance(value, str) else json.dumps(value)


def domain(schema):
    """What a value may be, in words."""
    unit = schema.get("x-unit")
    if "enum" in schema:
        choices = [c for c in schema["enum"] if isinstance(c, str)]
        return f"one of {', '.join(choices)}" if len(choices) > 1 else ""
    if unit:
        low = schema.get("x-minimum", schema.get("x-exclusive-minimum"))
        text = f"{'from' if 'x-minimum' in schema else 'above'} {low:g} to {schema['x-maximum']:g} {unit}"
        return text + (", or steps" if schema.get("x-steps") else "") + (f", or {schema['x-none']}" if "x-none" in schema else "")
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind in ("number", "integer"):
        return (f"{schema['minimum']:.16g} to {schema['maximum']:.16g}" + (", whole" if kind == "integer" else "") +
                (f", or {schema['x-word']}" if "x-word" in schema else ""))
    return ""


def entries(schema, path, required):
    if "$ref" in schema:
        return f"*{path}*\n\tA {schema['$ref'].rsplit('/', 1)[1]}, see below.{' Required.' if required else ''}\n\n"
    if "x-unsupported" in schema:
        return f"*{path}*\n\tNot supported: {escape(schema['x-unsupported'])}.\n\n"
    facts = [schema["description"]]
    if domain(schema):
        facts.append(domain(schema)[0].upper() + domain(schema)[1:] + ".")
    if "default" in schema:
        facts.append(f"Default: {words(schema['default'])}.")
    elif "examples" in schema:
        facts.append(f"Example: {words(schema['examples'][0])}.")
    if required:
        facts.append("Required.")
    text = f"*{path}*\n\t{escape(' '.join(facts))}\n\n"
    below = schema["items"] if schema.get("items", {}).get("type") == "object" else schema
    for key, child in below.get("properties", {}).items():
        dash = "- " if below is not schema else ""
        text += entries(child, f"{path}: {dash}{key}" if dash else f"{path}.{key}", key in below.get("required", []))
    return text


def example(path):
    """A spec without the comments that are for its own place."""
    with open(path, encoding="utf-8") as f:
        return "".join(line for line in f if not line.startswith("#"))


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    page, about = PAGES[os.path.basename(sys.argv[1])]
    text = HEAD.format(upper=page["name"].upper(), **page)
    for key, child in schema["properties"].items():
        text += entries(child, key, key in schema.get("required", []))
    for name, child in schema.get("definitions", {}).items():
        text += f"# {name.upper()}S\n\n" + entries(child, name, False)
    text += f"# EXAMPLES\n\n{about}:\n\n```\n" + example(sys.argv[2])
    text += "```\n\n# SEE ALSO\n\n" + page.get("see", "*shoal*(1)") + "\n"
    with open(sys.argv[3], "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
