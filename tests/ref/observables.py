#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Observables of a water trajectory against numbers of numpy that lie beside the repository, and against GROMACS run here.

Positions are multiples of 0.001 nm, so many pairs sit at the edge of a bin, where the last bit says which one is theirs: counts are held to
numpy's of the same frames up to the pairs at edges, which are counted here.

Usage: observables.py SHOAL FOLDER      exit code 77: the data are absent
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy

NEAR = 2e-7  # nm, of an edge: what single precision of a position can move a distance by
SPEC = """name: water
system: {topology: system.top, coordinates: final.gro}
observables:
- rdf: {between: [OW, OW], max: 1.3 nm, bin: 0.01 nm, name: numpy}
- msd: {of: OW, max: 60 ps, fit: [2 ps, 15 ps]}
- msd: {of: OW, max: 60 ps, fit: [2 ps, 15 ps], remove-center: yes, name: centered}
- dielectric: {of: {resname: SOL}}
"""
CHARGES = [-0.8476, 0.4238, 0.4238]
# of frames 1 ps apart
FEWER = """name: water
system: {topology: system.top, coordinates: final.gro}
observables:
- rdf: {between: [OW, OW], max: 1.4 nm, bin: 0.002 nm, name: oo}
- rdf: {between: [OW, {name: HW*}], max: 1.4 nm, bin: 0.002 nm, name: oh}
- msd: {of: OW, max: 60 ps, fit: [2 ps, 15 ps]}
"""


