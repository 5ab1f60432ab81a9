#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""g(r) and mean square displacements beside MDAnalysis' InterRDF and EinsteinMSD, of the same files: .xtc, .trr and .gro that
MDAnalysis wrote, in rectangular and triclinic boxes, and the .xtc of a run. And beside gmx rdf, gmx msd and gmx velacc, where gmx is
installed.

Counts are equal but for pairs that sit at the edge of a bin, nearer than single precision of positions and boxes tells: MDAnalysis'
own distances say how many those are.

Usage: observables_oracles.py SHOAL SHOALD WORKER     exit code 77: MDAnalysis is not installed
Runs itself with SHOAL_TEST_PYTHON where that is set (a virtual environment made from tests/requirements.txt)."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import service  # noqa: E402
import tiny  # noqa: E402

NEAR = 1e-5  # nm: of an edge, positions and angles of a box in single precision
ATOMS, FRAMES, STEP = 240, 30, 0.04  # nm, of an atom's random walk
BIN, MOST = 0.01, 1.1  # nm
TOPOLOGY = tiny.TOPOLOGY.replace("MET 1\nSOL {waters}", f"SOL {ATOMS // 3}")
SPEC = f"""name: walk
system: {{topology: a.top, coordinates: a.gro}}
observables:
- rdf: {{between: [OW, OW], max: {MOST} nm, bin: {BIN} nm, name: oo}}
- rdf: {{between: [OW, {{name: HW*}}], max: {MOST} nm, bin: {BIN} nm, name: oh}}
- msd: {{of: OW, max: 14 ps, fit: [1 ps, 10 ps]}}
"""
STRUCTURE = SPEC[:SPEC.index("- msd")]  # of one frame
VELOCITIES = SPEC[:SPEC.index("- rdf")] + "- vacf: {of: OW, max: 7 ps, restart: no}\n"
BOXES = {"rectangular": [2.6, 2.8, 2.4, 90, 90, 90], "triclinic": [2.7, 2.8, 2.9, 72, 105, 81]}  # nm and degrees


def inside():
    """Goes on with the Python that has MDAnalysis; 77 where none has."""
    python = os.environ.get("SHOAL_TEST_PYTHON")
    if python and "SHOAL_TEST_INSIDE" not in os.environ:
        os.execve(python, [python, *sys.argv], dict(os.environ, SHOAL_TEST_INSIDE="1"))
    try:
        import MDAnalysis
    except ImportError:
        print("MDAnalysis: SKIP, not installed; tests/requirements.txt names it")
        sys.exit(77)
    warnings.simplefilter("ignore")
    return MDAnalysis


mda = inside()
import numpy  # noqa: E402
from MDAnalysis.analysis.msd import EinsteinMSD  # noqa: E402
from MDAnalysis.analysis.rdf import InterRDF  # noqa: E402
from MDAnalysis.lib.distances import capped_distance  # noqa: E402
from MDAnalysis.transformations import nojump, wrap  # noqa: E402


