# SPDX-License-Identifier: Apache-2.0
"""A small hybrid for the benches: 4-chlorophenol turns into 4-chloro-3-hydroxytoluene. The hydroxyl leaves one place of
the ring and comes to another, so a hydrogen without Lennard-Jones of its own vanishes and another appears. It is no
known drug pair. Of 19 atoms 3 are in A alone and 6 in B alone.

Parameters are of AMBER's kind (Cornell et al. 1995, doi 10.1021/ja00124a002); what that lacks has a usual size, and the
charges are our own. hybrid.py says what the tables are. BOND, TORSION and IMPROPER are in kcal/mol and A."""
RESIDUE = "CPH"
HYBRID = [
    ("C1", "fca", (0.34, -0.02), "AB", ()),
    ("C2", "fca", (-0.26, -0.20), "AB", ("C1",)),
    ("C3", "fca", (-0.10, 0.34), "AB", ("C2", "C1", None, 120, 180)),
    ("C4", "fca", (0.02, -0.02), "AB", ("C3", "C2", "C1", 120, 0)),
    ("C5", "fca", (-0.10, -0.12), "AB", ("C4", "C3", "C2", 120, 0)),
    ("C6", "fca", (-0.26, -0.14), "AB", ("C1", "C2", "C3", 120, 0)),
    ("CL", "fcl", (-0.10, -0.10), "AB", ("C4", "C3", "C2", 120, 180)),
    ("H2", "fha", (0.15, 0.15), "AB", ("C2", "C1", "C6", 120, 180)),
    ("H5", "fha", (0.14, 0.14), "AB", ("C5", "C4", "C3", 120, 180)),
    ("H6", "fha", (0.15, 0.13), "AB", ("C6", "C1", "C2", 120, 180)),
    ("O1", "foh", (-0.54, 0.00), "A", ("C1", "C2", "C3", 120, 180)),
    ("HO1", "fho", (0.42, 0.00), "A", ("O1", "C1", "C2", 109, 0)),
    ("H3", "fha", (0.14, 0.00), "A", ("C3", "C2", "C1", 120, 180)),
    ("C7", "fc3", (0.00, -0.16), "B", ("C1", "C2", "C3", 120, 180)),
    ("H71", "fhc", (0.00, 0.04), "B", ("C7", "C1", "C2", 109.5, 0)),
    ("H72", "fhc", (0.00, 0.04), "B", ("C7", "C1", "C2", 109.5, 120)),
    ("H73", "fhc", (0.00, 0.04), "B", ("C7", "C1", "C2", 109.5, -120)),
    ("O3", "foh", (0.00, -0.54), "B", ("C3", "C2", "C1", 120, 180)),
    ("HO3", "fho", (0.00, 0.42), "B", ("O3", "C3", "C2", 109, 0))]
ATOMS = [(name, kind, charge[0], RESIDUE, how) for name, kind, charge, _, how in HYBRID]
RINGS = [("C5", "C6")]  # bonds by which no atom was placed
SITES = {}
BEHIND = 0
MASS = {"fca": 12.01, "fcl": 35.45, "fha": 1.008, "foh": 16.00, "fho": 1.008, "fc3": 12.01, "fhc": 1.008}
LJ = {"fca": (1.908, 0.086), "fcl": (1.948, 0.265), "fha": (1.459, 0.015), "foh": (1.721, 0.2104), "fho": (0, 0),
      "fc3": (1.908, 0.1094), "fhc": (1.487, 0.0157)}
BOND = {("fca", "fca"): (469, 1.400), ("fca", "fcl"): (193, 1.727), ("fca", "fha"): (367, 1.080),
        ("fca", "foh"): (386, 1.364), ("foh", "fho"): (553, 0.960), ("fca", "fc3"): (317, 1.510),
        ("fc3", "fhc"): (340, 1.090)}
FLAT = {"fca"}  # by the type of the atom in the middle
WIDE = {"foh": (50, 109.0)}
STIFF = {True: (65, 120.0), False: (50, 109.5)}
TORSION = {("fca", "fca"): (3.625, 180, 2), ("fca", "foh"): (0.9, 180, 2)}
IMPROPER = [("C2", "C6", "C1", "O1", 1.1), ("C2", "C6", "C1", "C7", 1.1), ("C1", "C3", "C2", "H2", 1.1),
            ("C2", "C4", "C3", "H3", 1.1), ("C2", "C4", "C3", "O3", 1.1), ("C3", "C5", "C4", "CL", 1.1),
            ("C4", "C6", "C5", "H5", 1.1), ("C1", "C5", "C6", "H6", 1.1)]
