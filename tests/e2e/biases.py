#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Biases along a coordination from submission to results: umbrella windows, whose free energies and profile are those of integrals
over the box, and so where they exchange replicas.

Usage: biases.py SHOAL SHOALD SHOAL_WORKER
Two atoms that feel nothing but the bias, so that what is to be found is an integral over their distance. A last run moves its bias
during equilibration, and is there when production begins.
"""
import json
import math
import os
import signal
import sys
import tempfile

from service import Service
from verdicts import beyond_chance

SHOAL, SHOALD, WORKER = (os.path.abspath(p) for p in sys.argv[1:4])
RT, EDGE = 0.00831446261815324 * 298.15, 2.2
R0, K, ENDS, LADDER = 0.5, 120.0, (0.1, 0.8), (0, 0.25, 0.5, 0.75, 1)
LONG = 5000  # ps: a window that holds the atoms together lets them go a few times
FILES = {
    "a.top": "[ defaults ]\n1 2\n[ atomtypes ]\nX 20 0 A 0.3 0\n[ moleculetype ]\nONE 0\n[ atoms ]\n1 X 1 ONE A 1 0 20\n"
             "[ moleculetype ]\nTWO 0\n[ atoms ]\n1 X 1 TWO B 1 0 20\n[ system ]\npair\n[ molecules ]\nONE 1\nTWO 1\n",
    "a.gro": f"pair\n2\n    1ONE     A    1   0.100   1.000   1.000\n    2TWO     B    2   2.000   1.000   1.000\n{EDGE} {EDGE} {EDGE}\n",
}
SPEC = f"""name: %s
system: {{topology: a.top, coordinates: a.gro}}
nonbonded: {{cutoff: 1.0 nm, coulomb: {{method: reaction-field}}}}
constraints: none
%s
biases:
- coordination: {{between: [A, B], r0: {R0} nm}}
  harmonic: {{at: {ENDS[0]}, force-constant: {K} kJ/mol, %s}}
integrator: {{timestep: 4 fs, friction: 5 /ps, seed: 8, com-removal: no}}
protocol:
- equilibrate: {{time: 20 ps, sample-every: 0.4 ps}}
- produce: {{time: %d ps, sample-every: 0.4 ps, frames-every: 4 ps}}
"""
OBSERVABLES = f"""observables:
- coordination: {{of: {{between: [A, B], r0: {R0} nm}}, max: 1, bin: 0.05, every: 0.4 ps}}
"""
FILES["windows.yaml"] = SPEC % ("windows", f"alchemy: {{perturb: b-states, windows: {{restraint: {list(LADDER)}}}}}",
                                f"b: {{at: {ENDS[1]}}}", LONG) + OBSERVABLES
FILES["repeated.yaml"] = FILES["windows.yaml"].replace("name: windows", "name: repeated\nrepeats: 2").replace(f"{LONG} ps", "1500 ps")
FILES["swapping.yaml"] = FILES["windows.yaml"].replace("name: windows", "name: swapping").replace(f"{LONG} ps", "3200 ps") + \
    "exchange: {every: 0.8 ps, scheme: gibbs}\n"
FILES["frames.yaml"] = "name: frames\nsystem: {topology: a.top, coordinates: a.gro}\n" + OBSERVABLES
FILES["moving.yaml"] = SPEC % ("moving", "", f"schedule: [{{time: -20 ps}}, {{time: -10 ps, at: {ENDS[1]}}}]", 20)


def switch(r):
    return 1 / (1 + (r / R0)**6)


def places(n=100):
    """Coordinations on a mesh of the box, by symmetry of an eighth of it."""
    at = [EDGE / 2 * (i + 0.5) / n for i in range(n)]
    squares = [x * x for x in at]
    return [switch(math.sqrt(a + b + c)) for a in squares for b in squares for c in squares]


def center(k):
    return ENDS[0] + LADDER[k] * (ENDS[1] - ENDS[0])


def integral(coordinations, at):
    return sum(math.exp(-0.5 * K * (q - at)**2 / RT) for q in coordinations) / len(coordinations)


def column(path, legend):
    """Times and values of one column of an .xvg file."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    at = 1 + next(int(line.split()[1][1:]) for line in lines if line.startswith("@ s") and f'"{legend}"' in line)
    rows = [line.split() for line in lines if line[0] not in "#@"]
    return [(float(row[0]), float(row[at])) for row in rows]


