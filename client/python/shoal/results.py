# SPDX-License-Identifier: Apache-2.0
"""results.json, field by field as schemas/results.schema.json has it, which says what each of them means.

Windows and repeats count from 0. Energies are in three units, everything else has its unit beside it. None is what does not
exist: where the samples do not carry a number there is none.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.ensembles import Split
from shoal.rows import Rows
from shoal.show import html_table, short_unit, with_error


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """unit: kilocalorie_per_mole, kelvin, bar, nanosecond, nanosecond_per_day, second, nanometer or nanometer ** 3."""

    magnitude: float
    unit: str

    def __str__(self) -> str:
        return f"{self.magnitude:.6g} {short_unit(self.unit)}"


@dataclass(frozen=True, kw_only=True)
class Value:
    """With one standard error; None: it is not known."""

    value: float
    error: float | None

    def __str__(self) -> str:
        return with_error(self.value, self.error)


@dataclass(frozen=True, kw_only=True)
class MolarEnergy:
    """The same value in two units."""

    kj_mol: Value = field(metadata={"key": "kJ/mol"})
    kcal_mol: Value = field(metadata={"key": "kcal/mol"})

    def __str__(self) -> str:
        return f"{self.kcal_mol} kcal/mol"


@dataclass(frozen=True, kw_only=True)
class Energy(MolarEnergy):
    """In a third one too, of the ensemble's temperature."""

    kT: Value


@dataclass(frozen=True, kw_only=True)
class Average:
    """With one standard error. unit: as pint reads it, kilojoule_per_mole or kelvin."""

    value: float
    error: float | None
    unit: str

    def __str__(self) -> str:
        return f"{with_error(self.value, self.error)} {short_unit(self.unit)}"


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why a verdict is not `converged`: a code and a sentence."""

    code: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """verdict: converged, unconverged or failed."""

    verdict: str
    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        return self.verdict


@dataclass(frozen=True, kw_only=True)
class Solvation:
    """The free energy of putting the molecule in, minus `estimate`."""

    molecule: str
    meaning: str
    free_energy: Energy
    verdict: str


@dataclass(frozen=True, kw_only=True)
class StandardState:
    """What restraints are worth beside 1 mol/l; `correction` is to be added to `estimate`."""

    molecules: tuple[str, ...]
    meaning: str
    window: int
    terms: int
    other_end: str
    volume: Quantity
    release: Energy
    correction: Energy


@dataclass(frozen=True, kw_only=True)
class Change:
    """Which way the estimate of B states is: from one state of the topology to the other."""

    from_: str
    to: str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class FiniteSize:
    """What a change of the net charge lacks in a periodic box; `correction` is to be added to `estimate`. charges in e."""

    meaning: str
    charges: tuple[float, ...]
    edge: Quantity
    dielectric: float
    net: Energy
    usv: Energy
    correction: Energy
    missing: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The ensemble that the samples are of."""

    id: str | None
    key: str | None
    name: str | None
    labels: Mapping[str, str]
    spec_hash: str | None
    revision: int | None
    placed: Mapping[str, tuple[float, ...]] | None  # the windows that a pilot placed (alchemy.ladder), by ladder
    speed: Quantity | None
    running: Quantity | None
    devices: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Method:
    """How the ensemble was simulated: a sentence about one topic."""

    topic: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Repeat:
    """The total of one repeat, of `Results.estimator`."""

    repeat: int
    free_energy: Energy | None
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Range:
    """G(to) - G(from), of windows."""

    from_: int
    to: int
    free_energy: Energy | None
    verdict: str


@dataclass(frozen=True, kw_only=True)
class Leg:
    """A run of windows along which the same lambda components change."""

    name: str
    from_: int
    to: int
    free_energy: Energy | None
    verdict: str


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """name: MBAR, BAR, TI or TI-Gauss; of works of switches BAR, Jarzynski forward, Jarzynski backward or Gaussian intersection.
    status: ok or failed."""

    name: str
    status: str
    reason: str | None
    total: Energy | None
    verdict: Verdict
    quadrature_error: Quantity | None
    legs: Rows[Leg]
    steps: Rows[Range]
    cumulative: Rows[Range]


@dataclass(frozen=True, kw_only=True)
class Frames:
    """First rows of a window that had sampled before others were added: frames, evaluated at all windows. of: rows it had made then."""

    rows: int
    of: int
    thinned: int
    compared: int
    difference: Quantity | None
    bias: Quantity | None


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Rows of a window's dhdl.xvg, and how many of them count."""

    read: int
    stride: int
    nonfinite: int
    discarded: int
    discarded_time: Quantity
    used: int
    inefficiency: float
    uncorrelated: float
    variance: float | None
    variance_freedom: float | None
    frames: Frames | None


