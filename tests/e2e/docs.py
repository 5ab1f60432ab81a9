#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The guide (docs/*.md, README.md) is true: its commands run, what they print is what it shows, its options, files and links exist.

Each page is one terminal: its blocks run in order in one bash, in a folder of its own with a copy of examples/, beside a service of its
own. docs/README.md says what the words behind ``` mean; a block with any other is a failure, and so is one without.
Runs itself with SHOAL_TEST_PYTHON where that is set (a virtual environment with pandas).

Usage: docs.py SHOAL SHOALD SHOAL_WORKER SOURCE_ROOT BUILD_ROOT [PAGE...]
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

import docs_check
import docs_messages
from docs_faults import FAILURES, FAULTS
from docs_page import Page, mismatch
from service import AS_IS

HERE = os.path.dirname(os.path.abspath(__file__))
PRELUDE = """set -eo pipefail
ready() { for _ in $(seq 200); do "$REAL_SHOAL" version >/dev/null 2>&1 && return; sleep 0.05; done; echo "no service answers"; return 1; }
stop() { # what the page has in the background, and the services that `shoal up` has started
    set +e
    services=$(cat "$PAGE_FOLDER.services" 2>/dev/null)
    kill $(jobs -p) $services 2>/dev/null
    wait
    for process in $services; do while kill -0 "$process" 2>/dev/null; do sleep 0.05; done; done
}
trap stop EXIT
"""
# shoal, which takes other times where a block is to have little time: so many steps of 2 fs, or twice as many.
CLIENT = """#!/bin/bash
for given; do
    word=
    case $last in
        --time) word=${SHORT:+$((2 * SHORT)) fs} ;;
        --until) word=${SHORT:+$((4 * SHORT)) fs} ;;
    esac
    words+=("${word:-$given}")
    last=$given
done
exec "$REAL_SHOAL" "${words[@]}"
"""
SERVICE = """shoald 2>log &
ready
"""


def commands_of(block, number, path):
    """What bash is to do for a block whose text is at `path`."""
    text = block.text.rstrip()
    if "file" in block.options:
        return f"cp {path} {block.options['file']}"
    if block.kind == "yaml":
        spec, part = block.options["in"], f"{os.path.dirname(block.options['in']) or '.'}/{number}.yaml"
        return f'"$PYTHON" {HERE}/docs_short.py replace {path} {spec} {number}.yaml\nshoal validate {part}'
    if block.kind == "python":
        return f'PYTHONPATH=$PAGE_FOLDER/client/python "$PYTHON" {path}'
    if "fails" in block.options:
        return f'code=0\n{text} || code=$?\n[ $code = {block.options["fails"]} ] || {{ echo "exit code $code"; false; }}'
    return text + ("\nready" if block.starts_service() else "")


def script(page, folder):
    """The page as one bash script; what block N prints goes to FOLDER.out/N."""
    lines = [PRELUDE, "" if page.starts_service() else SERVICE]
    for number, block in enumerate(page.blocks):
        path = f"{folder}.blocks/{number}"
        with open(path, "w", encoding="utf-8") as f:
            f.write(block.text)
        if not block.runs():
            continue
        lines += [f"exec >{folder}.out/{number} 2>&1", "unset SHORT"]
        if "short" in block.options:
            steps = block.options["short"] or 40
            lines.append(f'export SHORT={steps}; "$PYTHON" {HERE}/docs_short.py shorten {steps} .')
        lines.append(commands_of(block, number, path))
    return "\n".join(lines) + "\n"


def make_folder(folder, root, programs):
    """What a page finds: examples, the Python package, and programs; shoald with a state, a socket and a device of its own."""
    for name in ("", ".blocks", ".out", ".bin"):
        os.makedirs(folder + name)
    shutil.copytree(os.path.join(root, "examples"), os.path.join(folder, "examples"))
    os.makedirs(os.path.join(folder, "client"))
    os.symlink(os.path.join(root, "client/python"), os.path.join(folder, "client/python"))
    shoal, shoald, worker = programs
    own = ["--device", "cpu", "--state", f"{folder}/state", "--socket", f"{folder}/api.sock", *AS_IS]
    starters = {"shoal-worker": [worker], "shoald": [shoald, *own], "python3": [sys.executable]}
    texts = {name: f"#!/bin/sh\nexec {' '.join(command)} \"$@\"\n" for name, command in starters.items()}
    up = texts["shoald"].replace("exec", f"echo $$ >>{folder}.services\nexec")
    for name, text in {"shoal": CLIENT, "shoald-of-up": up, **texts}.items():
        path = os.path.join(folder + ".bin", name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o755)
    return {**os.environ, "PATH": f"{folder}.bin:{os.environ['PATH']}", "HOME": folder, "XDG_RUNTIME_DIR": folder, "REAL_SHOAL": shoal,
            "SHOAL_SOCKET": f"{folder}/api.sock", "SHOAL_WORKER": worker, "SHOALD": f"{folder}.bin/shoald-of-up", "GMXLIB": "", "PYTHON": sys.executable, "PAGE_FOLDER": folder,
            "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}


def read(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def run_page(page, folder, root, programs):
    """What is wrong with the page, as strings."""
    environment = make_folder(folder, root, programs)
    done = subprocess.run(["timeout", "200", "bash", "-c", script(page, folder)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    said = [read(f"{folder}.out/{number}") for number in range(len(page.blocks))]
    if done.returncode:
        last = max((n for n, text in enumerate(said) if text is not None), default=None)
        where = page.name if last is None else page.blocks[last].where
        return [f"{where}: exit code {done.returncode}\n{said[last] if last is not None else ''}{done.stdout}{done.stderr}"]
    wrong = []
    for number, block in enumerate(page.blocks):
        shown = block.kind == "text" and "output" in block.options
        lacks = mismatch(block.text, said[number - 1], "short" in page.blocks[number - 1].options) if shown else None
        if lacks:
            wrong.append(f"{block.where}: {lacks}\n{said[number - 1]}")
    return wrong


def looked_over(name, text, root, known):
    page = Page(name, text)
    return page, (page.wrong + docs_check.links(page, root) + docs_check.words(page, known) + docs_check.exits(page, known)
                  + docs_messages.messages(page, known.messages))


def self_test(root, programs, known):
    """Faults that are not found."""
    missed = []
    for text, wanted in FAULTS:
        found = looked_over("docs/a.md", text, root, known)[1]
        missed += [] if wanted in str(found) else [f"not found in {text!r}: {found}"]
    with tempfile.TemporaryDirectory() as folder:
        for number, (text, wanted) in enumerate(FAILURES):
            wrong = run_page(Page("docs/a.md", text), os.path.join(folder, str(number)), root, programs)
            missed += [] if wanted in "".join(wrong) else [f"not found in {text!r}: {wrong}"]
    return missed


def main():
    programs, root, build = [os.path.abspath(p) for p in sys.argv[1:4]], os.path.abspath(sys.argv[4]), os.path.abspath(sys.argv[5])
    names = sys.argv[6:] or [os.path.relpath(p, root) for p in sorted(glob.glob(os.path.join(root, "docs/*.md")))] + ["README.md"]
    known = docs_check.Known(programs, root)
    wrong, total = self_test(root, programs, known), {}
    for name in names:
        page, found = looked_over(name, read(os.path.join(root, name)), root, known)
        wrong += found
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            if not page.wrong and any(block.runs() for block in page.blocks):
                wrong += run_page(page, os.path.join(folder, "page"), root, programs)
        counts = {**page.counts(), **docs_messages.counted(page)}
        print(f"{name}: {', '.join(f'{n} {what}' for what, n in counts.items())}; {time.monotonic() - begun:.1f} s", flush=True)
        for what, n in counts.items():
            total[what] = total.get(what, 0) + n
    wrong += docs_check.units(build, root, programs[1])
    print(f"{len(names)} pages: {', '.join(f'{n} {what}' for what, n in total.items())}")
    print("\n\n".join(wrong))
    return 1 if wrong or not total.get("commands run") else 0


if __name__ == "__main__":
    if os.environ.get("SHOAL_TEST_PYTHON") and "SHOAL_TEST_INSIDE" not in os.environ:
        os.execve(os.environ["SHOAL_TEST_PYTHON"], [os.environ["SHOAL_TEST_PYTHON"], *sys.argv], dict(os.environ, SHOAL_TEST_INSIDE="1"))
    sys.exit(main())
