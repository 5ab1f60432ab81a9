#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal campaign with a real service: the campaign of examples/ with very few steps, and one of tiny systems that is edited.

Usage: campaign.py SHOAL SHOALD SHOAL_WORKER EXAMPLES
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from served import SHOAL, Served
from tiny import tiny

EXAMPLES = os.path.abspath(sys.argv[4])

TINY = """name: study
systems: {table: molecules.csv}
edges: {list: [[a, b]]}
legs:
  - {name: solvent, spec: tiny.yaml, sign: -1, override: {run: {retries: 3}}}
  - {name: change, of: edges, spec: pair.yaml}
repeats: 2
spec:
  protocol: [{minimize: {steps: 5}}, {produce: {time: 40 steps, ensemble: nvt, sample-every: 20 steps}}]
"""


class Campaigns(Served):
    """What tests of campaigns share."""

    def shoal(self, *words, code=0):
        """(stdout, stderr)"""
        done = subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def campaign(self, action, path, *words, code=0):
        return self.shoal("campaign", action, path, *words, code=code)

    def json(self, action, path, *words, code=0):
        return json.loads(self.campaign(action, path, "--json", *words, code=code)[0])

    def write(self, folder, name, text):
        path = os.path.join(self.folder, folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def tiny_campaign(self, folder, text=TINY):
        """Systems a and b of their own files, and a pair that has those of one of them."""
        spec, files = tiny("tiny", seed=5, side=4)
        for name, content in files.items():
            for system in "ab":
                self.write(folder, f"{system}/{name}", content)
        spec = spec.replace("tiny.top", "$(system)/tiny.top").replace("tiny.gro", "$(system)/$(file)").replace("MET", "$(molecule)")
        self.write(folder, "tiny.yaml", spec)
        self.write(folder, "pair.yaml", spec.replace("$(system)", "$(ligand_j)").replace("$(file)", "$(ligand_i.file)")
                   .replace("$(molecule)", "$(ligand_j.molecule)"))
        self.write(folder, "molecules.csv", "name,experiment (kcal/mol),error (kcal/mol),molecule,file\na,1.0,0.1,MET,tiny.gro\nb,,,MET,tiny.gro\n")
        return self.write(folder, "campaign.yaml", text)


class Campaign(Campaigns):
    def test_life(self):
        path = self.tiny_campaign("life")
        plan = self.json("plan", path)
        keys = [e["key"] for e in plan["ensembles"]]
        self.assertEqual(keys, [f"study.{item}.{r}" for item in ("a.solvent", "b.solvent", "a_b.change") for r in (1, 2)])
        self.assertEqual((plan["count"], plan["replicas"], plan["errors"]), (6, 18, []))
        self.assertAlmostEqual(plan["ns"], 18 * 40 * 2e-6)
        self.assertEqual({e["state"] for e in plan["ensembles"]}, {"missing"})
        self.assertIn("seed: 6\n", plan["ensembles"][1]["spec"])
        self.assertIn("retries: 3\n", plan["ensembles"][0]["spec"])
        self.assertIn("coordinates: b/tiny.gro\n", plan["ensembles"][4]["spec"])
        self.assertEqual(plan["ensembles"][5]["labels"], {"campaign": "study", "edge": "a_b", "leg": "change", "repeat": "2"})
        # A service that dies in the middle has some of them: the next submit brings the others, and none twice.
        first = plan["ensembles"][2]
        self.shoal("submit", self.write("life", first["spec_name"], first["spec"]), "--key", first["key"], "--label", "campaign=study")
        made = self.json("submit", path)
        self.assertEqual((len(made["submitted"]), made["present"], made["differ"]), (5, 1, 0))
        self.stop(signal.SIGKILL)
        self.start()
        made = self.json("submit", path)
        self.assertEqual((made["submitted"], made["present"]), ([], 6))
        listed = json.loads(self.shoal("list", "--label", "campaign=study", "--json")[0])["ensembles"]
        self.assertEqual(sorted(e["key"] for e in listed), sorted(keys))
        self.assertEqual({e["key"]: e["spec_hash"] for e in listed}, {e["key"]: e["hash"] for e in plan["ensembles"]})
        # More repeats are what is missing; another file and another value are told of, with their lines, and changed nothing.
        self.write("life", "campaign.yaml", TINY.replace("repeats: 2", "repeats: 3").replace("retries: 3", "retries: 4"))
        self.write("life", "b/tiny.gro", tiny("", seed=5, side=4)[1]["tiny.gro"].replace("methane in water", "another title"))
        made = self.json("submit", path, code=3)
        self.assertEqual((len(made["submitted"]), made["present"], made["differ"]), (3, 6, 4 + 2))
        _, said = self.campaign("submit", path, code=3)
        self.assertIn('which has other content: run: "retries: 3" was submitted, "retries: 4" is planned', said)
        self.assertIn('b/tiny.gro, line 1: "methane in water" was submitted, "another title" is planned', said)
        self.assertEqual({e["state"] for e in self.json("plan", path)["ensembles"] if e["repeat"] < 3}, {"differs"})
        self.shoal("wait", "--label", "campaign=study", "--timeout", "100")
        shared = self.shared_input([e["id"] for e in listed])
        status = self.json("status", path)["ensembles"]
        self.assertEqual({e["ensemble"]["state"] for e in status}, {"done"})
        self.assertEqual(self.campaign("status", path)[0].count(" done "), 9)
        self.assertEqual(self.campaign("extend", path, "--until", "1000000 steps")[0].count("\n"), 9)  # not over when it is cancelled
        self.campaign("cancel", path)
        self.remove("study")
        deadline = time.monotonic() + 60
        while os.path.exists(shared):  # it goes with the last that has it
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)

    def shared_input(self, ids):
        """Equal inputs of several ensembles are one file with a name for each, and one more, which is returned."""
        paths = [os.path.join(self.folder, "state/ensembles", ident, "input", name)
                 for ident in ids for name in ("a/tiny.top", "b/tiny.top")]
        found = [os.stat(p).st_ino for p in paths if os.path.exists(p)]
        self.assertEqual((len(found), len(set(found))), (6, 1))
        folder = os.path.join(self.folder, "state/inputs", str(os.geteuid()))
        return next(p for p in (os.path.join(folder, n) for n in os.listdir(folder)) if os.stat(p).st_ino == found[0])

    def refused(self, path, name, old, new, message, code=65, actions=("plan", "submit")):
        target = os.path.join(os.path.dirname(path), name)
        with open(target, encoding="utf-8") as f:
            good = f.read()
        self.assertIn(old, good)
        self.write(".", target, good.replace(old, new))
        for action in actions:
            self.assertIn(message, self.campaign(action, path, code=code)[1])
        self.write(".", target, good)

    def test_errors(self):
        path = self.tiny_campaign("errors", TINY.replace("study", "errors"))
        here = os.path.join(self.folder, "errors/")
        self.refused(path, "campaign.yaml", "repeats: 2", "repeat: 2", "campaign.yaml:7: repeat: unknown key; did you mean repeats?")
        self.refused(path, "campaign.yaml", "steps: 5", "step: 5",
                     f"{here}campaign.yaml:9: protocol[0].minimize.step: unknown key; did you mean steps?")
        self.refused(path, "campaign.yaml", "[[a, b]]", "[[a, c]]", "campaign.yaml:3: c: no system is called so")
        self.refused(path, "molecules.csv", "a,1.0", "a,one", "molecules.csv:2: experiment: one: expected a free energy, such as 2.00 kcal/mol or a number")
        self.refused(path, "molecules.csv", "a,1.0,0.1", "a,1.0,-0.1", "molecules.csv:2: error: expected 0 or more")
        self.refused(path, "molecules.csv", "experiment (kcal", "Experiment(kcal",
                     "molecules.csv:1: Experiment(kcal/mol): expected experiment, or experiment (kcal/mol), and that once")
        self.refused(path, "campaign.yaml", "repeats: 2\nspec:\n", "repeats: 2\nspec:\n  integrator: ~\n", "campaign.yaml:9: integrator: ")
        self.refused(path, "campaign.yaml", "repeats: 2\nspec:\n", "repeats: 2\nspec:\n  integrator: fast\n",
                     "campaign.yaml:9: integrator: fast: expected a mapping")
        self.refused(path, "molecules.csv", "b,,,", "a,,,", "molecules.csv:3: a: there is a system of that name already, in line 2")
        self.refused(path, "campaign.yaml", "tiny.yaml", "../tiny.yaml", "campaign.yaml:5: leg solvent: ", code=66)
        def submitted():
            return {e["key"] for e in json.loads(self.shoal("list", "--label", "campaign=errors", "--json")[0])["ensembles"]}

        self.assertEqual(submitted(), set())
        # What is wrong with one leg, or one system, leaves what is right.
        self.refused(path, "campaign.yaml", "retries: 3", "retries: -3", f"{here}campaign.yaml:5: run.retries: -3: out of range")
        self.refused(path, "tiny.yaml", "0.6 nm", "0.6", f"{here}tiny.yaml:4: nonbonded.cutoff: 0.6: no unit")
        self.refused(path, "tiny.yaml", "$(molecule)", "$(molecul)", f"{here}tiny.yaml:7: $(molecul): no such value; did you mean $(molecule)?")
        self.assertEqual(submitted(), {"errors.a_b.change.1", "errors.a_b.change.2"})
        self.refused(path, "b/tiny.top", "[ settles ]", "[ settle ]", "b/tiny.top:")
        # a message names the systems or edges that it is of
        self.refused(path, "tiny.yaml", "0.6 nm", "0.6", "(all systems)\n")
        self.refused(path, "b/tiny.top", "[ settles ]", "[ settle ]", "(system b)\n")
        self.refused(path, "b/tiny.top", "[ settles ]", "[ settle ]", "(edge a_b)\n")
        self.refused(path, "molecules.csv", "b,,,MET,tiny.gro", "b,,,MET,none.gro", "there is no file \"b/none.gro\"")
        self.assertEqual(submitted(), {f"errors.{key}.{r}" for key in ("a_b.change", "a.solvent") for r in (1, 2)})
        self.shoal("wait", "--label", "campaign=errors", "--timeout", "100")
        self.remove("errors")
        self.assertIn("did you mean plan?", self.campaign("plam", path, code=2)[1])

    def test_columns_beside_experiment(self):
        """Columns that look like experiments are said to be none; others are values for specs as ever."""
        path = self.tiny_campaign("columns", TINY.replace("study", "columns"))
        self.write("columns", "molecules.csv", "name,exp (kcal/mol),expt_DG,uncertainty [kJ/mol],experience,molecule,file\n"
                   "a,1.0,1.0,0.1,long,MET,tiny.gro\nb,,,,short,MET,tiny.gro\n")
        warnings = json.loads(self.campaign("plan", path, "--json")[0])["warnings"]
        here = os.path.join(self.folder, "columns/molecules.csv:1: column ")
        self.assertEqual([w.split(" is a value for specs")[0] for w in warnings if "molecules.csv" in w],
                         [f"{here}'{head}'" for head in ("exp (kcal/mol)", "expt_DG", "uncertainty [kJ/mol]")])
        self.assertIn("expected experiment (kcal/mol) and error (kcal/mol)", warnings[0])
        self.assertIn(warnings[0], json.loads(self.campaign("gather", path, "--json", code=75)[0])["remarks"])

    def test_folders(self):
        here = "fold[e]rs*"  # which is no pattern
        self.tiny_campaign(here)
        spec, _ = tiny("tiny", seed=5)
        self.write(here, "sub/tiny.yaml", spec.replace("tiny.top", "$(folder)/tiny.top").replace("tiny.gro", "$(folder)/tiny.gro"))
        for pattern in ("[a-c]", "[a-c]/"):
            path = self.write(here, "folders.yaml",
                              f"name: f\nsystems: {{folders: '{pattern}'}}\nlegs:\n  - {{name: only, spec: sub/tiny.yaml}}\ninputs: .\n")
            plan = self.json("plan", path)
            self.assertEqual([e["key"] for e in plan["ensembles"]], ["f.a.only.1", "f.b.only.1"])
            self.assertIn("topology: b/tiny.top", plan["ensembles"][1]["spec"])

    def seeds(self, folder, name, seed):
        """Those of three repeats of each system, whose spec has this one."""
        path = self.tiny_campaign(folder, TINY.replace("study", name).replace("repeats: 2", "repeats: 3"))
        with open(os.path.join(self.folder, folder, "molecules.csv"), encoding="utf-8") as f:
            rows = f.read().splitlines()
        self.write(folder, "molecules.csv", "\n".join([f"{rows[0]},seed", *(f"{row},{n}" for n, row in enumerate(rows[1:], 40))]) + "\n")
        for spec in ("tiny.yaml", "pair.yaml"):
            with open(os.path.join(self.folder, folder, spec), encoding="utf-8") as f:
                self.write(folder, spec, f.read().replace("seed: 5", f"seed: {seed}".replace("$(", "$(ligand_j." if spec == "pair.yaml" else "$(")))
        return path, [re.search(r"seed: (.*?)[,}\n]", e["spec"]).group(1) for e in self.json("plan", path)["ensembles"]]

    def test_seeds(self):
        """Repeats have seeds of their own, wherever the spec's is from."""
        self.assertEqual(self.seeds("seeds", "seeds", "$(seed)")[1], ["40", "41", "42", "41", "42", "43", "41", "42", "43"])
        self.assertEqual(self.seeds("seeds", "seeds", "9007199254740990")[1], ["9007199254740990", "9007199254740991", "0"] * 3)
        self.assertEqual(self.seeds("seeds", "seeds", "random")[1], ["random"] * 9)

    def test_keys(self):
        """What is there under a key, of another campaign or with another seed."""
        path, _ = self.seeds("keys", "keys", "7")
        first = self.json("plan", path)["ensembles"][0]
        self.shoal("submit", self.write("keys", first["spec_name"], first["spec"]), "--key", first["key"], "--label", "campaign=other")
        out, said = self.campaign("submit", path, code=3)
        self.assertEqual(out, "8\n")
        self.assertIn(f"{first['key']}: ", said)
        self.assertIn("has this key, and not the label campaign=keys", said)
        self.assertIn("8 of 9 ensembles submitted, 0 were there before", said)
        path, _ = self.seeds("keys", "keys", "random")
        self.assertIn('integrator: "seed: 8" was submitted, "seed: random" is planned', self.campaign("submit", path, code=3)[1])
        self.remove("keys")
        self.remove("other")

    def remove(self, campaign):
        """All that has the label; one that still stops is not removed yet, one that is done meanwhile is not cancelled."""
        label = ("--label", f"campaign={campaign}")
        deadline = time.monotonic() + 60
        while json.loads(self.shoal("list", *label, "--json")[0])["ensembles"]:
            self.assertLess(time.monotonic(), deadline)
            for what in ("cancel", "rm"):
                subprocess.run([SHOAL, what, *label], env=self.environment, capture_output=True, check=False)
            time.sleep(0.2)

    def test_example(self):
        folder = os.path.join(self.folder, "examples")
        shutil.copytree(EXAMPLES, folder)
        path = os.path.join(folder, "campaign/campaign.yaml")
        plan = self.json("plan", path)
        self.assertEqual((plan["count"], plan["errors"], plan["warnings"]), (27, [], []))
        text = open(path, encoding="utf-8").read().replace("repeats: 3", "repeats: 1").replace("    - [methane, ethane]\n", "")
        for leg in ("water", "vacuum"):
            text = text.replace(f"spec: {leg}.yaml", f"spec: {leg}.yaml\n    override: {{alchemy: {{windows: {{bonded: [0, 1]}}}}}}")
        self.write(".", path, text + "  protocol: [{minimize: {steps: 2}}, {produce: {time: 4 steps, ensemble: nvt, sample-every: 2 steps}}]\n"
                   "  alchemy: {windows: {coulomb: [0, 1], vdw: [0, 0]}}\n")
        self.assertEqual(self.campaign("submit", path)[0], "7\n")
        self.shoal("wait", "--label", "campaign=alcohols", "--timeout", "100")
        # Two rows of a window carry no number that could be believed, or none at all: that is what is gathered.
        done = subprocess.run([SHOAL, "campaign", "gather", path, "--json"], env=self.environment, capture_output=True, text=True, check=False)
        gathered = json.loads(done.stdout)
        self.assertEqual([(e["item"], e["leg"], e["state"]) for e in gathered["ensembles"]],
                         [(system, "hydration", "done") for system in ("methane", "methanol", "ethane")] +
                         [(edge, leg, "done") for leg in ("water", "vacuum") for edge in ("methane_methanol", "methanol_ethane")])
        self.assertLessEqual({e["verdict"] for e in gathered["ensembles"]}, {"unconverged", "failed"})
        self.assertEqual(done.returncode, 1 if any(e["verdict"] == "failed" for e in gathered["ensembles"]) else 0)
        self.assertEqual([s["experiment"]["kcal/mol"]["value"] for s in gathered["systems"]], [2.0, -5.1, 1.83])
        self.assertAlmostEqual(gathered["edges"][0]["experiment"]["kcal/mol"]["value"], -7.1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
