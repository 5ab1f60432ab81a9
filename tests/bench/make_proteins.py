#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inputs of the benches that are shaped like relative binding as people run it: a hybrid ligand with virtual sites in a
folded chain, both of our own making (fold.py, side_chains.py, ligand.py), with water and ions in a dodecahedron.

PROTEIN: 140 residues, 23,000 atoms in all. KINASE: 296 residues, 43,500 atoms. LEG: the ligand alone, 6,000 atoms.

The force field is AMBER99SB-ILDN with TIP3P as GROMACS ships it. `gmx pdb2gmx` adds hydrogens, `gmx solvate` water,
and two short minimizations give everything room. Runs on one machine write the same bytes each time; another machine's
vector instructions may change last digits of coordinates. A machine without GROMACS needs the folder from another one.

Usage: make_proteins.py FOLDER [protein] [kinase] [leg]
writes FOLDER/{protein,kinase,leg}.{gro,top} (all three unless some are named) and the specs
  protein.yaml        cut-off 1.0 nm, potential-switch from 0.9 nm, NPT with a volume move every 25 steps
  protein-shift.yaml  0.9 nm, potential-shift, NVT
  protein-wide.yaml   1.1 nm, potential-switch from 1.0 nm, NPT
  kinase.yaml         1.0 nm, potential-switch from 0.9 nm, NPT
  leg.yaml            1.1 nm, potential-switch from 1.0 nm, NPT"""
import math
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES))
import fold  # noqa: E402
import ligand  # noqa: E402
import side_chains  # noqa: E402
from hybrid import Hybrid  # noqa: E402
from make_box import add, cross, place, unit  # noqa: E402

FORCE_FIELD = "amber99sb-ildn"
HEIGHT = math.sqrt(0.75)
RING = [(math.cos(k * math.pi / 3), math.sin(k * math.pi / 3)) for k in range(6)]
# sites of the helices in the order of the chain, site of the ligand, residues of a helix, edge of the box in nm
LOADS = {
    "protein": ([RING[0], (0, 0), *RING[1:5]], RING[5], 20, 6.937),
    "kinase": ([(-1.5, HEIGHT), (-2, 0), (-1.5, -HEIGHT), (-1, 0), (-0.5, -HEIGHT), (0, 0), (0.5, -HEIGHT), (1, 0),
                (1.5, -HEIGHT), (2, 0), (1.5, HEIGHT), (0.5, HEIGHT)], (-0.5, HEIGHT), 21, 8.544),
    "leg": (None, (0, 0), 0, 4.422)}
SALT = 0.15  # mol/l, beside the ions that neutralize
APART = 0.5  # nm, at least, between two ions and between an ion and a solute
WINDOWS = [0, 0.05, 0.12, 0.21, 0.31, 0.43, 0.57, 0.69, 0.79, 0.88, 0.95, 1]
# name of a spec: load, cut-off and begin of the switch in nm, ensemble
SPECS = {"protein-shift": ("protein", 0.9, None, "nvt"), "protein": ("protein", 1.0, 0.9, "npt"),
         "protein-wide": ("protein", 1.1, 1.0, "npt"), "kinase": ("kinase", 1.0, 0.9, "npt"),
         "leg": ("leg", 1.1, 1.0, "npt")}


def spec(name, load, cutoff, start, ensemble):
    modifier = f"potential-switch, switch-start: {start} nm" if start else "potential-shift"
    barostat = "barostat: {method: monte-carlo, pressure: 1.01325 bar, every: 25 steps}\n" if ensemble == "npt" else ""
    return f"""# SPDX-License-Identifier: Apache-2.0
name: {name}
system: {{topology: {load}.top, coordinates: {load}.gro}}
nonbonded:
  vdw: {{cutoff: {cutoff} nm, modifier: {modifier}, dispersion-correction: all}}
  coulomb: {{cutoff: {cutoff} nm, grid-spacing: 0.12 nm, order: 4, tolerance: 1e-5}}
constraints: h-bonds
alchemy:
  perturb: b-states
  soft-core: {{alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: yes}}
  windows:
    coulomb: {WINDOWS}
    vdw: {WINDOWS}
    bonded: {WINDOWS}