def check_windows(results, folder, coordinations):
    total = results["estimators"][0]["total"]["kJ/mol"]
    exact = -RT * math.log(integral(coordinations, center(len(LADDER) - 1)) / integral(coordinations, center(0)))
    assert abs(total["value"] - exact) < 4 * total["error"] < 1.5, (total, exact)
    for k, window in enumerate(results["windows"]):
        mean, weights = window["averages"]["Coordination 1"], [math.exp(-0.5 * K * (q - center(k))**2 / RT) for q in coordinations]
        expected = sum(w * q for w, q in zip(weights, coordinations)) / sum(weights)
        assert abs(mean["value"] - expected) < 4 * mean["error"] + 1e-3 and mean["error"] < 0.1, (k, mean, expected)
        rows = column(f"{folder}/lambda_{k:02}/energy.xvg", "Coordination 1")
        for (_, q), (_, u) in zip(rows, column(f"{folder}/lambda_{k:02}/energy.xvg", "Bias")):
            assert abs(u - 0.5 * K * (q - center(k))**2) < 1e-6 * max(1, u), (k, q, u)
    print(f"windows: {total['value']:.3f} +- {total['error']:.3f} kJ/mol, expected {exact:.3f}")


def check_observed(results, folder):
    """While windows produce."""
    for k, one in enumerate(results["observables"]):
        rows = [q for t, q in column(f"{folder}/lambda_{k:02}/energy.xvg", "Coordination 1") if t >= 0]
        assert one["kind"] == "coordination" and one["window"] == k and abs(one["frames"] - len(rows)) <= 1, one
        mean = sum(rows) / len(rows)
        assert abs(one["value"]["mean"] - mean) < 2 / len(rows), (one, mean)
        deviation = math.sqrt(sum((q - mean)**2 for q in rows) / len(rows))
        assert abs(one["value"]["deviation"] - deviation) < 2 / len(rows) and one["value"]["error"] < 0.1, (one, deviation)
        counts = [n for _, n in column(f"{folder}/lambda_{k:02}/coordination.xvg", "frames")]
        assert sum(counts) == one["frames"] and len(counts) == 20, counts


