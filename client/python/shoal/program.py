# SPDX-License-Identifier: Apache-2.0
"""The program `shoal`, for what it alone can do: campaigns, pages, ladders, and what needs no service."""
from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import Any

from shoal.errors import ShoalError, Unreachable, refusal
from shoal.inputs import StrPath
from shoal.transport import parse_object

# Exit codes of the program, as schemas/exits.def and schemas/errors.def have them.
OK, FAILED, BAD_SPEC, TRY_LATER = 0, 1, 65, 75
CODES = {2: "USAGE", 3: "CONFLICT", BAD_SPEC: "SPEC", 66: "MISSING_FILE", 69: "UNREACHABLE", TRY_LATER: "BUSY", 77: "FORBIDDEN"}


class Program:
    """`path` is shoal's, a name that PATH leads to or a path."""

    def __init__(self, path: StrPath = "shoal") -> None:
        self.path = os.fspath(path)

    def run(self, *words: StrPath, fine: Sequence[int] = (OK,)) -> bytes:
        """What it prints. A Problem or Unreachable with what it says, where its exit code is not among `fine`; MISSING_FILE: there is no
        such program."""
        code, out, said = self._call(words)
        if code in fine:
            return out
        raise _error(code, said)

    def ask(self, *words: StrPath, fine: Sequence[int] = (OK,)) -> dict[str, Any]:
        """The JSON object that it prints with --json, which is added. As run() where it prints none or that of an error."""
        code, out, said = self._call([*words, "--json"])
        answer = parse_object(out or b"{}", f"{self.path} {os.fspath(words[0])}")
        if code in fine and answer and "error" not in answer:
            return answer
        raise _error(code, said)

    def _call(self, words: Sequence[StrPath]) -> tuple[int, bytes, str]:
        try:
            done = subprocess.run([self.path, *(os.fspath(word) for word in words)], capture_output=True, stdin=subprocess.DEVNULL, check=False)
        except OSError as error:
            raise ShoalError("MISSING_FILE", f"{self.path}: {error.strerror}; `program` names shoal's") from error
        return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def _error(status: int, said: str) -> ShoalError:
    code = CODES.get(status, "INTERNAL")
    said = said.replace("shoal: ", "").strip()
    return Unreachable(code, said) if code == "UNREACHABLE" else refusal(code, said)


def options(**given: object) -> list[str]:
    """("--name", "value") of every one that is not None or False; a True is a flag."""
    words: list[str] = []
    for name, value in given.items():
        if value is None or value is False:
            continue
        words.append("--" + name.rstrip("_").replace("_", "-"))
        if value is not True:
            words.append(os.fspath(value) if isinstance(value, os.PathLike) else str(value))
    return words


def included(includes: Sequence[StrPath]) -> list[str]:
    """The words for include folders."""
    return [word for folder in includes for word in ("--include", os.fspath(folder))]
