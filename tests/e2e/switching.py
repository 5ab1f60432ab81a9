#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ensembles that switch, from submission to results: a bond whose free energy is an integral; works as bytes, whatever is killed on the way,
also within switches; the same number from the files; an early end; switches that become longer; what is refused.

Usage: switching.py SHOAL SHOALD SHOAL_WORKER
"""
import contextlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from service import Service

SHOAL, SHOALD, WORKER = (os.path.abspath(p) for p in sys.argv[1:4])
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
RT = 0.00831446261815324 * 298.15
LENGTH, FORCE, WALKERS = (0.3, 0.4), (2000, 8000), 6
FILES = {
    "a.top": "[ defaults ]\n1 2\n[ atomtypes ]\nX 20 0 A 0.3 0\n[ moleculetype ]\nPAIR 1\n[ atoms ]\n1 X 1 PAIR A 1 0 20 X 0 20\n"
             f"2 X 1 PAIR B 1 0 20 X 0 20\n[ bonds ]\n1 2 1 {LENGTH[0]} {FORCE[0]} {LENGTH[1]} {FORCE[1]}\n[ system ]\npair\n"
             "[ molecules ]\nPAIR 1\n",
    "a.gro": "pair\n2\n    1PAIR    A    1   1.000   1.000   1.000\n    1PAIR    B    2   1.300   1.000   1.000\n 2.2 2.2 2.2\n",
}
SPEC = """name: bond
system: {topology: a.top, coordinates: a.gro}
nonbonded: {cutoff: 1.0 nm, coulomb: {method: reaction-field}}
constraints: none
alchemy: {perturb: b-states, windows: {bonded: [0, 1]}}
integrator: {timestep: 2 fs, friction: 10 /ps, seed: 8, com-removal: no}
"""
BOND = SPEC + f"""switch: {{length: 0.4 ps, change-every: 4 steps, snapshots-every: 1 ps, walkers: {WALKERS}}}
repeats: 2
protocol: [{{equilibrate: {{time: 10 ps}}}}, {{produce: {{time: 120 ps, sample-every: 1 ps}}}}]
"""
# Most of its time is spent in switches, and checkpoints are made in them.
LONG = SPEC.replace("bond", "long", 1) + """switch: {length: 1.6 ns, change-every: 100 steps, snapshots-every: 10 ps, walkers: 1}
run: {checkpoint-every: 0.1 s}
protocol: [{equilibrate: {time: 10 ps}}, {produce: {time: 15 ps, sample-every: 1 ps}}]
"""
# So short at first that longer ones are much better.
LONGER = SPEC.replace("bond", "longer", 1) + f"""switch: {{length: 0.08 ps, longest: 0.64 ps, change-every: 4 steps, dhdl-every: 4 steps, snapshots-every: 1 ps, walkers: {WALKERS}}}
run: {{checkpoint-every: 0.1 s}}
protocol: [{{equilibrate: {{time: 10 ps}}}}, {{produce: {{time: 40 ps, sample-every: 1 ps}}}}]
"""
STOPS = BOND.replace("bond", "stops", 1).replace("120 ps", "20 ns").replace("repeats: 2\n", "").replace("[0, 1]", "[0, 0.5, 1]").replace(
    f"walkers: {WALKERS}", f"walkers: {WALKERS}, shares: [1, 3]") + \
    "stop-when: {error: 0.2 kJ/mol, after: 10 ps}\nrun: {checkpoint-every: 0.1 s}\n"


def expected():
    """kJ/mol, of two atoms at the distance r: -RT ln of the ratio of the integrals of r^2 exp(-U/RT)."""
    def integral(length, force):
        return sum(1e-5 * r * r * math.exp(-0.5 * force * (r - length)**2 / RT) for r in (1e-5 * i for i in range(1, 100000)))

    return -RT * math.log(integral(LENGTH[1], FORCE[1]) / integral(LENGTH[0], FORCE[0]))


def write(folder, **specs):
    for name, text in {**FILES, **{f"{name}.yaml": text for name, text in specs.items()}}.items():
        with open(f"{folder}/{name}", "w", encoding="utf-8") as f:
            f.write(text)


def submit(s, folder, name, key=None):
    return s.shoal(SHOAL, "submit", f"{folder}/{name}.yaml", "--key", key or name).split()[0]


def works(s, ident, replicas):
    """{file: bytes} of the works of all replicas, with the other files of the first."""
    names = [f"lambda_{k:02d}/work.tsv" for k in range(replicas)] + [f"lambda_00/{name}" for name in ("dhdl.xvg", "energy.xvg", "confout.gro")]
    found = {name: s.raw("GET", f"/v1/ensembles/{ident}/files/{name}") for name in names}
    assert {status for status, _ in found.values()} == {200}, found
    return {name: data for name, (_, data) in found.items()}


def offline(*words):
    run = subprocess.run([SHOAL, "estimate", *words, "--json"], capture_output=True, text=True, check=False,
                         env={**os.environ, "SHOAL_WORKER": WORKER})
    assert run.returncode == 0, (words, run.stderr)
    return json.loads(run.stdout)


def a_known_number(s, folder):
    ident = submit(s, folder, "bond")
    ensemble = s.wait_done(ident)
    assert ensemble["windows"] == 2 * WALKERS and ensemble["walkers"] == WALKERS, ensemble
    names = [(r["repeat"], r["end"], r["walker"]) for r in ensemble["replicas"]]
    assert names == [(repeat, end, k) for repeat in range(2) for end in "AB" for k in range(WALKERS)], names
    s.shoal(SHOAL, "results", ident, "--output", f"{folder}/out")
    with open(f"{folder}/out/results.json", encoding="utf-8") as f:
        results = json.load(f)
    total, exact = results["estimators"][0]["total"]["kJ/mol"], expected()
    assert abs(total["value"] - exact) < 4 * total["error"] < 0.4, (total, exact)
    assert results["verdict"]["verdict"] == "converged" and results["status"] == "ok", results["verdict"]
    switching = results["switching"]
    assert switching["forward"]["works"] == switching["backward"]["works"] == 2 * WALKERS * 120, switching
    assert 0.3 < switching["forward"]["dissipated"]["kT"]["value"] < 3, "they are no switches in no time, nor slow ones"
    assert abs(switching["slope"]["value"] - 1) < 4 * switching["slope"]["error"], switching["slope"]
    print(f"bond: {total['value']:.3f} +- {total['error']:.3f} kJ/mol, expected {exact:.3f}")
    same_as_schema(results)
    of_files(results, folder)
    assert re.search(r"^ +B 5 +1 +done ", s.shoal(SHOAL, "status", ident), re.M)
    for words in ("24 walkers: by their spread", switching["advice"]["text"]):
        assert words in s.shoal(SHOAL, "results", ident), words
    s.shoal(SHOAL, "report", ident, "--output", f"{folder}/report.html")
    with open(f"{folder}/report.html", encoding="utf-8") as f:
        page = f.read()
    assert "Works of switches" in page and page.count(switching["advice"]["text"]) == 2, "beside the verdict and among the numbers"
    # 24 replicas of 65000 timesteps and 120 switches of 200
    assert f"{24 * (65000 + 120 * 200)}" in s.shoal(SHOAL, "usage"), s.shoal(SHOAL, "usage")


def schema_of_switching():
    with open(f"{ROOT}/schemas/results.schema.json", encoding="utf-8") as f:
        return list(json.load(f)["properties"]["switching"]["properties"])


def same_as_schema(results):
    with open(f"{ROOT}/schemas/results.schema.json", encoding="utf-8") as f:
        schema = json.load(f)
    assert not set(schema["required"]) - set(results) and not set(results) - set(schema["properties"]), list(results)
    assert list(results["switching"]) == [key for key in schema_of_switching() if key not in ("earlier", "lengthened")], list(results["switching"])
    walker = schema["properties"]["switching"]["properties"]["walkers"]["items"]
    assert all(list(one) == walker["required"] for one in results["switching"]["walkers"])


def of_files(results, folder):
    """The number of the ensemble from its files."""
    tables = [f"{folder}/out/repeat_{repeat:02d}/lambda_{k:02d}/work.tsv" for repeat in range(2) for k in range(2 * WALKERS)]
    again = offline(*tables)
    assert again["estimators"] == results["estimators"], again["estimators"]
    pmx = offline("--forward", f"{folder}/out/integA.dat", "--backward", f"{folder}/out/integB.dat", "--temperature", "298.15")
    assert abs(pmx["estimate"]["magnitude"] - results["estimate"]["magnitude"]) < 1e-6, pmx["estimate"]


def killed_within_switches(s, folder):
    """Every byte as undisturbed: workers and the service are killed while switches are under way."""
    calm = submit(s, folder, "long", "calm")
    s.wait_done(calm)
    wanted = works(s, calm, 2)
    assert all(wanted[f"lambda_{k:02d}/work.tsv"].count(b"\n") == 3 + 1 for k in range(2)), wanted
    ident = submit(s, folder, "long", "killed")
    kills = kill_while_it_runs(s, ident, 8)
    found = works(s, ident, 2)
    for name, data in wanted.items():
        assert found[name] == data, f"{name} differs after {kills} kills"
    events = s.shoal(SHOAL, "events", ident)
    assert re.search(r" B 0  +produces  ", events), events
    assert kills > 1 and events.count("running") > 2, (kills, events)
    print(f"{len(wanted)} files as undisturbed after {kills} kills")


def along_switches(s, ident, folder, results):
    """dH/dlambda of each switch: its integral is the work, pmx's rule is off by one part in the number of rows, and shoal estimate has the number."""
    s.shoal(SHOAL, "results", ident, "--output", f"{folder}/along")
    for k in range(2 * WALKERS):
        at, sign = f"{folder}/along/lambda_{k:02d}", 1 if k < WALKERS else -1
        with open(f"{at}/work.tsv", encoding="utf-8") as f:
            table = [float(line.split()[2]) for line in f if line[0] != "#"]
        names = sorted(name for name in os.listdir(at) if name.startswith("switch_"))
        assert names == [f"switch_{n:05d}.xvg" for n in range(len(table))], names
        for name, work in zip(names, table):
            with open(f"{at}/{name}", encoding="utf-8") as f:
                rows = [float(line.split()[1]) for line in f if line[0] not in "#@&"]
            n = len(rows)
            even = sign * sum(0.5 * (a + b) / (n - 1) for a, b in zip(rows, rows[1:]))
            assert abs(even - work) < 2e-6 + 1e-8 * max(map(abs, rows)), (name, even, work)
            # pmx integrates over lambda steps of 1 / n, by Simpson's rule, which has another mean of rows that are not smooth
            pmx, rough = even * (n - 1) / n, sum(abs(a - 2 * b + c) for a, b, c in zip(rows, rows[1:], rows[2:])) / (2 * n)
            simpson = sign * sum((a + 4 * b + c) / (3 * n) for a, b, c in zip(rows[::2], rows[1::2], rows[2::2]))
            assert n % 2 and abs(simpson - pmx) <= rough + 1e-6, (name, simpson, pmx, rough)
    found = offline(*(word for way, walkers in (("--forward", "0[0-5]"), ("--backward", "0[6-9]"), ("--backward", "1?"))
                      for word in (way, f"{folder}/along/lambda_{walkers}/switch_000[1-3]?.xvg")))
    total, again = results["estimators"][0]["total"]["kJ/mol"], found["estimators"][0]["total"]["kJ/mol"]
    assert found["switching"]["forward"]["works"] == 30 * WALKERS and abs(total["value"] - again["value"]) < 1e-4, (total, again)


