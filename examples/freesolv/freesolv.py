#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""FreeSolv, or any part of it, as one campaign; and its results beside the published values."""
import argparse
import json
import math
import random
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True  # this folder is installed as it is
import boxes  # noqa: E402

ALL = 642  # molecules of the database, v0.52
WINDOWS, SAMPLE = 20, 0.2  # of hydration.yaml; ps from one sample to the next
# What --timestep 2 and --published change in hydration.yaml
TWO_FS = (("timestep: 4 fs", "timestep: 2 fs"),
          ("masses: {repartition: 3, rigid-waters: no} # heavy hydrogens allow 4 fs; waters are rigid and keep their masses\n", ""))
PUBLISHED = (("{cutoff: 1.0 nm, grid-spacing: 0.1 nm, order: 4, tolerance: 1e-5}", "{cutoff: 1.2 nm, grid-spacing: 0.1 nm, order: 6, tolerance: 1e-6}"),
             ("  split: auto # the fastest split of Coulomb whose error is no larger than with these settings\n", ""),
             ("friction: 1 /ps", "friction: 0.5 /ps"))
MARGIN, PUBLISHED_MARGIN = 1.1, 1.5  # nm
CAMPAIGN = """# Hydration of {n} molecules of FreeSolv, written by examples/freesolv/freesolv.py.
name: {name}
systems: {{table: systems.tsv}}
legs:
  - {{name: hydration, spec: hydration.yaml, sign: -1}} # its windows take the molecule out of the water
repeats: {repeats}
budget: {{time: {budget:.10g} ns, rounds: 3}} # {time:g} ns a molecule, more of it where errors are larger
"""
COLUMNS = ("name", "experiment (kcal/mol)", "error (kcal/mol)", "molecule", "production", "published", "published error", "compound")


def fail(text):
    sys.exit(f"freesolv: {text}")


# ---- the database

@dataclass(frozen=True)
class Molecule:
    """Free energies of hydration, (value, error), kcal/mol."""

    ident: str
    name: str
    experiment: tuple[str, str]
    calculated: tuple[str, str]


def read_database(path):
    """{id: Molecule} of database.txt."""
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(";")]
        try:
            [float(field) for field in fields[3:7]]
            found[fields[0]] = Molecule(fields[0], fields[2], (fields[3], fields[4]), (fields[5], fields[6]))
        except (IndexError, ValueError):
            fail(f"{path}:{number}: expected id; SMILES; name; experiment; error; calculated; error; ..")
    return found


def choose(database, o):
    """Ids, as the command asks for them. At random: the same for a seed, whatever the order of the file is."""
    ids = sorted(database)
    if o.ids:
        wanted = [ident if ident.startswith("mobley_") else f"mobley_{ident}" for ident in o.ids.split(",")]
        if unknown := [ident for ident in wanted if ident not in database]:
            fail(f"--ids: no {', '.join(unknown)} among the {len(ids)} molecules of the database")
        return wanted
    if o.random is None:
        return ids
    if not 1 <= o.random <= len(ids):
        fail(f"--random {o.random}: expected 1 to {len(ids)}, the molecules of the database")
    return random.Random(o.seed).sample(ids, o.random)


# ---- write

def make_box(o, files, ident):
    """The name of the molecule."""
    try:
        return boxes.make(files / f"{ident}.top", files / f"{ident}.gro", o.folder / ident, o.margin)
    except ValueError as why:
        return fail(why)


def spec_of(o):
    """hydration.yaml with the settings that are asked for."""
    text = (HERE / "hydration.yaml").read_text(encoding="utf-8")
    for usual, instead in (TWO_FS if o.timestep == 2 else ()) + (PUBLISHED if o.published else ()):
        assert usual in text, usual
        text = text.replace(usual, instead)
    return text