@dataclass(frozen=True, kw_only=True)
class WaterExchange:
    """Moves of waters between bulk and a sphere; inside: the mean number of waters in it."""

    tried: int
    moved: int
    kept: int
    batches: int
    changed: int
    undone: int
    inside: float | None


@dataclass(frozen=True, kw_only=True)
class Window:
    """status: ok, partial, running, waits or failed. lambda_ by component."""

    repeat: int
    window: int
    lambda_: Mapping[str, float]
    status: str
    reason: str | None
    seed: int | None
    sampled: Quantity
    samples: Samples | None
    dhdl: Mapping[str, Average]
    averages: Mapping[str, Average]
    fluctuations: Mapping[str, Average]
    water_exchange: WaterExchange | None


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Two neighbouring windows."""

    from_: int
    to: int
    overlap: float


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """matrix[i][j]: the chance that a sample of window i could have come from j."""

    threshold: float
    minimum: float | None
    neighbours: tuple[Neighbours, ...]
    matrix: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, kw_only=True)
class LengthStep:
    """Two neighbouring windows; in kT."""

    from_: int
    to: int
    length: float
    deviation_from: float
    deviation_to: float


@dataclass(frozen=True, kw_only=True)
class ThermodynamicLength:
    """In kT, so without a unit."""

    total: float
    steps: tuple[LengthStep, ...]


@dataclass(frozen=True, kw_only=True)
class ExchangePair:
    """attempted and acceptance are None with the scheme gibbs."""

    from_: int
    to: int
    exchanged: int
    attempted: int | None
    acceptance: float | None


@dataclass(frozen=True, kw_only=True)
class ExchangeReplica:
    """By the window in which it began."""

    replica: int
    windows: int
    round_trips: int


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """How replicas of one repeat got about; transitions[i][j]: from window i to j, rows sum to 1."""

    repeat: int
    scheme: str
    exchanges: int
    round_trips: int
    eigenvalue: float | None
    pairs: tuple[ExchangePair, ...]
    transitions: tuple[tuple[float, ...], ...]
    replicas: tuple[ExchangeReplica, ...]


@dataclass(frozen=True, kw_only=True)
class Convergence:
    """MBAR's total from the first (forward) and the last (backward) part of the rows; `reason`: why one of them is None."""

    data_fraction: float
    forward: Energy | None
    backward: Energy | None
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class Group:
    """Atoms of an observable, as the spec selects them, and how many these are."""

    selection: str
    atoms: int


@dataclass(frozen=True, kw_only=True)
class HighestG:
    """The highest bin of g(r)."""

    g: float
    error: float | None
    r_nm: float


@dataclass(frozen=True, kw_only=True)
class Coordination:
    """Mean and standard deviation."""

    mean: float
    error: float | None
    deviation: float


@dataclass(frozen=True, kw_only=True)
class StillWindow:
    """A window of a repeat in which a torsion never turned."""

    repeat: int
    window: int


@dataclass(frozen=True, kw_only=True)
class Well:
    """Where a torsion stays in windows without a transition. angle: mean of the first of them, degrees."""

    angle: float
    windows: tuple[StillWindow, ...]


@dataclass(frozen=True, kw_only=True)
class Torsion:
    """A torsion about a bond that can turn. atoms: numbers in the system, from 1; transitions: in all windows together;
    windows_without: trajectories that have none; wells: where those stay, two or more: they sampled different conformations."""

    molecule: str
    residue: str
    atoms: tuple[int, ...]
    names: tuple[str, ...]
    transitions: int
    windows_without: int
    wells: tuple[Well, ...] = ()  # not of results before there were any


@dataclass(frozen=True, kw_only=True)
class Torsions:
    """What trajectories show of torsions. frames: that were looked at, 0: none was kept; interval: the longest time between two
    of them, ps, 0: not known; windows: trajectories of two or more."""

    frames: int
    interval: float = 0
    windows: int
    list: tuple[Torsion, ...]


@dataclass(frozen=True, kw_only=True)
class FoldGroup:
    """Atoms that are followed."""

    text: str
    atoms: int


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """RMSD from the start structure in one window, nm. drift: steady, far (beyond the limit in the last quarter), rising."""

    mean_nm: float | None
    last_quarter_nm: float | None
    most_nm: float
    drift: str


