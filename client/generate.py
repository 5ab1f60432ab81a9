#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what repeats the table of commands (client/commands.c), from `shoal help --json`: the manual page as scdoc source, and
completions of bash, zsh and fish.

Usage: generate.py SHOAL man|bash|zsh|fish OUTPUT [TEMPLATE]
"""
import json
import subprocess
import sys

ACTIONS = "plan submit run slurm status wait gather report diff pause resume retry extend cancel rm"  # of a campaign
KINDS = "hydration relative absolute switching"  # of specs that init writes
VALUES = {"form": "auto gang graph", "pme": "auto block card", "device": "cpu cuda:0",
          "priority": "low normal high urgent", "to": "low normal high urgent", "by": "user ensemble campaign device day"}  # of options
SPDX = "# SPDX-License-Identifier: Apache-2.0"


class Table:
    def __init__(self, program):
        answer = json.loads(subprocess.run([program, "help", "--json"], check=True, capture_output=True).stdout)
        self.commands, self.exits, self.states = answer["commands"], answer["exit_codes"], answer["states"]
        self.options = {o["name"]: o for o in answer["options"]}

    def of(self, command):
        return [self.options[name] for name in command["options"]]


def kind(words):
    """What the words of a command are: "spec", "id", "file", "command", "kind", "action" (and a file) or nothing."""
    kinds = {"ACTION": "action", "KIND": "kind", "SPEC": "spec", "ID": "id", "FILE": "file", "COMMAND": "command"}
    return next((k for word, k in kinds.items() if word in words), "")


# ---- the manual page

def escape(text):
    for character in "\\_*<>[]#|":
        text = text.replace(character, "\\" + character)
    return text.replace("++", "+\\+")


def option_man(option):
    letter = f"*-{option['letter']}*, " if option["letter"] else ""
    return f"{letter}*--{option['name']}*" + (f" _{escape(option['argument'])}_" if option["argument"] else "")


def words_man(words):
    return " ".join(f"[_{w[1:-1].rstrip('.')}_{'...' if '...' in w else ''}]" if w.startswith("[") else f"_{w}_"
                    for w in words.split())


def head_man(command):
    words = words_man(command["words"])
    return f"*shoal* *{command['name']}*" + (f" {words}" if words else "")


def man(table, template):
    commands, options = "", ""
    for c in table.commands:
        commands += f"*{c['name']}*" + (f" {words_man(c['words'])}" if c["words"] else "") + "\n"
        text = c["summary"][0].upper() + c["summary"][1:] + "." + (" Needs no service." if c["needs"] == "worker" else "")
        for part in f"{escape(text)} {escape(c['details'])}".rstrip().split("\n"):
            commands += ("\t\\" if part.startswith("-") else "\t") + part + "\n\n"
        commands += "\tOptions: " + ", ".join(f"*--{o}*" for o in c["options"]) + ".\n\n"
    for o in table.options.values():
        options += f"{option_man(o)}\n\t{escape(o['help'][0].upper() + o['help'][1:])}.\n\n"
    for name, text in (("SYNOPSIS", "++\n".join(head_man(c) + " [_OPTIONS_]" for c in table.commands)),
                       ("COMMANDS", commands.rstrip()), ("OPTIONS", options.rstrip()),
                       ("EXITS", "\n".join(f"|[ *{e['code']}*\n:[ {escape(e['text'])}" for e in table.exits))):
        template = template.replace(f"@{name}@", text)
    return template


# ---- completions. Ids are asked of the service.

IDS = "shoal list --plain --quiet 2>/dev/null | cut -f 1"


def bash(table):
    lines = [SPDX, "# bash completion for shoal, generated from its table of commands.", "_shoal() {",
             "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options=",
             "    COMPREPLY=()", '    if [ "$COMP_CWORD" = 1 ]; then',
             f"        mapfile -t COMPREPLY < <(compgen -W '{' '.join(c['name'] for c in table.commands)}' -- \"$current\")",
             "        return", "    fi", "    case $previous in"]
    for option in table.options.values():
        words = f"--{option['name']}" + (f" | -{option['letter']}" if option["letter"] else "")
        if option["argument"] == "DIR":
            lines.append(f"    {words}) mapfile -t COMPREPLY < <(compgen -d -- \"$current\"); return ;;")
        elif option["argument"] == "PATH":
            lines.append(f"    {words}) mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return ;;")
        elif option["argument"] == "STATE":
            lines.append(f"    {words}) mapfile -t COMPREPLY < <(compgen -W '{' '.join(table.states)}' -- \"$current\"); return ;;")
        elif option["name"] in VALUES:
            lines.append(f"    {words}) mapfile -t COMPREPLY < <(compgen -W '{VALUES[option['name']]}' -- \"$current\"); return ;;")
        elif option["argument"]:
            lines.append(f"    {words}) return ;;")
    lines += ["    esac", "    case $command in"]
    for c in table.commands:
        lines.append(f"    {c['name']}) options='{' '.join('--' + o for o in c['options'])} --help' ;;")
    lines += ["    esac", "    if [[ $current == -* ]]; then",
              "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$current\")", "        return", "    fi",
              "    case $command in"]
    names = {k: " | ".join(c["name"] for c in table.commands if kind(c["words"]) == k) for k in ("spec", "id", "file", "command", "kind", "action")}
    lines += [f"    {names['spec']})",
              "        mapfile -t COMPREPLY < <(compgen -f -X '!*.y?(a)ml' -- \"$current\"; compgen -d -- \"$current\") ;;",
              f"    {names['action']})",
              f"        mapfile -t COMPREPLY < <([ \"$COMP_CWORD\" = 2 ] && compgen -W '{ACTIONS}' -- \"$current\" || "
              "compgen -f -X '!*.@(yaml|yml|json)' -- \"$current\") ;;",
              f"    {names['id']})",
              f"        mapfile -t COMPREPLY < <(compgen -W \"$({IDS})\" -- \"$current\") ;;",
              f"    {names['file']})",
              "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\") ;;",
              f"    {names['kind']})",
              f"        mapfile -t COMPREPLY < <(compgen -W '{KINDS}' -- \"$current\") ;;",
              f"    {names['command']})",
              f"        mapfile -t COMPREPLY < <(compgen -W '{' '.join(c['name'] for c in table.commands)}' -- \"$current\") ;;",
              "    esac", "}", "shopt -s extglob", "complete -o filenames -F _shoal shoal"]
    return "\n".join(lines) + "\n"


def zsh_text(text):
    return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh_option(option, states):
    value = ""
    if option["argument"]:
        action = {"DIR": "_files -/", "PATH": "_files", "STATE": f"({' '.join(states)})"}.get(option["argument"], " ")
        action = f"({VALUES[option['name']]})".replace(":", "\\:") if option["name"] in VALUES else action
        value = f":{option['argument']}:{action}"
    names = [f"--{option['name']}"] + ([f"-{option['letter']}"] if option["letter"] else [])
    return [f"'*{n}{'=' if value and n.startswith('--') else '+' if value else ''}[{zsh_text(option['help'])}]{value}'" for n in names]


def zsh(table):
    lines = ["#compdef shoal", SPDX, "# zsh completion for shoal, generated from its table of commands.",
             "_shoal_ids() {", "    local -a ids", f"    ids=(${{(f)\"$({IDS})\"}})", "    compadd -a ids", "}",
             "_shoal_commands() {", "    local -a commands", "    commands=("]
    lines += [f"        '{c['name']}:{zsh_text(c['summary'])}'" for c in table.commands]
    lines += ["    )", "    _describe command commands", "}", "_shoal() {",
              "    if (( CURRENT == 2 )); then", "        _shoal_commands", "        return", "    fi",
              "    local command=$words[2]", "    shift words", "    (( CURRENT-- ))", "    case $command in"]
    action = {"action": f"'1:action:({ACTIONS})' '*:file:_files -g \"*.(yaml|yml|json)(-.)\"'", "spec": "'*:spec:_files -g \"*.(yaml|yml)(-.)\"'", "id": "'*:ensemble:_shoal_ids'", "file": "'*:file:_files'", "command": "'*:command:_shoal_commands'",
              "kind": f"'1:kind:({KINDS})'"}
    for c in table.commands:
        words = [w for o in table.of(c) for w in zsh_option(o, table.states)]
        words += [action[kind(c["words"])]] if kind(c["words"]) else []
        lines.append(f"    {c['name']})\n        _arguments \\\n            " + " \\\n            ".join(words) + "\n        ;;")
    lines += ["    esac", "}", '_shoal "$@"']
    return "\n".join(lines) + "\n"


def fish_text(text):
    return text.replace("\\", "\\\\").replace("'", "\\'")


def fish(table):
    lines = [SPDX, "# fish completion for shoal, generated from its table of commands.", "complete -c shoal -f"]
    for c in table.commands:
        lines.append(f"complete -c shoal -n __fish_use_subcommand -a {c['name']} -d '{fish_text(c['summary'])}'")
    for c in table.commands:
        here = f"complete -c shoal -n '__fish_seen_subcommand_from {c['name']}'"
        for o in table.of(c):
            letter = f" -s {o['letter']}" if o["letter"] else ""
            value = {"DIR": " -r -a '(__fish_complete_directories)'", "PATH": " -r -F",
                     "STATE": f" -x -a '{' '.join(table.states)}'"}.get(o["argument"], " -x") if o["argument"] else ""
            value = f" -x -a '{VALUES[o['name']]}'" if o["name"] in VALUES else value
            lines.append(f"{here} -l {o['name']}{letter}{value} -d '{fish_text(o['help'])}'")
        if kind(c["words"]) in ("spec", "file"):
            lines.append(f"{here} -F")
        elif kind(c["words"]) == "action":
            lines.append(f"{here} -F -a '{ACTIONS}'")
        elif kind(c["words"]) == "id":
            lines.append(f"{here} -a '({IDS})'")
        elif kind(c["words"]) == "kind":
            lines.append(f"{here} -a '{KINDS}'")
        elif kind(c["words"]) == "command":
            lines.append(f"{here} -a '{' '.join(x['name'] for x in table.commands)}'")
    return "\n".join(lines) + "\n"


def main():
    table, what = Table(sys.argv[1]), sys.argv[2]
    if what == "man":
        with open(sys.argv[4], encoding="utf-8") as f:
            text = man(table, f.read())
    else:
        text = {"bash": bash, "zsh": zsh, "fish": fish}[what](table)
    with open(sys.argv[3], "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