def write(o):
    o.timestep = o.timestep or (2 if o.published else 4)
    o.margin = o.margin or (PUBLISHED_MARGIN if o.published else MARGIN)
    database = read_database(o.database / "database.txt")
    files, ids = o.files or o.database / "gromacs", choose(database, o)
    if missing := [str(path) for ident in ids for path in (files / f"{ident}.top", files / f"{ident}.gro") if not path.is_file()]:
        fail(f"no {missing[0]}, and {len(missing) - 1} more; expected a .top and a .gro of each molecule in {files}")
    alike = o.time / 3 / o.repeats / WINDOWS  # ns of each window that no need decides
    production = f"{round(1000 * SAMPLE / o.timestep) * max(1, round(1000 * alike / SAMPLE))} steps"
    rows = [COLUMNS]
    for ident in ids:
        one = database[ident]
        rows.append((ident, *one.experiment, make_box(o, files, ident), production, *one.calculated, one.name))
    (o.folder / "systems.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    (o.folder / "hydration.yaml").write_text(spec_of(o), encoding="utf-8")
    text = CAMPAIGN.format(n=len(ids), name=o.name, repeats=o.repeats, budget=o.time * len(ids), time=o.time)
    (o.folder / "campaign.yaml").write_text(text, encoding="utf-8")
    print(o.folder / "campaign.yaml")
    return 0


# ---- table

def read_systems(path):
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def energies(gathered):
    """{system: ((value, error), verdict)} of gather.json, kcal/mol."""
    found = {}
    for one in gathered["systems"]:
        if one["free_energy"]:
            energy = one["free_energy"]["kcal/mol"]
            found[one["system"]] = ((energy["value"], energy["error"]), one["verdict"])
    return found


def root_mean_square(values):
    return math.sqrt(sum(x * x for x in values) / len(values))


def correlation(pairs):
    """Pearson's; None where one of the two does not vary."""
    means = [sum(p[k] for p in pairs) / len(pairs) for k in (0, 1)]
    a, b = ([p[k] - means[k] for p in pairs] for k in (0, 1))
    norm = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    return sum(x * y for x, y in zip(a, b)) / norm if norm else None


def say_difference(what, pairs):
    """Of [(ours, theirs)]."""
    off, r = [a - b for a, b in pairs], correlation(pairs)
    print(f"from {what:<12} RMSE {root_mean_square(off):.3f}   mean difference {sum(off) / len(off):+.3f}   "
          f"mean unsigned difference {sum(map(abs, off)) / len(off):.3f}   R {'none' if r is None else f'{r:.4f}'}")


def read_usage(file, campaign):
    """Device time of the campaign, s, as `shoal usage --by campaign --json` has it."""
    rows = json.loads(file.read_text(encoding="utf-8")).get("rows", ())
    seconds = sum(row["device_seconds"] for row in rows if row["campaign"] == campaign)
    return seconds or fail(f"{file} has no campaign {campaign}; expected the output of `shoal usage --by campaign --json`")


def say_time(seconds, n, ours, published):
    """ours, published: errors, root mean square. An error falls with the root of the time."""
    days, times = seconds / 86400 * ALL / n, (ours / published) ** 2
    print(f"device time: {seconds / 3600:.2f} h for {n} molecules, {days:.2f} days for {ALL}; "
          f"for errors of {published:.3f} {times:.2f} of the time, {days * times:.2f} days")


def say_row(row, found):
    """A line of the table. (ours, published, experiment), each (value, error); None where ours is not there."""
    theirs = float(row["published"]), float(row["published error"])
    experiment = float(row["experiment (kcal/mol)"]), float(row["error (kcal/mol)"])
    ours, verdict = found.get(row["name"], (None, ""))
    off = f"{ours[0] - theirs[0]:+.2f}" if ours else ""
    errors = f"{(ours[0] - theirs[0]) / math.hypot(ours[1], theirs[1]):+.1f}" if ours else ""
    print(f"{row['name']:<16} {'%.3f +- %.3f' % ours if ours else 'none':>16} {'%.2f +- %.2f' % theirs:>16} "
          f"{'%.2f +- %.2f' % experiment:>16}  {off:>6} {errors:>6}  {verdict:<11}  {row['compound']}")
    return (ours, theirs, experiment) if ours else None


def table(o):
    gathered = json.loads(o.gathered.read_text(encoding="utf-8"))
    rows, found = read_systems(o.folder / "systems.tsv"), energies(gathered)
    print(f"{'kcal/mol':<16} {'Shoal':>16} {'published':>16} {'experiment':>16}  {'off':>6} {'errors':>6}  {'verdict':<11}  compound")
    numbers = [numbers for row in rows if (numbers := say_row(row, found))]
    if not numbers:
        fail(f"{o.gathered} has no free energy of these molecules")
    print()
    say_difference("published", [(a[0], b[0]) for a, b, _ in numbers])
    say_difference("experiment", [(a[0], c[0]) for a, _, c in numbers])
    own, published = (root_mean_square([n[k][1] for n in numbers]) for k in (0, 1))
    print(f"errors, root mean square: {own:.3f}, published {published:.3f}")
    if o.usage:
        say_time(read_usage(o.usage, gathered["name"]), len(numbers), own, published)
    return 0 if len(numbers) == len(rows) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    actions = parser.add_subparsers(required=True)
    writing = actions.add_parser("write", help="boxes of water and the campaign's file")
    writing.set_defaults(run=write)
    writing.add_argument("database", type=Path, help="the folder with database.txt")
    writing.add_argument("folder", type=Path, help="where campaign.yaml and its inputs go")
    which = writing.add_mutually_exclusive_group()
    which.add_argument("--ids", help="molecules, with commas between; all of the database when not given")
    which.add_argument("--random", type=int, metavar="N", help="as many molecules, chosen at random")
    writing.add_argument("--seed", type=int, default=2026, help="of that choice (%(default)s)")
    writing.add_argument("--files", type=Path, help="the folder with ID.top and ID.gro (gromacs of the database)")
    writing.add_argument("--name", default="freesolv", help="of the campaign (%(default)s)")
    writing.add_argument("--time", type=float, default=72, metavar="NS", help="production a molecule, all windows and repeats (%(default)s)")
    writing.add_argument("--repeats", type=int, default=3, metavar="N")
    writing.add_argument("--margin", type=float, metavar="NM", help=f"of water around a molecule, at least ({MARGIN}; published {PUBLISHED_MARGIN})")
    writing.add_argument("--timestep", type=int, choices=(2, 4), help="fs; with 4 hydrogens are heavier (4; published 2)")
    writing.add_argument("--published", action="store_true", help="timestep, Coulomb, friction and margin of the published calculations")
    showing = actions.add_parser("table", help="results beside published values and experiment")
    showing.set_defaults(run=table)
    showing.add_argument("folder", type=Path, help="as of write")
    showing.add_argument("gathered", type=Path, metavar="GATHER.json")
    showing.add_argument("--usage", type=Path, metavar="USAGE.json", help="what `shoal usage --by campaign --json` printed, for the time")
    o = parser.parse_args()
    return o.run(o)


if __name__ == "__main__":
    sys.exit(main())