@dataclass(frozen=True, kw_only=True)
class FoldPoint:
    """Means over a part of a window's production."""

    time_ps: float
    backbone_nm: float
    ligand_nm: float | None = None


@dataclass(frozen=True, kw_only=True)
class FoldWindow:
    """How far backbone and ligand are from the start structure in one window."""

    window: int
    repeat: int
    frames: int
    backbone: Deviation
    ligand: Deviation | None = None
    points: tuple[FoldPoint, ...]


@dataclass(frozen=True, kw_only=True)
class Fold:
    """Whether the protein keeps its fold and the ligand its place. windows: those with frames of production; warning: which drift."""

    backbone: FoldGroup
    ligand: FoldGroup | None = None
    limit_nm: float
    warning: str | None
    windows: tuple[FoldWindow, ...]


@dataclass(frozen=True, kw_only=True)
class LowestQ:
    """The lowest bin of X-ray scattering I(q), in electrons^2."""

    q_per_nm: float
    intensity: float
    error: float | None


@dataclass(frozen=True, kw_only=True)
class Dielectric:
    """The dielectric constant, from the fluctuation <M^2> - <M>^2 of a dipole M."""

    constant: float
    error: float | None
    temperature_k: float
    fluctuation_debye2: float
    mean_dipole_debye: tuple[float, ...]
    molecule_dipole_debye: float


@dataclass(frozen=True, kw_only=True)
class InfiniteBox:
    """What a diffusion constant is in an infinite box."""

    correction: str
    viscosity_mpa_s: float
    mean_edge_nm: float
    added_cm2_per_s: float
    value_cm2_per_s: float | None


@dataclass(frozen=True, kw_only=True)
class Diffusion:
    """From the slope of mean square displacements between two lags."""

    from_ps: float
    to_ps: float
    slope_nm2_per_ps: float | None
    intercept_nm2: float | None
    value_cm2_per_s: float | None
    error_cm2_per_s: float | None
    blocks: int
    infinite_box: InfiniteBox | None


@dataclass(frozen=True, kw_only=True)
class GreenKubo:
    """Diffusion from a third of the integral over the autocorrelation of velocities, up to a lag."""

    to_ps: float
    mean_square_velocity_nm2_per_ps2: float
    value_cm2_per_s: float
    error_cm2_per_s: float | None
    blocks: int


@dataclass(frozen=True, kw_only=True)
class PressureTensor:
    """Its mean, in bar; mean: a third of the trace."""

    mean: Value
    xx: Value
    yy: Value
    zz: Value
    xy: Value
    xz: Value
    yz: Value


@dataclass(frozen=True, kw_only=True)
class Observable:
    """Of one window; what is of another kind (rdf, msd, coordination, saxs, dielectric, vacf, pressure) is None. Its curves are in `file`."""

    window: int
    repeat: int
    file: str
    name: str
    kind: str
    verdict: Verdict | None  # of the number that stands for it; None: of results before there were any
    frames: int
    summary: str | None
    blocks: int
    frames_per_block: int
    groups: tuple[Group, ...]
    ended_at_step: int | None
    ended_box_width_nm: float | None
    max_nm: float | None
    bin_nm: float | None
    mean_inverse_volume_per_nm3: float | None
    highest: HighestG | None
    value: Coordination | None
    max: float | None
    bin: float | None
    mean_volume_nm3: float | None
    lowest: LowestQ | None
    interval_ps: float | None
    diffusion: Diffusion | None
    dielectric: Dielectric | None
    green_kubo: GreenKubo | None
    pressure_bar: PressureTensor | None


@dataclass(frozen=True, kw_only=True)
class ProfileBin:
    """The free energy of a coordination between two values, less that of the lowest bin; of several repeats their mean, and each one's
    with MBAR's error. rows_of_windows: the histogram of each window."""

    from_: float
    to: float
    rows: int
    rows_of_windows: tuple[int, ...]
    free_energy: Energy
    verdict: str
    repeats: tuple[Energy | None, ...] | None


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Along a coordination (from 1), without the biases. verdict: that of MBAR's total."""

    coordination: int
    verdict: str
    bins: Rows[ProfileBin]


@dataclass(frozen=True, kw_only=True)
class Switches:
    """Works of one way, used and left out. effective: uncorrelated works that the mean of exp(-W) rests on."""

    works: int
    nonfinite: int
    incomplete: int
    other_length: int
    length: Quantity | None  # files of works do not say it
    mean: Energy | None
    deviation: Energy | None
    dissipated: Energy | None
    inefficiency: float | None
    effective: float | None
    jarzynski_bias: Energy | None