def kill_while_it_runs(s, ident, most):
    kills = 0
    while s.get(ident)["state"] != "done" and kills < most:
        time.sleep(0.3)
        kills += 1
        if kills % 2:
            for pid in s.workers():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        else:
            s.kill()
            s.start()
    s.wait_done(ident)
    return kills


def switches_that_become_longer(s, folder):
    """All walkers make ten switches and are then looked at; bytes are as undisturbed, and the number is that of the longer ones alone."""
    calm = submit(s, folder, "longer", "longer_calm")
    s.wait_done(calm)
    wanted = works(s, calm, 2 * WALKERS)
    text = wanted["lambda_00/work.tsv"].decode()
    lengths = re.findall(r"^# length/ps (\S+)$", text, re.M)
    assert text.count("forward") == 40 and len(lengths) == 2 and lengths[0] == "0.08", text
    assert text.split(f"# length/ps {lengths[1]}")[0].count("forward") == 10, text
    _, results = s.call("GET", f"/v1/ensembles/{calm}/results")
    switching, exact = results["switching"], expected()
    assert switching["lengthened"]["doublings"] > 0 and switching["lengthened"]["length"]["magnitude"] * 1e3 == float(lengths[1]), switching
    assert switching["earlier"]["forward"] == 10 * WALKERS and switching["forward"]["works"] == 30 * WALKERS, switching
    total, before = results["estimators"][0]["total"]["kJ/mol"], switching["earlier"]["free_energy"]["kJ/mol"]
    assert abs(total["value"] - exact) < 4 * total["error"] and total["error"] < before["error"], (total, before, exact)
    assert list(switching) == schema_of_switching(), list(switching)
    assert f"switches are {2**switching['lengthened']['doublings']} times as long from now on" in s.shoal(SHOAL, "events", calm)
    assert switching["lengthened"]["text"] in s.shoal(SHOAL, "results", calm)
    along_switches(s, calm, folder, results)
    ident = submit(s, folder, "longer", "longer_killed")
    kills = kill_while_it_runs(s, ident, 8)
    found = works(s, ident, 2 * WALKERS)
    for name, data in wanted.items():
        assert found[name] == data, f"{name} differs after {kills} kills"
    s.shoal(SHOAL, "results", ident, "--output", f"{folder}/killed")
    for k in range(2 * WALKERS):
        subprocess.run(["diff", "-r", "--exclude", "checkpoint*", f"{folder}/along/lambda_{k:02d}", f"{folder}/killed/lambda_{k:02d}"], check=True)
    s.shoal(SHOAL, "export", ident, "-o", f"{folder}/longer.shoal")
    s.shoal(SHOAL, "rm", ident, "--yes")
    s.shoal(SHOAL, "import-ensemble", f"{folder}/longer.shoal")
    s.shoal(SHOAL, "extend", ident, "--time", "2 ps")
    s.wait_done(ident)
    after = works(s, ident, 2)["lambda_00/work.tsv"]
    assert after.startswith(wanted["lambda_00/work.tsv"]) and after.count(b"forward") == 42 and after.count(b"# length") == 2, after
    assert s.get(ident)["allocate"] is None
    with open(f"{folder}/along/lambda_00/switch_00039.xvg", "rb") as f:
        rows = f.read().count(b"\n")
    assert s.raw("GET", f"/v1/ensembles/{ident}/files/lambda_00/switch_00041.xvg")[1].count(b"\n") == rows, "as long as before it left"
    print(f"switches of {lengths[1]} ps after those of 0.08: {total['value']:.3f} +- {total['error']:.3f} kJ/mol, expected {exact:.3f}; {kills} kills")


