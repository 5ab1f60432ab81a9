# SPDX-License-Identifier: Apache-2.0
"""Campaigns: what the program `shoal campaign ACTION FILE --json` does and prints.

campaign.yaml has one reader, which the program has; here its answers become dataclasses. Repeats count from 1, as in keys.
"""
from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from shoal.decode import decode
from shoal.ensembles import Ensemble
from shoal.errors import OutOfTime
from shoal.inputs import StrPath
from shoal.program import BAD_SPEC, FAILED, OK, TRY_LATER, Program, included, options
from shoal.results import MolarEnergy
from shoal.rows import Rows
from shoal.service import Service
from shoal.show import html_table

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One ensemble of a campaign. of: system or edge. What follows `labels` only plan() tells, `ensemble` only status();
    state: missing, differs, or the state it is in. ns of each replica."""

    key: str
    leg: str
    of: str
    item: str
    repeat: int
    labels: Mapping[str, str]
    spec: str | None
    spec_name: str | None
    hash: str | None
    atoms: int | None
    windows: int | None
    replicas: int | None
    ns: float | None
    disk_bytes: int | None
    state: str | None
    ensemble: Ensemble | None


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What run() may spend: ns of production of all replicas, handed out in so many rounds after what specs produce."""

    ns: float
    rounds: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What would be submitted. ns of all replicas; errors and warnings have their places in front."""

    name: str
    count: int
    replicas: int
    ns: float
    disk_bytes: float
    budget: Budget | None
    ensembles: Rows[Planned]
    errors: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Submitted:
    """What was made, of how many; so many were there before, so many of them with other content; wrong: so many cannot be submitted, for
    what `Plan.errors` says."""

    submitted: tuple[Ensemble, ...]
    planned: int
    present: int
    differ: int
    refused: int
    wrong: int | None


@dataclass(frozen=True, kw_only=True)
class Status:
    """ensemble of each is None where it was not submitted."""

    name: str
    ensembles: Rows[Planned]


@dataclass(frozen=True, kw_only=True)
class Moved:
    """What something was done to."""

    ensembles: tuple[Ensemble, ...]


@dataclass(frozen=True, kw_only=True)
class Gone:
    """An ensemble that was removed, and the bytes that frees."""

    id: str
    name: str
    bytes: int | None


@dataclass(frozen=True, kw_only=True)
class Cleared:
    """What was removed."""

    ensembles: tuple[Gone, ...]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One ensemble's estimate, last window less first, and what is to be added. verdict: also pending; so_far: it has not
    ended, and the number is of the samples that it has."""

    key: str
    item: str
    leg: str
    repeat: int
    id: str | None
    state: str | None
    estimate: MolarEnergy | None
    standard_state: MolarEnergy | None
    finite_size: MolarEnergy | None
    verdict: str
    so_far: bool
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class LegSum:
    """The mean of a leg's repeats, with what is to be added; repeats: those with a number, of so many planned;
    standard_deviation: of the repeats, None for fewer than two; reason: what their comparison shows, None: they agree."""

    leg: str
    sign: int
    planned: int
    repeats: int
    free_energy: MolarEnergy | None
    standard_deviation: MolarEnergy | None
    verdict: str
    so_far: bool
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class SystemSum:
    """The sum of a system's legs, each times its sign. verdict: None where all signs are 0."""

    system: str
    legs: Rows[LegSum]
    free_energy: MolarEnergy | None
    experiment: MolarEnergy | None
    verdict: str | None
    so_far: bool


@dataclass(frozen=True, kw_only=True)
class EdgeSum:
    """The sum of an edge's legs: ligand_j less ligand_i. verdict: None where all signs are 0."""

    ligand_i: str
    ligand_j: str
    legs: Rows[LegSum]
    free_energy: MolarEnergy | None
    experiment: MolarEnergy | None
    verdict: str | None
    so_far: bool


@dataclass(frozen=True, kw_only=True)
class Loop:
    """Edges from system to system and back; what they add up to should be nothing."""

    systems: tuple[str, ...]
    closure: MolarEnergy | None
    so_far: bool


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """What a part of the network says of itself within its loops. named: edges (or systems) that the rest contradicts, all in the
    same loops; off: what the first differs by from what the rest says; both are empty where no one edge explains it."""

    part: int
    loops: int
    chi_square: float
    named: tuple[str, ...]
    off: MolarEnergy | None


@dataclass(frozen=True, kw_only=True)
class SystemValue:
    """The most likely value of a system, of all edges and legs. part: of the network, None where nothing measured reaches it;
    anchored: it has a zero of its own; shift: what was added where it has none; verdict: the worst of its part, None where
    nothing reaches it that was planned."""

    system: str
    free_energy: MolarEnergy | None
    experiment: MolarEnergy | None
    part: int | None
    anchored: bool
    shift: MolarEnergy | None
    verdict: str | None
    so_far: bool


@dataclass(frozen=True, kw_only=True)
class Measure:
    """With its bootstrap interval of 95 %, whose bounds are None for fewer than six values."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Beside experiment; pairs: values that can be compared; kendall_tau of values alone."""

    pairs: int
    rmse: Measure
    mue: Measure
    kendall_tau: Measure | None


