# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 over the service's Unix socket. A connection for each request: what threads share is the path alone."""
from __future__ import annotations

import http.client
import json
import math
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, BinaryIO, Self

from shoal.errors import Malformed, OutOfTime, ShoalError, Unreachable, refusal

CONNECT_S = 10.0
ANSWER_S = 600.0  # in which something has to come


class Connection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("shoal")
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(CONNECT_S)
        self.sock.connect(self.path)
        self.sock.settimeout(ANSWER_S)


class Answer:
    """What the service sends, to be read as it comes. Unreachable where it is cut short; OutOfTime."""

    def __init__(self, transport: Transport, connection: Connection) -> None:
        self._transport = transport
        self._connection = connection
        self._socket = connection.sock
        self._response = connection.getresponse()
        self.status = self._response.status
        self.retry_after = self._response.getheader("Retry-After")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._response.close()
        self._connection.close()

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes, all that is left when negative; none at the end."""
        with self._transport.errors():
            data = self._response.read() if size < 0 else self._response.read(size)
            if size > 0 and not data and self._response.length:
                raise http.client.IncompleteRead(data, self._response.length)
            return data

    def lines(self, deadline: float = math.inf) -> Iterator[bytes]:
        """Line by line; OutOfTime where there is none by the deadline (of time.monotonic())."""
        while True:
            with self._transport.errors():
                self._socket.settimeout(min(max(deadline - time.monotonic(), 1e-3), ANSWER_S))
                line = self._response.readline()
            if not line:
                return
            yield line


class Transport:
    """Requests to one socket. `tried` is said where there is no service."""

    def __init__(self, path: str, tried: str) -> None:
        self.path = path
        self.tried = tried

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """The JSON object of an answer; errors as of open()."""
        with self.open(method, path, body) as answer:
            return parse_object(answer.read(), f"{method} {path}")

    def open(self, method: str, path: str, body: object = None) -> Answer:
        """An answer with a status of 2xx. A Problem where the service refuses; Unreachable, OutOfTime, Malformed."""
        return self._open(method, path, None if body is None else json.dumps(body).encode(), "application/json")

    def upload(self, path: str, file: BinaryIO) -> dict[str, Any]:
        """The JSON object of the answer to a file, which is sent as it is read."""
        with self._open("POST", path, file, "application/zstd") as answer:
            return parse_object(answer.read(), f"POST {path}")

    def _open(self, method: str, path: str, data: bytes | BinaryIO | None, kind: str) -> Answer:
        with self.errors():
            connection = Connection(self.path)
            try:
                with suppress(BrokenPipeError):  # one that will not have all of it says why
                    connection.request(method, path, data, {"Content-Type": kind} if data else {})
                answer = Answer(self, connection)
            except BaseException:
                connection.close()
                raise
        if 200 <= answer.status < 300:
            return answer
        with answer:
            raise problem_of(answer.status, answer.read(), answer.retry_after)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """What goes wrong between us and the service, in our words."""
        try:
            yield
        except (OSError, http.client.HTTPException) as error:
            raise self._lost(error) from error

    def _lost(self, error: Exception) -> ShoalError:
        if isinstance(error, TimeoutError):
            return OutOfTime("BUSY", f"no answer from the service at {self.path} in time")
        if isinstance(error, PermissionError):
            return Unreachable("FORBIDDEN", f"{self.path}: not permitted; ask to be in the group that owns the socket")
        hint = "is shoald running? `shoal up` starts one of your own"
        if not os.path.exists(self.path):
            return Unreachable("UNREACHABLE", f"no service at {self.tried}; {hint}")
        return Unreachable("UNREACHABLE", f"{self.path}: {error or type(error).__name__}; {hint}")


def parse_object(text: bytes, what: str) -> dict[str, Any]:
    """Malformed where it is no JSON object."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Malformed(f"{what}: expected a JSON object, read {text[:80]!r}")
    return value


def problem_of(status: int, text: bytes, retry_after: str | None) -> ShoalError:
    """The error that an answer tells."""
    where = f"an answer of status {status}"
    error = parse_object(text, where).get("error")
    if not isinstance(error, dict) or "code" not in error or "message" not in error:
        return Malformed(f"{where}: expected an error with code and message, read {text[:80]!r}")
    wait = float(retry_after) if retry_after and retry_after.isdigit() else None
    return refusal(str(error["code"]), str(error["message"]), status, error.get("files", ()), error.get("candidates", ()), wait)