integrator: {{method: langevin-middle, timestep: 2 fs, temperature: 298.15 K, friction: 1 /ps, seed: 2026}}
{barostat}protocol:
  - minimize: {{steps: 1000}}
  - equilibrate: {{time: 20 ps, ensemble: nvt}}
  - equilibrate: {{time: 20 ps, ensemble: {ensemble}}}
  - produce: {{time: 100 ps, ensemble: {ensemble}, sample-every: 0.5 ps}}
"""


def gmx(folder, *arguments):
    done = subprocess.run(["gmx", "-quiet", *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"make_proteins.py: gmx {' '.join(arguments)}:\n{done.stderr[-3000:]}")
    return done


# ---- solutes ----

def ligand_at(site):
    """[(atom, x)]: the long axis along z, the middle at the site and at z = 0."""
    atoms = Hybrid(ligand).atoms(place)
    x = dict(atoms)
    z = unit(add(x["CL"], x["C31"], -1))
    across = unit(cross(z, add(x["O7"], x["C1"], -1)))
    axes = across, cross(z, across), z
    middle = [sum(at[d] for at in x.values()) / len(x) for d in range(3)]
    begin = [fold.APART * site[0], fold.APART * site[1], 0]
    return [(name, add(begin, [fold.dot(a, add(at, middle, -1)) for a in axes])) for name, at in atoms]


def pdb(path, residues):
    lines, number = [], 0
    for i, (residue, atoms) in enumerate(residues, 1):
        for name, x in atoms.items():
            number += 1
            angstrom = [10 * y for y in x]
            lines.append("ATOM  %5d  %-3s %3s A%4d    %8.3f%8.3f%8.3f" % (number, name, residue, i, *angstrom))
    path.write_text("\n".join([*lines, "TER", "END"]) + "\n")


def chain(folder, sites, length, guest):
    """Writes chain.gro, with hydrogens. Returns the chain's part of a topology."""
    fixed = [("C", x) for name, x in guest if not name.startswith(("H", "EP"))]
    residues = side_chains.dress(*fold.backbone(sites, length, fixed), fixed)
    last = residues[-1][1]
    last["OXT"] = place(last["N"], last["CA"], last["C"], 0.125, 118, fold.PSI)
    pdb(folder / "chain.pdb", residues)
    gmx(folder, "pdb2gmx", "-f", "chain.pdb", "-o", "chain.gro", "-p", "chain.top", "-ff", FORCE_FIELD,
        "-water", "tip3p")
    text = (folder / "chain.top").read_text()
    begin = text.index("[ moleculetype ]")
    return text[begin:text.index("; Include Position restraint file")]


def read_gro(path):
    """([(number of the residue, its name, atom, x)], the line with the box)."""
    lines = path.read_text().splitlines()
    return [(int(s[:5]), s[5:10].strip(), s[10:15].strip(), [float(s[k:k + 8]) for k in (20, 28, 36)])
            for s in lines[2:-1]], lines[-1]


def write_gro(path, rows, box):
    lines = ["%5d%-5s%5s%5d%8.3f%8.3f%8.3f" % (n % 100000, residue, atom, i % 100000, *x)
             for i, (n, residue, atom, x) in enumerate(rows, 1)]
    path.write_text("\n".join([path.stem, str(len(rows)), *lines, box]) + "\n")


# ---- solvent ----

