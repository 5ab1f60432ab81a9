#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`shoal-worker estimate` and `shoal estimate` on files of a known ensemble: what they write, and what they refuse.

Usage: estimate.py SHOAL_WORKER WRITE_OSCILLATORS SHOAL
"""
import gzip
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

WORKER, OSCILLATORS, SHOAL = sys.argv[1:]

SPEC = """name: oscillators
system: {topology: a.top, coordinates: a.gro}
alchemy:
  decouple: OSC
  windows:
    coulomb: [0, 0.5, 1, 1, 1]
    vdw: [0, 0, 0, 0.5, 1]
integrator: {temperature: 298.15 K}
"""


# OSC is held to another molecule, in all windows, by a spring of so many kJ/mol/nm^2.
SPRING = 1000
TOPOLOGY = f"""[ defaults ]
1 2
[ atomtypes ]
X 12 0 A 0.3 0.4
[ moleculetype ]
HOST 0
[ atoms ]
1 X 1 HOS X 1 0.2
[ moleculetype ]
OSC 0
[ atoms ]
1 X 1 OSC X 1 -0.2
[ system ]
held
[ molecules ]
HOST 1
OSC 1
[ intermolecular_interactions ]
[ bonds ]
1 2 6 0.0 {SPRING} 0.0 {SPRING}
"""
COORDINATES = """held
2
    1HOS      X    1   1.000   1.000   1.000
    2OSC      X    2   1.400   1.000   1.000
   3.0 3.0 3.0
"""


def describe(**more):
    return {"spec": SPEC, "spec_name": "o.yaml", "replicas": [{"state": "done", "seed": k} for k in range(5)], **more}


def estimate(*arguments, description=None):
    text = description if isinstance(description, str) else json.dumps(description)
    return subprocess.run([WORKER, "estimate", *arguments], input=text, capture_output=True, text=True, check=False)


def check_ensemble(folder):
    """The same numbers as the engine gives to a caller of its own, and what the description says beside them."""
    with open(f"{folder}/results.json", encoding="ascii") as f:
        engine = json.load(f)
    ran = {"ns_per_day": 12.5, "running_seconds": 90, "devices": ["cpu one, build 1", "cpu two, build 1"]}
    about = {"id": "3f2a", "key": "mine", "name": "osc", "spec_hash": "00ff", "revision": 2, "labels": {"who": "me", "x": "1"}}
    run = estimate("--ensemble", folder, description=describe(**about, **ran))
    assert run.returncode == 0 and not run.stdout, (run.stdout, run.stderr)
    with open(f"{folder}/results.json", encoding="ascii") as f:
        text = f.read()
    results = json.loads(text)
    assert results["estimators"] == engine["estimators"]
    speed = {"magnitude": 12.5, "unit": "nanosecond_per_day"}
    assert results["ensemble"] == {**about, "speed": speed, "running": {"magnitude": 90, "unit": "second"}, "devices": ran["devices"]}, results["ensemble"]
    assert [w["seed"] for w in results["windows"]] == [0, 1, 2, 3, 4]
    run = estimate("--ensemble", folder, "--output", "-", description=describe(**about, **ran))
    assert run.returncode == 0 and run.stdout == text, run.stderr
    assert engine["ensemble"]["id"] is None and engine["windows"][0]["seed"] is None
    # The pressure is the barostat's where production has one.
    assert results["pressure"] is None and engine["pressure"] is None
    for stage, pressure in (("npt", {"magnitude": 2.5, "unit": "bar"}), ("nvt", None)):
        spec = SPEC + f"barostat: {{pressure: 2.5 bar}}\nprotocol: [{{equilibrate: {{time: 4 ps, ensemble: npt}}}}, {{produce: {{time: 4 ps, ensemble: {stage}}}}}]\n"
        run = estimate("--ensemble", folder, "--output", "-", description={**describe(), "spec": spec})
        assert run.returncode == 0 and json.loads(run.stdout)["pressure"] == pressure, run.stdout[:500] + run.stderr


METHODS = """nonbonded:
  cutoff: 0.9 nm
  vdw: {modifier: force-switch, switch-start: 0.8 nm, dispersion-correction: all, cutoff: 1.0 nm}
  coulomb: {grid-spacing: 0.11 nm, order: 5, tolerance: 1e-6, modifier: none}