# At end A the second atom has no Lennard-Jones and is loosely bound, so that in some snapshots it is almost inside the first.
CLASH = {
    "clash.top": "[ defaults ]\n1 2\n[ atomtypes ]\nX 20 0 A 0.3 1\nD 20 0 A 0 0\n[ moleculetype ]\nPAIR 1\n[ atoms ]\n1 X 1 PAIR A 1 0 20\n"
                 "2 D 1 PAIR B 1 0 20 X 0 20\n[ bonds ]\n1 2 6 0.2 100 0.2 100\n[ system ]\npair\n[ molecules ]\nPAIR 1\n",
    "clash.yaml": SPEC.replace("bond", "clash", 1).replace("a.top", "clash.top").replace("windows: {bonded: [0, 1]}", "soft-core: {alpha: 0}, windows: {vdw: [0, 1]}") +
                  """switch: {length: 0.08 ps, change-every: 20 steps, snapshots-every: 5 ps, walkers: 3}
protocol: [{equilibrate: {time: 5 ps}}, {produce: {time: 250 ps, sample-every: 5 ps}}]
""",
}


def some_that_blow_up(s, folder):
    """They have no work, production goes on, and results say that what is left is another distribution."""
    for name, text in CLASH.items():
        with open(f"{folder}/{name}", "w", encoding="utf-8") as f:
            f.write(text)
    ident = submit(s, folder, "clash")
    s.wait_done(ident)
    tables = [data.decode() for name, data in works(s, ident, 6).items() if name.endswith("work.tsv")]
    lost = [text.count("\tnan\n") for text in tables]
    assert all(text.count("ward") == 50 for text in tables), tables
    assert 3 <= sum(lost[:3]) <= 75 and not any(lost[3:]), lost
    _, results = s.call("GET", f"/v1/ensembles/{ident}/results")
    forward = results["switching"]["forward"]
    assert (forward["works"], forward["nonfinite"]) == (150 - sum(lost), sum(lost)), forward
    assert results["switching"]["backward"]["nonfinite"] == 0, results["switching"]
    reasons = {reason["code"]: reason["text"] for reason in results["verdict"]["reasons"]}
    assert f"{sum(lost)} of 150 forward works are not finite and were left out" in reasons["nonfinite"], reasons
    assert results["verdict"]["verdict"] != "converged", results["verdict"]
    events = [line for line in s.shoal(SHOAL, "events", ident).splitlines() if "the switch is noted without a work" in line]
    assert len(events) == sum(lost) and all(re.search(r" A [0-2] .*lambda_0[0-2]/blowup", line) for line in events), events
    print(f"{sum(lost)} of 150 forward switches blew up")


