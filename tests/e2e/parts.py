# SPDX-License-Identifier: Apache-2.0
"""What tests of campaigns without a service share: a small campaign, and commands on its folders. Called with
SHOAL SHOALD SHOAL_WORKER EXAMPLES."""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

SHOAL, SHOALD, WORKER, EXAMPLES = (os.path.abspath(p) for p in sys.argv[1:5])

SPEC = """name: {leg}
system: {{topology: $(ligand_i)-to-$(ligand_j)/hybrid.top, coordinates: $(ligand_i)-to-$(ligand_j)/{leg}.gro{defines}}}
nonbonded:
  cutoff: 1.0 nm
  vdw: {{modifier: none, dispersion-correction: no}}
  coulomb: {{grid-spacing: 0.15 nm, tolerance: 1e-4}}
constraints: h-bonds
alchemy:
  perturb: b-states
  soft-core: {{alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: no}}
  windows: {{vdw: [0.5, 0.52, 0.54], bonded: [0.5, 0.52, 0.54]}}
integrator: {{method: langevin-middle, timestep: 2 fs, temperature: 298.15 K, friction: 1 /ps, seed: 11}}
{barostat}protocol:
  - minimize: {{steps: 5}}
  - equilibrate: {{time: 40 steps, ensemble: nvt}}
  - produce: {{time: {steps} steps, ensemble: {ensemble}, sample-every: 10 steps, frames-every: 100 steps}}
run: {{checkpoint-every: {every} steps}}
"""
BAROSTAT = "barostat: {method: monte-carlo, pressure: 1.01325 bar, every: 25 steps}\n"
LEGS = {"water": dict(defines="", barostat=BAROSTAT, steps=120, ensemble="npt", every=60),
        "vacuum": dict(defines=", defines: [VACUUM]", barostat="", steps=1500, ensemble="nvt", every=500)}
LEG = "  - {{name: {leg}, of: edges, spec: {leg}.yaml, sign: {sign}}}\n"
WATER, VACUUM = LEG.format(leg="water", sign=1), LEG.format(leg="vacuum", sign=-1)
CAMPAIGN = """name: parts
inputs: {examples}
systems: {{list: [{{name: methane}}, {{name: methanol}}, {{name: ethane}}]}}
edges: {{list: [{edges}]}}
legs:
{legs}"""
FIRST, BOTH = "[methane, methanol]", "[methane, methanol], [methane, ethane]"


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment = {**os.environ, "SHOALD": SHOALD, "SHOAL_WORKER": WORKER, "TMPDIR": self.folder, "GMXLIB": ""}
        self.environment.pop("XDG_RUNTIME_DIR", None)
        for leg, parts in LEGS.items():
            self.write(f"{leg}.yaml", SPEC.format(leg=leg, **parts))
        self.file = self.write("campaign.yaml", CAMPAIGN.format(examples=EXAMPLES, edges=FIRST, legs=WATER + VACUUM))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def at(self, name):
        return os.path.join(self.folder, name)

    def begin(self, folder, *options):
        device = [] if "--device" in options else ["--device", "cpu:1"]
        command = [SHOAL, "campaign", "run", self.file, "--here", self.at(folder), *device, *options]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def run_part(self, folder, *options, code):
        with self.begin(folder, *options) as run:
            out, said = run.communicate(timeout=240)
        self.assertEqual(run.returncode, code, f"{out}\n{said}")
        return out, said

    def shoal(self, *words, code=0):
        done = subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=False,
                              timeout=120)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def gather(self, *words, code=0):
        return json.loads(self.shoal("campaign", "gather", self.file, *words, "--json", code=code).stdout)

    def log(self, folder):
        with open(self.at(f"{folder}/log"), encoding="utf-8") as f:
            return f.read()

    def service_of(self, run):
        """The process of the service that a command has started."""
        with open(f"/proc/{run.pid}/task/{run.pid}/children", encoding="ascii") as f:
            found = [int(pid) for pid in f.read().split()]
        for pid in found:
            with open(f"/proc/{pid}/comm", encoding="ascii") as f:
                if f.read().strip() == "shoald":
                    return pid
        return None

    def wait_for(self, run, what=lambda: True, seconds=60):
        """Until the command has a service, and more where that is said."""
        deadline = time.monotonic() + seconds
        while not (self.service_of(run) and what()):
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(run.poll(), "".join(run.communicate()) if run.poll() is not None else "")
            time.sleep(0.02)

    def steps(self, folder):
        """Steps that checkpoints hold, of all replicas."""
        listed = json.loads(self.shoal("list", "--here", self.at(folder), "--json").stdout)["ensembles"]
        if not listed:
            return 0
        shown = json.loads(self.shoal("status", *[e["id"] for e in listed], "--here", self.at(folder), "--json").stdout)
        return sum(r["step"] for e in shown["ensembles"] for r in e["replicas"])

    def outputs(self, folder):
        """{key/file: bytes} of all that is fetched, results without what is the ensemble's own."""
        found = {}
        for e in json.loads(self.shoal("list", "--here", self.at(folder), "--json").stdout)["ensembles"]:
            fetched = self.at(f"{folder}-{e['key']}")
            self.shoal("results", e["key"], "--here", self.at(folder), "--output", fetched)
            for at, _, names in os.walk(fetched):
                for name in names:
                    path = os.path.join(at, name)
                    with open(path, "rb") as f:
                        found[f"{e['key']}/{os.path.relpath(path, fetched)}"] = f.read()
            results = json.loads(found.pop(f"{e['key']}/results.json"))
            del results["ensemble"]["id"], results["ensemble"]["speed"], results["ensemble"]["running"], found[f"{e['key']}/.shoal-ensemble"]
            found[f"{e['key']}/results"] = results
        return found
