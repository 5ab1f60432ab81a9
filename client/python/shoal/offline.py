# SPDX-License-Identifier: Apache-2.0
"""What needs no service: the program `shoal` does it, here and now. Every function may raise a Problem with what it said."""
from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shoal.decode import decode
from shoal.errors import refusal
from shoal.inputs import StrPath
from shoal.program import BAD_SPEC, FAILED, OK, Program, included, options
from shoal.results import Results
from shoal.rows import Rows


@dataclass(frozen=True, kw_only=True)
class MdpOption:
    """One option of a .mdp file. fate: kept, idle (without effect), changed, dropped, refused or unknown; why: None where it is kept."""

    name: str
    value: str
    line: int
    fate: str
    why: str | None


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A spec made of a .mdp file, and what became of each of its options."""

    spec: str | None
    options: Rows[MdpOption]


def import_mdp(mdp: StrPath, *, topology: StrPath = "topol.top", coordinates: StrPath = "conf.gro", reference: StrPath | None = None,
               index: StrPath | None = None, program: StrPath = "shoal") -> Imported:
    """The text of a spec from a GROMACS .mdp file, for Service.submit_text or a file in the current folder, from which it names files.
    BadSpec names the options that are refused or unknown."""
    words = options(topology=topology, coordinates=coordinates, reference=reference, index=index, quiet=True)
    made = decode(Imported, Program(program).ask("import", mdp, *words, fine=(OK, BAD_SPEC)), "Imported")
    if made.spec is None:
        bad = [f"{os.fspath(mdp)}:{one.line}: {one.name} = {one.value}: {one.fate}: {one.why}" for one in made.options
               if one.fate in ("refused", "unknown")]
        raise refusal("SPEC", "\n".join(bad))
    return made


def observe(spec: StrPath, trajectory: StrPath, *, output: StrPath = ".", begin: str | None = None, end: str | None = None, dt: str | None = None,
            window: int | None = None, includes: Sequence[StrPath] = (), program: StrPath = "shoal") -> dict[str, Any]:
    """The observables of a spec from an .xtc, .trr or .gro file: what `shoal observe --json` prints. Their curves are NAME.xvg in `output`.
    Times as in "20 ps"."""
    words = options(trajectory=trajectory, output=output, begin=begin, end=end, dt=dt, window=window)
    return Program(program).ask("observe", spec, *words, *included(includes))


def estimate(*files: StrPath, begin: str | None = None, program: StrPath = "shoal") -> Results:
    """Free energies from the dhdl.xvg files of one ladder, of GROMACS or Shoal, or of one run in which the state changes (expanded ensemble, AWH
    along lambda). Rows before `begin`, as in "500 ps", are left out."""
    return decode(Results, Program(program).ask("estimate", *files, *options(begin=begin), fine=(OK, FAILED)), "Results")


def estimate_switches(forward: StrPath | None = None, backward: StrPath | None = None, *, temperature: float | None = None,
                      unit: str | None = None, program: StrPath = "shoal") -> Results:
    """Free energies from works of non-equilibrium switches: files of works, dhdl.xvg of slow growth, or patterns of such names. temperature in
    K and unit (kJ/mol, kcal/mol, kT) are those of files of works."""
    words = options(forward=forward, backward=backward, temperature=temperature, unit=unit)
    return decode(Results, Program(program).ask("estimate", *words, fine=(OK, FAILED)), "Results")


def suggest_restraint(spec: StrPath, *trajectories: StrPath, ligand: str | None = None, receptor: str | None = None,
                      includes: Sequence[StrPath] = (), program: StrPath = "shoal") -> dict[str, Any]:
    """Anchors that hold a ligand where it binds: what `shoal suggest-restraint --json` prints."""
    return Program(program).ask("suggest-restraint", spec, *trajectories, *options(ligand=ligand, receptor=receptor), *included(includes))
