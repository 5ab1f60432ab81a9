#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replicas that exchange windows, in a worker by itself. A torsion with two states and a barrier that no window but the last can
cross is sampled as its potential has it, which is known, while without exchange it stays where it began, and what is observed in a
window is what its frames show. The files of a set, its observables among them, are the same bytes alone, in company of others on fewer
slots than it has windows, and stopped and killed at random moments; umbrella windows' too. So they are where the windows of a set are
spread over several devices, and where a set goes on on fewer or on more devices than it was killed on.

Usage: exchange.py SHOAL_WORKER [--device D] [--over D+D] [--ps PS]
"""
import argparse
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import tempfile

from tiny import tiny
from worker import OUTPUTS, Worker

KT = 0.00831446261815324 * 298.15
TWOFOLD, ONEFOLD = 25.0, 0.8  # kJ/mol: barriers of 20 kT, and one state above the other
LADDER = (0, 0.15, 0.35, 0.6, 0.8, 1)
B_STATES = "perturb: b-states, soft-core: {alpha: 0}"
BIN = 0.02  # nm, of the distance of the chain's ends

# Four united atoms in a row, that feel nothing but bonds, angles and the torsion: it is distributed as exp(-V / kT).
CHAIN = """; SPDX-License-Identifier: Apache-2.0
[ defaults ]
1 2 no 1.0 1.0
[ atomtypes ]
C4 6 16.043 0 A 0.3 0
[ moleculetype ]
CHN 3
[ atoms ]
""" + "".join(f"{i} C4 1 CHN C{i} {i} 0.0 16.043\n" for i in range(1, 5)) + f"""[ bonds ]
1 2 1 0.153 40000
2 3 1 0.153 40000
3 4 1 0.153 40000
[ angles ]
1 2 3 1 112 500
2 3 4 1 112 500
[ dihedrals ]
1 2 3 4 9 180 {TWOFOLD} 2 180 0 2
1 2 3 4 9 0 {ONEFOLD} 1 0 {ONEFOLD} 1
[ system ]
a chain
[ molecules ]
CHN 1
"""
CHAIN_SPEC = """name: chain
system: {{topology: chain.top, coordinates: chain.gro}}
nonbonded: {{cutoff: 0.8 nm, vdw: {{modifier: none, dispersion-correction: no}}, coulomb: {{method: reaction-field}}}}
alchemy: {{{change}, windows: {{bonded: {ladder}}}}}
integrator: {{timestep: 4 fs, temperature: 298.15 K, friction: 5 /ps, seed: 4, com-removal: no}}
{exchange}
protocol:
  - produce: {{time: {ps} ps, ensemble: nvt, sample-every: 0.4 ps, frames-every: 0.4 ps}}
