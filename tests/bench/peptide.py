# SPDX-License-Identifier: Apache-2.0
"""Alanine dipeptide (ACE-ALA-NME, 22 atoms) for the benches: coordinates and a GROMACS topology.

Force field: AMBER ff99 (Wang et al. 2000, doi 10.1002/1096-987X) with ff99SB's phi and psi (Hornak et al. 2006, doi 10.1002/prot.21123),
charges of Cornell et al. 1995 (doi 10.1021/ja00124a002). Tables are in AMBER's units, kcal/mol and A, E = K (r - r0)^2."""

KCAL = 4.184

# atom: type, charge, residue, how it is placed: the atom it is bound to, then the next two, angle, dihedral
ATOMS = [
    ("CH3", "CT", -0.3662, "ACE", ()),
    ("C", "C", 0.5972, "ACE", ("CH3",)),
    ("O", "O", -0.5679, "ACE", ("C", "CH3", None, 120.4, 0)),
    ("N", "N", -0.4157, "ALA", ("C", "CH3", "O", 116.6, 180)),
    ("HH31", "HC", 0.1123, "ACE", ("CH3", "C", "N", 109.5, 60)),
    ("HH32", "HC", 0.1123, "ACE", ("CH3", "C", "N", 109.5, 180)),
    ("HH33", "HC", 0.1123, "ACE", ("CH3", "C", "N", 109.5, -60)),
    ("H", "H", 0.2719, "ALA", ("N", "C", "O", 120.0, 180)),
    ("CA", "CT", 0.0337, "ALA", ("N", "C", "O", 121.9, 0)),
    ("CB", "CT", -0.1825, "ALA", ("CA", "N", "C", 109.7, 160)),
    ("C2", "C", 0.5973, "ALA", ("CA", "N", "C", 110.1, -80)),
    ("HA", "H1", 0.0823, "ALA", ("CA", "N", "C", 109.5, 40)),
    ("HB1", "HC", 0.0603, "ALA", ("CB", "CA", "N", 109.5, 60)),
    ("HB2", "HC", 0.0603, "ALA", ("CB", "CA", "N", 109.5, 180)),
    ("HB3", "HC", 0.0603, "ALA", ("CB", "CA", "N", 109.5, -60)),
    ("O2", "O", -0.5679, "ALA", ("C2", "CA", "N", 120.4, -100)),
    ("N2", "N", -0.4157, "NME", ("C2", "CA", "N", 116.6, 80)),
    ("H2", "H", 0.2719, "NME", ("N2", "C2", "O2", 120.0, 180)),
    ("CH4", "CT", -0.1490, "NME", ("N2", "C2", "O2", 121.9, 0)),
    ("HH41", "H1", 0.0976, "NME", ("CH4", "N2", "C2", 109.5, 60)),
    ("HH42", "H1", 0.0976, "NME", ("CH4", "N2", "C2", 109.5, 180)),
    ("HH43", "H1", 0.0976, "NME", ("CH4", "N2", "C2", 109.5, -60)),
]
MASS = {"C": 12.01, "CT": 12.01, "O": 16.00, "N": 14.01, "H": 1.008, "HC": 1.008, "H1": 1.008}
LJ = {"C": (1.908, 0.086), "CT": (1.908, 0.1094), "O": (1.6612, 0.21), "N": (1.824, 0.17), "H": (0.6, 0.0157),
      "HC": (1.487, 0.0157), "H1": (1.387, 0.0157)}  # r*, epsilon
BOND = {("C", "CT"): (317, 1.522), ("C", "O"): (570, 1.229), ("C", "N"): (490, 1.335), ("H", "N"): (434, 1.010),
        ("CT", "N"): (337, 1.449), ("CT", "CT"): (310, 1.526), ("CT", "HC"): (340, 1.090), ("CT", "H1"): (340, 1.090)}
ANGLE = {("HC", "CT", "HC"): (35, 109.5), ("C", "CT", "HC"): (50, 109.5), ("CT", "C", "O"): (80, 120.4),
         ("CT", "C", "N"): (70, 116.6), ("N", "C", "O"): (80, 122.9), ("C", "N", "H"): (50, 120.0),
         ("C", "N", "CT"): (50, 121.9), ("CT", "N", "H"): (50, 118.04), ("H1", "CT", "N"): (50, 109.5),
         ("C", "CT", "N"): (63, 110.1), ("CT", "CT", "N"): (80, 109.7), ("C", "CT", "CT"): (63, 111.1),
         ("C", "CT", "H1"): (50, 109.5), ("CT", "CT", "H1"): (50, 109.5), ("CT", "CT", "HC"): (50, 109.5),
         ("H1", "CT", "H1"): (35, 109.5)}
