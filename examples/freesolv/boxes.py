# SPDX-License-Identifier: Apache-2.0
"""From a molecule's GROMACS files to a box of TIP3P water around it."""
import math
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True
from make_box import SPACING, points_in, solvated as waters_around, write  # noqa: E402

# TIP3P as in ../methanol/methanol.top. Types of GAFF are in small letters, so these names are free.
WATER_TYPES = """[ atomtypes ]
; sigma (nm), epsilon (kJ/mol)
OW 8 16.000 0.0 A 0.315061 0.636386
HW 1  1.008 0.0 A 0.0      0.0

"""
WATER = """[ moleculetype ]
SOL 2

[ atoms ]
1 OW 1 SOL OW  1 -0.834 16.000
2 HW 1 SOL HW1 1  0.417  1.008
3 HW 1 SOL HW2 1  0.417  1.008

[ settles ]
1 1 0.09572 0.15139

[ exclusions ]
1 2 3
2 1 3
3 1 2

"""


def section(text, name):
    """Fields of each line of the first section of that name."""
    found = re.search(rf"(?m)^\[ *{name} *\][^\n]*\n((?:(?!\[).*\n?)*)", text)
    lines = (line.split(";")[0].split() for line in found[1].splitlines()) if found else ()
    return [fields for fields in lines if fields and not fields[0].startswith("#")]


def read_atoms(path):
    """Of a .gro: [(name, [x, y, z])], nm."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(line[10:15].strip(), [float(word) for word in line[20:].split()[:3]]) for line in lines[2:2 + int(lines[1])]]


def solvated(topology, atoms, margin):
    """Text of the topology with as many waters as are needed, molecules for make_box.write, and the edge of their cube, nm. Around the
    molecule is water to `margin` nm, however it turns."""
    name, widest = section(topology, "moleculetype")[0][0], max(math.dist(a, b) for _, a in atoms for _, b in atoms)
    edge, rng = widest + 2 * margin, random.Random(2026)
    molecules = waters_around(atoms, name[:5], edge, points_in(round((edge / SPACING) ** 3), edge, rng), rng)
    head, rest = re.split(r"(?m)^(?=\[ *moleculetype *\])", topology, maxsplit=1)
    body = re.split(r"(?m)^(?=\[ *system *\])", rest, maxsplit=1)[0]
    end = f"[ system ]\n{name} in TIP3P water\n\n[ molecules ]\n{name} 1\nSOL {len(molecules) - 1}\n"
    return head + WATER_TYPES + body + WATER + end, molecules, edge


def make(topology, coordinates, folder, margin):
    """system.top and conf.gro in the folder: those given where they are of more than the molecule, else with waters around it. The name
    of the molecule, for `decouple`. ValueError: they are not of one molecule."""
    text, atoms = topology.read_text(encoding="utf-8"), read_atoms(coordinates)
    own = len(section(text, "atoms"))
    if not own or len(atoms) < own:
        raise ValueError(f"{topology} has {own} atoms in its first molecule, and {coordinates} has {len(atoms)}; expected the same molecule")
    name = section(text, "moleculetype")[0][0]
    folder.mkdir(parents=True, exist_ok=True)
    if len(atoms) > own:
        (folder / "system.top").write_text(text, encoding="utf-8")
        (folder / "conf.gro").write_text(coordinates.read_text(encoding="utf-8"), encoding="utf-8")
        return name
    text, molecules, edge = solvated(text, atoms, margin)
    (folder / "system.top").write_text(text, encoding="utf-8")
    write(folder / "conf.gro", name, molecules, edge)
    return name
