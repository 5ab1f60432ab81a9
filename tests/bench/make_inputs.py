#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inputs of the GPU benches, all of our own making: SOLVENT, methanol in 1,720 waters (5,166 atoms); COMPLEX, methanol in 12,162
waters (36,492 atoms, of a protein-ligand complex's size); NARROW, methanol in 337 waters (1,017 atoms), whose cut-off reaches beyond
half from face to face in a dodecahedron; PEPTIDE, alanine dipeptide in 711 waters or so; VACUUM, the peptide alone; ALCOHOL, nonan-1-ol
(30 atoms) alone.

Usage: make_inputs.py FOLDER [usual] [small] [large]
                                   usual: writes FOLDER/{solvent,complex,narrow,peptide,vacuum,alcohol}.yaml and what they name, and of SOLVENT
                                   solvent-plain.yaml (one window, nothing perturbed), solvent-npt.yaml, and of the plain one
                                   solvent-biased.yaml (a coordination of the methanol's oxygen), solvent-gathered.yaml and
                                   solvent-gathered-all.yaml (of the waters, whose function ends or does not), and
                                   solvent-observed.yaml, with two frames of it, solvent-frames.gro, and solvent-with-KIND.yaml, with one
                                   observable each, as often as it is by default; solvent-switching.yaml, walkers that switch for ten of eleven timesteps;
                                   {solvent,complex,narrow}-dodecahedron.yaml, the same molecules and density in a rhombic dodecahedron
                                   small (with usual): what else tests/gpu/sanitized names: as little work as launches every kernel, for tools that
                                   look at each access to memory
                                   large: large.yaml, methanol in 65,600 waters or so: nearly the 200,000 atoms that systems may have"""
import math
import random
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import alcohol
import chain
import peptide
from molecule import Molecule

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
import make_box  # noqa: E402

# of 99 atoms: of so many that the threads of a block move it together where the volume changes
LONG = SimpleNamespace(**{**vars(alcohol), "RESIDUE": "LNG", "ATOMS": alcohol.chain(32, "LNG")})
OWN = {"PEP": Molecule(peptide), "NOL": Molecule(alcohol), "LNG": Molecule(LONG), "CHN": chain}  # solutes but methanol, by residue

COULOMB = [0, 0.25, 0.5, 0.75, 1, 1, 1, 1, 1, 1, 1, 1]
# nm, that waters are off their lattice: on it all pairs of oxygens have a few distances, whose roundings add up in a sum over
# pairs as they do in no liquid.
SHAKE = 0.03
CUBE = (1, 0, 0), (0, 1, 0), (0, 0, 1)
DODECAHEDRON = (1, 0, 0), (0, 1, 0), (0.5, 0.5, math.sqrt(0.5))  # as `gmx editconf -bt dodecahedron` has it
HEXAGON = (1, 0, 0), (0.5, math.sqrt(0.75), 0), (0, 0, 1)
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
# Of `small`: from what its specs would have otherwise.
HURRIED = [("steps: 100}", "steps: 3}"), ("timestep: 2 fs", "timestep: 0.5 fs"), ("every: 25 steps", "every: 2 steps"), ("time: 2 ps", "time: 4 steps"),
           ("time: 100 ps", "time: 40 steps"), ("every: 0.2 ps", "every: 4 steps"), ("length: 2 ps, change-every: 10 steps", "length: 24 steps, change-every: 2 steps"), ("max: 20 ps", "max: 20 fs")]
AT_PEPTIDE = [("{resname: MOH, name: O2}", "{molecule: PEP, name: O}"), ("SOL MOH", "SOL ACE ALA NME")]
# of so many pairs that they are put in order
MANY = "  - coordination: {of: {within: {atoms: 23-1060}, r0: 0.3 nm, d-max: 0.6 nm}, max: 100000, bin: 100}\n"
RARE = """alchemy:
  perturb: b-states
  soft-core: {function: gapsys}
  windows: {coulomb: [0, 0.5, 1], vdw: [0, 0.5, 1], bonded: [0, 0.5, 1], restraint: [0, 0.5, 1]}
restraints:
  - between: [{atoms: "1-4"}, {atoms: "9-12"}]
    distance: 1 nm
    force-constant: 50 kJ/mol/nm^2
    b: {force-constant: 90 kJ/mol/nm^2}
"""
SWITCH = "switch: {length: 2 ps, change-every: 10 steps, snapshots-every: 0.2 ps, walkers: 12}\n"
WATERS = "water-exchange: {every: 2 steps, tries: 40}\n"
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


def edges_of(points, shape):
    """Of a box with as much room for each point of its lattice as a water has, nm."""
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = shape
    volume = ax * (by * cz - bz * cy) - ay * (bx * cz - bz * cx) + az * (bx * cy - by * cx)
    return [[n * make_box.SPACING * x / volume ** (1 / 3) for x in edge] for n, edge in zip(points, shape)]


def gro(path, residue, solute, points, water=list, shape=CUBE):
    """points: of the lattice of waters along the edges of the box, or along each. water: sites of a TIP3P water -> those it is to
    have. Returns the number of waters."""
    points, rng = [points] * 3 if isinstance(points, int) else points, random.Random(2026)
    edges = edges_of(points, shape) if all(points) else [[4.0 * x for x in edge] for edge in shape]
    middle = [sum(x[d] for _, x in solute) / len(solute) for d in range(3)]
    center = [sum(edge[d] for edge in edges) / 2 for d in range(3)]
    solute = [(name, [center[d] + x[d] - middle[d] for d in range(3)]) for name, x in solute]
    molecules = [(residue, solute)]
    for n in range(math.prod(points)):
        at = n % points[0], n // points[0] % points[1], n // points[0] // points[1]
        parts = [(k + 0.5) / most for k, most in zip(at, points)]
        oxygen = [sum(part * edge[d] for part, edge in zip(parts, edges)) + rng.uniform(-SHAKE, SHAKE) for d in range(3)]
        if all(math.dist(oxygen, x) > make_box.CLEAR for _, x in solute):
            molecules.append(("SOL", water(make_box.water(oxygen, rng))))
    rows = [(m % 100000, name, atom, x) for m, (name, members) in enumerate(molecules, 1) for atom, x in members]
    lines = ["%5d%-5s%5s%5d%9.4f%9.4f%9.4f" % (m, name, atom, i % 100000, *x) for i, (m, name, atom, x) in enumerate(rows, 1)]
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = edges
    box = [ax, by, cz] if shape == CUBE else [ax, by, cz, ay, az, bx, bz, cx, cy]
    path.write_text("\n".join([path.stem, str(len(rows)), *lines, "".join("%10.5f" % x for x in box)]) + "\n")
    return len(molecules) - 1


def topology(path, residue, waters, changes=None):
    """The methanol example's, with this number of waters; its solute, or one of OWN. changes: {text of a water: in its place}"""
    text = (EXAMPLES / "methanol/methanol.top").read_text()
    head, rest = text.split("[ moleculetype ]", 1)
    solute, water = rest.split("[ moleculetype ]", 1)
    water = water.split("[ system ]")[0]
    for text, instead in (changes or {}).items():
        assert text in water, text
        water = water.replace(text, instead)
    own = OWN.get(residue)
    if own:
        kinds = [line for line in own.atom_types() if not re.match(" +[a-z]", line) or "\n" + line[:7] not in head]
        head, solute = head.rstrip() + "\n" + "\n".join(kinds) + "\n\n", "\n".join(own.topology()[1:]) + "\n\n"
    end = f"[ system ]\n{path.stem}\n\n[ molecules ]\n{residue} 1\n" + (f"SOL {waters}\n" if waters else "")
    path.write_text(head + "[ moleculetype ]" + ("\n" if own else "") + solute + "[ moleculetype ]" + water + end)


def replaced(text, by):
    for usual, instead in by:
        text = text.replace(usual, instead)
    return text


def small(out):
    dipeptide, long, methanol = OWN["PEP"].atoms(make_box.place), OWN["LNG"].atoms(make_box.place), make_box.methanol()[1]
    for name, residue, solute, points, shape, decouple, npt, more in (
            ("small", "PEP", dipeptide, 8, CUBE, "PEP", True, ""), ("dodecahedron", "PEP", dipeptide, 9, DODECAHEDRON, "PEP", True, ""),
            ("regions", "MOH", methanol, 15, CUBE, "MOH", True, ""), ("regions-dodecahedron", "MOH", methanol, 15, DODECAHEDRON, "MOH", True, ""),
            ("regions-solute", "LNG", long, 15, CUBE, None, True, ""), ("rare", "CHN", chain.atoms(make_box.place), 8, CUBE, None, False, RARE)):
        topology(out / f"{name}.top", residue, gro(out / f"{name}.gro", residue, solute, points, shape=shape))
        (out / f"{name}.yaml").write_text(replaced(spec(name, name, decouple, npt=npt, more=more), HURRIED))
    # cut-offs beyond half from face to face; the second does not fit into a block
    for name, points, shape, cutoff in ("far", 7, DODECAHEDRON, 0.95), ("regions-far", (10, 10, 34), HEXAGON, 1.4):
        topology(out / f"{name}.top", "MOH", gro(out / f"{name}.gro", "MOH", methanol, points, shape=shape))
        (out / f"{name}.yaml").write_text(replaced(spec(name, name, "MOH", npt=True, cutoff=cutoff), HURRIED))
    topology(out / "sites.top", "MOH", gro(out / "sites.gro", "MOH", methanol, 8, four_sites), FOURTH_SITE)
    (out / "waters.yaml").write_text(replaced(spec("waters", "small", "PEP", more=WATERS), HURRIED))
    (out / "switching.yaml").write_text(replaced(spec("switching", "small", "PEP", more=SWITCH), HURRIED))
    (out / "switching-rare.yaml").write_text(replaced(spec("switching-rare", "rare", None, more=RARE + SWITCH), HURRIED))
    (out / "sites.yaml").write_text(replaced(spec("sites", "sites", "MOH"), VERLET + HURRIED))
    (out / "tiny.yaml").write_text(replaced(spec("tiny", "vacuum", "PEP", cutoff=1.8), HURRIED))
    topology(out / "tiny-dodecahedron.top", "NOL", gro(out / "tiny-dodecahedron.gro", "NOL", OWN["NOL"].atoms(make_box.place), 0, shape=DODECAHEDRON))
    (out / "tiny-dodecahedron.yaml").write_text(replaced(spec("tiny-dodecahedron", "tiny-dodecahedron", "NOL", cutoff=1.3), HURRIED))
    topology(out / "tiny-rare.top", "CHN", gro(out / "tiny-rare.gro", "CHN", chain.atoms(make_box.place), 0))
    (out / "tiny-rare.yaml").write_text(replaced(spec("tiny-rare", "tiny-rare", None, cutoff=1.8, more=RARE), VERLET + HURRIED))
    gathered = GATHERED.format(", d-max: 0.6 nm").replace("within: OW", "within: {atoms: 23-1060}")
    seen = re.sub(r"(?<!steps)\}$", ", every: 4 steps}", OBSERVABLES + MANY + MOTION.removeprefix("observables:\n"), flags=re.M)
    more = BIAS + gathered.removeprefix("biases:\n") + seen
    (out / "seen.yaml").write_text(replaced(spec("seen", "small", None, more=more), AT_PEPTIDE + HURRIED))


def usual(out):
    (dipeptide, nonanol), methanol = (OWN[name].atoms(make_box.place) for name in ("PEP", "NOL")), make_box.methanol()[1]
    for name, residue, solute, points, shape, cutoff in (
            ("solvent", "MOH", methanol, 12, CUBE, 0.9), ("solvent-dodecahedron", "MOH", methanol, 12, DODECAHEDRON, 0.9),
            ("complex", "MOH", methanol, 23, CUBE, 0.9), ("complex-dodecahedron", "MOH", methanol, 23, DODECAHEDRON, 0.9),
            ("narrow", "MOH", methanol, 7, CUBE, 0.95), ("narrow-dodecahedron", "MOH", methanol, 7, DODECAHEDRON, 0.95),
            ("peptide", "PEP", dipeptide, 9, CUBE, 0.9), ("vacuum", "PEP", dipeptide, 0, CUBE, 1.8), ("alcohol", "NOL", nonanol, 0, CUBE, 1.8)):
        waters = gro(out / f"{name}.gro", residue, solute, points, shape=shape)
        topology(out / f"{name}.top", residue, waters)
        (out / f"{name}.yaml").write_text(spec(name, name, residue, minimize=400 if waters > 5000 else 100, cutoff=cutoff))
        print(f"{name}: {waters} waters, {3 * waters + len(solute)} atoms")
    (out / "solvent-plain.yaml").write_text(spec("solvent-plain", "solvent", None))
    (out / "solvent-biased.yaml").write_text(spec("solvent-biased", "solvent", None, more=BIAS))
    (out / "solvent-gathered.yaml").write_text(spec("solvent-gathered", "solvent", None, more=GATHERED.format(", d-max: 0.6 nm")))
    (out / "solvent-gathered-all.yaml").write_text(spec("solvent-gathered-all", "solvent", None, more=GATHERED.format("")))
    (out / "solvent-observed.yaml").write_text(spec("solvent-observed", "solvent", None, more=OBSERVABLES))
    for line in (OBSERVABLES + SELDOM).splitlines():
        if line.startswith("  - "):
            kind = line[4:line.index(":")]
            (out / f"solvent-with-{kind}.yaml").write_text(spec(f"solvent-with-{kind}", "solvent", None, more=f"observables:\n{line}\n"))
    frame = (out / "solvent.gro").read_text()
    (out / "solvent-frames.gro").write_text(frame.replace("solvent", "solvent t= 0.0", 1) + frame.replace("solvent", "solvent t= 1.0", 1))
    (out / "solvent-npt.yaml").write_text(spec("solvent-npt", "solvent", "MOH", npt=True))
    (out / "solvent-switching.yaml").write_text(spec("solvent-switching", "solvent", "MOH", more=SWITCH))


def large(out):
    methanol = make_box.methanol()[1]
    waters = gro(out / "large.gro", "MOH", methanol, (40, 40, 41))
    topology(out / "large.top", "MOH", waters)
    (out / "large.yaml").write_text(spec("large", "large", "MOH", minimize=400))
    print(f"large: {waters} waters, {3 * waters + len(methanol)} atoms")


def main():
    sets = {"usual": usual, "small": small, "large": large}
    wanted = sys.argv[2:] or ["usual"]
    if len(sys.argv) < 2 or sys.argv[1].startswith("-") or not set(wanted) <= set(sets):
        sys.exit(__doc__)
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        sets[name](out)


if __name__ == "__main__":
    main()
