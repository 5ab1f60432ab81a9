# SPDX-License-Identifier: Apache-2.0
"""What can go wrong. Every error has a code, a name of schemas/errors.def, and a sentence that says where and what was expected."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

# Characters that a terminal obeys, or that reorder or end a line: as engine/base/printable.c has them, but for line ends and tabs.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text, with \\x1b in place of a control character and \\u202e in place of another that does not show."""
    return UNPRINTABLE.sub(lambda c: f"\\x{ord(c[0]):02x}" if ord(c[0]) < 0x80 else f"\\u{ord(c[0]):04x}", text)


class ShoalError(Exception):
    """Any error of this package. As a text, also in a traceback, it has nothing that a terminal obeys; `message` is what was said."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(printable(message))
        self.code = code
        self.message = message


class Problem(ShoalError):
    """The service, the program `shoal` or this package refused. `status` is that of the service's answer, else None. Most codes have a class
    of their own."""

    def __init__(self, code: str, message: str, status: int | None = None, files: Sequence[Sequence[str]] = (),
                 candidates: Sequence[Mapping[str, object]] = (), retry_after: float | None = None) -> None:
        super().__init__(code, message)
        self.status = status
        self.files = tuple(tuple(names) for names in files)  # with MISSING_FILE: names to try, for each missing file
        self.candidates = tuple(candidates)  # with CONFLICT: id, name, key and state of what a word may stand for
        self.retry_after = retry_after  # s, with LIMIT and BUSY


class NotFound(Problem):
    """There is no such ensemble, window or file (code NOT_FOUND)."""


class Conflict(Problem):
    """The state of the ensemble does not allow it, or a key or a word stands for something else (code CONFLICT)."""


class Forbidden(Problem):
    """It is another user's, or nothing that may be sent (code FORBIDDEN)."""


class BadSpec(Problem):
    """The spec, its topology or its coordinates are wrong or not supported: the message has the place (codes SPEC, TOPOLOGY, COORDINATES,
    UNSUPPORTED)."""


class MissingFile(Problem):
    """A file that a spec or a topology names is not there (code MISSING_FILE)."""


class Busy(Problem):
    """Not now: try again, after `retry_after` s where that is known (codes BUSY, LIMIT)."""


CLASSES: dict[str, type[Problem]] = {"NOT_FOUND": NotFound, "CONFLICT": Conflict, "FORBIDDEN": Forbidden, "SPEC": BadSpec, "TOPOLOGY": BadSpec,
                                     "COORDINATES": BadSpec, "UNSUPPORTED": BadSpec, "MISSING_FILE": MissingFile, "BUSY": Busy, "LIMIT": Busy}


def refusal(code: str, message: str, status: int | None = None, files: Sequence[Sequence[str]] = (),
            candidates: Sequence[Mapping[str, object]] = (), retry_after: float | None = None) -> Problem:
    """A Problem, of the class of its code."""
    return CLASSES.get(code, Problem)(code, message, status, files, candidates, retry_after)


class Unreachable(ShoalError):
    """There is no service, it went away, or its socket is not for us (code FORBIDDEN)."""


class OutOfTime(ShoalError, TimeoutError):
    """The ensemble has not ended by the deadline; it goes on."""


class Malformed(ShoalError):
    """An answer or a file is not what it should be: where, what was read, what was expected."""

    def __init__(self, message: str) -> None:
        super().__init__("PROTOCOL", message)