constraints: h-bonds
barostat: {pressure: 2.5 bar, every: 20 steps, coupling: semi-isotropic}
protocol:
  - minimize: {steps: 70}
  - equilibrate: {time: 4 ps, ensemble: nvt, temperature: 250 K, timestep: 1 fs}
  - produce: {time: 4 ps, ensemble: npt, sample-every: 0.1 ps, frames-every: 1 ps}
"""


def check_methods(folder):
    """What was run, in sentences: every number of the spec and of its files in its place."""
    def methods(copy, spec, **more):
        run = estimate("--ensemble", copy, "--output", "-", description={**describe(**more), "spec": spec})
        assert run.returncode == 0, run.stderr
        results = json.loads(run.stdout)
        return results, {m["topic"]: m["text"] for m in results["methods"]}

    with tempfile.TemporaryDirectory() as copy:
        for k in range(5):
            shutil.copytree(f"{folder}/lambda_{k:02d}", f"{copy}/lambda_{k:02d}")
        _, said = methods(copy, "masses: {repartition: 3}\n" + SPEC.replace("integrator: {", "integrator: {mesh-every: 2, "))
        assert "; mesh part of electrostatics every 2 timesteps, as an impulse; " in said["Integrator"], said
        assert said["Masses"] == "hydrogen mass repartitioning by a factor of 3, rigid waters too"
        assert said["Force field"] == "topology a.top" and "System" not in said and said["Soft core"].startswith("Beutler, alpha 0.5, power 1"), said
        os.makedirs(f"{copy}/input/ff")
        head, tail = TOPOLOGY.split("[ intermolecular")[0].replace("-0.2", "-0.2 12").split("[ moleculetype ]\nHOST")
        for name, text in (("ff/types.itp", head), ("a.gro", COORDINATES),
                           ("a.top", '#include "ff/types.itp"\n[ moleculetype ]\nHOST' + tail)):
            with open(f"{copy}/input/{name}", "w", encoding="ascii") as f:
                f.write(text)
        spec = SPEC.replace("integrator: {", "integrator: {timestep: 4 fs, friction: 0.5 /ps, com-removal: no, ") + METHODS
        results, said = methods(copy, spec)
        assert results["change"] is None
        expected = {
            "Force field": "topology a.top, which includes ff/types.itp",
            "Start structure": "a.gro",
            "System": "2 atoms: 1 HOST, 1 OSC; periodic box of 3 x 3 x 3 nm at the start",
            "Lennard-Jones": "cut-off 1 nm, force switched to zero from 0.8 nm on; long-range correction of dispersion and repulsion, of energy "
                             "and pressure",
            "Electrostatics": "smooth particle-mesh Ewald (PME), interpolation order 5, grid spacing at most 0.11 nm, relative tolerance 1e-06 at "
                              "the direct-space cut-off of 0.9 nm, direct-space potential not shifted",
            "Constraints": "bonds to hydrogens",
            "Masses": "as in the topology",
            "Integrator": "Langevin dynamics (middle scheme), friction 0.5 /ps, timestep 4 fs",
            "Temperature": "298.15 K",
            "Pressure": "2.5 bar, Monte Carlo barostat, semi-isotropic, a volume move every 20 steps",
            "Change": "interactions of a molecule with its surroundings: OSC from all to none (its own pairs kept)",
            "Windows": "5; coulomb 0 0.5 1 1 1; vdw 0 0 0 0.5 1",
            "Soft core": said["Soft core"],
            "Equilibration": "steepest descent, at most 70 steps; 4 ps at constant volume, timestep 1 fs, 250 K",
            "Samples": "energies in all windows every 0.1 ps, coordinates every 1 ps"}
        assert said == expected, [(said.get(k), v) for k, v in expected.items() if said.get(k) != v]
        # B states: which way the ladder leads.
        for ladder, way in (("[0, 0.2, 0.5, 0.8, 1]", ("A", "B")), ("[1, 0.8, 0.5, 0.2, 0]", ("B", "A")), ("[0, 0.1, 0.2, 0.3, 0.4]", None)):
            states = re.sub(r"alchemy:.*?(?=integrator)", f"alchemy:\n  perturb: b-states\n  windows: {{coulomb: {ladder}, vdw: {ladder}}}\n", SPEC, flags=re.DOTALL)
            for components, expected in ((states, way), (states.replace("coulomb:", "restraint:").replace(f", vdw: {ladder}", ""), None)):
                change = methods(copy, components)[0]["change"]
                assert (change and (change["from"], change["to"])) == expected, (ladder, change)


def check_held(folder):
    """Restraints of the inputs give the term of the standard state, which is no part of the estimate, and no solvation."""
    with tempfile.TemporaryDirectory() as copy:
        for k in range(5):
            shutil.copytree(f"{folder}/lambda_{k:02d}", f"{copy}/lambda_{k:02d}")

        def write(name, text):
            with open(f"{copy}/input/{name}", "w", encoding="ascii") as f:
                f.write(text)

        def results(**more):
            run = estimate("--ensemble", copy, "--output", "-", description=describe(**more))
            assert run.returncode == 0, run.stderr
            return json.loads(run.stdout)

        free = results()
        assert free["standard_state"] is None and free["solvation"]
        os.mkdir(f"{copy}/input")
        write("a.top", TOPOLOGY)
        write("a.gro", COORDINATES)
        held = results()
        state = held["standard_state"]
        rt = 0.00831446261815324 * 298.15
        volume = (2 * math.pi * rt / SPRING) ** 1.5
        release = rt * math.log(volume / 1.66053906717)
        assert abs(state["release"]["kJ/mol"]["value"] - release) < 1e-6, state
        assert abs(state["release"]["kcal/mol"]["value"] - release / 4.184) < 1e-6, state
        assert abs(state["release"]["kT"]["value"] - release / rt) < 1e-6, state
        assert abs(state["volume"]["magnitude"] - volume) < 1e-9 and state["volume"]["unit"] == "nanometer ** 3"
        assert state["correction"] == state["release"] and state["release"]["kT"]["error"] == 0
        assert (state["molecules"], state["window"], state["terms"], state["other_end"]) == (["HOST", "OSC"], 4, 1, "held")
        assert held["solvation"] is None and held["estimators"] == free["estimators"] and not held["warnings"]
        backwards = SPEC.replace("[0, 0.5, 1, 1, 1]", "[1, 1, 1, 0.5, 0]").replace("[0, 0, 0, 0.5, 1]", "[1, 0.5, 0, 0, 0]")
        state = results(spec=backwards)["standard_state"]
        assert state["window"] == 0 and state["correction"]["kT"]["value"] == -state["release"]["kT"]["value"]
        write("a.top", TOPOLOGY.replace(f" 6 0.0 {SPRING} 0.0 {SPRING}", " 6 0.0 1e-6"))
        held = results(repeats=1)
        assert held["standard_state"] is None and "have no standard state: the restraint on atoms 1 and 2 is too weak" in held["warnings"][0]


def check_finite_size(folder):
    """What a net charge lacks is said where the spec asks for it."""
    with tempfile.TemporaryDirectory() as copy:
        for k in range(5):
            shutil.copytree(f"{folder}/lambda_{k:02d}", f"{copy}/lambda_{k:02d}")
        os.mkdir(f"{copy}/input")
        for name, text in (("a.top", TOPOLOGY.split("[ intermolecular")[0].replace(" -0.2", " 0.8")), ("a.gro", COORDINATES)):
            with open(f"{copy}/input/{name}", "w", encoding="ascii") as f:
                f.write(text)

        def results(spec):
            run = estimate("--ensemble", copy, "--output", "-", description=describe(spec=spec))
            assert run.returncode == 0, run.stderr
            return json.loads(run.stdout)

        assert results(SPEC)["finite_size"] is None
        found = results(SPEC.replace("windows:", "finite-size: {dielectric: 80}\n  windows:"))["finite_size"]
        net = 0.5 * 2.837297 * 138.935458 / 3 * (0.2**2 - 1)
        assert found["charges"] == [1, 0.2] and found["edge"] == {"magnitude": 3, "unit": "nanometer"}, found
        assert abs(found["net"]["kJ/mol"]["value"] - net) < 1e-4 and abs(found["usv"]["kJ/mol"]["value"] + net * 79 / 80) < 1e-4
        assert abs(found["correction"]["kcal/mol"]["value"] - net / 80 / 4.184) < 1e-5
        assert [text[:3] for text in found["missing"]] == ["RIP", "EMP", "DSC"]


def checksum(data):
    """engine/base/checksum.c"""
    h, prime, mask = 0xcbf29ce484222325, 0x100000001b3, 2**64 - 1
    for word in struct.unpack(f"<{len(data) // 8}Q", data):
        h = (h ^ word) * prime & mask
        h ^= h >> 32
    return h ^ h >> 29


def write_checkpoint(folder, dhdl, energy, name="checkpoint"):
    """One that vouches for so many bytes."""
    words = struct.pack("<8s10Q", b"SHALCKP3", 0, 5, 0, 10, 1, 0, 0, dhdl, energy, 0)
    with open(f"{folder}/{name}", "wb") as f:
        f.write(words + struct.pack("<Q", checksum(words)))


def check_running(folder):
    """Of a replica that runs only what its newest good checkpoint vouches for counts."""
    def running(some):
        run = estimate("--ensemble", some, "--output", "-", description=describe(replicas=[{"state": "running"}] * 5))
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    with tempfile.TemporaryDirectory() as copy, tempfile.TemporaryDirectory() as cut:
        for k in range(5):
            shutil.copytree(f"{folder}/lambda_{k:02d}", f"{copy}/lambda_{k:02d}")
            os.mkdir(f"{cut}/lambda_{k:02d}")
            with open(f"{folder}/lambda_{k:02d}/dhdl.xvg", "rb") as f:
                text = f.read()
            half = text.index(b"\n", len(text) // 2) + 1
            with open(f"{cut}/lambda_{k:02d}/dhdl.xvg", "wb") as f:
                f.write(text[:half])
            for name in ("checkpoint", "checkpoint.previous"):
                write_checkpoint(f"{copy}/lambda_{k:02d}", half, 0, name)
            write_checkpoint(f"{cut}/lambda_{k:02d}", half, 0)
        with open(f"{copy}/lambda_02/checkpoint", "r+b") as f:  # damaged
            f.write(b"x")
        some, other = running(copy), running(cut)
        assert some["estimators"] == other["estimators"] and some["estimate"], some["verdict"]
        for rows in (0, 2):  # fewer than samples are made of
            with open(f"{copy}/lambda_04/dhdl.xvg", encoding="ascii") as f:
                vouched = header_and(f.read(), rows)
            for name in ("checkpoint", "checkpoint.previous"):
                write_checkpoint(f"{copy}/lambda_04", vouched, 0, name)
            last = running(copy)
            assert (last["windows"][4]["status"], last["windows"][4]["reason"]) == ("waits", None), last["windows"][4]
            assert last["reason"] == "windows 0, 1, 2, 3 still running; window 4, an end, has no samples", last["reason"]
        for name in ("checkpoint", "checkpoint.previous"):
            os.unlink(f"{copy}/lambda_01/{name}")
        assert [running(copy)["windows"][1][key] for key in ("status", "reason", "samples")] == ["waits", None, None]


def header_and(text, rows):
    """Bytes of a file up to the end of that row."""
    lines = text.splitlines(True)
    header = sum(line[0] in "#@" for line in lines)
    return len("".join(lines[:header + rows]))


def check_repeats(folder):
    """Two repeats in folders of their own, one of them still running: their mean, and each by itself."""
    with tempfile.TemporaryDirectory() as both:
        for r in range(2):
            os.mkdir(f"{both}/repeat_{r:02d}")
            for k in range(5):
                shutil.copytree(f"{folder}/lambda_{k:02d}", f"{both}/repeat_{r:02d}/lambda_{k:02d}")
        for k in range(5):
            into = f"{both}/repeat_01/lambda_{k:02d}"
            sizes = [os.path.getsize(f"{into}/{name}") if os.path.exists(f"{into}/{name}") else 0 for name in ("dhdl.xvg", "energy.xvg")]
            write_checkpoint(into, *sizes)
        replicas = [{"state": "done"}] * 5 + [{"state": "running"}] * 5
        run = estimate("--ensemble", both, "--output", "-", description=describe(repeats=2, replicas=replicas))
        assert run.returncode == 0, run.stderr
        results = json.loads(run.stdout)
        assert {w["seed"] for w in results["windows"]} == {1}, "the spec's own"
        with open(f"{folder}/results.json", encoding="ascii") as f:
            single = json.load(f)
        totals = [r["free_energy"]["kT"] for r in results["repeats"]]
        assert totals == [single["estimators"][0]["total"]["kT"]] * 2, totals
        error = totals[0]["error"] / 2 ** 0.5  # equal values: no spread
        assert abs(results["estimators"][0]["total"]["kT"]["error"] - error) < 1e-9
        assert [(w["repeat"], w["window"]) for w in results["windows"]] == [(r, k) for r in range(2) for k in range(5)]
        assert results["status"] == "partial" and "of repeat 1 still running" in results["reason"], results["reason"]
        os.remove(f"{both}/repeat_00/lambda_04/dhdl.xvg")
        shutil.rmtree(f"{both}/repeat_01/lambda_00")
        run = estimate("--ensemble", both, "--output", "-", description=describe(repeats=2, replicas=replicas))
        results = json.loads(run.stdout)
        assert run.returncode == 0 and results["estimate"] is None and results["verdict"]["verdict"] == "failed"


def check_refusals(folder):
    bad = [
        ("{", 65, "description:1:"),
        (describe(spec=SPEC.replace("vdw", "vdv")), 65, "o.yaml:7: alchemy.windows.vdv: unknown key"),
        (describe(replicas=[]), 65, "replicas: 0, expected 5 (1 repeat of 5 windows)"),
        (describe(replicas=[{"state": "gone"}] * 5), 65, "replicas[].state: expected done, partial, running or failed"),
        (describe(labels={"a": 1}), 65, "labels: expected an object of texts"),
        (describe(repeats=0), 65, "repeats: expected a whole number"),
    ]
    for description, code, message in bad:
        run = estimate("--ensemble", folder, description=description)
        assert run.returncode == code and message in run.stderr, (run.returncode, run.stderr)
        error = json.loads(run.stdout)["error"]
        assert error["code"] == "SPEC" and message in error["message"], error
    run = estimate("--ensemble", f"{folder}/nowhere", description=describe())
    assert json.loads(run.stdout)["error"]["code"] == "MISSING_FILE", run.stdout
    assert run.returncode == 66 and "nowhere: No such file or directory" in run.stderr, run.stderr
    if not {"ASAN_OPTIONS", "TSAN_OPTIONS"} & set(os.environ):  # with sanitizers there is no limit: own_limits.c
        run = estimate("--ensemble", folder, "--seconds", "60", "--mib", "5", description="x" * 9000000)
        assert run.returncode == 70 and json.loads(run.stdout)["error"]["code"] == "MEMORY", (run.returncode, run.stdout, run.stderr)
    assert estimate(description="").returncode == 2
    assert "DESCRIPTION is a JSON object" in estimate("--help").stdout
    # A result that cannot be written leaves the one that is there.
    with open(f"{folder}/results.json", "rb") as f:
        before = f.read()
    run = estimate("--ensemble", folder, "--output", f"{folder}/no/where.json", description=describe())
    assert run.returncode == 73, (run.returncode, run.stderr)
    with open(f"{folder}/results.json", "rb") as f:
        assert f.read() == before
    assert sorted(os.listdir(folder)) == [f"lambda_{k:02d}" for k in range(5)] + ["results.json"]


def offline(*arguments):
    env = dict(os.environ, SHOAL_WORKER=os.path.abspath(WORKER))
    return subprocess.run([SHOAL, "estimate", *arguments], capture_output=True, text=True, check=False, env=env)


def split(path, first, second):
    """One run in two parts, of which the second begins with the last row of the first, as mdrun -noappend leaves them."""
    with open(path, encoding="ascii") as f:
        lines = f.readlines()
    header = [line for line in lines if line[0] in "#@"]
    rows = lines[len(header):]
    with open(first, "w", encoding="ascii") as f:
        f.writelines(header + rows[:200])
    with gzip.open(second, "wt", encoding="ascii") as f:
        f.writelines(header + rows[199:])


def check_unread(folder):
    """A disk that fails to read a file: nothing is written, and the next try has all."""
    path, kept = f"{folder}/lambda_03/dhdl.xvg", f"{folder}/kept.xvg"
    os.remove(f"{folder}/results.json")
    os.rename(path, kept)
    os.symlink("/proc/self/mem", path)  # whose first bytes give EIO
    run = estimate("--ensemble", folder, description=describe())
    assert run.returncode == 75 and "lambda_03/dhdl.xvg: Input/output error" in run.stderr, (run.returncode, run.stderr)
    assert not os.path.exists(f"{folder}/results.json")
    os.rename(kept, path)
    run = estimate("--ensemble", folder, description=describe())
    assert run.returncode == 0, run.stderr
    with open(f"{folder}/results.json", encoding="ascii") as f:
        assert json.load(f)["status"] == "ok"


def check_empty(folder):
    """A file with nothing in it is a window that has not begun."""
    empty = f"{folder}/empty.xvg"
    with open(empty, "w", encoding="ascii"):
        pass
    files = [f"{folder}/lambda_{k:02d}/dhdl.xvg" for k in range(5) if k != 2]
    run = estimate(*files, empty)
    assert run.returncode == 0, run.stderr
    results = json.loads(run.stdout)
    assert results["windows"][2]["status"] == "failed" and f"{empty}: empty" in results["warnings"][0], results["warnings"]
    run = estimate(empty)
    assert run.returncode == 65 and "empty" in run.stderr, (run.returncode, run.stderr)


def check_offline(folder):
    """From the files alone, in any order, gzipped or in parts, the same numbers."""
    with open(f"{folder}/results.json", encoding="ascii") as f:
        ensemble = json.load(f)
    files = [f"{folder}/lambda_{k:02d}/dhdl.xvg" for k in range(5)]
    split(files[2], f"{folder}/part1.xvg", f"{folder}/part2.xvg.gz")
    with gzip.open(f"{folder}/part2.xvg.gz", "rt", encoding="ascii") as f:
        second = f.read()
    for name, told, instead in (("hot", "T = 298.15 (K)", "T = 310 (K)"), ("other", "0.5000, 0.0000)", "0.4000, 0.0000)")):
        assert told in second
        with open(f"{folder}/{name}.xvg", "w", encoding="ascii") as f:
            f.write(second.replace(told, instead))
    mixed = [files[4], f"{folder}/part2.xvg.gz", files[0], files[3], f"{folder}/part1.xvg", files[1]]
    for these in (files, mixed):
        run = offline("--json", *these)
        assert run.returncode == 0, run.stderr
        results = json.loads(run.stdout)
        for key in ("estimate", "uncertainty", "verdict", "estimators", "overlap", "convergence"):
            assert results[key] == ensemble[key], key
        assert results["windows"][2]["samples"] == ensemble["windows"][2]["samples"]
        assert results["solvation"] is None  # the files do not tell what is decoupled
    run = offline(*mixed)
    assert run.returncode == 0 and "MBAR " in run.stdout and " converged" in run.stdout, run.stdout + run.stderr
    run = offline(*files[:4])
    assert run.returncode == 1 and "window 4, an end, has no samples" in run.stdout, run.stdout + run.stderr
    run = offline("--json", *files[:4])
    assert run.returncode == 1 and json.loads(run.stdout)["estimate"] is None
    bad = [
        ([*files, files[1]], 65, "both of state 1 and of the same time"),
        ([f"{folder}/part1.xvg", f"{folder}/hot.xvg"], 65, "hot.xvg: not of the same ladder and temperature as"),
        ([f"{folder}/part1.xvg", f"{folder}/other.xvg"], 65, "other.xvg: not of the same ladder and temperature as"),
        ([files[0], f"{folder}/nothing.xvg"], 66, "nothing.xvg: No such file or directory"),
        ([f"{folder}/results.json"], 65, "results.json"),
    ]
    for these, code, message in bad:
        for option in ([], ["--json"]):
            run = offline(*option, *these)
            assert run.returncode == code and message in run.stderr, (run.returncode, run.stderr)
    assert offline().returncode == 2


def put_works(path, values, line="{work:.8f}\n"):
    with open(path, "w", encoding="ascii") as f:
        f.writelines(line.format(work=work, n=n) for n, work in enumerate(values))


def check_switches(folder):
    """Works of switches: patterns in natural order, pmx's sign, units, one way alone, and what is refused."""
    draw, kt = random.Random(5), 0.00831446261815324 * 298.15
    forward = [kt * draw.gauss(4, 2) for _ in range(300)]  # dG is 2 kT, sigma^2 / 2 is dissipated
    backward = [kt * draw.gauss(0, 2) for _ in range(300)]
    a, b, pmx = f"{folder}/works.dat", f"{folder}/back.dat", f"{folder}/integB.dat"
    put_works(a, forward)
    put_works(b, backward)
    put_works(pmx, [-work for work in backward], "dhdl{n}.xvg {work:.8f}\n")
    hot = ["--temperature", "298.15"]
    run = offline("--forward", a, "--backward", b, *hot, "--json")
    assert run.returncode == 0, run.stderr
    results = json.loads(run.stdout)
    total = results["estimators"][0]["total"]["kT"]
    assert abs(total["value"] - 2) < 4 * total["error"] < 1 and results["verdict"]["verdict"] == "converged", results["verdict"]
    assert results["estimator"] == "BAR" and results["windows"] == [], results
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    with open(f"{root}/schemas/results.schema.json", encoding="utf-8") as f:
        schema = json.load(f)
    there = [key for key in schema["properties"] if key in schema["required"] or key == "switching"]
    assert list(results) == there, "keys come in the order of the schema"
    keys = [key for key in schema["properties"]["switching"]["properties"] if key not in ("spread", "earlier", "lengthened", "walkers")]  # those are of walkers
    assert list(results["switching"]) == keys, list(results["switching"])
    assert results["switching"]["advice"]["text"] in offline("--forward", a, "--backward", b, *hot).stdout
    assert list(results["switching"]["forward"]) == list(schema["definitions"]["switches"]["properties"])
    for extra in (["--backward", pmx], ["--backward", f"{folder}/back*.dat", "--unit", "kJ/mol"]):
        other = json.loads(offline("--forward", a, *extra, *hot, "--json").stdout)
        assert other["estimators"] == results["estimators"] and other["switching"] == results["switching"]
    for n in (2, 10, 1):  # parts, in the order 1, 2, 10
        put_works(f"{folder}/part{n}.dat", forward[{1: slice(0, 100), 2: slice(100, 200), 10: slice(200, 300)}[n]])
    other = json.loads(offline("--forward", f"{folder}/part*.dat", "--backward", b, *hot, "--json").stdout)
    assert other["switching"] == results["switching"], "files are in natural order"
    run = offline("--forward", a, "--backward", b, *hot)
    assert run.returncode == 0 and "slope of Crooks' relation" in run.stdout and "window" not in run.stdout, run.stdout
    run = offline("--forward", a, *hot)
    assert run.returncode == 0 and "status partial: backward works: 0" in run.stdout and " converged" not in run.stdout, run.stdout
    bad = [
        (["--forward", a, "--backward", b], 2, "expected --temperature K"),
        (["--forward", a, b, *hot], 2, "put patterns in quotes"),
        (hot, 2, "expected --forward and --backward"),
        (["--forward", a, "--temperature", "warm"], 2, "--temperature warm: expected a temperature in K"),
        (["--forward", a, *hot, "--unit", "J"], 2, "--unit J: expected kJ/mol, kcal/mol or kT"),
        (["--forward", a, *hot, "--begin", "20 ps"], 2, "--begin is for dhdl.xvg files of windows"),
        ([f"{folder}/lambda_00/dhdl.xvg", "--begin", "soon"], 2, "--begin soon: expected a time"),
        (["--forward", f"{folder}/none*.dat", *hot], 66, "no file that this pattern matches"),
        (["--forward", a, "--backward", a, *hot], 65, "given as forward and as backward"),
        (["--forward", f"{folder}/lambda_00/dhdl.xvg"], 65, "names one state: lambda stays there"),
    ]
    for these, code, message in bad:
        run = offline(*these)
        assert run.returncode == code and message in run.stderr, (these, run.returncode, run.stderr)


