#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files where people have them: above the spec, at absolute paths, behind symbolic links, compressed. What `shoal validate` takes
`shoal submit` takes and the package for Python takes, with the same content; it runs, and what is fetched can be submitted again.

Usage: places.py SHOAL SHOALD SHOAL_WORKER SOURCE_ROOT
"""
import gzip
import json
import os
import shutil
import subprocess
import sys
import unittest

from served import SHOAL, Served
from tiny import tiny

sys.path.insert(0, os.path.join(os.path.abspath(sys.argv[4]), "client/python"))
import shoal


class Places(Served):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.python = shoal.Service(cls.environment["SHOAL_SOCKET"])
        cls.text, files = tiny("placed", seed=7, steps=200, windows=(0, 0.05), side=4)
        head, rest = files["tiny.top"].split("[ moleculetype ]", 1)
        cls.types, cls.top, cls.gro = head, "[ moleculetype ]" + rest, files["tiny.gro"]

    def put(self, path, text):
        path = os.path.join(self.home, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with (gzip.open if path.endswith(".gz") else open)(path, "wt", encoding="utf-8") as f:
            f.write(text)
        return path

    def spec(self, path, topology, coordinates):
        return self.put(path, self.text.replace("tiny.top", topology).replace("tiny.gro", coordinates))

    def setUp(self):
        self.home = os.path.join(self.folder, self.id().split(".")[-1])

    def run_shoal(self, *words, code=0):
        done = subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        return done.stdout

    def taken(self, spec, kept):
        """Validated, submitted by both clients, with one content; it ends, and has those inputs beside the spec."""
        self.run_shoal("validate", spec)
        self.assertTrue(self.python.validate(spec).ok)
        ident = self.run_shoal("submit", spec, "--key", self.id().split(".")[-1]).strip()
        again = self.python.submit(spec, key=self.id().split(".")[-1])  # other content under this key is a conflict
        self.assertEqual(again.id, ident)
        self.run_shoal("wait", ident)
        inputs = {f.path for f in self.python.files(ident) if f.path.startswith("input/")}
        self.assertEqual(inputs, {"input/spec.yaml", *("input/" + name for name in kept)})
        return ident

    def test_above(self):
        """A topology beside the spec's folder, which includes a file of a third folder; the spec is fetched and submitted again."""
        self.put("ff/types.itp", self.types)
        self.put("top/topol.top", '#include "../ff/types.itp"\n' + self.top)
        self.put("run/conf.gro", self.gro)
        spec = self.spec("run/spec.yaml", "../top/topol.top", "conf.gro")
        ident = self.taken(spec, ["conf.gro", "@up1/top/topol.top", "@up1/ff/types.itp"])
        fetched = os.path.join(self.home, "fetched")
        self.run_shoal("results", ident, "--output", fetched)
        shutil.rmtree(os.path.join(self.home, "top"))
        shutil.rmtree(os.path.join(self.home, "ff"))
        inputs = os.path.join(fetched, "input/spec.yaml")
        self.run_shoal("validate", inputs)
        self.assertEqual(self.run_shoal("submit", inputs, "--key", "test_above").strip(), ident)
        self.assertEqual(self.python.submit(inputs, key="test_above").id, ident)

    def test_absolute(self):
        self.put("data/types.itp", self.types)
        top = self.put("data/topol.top", '#include "types.itp"\n' + self.top)
        gro = self.put("data/conf.gro", self.gro)
        spec = self.spec("run/spec.yaml", top, gro)
        self.taken(spec, ["@root" + os.path.join(self.home, "data", name) for name in ("topol.top", "conf.gro", "types.itp")])

    def test_links(self):
        """The names are those of the links; what they lead to is what is read."""
        real = self.put("real/topol.top", '#include "links/types.itp"\n' + self.top)
        self.put("real/types.itp", self.types)
        spec = self.spec("run/spec.yaml", "topol.top", "conf.gro")
        os.symlink(real, os.path.join(self.home, "run/topol.top"))
        os.symlink(self.put("real/conf.gro", self.gro), os.path.join(self.home, "run/conf.gro"))
        os.symlink("../real", os.path.join(self.home, "run/links"))
        self.taken(spec, ["conf.gro", "topol.top", "links/types.itp"])

    def test_compressed(self):
        self.put("run/topol.top.gz", self.types + self.top)
        self.put("conf.gro.gz", self.gro)
        spec = self.spec("run/spec.yaml.gz", "topol.top.gz", "../conf.gro.gz")
        self.taken(spec, ["topol.top.gz", "@up1/conf.gro.gz"])

    def test_campaign(self):
        """Specs of a campaign name files like any other."""
        self.put("ff/types.itp", self.types)
        self.put("systems/m/topol.top", '#include "../../ff/types.itp"\n' + self.top)
        self.put("systems/m/conf.gro", self.gro)
        self.spec("run/spec.yaml", "../systems/m/topol.top", "../systems/m/conf.gro")
        self.put("run/m.csv", "name\nm\n")
        campaign = self.put("run/campaign.yaml", "name: places\nsystems: {table: m.csv}\nlegs: [{name: solvent, spec: spec.yaml}]\n")
        self.run_shoal("campaign", "submit", campaign)
        plan = json.loads(self.run_shoal("campaign", "plan", campaign, "--json"))
        [planned] = plan["ensembles"]
        self.assertEqual(self.python.wait(planned["key"]).state, "done")
        self.assertEqual(self.run_shoal("campaign", "submit", campaign).strip(), "0")  # the same content

    def test_not_there(self):
        """Where was looked is told."""
        spec = self.spec("run/spec.yaml", "../none.top", "/none/conf.gro")
        done = subprocess.run([SHOAL, "submit", spec], env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 66)
        self.assertIn("../none.top", done.stderr)
        with self.assertRaises(shoal.Problem) as caught:
            self.python.submit(spec)
        self.assertEqual(caught.exception.code, "MISSING_FILE")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
