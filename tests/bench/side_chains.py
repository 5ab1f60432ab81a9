# SPDX-License-Identifier: Apache-2.0
"""A sequence for a backbone of fold.py, and side chains that have room: apolar ones inside, charged and polar ones
outside.

A side chain has a few rotamers of ideal geometry. Residue by residue takes the rotamer that overlaps least with what is
around, until no residue changes; then side chains without room become smaller ones. `gmx pdb2gmx` adds hydrogens."""
import math
import random
from itertools import product

from fold import beta_carbon
from make_box import add, place, unit

# residue: [(atom, the three that place it, nm, angle, dihedral: a number, or (number of the chi angle, what is added))]
TETRAHEDRAL, FLAT = 111.0, 120.0
RESIDUES = {
    "GLY": [], "ALA": [],
    "SER": [("OG", "N CA CB", 0.1417, TETRAHEDRAL, (0, 0))],
    "THR": [("OG1", "N CA CB", 0.1433, 109.6, (0, 0)), ("CG2", "N CA CB", 0.1521, TETRAHEDRAL, (0, -121))],
    "VAL": [("CG1", "N CA CB", 0.1527, TETRAHEDRAL, (0, 0)), ("CG2", "N CA CB", 0.1527, TETRAHEDRAL, (0, 122))],
    "LEU": [("CG", "N CA CB", 0.1530, 115.0, (0, 0)), ("CD1", "CA CB CG", 0.1521, TETRAHEDRAL, (1, 0)),
            ("CD2", "CA CB CG", 0.1521, TETRAHEDRAL, (1, 122))],
    "ILE": [("CG1", "N CA CB", 0.1530, TETRAHEDRAL, (0, 0)), ("CG2", "N CA CB", 0.1521, TETRAHEDRAL, (0, -122)),
            ("CD1", "CA CB CG1", 0.1513, 114.0, (1, 0))],
    "PHE": [("CG", "N CA CB", 0.1502, 114.0, (0, 0)), ("CD1", "CA CB CG", 0.1390, FLAT, (1, 0)),
            ("CD2", "CA CB CG", 0.1390, FLAT, (1, 180)), ("CE1", "CB CG CD1", 0.1390, FLAT, 180),
            ("CE2", "CB CG CD2", 0.1390, FLAT, 180), ("CZ", "CG CD1 CE1", 0.1390, FLAT, 0)],
    "MET": [("CG", "N CA CB", 0.1525, 113.8, (0, 0)), ("SD", "CA CB CG", 0.1808, 112.7, (1, 0)),
            ("CE", "CB CG SD", 0.1791, 100.8, (2, 0))],
    "ASP": [("CG", "N CA CB", 0.1520, 112.6, (0, 0)), ("OD1", "CA CB CG", 0.1250, 118.5, (1, 0)),
            ("OD2", "CA CB CG", 0.1250, 118.5, (1, 180))],
    "ASN": [("CG", "N CA CB", 0.1520, 112.6, (0, 0)), ("OD1", "CA CB CG", 0.1230, 120.8, (1, 0)),
            ("ND2", "CA CB CG", 0.1330, 116.5, (1, 180))],
    "GLU": [("CG", "N CA CB", 0.1525, 113.8, (0, 0)), ("CD", "CA CB CG", 0.1520, 112.6, (1, 0)),
            ("OE1", "CB CG CD", 0.1250, 118.5, (2, 0)), ("OE2", "CB CG CD", 0.1250, 118.5, (2, 180))],
    "GLN": [("CG", "N CA CB", 0.1525, 113.8, (0, 0)), ("CD", "CA CB CG", 0.1520, 112.6, (1, 0)),
            ("OE1", "CB CG CD", 0.1230, 120.8, (2, 0)), ("NE2", "CB CG CD", 0.1330, 116.5, (2, 180))],
    "LYS": [("CG", "N CA CB", 0.1525, 113.8, (0, 0)), ("CD", "CA CB CG", 0.1525, 111.8, (1, 0)),
            ("CE", "CB CG CD", 0.1525, 111.8, (2, 0)), ("NZ", "CG CD CE", 0.1490, 111.5, 180)],
    "ARG": [("CG", "N CA CB", 0.1525, 113.8, (0, 0)), ("CD", "CA CB CG", 0.1525, 111.8, (1, 0)),
            ("NE", "CB CG CD", 0.1460, 111.8, (2, 0)), ("CZ", "CG CD NE", 0.1330, 124.5, 180),
            ("NH1", "CD NE CZ", 0.1330, FLAT, 0), ("NH2", "CD NE CZ", 0.1330, FLAT, 180)]}