run: {{checkpoint-every: 1000000 steps}}
observables:
- rdf: {{between: [C1, C4], max: 0.5 nm, bin: {BIN} nm, every: 0.4 ps, within-molecules: yes}}
- coordination: {{of: {{between: [C1, C4], r0: 0.33 nm, nn: 12}}, max: 1, bin: 0.1, every: 0.4 ps, name: bent}}
""".replace("{BIN}", str(BIN))


def start(worker, number, directory, some, windows):
    """Some of the windows of a repeat, as one set; replicas are numbered from `number` on."""
    replicas = [dict(number=number + w, window=w, repeat=0, key=w, folder=f"lambda_{w:02d}", steps=0) for w in some]
    worker.send(type="start", set=number, ensemble="e", directory=directory, windows=windows, attempt=0, replicas=replicas)


def write(folder, name, spec, files):
    directory = os.path.join(folder, name)
    os.makedirs(os.path.join(directory, "input"))
    for file, text in {"spec.yaml": spec, **files}.items():
        with open(os.path.join(directory, "input", file), "w", encoding="utf-8") as f:
            f.write(text)
    return directory


# ---- the torsion

def place_chain():
    """The lower state, phi = 180, is where nothing begins: all atoms in a plane, the ends on one side."""
    angle = math.radians(112)
    x = [(-0.153 * math.cos(math.pi - angle), 0.153 * math.sin(angle)), (0, 0), (0.153, 0),
         (0.153 + 0.153 * math.cos(math.pi - angle), 0.153 * math.sin(angle))]
    rows = ["%5d%-5s%5s%5d%8.3f%8.3f%8.3f" % (1, "CHN", f"C{i}", i, 1 + a, 1 + b, 1) for i, (a, b) in enumerate(x, 1)]
    return "\n".join(["a chain", "4", *rows, "2.0 2.0 2.0", ""])


def frames(path):
    """Positions of up to nine atoms, which .xtc files hold as they are."""
    with open(path, "rb") as f:
        data = f.read()
    at, found = 0, []
    while at < len(data):
        magic, atoms = struct.unpack_from(">2i", data, at)
        assert magic == 1995 and atoms == 4
        found.append([struct.unpack_from(">3f", data, at + 56 + 12 * i) for i in range(atoms)])
        at += 56 + 12 * atoms
    return found


def trans(x):
    """Whether the ends are on different sides of the middle bond."""
    def minus(a, b):
        return [p - q for p, q in zip(a, b)]

    def cross(a, b):
        return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

    first, middle, last = minus(x[1], x[0]), minus(x[2], x[1]), minus(x[3], x[2])
    return sum(a * b for a, b in zip(cross(first, middle), cross(middle, last))) < 0


def integral(scale, some=lambda cosine: True, onefold=1):
    """Of exp(-V / kT) over the torsion, with its parts scaled."""
    angles = [2 * math.pi * (i + 0.5) / 20000 for i in range(20000)]
    return sum(math.exp(-(scale * TWOFOLD * (1 - math.cos(2 * a)) + onefold * ONEFOLD * (1 + math.cos(a))) / KT)
               for a in angles if some(math.cos(a))) / 20000


def run_chain(program, device, folder, name, exchange, ps, change=B_STATES, ladder=LADDER, chain=CHAIN):
    """The shares of frames that are trans, by window, and the results."""
    spec, windows = CHAIN_SPEC.format(change=change, ladder=list(ladder), exchange=exchange, ps=ps), len(ladder)
    directory = write(folder, name, spec, {"chain.top": chain, "chain.gro": place_chain()})
    worker = Worker(program, "--device", device)
    start(worker, 0, directory, range(windows), windows)
    ended, _ = worker.until_ended(windows)
    assert all(m["type"] == "done" for m in ended.values()), ended
    worker.drain()
    found = [[trans(x) for x in frames(f"{directory}/lambda_{w:02d}/traj.xtc")] for w in range(windows)]
    for w in range(windows):
        check_observed(f"{directory}/lambda_{w:02d}")
    description = {"spec": spec, "spec_name": "chain.yaml", "replicas": [{"state": "done"}] * windows}
    subprocess.run([program, "estimate", "--ensemble", directory], input=json.dumps(description), text=True, check=True)
    with open(f"{directory}/results.json", encoding="ascii") as f:
        results = json.load(f)
    check_walks(directory, windows, results["exchange"])
    return [sum(f) / len(f) for f in found], results


def table(path):
    with open(path, encoding="ascii") as f:
        return [[float(word) for word in line.split()] for line in f if line[0] not in "#@"]


def check_observed(folder):
    """Of a window: what its frames show, whose coordinates are rounded."""
    ends = [math.dist(x[0], x[3]) for x in frames(f"{folder}/traj.xtc")]
    pairs = [row[5] for row in table(f"{folder}/rdf.xvg")]
    assert sum(pairs) == len(ends), (sum(pairs), len(ends))
    for k in range(1, len(pairs)):
        near = sum(abs(d - k * BIN) < 1e-3 for d in ends)
        assert abs(sum(pairs[:k]) - sum(d < k * BIN for d in ends)) <= near, (folder, k, pairs)
    counts = [row[3] for row in table(f"{folder}/bent.xvg")]
    exact = [1 / (1 + (d / 0.33)**12) for d in ends]
    for k in range(1, len(counts)):
        near = sum(abs(q - 0.1 * k) < 0.015 for q in exact)
        assert abs(sum(counts[:k]) - sum(q < 0.1 * k for q in exact)) <= near, (folder, k, counts)


def check_walks(directory, windows, exchange):
    """walks.xvg is energy.xvg of all windows, seen from the replicas."""
    assert os.path.exists(f"{directory}/walks.xvg") == bool(exchange)
    if not exchange:
        return
    with open(f"{directory}/walks.xvg", encoding="ascii") as f:
        lines = [line.split() for line in f if line[0] not in "#@"]
    assert len(lines) == exchange[0]["exchanges"] + 1
    at = {line[0]: [int(w) for w in line[1:]] for line in lines}
    for window in range(windows):
        with open(f"{directory}/lambda_{window:02d}/energy.xvg", encoding="ascii") as f:
            rows = [line.split() for line in f if line[0] not in "#@"]
        assert all(at[row[0]][int(row[-2])] == window for row in rows if row[0] in at) and len(at) > 10


def sample_torsion(program, device, folder, ps):
    plain, results = run_chain(program, device, folder, "plain", "", ps)
    assert plain[0] == 0, f"a barrier of {2 * TWOFOLD / KT:.0f} kT was crossed"
    assert results["exchange"] == []
    expected = [integral(1 - l, lambda c: c < 0) / integral(1 - l) for l in LADDER]
    free_energy = -math.log(integral(0) / integral(1))
    for scheme in ("neighbours", "gibbs"):
        found, results = run_chain(program, device, folder, scheme, f"exchange: {{every: 0.4 ps, scheme: {scheme}}}", ps)
        print(f"{scheme}: trans {[round(f, 3) for f in found]}, expected {[round(x, 3) for x in expected]}", flush=True)
        for window, (share, exact) in enumerate(zip(found, expected)):
            # What is trans changes in the last windows, and by way of exchanges everywhere else within some ps.
            assert abs(share - exact) < 3 * math.sqrt(0.25 * 8 / ps), (scheme, window, share, exact)
        total = results["estimators"][0]["total"]["kT"]
        assert abs(total["value"] - free_energy) < 4 * total["error"] < 1, (total, free_energy)
        (walks,) = results["exchange"]
        assert walks["scheme"] == scheme and walks["exchanges"] == round(ps / 0.4) - 1, walks
        assert walks["round_trips"] > 3 and walks["round_trips"] == sum(r["round_trips"] for r in walks["replicas"]), walks
        assert all(r["windows"] == len(LADDER) for r in walks["replicas"]), walks
        assert all(abs(sum(row) - 1) < 1e-9 for row in walks["transitions"]) and 0 < walks["eigenvalue"] < 1, walks
        for pair in walks["pairs"]:
            share = walks["transitions"][pair["from"]][pair["to"]] * walks["exchanges"]
            assert abs(share - pair["exchanged"]) < 1e-3 and pair["exchanged"] > 0, walks
            if scheme == "neighbours":
                assert abs(pair["attempted"] - walks["exchanges"] / 2) <= 1 and 0.1 < pair["acceptance"] <= 1, pair
                least, most = (f(walks["transitions"][i][j] for i in range(6) for j in range(6) if abs(i - j) > 1) for f in (min, max))
                assert least == most == 0, walks


# ---- bits

BIASES = """biases:
- coordination: {between: [{resname: MET}, OW], r0: 0.45 nm, d-max: 0.7 nm}
  harmonic: {at: 4, force-constant: 3 kJ/mol, b: {at: 9}}