@dataclass(frozen=True, kw_only=True)
class WalkerSpread:
    """Of the walkers of both ends. error: of BAR, from how much they differ; drift: in standard errors."""

    walkers: int
    error: Quantity
    inefficiency: float
    drift: float | None


@dataclass(frozen=True, kw_only=True)
class SwitchAdvice:
    """What would help more: longer switches or more of them. better: longer or more. twice_as_many, twice_as_long: errors to expect."""

    better: str
    twice_as_many: Quantity
    twice_as_long: Quantity
    text: str


@dataclass(frozen=True, kw_only=True)
class EarlierSwitches:
    """Works of walkers before their switches became longer, and BAR of these alone. forward, backward: how many."""

    length: Quantity
    forward: int
    backward: int
    free_energy: Energy | None
    hysteresis: Energy | None


@dataclass(frozen=True, kw_only=True)
class Lengthened:
    """How long switches are after the first of every walker. after: how many these are; doublings: how often later ones are twice as long."""

    doublings: int
    after: int
    length: Quantity
    text: str


@dataclass(frozen=True, kw_only=True)
class WorkDistributions:
    """How many works lie in bins of one width: forward ones, and backward ones with the other sign."""

    unit: str
    from_: float
    width: float
    forward: tuple[int, ...]
    backward: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Walker:
    """A replica of an ensemble that switches. end: A or B. works: switches that it has made."""

    repeat: int
    end: str
    walker: int
    status: str
    reason: str | None
    seed: int | None
    works: int
    water_exchange: WaterExchange | None


@dataclass(frozen=True, kw_only=True)
class Switching:
    """Works of non-equilibrium switches. slope: of ln(P_forward(W) / P_backward(-W)) by W in kT, 1 by Crooks' relation."""

    forward: Switches
    backward: Switches
    hysteresis: Energy | None
    overlap: float | None
    slope: Value | None
    spread: WalkerSpread | None
    advice: SwitchAdvice | None
    earlier: EarlierSwitches | None
    lengthened: Lengthened | None
    distributions: WorkDistributions | None
    walkers: tuple[Walker, ...] | None  # of an ensemble


@dataclass(frozen=True, kw_only=True)
class Results:
    """Of one ensemble. status: ok, partial, failed or averages."""

    estimate: Quantity | None
    uncertainty: Quantity | None
    verdict: Verdict | None
    status: str
    reason: str | None
    estimator: str | None
    quantity: str
    temperature: Quantity
    pressure: Quantity | None
    solvation: Solvation | None
    change: Change | None
    standard_state: StandardState | None
    finite_size: FiniteSize | None
    version: str
    ensemble: Origin
    methods: tuple[Method, ...] | None  # not of bare files
    split: Split | None  # only where the spec has nonbonded.split
    repeats: Rows[Repeat] | None
    estimators: Rows[Estimator]
    windows: Rows[Window]
    overlap: Overlap | None
    thermodynamic_length: ThermodynamicLength | None
    exchange: tuple[Exchange, ...]
    convergence: Rows[Convergence]
    profiles: tuple[Profile, ...] | None  # only of windows that differ in biases alone
    production: tuple[int, ...] | None  # only of live ones
    observables: Rows[Observable] | None  # only where the spec has some
    torsions: Torsions | None  # only where what the alchemy changes has bonds that can turn, and not of live ones
    fold: Fold | None  # only where there is a protein, and not of live ones
    switching: Switching | None  # only of works of switches
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        """"3.57 +- 0.19 kcal/mol, converged": the estimate, or why there is none."""
        if self.estimate is None:
            return f"no free energy: {self.reason or self.status}"
        error = self.uncertainty.magnitude if self.uncertainty else None
        verdict = f", {self.verdict}" if self.verdict else ""
        return f"{with_error(self.estimate.magnitude, error)} {short_unit(self.estimate.unit)}{verdict}"

    def __repr__(self) -> str:
        return f"<Results of {self.ensemble.name or self.ensemble.id or 'files'}: {self}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the answer, and each estimator's."""
        rows = [(e.name, e.total.kj_mol if e.total else "-", e.total.kcal_mol if e.total else "-", e.verdict) for e in self.estimators]
        reasons = "".join(f"; {reason.text}" for reason in (self.verdict.reasons if self.verdict else ()))
        return html_table(f"{self.ensemble.name or 'files'}: {self.quantity} = {self}{reasons}", ("", "kJ/mol", "kcal/mol", "verdict"), rows)