def put_ions(rows, waters, charge, volume):
    """Turns waters into ions, far from solutes and from each other. waters: the row of the first one.
    Returns (rows, numbers of waters, NA and CL)."""
    rng, salt = random.Random(2026), round(SALT * volume * 0.602214)
    numbers = {"NA": salt + max(0, -charge), "CL": salt + max(0, charge)}
    taken, begin = [x for _, _, name, x in rows[:waters] if not name.startswith("H")], range(waters, len(rows), 3)
    chosen = {}
    for i in rng.sample(begin, len(begin)):
        if len(chosen) < sum(numbers.values()) and all(math.dist(rows[i][3], x) > APART for x in taken):
            chosen[i] = rows[i][3]
            taken.append(rows[i][3])
    kinds = ["NA"] * numbers["NA"] + ["CL"] * numbers["CL"]
    wet = [row for i in begin if i not in chosen for row in rows[i:i + 3]]
    number = rows[waters - 1][0]
    solvent = [(number + 1 + k // 3, "SOL", name, x) for k, (_, _, name, x) in enumerate(wet)]
    ions = [(number + 1 + len(wet) // 3 + k, kind, kind, x) for k, (kind, x) in enumerate(zip(kinds, chosen.values()))]
    return rows[:waters] + solvent + ions, len(wet) // 3, numbers["NA"], numbers["CL"]


def flat(path):
    """The text of a topology file, with the texts of the files that it includes."""
    lines = []
    for line in path.read_text().splitlines():
        lines.append(flat(path.parent / line.split('"')[1]) if line.startswith("#include") else line)
    return "\n".join(lines)


def topology(load, chain_text, molecules):
    """The text of a .top file without #include. molecules: [(name, number)]."""
    data = Path(os.environ.get("GMXDATA", "/usr/share/gromacs")) / "top" / f"{FORCE_FIELD}.ff"
    hybrid, numbers = Hybrid(ligand), ["%s %d" % m for m in molecules if m[1]]
    parts = [flat(data / "forcefield.itp"), "[ atomtypes ]", *hybrid.atom_types(), "", chain_text, *hybrid.topology(),
             "", flat(data / "tip3p.itp"), flat(data / "ions.itp"), "[ system ]", load, "", "[ molecules ]", *numbers]
    return "\n".join(parts) + "\n"


def relax(folder, start, end, top, steps):
    """Minimizes state A a little, from the file `start` to the file `end`."""
    (folder / "relax.top").write_text(top)
    (folder / "relax.mdp").write_text(f"integrator = steep\nnsteps = {steps}\nemstep = 0.005\n"
                                      "coulombtype = reaction-field\nrcoulomb = 0.9\nrvdw = 0.9\n")
    gmx(folder, "grompp", "-f", "relax.mdp", "-c", start, "-p", "relax.top", "-o", "relax.tpr", "-maxwarn", "2")
    gmx(folder, "mdrun", "-ntmpi", "1", "-ntomp", "1", "-nb", "cpu", "-s", "relax.tpr", "-c", end)


def make(load, out):
    sites, site, length, edge = LOADS[load]
    guest, rows, chain_text, charge = ligand_at(site), [], "", 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if sites:
            chain_text = chain(folder, sites, length, guest)
            rows = read_gro(folder / "chain.gro")[0]
            charge = round(float(chain_text[:chain_text.index("[ bonds ]")].rsplit("qtot", 1)[1].split()[0]))
        protein = len(rows)
        rows += [(rows[-1][0] + 1 if rows else 1, ligand.RESIDUE, name, x) for name, x in guest]
        solutes = [("Protein_chain_A", bool(sites)), (ligand.RESIDUE, 1)]
        write_gro(folder / "solute.gro", rows, "1 1 1")
        gmx(folder, "editconf", "-f", "solute.gro", "-o", "boxed.gro", "-bt", "dodecahedron", "-c",
            "-box", *[str(edge)] * 3)
        # before water, so that `solvate` measures from where side chains and hydrogens can stay
        relax(folder, "boxed.gro", "relaxed.gro", topology(load, chain_text, solutes), 300)
        gmx(folder, "solvate", "-cp", "relaxed.gro", "-cs", "spc216.gro", "-o", "wet.gro")
        wet, box = read_gro(folder / "wet.gro")
        wet, waters, na, cl = put_ions(wet, len(rows), charge, edge ** 3 * math.sqrt(0.5))
        write_gro(folder / "salt.gro", wet, box)
        top = topology(load, chain_text, [*solutes, ("SOL", waters), ("NA", na), ("CL", cl)])
        relax(folder, "salt.gro", "start.gro", top, 50)
        write_gro(out / f"{load}.gro", *read_gro(folder / "start.gro"))
    (out / f"{load}.top").write_text(top)
    print(f"{load}: {protein} atoms of the chain (charge {charge}), {len(guest)} of the ligand, {waters} waters, "
          f"{na} NA, {cl} CL, {len(wet)} atoms")


def write(out, *loads):
    """Writes these loads and their specs."""
    out.mkdir(parents=True, exist_ok=True)
    for load in loads:
        make(load, out)
    for name, (load, *settings) in SPECS.items():
        if load in loads:
            (out / f"{name}.yaml").write_text(spec(name, load, *settings))


def main():
    loads = sys.argv[2:] or list(LOADS)
    if len(sys.argv) < 2 or not set(loads) <= set(LOADS):
        sys.exit(__doc__)
    write(Path(sys.argv[1]), *loads)


if __name__ == "__main__":
    main()
