#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many replicas of an ensemble a GPU holds is said before any of them is there: by `validate`, in the answer to a submission, in the status
of one that waits, also after a restart. What a replica is said to take is what replicas take, on emulated cards, with their lists built;
an ensemble of which no device holds a single replica is refused, with the numbers.

usage: fits.py SHOAL SHOALD EMULATED_WORKER SIZES_TAKEN
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import service  # noqa: E402

MAKE_INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench/make_inputs.py")
CARDS = "NVIDIA H200", "NVIDIA GeForce RTX 4090"
MEMORY = 24 * 10**9  # bytes of each card
GROWN = 1.2  # lists that turn out too short become a fifth longer
SPECS = "alcohol", "narrow", "peptide", "solvent", "solvent-dodecahedron", "solvent-observed", "complex", "regions", "regions-solute"
ROUNDING = 2048  # bytes: blocks of memory are whole units


class Fits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="shoal-fits-")
        subprocess.run([sys.executable, MAKE_INPUTS, cls.folder, "usual", "small"], check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def worker(self, *args, memory=MEMORY, cards=CARDS):
        return subprocess.run([WORKER, *args], env={**os.environ, "SHOAL_TEST_CARD": ",".join(cards), "SHOAL_TEST_MEMORY": str(memory)},
                              capture_output=True, check=True, text=True, cwd=self.folder)

    def shoal(self, s, *words, code=0):
        done = subprocess.run([SHOAL, "--socket", s.socket, *words], cwd=self.folder, capture_output=True, check=False, text=True)
        self.assertEqual(done.returncode, code, done)
        return done

    def serving(self, name, memory, *more):
        s = service.Service(SHOALD, WORKER, os.path.join(self.folder, name), device="cuda:0,cuda:1")
        s.command += more
        s.environment.update(SHOAL_TEST_CARD=",".join(CARDS), SHOAL_TEST_MEMORY=str(memory))
        self.addCleanup(s.kill)
        self.up(s)
        return s

    def up(self, s):
        s.start()
        deadline = time.monotonic() + 60
        while any(d["state"] != "up" for d in s.call("GET", "/v1/version")[1]["devices"]):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_replicas_take_what_was_said(self):
        for device, card in enumerate(CARDS):
            taken = subprocess.run([SIZES_TAKEN, f"cuda:{device}", *(f"{spec}.yaml" for spec in SPECS)], check=True, capture_output=True, text=True,
                                   env={**os.environ, "SHOAL_TEST_CARD": ",".join(CARDS)}, cwd=self.folder).stdout.split()
            for spec, took in zip(SPECS, taken, strict=True):
                fit = json.loads(self.worker("validate", f"{spec}.yaml", "--json").stdout)["fits"][device]
                self.assertEqual((fit["device"], fit["memory_bytes"]), (f"cuda:{device}", MEMORY))
                self.assertAlmostEqual(fit["replicas"], 0.9 * MEMORY / fit["replica_bytes"], delta=1 + 0.01 * fit["replicas"])
                self.assertGreaterEqual(int(took), fit["replica_bytes"], (spec, card))
                self.assertLess(int(took), GROWN * fit["replica_bytes"] + ROUNDING, (spec, card))

    def test_validate_in_words(self):
        said = self.worker("validate", "small.yaml")
        self.assertRegex(said.stdout, r"(?m)^cuda:0 \(24 GB\): \d+ replicas of 1\.6 MB fit$")
        self.assertRegex(said.stdout, r"(?m)^cuda:1 \(24 GB\): \d+ replicas of 1\.6 MB fit$")
        self.assertNotIn("memory for one replica", said.stderr)
        said = self.worker("validate", "small.yaml", memory=10**6)
        self.assertRegex(said.stdout, r"(?m)^cuda:0 \(1\.0 MB\): 0 replicas of 1\.6 MB fit$")
        self.assertRegex(said.stderr, r"warning: small.yaml:1: system: no GPU of this machine has memory for one replica")
        said = self.worker("validate", "small.yaml", cards=("GTX 1080",))
        self.assertRegex(said.stdout, r"(?m)^cuda:0: how many replicas fit is not known: .*GTX 1080")
        self.assertEqual(json.loads(self.worker("validate", "small.yaml", "--json", cards=()).stdout)["fits"], [])

    def test_service(self):
        s = self.serving("holds", 10**7, "--slots", "1")
        for d in s.call("GET", "/v1/version")[1]["devices"]:
            self.assertEqual(d["memory"], {"total": 10**7, "free": 10**7, "used": 0, "replica": 0})
        said = self.shoal(s, "submit", "small.yaml")
        self.assertRegex(said.stderr, r"(?m)^shoal: cuda:0 \(10 MB\): 5 replicas of 1\.6 MB fit$")
        self.assertRegex(said.stderr, r"(?m)^shoal: cuda:1 \(10 MB\): 5 replicas of 1\.6 MB fit$")
        waits = self.shoal(s, "submit", "small.yaml", "--json")
        waits = json.loads(waits.stdout)
        self.assertEqual([(f["device"], f["replicas"]) for f in waits["fits"]], [("cuda:0", 5), ("cuda:1", 5)])
        self.assertEqual(waits["fits"][0], json.loads(self.worker("validate", "small.yaml", "--json", memory=10**7).stdout)["fits"][0])
        s.call("POST", f"/v1/ensembles/{waits['id']}/pause")
        s.stop()
        self.up(s)
        self.assertEqual(s.get(waits["id"])["fits"], waits["fits"])
        status = self.shoal(s, "status", waits["id"]).stdout
        self.assertRegex(status, r"(?m)^cuda:1 \(10 MB\): 5 replicas of 1\.6 MB fit$")
        s.call("POST", f"/v1/ensembles/{waits['id']}/cancel")
        self.assertEqual(s.get(waits["id"])["state"], "cancelled")
        self.assertEqual(s.get(waits["id"])["fits"], [])

    def test_refused(self):
        s = self.serving("small", 10**6)
        said = self.shoal(s, "submit", "small.yaml", code=65)
        self.assertRegex(said.stderr, r"no device of the service has memory for one replica: cuda:0 \(1\.0 MB\): 0 replicas of 1\.6 MB fit; "
                                      r"cuda:1 \(1\.0 MB\): 0 replicas of 1\.6 MB fit; expected a smaller system, or a device with more memory")
        self.assertEqual(s.call("GET", "/v1/ensembles")[1]["ensembles"], [])


if __name__ == "__main__":
    SHOAL, SHOALD, WORKER, SIZES_TAKEN = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
    unittest.main()