def check_frames(observed, folder):
    """From the frames of one window, whose coordinates are rounded."""
    at = {f"{t:.1f}": q for t, q in column(f"{folder}/lambda_02/energy.xvg", "Coordination 1")}
    value, frames = observed["observables"][0]["value"], [at[f"{4 * i:.1f}"] for i in range(LONG // 4 + 1)]
    assert observed["observables"][0]["frames"] in (LONG // 4, LONG // 4 + 1) and abs(value["mean"] - sum(frames) / len(frames)) < 5e-3, (value, observed)


def wham(folder, edges, parts=10):
    """-RT ln p of each bin by the histograms of all windows, of bins so many times narrower (Kumar et al. 1992)."""
    width, n = (edges[1] - edges[0]) / parts, parts * (len(edges) - 1)
    at = [edges[0] + width * (i + 0.5) for i in range(n)]
    counts, total = [], [0] * n
    for k in range(len(LADDER)):
        rows = [q for t, q in column(f"{folder}/lambda_{k:02}/energy.xvg", "Coordination 1") if t >= 0]
        counts.append(len(rows))
        for q in rows:
            if edges[0] <= q < edges[-1]:
                total[int((q - edges[0]) / width)] += 1
    weight = [[math.exp(-0.5 * K * (q - center(k))**2 / RT) for q in at] for k in range(len(LADDER))]
    z = [1.0] * len(LADDER)
    for _ in range(2000):
        p = [total[i] / sum(counts[k] * weight[k][i] / z[k] for k in range(len(LADDER))) for i in range(n)]
        z = [sum(w * x for w, x in zip(weight[k], p)) for k in range(len(LADDER))]
    return [-RT * math.log(sum(p[parts * b:parts * (b + 1)])) for b in range(len(edges) - 1)]


def check_bins(bins, coordinations, most):
    """Against the integral, with errors of `most` at most. Free energies of bins, and which is the lowest."""
    edges = [b["from"] for b in bins] + [bins[-1]["to"]]
    share = [0] * len(bins)
    for q in coordinations:
        if edges[0] <= q < edges[-1]:
            share[min(len(bins) - 1, int((q - edges[0]) / (edges[1] - edges[0])))] += 1
    exact, found = [-RT * math.log(s) for s in share], [b["free_energy"]["kJ/mol"] for b in bins]
    lowest = min(range(len(bins)), key=lambda b: found[b]["value"])
    assert found[lowest]["value"] == 0 and max(f["value"] for f in found) > 5
    for b, f in enumerate(found):
        expected = exact[b] - exact[lowest]
        assert abs(f["value"] - expected) < 4.5 * f["error"] + 0.05 and f["error"] < most, (b, f, expected)
    return found, lowest


def check_profile(results, folder, coordinations):
    """Against the integral, and against WHAM on the same rows."""
    profile, = results["profiles"]
    bins = profile["bins"]
    assert not beyond_chance(results["verdict"]), results["verdict"]
    assert len(bins) == 25 and profile["verdict"] == results["verdict"]["verdict"], profile
    assert all(b["verdict"] == profile["verdict"] and b["repeats"] is None for b in bins)
    edges = [b["from"] for b in bins] + [bins[-1]["to"]]
    for k in range(len(LADDER)):
        rows = [q for t, q in column(f"{folder}/lambda_{k:02}/energy.xvg", "Coordination 1") if t >= 0]
        rows = rows[-results["windows"][k]["samples"]["used"]:]
        counts = [b["rows_of_windows"][k] for b in bins]
        expected = [sum(low <= q < high for q in rows) for low, high in zip(edges, edges[1:])]
        assert max(abs(a - b) for a, b in zip(counts, expected)) <= 1, (k, counts, expected)  # at an edge, of rounded numbers
    histograms, far = wham(folder, edges), 0
    found, lowest = check_bins(bins, coordinations, 1)
    for b, f in enumerate(found):
        far = max(far, abs(f["value"] - (histograms[b] - histograms[lowest])))
    assert far < 0.15, far
    print(f"profile: {len(bins)} bins, {far:.3f} kJ/mol from WHAM at most")


def check_repeated(results, coordinations):
    """One profile of two repeats: each bin their mean, its error from MBAR's and what they differ by, 1.84 being Student's t of two."""
    profile, = results["profiles"]
    check_bins(profile["bins"], coordinations, 2)
    apart, edge = 0, profile["bins"][0]["from"]  # apart: beyond their errors, in none of the bins of one run in four
    for b in profile["bins"]:
        assert abs(b["from"] - edge) < 1e-9 and sum(b["rows_of_windows"]) == b["rows"], b
        edge = b["to"]
        own = [r["kJ/mol"] for r in b["repeats"] if r]
        assert len(b["repeats"]) == 2 and own and (len(own) == 2 or b["verdict"] == "unconverged"), b
        values, within = [o["value"] for o in own], sum(o["error"]**2 for o in own) / len(own)
        spread = max(0, (values[0] - values[-1])**2 / 2 - within)
        whole = b["free_energy"]["kJ/mol"]
        assert abs(whole["value"] - sum(values) / len(own)) < 1e-6, b
        assert abs(whole["error"] - math.sqrt((within + 1.8373**2 * spread) / len(own))) <= 1e-3 * whole["error"], b
        apart += spread > 0
    assert len(profile["bins"]) >= 20, profile
    print(f"profile of two repeats: {len(profile['bins'])} bins, in {apart} of them errors from their spread too")


def check_moving(folder):
    rows = column(f"{folder}/lambda_00/energy.xvg", "Coordination 1")
    first, last = [q for t, q in rows if -19.9 < t < -18], [q for t, q in rows if t > -5]
    assert max(first) < 0.5 < sum(last) / len(last) < 1, (first, last)
    for (t, q), (_, u) in zip(rows, column(f"{folder}/lambda_00/energy.xvg", "Bias")):
        part = min(1, max(0, (t + 20) / 10))
        assert abs(u - 0.5 * K * (q - ENDS[0] - part * (ENDS[1] - ENDS[0]))**2) < 1e-5 * max(1, u), (t, q, u)


def main():
    coordinations = places()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        s = Service(SHOALD, WORKER, os.path.join(folder, "service"))
        s.start()
        try:
            for name in ("windows", "repeated", "swapping", "moving"):
                s.shoal(SHOAL, "submit", f"{name}.yaml", "--wait", "--output", name, cwd=folder)
            text, results = s.shoal(SHOAL, "results", "windows"), json.loads(s.shoal(SHOAL, "results", "windows", "--json"))
            repeated = json.loads(s.shoal(SHOAL, "results", "repeated", "--json"))
            check_repeated(repeated, coordinations)
            assert f"({repeated['verdict']['verdict']}), the mean of all repeats:" in s.shoal(SHOAL, "results", "repeated"), "no word of repeats"
            swapping = json.loads(s.shoal(SHOAL, "results", "swapping", "--json"))
        finally:
            s.process.send_signal(signal.SIGTERM)
            s.process.wait(60)
        check_windows(results, f"{folder}/windows", coordinations)
        check_profile(results, f"{folder}/windows", coordinations)
        observed = s.shoal(SHOAL, "observe", "frames.yaml", "--trajectory", "windows/lambda_02/traj.xtc", "--json", cwd=folder)
        check_observed(results, f"{folder}/windows")
        check_frames(json.loads(observed), f"{folder}/windows")
        check_windows(swapping, f"{folder}/swapping", coordinations)
        check_observed(swapping, f"{folder}/swapping")
        (walks,) = swapping["exchange"]
        assert all(walks["exchanges"] == 3999 and 0.1 < pair["exchanged"] / 3999 < 0.5 for pair in walks["pairs"]), walks
        said = f"profile along coordination 1, without the biases ({results['verdict']['verdict']})"
        assert said in text and "on average, standard deviation" in text, text
        check_moving(f"{folder}/moving")


main()