RESIDUES["TYR"] = RESIDUES["PHE"] + [("OH", "CD1 CE1 CZ", 0.1370, FLAT, 180)]
STAGGERED, ACROSS = (-65, 180, 62), (90, 30, -30)
# values of each chi angle, degrees
TURNS = {"SER": [STAGGERED], "THR": [STAGGERED], "VAL": [STAGGERED], "LEU": [STAGGERED] * 2, "ILE": [STAGGERED] * 2,
         "MET": [STAGGERED] * 3, "PHE": [STAGGERED, ACROSS], "TYR": [STAGGERED, ACROSS], "ASP": [STAGGERED, ACROSS],
         "ASN": [STAGGERED, (90, 30, -30, -90, 150, 210)], "GLU": [STAGGERED, STAGGERED, ACROSS],
         "GLN": [STAGGERED, STAGGERED, ACROSS], "LYS": [STAGGERED] * 3, "ARG": [STAGGERED] * 3}
INSIDE = ["LEU", "PHE", "ILE", "LEU", "VAL", "LEU", "MET", "TYR"]
BETWEEN = ["LEU", "LYS", "TYR", "GLU", "GLN", "ILE", "ARG", "THR", "LEU"]
OUTSIDE = ["LYS", "GLU", "GLN", "GLU", "LYS", "ARG", "ASN", "ASP", "THR", "LYS"]
TURN = ["GLY", "SER", "ASN", "ASP", "GLY", "THR", "LYS"]
# nm, from which on two heavy atoms do not overlap
ROOM = {"CC": 0.37, "CN": 0.34, "CO": 0.33, "NN": 0.31, "NO": 0.30, "OO": 0.31, "CS": 0.38, "NS": 0.36, "OS": 0.35,
        "SS": 0.38}
ROOM |= {pair[::-1]: room for pair, room in ROOM.items()}
MOST = max(ROOM.values())
# the side chain in place of one that has no room; of the others alanine's
SMALLER = {"ARG": "LYS", "LYS": "GLN", "GLN": "GLU", "GLU": "ASP", "TYR": "PHE", "PHE": "LEU", "MET": "LEU",
           "ILE": "VAL", "LEU": "VAL", "ASN": "SER", "ASP": "SER", "THR": "SER"}
LEAST = 0.265  # nm, between a side chain's atoms behind CB and others' heavy atoms; a minimization does the rest


def rotamers(kind, backbone):
    """[{atom: x}] of the side chain, beginning with CB."""
    if kind == "GLY":
        return [{}]
    found = []
    for turns in product(*TURNS.get(kind, [])):
        x = dict(backbone, CB=beta_carbon(backbone))
        for name, by, length, angle, turn in RESIDUES[kind]:
            dihedral = turns[turn[0]] + turn[1] if isinstance(turn, tuple) else turn
            x[name] = place(*(x[b] for b in by.split()), length, angle, dihedral)
        found.append({name: at for name, at in x.items() if name not in backbone})
    return found


def overlap(side, others):
    """(Sum of squares of what pairs lack of ROOM, the least distance) between two lists of (element, x)."""
    total, least = 0.0, 9.0
    for a, x in side:
        for b, y in others:
            distance = math.dist(x, y)
            least = min(least, distance)
            room = ROOM[a + b]
            if distance < room:
                total += (room - distance) ** 2
    return total, least


def elements(atoms):
    return [(name[0], x) for name, x in atoms.items()]


