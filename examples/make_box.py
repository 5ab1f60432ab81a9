#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Start coordinates of the examples: a solute in the middle of a cube, waters with random orientations on the points of a
simple cubic lattice around it. Nothing here is equilibrated; the examples' protocols begin with a minimization.

Usage: make_box.py SOLUTE POINTS OUTPUT.gro     SOLUTE: methane, ethane, methanol or one to another, as methane-to-ethane;
                                                POINTS on each edge, 0: no water (a cube of 4 nm for the gas phase)
       make_box.py water MOLECULES OUTPUT.gro   SPC/E water alone, 998 kg/m^3
Prints the number of waters for the topology's [ molecules ]."""
import math
import random
import sys

SPACING = 0.3118  # nm: TIP3P's 985 kg/m^3
CLEAR = 0.27  # nm from a water oxygen to the next atom of the solute
TIP3P = 0.09572, math.radians(104.52)  # nm from oxygen to hydrogen, and the angle there
SPCE = 0.1, 2 * math.asin(math.sqrt(2 / 3))
VOLUME = 18.0154 / 602.214076 / 0.998  # nm^3 of an SPC/E water at 998 kg/m^3


def add(a, b, scale=1.0):
    return [x + scale * y for x, y in zip(a, b)]


def unit(a):
    norm = math.sqrt(sum(x * x for x in a))
    return [x / norm for x in a]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def place(a, b, c, length, angle, dihedral):
    """The point at `length` from c, at `angle` to b and `dihedral` to a (degrees)."""
    angle, dihedral = math.radians(angle), math.radians(dihedral)
    bc = unit(add(c, b, -1))
    n = unit(cross(add(b, a, -1), bc))
    m = cross(n, bc)
    d = add([-length * math.cos(angle) * x for x in bc], m, length * math.sin(angle) * math.cos(dihedral))
    return add(c, add(d, n, length * math.sin(angle) * math.sin(dihedral)))


def methane():
    r = 0.1092 / math.sqrt(3)
    corners = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
    return "MET", [("C1", [0, 0, 0])] + [(f"H{i + 1}", [r * x for x in c]) for i, c in enumerate(corners)]


def methanol(names=("C1", "O2", "H3", "H4", "H5", "HO6"), residue="MOH"):
    c, o = [0, 0, 0], [0.1426, 0, 0]
    ho = add(o, [0.0974 * math.cos(math.radians(71.84)), 0.0974 * math.sin(math.radians(71.84)), 0])
    h = [place(ho, o, c, 0.1092, 109.9, d) for d in (180, 60, -60)]
    return residue, list(zip(names, [c, o, *h, ho]))


def methyl(r=0.1092, angle=math.radians(110.05)):
    """Hydrogens of a carbon at the origin, bound to something along x."""
    return [[r * math.cos(angle), r * math.sin(angle) * math.cos(turn), r * math.sin(angle) * math.sin(turn)]
            for turn in (0, 2 * math.pi / 3, 4 * math.pi / 3)]


def other_methyl(length):
    """The one that faces it, staggered."""
    return [add([length, 0, 0], x, -1) for x in methyl()]


def ethane(names=("C1", "C2", "H3", "H4", "H5", "H6", "H7", "H8"), residue="ETH"):
    return residue, list(zip(names, [[0, 0, 0], [0.1535, 0, 0], *methyl(), *other_methyl(0.1535)]))


def methane_to_methanol():
    return methanol(("C1", "X2", "H3", "H4", "H5", "HO6"), "HYB")


def methane_to_ethane():
    return ethane(("C1", "X2", "H3", "H4", "H5", "H6", "H7", "H8"), "HYB")


def methanol_to_ethane():
    residue, atoms = methane_to_methanol()
    return residue, atoms + list(zip(("H7", "H8", "H9"), other_methyl(0.1426)))


