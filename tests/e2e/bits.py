#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A replica's files depend on spec, seed and device model alone: the same bytes alone on the device, in company of replicas of other
systems, in that company without graphs, and in it while all are stopped, or their worker killed, at random moments and taken up again. One of the
systems has coordinates of its own for each window, and comes to production by stages with defines, timesteps, temperatures and a
pressure of their own; another computes the mesh in every second timestep.

Usage: bits.py SHOAL_WORKER [--device D] [--other D] [--digests FILE] [--replicas N] [--steps N] [--large]
--other: a second device of the same model, where the same company gives the same bytes.
--digests: the SHA-256 of every file, and on which device with which driver, go into FILE; where there is such a FILE, of another machine
with a device of the same model, they are held against it. The last line is a digest of all of them.
--replicas: at once, in company. --steps: of those with water. --large: of larger systems of tests/bench too: SOLVENT in ladders of
two lengths, whose meshes on a GPU are computed in two ways; two whose pairs go by regions there, and two in a dodecahedron, under pressure.
"""
import argparse
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

from tiny import coordinates, tiny
from worker import OUTPUTS, Worker

HERE = os.path.dirname(os.path.abspath(__file__))
PROTOCOL = """protocol:
  - minimize: {{steps: {minimize}}}
  - produce: {{time: {steps} steps, ensemble: {ensemble}, sample-every: {tenth} steps, frames-every: {fifth} steps}}
run: {{checkpoint-every: {fifth} steps}}
"""


STAGES = """protocol:
  - minimize: {{steps: 20, defines: [HOLD=1000]}}
  - equilibrate: {{time: {fifth} steps, ensemble: nvt, sample-every: {tenth} steps, defines: [HOLD=1000], timestep: 1 fs, temperature: 100 K}}
  - equilibrate: {{time: {fifth} steps, ensemble: npt, sample-every: {tenth} steps, defines: [HOLD=100], temperature: 200 K, pressure: 50 bar}}
  - equilibrate: {{time: {tenth} steps, ensemble: npt}}
  - produce: {{time: {steps} steps, ensemble: npt, sample-every: {tenth} steps, frames-every: {fifth} steps}}
run: {{checkpoint-every: {tenth} steps}}
"""
# at intervals that are none of anything else
OBSERVABLES = """observables:
  - rdf: {between: [OW, {name: HW*}], max: 0.55 nm, bin: 0.01 nm, within-molecules: no, every: 7 steps}
  - msd: {of: {resname: SOL}, by: molecule, max: 44 fs, every: 11 steps, remove-center: yes}
"""
OBSERVED = ["rdf.xvg", "msd.xvg"]
BIAS = """biases:
- coordination: {between: [{molecule: MET}, OW], r0: 0.4 nm}
  harmonic: {at: 9, force-constant: 10 kJ/mol, schedule: [{time: -100 fs, force-constant: 0 kJ/mol}, {time: -20 fs}]}