class Packing:
    """The rotamer of each residue. fixed: [(element, x)] of atoms beside the chain, which stay where they are."""

    def __init__(self, chain, sequence, fixed):
        self.chain, self.sequence, self.fixed = chain, list(sequence), fixed
        beta = [beta_carbon(r) for r in chain]
        reach = [MOST / 2 + max([math.dist(b, x) for rotamer in rotamers(name, r) for x in rotamer.values()], default=0)
                 for b, r, name in zip(beta, chain, sequence)]
        self.neighbours = [[j for j, y in enumerate(beta) if j != i and math.dist(x, y) < reach[i] + reach[j]]
                           for i, x in enumerate(beta)]
        self.options, self.own, self.chosen = ([None] * len(chain) for _ in range(3))
        self.known = [{} for _ in chain]  # {(its rotamer, neighbour, neighbour's rotamer): overlap()}, filled on demand
        for i in range(len(chain)):
            self.draw(i)

    def draw(self, i):
        """Sets a residue's rotamers and their overlaps with atoms that do not move. The backbone places CB."""
        self.options[i] = [elements(r) for r in rotamers(self.sequence[i], self.chain[i])]
        spine = [atom for j, r in enumerate(self.chain) for atom in elements(r) if j != i] + self.fixed
        at = self.chain[i]["CA"]
        around = [(name, x) for name, x in spine if math.dist(at, x) < 1.2]
        self.own[i] = [overlap(option[1:], around) for option in self.options[i]]
        self.chosen[i] = min(range(len(self.own[i])), key=lambda k: self.own[i][k])
        self.known[i] = {}
        for j in self.neighbours[i]:
            self.known[j] = {key: value for key, value in self.known[j].items() if key[1] != i}

    def between(self, i, k, j):
        key = k, j, self.chosen[j]
        if key not in self.known[i]:
            self.known[i][key] = overlap(self.options[i][k][1:], self.options[j][self.chosen[j]])
        return self.known[i][key]

    def crowding(self, i, k):
        """(overlap, least distance) of a residue's rotamer with all that is around it."""
        parts = [self.own[i][k], *(self.between(i, k, j) for j in self.neighbours[i])]
        return sum(p[0] for p in parts), min(p[1] for p in parts)

    def improve(self, stale):
        """Each of these residues takes its best rotamer. Where a residue changes, its neighbours are tried again."""
        for _ in range(20):
            again = set()
            for i in sorted(stale):
                best = min(range(len(self.options[i])), key=lambda k: self.crowding(i, k)[0])
                if best != self.chosen[i]:
                    self.chosen[i] = best
                    again.update(self.neighbours[i])
            stale = again

    def make_room(self):
        """Makes side chains smaller until each has room, first the tightest one of a neighbourhood."""
        tight = range(len(self.chain))
        while tight:
            self.improve({j for i in tight for j in [i, *self.neighbours[i]]})
            least = [self.crowding(i, k)[1] for i, k in enumerate(self.chosen)]
            tight = [i for i, mine in enumerate(least)
                     if mine < LEAST and all(mine <= least[j] for j in self.neighbours[i])]
            for i in tight:
                self.sequence[i] = SMALLER.get(self.sequence[i], "ALA")
                self.draw(i)


def burial(chain):
    """For each residue: how many beta carbons of others are near its side chain's place."""
    beta = [beta_carbon(r) for r in chain]
    tips = [add(b, unit(add(b, r["CA"], -1)), 0.15) for b, r in zip(beta, chain)]
    return [sum(math.dist(tip, b) < 0.9 for j, b in enumerate(beta) if j != i) for i, tip in enumerate(tips)]


def sequence_for(chain, kinds, fixed, seed=2026):
    """Names of residues by their burial; small ones beside what is fixed."""
    rng, names = random.Random(seed), []
    for residue, kind, depth in zip(chain, kinds, burial(chain)):
        beta = beta_carbon(residue)
        tip = add(beta, unit(add(beta, residue["CA"], -1)), 0.15)
        choice = TURN if kind == "loop" else INSIDE if depth >= 17 else BETWEEN if depth >= 12 else OUTSIDE
        if any(math.dist(tip, x) < 0.45 for _, x in fixed):
            choice = ["ALA", "ALA", "SER", "GLY"]
        names.append(rng.choice(choice))
    return names


def dress(chain, kinds, fixed=()):
    """[(name of the residue, {atom: x})]. fixed: [(element, x)] of a guest in the fold."""
    packing = Packing(chain, sequence_for(chain, kinds, fixed), list(fixed))
    packing.make_room()
    return [(name, {**r, **rotamers(name, r)[k]}) for name, r, k in zip(packing.sequence, chain, packing.chosen)]