def water(oxygen, rng, model=TIP3P):
    oh, hoh = model
    z = 2 * rng.random() - 1
    phi, turn = 2 * math.pi * rng.random(), 2 * math.pi * rng.random()
    axis = [math.sqrt(1 - z * z) * math.cos(phi), math.sqrt(1 - z * z) * math.sin(phi), z]
    side = unit(cross(axis, [1, 0, 0] if abs(axis[0]) < 0.7 else [0, 1, 0]))
    other = cross(axis, side)
    across = add([math.cos(turn) * x for x in side], other, math.sin(turn))
    along = oh * math.cos(hoh / 2)
    return [("OW", oxygen)] + [(name, add(add(oxygen, axis, along), across, sign * oh * math.sin(hoh / 2)))
                               for name, sign in (("HW1", 1), ("HW2", -1))]


def points_in(number, edge, rng):
    """So many points in a cube, on a lattice as evenly apart as that number leaves them; those too many stay empty, at random."""
    points, k = [math.ceil(number ** (1 / 3) - 1e-9)] * 3, 0
    while math.prod(points) // points[k] * (points[k] - 1) >= number:
        points[k], k = points[k] - 1, (k + 1) % 3
    of = [(n % points[0], n // points[0] % points[1], n // points[0] // points[1])
          for n in sorted(rng.sample(range(math.prod(points)), number))]
    return [[edge * (i + 0.5) / most for i, most in zip(at, points)] for at in of]


def solvated(solute, residue, edge, points, rng):
    """Molecules of (residue, atoms): the solute in the middle of the cube, and waters on those points that are clear of it."""
    center = [sum(x[i] for _, x in solute) / len(solute) for i in range(3)]
    solute = [(name, [edge / 2 + x[i] - center[i] for i in range(3)]) for name, x in solute]
    clear = [oxygen for oxygen in points if all(math.dist(oxygen, x) > CLEAR for _, x in solute)]
    return [(residue, solute)] + [("SOL", water(oxygen, rng)) for oxygen in clear]


def around(solute, residue, points, rng):
    """As solvated, with so many points along each edge; and the edge, nm."""
    edge = points * SPACING if points else 4.0
    lattice = [[SPACING * (n // points ** k % points + 0.5) for k in range(3)] for n in range(points ** 3)]
    return solvated(solute, residue, edge, lattice, rng), edge


def only_water(number, rng):
    """Molecules, and the edge of their cube, nm."""
    edge = (number * VOLUME) ** (1 / 3)
    return [("SOL", water(x, rng, SPCE)) for x in points_in(number, edge, rng)], edge


def write(path, title, molecules, edge):
    lines, number = [], 0
    for residue_number, (name, members) in enumerate(molecules, 1):
        for atom, x in members:
            number += 1
            lines.append("%5d%-5s%5s%5d%9.4f%9.4f%9.4f" % (residue_number % 100000, name, atom, number % 100000, *x))
    with open(path, "w", encoding="ascii") as f:
        f.write("\n".join([f"{title}, lattice", str(number), *lines, "%10.5f%10.5f%10.5f" % (edge, edge, edge)]) + "\n")


def main():
    solutes = {f.__name__.replace("_", "-"): f
               for f in (methane, ethane, methanol, methane_to_methanol, methane_to_ethane, methanol_to_ethane)}
    if len(sys.argv) != 4 or sys.argv[1] not in [*solutes, "water"] or not sys.argv[2].isdigit():
        sys.exit(__doc__)
    name, points, rng = sys.argv[1], int(sys.argv[2]), random.Random(2026)
    if name == "water" and points == 0:
        sys.exit("make_box.py water 0: expected 1 molecule or more")
    if name == "water":
        molecules, edge = only_water(points, rng)
    else:
        residue, atoms = solutes[name]()
        molecules, edge = around(atoms, residue, points, rng)
    write(sys.argv[3], name, molecules, edge)
    print(f"{sum(name == 'SOL' for name, _ in molecules)} waters, {sum(len(members) for _, members in molecules)} atoms")


if __name__ == "__main__":
    main()
