# SPDX-License-Identifier: Apache-2.0
"""A solute of the benches as coordinates and as a GROMACS topology, from a module with its tables:

  RESIDUE  name of the molecule
  ATOMS    (name, type, charge, residue, how it is placed: the atom it is bound to, then the next two, angle, dihedral)
  MASS     by type; LJ: (r*, epsilon)
  BOND, ANGLE, TORSION   by types (TORSION: barrier, not halved again, phase, multiplicity; None: any type), IMPROPER by atoms

Tables are in AMBER's units, kcal/mol and A, E = K (r - r0)^2."""

KCAL = 4.184


def of_types(table, types):
    return table.get(types) or table.get(types[::-1])


class Molecule:
    def __init__(self, tables):
        self.of = tables
        self.names = [a[0] for a in tables.ATOMS]
        self.type = {a[0]: a[1] for a in tables.ATOMS}
        self.bonds = [(a[4][0], a[0]) for a in tables.ATOMS if a[4]]

    def types(self, names):
        return tuple(self.type[n] for n in names)

    def neighbours(self, name):
        return [b if a == name else a for a, b in self.bonds if name in (a, b)]

    def angles(self):
        return [(a, c, b) for c in self.names for i, a in enumerate(self.neighbours(c)) for b in self.neighbours(c)[i + 1:]]

    def torsions(self):
        return [(a, b, c, d) for b, c in self.bonds for a in self.neighbours(b) if a != c for d in self.neighbours(c) if d != b]

    def terms_of(self, torsion):
        types, table = self.types(torsion), self.of.TORSION
        return of_types(table, types) or of_types(table, (None, types[1], types[2], None)) or []

    def atoms(self, place):
        """[(name, x in nm)]; place(a, b, c, length, angle, dihedral) as in examples/make_box.py."""
        x = {}
        for name, kind, _, _, how in self.of.ATOMS:
            if not how:
                x[name] = [0.0, 0.0, 0.0]
                continue
            length = of_types(self.of.BOND, (self.type[how[0]], kind))[1] / 10
            if len(how) == 1:
                x[name] = [length, 0.0, 0.0]
                continue
            far = x[how[2]] if how[2] else [0.0, 0.1, 0.0]
            x[name] = place(far, x[how[1]], x[how[0]], length, how[3], how[4])
        return [(name, x[name]) for name in self.names]

    def atom_types(self):
        return ["  %-4s %9.4f 0.0 A %9.6f %9.6f" % (t, self.of.MASS[t], 2 ** (5 / 6) * r / 10, eps * KCAL)
                for t, (r, eps) in self.of.LJ.items()]

    def topology(self):
        """From [ atoms ] on, behind the line with the name."""
        number = {name: i + 1 for i, name in enumerate(self.names)}
        residues = list(dict.fromkeys(a[3] for a in self.of.ATOMS))
        out = ["[ moleculetype ]", f"  {self.of.RESIDUE} 3", "", "[ atoms ]"]
        out += ["  %d %s %d %s %s %d %.4f %.3f" % (number[n], t, residues.index(r) + 1, r, n, number[n], q, self.of.MASS[t])
                for n, t, q, r, _ in self.of.ATOMS]
        out += ["", "[ bonds ]"]
        for bond in self.bonds:
            k, r0 = of_types(self.of.BOND, self.types(bond))
            out.append("  %d %d 1 %.5f %.1f" % (*(number[n] for n in bond), r0 / 10, 200 * KCAL * k))
        out += ["", "[ pairs ]"]
        out += ["  %d %d 1" % (number[t[0]], number[t[3]]) for t in self.torsions()]
        out += ["", "[ angles ]"]
        for angle in self.angles():
            k, degrees = of_types(self.of.ANGLE, self.types(angle))
            out.append("  %d %d %d 1 %.2f %.3f" % (*(number[n] for n in angle), degrees, 2 * KCAL * k))
        out += ["", "[ dihedrals ]"]
        for t in self.torsions():
            out += ["  %d %d %d %d 9 %.1f %.5f %d" % (*(number[n] for n in t), phase, KCAL * k, n)
                    for k, phase, n in self.terms_of(t)]
        out += ["  %d %d %d %d 4 180.0 %.5f 2" % (*(number[n] for n in row[:4]), KCAL * row[4]) for row in self.of.IMPROPER]
        return out