"""
OBSERVABLES = """observables:
- rdf: {between: [OW, OW], max: 0.5 nm, bin: 0.02 nm, every: 10 steps}
- saxs: {of: {resname: SOL}, max: 20 /nm, bin: 2 /nm, every: 40 steps}
- pressure: {every: 20 steps}
- dielectric: {every: 10 steps}
- coordination: {of: {between: [{resname: MET}, OW], r0: 0.45 nm, d-max: 0.7 nm}, max: 12, bin: 0.5, every: 10 steps, name: bent}
"""
OBSERVED = "rdf.xvg", "saxs.xvg", "pressure.xvg", "dielectric.xvg", "bent.xvg"


def in_water(folder, name, seed, windows, scheme):
    spec, files = tiny(name, seed=seed, steps=200, windows=windows, checkpoint="50 steps")
    if scheme == "gibbs":  # umbrella windows
        spec = re.sub("decouple: MET", "perturb: b-states", spec).replace("vdw", "restraint") + BIASES
    spec = re.sub(r"(?s)protocol:.*?run:", """protocol:
  - minimize: {steps: 20}
  - equilibrate: {time: 60 steps, ensemble: nvt, temperature: 200 K}
  - produce: {time: 200 steps, ensemble: npt, sample-every: 10 steps, frames-every: 50 steps}