def walk(box, breathing):
    """A universe of atoms that walk at random, wrapped into their box."""
    draw = numpy.random.default_rng(17)
    u = mda.Universe.empty(ATOMS, n_residues=ATOMS // 3, atom_resindex=numpy.arange(ATOMS) // 3, trajectory=True)
    u.add_TopologyAttr("name", ["OW", "HW1", "HW2"] * (ATOMS // 3))
    u.add_TopologyAttr("resname", ["SOL"] * (ATOMS // 3))
    u.add_TopologyAttr("resid", range(1, ATOMS // 3 + 1))
    steps = draw.normal(0, 10 * STEP, (FRAMES, ATOMS, 3))
    steps[0] = draw.uniform(-10, 35, (ATOMS, 3))
    velocities = numpy.cumsum(draw.normal(0, 1, (FRAMES, ATOMS, 3)), axis=0) % 7  # of some memory
    edges = numpy.array([[10 * b * (1 + 0.01 * breathing * (k % 4)) for b in box[:3]] + box[3:] for k in range(FRAMES)])
    u.load_new(numpy.cumsum(steps, axis=0).astype("f4"), dimensions=edges.astype("f4"), velocities=velocities.astype("f4"), dt=0.5)
    u.trajectory.add_transformations(wrap(u.atoms))
    return u


def pairs_of(u, a, b, most):
    """Pairs per bin up to `most`, and those nearer to the bin's upper edge than NEAR, of all frames; by MDAnalysis."""
    bins, same = round(most / BIN), a == b
    of = InterRDF(u.select_atoms("name " + a), u.select_atoms("name " + b), nbins=bins, range=(0, 10 * most), norm="none",
                  exclusion_block=(1, 1) if same else None).run()
    near = numpy.zeros(bins + 2, dtype=int)
    for frame in u.trajectory:
        _, r = capped_distance(u.select_atoms("name " + a), u.select_atoms("name " + b), 10 * most + 0.1, box=frame.dimensions)
        k = numpy.rint(r / (10 * BIN)).astype(int)
        at = (abs(r - 10 * BIN * k) < 10 * NEAR) & (k > 0) & (k <= bins + 1)
        near += numpy.bincount(k[at], minlength=bins + 2)
    share = 2 if same else 1  # InterRDF counts i with j and j with i
    return of.results.count / share, near / share


def check_pairs(what, observable, u, a, b, most=MOST):
    theirs, near = pairs_of(u, a, b, most)
    off = abs(numpy.array(observable["pairs"]) - theirs)
    at_edges = near[:-2] + near[1:-1]
    print(f"{what}: {int(theirs.sum())} pairs, {int(off.sum())} in another bin, {int(near.sum())} at edges")
    assert observable["frames"] == len(u.trajectory) and theirs.sum() > 1000
    assert (off <= at_edges).all(), [(k, off[k], at_edges[k]) for k in numpy.nonzero(off > at_edges)[0]]


def check_density(what, observable, u):
    """g(r) itself; of boxes that stay as they are, as InterRDF takes the mean of volumes where 1 / volume is what counts."""
    of = InterRDF(u.select_atoms("name OW"), u.select_atoms("name HW1 HW2"), nbins=round(MOST / BIN), range=(0, 10 * MOST)).run()
    worst = abs(numpy.array(observable["g"]) - of.results.rdf)[20:].max()
    print(f"{what}: g(r) within {worst:.1e}")
    assert worst < 0.02  # a pair or two at an edge, of some 200 in a bin


def check_displacements(what, observable, u, bound):
    u.trajectory.add_transformations(nojump.NoJump())
    theirs = EinsteinMSD(u, select="name OW", fft=False).run().results.timeseries / 100
    ours = numpy.array(observable["msd_nm2"])
    worst = abs(ours[1:] / theirs[1:len(ours)] - 1).max()
    print(f"{what}: {len(ours)} lags within {worst:.1e} of themselves")
    assert len(ours) > 10 and worst < bound


def gmx_table(folder, command, *words, answer=None):
    done = subprocess.run(["gmx", command, "-s", "a.gro", "-o", "gmx.xvg", *words], cwd=folder, input=answer, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return numpy.loadtxt(os.path.join(folder, "gmx.xvg"), comments=["#", "@", "&"])


def check_gmx(what, shoal, folder, name, of):
    """gmx rdf centers its bins on multiples of their width, so that one of twice ours holds two of ours; its numbers have three decimals,
    of pairs a frame, a reference atom and a width. gmx msd (2022.5 crashes where frames are 0.5 ps apart) of every second frame."""
    if not shutil.which("gmx"):
        print("gmx: SKIP, not installed")
        return
    width, u = 2 * BIN, mda.Universe(os.path.join(folder, "a.gro"), os.path.join(folder, name))
    for observable, other, share in ((of["oo"], "OW", 2), (of["oh"], "HW1 HW2", 1)):
        found = gmx_table(folder, "rdf", "-f", name, "-bin", str(width), "-rmax", str(MOST), "-norm", "none", "-ref", "name OW", "-sel",
                          "name " + other)
        bins = round(MOST / width) - 1
        theirs = found[1:bins, 1] * width * observable["frames"] * (ATOMS // 3) / share
        ours = numpy.array(observable["pairs"])
        off = abs(ours[1:2 * bins - 1:2] + ours[2:2 * bins:2] - theirs)
        near = pairs_of(u, "OW", other, MOST)[1]
        print(f"{what}, gmx rdf of OW with {other}: {round(theirs.sum())} pairs, worst off by {off.max():.2f}")
        assert theirs.sum() > 1000 and (off <= near[1:2 * bins - 1:2] + near[3:2 * bins + 1:2] + 0.1).all(), off
    theirs = gmx_table(folder, "msd", "-f", name, "-dt", "1", "-trestart", "1", "-beginfit", "1", "-endfit", "10", "-sel", "name OW")[:, 1]
    ours = numpy.array(observe(shoal, folder, name, "spec.yaml", "--dt", "1 ps")["msd"]["msd_nm2"])
    worst = abs(ours[1:] / theirs[1:len(ours)] - 1).max()
    print(f"{what}, gmx msd: {len(ours)} lags within {worst:.1e} of themselves")
    assert len(ours) > 10 and worst < 1e-5


def check_velocities(what, shoal, folder, name):
    """gmx velacc asks for a group of an index, and writes five digits behind the point."""
    if not shutil.which("gmx"):
        return
    with open(os.path.join(folder, "o.ndx"), "w", encoding="ascii") as f:
        f.write("[ OW ]\n" + "\n".join(str(i) for i in range(1, ATOMS, 3)) + "\n")
    of = observe(shoal, folder, name, "velocities.yaml")["vacf"]
    ours = numpy.array(of["vacf_nm2_per_ps2"])
    theirs = gmx_table(folder, "velacc", "-f", name, "-n", "o.ndx", "-nonormalize", "-acflen", str(len(ours)), answer="0\n")[:, 1]
    worst = abs(ours - theirs[:len(ours)]).max() / ours[0]
    print(f"{what}, gmx velacc: {len(ours)} lags within {worst:.1e} of the first")
    assert len(ours) > 10 and worst < 2e-5


def observe(shoal, folder, trajectory, spec="spec.yaml", *words):
    told = subprocess.run([shoal, "observe", spec, "--trajectory", trajectory, "--output", "out", "--json", *words], cwd=folder, text=True,
                          capture_output=True, check=False)
    assert told.returncode == 0, told.stderr
    return {o["name"]: o for o in json.loads(told.stdout)["observables"]}


def walks(shoal, folder):
    for shape, box in BOXES.items():
        for kind, breathing in (("xtc", True), ("trr", True), ("xtc", False), ("trr", False)):
            what, name = f"{shape}{', breathing' if breathing else ''}, .{kind}", f"{shape}{int(breathing)}.{kind}"
            made = walk(box, breathing)
            made.atoms.write(os.path.join(folder, "a.gro"))
            made.atoms.write(os.path.join(folder, name), frames="all")
            u = mda.Universe(os.path.join(folder, "a.gro"), os.path.join(folder, name))
            of = observe(shoal, folder, name)
            check_pairs(what + ", oxygens", of["oo"], u, "OW", "OW")
            check_pairs(what + ", with hydrogens", of["oh"], u, "OW", "HW1 HW2")
            if not breathing:
                check_density(what, of["oh"], u)
                check_displacements(what, of["msd"], u, 1e-5)
                check_gmx(what, shoal, folder, name, of)
            if kind == "trr":
                check_velocities(what, shoal, folder, name)
        u = mda.Universe(os.path.join(folder, "a.gro"))
        check_pairs(f"{shape}, .gro", observe(shoal, folder, "a.gro", "structure.yaml")["oh"], u, "OW", "HW1 HW2")


def run(shoal, shoald, worker, folder):
    """The trajectory of a window that shoal itself wrote, at constant volume."""
    spec, files = tiny.tiny("water", seed=5, steps=1200, windows=(0,))
    spec = spec.replace("produce: {time: 1200 steps, ensemble: npt", "produce: {time: 1200 steps, ensemble: nvt")
    spec = spec.replace("frames-every: 200 steps", "frames-every: 20 steps")
    spec += ("observables:\n- rdf: {between: [OW, OW], max: 0.6 nm, bin: 0.01 nm}\n"
             "- msd: {of: OW, max: 1 ps, every: 20 steps, fit: [0.1 ps, 0.5 ps]}\n")
    assert "ensemble: nvt, sample-every: 20 steps" in spec
    for name, text in {"run.yaml": spec, **files}.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    s = service.Service(shoald, worker, os.path.join(folder, "service"))
    s.start()
    try:
        s.shoal(shoal, "submit", "run.yaml", "--wait", "--output", "fetched", cwd=folder)
    finally:
        s.stop()
    of = observe(shoal, folder, "fetched/lambda_00/traj.xtc", "run.yaml")
    u = mda.Universe(os.path.join(folder, "tiny.gro"), os.path.join(folder, "fetched/lambda_00/traj.xtc"))
    check_pairs("a run's .xtc, oxygens", of["rdf"], u, "OW", "OW", 0.6)
    check_displacements("a run's .xtc", of["msd"], u, 1e-5)


def main():
    shoal, shoald, worker = (os.path.abspath(path) for path in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("a.top", TOPOLOGY), ("spec.yaml", SPEC), ("structure.yaml", STRUCTURE), ("velocities.yaml", VELOCITIES)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        walks(shoal, folder)
        run(shoal, shoald, worker, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