def run(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


def positions(folder):
    """Of every frame, as GROMACS writes them in single precision, and the edge of the box."""
    path = os.path.join(folder, "traj.trr")
    data = numpy.fromfile(path, dtype=">f4")
    atoms = 2700
    length = data.size // 301
    frames = data.reshape(301, length)
    return frames[:, -3 * atoms:].reshape(301, atoms, 3).astype(float), float(frames[0, 23 - 2])


def histogram(x, edge, bins, width):
    """Pairs per bin, and those that are nearer to the bin's upper edge than positions are exact."""
    found, near = numpy.zeros(bins, dtype=int), numpy.zeros(bins + 1, dtype=int)
    i, j = numpy.triu_indices(x.shape[1], 1)
    for frame in x:
        d = frame[i] - frame[j]
        d -= edge * numpy.rint(d / edge)
        r = numpy.sqrt((d * d).sum(axis=1))
        k = numpy.rint(r / width).astype(int)
        found += numpy.bincount((r[r < bins * width] / width).astype(int), minlength=bins)[:bins]
        near += numpy.bincount(k[(abs(r - k * width) < NEAR) & (k <= bins)], minlength=bins + 1)
    return found, near


def check_exactly(observable, x, edge):
    counts, near = histogram(x, edge, 130, 0.01)
    off = abs(numpy.array(observable["pairs"]) - counts)
    assert observable["frames"] == len(x) and (off <= near[:-1] + near[1:]).all(), "pairs differ by more than lie at the edges of bins"
    print(f"{len(x)} frames: {int(off.sum())} of {int(counts.sum())} pairs in another bin; at edges {int(near.sum())}")


def check_rdf(observable, expected):
    off = abs(numpy.array(observable["pairs"]) - expected[:, 2])
    print(f"pairs: {int(off.sum())} of {int(expected[:, 2].sum())} in another bin, {int(off.max())} of one")
    assert (off <= 2 + 1e-4 * expected[:, 2]).all()
    assert abs(numpy.array(observable["g"]) - expected[:, 1]).max() < 2e-4


def check_shape(name, observable, expected):
    """gmx rdf: its bins are centered on multiples of the width, and its curve is noisier."""
    r = 0.002 * (numpy.arange(len(observable["g"])) + 0.5)
    g = numpy.interp(r, expected[:, 0], expected[:, 1])
    away = r > 0.25 if name == "oo" else r > 0.15  # of the peak within molecules, which is one bin wide
    rms = float(numpy.sqrt(numpy.mean((numpy.array(observable["g"])[away] - g[away]) ** 2)))
    print(f"{name} against gmx rdf: rms {rms:.4f}")
    assert rms < 0.02, rms


def check_msd(observable, lag, expected):
    msd = numpy.array(observable["msd_nm2"])
    worst = abs(msd[1:] / expected[1:] - 1).max()
    print(f"{observable['name']}: {len(msd)} lags, worst {worst:.2e}")
    assert len(msd) == len(lag) and worst < 1e-5
    return worst


def check_dielectric(observable, x, edge, theirs):
    """Against numpy, and gmx dipoles, which prints six digits."""
    waters = x.reshape(len(x), -1, 3, 3)
    arms = waters[:, :, 1:] - waters[:, :, :1]
    arms -= edge * numpy.rint(arms / edge)
    each = (arms * numpy.array(CHARGES)[1:, None]).sum(axis=2)
    m = each.sum(axis=1)
    fluctuation = (m * m).sum(axis=1).mean() - (m.mean(axis=0) ** 2).sum()
    constant = 1 + fluctuation * (1.602176634e-19 * 1e-9)**2 / (3 * 8.8541878128e-12 * edge**3 * 1e-27 * 1.380649e-23 * 298.15)
    absolute = numpy.sqrt((each * each).sum(axis=2)).mean() * 48.03204712
    found = observable["dielectric"]
    print(f"dielectric constant {found['constant']:.6g}, numpy {constant:.6g}, gmx dipoles {theirs:.6g}")
    assert abs(found["constant"] - constant) < 2e-6 * constant
    assert abs(found["molecule_dipole_debye"] - absolute) < 1e-6 * absolute
    assert abs(found["constant"] - theirs) < 2e-5 * theirs


def gmx_dielectric(folder):
    told = run("gmx", "dipoles", "-f", "traj.xtc", "-s", "run.tpr", "-temp", "298.15", "-epsilonRF", "0", "-corr", "none", cwd=folder,
               input="SOL\n")
    return float(next(line for line in told.splitlines() if line.startswith("Epsilon =")).split("=")[1])


def gmx_rdf(folder, name, reference, selection):
    run("gmx", "rdf", "-f", "traj.xtc", "-s", "run.tpr", "-bin", "0.002", "-rmax", "1.4", "-dt", "1", "-o", name + ".xvg",
        "-ref", reference, "-sel", selection, cwd=folder)
    return numpy.loadtxt(os.path.join(folder, name + ".xvg"), comments=["#", "@"])


def gmx_diffusion(folder):
    """D, 1e-5 cm^2/s, of all frames 1 ps apart, every one of which is an origin: gmx msd takes the same average."""
    run("gmx", "msd", "-f", "traj.xtc", "-s", "run.tpr", "-dt", "1", "-trestart", "1", "-beginfit", "2", "-endfit", "15", "-o", "msd.xvg",
        "-sel", "name OW", cwd=folder)
    with open(os.path.join(folder, "msd.xvg"), encoding="utf-8") as f:
        return float(next(line for line in f if "D[" in line).split("=")[1].split()[0])


def main():
    shoal, data = os.path.abspath(sys.argv[1]), sys.argv[2]
    if not os.path.exists(os.path.join(data, "traj.xtc")):
        print("no data")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for name in ("traj.xtc", "system.top", "final.gro", "nvt.mdp"):
            shutil.copyfile(os.path.join(data, name), os.path.join(folder, name))
        for name, text in (("all.yaml", SPEC), ("fewer.yaml", FEWER)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        run("gmx", "trjconv", "-f", "traj.xtc", "-o", "traj.trr", cwd=folder)
        run("gmx", "grompp", "-f", "nvt.mdp", "-c", "final.gro", "-p", "system.top", "-o", "run.tpr", "-maxwarn", "5", cwd=folder)

        def observe(spec, trajectory, *words):
            told = run(shoal, "observe", spec, "--trajectory", trajectory, "--output", "out", "--json", *words, cwd=folder)
            return {o["name"]: o for o in json.loads(told)["observables"]}

        names = ("rdf_OO_numpy", "msd_O_numpy", "rdf_OW_OW_gmx", "rdf_OW_HW_gmx")
        table = {name: numpy.loadtxt(os.path.join(data, name + ".tsv")) for name in names}
        x, edge = positions(folder)
        check_exactly(observe("all.yaml", "traj.trr", "--dt", "3 ps")["numpy"], x[::15, ::3], edge)
        of = observe("all.yaml", "traj.xtc")
        check_rdf(of["numpy"], table["rdf_OO_numpy"])
        check_msd(of["msd"], table["msd_O_numpy"][:, 0], table["msd_O_numpy"][:, 1])
        check_msd(of["centered"], table["msd_O_numpy"][:, 0], table["msd_O_numpy"][:, 2])
        assert abs(of["msd"]["diffusion"]["slope_nm2_per_ps"] - 0.01525560138410607) < 1e-8
        check_dielectric(of["dielectric"], x, edge, gmx_dielectric(folder))
        of = observe("fewer.yaml", "traj.xtc", "--dt", "1 ps")
        check_shape("oo", of["oo"], table["rdf_OW_OW_gmx"])
        check_shape("oh", of["oh"], table["rdf_OW_HW_gmx"])
        check_shape("oo", of["oo"], gmx_rdf(folder, "oo", "name OW", "name OW"))
        check_shape("oh", of["oh"], gmx_rdf(folder, "oh", "name OW", "name HW1 HW2"))
        d = of["msd"]["diffusion"]["value_cm2_per_s"] * 1e5
        theirs = gmx_diffusion(folder)
        print(f"D {d:.4f}, gmx msd {theirs:.4f}")
        assert abs(d - theirs) < 1e-3 * theirs
    return 0


if __name__ == "__main__":
    sys.exit(main())