exchange: {every: 20 steps, scheme: %s}
run:""" % scheme, spec) + OBSERVABLES
    return write(folder, name, spec, files)


def outputs(directory, windows):
    found = {}
    for w in range(windows):
        observed = [name for name in sorted(os.listdir(f"{directory}/lambda_{w:02d}")) if name in OBSERVED]
        for name in OUTPUTS + observed:
            with open(f"{directory}/lambda_{w:02d}/{name}", "rb") as f:
                found[f"{w}/{name}"] = f.read()
    return found


def exchanged(files, windows):
    """How many rows are of replicas that began elsewhere."""
    n = 0
    for w in range(windows):
        rows = [line.split() for line in files[f"{w}/energy.xvg"].decode().splitlines() if line[0] not in "#@"]
        n += sum(int(row[-2]) != w for row in rows)
    return n


def short_chain(folder, name, seed, windows, scheme):
    """For a device on which every step takes its time."""
    spec = CHAIN_SPEC.format(change=B_STATES, ladder=list(windows), exchange=f"exchange: {{every: 10 steps, scheme: {scheme}}}", ps="0.4")
    spec = spec.replace("every: 0.4 ps", "every: 10 steps").replace("1000000 steps", "10 steps").replace("seed: 4", f"seed: {seed}")
    return write(folder, name, spec, {"chain.top": CHAIN, "chain.gro": place_chain()})


def run_open(worker, ensembles, directories, left):
    """Starts what is not done of every set."""
    for i, (_, _, windows, _) in enumerate(ensembles):
        some = [w for w in range(len(windows)) if 10 * i + w in left]
        if some:
            start(worker, 10 * i, directories[i], some, len(windows))


def same_bits(program, device, over, folder, ensembles, make, least):
    """Alone on one device, then over several, and killed there it goes on on the one, and again on several."""
    expected, rng, times, kills = {}, random.Random(3), 0, 0
    for e in ensembles:
        directory, windows = make(os.path.join(folder, "alone"), *e), len(e[2])
        worker = Worker(program, "--device", device)
        start(worker, 0, directory, range(windows), windows)
        assert all(m["type"] == "done" for m in worker.until_ended(windows)[0].values())
        worker.drain()
        expected[e[0]] = outputs(directory, windows)
        assert "0/rdf.xvg" in expected[e[0]], directory
        assert exchanged(expected[e[0]], windows) >= least
    for way in ("company", "interrupted"):
        directories = [make(os.path.join(folder, way), *e) for e in ensembles]
        worker = Worker(program, "--device", over)
        left = {10 * i + w for i, (_, _, windows, _) in enumerate(ensembles) for w in range(len(windows))}
        while left:
            run_open(worker, ensembles, directories, left)
            if way == "company":
                ended, _ = worker.until_ended(len(left))
                assert all(m["type"] == "done" for m in ended.values()), ended
                break
            kill = times % 2 == 0
            left -= worker.interrupt(left, {number // 10 * 10 for number in left}, rng.randrange(1, 12), kill)
            times += bool(left)
            kills += kill
            worker = Worker(program, "--device", (over, device)[kills % 2]) if kill else worker
        worker.drain()
        for directory, (name, _, windows, _) in zip(directories, ensembles):
            found = outputs(directory, len(windows))
            for file, data in expected[name].items():
                assert found[file] == data, f"{way}: {name}: {file} differs; see {folder}"
    assert times > 1 and kills > 1, (times, kills)
    print(f"the same bytes alone, in company over {over}, and interrupted {times} times, {kills} of them killed", flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("worker", type=os.path.abspath)
    options.add_argument("--device", default="cpu:2")
    options.add_argument("--over", help="several devices of the same model, joined [cpu:1+cpu:1; of a GPU DEVICE itself]")
    options.add_argument("--ps", type=int, default=400, help="of the torsion; 0: short ways of it alone, for an emulated device")
    o = options.parse_args()
    o.over = o.over or ("cpu:1+cpu:1" if o.device.startswith("cpu") else o.device)
    folder = tempfile.mkdtemp(prefix="shoal-exchange-")
    if o.ps:
        pairs = [("a", 5, (0, 0.1, 0.2, 0.3), "neighbours"), ("b", 6, (0, 0.05, 0.1), "gibbs")]
        same_bits(o.worker, o.device, o.over, folder, pairs, in_water, 10)
    else:
        same_bits(o.worker, o.device, o.over, folder, [("a", 5, (0, 0.1, 0.2), "gibbs")], short_chain, 5)
    if o.ps:
        sample_torsion(o.worker, o.device, folder, o.ps)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