# barrier (not halved again), phase, multiplicity; None: any type
TORSION = {("H", "N", "C", "O"): [(2.5, 180, 2), (2.0, 0, 1)], (None, "C", "N", None): [(2.5, 180, 2)],
           (None, "CT", "CT", None): [(1.4 / 9, 0, 3)], ("C", "N", "CT", "C"): [(0.42, 0, 3), (0.27, 0, 2)],
           ("N", "CT", "C", "N"): [(0.55, 180, 3), (1.58, 180, 2), (0.45, 180, 1)],
           ("C", "N", "CT", "CT"): [(0.4, 0, 3), (2.0, 0, 2), (2.0, 0, 1)],
           ("CT", "CT", "C", "N"): [(0.4, 0, 3), (0.2, 0, 2), (0.2, 0, 1)],
           ("HC", "CT", "C", "O"): [(0.08, 180, 3), (0.8, 0, 1)], ("H1", "CT", "C", "O"): [(0.08, 180, 3), (0.8, 0, 1)]}
IMPROPER = [("CH3", "N", "C", "O", 10.5), ("C", "CA", "N", "H", 1.1), ("CA", "N2", "C2", "O2", 10.5),
            ("C2", "CH4", "N2", "H2", 1.1)]

NAMES = [a[0] for a in ATOMS]
TYPE = {a[0]: a[1] for a in ATOMS}
BONDS = [(a[4][0], a[0]) for a in ATOMS if a[4]]


def of_types(table, types):
    return table.get(types) or table.get(types[::-1])


def neighbours(name):
    return [b if a == name else a for a, b in BONDS if name in (a, b)]


def angles():
    return [(a, c, b) for c in NAMES for i, a in enumerate(neighbours(c)) for b in neighbours(c)[i + 1:]]


def torsions():
    return [(a, b, c, d) for b, c in BONDS for a in neighbours(b) if a != c for d in neighbours(c) if d != b]


def terms_of(torsion):
    types = tuple(TYPE[n] for n in torsion)
    return of_types(TORSION, types) or of_types(TORSION, (None, types[1], types[2], None)) or []


def atoms(place):
    """[(name, x in nm)]; place(a, b, c, length, angle, dihedral) as in examples/make_box.py."""
    x = {}
    for name, kind, _, _, how in ATOMS:
        if not how:
            x[name] = [0.0, 0.0, 0.0]
            continue
        length = of_types(BOND, (TYPE[how[0]], kind))[1] / 10
        if len(how) == 1:
            x[name] = [length, 0.0, 0.0]
            continue
        far = x[how[2]] if how[2] else [0.0, 0.1, 0.0]
        x[name] = place(far, x[how[1]], x[how[0]], length, how[3], how[4])
    return [(name, x[name]) for name in NAMES]


def atom_types():
    return ["  %-4s %9.4f 0.0 A %9.6f %9.6f" % (t, MASS[t], 2 ** (5 / 6) * r / 10, eps * KCAL) for t, (r, eps) in LJ.items()]


def molecule():
    number = {name: i + 1 for i, name in enumerate(NAMES)}
    residues = {"ACE": 1, "ALA": 2, "NME": 3}
    out = ["[ moleculetype ]", "  PEP 3", "", "[ atoms ]"]
    out += ["  %d %s %d %s %s %d %.4f %.3f" % (number[n], t, residues[r], r, n, number[n], q, MASS[t]) for n, t, q, r, _ in ATOMS]
    out += ["", "[ bonds ]"]
    for a, b in BONDS:
        k, r0 = of_types(BOND, (TYPE[a], TYPE[b]))
        out.append("  %d %d 1 %.5f %.1f" % (number[a], number[b], r0 / 10, 200 * KCAL * k))
    out += ["", "[ pairs ]"]
    out += ["  %d %d 1" % (number[t[0]], number[t[3]]) for t in torsions()]
    out += ["", "[ angles ]"]
    for a, c, b in angles():
        k, degrees = of_types(ANGLE, (TYPE[a], TYPE[c], TYPE[b]))
        out.append("  %d %d %d 1 %.2f %.3f" % (number[a], number[c], number[b], degrees, 2 * KCAL * k))
    out += ["", "[ dihedrals ]"]
    for t in torsions():
        out += ["  %d %d %d %d 9 %.1f %.5f %d" % (*(number[n] for n in t), phase, KCAL * k, n)
                for k, phase, n in terms_of(t)]
    out += ["  %d %d %d %d 4 180.0 %.5f 2" % (*(number[n] for n in row[:4]), KCAL * row[4]) for row in IMPROPER]
    return out
