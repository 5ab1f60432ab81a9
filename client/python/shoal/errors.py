# SPDX-License-Identifier: Apache-2.0
"""What can go wrong. Every error has a code, a name of schemas/errors.def, and a sentence that says where and what was expected."""
from __future__ import annotations

from collections.abc import Mapping, Sequence


class ShoalError(Exception):
    """Any error of this package."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Problem(ShoalError):
    """The service, or the program `shoal`, refused. `status` is the answer's, None of a program's."""

    def __init__(self, code: str, message: str, status: int | None = None, files: Sequence[Sequence[str]] = (),
                 candidates: Sequence[Mapping[str, object]] = (), retry_after: float | None = None) -> None:
        super().__init__(code, message)
        self.status = status
        self.files = tuple(tuple(names) for names in files)  # with MISSING_FILE: names to try, for each missing file
        self.candidates = tuple(candidates)  # with CONFLICT: id, name, key and state of what a word may stand for
        self.retry_after = retry_after  # s, with LIMIT and BUSY


class Unreachable(ShoalError):
    """There is no service, it went away, or its socket is not for us (code FORBIDDEN)."""


class OutOfTime(ShoalError, TimeoutError):
    """The ensemble has not ended by the deadline; it goes on."""


class Malformed(ShoalError):
    """An answer or a file is not what it should be: where, what was read, what was expected."""

    def __init__(self, message: str) -> None:
        super().__init__("PROTOCOL", message)