@dataclass(frozen=True, kw_only=True)
class Comparisons:
    """Of systems' values and of edges, in kcal/mol; None: fewer than four can be compared with experiment."""

    unit: str
    values: Comparison | None
    edges: Comparison | None


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """The table of a campaign. so_far: not all ensembles have ended; covariance: rows and columns as `values`, (kJ/mol)^2, None of one without a value; remarks:
    sentences that name what contradicts the rest and what was left out."""

    name: str
    so_far: bool
    ensembles: Rows[Row]
    systems: Rows[SystemSum]
    edges: Rows[EdgeSum]
    loops: Rows[Loop]
    contradictions: tuple[Contradiction, ...]
    values: Rows[SystemValue]
    covariance: tuple[tuple[float | None, ...], ...]
    experiment: Comparisons
    remarks: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Gathered {self.name}: {sum(one.free_energy is not None for one in self._of_systems())} of {len(self._of_systems())} systems " \
            f"have a free energy, {len(self.edges)} edges>"

    def _of_systems(self) -> Sequence[SystemValue | SystemSum]:
        """The network's values, where there is one."""
        return self.values or self.systems

    def _repr_html_(self) -> str:
        """What a notebook shows: edges, then values of systems, in kcal/mol."""
        def cells(one: EdgeSum | SystemValue | SystemSum) -> tuple[object, ...]:
            return one.free_energy or "-", one.experiment or "", one.verdict or ""

        edges = html_table(f"{self.name}: edges", ("from", "to", "free energy", "experiment", "verdict"),
                           [(edge.ligand_i, edge.ligand_j, *cells(edge)) for edge in self.edges])
        values = html_table(f"{self.name}: values", ("system", "free energy", "experiment", "verdict"),
                            [(one.system, *cells(one)) for one in self._of_systems()])
        return (edges if self.edges else "") + values


class Campaign:
    """A campaign.yaml and what a service has of it. `program` is shoal's, `includes` are folders for #include files. only and skip
    (systems, edges, keys) and legs choose some of its ensembles.

    Every method may raise a Problem with what the program said, and Unreachable.
    """

    def __init__(self, file: StrPath, service: Service | None = None, *, program: StrPath = "shoal", includes: Sequence[StrPath] = (),
                 only: Sequence[str] = (), skip: Sequence[str] = (), legs: Sequence[str] = ()) -> None:
        self.file = os.fspath(file)
        self.part = [word for name, words in (("--only", only), ("--skip", skip), ("--leg", legs)) for one in words for word in (name, one)]
        self.service = service or Service()
        self.program = Program(program)
        self.includes = tuple(includes)

    def plan(self) -> Plan:
        """What would be submitted, checked; what is wrong with it is in `errors`."""
        return self._run(Plan, "plan", *self.part, fine=(OK, BAD_SPEC))

    def submit(self, *, replace: bool = False) -> Submitted:
        """What the service does not have yet. BadSpec, Conflict or another Problem where something is wrong, was there with other content
        or was refused; what else there is was submitted then. replace: what was there with other content is removed, with its results, and
        submitted as it is now."""
        return self._run(Submitted, "submit", *self.part, *options(replace=replace))

    def status(self) -> Status:
        """How its ensembles do."""
        return self._run(Status, "status", *self.part)

    def wait(self, timeout: float | None = None) -> Status:
        """Stays until all that were submitted have ended. OutOfTime after timeout s."""
        deadline = None if timeout is None else time.monotonic() + timeout
        for one in self.status().ensembles:
            if one.ensemble and not one.ensemble.ended:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    raise OutOfTime("BUSY", f"{one.key} has not ended in time; it goes on")
                self.service.wait(one.ensemble, left)
        return self.status()

    def gather(self, output: StrPath | None = None) -> Gathered:
        """The table; into a folder too, in the forms of OpenFE and cinnabar and as a page. Numbers of ensembles that
        have not ended are of their samples so far, and what depends on them is so_far too; without samples the verdict is pending."""
        return self._run(Gathered, "gather", *self.part, *options(output=output), fine=(OK, FAILED, TRY_LATER))

    def run(self, output: StrPath | None = None) -> Gathered:
        """Submits, waits, hands out the campaign's budget to what needs it most and gathers. Where the program ends on the
        way it is to be run again: it goes on from what the service has."""
        return self._run(Gathered, "run", *self.part, *options(output=output), fine=(OK, FAILED, TRY_LATER))

    def extend(self, *, time: str | None = None, until: str | None = None, by_need: bool = False) -> Moved:
        """All of them: production longer by `time`, or as long as `until`, as in "2 ns". by_need: as much in all as `time` adds to each, to
        those where it cuts the errors most."""
        return self._run(Moved, "extend", *self.part, *options(time=time, until=until, by_need=by_need))

    def cancel(self) -> Moved:
        """All of them that have not ended."""
        return self._run(Moved, "cancel", *self.part)

    def pause(self) -> Moved:
        """All of them that wait or run, until resume()."""
        return self._run(Moved, "pause", *self.part)

    def resume(self) -> Moved:
        """Those that are paused."""
        return self._run(Moved, "resume", *self.part)

    def retry(self) -> Moved:
        """Failed and cancelled windows of all of them again."""
        return self._run(Moved, "retry", *self.part)

    def remove(self) -> Cleared:
        """Those that have ended, with their files, for good."""
        return self._run(Cleared, "rm", *self.part)

    def _run(self, kind: type[T], action: str, *words: str, fine: Sequence[int] = (OK,)) -> T:
        answer = self.program.ask("campaign", action, self.file, "--socket", self.service.socket, *included(self.includes), *words, fine=fine)
        return decode(kind, answer, kind.__name__)
