#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Relative binding of TYK2's six edges: writes the campaign, with the specs that `shoal init relative` writes, and
holds what came of it against the published values.

Usage: tyk2.py write SHOAL DATA FOLDER [--complex NS] [--solvent NS] [--seed N] [--exchange] [--windows N]
                                         [--repeats N]
       tyk2.py check DATA GATHER.json...
       tyk2.py figure DATA OUTPUT.svg GATHER.json...
write: FOLDER/campaign.yaml, to be run by `shoal campaign run FOLDER/campaign.yaml --here RUN --for 9m`.
--complex, --solvent: production of every window of a leg. --windows: so many in the complex, closer where atoms have
almost vanished, and two more in solvent; without it pilots place them (`ladder: auto`). --exchange: all windows exchange
replicas at each sample. --repeats: of every edge.
check: of one or more gathered tables, each a repeat: edges within 1.0 kcal/mol or three errors of pmx' value with
GAFF2, their mean unsigned difference at most 0.6, the loop closed within two errors, the solvent leg that has a
published value of its own within 0.2 kcal/mol or three errors (less what masses that change add there), and the RMSE to
experiment at most 0.2 above pmx' own. Exit code 1: one of these does not hold.
figure: of all edges of the tables, ours and pmx' beside experiment.
DATA: the folder with reference.tsv and a folder for each edge. Exit code 77: it is not there.
"""
import argparse
import gzip
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

from service_runs import NO_DATA

OWN_LEG = "ejm_31_ejm_43"  # no bond of it changes its length, so a leg of it is that of the publication, but for this:
# kcal/mol, in its published legs: what dH/dlambda of mdrun has of masses that change (dummies of carbons weigh 3), with all
# bonds constrained; the integral of dH/dlambda mass-lambda, of GROMACS in vacuum (tests/bench/LOG.md, 27 November 2026)
KINETIC = 1.50
LOOP = (("ejm_42", "ejm_55", 1), ("ejm_55", "ejm_54", 1), ("ejm_42", "ejm_54", -1))
# A bond to a hydrogen that changes its length is no constraint: fs
TIMESTEP = {"ejm_42_ejm_54": 2.5, "ejm_50_ejm_42": 2.5}
SAMPLES = 0.4  # ps; windows exchange as often: energies of neighbours forget each other in about that time
MORE_IN_SOLVENT = 2
CAMPAIGN = """name: tyk2
systems: {table: systems.tsv}
edges: {table: edges.tsv}
legs:
  - name: complex
    of: edges
    spec: complex.yaml
    override:
      integrator: {timestep: $(timestep) fs}
      system: {topology: $(folder)/complex/system.top, coordinates: $(folder)/complex/conf.gro}
  - name: solvent
    of: edges
    spec: solvent.yaml
    sign: -1
    override:
      integrator: {timestep: $(timestep) fs}
      system: {topology: $(folder)/solvent/system.top, coordinates: $(folder)/solvent/conf.gro}
"""


def table(path):
    with open(path, encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return [dict(zip(rows[0], row)) for row in rows[1:]]


# ---- write ----

def windows_of(n):
    """A ladder as the spec's own, of n windows: closer where atoms have almost vanished."""
    return [round(x - 0.6 * math.sin(2 * math.pi * x) / (2 * math.pi), 4) for x in (k / (n - 1) for k in range(n))]


