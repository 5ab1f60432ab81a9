#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What production samples of SPC/E water, many replicas at once in one worker, beside what theory says of it, whatever the model:
nvt: kinetic energies against their gamma distribution, potential energies of two temperatures against each other (Boltzmann factors);
npt: volumes of two pressures against each other; and the density at the lower one.

usage: sampling.py nvt|npt SHOAL_WORKER [--device D] [--time NS] [--replicas N] [--timestep FS] [--mesh-every N]
--time: of each replica's production, ns. --replicas: of each of the two states. --mesh-every: timesteps
from one with the mesh to the next, 1 or 2. Mean potential energies are printed, too: they show what a longer --timestep
does. Minutes on a GPU, hours on a small machine;
tests/bench/LOG.md keeps outcomes.
"""
import argparse
import math
import os
import random
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../e2e"), os.path.join(HERE, "../../examples")]
import make_box  # noqa: E402
from worker import Worker  # noqa: E402

R, NM3_BAR = 0.00831446261815324, 0.0602214076  # kJ/mol/K; kJ/mol of a nm^3 bar
WATERS, GRAM = 343, 18.0154
# 998.1 with a cut-off of 1.0 nm; 0.9 nm and so few molecules are allowed 2 kg/m^3
DENSITY, DENSITY_OFF = 998.1, 2
BLOCKS, BINS = 20, 20
STATES = {"nvt": ((298.15, 1), (313.15, 1)), "npt": ((298.15, 1), (298.15, 601))}  # K, bar: two widths of the distributions apart, about
CORRELATED = 1.2  # error of a mean of kinetic energies so far apart at this friction, over that of independent ones
FREEDOM = 6 * WATERS - 3  # each sample is of a step at which the motion of the center of mass has been taken out (every 100 steps)
SPEC = """name: {name}
system: {{topology: spce.top, coordinates: water.gro}}
nonbonded:
  cutoff: 0.9 nm
  vdw: {{modifier: potential-switch, switch-start: 0.8 nm, dispersion-correction: energy-pressure}}
  coulomb: {{modifier: potential-shift, grid-spacing: 0.12 nm, order: 4, tolerance: 1e-5}}
integrator: {{method: langevin-middle, timestep: {timestep:g} fs, temperature: {temperature} K, friction: 2 /ps, seed: 2026, mesh-every: {mesh}}}
barostat: {{method: monte-carlo, pressure: {pressure} bar, every: {move} steps}}
protocol:
  - minimize: {{steps: 100}}
  - equilibrate: {{time: {rest:.0f} ps, ensemble: {ensemble}}}
  - produce: {{time: {time:.0f} ps, ensemble: {ensemble}, sample-every: 0.6 ps}}
repeats: {replicas}
"""

all_good = True


def verdict(what, value, expected, error):
    """A line of the report; good: within three errors."""
    global all_good
    good = abs(value - expected) < 3 * error
    print(f"{'ok  ' if good else 'FAIL'} {what}: {value:.6g}, expected {expected:.6g} +- {error:.2g}", flush=True)
    all_good &= good


# ---- statistics

def fit(values, begin=(0.0, 0.0)):
    """(a, b) of ln(p1 / p0) = a + b x by maximum likelihood (Shirts 2013, doi 10.1021/ct300688p); values: those of each state."""
    a, b = begin
    for _ in range(50):  # Newton
        g0 = g1 = h0 = h1 = h2 = 0.0
        for k, of_state in enumerate(values):
            for x in of_state:
                p = (1 + math.tanh((a + b * x) / 2)) / 2
                w = p * (1 - p)
                g0, g1 = g0 + k - p, g1 + (k - p) * x
                h0, h1, h2 = h0 + w, h1 + w * x, h2 + w * x * x
        det = h0 * h2 - h1 * h1
        if det <= 0:
            sys.exit("the two states have nothing in common: nothing can be said of their ratio; expected more --time")
        da, db = (h2 * g0 - h1 * g1) / det, (h0 * g1 - h1 * g0) / det
        a, b = a + da, b + db
        if abs(db) < 1e-6 * abs(b):
            break
    return a, b


def without(values, k):
    n = len(values)
    return values[:k * n // BLOCKS] + values[(k + 1) * n // BLOCKS:]


def slope(values):
    """The slope b, and its error by leaving out one block of BLOCKS after the other. values: of each state, replica by replica."""
    every = [x for of_state in values for x in of_state]
    center = sum(every) / len(every)
    width = math.sqrt(sum((x - center) ** 2 for x in every) / len(every))
    scaled = [[(x - center) / width for x in of_state] for of_state in values]
    whole = fit(scaled)
    parts = [fit([without(of_state, k) for of_state in scaled], whole)[1] for k in range(BLOCKS)]
    mean = sum(parts) / BLOCKS
    return whole[1] / width, math.sqrt(sum((b - mean) ** 2 for b in parts) * (BLOCKS - 1) / BLOCKS) / width


def hold_slope(what, values, expected):
    found, error = slope(values)
    verdict(what, found / expected, 1, error / abs(expected))


def hold_kinetic(values, temperature, freedom):
    """Their mean, and chi-square over bins of equal probability of the gamma distribution, whose quantiles are by Wilson and
    Hilferty's cube root."""
    shape, count = freedom / 2, [0] * BINS
    unit, n = shape * R * temperature, len(values)
    for x in values:
        z = ((x / unit) ** (1 / 3) - (1 - 1 / (9 * shape))) * math.sqrt(9 * shape)
        count[min(int(BINS * 0.5 * math.erfc(-z / math.sqrt(2))), BINS - 1)] += 1
    verdict(f"mean kinetic energy at {temperature} K, of theory", sum(values) / n / unit, 1, CORRELATED * math.sqrt(2 / freedom / n))
    chi2 = sum((c - n / BINS) ** 2 / (n / BINS) for c in count)
    verdict(f"chi-square of kinetic energies at {temperature} K, {BINS} bins", chi2, BINS - 1, math.sqrt(2 * (BINS - 1)))


