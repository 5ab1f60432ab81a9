#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the topology reader against grompp: every atom, parameter, pair, exclusion and LJ combination of our own topologies
and of those in ../shared/data must be what `gmx dump` prints of the run input file (its numbers have 9 digits).

    top_against_gmx.py DUMP_SYSTEM WORK_FOLDER

Exits with 77 (skipped) where gmx is not installed.
"""
import collections
import glob
import json
import math
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.join(HERE, "..", "..", "..", "shared", "data")
MDP = """integrator = md
cutoff-scheme = verlet
coulombtype = PME
rcoulomb = 0.8
rvdw = 0.8
free-energy = yes
init-lambda-state = 0
fep-lambdas = 0 1
"""
NUMBER = r"[-+]?\d+\.\d+e[-+]\d+|[-+]?\d+"
TERMS = ["BONDS", "CONNBONDS", "CONSTR", "CONSTRNC", "LJ14", "LJC14_Q", "LJC_NB", "ANGLES", "UREY_BRADLEY", "PDIHS", "PIDIHS",
         "RBDIHS", "IDIHS", "SETTLE", "POSRES", "HARMONIC", "CMAP", "G96BONDS", "MORSE", "CUBICBONDS", "FENEBONDS", "RESTRAINTPOT",
         "G96ANGLES", "QANGLES", "CROSS_BOND_BOND", "CROSS_BOND_ANGLE", "LINEAR_ANGLES", "DIHRES", "ANGRES", "ANGRESZ",
         "VSITE1", "VSITE2", "VSITE3", "VSITE2FD", "VSITE3FD", "VSITE3FAD", "VSITE3OUT", "VSITE4FDN"]
IN_ORDER = ("SETTLE", "POSRES", "CMAP", "CROSS_BOND_BOND", "CROSS_BOND_ANGLE", "LINEAR_ANGLES", "ANGRES", "ANGRESZ",
            "VSITE1", "VSITE2", "VSITE3", "VSITE2FD", "VSITE3FD", "VSITE3FAD", "VSITE3OUT", "VSITE4FDN")

# Where all of these are zero the reader leaves the term out; grompp does so for some of them.
FORCE_CONSTANTS = {"ANGLES": (1, 3), "UREY_BRADLEY": (1, 3, 5, 7), "PDIHS": (1, 3), "PIDIHS": (1, 3), "RBDIHS": range(12),
                   "IDIHS": (1, 3)}


def parse_functype(text):
    """name and numbers of 'NAME, key= value, ...'"""
    name, _, rest = text.partition(",")
    if name == "POSRES":
        rest = " ".join(re.findall(r"fc[AB]=\(([^)]*)\)", rest))
        return name, [float(v) for v in re.findall(r"[-+]?\d+\.\d+e[-+]\d+", rest)]
    values = []
    for item in re.findall(r"=\s*(%s)" % NUMBER, rest):
        values.append(float(item))
    return name, values


class Tpr:
    """What gmx dump prints, per molecule type."""

    def __init__(self, text):
        self.functypes = {}
        self.kinds = []
        self.blocks = []
        self.between = {"terms": collections.defaultdict(list)} # [ intermolecular_interactions ]
        kind = None
        lines = re.sub(r"(functype\[)", r"\n\1", text).split("\n")
        i = 0
        while i < len(lines):
            line = lines[i].strip()
            i += 1
            m = re.match(r"functype\[(\d+)\]=(.*)", line)
            if m:
                both = m[2] + (", " + lines[i].strip() if lines[i][:4] in ("rbcB", "Four") else "")
                self.functypes[int(m[1])] = parse_functype(both)
            if re.match(r"bIntermolecularInteractions\s*= true", line):
                kind = self.between
            m = re.match(r"atnr=(\d+)", line)
            if m:
                self.atnr = int(m[1])
            m = re.match(r"fudgeQQ\s*=\s*(\S+)", line)
            if m:
                self.fudge_qq = float(m[1])
            m = re.match(r"moltype\s+=\s+(\d+)", line)
            if m:
                self.blocks.append([int(m[1]), 0])
            m = re.match(r"#molecules\s+=\s+(\d+)", line)
            if m:
                self.blocks[-1][1] = int(m[1])
            if re.match(r"moltype \(\d+\):", line):
                kind = {"atoms": [], "names": [], "excl": [], "terms": collections.defaultdict(list), "residues": [],
                        "resind": []}
                self.kinds.append(kind)
            if kind is None:
                continue
            m = re.match(r"atom\[\s*\d+\]=\{type=\s*(\d+), typeB=\s*(\d+), ptype=\s*\w+, m=\s*(\S+), q=\s*(\S+), "
                         r"mB=\s*(\S+), qB=\s*(\S+), resind=\s*(\d+)", line)
            if m:
                kind["atoms"].append([int(m[1]), int(m[2])] + [float(m[k].rstrip(",")) for k in (3, 4, 5, 6)])
                kind["resind"].append(int(m[7]))
            m = re.match(r'atom\[\d+\]=\{name="(.*)"\}', line)
            if m:
                kind["names"].append(m[1])
            m = re.match(r'residue\[\d+\]=\{name="(.*)", nr=(-?\d+)', line)
            if m:
                kind["residues"].append((m[1], int(m[2])))
            m = re.match(r"excls\[(\d+)\]\[num=\d+\]=\{(.*)", line)
            if m:
                text = m[2]
                while "}" not in text:
                    text += lines[i].strip()
                    i += 1
                kind["excl"].append([int(v) for v in re.findall(r"\d+", text)])
            m = re.match(r"\d+ type=(\d+) \((\w+)\)((?:\s+\d+)+)", line)
            if m:
                kind["terms"][m[2]].append(([int(v) for v in m[3].split()], int(m[1])))


def close(a, b):
    return abs(a - b) <= 2e-6 * max(abs(a), abs(b)) + 1e-12


def compare_lists(what, ours, theirs):
    """Lists of (atoms, parameters), in any order."""
    if len(ours) != len(theirs):
        return ["%s: %d here, %d in gmx" % (what, len(ours), len(theirs))]
    out = []
    for (a, p), (b, q) in zip(sorted(ours), sorted(theirs)):
        if a != b or len(p) != len(q) or not all(close(x, y) for x, y in zip(p, q)):
            out.append("%s: %s %s here, %s %s in gmx" % (what, a, p, b, q))
    return out[:5]


def fourier_to_rb(f):
    return [f[1] + (f[0] + f[2]) / 2, (3 * f[2] - f[0]) / 2, 4 * f[3] - f[1], -2 * f[2], -4 * f[3], 0]


def gmx_terms(tpr, kind, name):
    out = []
    found = kind["terms"].get(name, []) + (kind["terms"].get("FOURDIHS", []) if name == "RBDIHS" else [])
    for atoms, number in found:
        fname, values = tpr.functypes[number]
        if fname == "FOURDIHS":
            values = fourier_to_rb(values[:4]) + fourier_to_rb(values[4:])
        if name == "LJC14_Q":
            values = [values[0] * values[1] * values[2]] + values[3:]
        if name == "CMAP":
            values = []
        if name == "LJC_NB":
            values = [values[0] * values[1]] + values[2:]
        if any(values[k] for k in FORCE_CONSTANTS.get(name, ())) or name not in FORCE_CONSTANTS:
            out.append((atoms, values))
    return out


def canonical(name, terms):
    """Atoms forwards and backwards are the same interaction; gmx may have turned one round."""
    out = []
    for atoms, values in terms:
        turn = name not in IN_ORDER and atoms[0] > atoms[-1]
        # Values are rounded so that sorting does not depend on digits that gmx does not print.
        out.append((list(reversed(atoms)) if turn else list(atoms), [float("%.6g" % v) for v in values]))
    return out


def our_terms(terms, name, first, count):
    out = []
    for atoms, values in terms:
        if first <= atoms[0] < first + count:
            if name == "LJ14":
                values = values[:4]
            if name == "LJC14_Q":
                values = [values[4], values[0], values[1]]
            out.append(([a - first for a in atoms], values))
    return out


def check_atoms(system, tpr, kind, first, type_of, label):
    out = []
    for i, theirs in enumerate(kind["atoms"]):
        name, resname, residue, ta, tb, ma, qa, mb, qb = system["atoms"][first + i]
        if name != kind["names"][i] or resname != kind["residues"][kind["resind"][i]][0]:
            out.append("%s atom %d: %s %s here" % (label, i, resname, name))
        for x, y in zip((ma, qa, mb, qb), theirs[2:]):
            if not close(x, y):
                out.append("%s atom %d: %s here, %s in gmx" % (label, i, (ma, qa, mb, qb), theirs[2:]))
        if (ta == tb) != (theirs[0] == theirs[1]):
            out.append("%s atom %d: types %s here, %s in gmx" % (label, i, (ta, tb), theirs[:2]))
        for ours, gmx in ((ta, theirs[0]), (tb, theirs[1])):
            if type_of.setdefault(ours, gmx) != gmx:
                out.append("%s atom %d: type %d is %d and %d in gmx" % (label, i, ours, type_of[ours], gmx))
    return out


def check_charges(system, tpr):
    """1-4 charge products follow from the charges and fudgeQQ."""
    out = []
    for (i, j), values in system["LJ14"]:
        a, b = system["atoms"][i], system["atoms"][j]
        want = [tpr.fudge_qq * a[6] * b[6], tpr.fudge_qq * a[8] * b[8]]
        if not all(close(x, y) for x, y in zip(values[4:], want)):
            out.append("LJ14 %d-%d: charges %s, expected %s" % (i, j, values[4:], want))
    return out[:5]


def take_between(system):
    """Takes the terms out of the system that join atoms of several molecules."""
    owner = [number for number, (_, _, count) in enumerate(system["molecules"]) for _ in range(count)]
    between = {}
    for name in TERMS:
        between[name] = [t for t in system[name] if len({owner[a] for a in t[0]}) > 1]
        system[name] = [t for t in system[name] if len({owner[a] for a in t[0]}) == 1]
    return between


def check_copies(system):
    """Every molecule of a kind is the first one, moved."""
    out = []
    first_of = {}
    start = [0]
    per_molecule = {name: collections.Counter() for name in TERMS}
    owner = []
    for number, (kind, first, count) in enumerate(system["molecules"]):
        owner += [number] * count
        first_of.setdefault(kind, number)
    if len(owner) != len(system["atoms"]):
        return ["molecules do not cover the atoms"]
    for name in TERMS:
        by = collections.defaultdict(list)
        for atoms, values in system[name]:
            number = owner[atoms[0]]
            by[number].append(([a - system["molecules"][number][1] for a in atoms], values))
        for number, (kind, _, _) in enumerate(system["molecules"]):
            if by[number] != by[first_of[kind]]:
                out.append("%s: molecule %d differs from the first %s" % (name, number, kind))
    for number, (kind, first, count) in enumerate(system["molecules"]):
        f0 = system["molecules"][first_of[kind]][1]
        for i in range(count):
            if system["atoms"][first + i] != system["atoms"][f0 + i]:
                out.append("atom %d differs from the first %s" % (first + i, kind))
            if [a - first for a in system["exclusions"][first + i]] != [a - f0 for a in system["exclusions"][f0 + i]]:
                out.append("exclusions of atom %d differ from the first %s" % (first + i, kind))
    return out[:5]


def compare(system, tpr):
    between = take_between(system)
    out = check_copies(system) + check_charges(system, tpr)
    for name in TERMS:
        out += compare_lists("between molecules: " + name,
                             canonical(name, our_terms(between[name], name, 0, len(system["atoms"]))),
                             canonical(name, gmx_terms(tpr, tpr.between, name)))
    type_of = {}
    number = 0
    for kind_index, copies in tpr.blocks:
        kind = tpr.kinds[kind_index]
        _, first, count = system["molecules"][number]
        if count != len(kind["atoms"]):
            return out + ["molecule %d: %d atoms here, %d in gmx" % (number, count, len(kind["atoms"]))]
        out += check_atoms(system, tpr, kind, first, type_of, "molecule %d" % number)
        for name in TERMS:
            out += compare_lists("molecule %d %s" % (number, name),
                                 canonical(name, our_terms(system[name], name, first, count)),
                                 canonical(name, gmx_terms(tpr, kind, name)))
        ours = [sorted([a - first for a in system["exclusions"][first + i]] + [i]) for i in range(count)]
        if ours != [sorted(e) for e in kind["excl"]]:
            out.append("molecule %d: exclusions differ" % number)
        number += copies
    if number != len(system["molecules"]):
        out.append("%d molecules here, %d in gmx" % (len(system["molecules"]), number))
    n = system["ntypes"]
    for i in type_of:
        for j in type_of:
            _, want = tpr.functypes[type_of[i] * tpr.atnr + type_of[j]]
            if not all(close(x, y) for x, y in zip(system["lj"][i * n + j], want)):
                out.append("LJ %d %d: %s here, %s in gmx" % (i, j, system["lj"][i * n + j], want))
    return out


def run(command, **kw):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kw)


def write_gro(path, atoms):
    """Any positions do: grompp wants as many atoms as the topology has, with excluded ones within the cut-off of 0.8 nm."""
    n = math.ceil(len(atoms) ** (1 / 3))
    d = 0.45 / n
    with open(path, "w") as f:
        f.write("lattice\n%5d\n" % len(atoms))
        for i, a in enumerate(atoms):
            f.write("%5d%-5.5s%5.5s%5d%8.3f%8.3f%8.3f\n" % (1, a[1], a[0], (i + 1) % 100000, d * (i % n),
                                                          d * (i // n % n), d * (i // n // n)))
        f.write("   3.00000   3.00000   3.00000\n")


def check(gmx, dump, work, topology, coordinates):
    folder, name = os.path.split(topology)
    ours = run([dump, folder, name] + ([coordinates] if coordinates else []))
    if ours.returncode:
        return ["dump_system: " + ours.stderr.strip()]
    system = json.loads(ours.stdout)
    gro = os.path.join(work, "lattice.gro")
    write_gro(gro, system["atoms"])
    mdp = os.path.join(work, "check.mdp")
    with open(mdp, "w") as f:
        f.write(MDP)
    tpr = os.path.join(work, "check.tpr")
    made = run([gmx, "grompp", "-f", mdp, "-c", gro, "-r", gro, "-p", topology, "-o", tpr, "-po",
                os.path.join(work, "mdout.mdp"), "-maxwarn", "20", "-normvsbds"], env=dict(os.environ, GMX_MAXBACKUP="-1"))
    if made.returncode:
        return ["grompp: " + " ".join(re.findall(r"ERROR \d+.*?\n\n|Fatal error:.*?\n\n", made.stderr, re.S))]
    return compare(system, Tpr(run([gmx, "dump", "-s", tpr]).stdout))


def cases():
    for path in sorted(glob.glob(os.path.join(HERE, "topologies", "*.top"))):
        yield path, None
    for path in sorted(glob.glob(os.path.join(SHARED, "*", "*", "*.top"))):
        folder = os.path.dirname(path)
        stem = os.path.basename(path)[:-4] + ".gro"
        names = [n for n in (stem, "conf.gro", "final.gro") if os.path.exists(os.path.join(folder, n))]
        yield path, names[0]


def main():
    gmx = shutil.which("gmx_d") or shutil.which("gmx")
    if not gmx:
        print("SKIP: gmx is not installed")
        return 77
    if not os.path.isdir(SHARED):
        print("note: no ../shared/data here, only our own topologies are compared")
    bad = 0
    os.makedirs(sys.argv[2], exist_ok=True)
    for topology, coordinates in cases():
        wrong = check(gmx, sys.argv[1], sys.argv[2], topology, coordinates)
        print("%s %s" % ("FAIL" if wrong else "ok  ", os.path.relpath(topology, HERE)))
        for line in wrong[:20]:
            print("     " + line)
        bad += bool(wrong)
    return 1 if bad else 0


sys.exit(main())
