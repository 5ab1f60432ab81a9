#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which way a hybrid should go from A to B: solvent legs along four paths, with as much production and as many steps of
the ladder each. Prints the free energy, its error and the least overlap of neighbours of each.

  gapsys         charges, Lennard-Jones and bonded terms together, both softened by Gapsys' function
  beutler        the same, by Beutler's with soft Coulomb
  beutler-apart  charges of what vanishes go first, then Lennard-Jones and bonded terms change, then charges of what
                 appears come: three ensembles, whose free energies add up
  gapsys-apart   the same, Lennard-Jones by Gapsys' function

A path's windows are placed by `shoal ladder` from a short pilot of its own: no path has a ladder made for another.

Legs: phenol (phenol.py, a hydroxyl that moves; 2,200 atoms), ring (ligand.py; 3,900 atoms), and TYK2's solvent legs,
ejm_31_ejm_43 and the other edges of the data's folder (--data; none where it is absent).

Usage: paths.py SHOALD WORKER SHOAL [--legs A,B,..] [--windows N] [--pilot NS] [--equilibrate PS] [--time NS]
       [--repeats N] [--device D] [--data DIR] [--folder DIR] [--limit S]
--time: production of a window of a path that has N windows. A path in three parts has N + 2 windows, and less time in
each. --equilibrate: of every window at constant volume, and again at constant pressure.
--limit: seconds for what comes after the pilots; go on with the same --folder.
Exit code 1: paths have the same ends and differ by more than 4 errors.
"""
import gzip
import json
import math
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gpu"))
import ligand  # noqa: E402
import make_inputs  # noqa: E402
import phenol  # noqa: E402
import service_runs  # noqa: E402
from hybrid import Hybrid  # noqa: E402
from make_box import place  # noqa: E402

OWN = {"phenol": (phenol, 9), "ring": (ligand, 11)}  # points of the lattice of waters along an edge
EVERY = 100  # steps between samples
COULOMB, REST = ("coulomb",), ("vdw", "bonded")
TOGETHER = [("whole", COULOMB + REST, 0)]
# of each part: its name, ladders that move, and where the others stay
APART = [("discharge", COULOMB, 0), ("change", REST, 0), ("charge", COULOMB, 1)]
GAPSYS = "function: gapsys, scale-linpoint-lj: 0.85, scale-linpoint-coulomb: %s nm"
BEUTLER = "alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: %s"
PATHS = {"gapsys": (GAPSYS % 0.3, TOGETHER), "beutler": (BEUTLER % "yes", TOGETHER),
         "beutler-apart": (BEUTLER % "no", APART), "gapsys-apart": (GAPSYS % 0, APART)}
SPEC = """name: {name}
system: {{topology: system.top, coordinates: conf.gro}}
nonbonded:
  vdw: {{cutoff: {cutoff} nm, modifier: potential-switch, switch-start: {start} nm, dispersion-correction: all}}
  coulomb: {{cutoff: {cutoff} nm, grid-spacing: 0.12 nm, order: 4, tolerance: 1e-5}}
constraints: h-bonds
alchemy:
  perturb: b-states
  soft-core: {{{soft_core}}}
  windows: {windows}
integrator: {{method: langevin-middle, timestep: 2 fs, temperature: 298.15 K, friction: 1 /ps, seed: 2026}}
barostat: {{method: monte-carlo, pressure: 1.01325 bar, every: 25 steps}}
repeats: {repeats}
protocol:
  - minimize: {{steps: 500}}
  - equilibrate: {{time: {equilibrate} ps, ensemble: nvt}}
  - equilibrate: {{time: {equilibrate} ps, ensemble: npt}}
  - produce: {{time: {steps} steps, ensemble: npt, sample-every: {every} steps}}