def mean_of_blocks(values):
    """And its error."""
    n = len(values)
    blocks = [values[k * n // BLOCKS:(k + 1) * n // BLOCKS] for k in range(BLOCKS)]
    means = [sum(b) / len(b) for b in blocks]
    mean = sum(means) / BLOCKS
    return mean, math.sqrt(sum((m - mean) ** 2 for m in means) / BLOCKS / (BLOCKS - 1))


def hold_density(volumes):
    mean, error = mean_of_blocks([WATERS * GRAM / 0.602214076 / v for v in volumes])
    verdict("density of SPC/E at 298.15 K and 1 bar, kg/m^3", mean, DENSITY, math.hypot(error, DENSITY_OFF / 3))


# ---- runs

def write(folder, o, temperature, pressure):
    """The inputs of one state."""
    inputs = os.path.join(folder, "input")
    os.makedirs(inputs)
    molecules, edge = make_box.only_water(WATERS, random.Random(2026))
    make_box.write(os.path.join(inputs, "water.gro"), "water", molecules, edge)
    with open(os.path.join(HERE, "../../examples/water/spce.top"), encoding="utf-8") as f:
        topology = re.sub(r"(?m)^SOL \d+$", f"SOL {WATERS}", f.read())
    time = 1000 * o.time
    spec = SPEC.format(name=o.ensemble, ensemble=o.ensemble, temperature=temperature, pressure=pressure, timestep=o.timestep, time=time,
                       rest=min(100, max(10, time / 5)), replicas=2 * o.replicas, mesh=o.mesh_every, move=25 + 25 % o.mesh_every)
    for name, text in (("spce.top", topology), ("spec.yaml", spec)):
        with open(os.path.join(inputs, name), "w", encoding="utf-8") as f:
            f.write(text)


def run(o, folder):
    """Both states at once; of each the columns of its replicas' energies, {legend: values}, one after the other."""
    folders = [os.path.join(folder, str(k)) for k in range(2)]
    for path, state in zip(folders, STATES[o.ensemble]):
        write(path, o, *state)
    worker = Worker(o.worker, "--device", o.device)
    for number in range(2 * o.replicas):
        worker.send(type="start", set=number, ensemble="e", directory=folders[number % 2], windows=1, attempt=0,
                    replicas=[dict(number=number, window=0, repeat=0, key=number, folder=f"replica_{number}", steps=0)])
    ended, _ = worker.until_ended(2 * o.replicas)
    assert all(last["type"] == "done" for last in ended.values()), ended
    worker.drain()
    return [together([os.path.join(path, f"replica_{number}", "energy.xvg") for number in range(k, 2 * o.replicas, 2)])
            for k, path in enumerate(folders)]


def together(paths):
    columns = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        legends = re.findall(r'^@ s\d+ legend "(.*)"$', text, re.M)
        rows = [line.split()[1:] for line in text.splitlines() if line[0] not in "#@" and float(line.split()[0]) >= 0]
        for legend, values in zip(legends, zip(*rows)):
            columns.setdefault(legend, []).extend(map(float, values))
    return columns


def main():
    options = argparse.ArgumentParser()
    options.add_argument("ensemble", choices=STATES)
    options.add_argument("worker", type=os.path.abspath)
    options.add_argument("--device", default="cpu:2")
    options.add_argument("--time", type=float, default=0.5)
    options.add_argument("--replicas", type=int, default=2)
    options.add_argument("--timestep", type=float, default=2, metavar="FS")
    options.add_argument("--mesh-every", type=int, default=1, choices=(1, 2))
    o = options.parse_args()
    if 1000 * o.time / 0.6 * o.replicas < 2 * BLOCKS:
        options.error(f"--time {o.time}: expected so much that there are {2 * BLOCKS} samples, 0.6 ps apart")
    (t0, p0), (t1, p1) = STATES[o.ensemble]
    with tempfile.TemporaryDirectory() as folder:
        found = run(o, folder)
    for columns, (temperature, pressure) in zip(found, STATES[o.ensemble]):
        mean, error = (x / WATERS for x in mean_of_blocks(columns["Potential"]))
        print(f"potential energy of a water at {temperature} K, {pressure} bar: {mean:.4f} +- {error:.4f} kJ/mol")
    if o.ensemble == "nvt":
        for columns, temperature in zip(found, (t0, t1)):
            hold_kinetic(columns["Kinetic En."], temperature, FREEDOM)
        hold_slope("slope of ln p(U) ratio, of theory", [columns["Potential"] for columns in found], 1 / (R * t0) - 1 / (R * t1))
    else:
        hold_slope("slope of ln p(V) ratio, of theory", [columns["Volume"] for columns in found], -(p1 - p0) * NM3_BAR / (R * t0))
        hold_density(found[0]["Volume"])
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