def an_early_end(s, folder):
    ident = submit(s, folder, "stops")
    ensemble = s.wait_done(ident)
    assert ensemble["reason"].startswith("stopped early: the error is"), ensemble["reason"]
    status, results = s.call("GET", f"/v1/ensembles/{ident}/results")
    assert status == 200 and results["uncertainty"]["magnitude"] < 0.3 / 4.184, results["uncertainty"]
    total, exact = results["estimators"][0]["total"]["kJ/mol"], expected()
    assert abs(total["value"] - exact) < 5 * total["error"], (total, exact)
    assert any(one["text"].endswith("; time from each window to the next as 1 : 3") for one in results["methods"]), results["methods"]


def a_campaign(s, folder):
    """A leg whose spec has `switch`, with a budget that hands out more production."""
    with open(f"{folder}/campaign.yaml", "w", encoding="utf-8") as f:
        f.write("name: switched\nsystems: {list: [{name: pair}]}\nlegs: [{name: bond, spec: leg.yaml}]\nbudget: {time: 1.44 ns}\n")
    write(folder, leg=BOND.replace("120 ps", "60 ps").replace("repeats: 2\n", ""))
    s.shoal(SHOAL, "campaign", "run", f"{folder}/campaign.yaml")
    results = json.loads(s.shoal(SHOAL, "results", "switched.pair.bond.1", "--json"))
    assert results["switching"]["forward"]["works"] == WALKERS * 120, "half of the budget was handed out"
    total = results["estimators"][0]["total"]["kJ/mol"]
    assert abs(total["value"] - expected()) < 4 * total["error"], total
    assert "+1 bond" in s.shoal(SHOAL, "campaign", "gather", f"{folder}/campaign.yaml")


