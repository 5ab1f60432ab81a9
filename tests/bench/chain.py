# SPDX-License-Identifier: Apache-2.0
"""A chain of twelve atoms that has a bonded term of every kind that few systems have, so gentle that it can be run; the last atom is
another one in its B state."""
import random

ATOMS = 12
BOND, ANGLE, DIHEDRAL = 0.15, 111, 150  # nm, degrees: where the terms leave it
STIFF = 1e5  # kJ/mol/nm^2, of every bond
SIDE = 24  # points of the map of two dihedrals along each

# section: lines, as of GROMACS; 1 and 2 of pairs that no other term holds are restraints
TERMS = {
    "bonds": [f"1 2 1 {BOND} {STIFF:g}", f"2 3 2 {BOND} {STIFF / BOND ** 2 / 2:g}", f"3 4 3 {BOND} 400 11", f"4 5 4 {BOND} {STIFF / 2:g} 2",
              *(f"{i} {i + 1} 1 {BOND} {STIFF:g}" for i in range(5, ATOMS)), "3 5 7 0.6 100", "1 4 10 0.2 0.3 0.4 500 0.2 0.25 0.3 900"],
    "angles": [f"1 2 3 2 {ANGLE} 400", f"2 3 4 3 {BOND} {BOND} 700", f"3 4 5 4 {BOND} {BOND} 0.247 800", f"4 5 6 6 {ANGLE} 1 2 300 -40 55",
               "5 6 7 9 0.5 300 0.5 200", f"6 7 8 10 {ANGLE} 60", *(f"{i} {i + 1} {i + 2} 1 {ANGLE} 400" for i in (2, 3, 5, 7, 8, 9, 10))],
    "dihedrals": [f"1 2 3 4 10 {DIHEDRAL} 5", "2 3 4 5 11 1.5 2 -3 4 -2 1", *(f"{i} {i + 1} {i + 2} {i + 3} 1 0 2 3" for i in range(3, 10))],
    "angle_restraints": ["1 3 5 8 1 20 30 1 40 60 1"], "angle_restraints_z": ["3 8 1 40 20 1 60 10 1"],
    "dihedral_restraints": ["1 4 6 9 1 100 10 20 120 5 30"], "cmap": ["7 8 9 10 11 1"]}


def atoms(place):
    """[(name, x in nm)]; place as Molecule.atoms takes it."""
    x = [[0.0, 0.0, 0.0], [BOND, 0.0, 0.0], place([0.0, BOND, 0.0], [0.0, 0.0, 0.0], [BOND, 0.0, 0.0], BOND, ANGLE, 0)]
    while len(x) < ATOMS:
        x.append(place(*x[-3:], BOND, ANGLE, DIHEDRAL))
    return [(f"C{i}", at) for i, at in enumerate(x, 1)]


def atom_types():
    draw = random.Random(SIDE)
    rows = [" ".join("%.3f" % draw.uniform(-1, 1) for _ in range(SIDE)) for _ in range(SIDE)]
    return ["  CH 12.0 0.0 A 0.30 0.3", "  CB 12.0 0.0 A 0.35 0.5", "", "[ cmaptypes ]", f"CH CH CH CH CH 1 {SIDE} {SIDE}\\", "\\\n".join(rows)]


def topology():
    out = ["[ moleculetype ]", "  CHN 3", "", "[ atoms ]"]
    out += [f"  {i} CH 1 CHN C{i} {i} {0.2 * (-1) ** i} 12.0" for i in range(1, ATOMS)]
    out += [f"  {ATOMS} CH 1 CHN C{ATOMS} {ATOMS} 0.2 12.0 CB 0.1 12.0"]
    for name, lines in TERMS.items():
        out += ["", f"[ {name} ]", *(f"  {line}" for line in lines)]
    return out
