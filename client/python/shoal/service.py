# SPDX-License-Identifier: Apache-2.0
"""The service: submit, wait, results."""
from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, urlencode

from shoal import frames, inputs
from shoal.decode import decode
from shoal.ensembles import Ensemble, Event, File, Files, Page, Removed, Summary, Usage, Users, Version
from shoal.errors import OutOfTime, Problem, Unreachable
from shoal.inputs import StrPath
from shoal.place import find_socket
from shoal.results import Results
from shoal.transport import Answer, Transport, parse_object

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")
PIECE = 1 << 20  # bytes of a file at once
PATIENCE_S = 60.0  # for a service that went away while it was listened to
RETRY_S = 0.5
DHDL = re.compile(r"(?:repeat_(\d+)/)?lambda_(\d+)/dhdl\.xvg")


class Service:
    """A service, by its socket: the one given, SHOAL_SOCKET's, else the user's own or the system's.

    Where an ensemble is asked for, `which` is its id, the beginning of one, its key or its name, or an Ensemble. Every method
    may raise Problem (the service refuses), Unreachable, OutOfTime and Malformed. Threads may share it.
    """

    def __init__(self, socket: StrPath | None = None) -> None:
        path, tried = find_socket(socket)
        self.socket = path
        self._transport = Transport(path, tried)

    # ---- submitting ----

    def submit(self, spec: StrPath, *, key: str | None = None, labels: Mapping[str, str] | None = None,
               includes: Sequence[StrPath] = ()) -> Ensemble:
        """Submits the spec of this path with the files it names, which are looked for beside it, in the folders of
        `includes` and where GROMACS has its own. The same key finds the same ensemble again."""
        body = _submission(inputs.read_spec(spec), os.path.basename(spec), {}, key, labels)
        return decode(Ensemble, inputs.post(self._transport, "/v1/ensembles", body, inputs.folders_of(spec, includes)), "Ensemble")

    def submit_text(self, spec: str, files: Mapping[str, str], *, key: str | None = None,
                    labels: Mapping[str, str] | None = None, spec_name: str = "spec.yaml") -> Ensemble:
        """Submits the text of a spec with the texts of all its files, by the names that it has for them."""
        body = _submission(spec, spec_name, files, key, labels)
        return decode(Ensemble, inputs.post(self._transport, "/v1/ensembles", body, ()), "Ensemble")

    def validate(self, spec: StrPath, *, includes: Sequence[StrPath] = ()) -> Summary:
        """Checks a submission and stores nothing."""
        body = _submission(inputs.read_spec(spec), os.path.basename(spec), {}, None, None)
        return decode(Summary, inputs.post(self._transport, "/v1/validate", body, inputs.folders_of(spec, includes)), "Summary")

    # ---- what there is ----

    def version(self) -> Version:
        """What is running, and its devices."""
        return self._ask(Version, "GET", "/v1/version")

    def usage(self) -> tuple[Usage, ...]:
        """What is stored: the caller's first, for admins the other users' too."""
        return self._ask(Users, "GET", "/v1/usage").users

    def ensemble(self, which: str | Ensemble) -> Ensemble:
        """As it is now, with its replicas."""
        return self._ask(Ensemble, "GET", _path(which))

    def ensembles(self, *, state: str | None = None, name: str | None = None, key: str | None = None,
                  labels: Mapping[str, str | None] | None = None, older_than: float | None = None) -> Iterator[Ensemble]:
        """The caller's, newest first. labels: all of them; None is any value. older_than: s since they ended."""
        asked = {"state": state, "name": name, "key": key, "older_than": None if older_than is None else f"{older_than:.0f}"}
        query = [(word, value) for word, value in asked.items() if value is not None]
        query += [("label", label if value is None else f"{label}={value}") for label, value in (labels or {}).items()]
        after: list[tuple[str, str]] = []
        while True:
            page = self._ask(Page, "GET", "/v1/ensembles?" + urlencode(query + after))
            yield from page.ensembles
            if not page.next:
                return
            after = [("after", page.next)]

    # ---- what is done to one ----

    def cancel(self, which: str | Ensemble) -> Ensemble:
        """Stops it; finished windows keep their files, retry() goes on."""
        return self._move(which, "cancel")

    def pause(self, which: str | Ensemble) -> Ensemble:
        """Checkpoints and stops it until resume()."""
        return self._move(which, "pause")

    def resume(self, which: str | Ensemble) -> Ensemble:
        """Goes on from the checkpoints."""
        return self._move(which, "resume")

    def retry(self, which: str | Ensemble, window: int | None = None) -> Ensemble:
        """Runs failed and cancelled windows again, or the one."""
        return self._move(which, "retry" if window is None else f"retry?window={window}")

    def reestimate(self, which: str | Ensemble) -> Ensemble:
        """Computes the results of one that has ended again from the samples it has; wait() waits for them."""
        return self._move(which, "reestimate")

    def extend(self, which: str | Ensemble, *, time: str | None = None, until: str | None = None,
               windows: Iterable[Mapping[str, float]] | None = None) -> Ensemble:
        """Makes production longer by `time`, or as long as `until`, as in "2 ns"; or adds windows to the ladder of one that has ended
        or is paused, each between two that there are, as in [{"vdw": 0.65}]: the ensemble's next revision."""
        added = None if windows is None else ";".join(", ".join(f"{name}: {x!r}" for name, x in window.items()) for window in windows)
        given = {word: value for word, value in (("time", time), ("until", until), ("windows", added)) if value is not None}
        return self._move(which, "extend?" + urlencode(given))

    def remove(self, which: str | Ensemble) -> int:
        """Removes one that has ended with its files, for good. Returns bytes freed."""
        return self._ask(Removed, "DELETE", _path(which)).bytes

    def _move(self, which: str | Ensemble, action: str) -> Ensemble:
        return self._ask(Ensemble, "POST", _path(which, f"/{action}"))

    def _ask(self, kind: type[T], method: str, path: str) -> T:
        return decode(kind, self._transport.ask(method, path), kind.__name__)

    # ---- following ----

    def events(self, which: str | Ensemble, since: int = 0) -> Iterator[Event]:
        """What happened to it, oldest first: events with a larger seq."""
        yield from self._lines(which, f"since={since}")

    def watch(self, which: str | Ensemble, since: int | None = None, timeout: float | None = None) -> Iterator[Event]:
        """Events as they happen, until it has ended, those of kind progress (about one a second) too; beginning behind `since`,
        or with the next. A service that is restarted meanwhile is asked again for a minute. OutOfTime after timeout s."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        now = self.ensemble(which)
        seq = now.seq or 0 if since is None else since
        lost = math.inf  # when the service was missed first
        over = now.ended and seq >= (now.seq or 0)
        while not over:
            try:
                for event in self._follow(now, seq, deadline):
                    seq, lost = event.seq or seq, math.inf
                    yield event
                over = self.ensemble(now).ended
            except Unreachable:
                lost = min(lost, time.monotonic())
                if time.monotonic() - lost > PATIENCE_S:
                    raise
                time.sleep(RETRY_S)

    def wait(self, which: str | Ensemble, timeout: float | None = None) -> Ensemble:
        """Stays until it has ended: its state says how. OutOfTime after timeout s; it goes on then."""
        for _ in self.watch(which, timeout=timeout):
            pass
        return self.ensemble(which)

    def _follow(self, ensemble: Ensemble, since: int, deadline: float) -> Iterator[Event]:
        """One connection's worth."""
        late = OutOfTime("BUSY", f"{ensemble.id} has not ended in time; it goes on")
        if time.monotonic() > deadline:
            raise late
        try:
            for event in self._lines(ensemble, f"follow=1&since={since}", deadline):
                yield event
                if time.monotonic() > deadline:
                    raise late
        except OutOfTime as error:
            if deadline < math.inf:  # else nothing happened for long
                raise late from error

    def _lines(self, which: str | Ensemble, query: str, deadline: float = math.inf) -> Iterator[Event]:
        with self._transport.open("GET", _path(which, f"/events?{query}")) as answer:
            for line in answer.lines(deadline):
                yield decode(Event, parse_object(line, "an event"), "Event")

    # ---- results and files ----

    def results(self, which: str | Ensemble, live: bool = False) -> Results:
        """Of one that has ended; with live=True what can be said so far. Problem CONFLICT: it has not ended."""
        return self._ask(Results, "GET", _path(which, f"/results?live={int(live)}"))

    def files(self, which: str | Ensemble) -> tuple[File, ...]:
        """Inputs and outputs, sorted by path."""
        return self._ask(Files, "GET", _path(which, "/files")).files

    def open(self, which: str | Ensemble, path: str) -> Answer:
        """A file's bytes as they come, for a `with`. Of a running ensemble: whole lines, whole frames so far."""
        return self._transport.open("GET", _path(which, "/files/" + quote(path)))

    def read(self, which: str | Ensemble, path: str) -> bytes:
        """A file's bytes."""
        with self.open(which, path) as file:
            return file.read()

    def fetch(self, which: str | Ensemble, path: str, target: StrPath) -> None:
        """A file onto the disk, which gets its name when all of it is there. OSError where the disk takes no more."""
        part = f"{os.fspath(target)}.part"
        try:
            with self.open(which, path) as source, open(part, "wb") as file:
                while piece := source.read(PIECE):
                    file.write(piece)
            os.replace(part, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(part)
            raise

    # ---- for alchemlyb ----

    def dhdl(self, which: str | Ensemble, window: int | None = None, repeat: int = 0) -> DataFrame:
        """dH/dlambda in kT, of one window or of all: as alchemlyb.parsing.gmx.extract_dHdl. All rows: none are discarded."""
        return self._frames(which, window, repeat, frames.dhdl_frame)

    def u_nk(self, which: str | Ensemble, window: int | None = None, repeat: int = 0) -> DataFrame:
        """Energies at all windows in kT: as alchemlyb.parsing.gmx.extract_u_nk. All rows: none are discarded."""
        return self._frames(which, window, repeat, frames.u_nk_frame)

    def _frames(self, which: str | Ensemble, window: int | None, repeat: int, make: Callable[[frames.Sheet], DataFrame]) -> DataFrame:
        frames.import_pandas()  # before anything is fetched
        found = {}
        for file in self.files(which):
            match = DHDL.fullmatch(file.path)
            if match and int(match[1] or 0) == repeat and window in (None, int(match[2])):
                found[int(match[2])] = file.path
        if not found:
            wanted = "any window" if window is None else f"window {window}"
            raise Problem("NOT_FOUND", f"{_word(which)}: no dhdl.xvg of {wanted} in repeat {repeat}")
        return frames.join([make(frames.read_sheet(self.read(which, path).decode(), path)) for _, path in sorted(found.items())])


def _submission(spec: str, name: str, files: Mapping[str, str], key: str | None, labels: Mapping[str, str] | None) -> dict[str, object]:
    body: dict[str, object] = {"spec": spec, "spec_name": name, "files": dict(files)}
    if key is not None:
        body["id"] = key
    if labels:
        body["labels"] = dict(labels)
    return body


def _word(which: str | Ensemble) -> str:
    return which.id if isinstance(which, Ensemble) else which


def _path(which: str | Ensemble, rest: str = "") -> str:
    return f"/v1/ensembles/{quote(_word(which), safe='')}{rest}"

