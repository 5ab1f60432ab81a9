# SPDX-License-Identifier: Apache-2.0
"""Nonan-1-ol (30 atoms), all trans, for the benches, and alcohols of other lengths; what the tables are: molecule.py.

Force field: GAFF (Wang et al. 2004, doi 10.1002/jcc.20035) with charges of OPLS-AA's alkanes and alcohols (Jorgensen, Maxwell,
Tirado-Rives 1996, doi 10.1021/ja9621760)."""
RESIDUE = "NOL"


def chain(carbons, residue):
    """Carbons from the methyl end on, then the hydroxyl, then hydrogens; each placed by those before it."""
    heavy = [f"C{n}" for n in range(1, carbons + 1)] + ["O"]
    rows = [("C1", "c3", -0.18, residue, ()), ("C2", "c3", -0.12, residue, ("C1",)), ("C3", "c3", -0.12, residue, ("C2", "C1", None, 110.6, 0))]
    for n in range(3, carbons + 1):
        kind, charge, angle = ("oh", -0.683, 109.4) if n == carbons else ("c3", 0.145 if n == carbons - 1 else -0.12, 110.6)
        rows.append((heavy[n], kind, charge, residue, (*heavy[n - 1:n - 4:-1], angle, 180) if n > 3 else ("C3", "C2", "C1", angle, 180)))
    rows.append(("HO", "ho", 0.418, residue, (*heavy[:-4:-1], 108.2, 180)))
    for n in range(carbons):
        toward = heavy[n + 1:n + 3] if n == 0 else (heavy[n - 1], heavy[n + 1])
        turns = (60, 180, -60) if n == 0 else (120, -120)
        rows += [(f"H{n + 1}{'ABC'[k]}", "h1" if n == carbons - 1 else "hc", 0.06, residue, (heavy[n], *toward, 109.5, turn))
                 for k, turn in enumerate(turns)]
    return rows


ATOMS = chain(9, RESIDUE)
MASS = {"c3": 12.01, "oh": 16.00, "hc": 1.008, "h1": 1.008, "ho": 1.008}
LJ = {"c3": (1.908, 0.1094), "oh": (1.721, 0.2104), "hc": (1.487, 0.0157), "h1": (1.387, 0.0157), "ho": (0.0, 0.0)}
BOND = {("c3", "c3"): (303.1, 1.535), ("c3", "hc"): (337.3, 1.092), ("c3", "h1"): (335.9, 1.093), ("c3", "oh"): (314.1, 1.426),
        ("ho", "oh"): (369.6, 0.974)}
ANGLE = {("c3", "c3", "c3"): (63.21, 110.63), ("c3", "c3", "hc"): (46.37, 110.05), ("hc", "c3", "hc"): (39.43, 108.35),
         ("c3", "c3", "h1"): (46.36, 110.07), ("h1", "c3", "h1"): (39.18, 109.55), ("c3", "c3", "oh"): (67.72, 109.43),
         ("h1", "c3", "oh"): (50.97, 109.88), ("c3", "oh", "ho"): (47.09, 108.16)}
TORSION = {(None, "c3", "c3", None): [(1.4 / 9, 0, 3)], ("c3", "c3", "c3", "c3"): [(0.18, 0, 3), (0.25, 180, 2), (0.20, 180, 1)],
           ("hc", "c3", "c3", "c3"): [(0.16, 0, 3)], ("hc", "c3", "c3", "hc"): [(0.15, 0, 3)], (None, "c3", "oh", None): [(0.5 / 3, 0, 3)],
           ("ho", "oh", "c3", "c3"): [(0.16, 0, 3), (0.25, 0, 1)]}
IMPROPER = []