"""


# ---- inputs ----

def legs(o):
    """{name: function of a folder that writes conf.gro and returns (the topology's text, cut-off)}"""
    def own(name):
        tables, points = OWN[name]

        def make(folder):
            make_inputs.OWN[tables.RESIDUE] = hybrid = Hybrid(tables)
            waters = make_inputs.gro(folder / "conf.gro", tables.RESIDUE, hybrid.atoms(place), points)
            make_inputs.topology(folder / "system.top", tables.RESIDUE, waters)
            return (folder / "system.top").read_text(), 1.0
        return make

    def published(edge):
        def make(folder):
            (folder / "conf.gro").write_bytes(gzip.decompress((edge / "solvent/conf.gro.gz").read_bytes()))
            return (edge / "solvent/system.top").read_text(), 1.1
        return make

    edges = sorted(p for p in Path(o.data).glob("ejm_*") if (p / "solvent/conf.gro.gz").exists())
    return {**{name: own(name) for name in OWN}, **{edge.name: published(edge) for edge in edges}}


def sections(top):
    """(section, line, its fields) of every line."""
    section = ""
    for line in top.splitlines():
        fields = line.split(";")[0].split()
        if fields[:1] == ["["]:
            section = fields[1]
        yield section, line, fields


def uncharged(top):
    """{(atom's number, name): its charge half way}, of perturbed atoms. An atom that is in a single state has none,
    and the others have the mean of their charges and an even share of what that lacks."""
    rows = list(sections(top))
    has_lj = {f[0]: float(f[-1]) * float(f[-2]) != 0 for s, _, f in rows if s == "atomtypes" and len(f) > 5}
    atoms = [f for s, _, f in rows if s == "atoms" and len(f) == 11]

    def there(kind, charge):
        return has_lj[kind] or float(charge) != 0

    both = [f for f in atoms if there(f[1], f[6]) and there(f[8], f[9])]
    mean = {(f[0], f[4]): (float(f[6]) + float(f[9])) / 2 for f in both}
    lacks = (sum(float(f[6]) for f in atoms) - sum(mean.values())) / len(both)
    return {(f[0], f[4]): mean[f[0], f[4]] + lacks if (f[0], f[4]) in mean else 0.0 for f in atoms}


def topology_of(top, part):
    """The part's own: charges go from A's to those half way, stay there, or go on to B's."""
    if part == "whole":
        return top
    middle, out = uncharged(top), []
    for section, line, f in sections(top):
        if section == "atoms" and len(f) == 11:
            half = f"{middle[f[0], f[4]]:.6f}"
            f[6], f[9] = (f[6] if part == "discharge" else half), (f[9] if part == "charge" else half)
            line = " ".join(f)
        out.append(line)
    return "\n".join(out) + "\n"


def windows_of(part, values, moving, others):
    """values: {component: ladder} of those that move."""
    n = len(next(iter(values.values())))
    return {c: values[c] if c in moving else [others] * n for c in COULOMB + REST if c in moving or others}


def even(n, moving):
    """A ladder for a pilot, denser at its ends."""
    at = [x - 0.7 * math.sin(2 * math.pi * x) / (2 * math.pi) for x in (i / (n - 1) for i in range(n))]
    return {c: [round(x, 4) for x in at] for c in moving}


class Runs:
    def __init__(self, o, service):
        self.o, self.service, self.inputs = o, service, {}
        known = legs(o)
        self.legs = o.legs.split(",") if o.legs else list(known)
        for leg in self.legs:
            if leg not in known:
                sys.exit(f"paths.py: no leg {leg}; there are {', '.join(known)}")
            folder = Path(o.folder) / leg
            folder.mkdir(parents=True, exist_ok=True)
            self.inputs[leg] = (folder, *known[leg](folder))

    def submit(self, stage, leg, path, part, ladder, time):
        folder, top, cutoff = self.inputs[leg]
        soft_core, parts = PATHS[path]
        name, moving, others = next(p for p in parts if p[0] == part)
        own = folder / f"{name}.top"
        own.write_text(topology_of(top, name))
        ident = f"{stage}.{leg}.{path}.{part}"
        spec = SPEC.format(name=ident, cutoff=cutoff, start=round(cutoff - 0.1, 1), soft_core=soft_core,
                           windows=json.dumps(windows_of(part, ladder, moving, others)).replace('"', ""),
                           repeats=1 if stage == "pilot" else self.o.repeats,
                           equilibrate=f"{self.o.equilibrate:.6g}", every=EVERY,
                           steps=int(time * service_runs.STEPS_A_NS / EVERY + 1e-6) * EVERY)
        return service_runs.submit(self.service, ident, spec, {"system.top": own, "conf.gro": folder / "conf.gro"})

    def all_parts(self):
        return [(leg, path, part[0], part[1])
                for leg in self.legs for path, (_, parts) in PATHS.items() for part in parts]

    def pilots(self):
        """{(leg, path, part): id}, when all have ended."""
        n, found = self.o.windows, {}
        for leg, path, part, moving in self.all_parts():
            ladder = even(n if part == "whole" else n // 2, moving)
            found[leg, path, part] = self.submit("pilot", leg, path, part, ladder, self.o.pilot)
        service_runs.wait(self.service, found, None, lambda: False)
        return found

    def ladder(self, ident, windows):
        command = [self.o.shoal, "ladder", ident, "--windows", str(windows), "--json", "--socket", self.service.socket]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)

    def submit_all(self, _):
        pilots, found, o = self.pilots(), {}, self.o
        for leg in self.legs:
            for path, (_, parts) in PATHS.items():
                of = [(part, pilots[leg, path, part]) for part, _, _ in parts]
                lengths = [self.ladder(ident, 2)["length"] for _, ident in of]
                intervals = [1] * len(of)
                while sum(intervals) < o.windows - 1:
                    longest = max(range(len(of)), key=lambda k: lengths[k] / intervals[k])
                    intervals[longest] += 1
                time = o.time * o.windows / (sum(intervals) + len(of))
                for (part, ident), n, length in zip(of, intervals, lengths):
                    ladder = self.ladder(ident, n + 1)["windows"]
                    values = next(iter(ladder.values()))
                    print(f"{leg} {path} {part}: length {length:.1f}, {n + 1} windows: {values}", flush=True)
                    found[leg, path, part] = self.submit("run", leg, path, part, ladder, time)
        return found


# ---- what came of it ----

def one(found):
    """(free energy, error, least overlap, verdict) in kcal/mol; None: there is none."""
    total = found and found["estimators"] and found["estimators"][0]["total"]
    if not total:
        return None
    energy = total["kcal/mol"]
    return energy["value"], energy["error"], found["overlap"]["minimum"], found["verdict"]["verdict"]


def summed(parts):
    if not all(parts):
        return None
    verdict = next((p[3] for p in parts if p[3] != "converged"), "converged")
    return (sum(p[0] for p in parts), math.hypot(*(p[1] for p in parts)), min(p[2] for p in parts), verdict)


def report(runs, service, idents, live):
    bad, ratios = 0, {path: [] for path in PATHS}
    print("kcal/mol        path           free energy        least overlap   cost of the same error   verdict")
    for leg in runs.legs:
        found = {path: summed([one(service_runs.results(service, idents[leg, path, part[0]], live)) for part in parts])
                 for path, (_, parts) in PATHS.items()}
        for path, value in found.items():
            if not value or not found["gapsys"]:
                print(f"{leg:<15} {path:<14} no number" + (" yet" if live else ""))
                continue
            ratios[path].append((value[1] / found["gapsys"][1]) ** 2)
            print(f"{leg:<15} {path:<14} {value[0]:8.3f} +- {value[1]:.3f}   {value[2]:13.4f}"
                  f"   {ratios[path][-1]:22.2f}   {value[3]}")
        values = [v for v in found.values() if v]
        off = max((abs(a[0] - b[0]) / math.hypot(a[1], b[1]) for a in values for b in values if a is not b), default=0)
        print(f"{leg:<15} paths differ by at most {off:.1f} errors")
        bad += off > 4
    for path, of in ratios.items():
        if of:
            mean = math.exp(sum(map(math.log, of)) / len(of))
            print(f"{path:<14} the error of gapsys takes {mean:.2f} of its time (geometric mean)")
    return bad


def main():
    options = service_runs.parser("protlig/tyk2")
    options.add_argument("shoal", type=os.path.abspath)
    options.add_argument("--legs")
    options.add_argument("--windows", type=int, default=12)
    options.add_argument("--pilot", type=float, default=0.02, metavar="NS")
    options.add_argument("--equilibrate", type=float, default=10, metavar="PS")
    options.set_defaults(time=0.3, repeats=1, folder=None)
    o = options.parse_args()
    if o.windows < 5:
        options.error("--windows: expected 5 or more")
    o.folder = o.folder or os.path.abspath("paths")
    runs = []

    def submit_all(service):
        runs.append(Runs(o, service))
        return runs[0].submit_all(service)

    code, seconds = service_runs.run(o, submit_all, lambda *found: report(runs[0], *found))
    print(f"{seconds:.0f} s; what was made is in {o.folder}")
    return code


if __name__ == "__main__":
    sys.exit(main())
