# SPDX-License-Identifier: Apache-2.0
"""What the guide names and no block runs: commands for root and for builders, commands and options in sentences, links, units."""
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile

from docs_messages import Messages

# Programs that the guide's commands for root and builders may be; of those of Shoal the options are known.
OTHERS = {"apt-get", "systemctl", "systemd-sysusers", "usermod", "loginctl", "meson", "ninja", "git", "pip", "cp", "rm", "ls", "cd", "ssh"}
MESON = {"buildtype", "b_sanitize", "b_lundef", "prefix"}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Known:
    """What there is: commands with their options, options of the service, of the build and set-ups of tests."""

    def __init__(self, programs, root):
        shoal, shoald, worker = programs
        told = json.loads(output(shoal, "help", "--json"))
        self.root, self.messages = root, Messages(root)
        self.exits = {str(e["code"]): e["text"] for e in told["exit_codes"]}
        letters = {o["name"]: o["letter"] for o in told["options"] if o["letter"]}
        self.commands = {c["name"]: {f"--{o}" for o in c["options"]} | {f"-{letters[o]}" for o in c["options"] if o in letters}
                         for c in told["commands"]}
        self.service = set(re.findall(r"--[a-z-]+", output(shoald, "--help")))
        self.worker = set(re.findall(r"(?m)^  ([a-z-]+) ", output(worker, "--help")))
        with open(os.path.join(root, "meson_options.txt"), encoding="utf-8") as f:
            self.build = set(re.findall(r"option\('(\w+)'", f.read())) | MESON
        with open(os.path.join(root, "tests/meson.build"), encoding="utf-8") as f:
            self.setups = set(re.findall(r"add_test_setup\('(\w+)'", f.read()))

    def wrong(self, line):
        """What is wrong with a command line, or None."""
        for command in re.split(r"&&|\|\||[|;&]", re.sub(r"(^|\s)#.*", "", line)):
            words = [w for w in shlex.split(command.replace("...", "")) if not re.match(r"[A-Z_]+=", w)]
            words = words[1:] if words[:1] == ["sudo"] else words
            found = self.wrong_words(words) if words else None
            if found:
                return found
        return None

    def wrong_words(self, words):
        program, options = words[0], [w.partition("=")[0] for w in words[1:] if re.match(r"--?[a-zA-Z]", w)]
        if program == "shoal":
            return self.wrong_client(words[1:], options)
        if program == "shoald":
            return next((f"shoald has no {o}" for o in options if o not in self.service), None)
        if program == "shoal-worker":
            return None if len(words) == 1 or words[1] in self.worker else f"shoal-worker has no {words[1]}"
        if program == "meson":
            return self.wrong_meson(words)
        if program == "systemctl":
            units = [w for w in words if w.startswith("shoal")]
            return next((f"no unit {u}" for u in units if not os.path.exists(self.unit(u))), None)
        if "/" in program:
            return None if os.access(os.path.join(self.root, program), os.X_OK) else f"{program} is no program of the tree"
        return None if program in OTHERS else f"'{program}' is not a program that the test knows"

    def unit(self, name):
        path = os.path.join(self.root, "deploy/systemd", name)
        return path if name.endswith(".socket") else path + ".in"

    def wrong_client(self, words, options):
        command = next((w for w in words if not w.startswith("-")), None)
        if command is None or command == "COMMAND":
            return next((f"shoal has no {o}" for o in options if o not in ("--help", "--version")), None)
        if command not in self.commands:
            return f"shoal has no command {command}"
        return next((f"shoal {command} has no {o}" for o in options if o not in self.commands[command] | {"--help"}), None)

    def wrong_meson(self, words):
        names = [re.match(r"-D([^=]+)", w) for w in words]
        lacks = [m[1] for m in names if m and m[1] not in self.build]
        lacks += [words[k + 1] for k, w in enumerate(words[:-1]) if w == "--setup" and words[k + 1] not in self.setups]
        return f"meson has no {lacks[0]}" if lacks else None


def words(page, known):
    """Of blocks that do not run, and of `shoal ...` and `--option` in sentences."""
    found = [(block.where, line) for block in page.blocks if not block.runs() for line in block.commands()]
    any_option = known.service.union({"--help", "--version"}, *known.commands.values())
    wrong = []
    for number, line in page.prose:
        for span in re.findall(r"`([^`]+)`", line):
            if re.match(r"(shoal|shoald|shoal-worker) ", span):
                found.append((f"{page.name}:{number}", span))
            elif re.match(r"--[a-z]", span) and span.split()[0].partition("=")[0] not in any_option:
                wrong.append(f"{page.name}:{number}: no program has {span}")
    return wrong + [f"{where}: {line}: {known.wrong(line)}" for where, line in found if known.wrong(line)]


def exits(page, known):
    """A table of all exit codes has what `shoal help` says of each, and more behind it if it likes."""
    _, heading, section = "\n".join(line for _, line in page.prose).partition("## Exit codes\n")
    rows = dict(re.findall(r"(?m)^\| (\d+) \| (.*) \|$", section.partition("\n#")[0]))
    told = {code: text for code, text in known.exits.items() if not rows.get(code, "").startswith(text)}
    told.update({code: "no such exit code" for code in rows if code not in known.exits})
    return [f"{page.name}: exit code {code}: {text}" for code, text in told.items()] if heading else []


def anchors(text):
    """Of headings, as GitHub makes them."""
    titles = re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?ms)^```.*?^```", "", text))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(page, root):
    wrong = []
    for number, line in page.prose:
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if target.startswith("http"):
                continue
            name, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(root, os.path.dirname(page.name), name)) if name else os.path.join(root, page.name)
            if not os.path.exists(path):
                wrong.append(f"{page.name}:{number}: there is no {target}")
            elif anchor:
                with open(path, encoding="utf-8") as f:
                    if anchor not in anchors(f.read()):
                        wrong.append(f"{page.name}:{number}: no heading {target}")
    return wrong


def units(build, root, shoald):
    """systemd takes the units that docs/service.md has root start."""
    if not shutil.which("systemd-analyze"):
        print("units: not looked at, systemd-analyze is not installed")
        return []
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(build, "deploy/system-shoald.service"), encoding="utf-8") as f:
            unit = re.sub(r"(?m)^ExecStart=.*", f"ExecStart={shoald}", f.read())
        with open(os.path.join(folder, "shoald.service"), "w", encoding="utf-8") as f:
            f.write(unit)
        shutil.copy(os.path.join(root, "deploy/systemd/shoald.socket"), folder)
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"{folder}/shoald.service",
                               f"{folder}/shoald.socket"], capture_output=True, text=True, check=False)
        print(f"units: systemd-analyze verify exits {done.returncode}")
        return [f"systemd-analyze verify: {done.stderr}"] if done.returncode else []
