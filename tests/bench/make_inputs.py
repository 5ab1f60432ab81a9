#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inputs of the GPU benches, all of our own making: SOLVENT, methanol in 1,720 waters (5,166 atoms); COMPLEX, methanol in 12,162
waters (36,492 atoms, of a protein-ligand complex's size); PEPTIDE, alanine dipeptide in 711 waters or so; VACUUM, the peptide alone; ALCOHOL, nonan-1-ol (30 atoms) alone.

Usage: make_inputs.py FOLDER       writes FOLDER/{solvent,complex,peptide,vacuum,alcohol}.yaml and what they name, and of SOLVENT
                                   solvent-plain.yaml (one window, nothing perturbed), solvent-npt.yaml, and of the plain one
                                   solvent-biased.yaml (a coordination of the methanol's oxygen), solvent-gathered.yaml and
                                   solvent-gathered-all.yaml (of the waters, whose function ends or does not), and
                                   solvent-observed.yaml, with two frames of it, solvent-frames.gro, and solvent-with-KIND.yaml, with one
                                   observable each, as often as it is by default; and of PEPTIDE, small enough for every tool that
                                   looks at each access to memory, peptide-biased.yaml, peptide-gathered.yaml and
                                   peptide-motion.yaml, whose observables need a run; and sites.yaml, methanol in waters with their charge
                                   on a fourth site, by velocity Verlet"""
import random
import sys
from pathlib import Path

import alcohol
import peptide
from molecule import Molecule

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
import make_box  # noqa: E402

METHANOL = "MOH"
COULOMB = [0, 0.25, 0.5, 0.75, 1, 1, 1, 1, 1, 1, 1, 1]
# nm, that waters are off their lattice: on it all pairs of oxygens have a few distances, whose roundings add up in a sum over
# pairs as they do in no liquid.
SHAKE = 0.03
VDW = [0, 0, 0, 0, 0, 0.15, 0.3, 0.45, 0.6, 0.7, 0.85, 1]
BIAS = """biases:
  - coordination: {between: [{resname: MOH, name: O2}, OW], r0: 0.35 nm, d-max: 0.9 nm}
    harmonic: {at: 4, force-constant: 20 kJ/mol}
"""
GATHERED = """biases:
  - coordination: {{within: OW, r0: 0.3 nm{}}}
    linear: {{slope: -0.001 kJ/mol}}
"""
OBSERVABLES = """observables:
  - rdf: {between: [OW, OW], max: 1.2 nm, bin: 0.002 nm}
  - msd: {of: {resname: SOL}, by: molecule, max: 20 ps}
  - coordination: {of: {between: [{resname: MOH, name: O2}, OW], r0: 0.35 nm, d-max: 0.9 nm}, max: 10, bin: 0.1}
  - saxs: {of: {resname: "SOL MOH"}}
"""
MOTION = """observables:
  - dielectric: {every: 4 steps}
  - vacf: {of: {resname: SOL}, by: molecule, max: 40 fs, every: 4 steps}
  - pressure: {every: 4 steps}
"""
# TIP3P with its oxygen's charge where TIP4P has it: 0.015 nm away, of each hydrogen's direction this part
SITE = 0.128
FOURTH_SITE = {"-0.834   16.000": "0.0 16.000", "\n\n[ settles ]": f"""
  4 HW 1 SOL MW 1 -0.834 0.0

[ virtual_sites3 ]
4 1 2 3 1 {SITE} {SITE}

[ settles ]""", "1 2 3\n2 1 3\n3 1 2\n": "1 2 3 4\n2 1 3 4\n3 1 2 4\n4 1 2 3\n"}
VERLET = [("method: langevin-middle, timestep: 2 fs, temperature: 298.15 K, friction: 1 /ps, seed: 2026", "method: velocity-verlet, timestep: 2 fs"),
          ("ensemble: nvt", "ensemble: nve")]
SELDOM = """observables:
  - dielectric: {}
  - vacf: {of: {resname: SOL}, by: molecule, max: 2 ps}
  - pressure: {}
"""


def spec(name, system, decouple, npt=False, minimize=100, cutoff=0.9, more=""):
    alchemy = f"""alchemy:
  decouple: {decouple}
  intramolecular: keep
  soft-core: {{alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: no}}
  windows:
    coulomb: {COULOMB}
    vdw: {VDW}
"""
    barostat = "barostat: {method: monte-carlo, pressure: 1.01325 bar, every: 25 steps}\n"
    spacing, correction = ("0.12", "energy-pressure") if cutoff < 1 else ("0.2", "no")
    return f"""# SPDX-License-Identifier: Apache-2.0
name: {name}
system: {{topology: {system}.top, coordinates: {system}.gro}}
nonbonded:
  vdw: {{cutoff: {cutoff} nm, dispersion-correction: {correction}}}
  coulomb: {{cutoff: {cutoff} nm, grid-spacing: {spacing} nm, order: 4, tolerance: 1e-5}}
constraints: h-bonds
{alchemy if decouple else ""}integrator: {{method: langevin-middle, timestep: 2 fs, temperature: 298.15 K, friction: 1 /ps, seed: 2026}}
{barostat if npt else ""}protocol:
  - minimize: {{steps: {minimize}}}
  - equilibrate: {{time: 2 ps, ensemble: nvt}}
  - produce: {{time: 100 ps, ensemble: {"npt" if npt else "nvt"}, sample-every: 0.2 ps}}
{more}"""


def four_sites(water):
    (_, o), (_, h), (_, g) = water
    return [*water, ("MW", [a + SITE * (b - a + c - a) for a, b, c in zip(o, h, g)])]


def gro(path, residue, solute, points, water=list):
    """water: sites of a TIP3P water -> those it is to have. Returns the number of waters."""
    edge, rng = points * make_box.SPACING if points else 4.0, random.Random(2026)
    middle = [sum(x[d] for _, x in solute) / len(solute) for d in range(3)]
    solute = [(name, [edge / 2 + x[d] - middle[d] for d in range(3)]) for name, x in solute]
    molecules = [(residue, solute)]
    for n in range(points ** 3):
        oxygen = [make_box.SPACING * (n // points ** k % points + 0.5) + rng.uniform(-SHAKE, SHAKE) for k in range(3)]
        if all(sum((a - b) ** 2 for a, b in zip(oxygen, x)) > make_box.CLEAR ** 2 for _, x in solute):
            molecules.append(("SOL", water(make_box.water(oxygen, rng))))
    rows = [(m % 100000, name, atom, x) for m, (name, members) in enumerate(molecules, 1) for atom, x in members]
    lines = ["%5d%-5s%5s%5d%9.4f%9.4f%9.4f" % (m, name, atom, i % 100000, *x) for i, (m, name, atom, x) in enumerate(rows, 1)]
    path.write_text("\n".join([path.stem, str(len(rows)), *lines, "%10.5f%10.5f%10.5f" % (edge, edge, edge)]) + "\n")
    return len(molecules) - 1


def topology(path, solute, waters, changes=None):
    """The methanol example's, with this number of waters and its solute, or a Molecule instead. changes: {text of a water: in its place}"""
    text = (EXAMPLES / "methanol/methanol.top").read_text()
    head, rest = text.split("[ moleculetype ]", 1)
    methanol, water = rest.split("[ moleculetype ]", 1)
    water = water.split("[ system ]")[0]
    for text, instead in (changes or {}).items():
        assert text in water, text
        water = water.replace(text, instead)
    residue, lines = METHANOL, methanol
    if solute != METHANOL:
        kinds = [line for line in solute.atom_types() if "\n" + line[:7] not in head]
        head = head.rstrip() + "\n" + "\n".join(kinds) + "\n\n"
        residue, lines = solute.of.RESIDUE, "\n" + "\n".join(solute.topology()[1:]) + "\n\n"
    end = f"[ system ]\n{path.stem}\n\n[ molecules ]\n{residue} 1\n" + (f"SOL {waters}\n" if waters else "")
    path.write_text(head + "[ moleculetype ]" + lines + "[ moleculetype ]" + water + end)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    dipeptide, nonanol, methanol = Molecule(peptide), Molecule(alcohol), make_box.methanol()[1]
    for name, solute, points in (("solvent", METHANOL, 12), ("complex", METHANOL, 23), ("peptide", dipeptide, 9), ("vacuum", dipeptide, 0),
                                 ("alcohol", nonanol, 0)):
        residue, atoms = (METHANOL, methanol) if solute == METHANOL else (solute.of.RESIDUE, solute.atoms(make_box.place))
        waters = gro(out / f"{name}.gro", residue, atoms, points)
        topology(out / f"{name}.top", solute, waters)
        text = spec(name, name, residue, minimize=400 if waters > 5000 else 100, cutoff=0.9 if waters else 1.8)
        (out / f"{name}.yaml").write_text(text)
        print(f"{name}: {waters} waters, {3 * waters + len(atoms)} atoms")
    (out / "solvent-plain.yaml").write_text(spec("solvent-plain", "solvent", None))
    (out / "solvent-biased.yaml").write_text(spec("solvent-biased", "solvent", None, more=BIAS))
    (out / "solvent-gathered.yaml").write_text(spec("solvent-gathered", "solvent", None, more=GATHERED.format(", d-max: 0.6 nm")))
    (out / "solvent-gathered-all.yaml").write_text(spec("solvent-gathered-all", "solvent", None, more=GATHERED.format("")))
    (out / "solvent-observed.yaml").write_text(spec("solvent-observed", "solvent", None, more=OBSERVABLES))
    for line in (OBSERVABLES + SELDOM).splitlines():
        if line.startswith("  - "):
            kind = line[4:line.index(":")]
            (out / f"solvent-with-{kind}.yaml").write_text(spec(f"solvent-with-{kind}", "solvent", None, more=f"observables:\n{line}\n"))
    for name, more in (("biased", BIAS.replace("{resname: MOH, name: O2}", "{molecule: PEP, name: O}")), ("motion", MOTION),
                       ("gathered", GATHERED.format(", d-max: 0.6 nm").replace("within: OW", "within: {resname: SOL}"))):
        (out / f"peptide-{name}.yaml").write_text(spec(f"peptide-{name}", "peptide", None, more=more))
    topology(out / "sites.top", METHANOL, gro(out / "sites.gro", "MOH", methanol, 8, four_sites), FOURTH_SITE)
    text = spec("sites", "sites", "MOH")
    for langevin, verlet in VERLET:
        text = text.replace(langevin, verlet)
    (out / "sites.yaml").write_text(text)
    frame = (out / "solvent.gro").read_text()
    (out / "solvent-frames.gro").write_text(frame.replace("solvent", "solvent t= 0.0", 1) + frame.replace("solvent", "solvent t= 1.0", 1))
    (out / "solvent-npt.yaml").write_text(spec("solvent-npt", "solvent", "MOH", npt=True))


if __name__ == "__main__":
    main()