def elsewhere(s, folder):
    """It leaves as one file and comes back with its walkers and their works."""
    ident = s.get("bond")["id"]
    before = s.raw("GET", f"/v1/ensembles/{ident}/files/repeat_01/lambda_11/work.tsv")
    s.shoal(SHOAL, "export", ident, "-o", f"{folder}/bond.shoal")
    s.shoal(SHOAL, "rm", ident, "--yes")
    s.shoal(SHOAL, "import-ensemble", f"{folder}/bond.shoal")
    ensemble = s.get(ident)
    assert ensemble["walkers"] == WALKERS and ensemble["replicas"][-1]["end"] == "B", ensemble
    assert s.raw("GET", f"/v1/ensembles/{ident}/files/repeat_01/lambda_11/work.tsv") == before and before[0] == 200


def refusals(s, folder):
    for text, message in (("exchange: {every: 1 ps}\n", "exchange: walkers of a switch: section have no neighbours; expected one of both"),
                          ("allocate: adaptive\n", "allocate: adaptive: walkers of a switch: section are sampled alike; expected even")):
        write(folder, bad=BOND + text)
        run = subprocess.run([SHOAL, "validate", f"{folder}/bad.yaml"], capture_output=True, text=True, check=False,
                             env={**os.environ, "SHOAL_WORKER": WORKER})
        assert run.returncode == 65 and message in run.stderr, run
    run = subprocess.run([SHOAL, "extend", "bond", "--add-window", "bonded=0.5"], capture_output=True, text=True, check=False,
                         env={**os.environ, "SHOAL_SOCKET": s.socket})
    assert run.returncode != 0 and "no windows can be added: its walkers switch between the two ends" in run.stderr, run


def main():
    folder = tempfile.mkdtemp(prefix="shoal-switching-")
    write(folder, bond=BOND, long=LONG, stops=STOPS, longer=LONGER)
    s = Service(SHOALD, WORKER, f"{folder}/service", "cpu:4")
    s.command += ["--live-seconds", "1"]
    s.start()
    for part in (a_known_number, elsewhere, refusals, an_early_end, a_campaign, killed_within_switches, switches_that_become_longer, some_that_blow_up):
        part(s, folder)
    assert s.stop() == 0
    shutil.rmtree(folder)


main()
