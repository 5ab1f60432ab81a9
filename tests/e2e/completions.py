#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The generated completions, asked as each shell asks them. A shell that is not installed is passed over, said in the output.

Usage: completions.py SHOAL COMPLETIONS_FOLDER
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile

SHOAL, SCRIPTS = (os.path.abspath(p) for p in sys.argv[1:3])

# A program named shoal, whose list has one ensemble; everything else is the real one.
FAKE = f"""#!/bin/sh
[ "$1" = list ] && {{ printf '3f2a9c00\\tmethane\\tdone\\n'; exit; }}
exec {SHOAL} "$@"
"""

# The shell draws its answer on a terminal of its own; what it would insert is read from there. What is typed has no < that could be taken
# for an answer's, however late it is drawn.
ZSH = r"""
zmodload zsh/zpty
zpty t zsh -f -i
zpty -w t 'PROMPT= RPROMPT= ; unsetopt zle_bracketed_paste; fpath=($SCRIPTS $fpath); autoload -U compinit; compinit -u -D'
zpty -w t 'zstyle ":completion:*" list-colors ""; LISTMAX=10000; compadd() { builtin compadd -O found "$@" 2>/dev/null; (( $#found )) && printf \\074%s\\076\\n $found; builtin compadd "$@"; }'
zpty -w t 'echo read''y'
zpty -r -m t REPLY '*ready*'
zpty -w -n t "$1"$'\t'
zpty -r -m t begun '*<*>*'
zpty -w -n t $'\C-u'
zpty -w t 'echo do''ne'
zpty -r -m t REPLY '*done*'
print -r -- "$begun$REPLY"
zpty -d t
"""


def bash(words):
    line = " ".join(f"'{w}'" for w in words)
    code = f". {SCRIPTS}/shoal; COMP_WORDS=(shoal {line}); COMP_CWORD={len(words)}; _shoal; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    return run(["bash", "-c", code]).split()


def fish(words):
    code = f"source {SCRIPTS}/shoal.fish; complete -C 'shoal {' '.join(words)}'"
    return [line.split("\t")[0] for line in run(["fish", "--no-config", "-c", code]).splitlines()]


def zsh(words):
    text = run(["zsh", "-f", "-c", ZSH, "zsh", "shoal " + " ".join(words)])
    return [part.split(">")[0] for part in text.split("<")[1:]]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=ENVIRONMENT, cwd=FOLDER.name)
    assert done.returncode == 0 and not done.stderr, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def check(shell, complete):
    if not shutil.which(shell):
        print(f"{shell}: not installed")
        return
    for words, wanted in ((["re"], {"reestimate", "release", "report", "results", "resume", "retry"}), (["campaign", "ga"], {"gather"}), (["campaign", "sl"], {"slurm"}), (["submit", "--la"], {"--label"}),
                          (["watch", "3"], {"3f2a9c00"}), (["list", "--state", "can"], {"cancelled"}),
                          (["validate", "me"], {"methane.yaml"}), (["help", "subm"], {"submit"}), (["init", "hy"], {"hydration"}),
                          (["bench", "--form", "ga"], {"gang"})):
        got = {w.rstrip("= ") for w in complete(words)}
        assert got == wanted or (words[0] == "validate" and wanted <= got), f"{shell}: {words}: {got}, expected {wanted}"
    print(f"{shell}: completes")


FOLDER = tempfile.TemporaryDirectory()
with open(os.path.join(FOLDER.name, "shoal"), "w", encoding="utf-8") as f:
    f.write(FAKE)
os.chmod(f.name, stat.S_IRWXU)
for name in ("methane.yaml", "methane.top"):
    with open(os.path.join(FOLDER.name, name), "w", encoding="utf-8"):
        pass
ENVIRONMENT = {**os.environ, "PATH": f"{FOLDER.name}:{os.environ['PATH']}", "HOME": FOLDER.name, "SCRIPTS": SCRIPTS, "TERM": "dumb"}
for shell_name, function in (("bash", bash), ("fish", fish), ("zsh", zsh)):
    check(shell_name, function)
FOLDER.cleanup()
