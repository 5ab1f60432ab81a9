# SPDX-License-Identifier: Apache-2.0
"""What the service says of ensembles and of itself, as schemas/api/openapi.yaml has it, which says what each field means.

Times are RFC 3339 in UTC, "2026-11-20T10:00:00.000Z". Windows and repeats count from 0.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shoal.rows import Rows
from shoal.show import html_table, with_error

ENDED = ("done", "failed", "cancelled")


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What the samples say so far, in kcal/mol. revision: of the ensemble, whose samples these are; None: of a service of before."""

    value: float | None
    error: float | None
    unit: str
    verdict: str
    time: str
    revision: int | None

    def __str__(self) -> str:
        return f"{with_error(self.value, self.error)} {self.unit}, {self.verdict}" if self.value is not None else "no free energy yet"


@dataclass(frozen=True, kw_only=True)
class StopWhen:
    """How good an estimate ends the ensemble early; error in kcal/mol, after in steps of every replica."""

    error: float
    unit: str
    verdict: str
    after: int


@dataclass(frozen=True, kw_only=True)
class Allocate:
    """How far production is handed out by what windows need; before and share (of even sampling) in steps of every replica."""

    before: int
    share: int
    handed_out: float


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How many replicas of an ensemble a device holds at once. In bytes: memory of the device, tables that replicas share, each replica."""

    device: str
    memory_bytes: int
    tables_bytes: int
    replica_bytes: int
    replicas: int


@dataclass(frozen=True, kw_only=True)
class Waits:
    """Why a replica waits for a slot."""

    for_: str
    place: int | None
    expected_seconds: float | None


@dataclass(frozen=True, kw_only=True)
class Replica:
    """One window of one repeat."""

    window: int
    repeat: int | None
    end: str | None  # A or B, of a walker
    walker: int | None  # of its end
    state: str
    device: str | None
    stage: int | None
    step: int
    steps: int
    time_ps: float | None
    attempt: int | None
    reason: str | None
    waits: Waits | None


@dataclass(frozen=True, kw_only=True)
class SpecWarning:
    """What runs but is likely not what was meant."""

    kind: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Ensemble:
    """state: queued, running, paused, finishing, done, failed or cancelled. done and failed count replicas; bytes on disk."""

    id: str
    key: str | None
    name: str
    labels: Mapping[str, str] | None
    spec_hash: str | None
    bytes: int | None
    device_seconds: float | None
    owner: int | None
    revision: int | None
    priority: str | None  # among the owner's: low, normal or high; urgent: before all users'; None: of services of before
    moved_to: str | None  # the device that it was moved to and stays on
    state: str
    reason: str | None
    created: str
    changed: str | None
    estimate: Estimate | None
    stop_when: StopWhen | None
    allocate: Allocate | None
    fits: tuple[Fit, ...] | None
    windows: int
    walkers: int | None  # of each end, which are its windows; 0: none; None: of services of before
    pilot: bool | None  # its windows are those of a pilot, which places others; None: of services of before
    placed: Mapping[str, tuple[float, ...]] | None  # the windows that a pilot placed, by ladder; None: the spec gives them
    repeats: int | None
    done: int
    failed: int
    progress: float
    seq: int | None
    warnings: tuple[SpecWarning, ...] | None  # of a submission's answer alone
    replicas: Rows[Replica] | None  # not of lists

    def __str__(self) -> str:
        """"methane (3f2a9c00): running, 50 %, so far 2.1 +- 0.2 kcal/mol, unconverged"."""
        so_far = f", so far {self.estimate}" if self.estimate else ""
        return f"{self.name} ({self.id}): {self.state}{': ' + self.reason if self.reason else ''}, {self.progress:.0%}{so_far}"

    def __repr__(self) -> str:
        return f"<Ensemble {self}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: how it does, and each of its replicas."""
        rows = [(r.window, r.repeat or 0, r.state, f"{r.step} of {r.steps}", r.reason or "") for r in self.replicas or ()]
        return html_table(str(self), ("window", "repeat", "state", "steps", "reason"), rows)

    @property
    def ended(self) -> bool:
        """done, failed or cancelled."""
        return self.state in ENDED


@dataclass(frozen=True, kw_only=True)
class Widening:
    """What more windows would make of an ensemble: its next revision, how many windows; of the rows that count now so many are kept."""

    id: str
    name: str
    revision: int
    windows: int
    rows: int
    kept: int


@dataclass(frozen=True, kw_only=True)
class Page:
    """Of the list of ensembles; `next` is where the one after it begins."""

    ensembles: tuple[Ensemble, ...]
    next: str | None


