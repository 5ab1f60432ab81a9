# SPDX-License-Identifier: Apache-2.0
"""A page of the guide as blocks of code between ```; docs/README.md says what the words behind them mean."""
import importlib.util
import re
import shutil

# The first word behind ```, and what may follow it.
KINDS = {"sh": {"short", "fails", "root", "build", "needs"}, "text": {"output", "file"}, "yaml": {"file", "in"}, "python": {"needs"}}
ANY_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
NUMBER = r"(?<![\w.])" + ANY_NUMBER


def there_is(name):
    return shutil.which(name) or importlib.util.find_spec(name)


class Block:
    def __init__(self, where, words, text):
        self.where, self.text = where, text
        self.kind, *options = words or [""]
        self.options = {name: value for name, _, value in (option.partition("=") for option in options)}
        self.lacks = "needs" in self.options and not there_is(self.options["needs"])
        self.wrong = [f"{where}: a block of an unknown kind: '{' '.join(words)}'"] if not self.known() else []

    def known(self):
        return self.kind in KINDS and self.options.keys() <= KINDS[self.kind] and (self.kind != "yaml" or len(self.options) == 1)

    def runs(self):
        if self.kind == "text":
            return "file" in self.options
        return not self.lacks and not self.options.keys() & {"root", "build"}

    def starts_service(self):
        """The page's own, where others with sockets of their own do not count."""
        return self.kind == "sh" and self.runs() and re.search(r"(?m)^(shoald (?!.*--socket).*&|shoal up)$", self.text) is not None

    def commands(self):
        """Its commands, one string each."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line for line in lines if line.strip() and not line.startswith("#")] if self.kind == "sh" else []

    def counted(self):
        if self.kind == "sh":
            how = "run" if self.runs() else f"not run for want of {self.options['needs']}" if self.lacks else "checked, not run"
            return f"commands {how}{' with little time' if 'short' in self.options else ''}", len(self.commands())
        what = {"python": f"scripts not run for want of {self.options['needs']}" if self.lacks else "scripts run",
                "yaml": "parts of specs validated", "text": "outputs compared" if "output" in self.options else "texts"}
        return "files written" if "file" in self.options else what[self.kind], 1


class Page:
    def __init__(self, name, text):
        self.name, self.blocks, self.prose, self.wrong = name, [], [], []
        begin = None
        for number, line in enumerate(text.splitlines(), 1):
            if begin is None and line.startswith("```"):
                begin, words, inside = number, line[3:].split(), []
            elif begin is None:
                self.take_prose(number, line)
            elif line == "```":
                self.take_block(Block(f"{name}:{begin}", words, "\n".join(inside) + "\n"))
                begin = None
            else:
                inside.append(line)
        if begin is not None:
            self.wrong.append(f"{name}:{begin}: this block has no end")

    def take_prose(self, number, line):
        if line.startswith(("    ", "\t")) or "```" in line:
            self.wrong.append(f"{self.name}:{number}: code outside of a block: nothing would run it")
        self.prose.append((number, line))

    def take_block(self, block):
        self.wrong += block.wrong
        if block.kind == "text" and "output" in block.options and not (self.blocks and self.blocks[-1].runs()):
            self.wrong.append(f"{block.where}: the output of nothing: no block that runs is before it")
        self.blocks.append(block)

    def starts_service(self):
        return any(block.starts_service() for block in self.blocks)

    def counts(self):
        found = {}
        for block in self.blocks:
            what, n = block.counted()
            found[what] = found.get(what, 0) + n
        return found


def pattern(line, short):
    """A line as it is shown: numbers stand for any, `...` for anything, spaces for any number of them; after a block with little time
    a verdict stands for any verdict that has a number."""
    parts = []
    for part in re.split(r"\s*\.\.\.\s*", line):
        pieces = re.split(NUMBER, part)
        parts.append(ANY_NUMBER.join(r"\s+".join(map(re.escape, re.split(r"\s+", piece))) for piece in pieces))
    found = ".*".join(parts)
    return re.sub(r"\b(un)?converged\b", "(un)?converged", found) if short else found


def mismatch(shown, said, short):
    """What of the lines shown was not said, in words; None where all was. A line of `...` alone stands for any lines."""
    lines = [line.strip() for line in said.strip().splitlines()]
    reach = {0}  # how many lines of what was said the first lines of what is shown can stand for
    for line in (line.strip() for line in shown.strip().splitlines()):
        wanted = re.compile(pattern(line, short))
        next_reach = set(range(min(reach), len(lines) + 1)) if line == "..." else \
            {n + 1 for n in reach if n < len(lines) and wanted.fullmatch(lines[n])}
        if not next_reach:
            return f"nothing stands for '{line}' in"
        reach = next_reach
    return None if len(lines) in reach else "there is more behind the last line in"