"""
HOLD = "#ifdef HOLD\n[ position_restraints ]\n1 1 HOLD HOLD HOLD\n#endif\n"


def read(path):
    with open(path, "rb") as f:
        return f.read()


def protocol(steps, ensemble, minimize=20):
    return PROTOCOL.format(minimize=minimize, steps=steps, tenth=steps // 10, fifth=steps // 5, ensemble=ensemble)


def write(directory, files):
    os.makedirs(os.path.join(directory, "input"))
    for name, text in files.items():
        with open(os.path.join(directory, "input", name), "w", encoding="utf-8") as f:
            f.write(text)


def of_bench(folder, name, system, steps, windows, seed, ensemble="nvt"):
    """One of the systems of tests/bench, with a short protocol and a ladder of its own."""
    spec, *texts = (read(os.path.join(folder, "systems", f"{system}.{end}")).decode() for end in ("yaml", "top", "gro"))
    spec = re.sub(r"protocol:\n(  - .*\n)+", protocol(steps, ensemble, 20 if system == "vacuum" else 100), spec)
    rungs = [round(2 * k / (windows - 1), 3) for k in range(windows)]  # charges first: they have no soft core
    spec = re.sub(r"coulomb: \[.*\]", f"coulomb: {[min(1, r) for r in rungs]}", spec)
    spec = re.sub(r"vdw: \[.*\]", f"vdw: {[round(max(0, r - 1), 3) for r in rungs]}", spec)
    spec = re.sub(r"seed: \d+", f"seed: {seed}", spec)
    write(os.path.join(folder, name), {"spec.yaml": spec, f"{system}.top": texts[0], f"{system}.gro": texts[1]})


def of_water(folder, name, steps, side, seed, more=""):
    """Methane in water under pressure: its box changes."""
    spec, files = tiny(name, seed=seed, side=side, windows=(0, 0.5, 1))
    spec = re.sub(r"(?s)protocol:.*", protocol(steps, "npt"), spec) + more
    write(os.path.join(folder, name), {"spec.yaml": spec, **files})


def of_cycles(folder, name, steps, side, seed):
    """Water whose mesh is computed in every second timestep."""
    spec, files = tiny(name, seed=seed, side=side, windows=(0, 0.5, 1))
    spec = re.sub(r"(?s)protocol:.*", protocol(steps, "npt"), spec)
    spec = spec.replace("friction: 1 /ps", "friction: 1 /ps, mesh-every: 2").replace("every: 25 steps", "every: 26 steps")
    assert "mesh-every: 2" in spec and "every: 26 steps" in spec, spec
    write(os.path.join(folder, name), {"spec.yaml": spec, **files})


def of_stages(folder, name, steps, side, seed):
    """Methane held in place while water warms up around it and a bias sets in, from coordinates of each window's own."""
    spec, files = tiny(name, seed=seed, side=side, windows=(0, 0.5, 1))
    spec = re.sub(r"(?s)protocol:.*", STAGES.format(steps=steps, tenth=steps // 10, fifth=steps // 5), spec) + BIAS + OBSERVABLES
    methane = "1 C4 1 MET C 1 0.0 16.043\n"
    spec = spec.replace("tiny.gro}", "tiny.gro, window-coordinates: [first.gro, other.gro, other.gro]}")
    files.update({"first.gro": coordinates(side, seed + 1), "other.gro": coordinates(side, seed + 2)})
    files["tiny.top"] = files["tiny.top"].replace(methane, methane + HOLD)
    write(os.path.join(folder, name), {"spec.yaml": spec, **files})


def hold_stages(text, steps):
    """The rows of energy.xvg come at the times of each stage's own timestep, methane is held in its first two, and the bias sets in."""
    legends = re.findall(r'@ s\d+ legend "(.*)"', text)
    rows = [[float(word) for word in line.split()] for line in text.splitlines() if line[0] not in "#@"]
    tenth, fifth, fs = steps // 10, steps // 5, 1e-3
    begin = -(fifth + 2 * fifth + 2 * tenth) * fs
    times = [begin + k * tenth * fs for k in (0, 1, 2, 4, 6)] + [2 * k * tenth * fs for k in range(11)]
    assert [f"{row[0]:.3f}" for row in rows] == [f"{t:.3f}".replace("-0.000", "0.000") for t in times], rows
    at = 1 + legends.index("Restraints")
    assert [row[at] > 0 for row in rows[1:]] == [True] * 4 + [False] * 11, [row[at] for row in rows]
    at = 1 + legends.index("Bias")
    assert [row[at] > 0 for row in rows] == [row[0] > -0.1 for row in rows], [(row[0], row[at]) for row in rows]


def hold_observed(expected, replicas, steps):
    """Files of as many frames as there are multiples of the interval in production, for those systems that observe."""
    frames = {"water": steps, "stages": steps}
    for number, files in expected.items():
        name = replicas.all[number][0]
        begin = 5 * steps // 10 if name == "stages" else 0
        for file, every in zip(OBSERVED, (7, 11)):
            assert (file in files) == (name in frames), f"{name}: {file}"
            if file in files:
                n = len(range(-(-begin // every) * every, begin + steps + 1, every))
                assert f"# {n} frames\n" in files[file].decode(), f"{name}: {file}: {files[file][:200]}"


def systems(folder, steps, large):
    """[(name, windows of its ladder, those that are run)]"""
    subprocess.run([sys.executable, os.path.join(HERE, "../bench/make_inputs.py"), os.path.join(folder, "systems"), "usual", "small"],
                   check=True, stdout=subprocess.DEVNULL)
    of_water(folder, "water", steps, 5, 11, OBSERVABLES)
    of_water(folder, "more-water", steps, 6, 12)
    of_stages(folder, "stages", steps, 5, 14)
    of_bench(folder, "vacuum", "vacuum", 4 * steps, 4, 13)
    of_cycles(folder, "cycles", steps, 5, 18)
    found = [("water", 3, (0, 1, 2)), ("more-water", 3, (1, 2)), ("stages", 3, (0, 2)), ("vacuum", 4, (0, 3)), ("cycles", 3, (1,))]
    for windows in (4, 24) if large else ():
        of_bench(folder, f"solvent-{windows}", "solvent", steps, windows, windows)
        found.append((f"solvent-{windows}", windows, (1, windows - 1)))
    for seed, system in enumerate(("regions", "dodecahedron", "regions-dodecahedron") if large else (), 15):
        of_bench(folder, system, system, steps, 3, seed, "npt")
        found.append((system, 3, (0, 2)))
    return found


class Replicas:
    """Those of all systems, as {number: (name, windows, window)}, in folders of their own."""

    def __init__(self, folder, found, least):
        self.folder, self.all = folder, {}
        rows = [(name, windows, window) for name, windows, some in found for window in some]
        while len(rows) < least:  # company, with noise of its own
            number = len(rows)
            of_water(folder, f"company-{number}", 1000, 5 + number % 2, number)
            rows.append((f"company-{number}", 3, number % 3))
        self.all = dict(enumerate(rows))

    def begin(self, way):
        """Copies of all inputs, in which nothing has run."""
        self.way = os.path.join(self.folder, way)
        for name in {name for name, _, _ in self.all.values()}:
            shutil.copytree(os.path.join(self.folder, name, "input"), os.path.join(self.way, name, "input"))

    def start(self, worker, number):
        name, windows, window = self.all[number]
        worker.start(number, os.path.join(self.way, name), window, windows)

    def files(self, number):
        name, _, window = self.all[number]
        folder = os.path.join(self.way, name, f"lambda_{window:02d}")
        return {file: read(os.path.join(folder, file)) for file in OUTPUTS + OBSERVED if os.path.exists(os.path.join(folder, file))}


def one_by_one(new_worker, replicas, numbers):
    replicas.begin("alone")
    for number in numbers:
        worker = new_worker()
        replicas.start(worker, number)
        ended, _ = worker.until_ended(1)
        assert ended[number]["type"] == "done", ended
        worker.drain()
    return {number: replicas.files(number) for number in numbers}


def in_company(worker, replicas, way):
    replicas.begin(way)
    for number in replicas.all:
        replicas.start(worker, number)
    ended, _ = worker.until_ended(len(replicas.all))
    assert all(last["type"] == "done" for last in ended.values()), ended
    worker.drain()


def interrupted(new_worker, replicas, rng):
    """Returns how often: by turns all are stopped and their worker is killed."""
    replicas.begin("interrupted")
    running, worker, times = set(replicas.all), new_worker(), 0
    while running:
        for number in rng.sample(sorted(running), len(running)):
            replicas.start(worker, number)
        kill = times % 2 == 1
        running -= worker.interrupt(running, running, rng.randrange(1, 2 + len(running)), kill)
        times += bool(running)
        worker = new_worker() if kill else worker
    worker.drain()
    return times


def hold(expected, replicas, how):
    for number, files in expected.items():
        found = replicas.files(number)
        assert sorted(found) == sorted(files), f"{how}: {replicas.all[number]}: {sorted(found)}"
        for file in files:
            assert found[file] == files[file], f"{how}: {replicas.all[number]}: {file} differs; see {replicas.folder}"
    print(f"{how}: every byte of {len(expected)} replicas as alone", flush=True)


def driver():
    """Of NVIDIA's GPUs, if there is one."""
    try:
        with open("/proc/driver/nvidia/version", encoding="ascii") as f:
            return re.search(r"\d+\.[\d.]+", f.read()).group()
    except FileNotFoundError:
        return "none"


def digests_of(expected, replicas):
    rows = ((replicas.all[number], file, data) for number, files in expected.items() for file, data in files.items())
    return {f"{name} {window} {file}": hashlib.sha256(data).hexdigest() for (name, _, window), file, data in sorted(rows)}


def hold_digests(path, found):
    """Against those in the file; into it, where there is none."""
    if not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as f:
            json.dump(found, f, indent=1)
        return
    with open(path, encoding="utf-8") as f:
        there = json.load(f)
    print(f"here {found['model']}, driver {found['driver']}; in {path} {there['model']}, driver {there['driver']}", flush=True)
    names = sorted(found["files"].keys() | there["files"].keys())
    off = [name for name in names if found["files"].get(name) != there["files"].get(name)]
    assert not off, f"{len(off)} of {len(names)} files differ from those of {path}: {', '.join(off)}"
    print(f"every byte of {len(names)} files as in {path}", flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("worker", type=os.path.abspath)
    options.add_argument("--device", default="cpu:2")
    options.add_argument("--other")
    options.add_argument("--digests", type=os.path.abspath)
    options.add_argument("--replicas", type=int, default=0)
    options.add_argument("--steps", type=int, default=200)
    options.add_argument("--large", action="store_true")
    options.add_argument("--seed", type=int, default=1, help="of the random moments")
    o = options.parse_args()
    folder = tempfile.mkdtemp(prefix="shoal-bits-")
    found = systems(folder, o.steps, o.large)
    wanted = range(sum(len(some) for _, _, some in found))
    replicas = Replicas(folder, found, o.replicas)

    def new_worker():
        return Worker(o.worker, "--device", o.device)

    worker = new_worker()
    model = worker.hello["model"]
    worker.drain()
    expected = one_by_one(new_worker, replicas, wanted)
    assert len({data for files in expected.values() for data in files.values()}) == sum(map(len, expected.values())), \
        "replicas do not differ"
    hold_observed(expected, replicas, o.steps)
    for number in (n for n in wanted if replicas.all[n][0] == "stages"):
        hold_stages(expected[number]["energy.xvg"].decode(), o.steps)
    in_company(new_worker(), replicas, "company")
    hold(expected, replicas, f"{len(replicas.all)} at once")
    in_company(Worker(o.worker, "--device", o.device + ":eager"), replicas, "eager")
    hold(expected, replicas, "without graphs")
    if o.other:
        in_company(Worker(o.worker, "--device", o.other), replicas, "other")
        hold(expected, replicas, f"on {o.other}")
    times = interrupted(new_worker, replicas, random.Random(o.seed))
    assert times > 1, "nothing was killed"
    hold(expected, replicas, f"interrupted {times} times")
    shutil.rmtree(folder)
    files = digests_of(expected, replicas)
    if o.digests:
        hold_digests(o.digests, {"model": model, "driver": driver(), "files": files})
    print(f"digest of {len(files)} files on {model}: {hashlib.sha256(json.dumps(files).encode()).hexdigest()}")


if __name__ == "__main__":
    main()
