# SPDX-License-Identifier: Apache-2.0
"""The service: submit, wait, results."""
from __future__ import annotations

import asyncio
import math
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import quote, urlencode

from shoal import frames, inputs
from shoal.decode import decode
from shoal.ensembles import Accounting, Ensemble, Event, File, Files, Ladder, OutOfUse, Page, Removed, Summary, Usage, Used, Users, Version, Widening
from shoal.errors import OutOfTime, Unreachable, refusal
from shoal.inputs import StrPath
from shoal.program import FAILED, TRY_LATER, Program, options
from shoal.results import Results
from shoal.rows import Rows
from shoal.socket_path import find_socket
from shoal.transport import Answer, Transport, parse_object

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")
PIECE = 1 << 20  # bytes of a file at once
PATIENCE_S = 60.0  # for a service that went away while it was listened to
RETRY_S = 0.5
ASYNC_S = 5.0  # a thread of asyncio's listens at most so long
DHDL = re.compile(r"(?:repeat_(\d+)/)?lambda_(\d+)/dhdl\.xvg")
ENERGY = re.compile(r"(?:repeat_(\d+)/)?lambda_(\d+)/energy\.xvg")


class Service:
    """A service, by its socket: the one given, SHOAL_SOCKET's, else the user's own or the system's.

    Where an ensemble is asked for, `which` is its id, the beginning of one, its key or its name, or an Ensemble. Every method
    may raise a Problem (the service refuses), Unreachable, OutOfTime and Malformed. Threads may share it, and a `with` may hold it.
    `program` is shoal's, which makes pages and ladders.
    """

    def __init__(self, socket: StrPath | None = None, *, program: StrPath = "shoal") -> None:
        path, tried = find_socket(socket)
        self.socket = path
        self.program = Program(program)
        self._transport = Transport(path, tried)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Every request has a connection of its own, so that nothing is left to close."""

    # ---- submitting ----

    def submit(self, spec: StrPath | Mapping[str, Any], *, key: str | None = None, labels: Mapping[str, str] | None = None,
               includes: Sequence[StrPath] = (), folder: StrPath = ".", priority: str | None = None) -> Ensemble:
        """Submits the spec of this path, or one that is a mapping, with the files it names, which are looked for beside it (beside a
        mapping: in `folder`), in the folders of `includes` and where GROMACS has its own. The same key finds the same ensemble again.
        priority, among your own: low, normal or high; of administrators urgent, before all users'."""
        return decode(Ensemble, self._post("/v1/ensembles" + (f"?priority={priority}" if priority else ""), spec, includes, folder, key, labels), "Ensemble")

    def submit_text(self, spec: str, files: Mapping[str, str], *, key: str | None = None,
                    labels: Mapping[str, str] | None = None, spec_name: str = "spec.yaml") -> Ensemble:
        """Submits the text of a spec with the texts of all its files, by the names that it has for them."""
        body = _submission(spec, spec_name, files, key, labels)
        return decode(Ensemble, inputs.post(self._transport, "/v1/ensembles", body, ()), "Ensemble")

    def validate(self, spec: StrPath | Mapping[str, Any], *, includes: Sequence[StrPath] = (), folder: StrPath = ".") -> Summary:
        """Checks a submission and stores nothing."""
        return decode(Summary, self._post("/v1/validate", spec, includes, folder, None, None), "Summary")

    def _post(self, path: str, spec: StrPath | Mapping[str, Any], includes: Sequence[StrPath], folder: StrPath, key: str | None,
              labels: Mapping[str, str] | None) -> dict[str, Any]:
        if isinstance(spec, Mapping):
            text, name = inputs.write_spec(spec), os.path.join(folder, "spec.yaml")
        else:
            text, name = inputs.read_spec(spec), os.fspath(spec)
        return inputs.post(self._transport, path, _submission(text, os.path.basename(name), {}, key, labels), inputs.folders_of(name, includes))

    # ---- what there is ----

    def version(self) -> Version:
        """What is running, and its devices."""
        return self._ask(Version, "GET", "/v1/version")

    def usage(self) -> tuple[Usage, ...]:
        """What is stored: the caller's first, for admins the other users' too."""
        return self._ask(Users, "GET", "/v1/usage").users

    def accounting(self, by: str = "user", *, days: float = 30, owner: str | int | None = None, all_users: bool = False) -> Rows[Used]:
        """Device time, steps and ns that were used in the last days, also by ensembles that were removed, by user, ensemble, campaign,
        device or day. For administrators: owner, a user's name or uid, or all_users."""
        given = {"by": by, "since": f"{days * 86400:.0f}", "owner": owner, "all_users": 1 if all_users else None}
        query = urlencode({word: value for word, value in given.items() if value is not None})
        return self._ask(Accounting, "GET", f"/v1/accounting?{query}").rows

    def ensemble(self, which: str | Ensemble) -> Ensemble:
        """As it is now, with its replicas."""
        return self._ask(Ensemble, "GET", _path(which))

    def ensembles(self, *, state: str | Sequence[str] | None = None, name: str | None = None, key: str | None = None,
                  labels: Mapping[str, str | None] | None = None, older_than: float | None = None, owner: str | int | None = None,
                  all_users: bool = False) -> Iterator[Ensemble]:
        """The caller's, newest first. state: one, or several; labels: all of them, None is any value. older_than: s since they ended.
        For administrators: owner, a user's name or uid, or all_users."""
        states = state if state is None or isinstance(state, str) else ",".join(state)
        asked = {"state": states, "name": name, "key": key, "older_than": None if older_than is None else f"{older_than:.0f}",
                 "owner": owner, "all_users": 1 if all_users else None}
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

    def set_priority(self, which: str | Ensemble, priority: str) -> Ensemble:
        """Which of your ensembles go first: those of high, then normal, then low priority; of administrators urgent, before all users'."""
        return self._move(which, f"priority?to={priority}")

    def move(self, which: str | Ensemble, device: str) -> Ensemble:
        """Has it go on on this device, as in "cuda:1", and stay there; "any": where there is room again."""
        return self._move(which, "move?" + urlencode({"to": device}))

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
        added = None if windows is None else _windows(windows)
        given = {word: value for word, value in (("time", time), ("until", until), ("windows", added)) if value is not None}
        return self._move(which, "extend?" + urlencode(given))

    def widening(self, which: str | Ensemble, windows: Iterable[Mapping[str, float]]) -> Widening:
        """What extend() with these windows would make of it, and how many of its rows would count then. Nothing is changed."""
        return self._ask(Widening, "POST", _path(which, "/extend?" + urlencode({"windows": _windows(windows), "dry_run": 1})))

    def extend_by_need(self, which: Iterable[str | Ensemble], time: str) -> tuple[Ensemble, ...]:
        """Makes production of several longer: as much in all as `time` added to each, to those where it cuts the sum of squared errors most.
        Those that got any of it."""
        moved = self._program("extend", *map(_word, which), "--time", time, "--by-need")
        return tuple(decode(Ensemble, one, "Ensemble") for one in moved["ensembles"])

    def remove(self, which: str | Ensemble) -> int:
        """Removes one that has ended with its files, for good. Returns bytes freed."""
        return self._ask(Removed, "DELETE", _path(which)).bytes

    def _program(self, *words: StrPath, fine: Sequence[int] = (0,)) -> dict[str, Any]:
        return self.program.ask(*words, "--socket", self.socket, fine=fine)

    def _move(self, which: str | Ensemble, action: str) -> Ensemble:
        return self._ask(Ensemble, "POST", _path(which, f"/{action}"))

    def _ask(self, kind: type[T], method: str, path: str) -> T:
        return decode(kind, self._transport.ask(method, path), kind.__name__)

    # ---- for administrators ----

    def drain(self, device: str | None = None, reason: str | None = None) -> OutOfUse:
        """Takes a device, or all, out of use until undrain(): what runs there goes on elsewhere from its checkpoints."""
        return self._administer("drain", device=device, reason=reason)

    def undrain(self, device: str | None = None) -> OutOfUse:
        """Puts a device, or all, back into use, also one that was put aside after crashes."""
        return self._administer("undrain", device=device)

    def hold(self, reason: str | None = None) -> OutOfUse:
        """Takes submissions of administrators alone until release(); what was submitted goes on."""
        return self._administer("hold", reason=reason)

    def release(self) -> OutOfUse:
        """Takes submissions of everybody again."""
        return self._administer("release")

    def _administer(self, action: str, **given: str | None) -> OutOfUse:
        query = urlencode({word: value for word, value in given.items() if value is not None})
        return self._ask(OutOfUse, "POST", f"/v1/{action}?{query}")

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

    async def watch_async(self, which: str | Ensemble, since: int | None = None, timeout: float | None = None) -> AsyncIterator[Event]:
        """As watch(), for `async for`. A task that is cancelled ends at once; its connection within seconds."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        now = await asyncio.to_thread(self.ensemble, which)
        seq = (now.seq or 0) if since is None else since
        lost = math.inf  # when the service was missed first
        over = now.ended and seq >= (now.seq or 0)
        while not over:
            turn = min(ASYNC_S, deadline - time.monotonic())
            if turn <= 0:
                raise OutOfTime("BUSY", f"{now.id} has not ended in time; it goes on")
            try:
                events = self.watch(now, seq, turn)
                with suppress(OutOfTime):  # of this turn
                    while event := await asyncio.to_thread(_next, events):
                        seq = event.seq or seq
                        yield event
                now, lost = await asyncio.to_thread(self.ensemble, now), math.inf
                over = now.ended and seq >= (now.seq or 0)
            except Unreachable:
                lost = min(lost, time.monotonic())
                if time.monotonic() - lost > PATIENCE_S:
                    raise
                await asyncio.sleep(RETRY_S)

    async def wait_async(self, which: str | Ensemble, timeout: float | None = None) -> Ensemble:
        """As wait(), for `await`: many can be waited for at once."""
        async for _ in self.watch_async(which, timeout=timeout):
            pass
        return await asyncio.to_thread(self.ensemble, which)

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

    def files(self, which: str | Ensemble) -> Rows[File]:
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
        _keep(self.open(which, path), target)

    def fetch_all(self, which: str | Ensemble, folder: StrPath) -> list[str]:
        """All files but checkpoints into a folder, which is made; files of the same names are replaced. Their paths."""
        fetched = []
        for file in self.files(which):
            if os.path.basename(file.path).startswith("checkpoint") or not inputs.is_normal(file.path) or file.path.startswith(("/", "../")):
                continue
            target = os.path.join(folder, file.path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            self.fetch(which, file.path, target)
            fetched.append(target)
        return fetched

    def export(self, which: str | Ensemble, target: StrPath) -> None:
        """A paused ensemble, or one that has ended, as one file for import_ensemble() of another service; it stays here as it is.
        Busy: its last checkpoints are not made yet, try again in some seconds."""
        _keep(self._transport.open("GET", _path(which, "/export")), target)

    def import_ensemble(self, path: StrPath) -> Ensemble:
        """Takes over an ensemble that export() wrote. A paused one is paused here too: resume() has it go on."""
        with open(path, "rb") as file:
            return decode(Ensemble, self._transport.upload("/v1/import", file), "Ensemble")

    def report(self, which: str | Ensemble, path: StrPath) -> None:
        """Writes what `shoal report` says of it, a page with figures, also while it runs. Conflict: the file is there."""
        self.program.run("report", _word(which), "--output", path, "--socket", self.socket, fine=(0, FAILED, TRY_LATER))

    def ladder(self, which: str | Ensemble, *, windows: int | None = None, overlap: float | None = None) -> Ladder:
        """Windows at equal thermodynamic length, from one that ran as a pilot: so many, or as many as neighbours need for the overlap."""
        return decode(Ladder, self._program("ladder", _word(which), *options(windows=windows, overlap=overlap)), "Ladder")

    # ---- DataFrames; dhdl and u_nk are for alchemlyb ----

    def table(self, which: str | Ensemble, path: str) -> DataFrame:
        """An .xvg file of it, as one of `Observable.file`: columns by their legends, the first is the index."""
        frames.import_pandas()
        return frames.xvg_frame(self.read(which, path).decode(), path)

    def energies(self, which: str | Ensemble, window: int = 0, repeat: int = 0) -> DataFrame:
        """energy.xvg of a window: energies in kJ/mol, temperature in K, pressure in bar, volume in nm^3 over time in ps."""
        found = [file.path for file in self.files(which) if (match := ENERGY.fullmatch(file.path)) and
                 (int(match[1] or 0), int(match[2])) == (repeat, window)]
        if not found:
            raise refusal("NOT_FOUND", f"{_word(which)}: no energy.xvg of window {window} in repeat {repeat}")
        return self.table(which, found[0])

    def dhdl(self, which: str | Ensemble, window: int | None = None, repeat: int = 0) -> DataFrame:
        """dH/dlambda in kT, of one window or of all: as alchemlyb.parsing.gmx.extract_dHdl. All rows: none are discarded."""
        return self._frames(which, window, repeat, frames.dhdl_frame)

    def u_nk(self, which: str | Ensemble, window: int | None = None, repeat: int = 0) -> DataFrame:
        """Energies at all windows in kT: as alchemlyb.parsing.gmx.extract_u_nk. All rows: none are discarded."""
        return self._frames(which, window, repeat, frames.u_nk_frame)

    def _frames(self, which: str | Ensemble, window: int | None, repeat: int, make: Callable[[frames.Dhdl], DataFrame]) -> DataFrame:
        frames.import_pandas()  # before anything is fetched
        found = {}
        for file in self.files(which):
            match = DHDL.fullmatch(file.path)
            if match and int(match[1] or 0) == repeat and window in (None, int(match[2])):
                found[int(match[2])] = file.path
        if not found:
            wanted = "any window" if window is None else f"window {window}"
            raise refusal("NOT_FOUND", f"{_word(which)}: no dhdl.xvg of {wanted} in repeat {repeat}")
        return frames.join([make(frames.read_dhdl(self.read(which, path).decode(), path)) for _, path in sorted(found.items())])


def _keep(source: Answer, target: StrPath) -> None:
    part = f"{os.fspath(target)}.part"
    try:
        with source, open(part, "wb") as file:
            while piece := source.read(PIECE):
                file.write(piece)
        os.replace(part, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(part)
        raise


def _submission(spec: str, name: str, files: Mapping[str, str], key: str | None, labels: Mapping[str, str] | None) -> dict[str, object]:
    body: dict[str, object] = {"spec": spec, "spec_name": name, "files": dict(files)}
    if key is not None:
        body["id"] = key
    if labels:
        body["labels"] = dict(labels)
    return body


def _windows(windows: Iterable[Mapping[str, float]]) -> str:
    return ";".join(", ".join(f"{name}: {x!r}" for name, x in window.items()) for window in windows)


def _next(events: Iterator[Event]) -> Event | None:
    return next(events, None)


def _word(which: str | Ensemble) -> str:
    return which.id if isinstance(which, Ensemble) else which


def _path(which: str | Ensemble, rest: str = "") -> str:
    return f"/v1/ensembles/{quote(_word(which), safe='')}{rest}"