def check_ladder(folder):
    """`shoal ladder` on what `shoal estimate` printed: windows that a spec takes, from end to end by way of the corner."""
    def ladder(*arguments, stdin=None):
        return subprocess.run([SHOAL, "ladder", *arguments], capture_output=True, text=True, check=False, input=stdin)

    with open(f"{folder}/results.json", encoding="ascii") as f:
        text = f.read()
    run = ladder("-", "--json", "--windows", "9", stdin=text)
    assert run.returncode == 0, run.stderr
    found, results = json.loads(run.stdout), json.loads(text)
    path = list(zip(found["windows"]["coulomb"], found["windows"]["vdw"]))
    assert len(path) == 9 and path[0] == (0, 0) and path[-1] == (1, 1) and (1, 0) in path, path
    assert path == sorted(path) and all(c == 1 or v == 0 for c, v in path), path
    assert [leg["name"] for leg in found["legs"]] == ["coulomb", "vdw"]
    assert sum(leg["intervals"] for leg in found["legs"]) == 8
    assert abs(found["length"] - results["thermodynamic_length"]["total"]) < 1e-6
    assert found["pilot"]["overlap"] == results["overlap"]["minimum"]
    lengths = [step["length"] for step in results["thermodynamic_length"]["steps"]]
    assert max(abs(share - length) for share, length in zip(found["pilot"]["shares"], lengths, strict=True)) < 1e-9, found["pilot"]
    run = ladder(f"{folder}/results.json", "--overlap", "0.2")
    assert run.returncode == 0, run.stderr
    shares = json.loads(re.search(r"^#   shares: (.*)$", run.stdout, re.M).group(1))
    assert shares == [float(f"{length:.3g}") for length in lengths], shares
    printed = [line for line in run.stdout.splitlines() if line[0] != "#"]
    windows = found["aim"]["windows"]
    assert printed[0] == "windows:" and f"# An overlap of 0.2 takes {len(json.loads(printed[1].split(': ')[1]))} windows." in run.stdout, run.stdout
    assert windows <= len(json.loads(printed[1].split(": ")[1]))
    block = "\n".join("  " + line for line in printed)
    spec = SPEC[:SPEC.index("  windows")] + block + SPEC[SPEC.index("\nintegrator"):]
    run = estimate("--ensemble", folder, "--output", "-", description=describe(spec=spec, replicas=[]))
    assert f"replicas: 0, expected {len(printed[1].split(','))} " in run.stderr, run.stderr  # the spec itself is good
    single = json.dumps({**results, "thermodynamic_length": None})
    for arguments, stdin, code, message in (
            (["-"], single, 1, "no thermodynamic length"),
            (["-"], "nothing", 65, "expected results as"),
            (["-", "--windows", "2"], text, 65, "2 windows; expected 3 or more"),
            (["-", "--overlap", "0.3"], text, 2, "--overlap wants"),
            ([f"{folder}/none.json"], None, 66, "none.json")):
        run = ladder(*arguments, stdin=stdin)
        assert run.returncode == code and message in run.stderr, (run.returncode, run.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([OSCILLATORS, folder, "0.5"], check=True)
        check_ensemble(folder)
        check_repeats(folder)
        check_methods(folder)
        check_held(folder)
        check_finite_size(folder)
        check_running(folder)
        check_refusals(folder)
        check_unread(folder)
        check_empty(folder)
        check_offline(folder)
        check_ladder(folder)
        check_switches(folder)


main()
