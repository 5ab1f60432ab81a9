# SPDX-License-Identifier: Apache-2.0
"""A hybrid of two molecules of the benches, as a GROMACS topology with B states, from a module with the tables of
molecule.py and

  HYBRID   (name, type, (charge in A, in B), the states that have the atom: "A", "B" or "AB", how it is placed)
  RINGS    bonds by which no atom was placed
  SITES    site: (atom, halogen), the two that place it; BEHIND: A from the halogen to the site
  FLAT, WIDE, STIFF   angles by the type of the middle atom: (K, degrees)
  TORSION  by the types of the middle bond: (barrier, phase, multiplicity)

Where a state lacks an atom, the atom keeps its bonds, its angles and the torsions within its group. It loses charge,
Lennard-Jones, and the torsions and impropers that hold it to the rest."""
from molecule import KCAL, Molecule, of_types


class Hybrid(Molecule):
    def __init__(self, tables):
        super().__init__(tables)
        self.bonds += tables.RINGS
        self.states = {row[0]: row[3] for row in tables.HYBRID}
        self.charges = {row[0]: row[2] for row in tables.HYBRID}
        for state in (0, 1):
            total = sum(q[state] for q in self.charges.values())
            assert abs(total) < 1e-9, f"charges of state {'AB'[state]} sum to {total}"

    def neighbours(self, name):
        """Without sites, which have no bonded terms but the bonds that exclude them."""
        return [n for n in super().neighbours(name) if n not in self.of.SITES]

    def alone(self, names):
        """States that have these atoms and that the other state lacks."""
        return {self.states[n] for n in names} - {"AB"}

    def angles(self):
        return [a for a in super().angles() if a[1] not in self.of.SITES and len(self.alone(a)) < 2]

    def torsions(self):
        chains = (t for t in super().torsions() if len(set(t)) == 4 and not set(t) & set(self.of.SITES))
        return [t for t in chains if len(self.alone(t)) < 2]

    def pairs(self):
        near = {frozenset(b) for b in self.bonds} | {frozenset((a[0], a[2])) for a in super().angles()}
        ends = dict.fromkeys(frozenset((t[0], t[3])) for t in self.torsions())
        return [tuple(sorted(pair, key=self.names.index)) for pair in ends if pair not in near]

    def atom_types(self):
        real = super().atom_types()
        return real + ["  d%-4s %9.4f 0.0 A  0.0 0.0" % (kind, mass) for kind, mass in self.of.MASS.items()]

    def kinds(self, name):
        """Types in A and in B."""
        return tuple(self.type[name] if state in self.states[name] else "d" + self.type[name] for state in "AB")

    def in_both(self, values, atoms, held):
        """A term's parameters in A and in B; values[1] is its strength. held: the term holds atoms to the rest of the
        molecule, so a state that lacks these atoms goes without it."""
        own = self.alone(atoms)
        off = [values[0], 0.0, *values[2:]]
        return [off if held and own and state not in own else list(values) for state in "AB"]

    def beyond(self, site):
        """Its distance from the halogen, in units of the halogen's bond."""
        return self.of.BEHIND / of_types(self.of.BOND, self.types(self.of.SITES[site]))[1]

    def topology(self):
        number = {name: i + 1 for i, name in enumerate(self.names)}
        at = lambda names: " ".join(str(number[n]) for n in names)
        told = lambda states: "  ".join(" ".join("%.6g" % v for v in values) for values in states)
        out = ["[ moleculetype ]", f"  {self.of.RESIDUE} 3", "", "[ atoms ]"]
        for name in self.names:
            mass, n = self.of.MASS[self.type[name]], number[name]
            (a, b), (qa, qb) = self.kinds(name), self.charges[name]
            out.append(f"  {n} {a} 1 {self.of.RESIDUE} {name} {n} {qa:.4f} {mass} {b} {qb:.4f} {mass}")
        out += ["", "[ bonds ]"]
        for bond in self.bonds:
            k, length = of_types(self.of.BOND, self.types(bond))
            out.append(f"  {at(bond)} 1 " + told([(length / 10, 200 * KCAL * k)] * 2))
        for site, (behind, halogen) in self.of.SITES.items():
            length = of_types(self.of.BOND, self.types((behind, halogen)))[1] + self.of.BEHIND
            out.append(f"  {at((behind, site))} 1 " + told([(length / 10, 0)] * 2))
        out += ["", "[ pairs ]", *(f"  {at(pair)} 1" for pair in self.pairs()), "", "[ angles ]"]
        for angle in self.angles():
            middle = self.type[angle[1]]
            k, degrees = self.of.WIDE.get(middle) or self.of.STIFF[middle in self.of.FLAT]
            out.append(f"  {at(angle)} 1 " + told([(degrees, 2 * KCAL * k)] * 2))
        out += ["", "[ dihedrals ]"]
        for torsion in self.torsions():
            term = of_types(self.of.TORSION, self.types(torsion[1:3]))
            if term:
                held = sum(self.states[n] == "AB" for n in torsion) > 1
                values = term[1], KCAL * term[0], term[2]
                out.append(f"  {at(torsion)} 9 " + told(self.in_both(values, torsion, held)))
        for *atoms, k in self.of.IMPROPER:
            out.append(f"  {at(atoms)} 4 " + told(self.in_both((180, KCAL * k, 2), atoms, True)))
        out += ["", "[ virtual_sites2 ]"]
        out += [f"  {at((site, *placing))} 1 {1 + self.beyond(site):.12f}" for site, placing in self.of.SITES.items()]
        return out