@dataclass(frozen=True, kw_only=True)
class Removed:
    """bytes freed on disk."""

    id: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Event:
    """kind: ensemble, replica, progress (which has no seq), extend, stop, .. or what a worker reported."""

    seq: int | None
    time: str
    kind: str
    window: int | None
    repeat: int | None
    end: str | None  # A or B, of a walker
    walker: int | None  # of its end
    state: str | None
    message: str | None
    ensemble: Ensemble | None

    def __str__(self) -> str:
        name = f"window {self.window}" if self.walker is None else f"walker {self.end} {self.walker}"
        where = "" if self.window is None else f" {name}" + (f" of repeat {self.repeat}" if self.repeat else "")
        return f"{self.time} {self.kind}{where}: {self.state or self.message or ''}"


@dataclass(frozen=True, kw_only=True)
class About:
    """What an ensemble will take, about."""

    ns_per_window: float
    disk_bytes: int
    us_per_step: float | None
    cores: int | None
    wall_seconds: float | None
    replica_memory_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class Split:
    """How Coulomb is split between pairs and mesh, of a spec with nonbonded.split. Errors of forces: estimates, kJ/mol/nm (rms)."""

    cutoff_nm: float
    grid: tuple[int, ...]
    order: int
    tolerance: float
    force_error: float
    force_error_asked: float


@dataclass(frozen=True, kw_only=True)
class PlannedSwitches:
    """Of a spec with `switch`: walkers of each end in every repeat; length_ns is that of one switch."""

    walkers: int
    switches_per_walker: float
    length_ns: float
    changes: int
    change_every_steps: int


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Of a submission that would be accepted."""

    ok: bool
    name: str
    atoms: int
    windows: int
    repeats: int | None
    stages: int
    steps_per_window: int | None
    about: About | None
    switching: PlannedSwitches | None
    split: Split | None
    fits: tuple[Fit, ...] | None
    warnings: tuple[SpecWarning, ...] | None


@dataclass(frozen=True, kw_only=True)
class File:
    """path as in `lambda_00/dhdl.xvg`."""

    path: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Files:
    """Sorted by path."""

    files: Rows[File]


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """Windows that a pilot's samples propose. windows: by component of lambda; length: thermodynamic, in kT; expected_overlap: the least of
    neighbours, None: of one window."""

    windows: Mapping[str, tuple[float, ...]]
    length: float
    expected_overlap: float | None


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Bytes of a device; of one that joins several, those of the card that has least for replicas."""

    total: int
    free: int
    used: int
    replica: int


@dataclass(frozen=True, kw_only=True)
class Share:
    """Bytes that a replica has on a device, and on which card of one that joins several; of one that the caller does not see,
    nothing else."""

    ensemble: str | None
    window: int | None
    repeat: int | None
    bytes: int
    card: str | None


@dataclass(frozen=True, kw_only=True)
class Cards:
    """Of a device that joins several: so many of them are open."""

    open: int
    joined: int


@dataclass(frozen=True, kw_only=True)
class Hold:
    """Which administrator took something out of use, when and why."""

    by: str
    reason: str | None
    since: str


@dataclass(frozen=True, kw_only=True)
class Device:
    """state: starting, up, down, sick or drained."""

    device: str
    model: str | None
    state: str
    drained: Hold | None
    trouble: str | None
    cards: Cards | None
    slots: int | None
    running: int | None
    busy: float | None
    us_per_replica_step: float | None
    ns_per_day: float | None
    memory: Memory | None
    replicas: tuple[Share, ...] | None


@dataclass(frozen=True, kw_only=True)
class Version:
    """What is running. build: commit, build type, CUDA; left_out: why GPUs are not among the devices; None: a service of before does not
    tell. held: while it is, administrators alone submit."""

    version: str
    build: str | None
    api: int
    devices: tuple[Device, ...]
    left_out: tuple[str, ...] | None
    held: Hold | None


@dataclass(frozen=True, kw_only=True)
class Used:
    """What was used; None is what was summed over. day as in "2026-11-20"; steps and ns of all replicas. energy_joules: of devices that
    tell theirs; None: none does."""

    owner: int | None
    user: str | None
    id: str | None
    name: str | None
    campaign: str | None
    device: str | None
    day: str | None
    device_seconds: float
    steps: int
    ns: float
    energy_joules: float | None


@dataclass(frozen=True, kw_only=True)
class Accounting:
    """What was summed up, from which day on."""

    by: str
    since: str
    rows: Rows[Used]


@dataclass(frozen=True, kw_only=True)
class OutOfUse:
    """What administrators have taken out of use."""

    devices: tuple[Device, ...]
    held: Hold | None


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a user (a uid) has stored, and may store."""

    owner: int
    ensembles: int
    limited: bool
    ensembles_limit: int
    replicas: int
    replicas_limit: int
    bytes: int
    bytes_limit: int


@dataclass(frozen=True, kw_only=True)
class Users:
    """The caller first."""

    users: tuple[Usage, ...]