def spec_of(o, edge, leg):
    """What init writes for a leg of the edge, with heavy hydrogens and stages as short as the runs are."""
    where = o.folder / edge / leg
    made = subprocess.run([o.shoal, "init", "relative", "-p", where / "system.top", "-c", where / "conf.gro"],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    spec = re.sub(r"(?m)^# masses: ", "masses: ", made)
    spec = re.sub(r"(?m)^name: .*", f"name: {leg}", spec)
    spec = re.sub(r"seed: random", f"seed: {o.seed}", spec)
    spec = re.sub(r"equilibrate: \{time: 50 ps", "equilibrate: {time: 20 ps", spec)
    spec = re.sub(r"equilibrate: \{time: (100|200) ps", "equilibrate: {time: 60 ps", spec)
    time = o.complex if leg == "complex" else o.solvent
    spec = re.sub(r"produce: \{time: 5 ns, ensemble: npt, sample-every: 1 ps",
                  f"produce: {{time: {time} ns, ensemble: npt, sample-every: {SAMPLES} ps", spec)
    assert f"time: {time} ns" in spec and "\nmasses: " in spec and f"seed: {o.seed}" in spec, spec
    if o.windows:
        windows = windows_of(o.windows + (0 if leg == "complex" else MORE_IN_SOLVENT))
        spec, n = re.subn(r"(?m)^(    (?:coulomb|vdw|bonded): +)\[.*\]", rf"\g<1>{windows}", spec)
        assert n == 3, spec
    if o.exchange:
        spec = re.sub(r"(?m)^# exchange: \{every: 1 ps, scheme: gibbs\}", f"exchange: {{every: {SAMPLES} ps, scheme: gibbs}}", spec)
        assert "\nexchange: " in spec, spec
    return spec


def write(o):
    edges = [row["edge"] for row in table(o.data / "reference.tsv")]
    for edge in edges:
        for leg in ("complex", "solvent"):
            to = o.folder / edge / leg
            to.mkdir(parents=True, exist_ok=True)
            (to / "system.top").write_bytes((o.data / edge / leg / "system.top").read_bytes())
            (to / "conf.gro").write_bytes(gzip.decompress((o.data / edge / leg / "conf.gro.gz").read_bytes()))
    rows = [edge.split("_ejm_") for edge in edges]
    (o.folder / "edges.tsv").write_text("ligand_i\tligand_j\tfolder\ttimestep\n" + "".join(
        f"{i}\tejm_{j}\t{i}_ejm_{j}\t{TIMESTEP.get(f'{i}_ejm_{j}', 4)}\n" for i, j in rows))
    (o.folder / "systems.tsv").write_bytes((o.data / "systems.tsv").read_bytes())
    for leg in ("complex", "solvent"):
        (o.folder / f"{leg}.yaml").write_text(spec_of(o, edges[-1], leg))
    (o.folder / "campaign.yaml").write_text(CAMPAIGN + f"repeats: {o.repeats}\n" + ("" if o.windows else "ladder: auto\n"))
    print(o.folder / "campaign.yaml")
    return 0


# ---- check ----

def mean_of(values):
    """Of [(value, error)]: the mean, and its error by their own errors or by their spread, whichever is larger."""
    n, mean = len(values), sum(v for v, _ in values) / len(values)
    own = math.sqrt(sum(e * e for _, e in values)) / n
    spread = math.sqrt(sum((v - mean) ** 2 for v, _ in values) / (n * (n - 1))) if n > 1 else 0
    return mean, max(own, spread)


def energy(found):
    return (found["kcal/mol"]["value"], found["kcal/mol"]["error"]) if found else None


def gathered(files):
    """{edge: {"complex": (value, error), "solvent": .., "ddG": ..}} of all tables, without what has no number."""
    found = {}
    for file in files:
        for edge in json.loads(Path(file).read_text(encoding="utf-8"))["edges"]:
            parts = {leg["leg"]: energy(leg["free_energy"]) for leg in edge["legs"]}
            parts["ddG"] = energy(edge["free_energy"])
            for part, value in parts.items():
                if value:
                    found.setdefault(f"{edge['ligand_i']}_{edge['ligand_j']}", {}).setdefault(part, []).append(value)
    return {edge: {part: mean_of(values) for part, values in parts.items()} for edge, parts in found.items()}


def held(what, off, allowed):
    good = abs(off) <= allowed
    print(f"{what:<40} {off:+7.2f}   {allowed:6.2f}   {'ok' if good else 'FAIL'}")
    return good


def check(o):
    reference = {row["edge"]: row for row in table(o.data / "reference.tsv")}
    legs = {row["edge"]: row for row in table(o.data / "reference_legs.tsv")}
    ours, all_held, off = gathered(o.gathered), [], []
    print(f"{'kcal/mol':<16} {'complex':>16} {'solvent':>16} {'ddG':>16} {'pmx, GAFF2':>16} {'experiment':>11}")
    for edge, row in reference.items():
        if "ddG" not in ours.get(edge, {}):
            print(f"{edge:<16} no number")
            all_held.append(False)
            continue
        value = {part: "%.2f +- %.2f" % ours[edge][part] for part in ("complex", "solvent", "ddG")}
        pmx = (float(row["pmx_GAFF2 (kcal/mol)"]), float(row["pmx_GAFF2_error (kcal/mol)"]))
        print(f"{edge:<16} {value['complex']:>16} {value['solvent']:>16} {value['ddG']:>16} {'%.2f +- %.2f' % pmx:>16} "
              f"{float(row['experiment (kcal/mol)']):>11.2f}")
        off.append((edge, ours[edge]["ddG"], pmx, float(row["experiment (kcal/mol)"])))
    print(f"\n{'':<40} {'off':>7}   allowed")
    for edge, (value, error), pmx, _ in off:
        all_held.append(held(edge, value - pmx[0], max(1.0, 3 * math.hypot(error, pmx[1]))))
    if len(off) < len(reference):
        return 1
    rmse = [math.sqrt(sum((x - e) ** 2 for x, e in pairs) / len(off))
            for pairs in ([(v[0], e) for _, v, _, e in off], [(p[0], e) for _, _, p, e in off])]
    loop = [(sign, *ours[f"{i}_{j}"]["ddG"]) for i, j, sign in LOOP]
    closed = 2 * math.hypot(*(error for *_, error in loop))
    own, published = ours[OWN_LEG]["solvent"], legs[OWN_LEG]
    water = float(published["water (kcal/mol)"]) - KINETIC
    all_held += [held("mean unsigned difference from pmx", sum(abs(v[0] - p[0]) for _, v, p, _ in off) / len(off), 0.6),
                 held("loop", sum(sign * value for sign, value, _ in loop), closed),
                 held(f"{OWN_LEG} in solvent", own[0] - water, max(0.2, 3 * own[1])),
                 held("RMSE to experiment less pmx' own", max(0, rmse[0] - rmse[1]), 0.2)]
    return 0 if all(all_held) else 1


# ---- figure ----

SIDE, MARGIN, LEAST, MOST = 420, 52, -4.0, 4.0  # pixels; kcal/mol
OURS, PMX, GREY = "#1f5fa8", "#b3541e", "#666"


def place(x, y):
    scale = (SIDE - 2 * MARGIN) / (MOST - LEAST)
    return MARGIN + (x - LEAST) * scale, SIDE - MARGIN - (y - LEAST) * scale


def line(a, b, style):
    (x1, y1), (x2, y2) = place(*a), place(*b)
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


def text(x, y, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}>{words}</text>'


def axes():
    parts = [line((LEAST + max(0, -off), LEAST + max(0, off)), (MOST - max(0, off), MOST - max(0, -off)),
                  f'stroke="{GREY}" stroke-dasharray="{dash}"') for off, dash in ((0, "none"), (1, "2 4"), (-1, "2 4"))]
    parts += [line((LEAST, LEAST), end, f'stroke="{GREY}"') for end in ((MOST, LEAST), (LEAST, MOST))]
    for tick in range(int(LEAST), int(MOST) + 1, 2):
        (x, y), (_, side) = place(tick, LEAST), place(LEAST, tick)
        parts += [text(x, y + 16, tick, 'text-anchor="middle"'), text(MARGIN - 8, side + 4, tick, 'text-anchor="end"')]
    parts += [text(SIDE / 2, SIDE - 14, "experiment, kcal/mol", 'text-anchor="middle"'),
              text(0, 0, "computed, kcal/mol", f'text-anchor="middle" transform="translate(16 {SIDE / 2}) rotate(-90)"')]
    return parts


def mark(x, value, error, colour, filled):
    px, py = place(x, value)
    bar = line((x, value - error), (x, value + error), f'stroke="{colour}" stroke-width="1.5"')
    return [bar, f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4.5" stroke="{colour}" stroke-width="1.5" fill="{colour if filled else "white"}"/>']


def figure(o):
    ours, parts = gathered(o.gathered), axes()
    for row in table(o.data / "reference.tsv"):
        x = float(row["experiment (kcal/mol)"])
        parts += mark(x, float(row["pmx_GAFF2 (kcal/mol)"]), float(row["pmx_GAFF2_error (kcal/mol)"]), PMX, False)
        parts += mark(x, *ours[row["edge"]]["ddG"], OURS, True)
    for n, (colour, filled, words) in enumerate(((OURS, True, "Shoal"), (PMX, False, "pmx, GAFF2"))):
        fill = colour if filled else "white"
        parts += [f'<circle cx="{MARGIN + 18}" cy="{MARGIN + 4 + 20 * n}" r="4.5" stroke="{colour}" stroke-width="1.5" fill="{fill}"/>',
                  text(MARGIN + 30, MARGIN + 8 + 20 * n, words)]
    o.output.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIDE}" height="{SIDE}" viewBox="0 0 {SIDE} {SIDE}" '
                        'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>\n'
                        + "\n".join(parts) + "\n</svg>\n", encoding="utf-8")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(required=True)
    writing = actions.add_parser("write")
    writing.set_defaults(run=write)
    writing.add_argument("shoal", type=os.path.abspath)
    writing.add_argument("data", type=Path)
    writing.add_argument("folder", type=Path)
    writing.add_argument("--complex", type=float, default=1.0, metavar="NS")
    writing.add_argument("--solvent", type=float, default=2.0, metavar="NS")
    writing.add_argument("--seed", type=int, default=2026)
    writing.add_argument("--exchange", action="store_true")
    writing.add_argument("--windows", type=int, metavar="N")
    writing.add_argument("--repeats", type=int, default=1, metavar="N")
    checking = actions.add_parser("check")
    checking.set_defaults(run=check)
    checking.add_argument("data", type=Path)
    checking.add_argument("gathered", nargs="+", metavar="GATHER.json")
    drawing = actions.add_parser("figure")
    drawing.set_defaults(run=figure)
    drawing.add_argument("data", type=Path)
    drawing.add_argument("output", type=Path)
    drawing.add_argument("gathered", nargs="+", metavar="GATHER.json")
    o = parser.parse_args()
    if not (o.data / "reference.tsv").exists():
        print(f"no reference.tsv in {o.data}")
        return NO_DATA
    return o.run(o)


if __name__ == "__main__":
    sys.exit(main())
