#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker on GPUs of several kinds, emulated: `devices` lists those it can use and says why it leaves others out, which shoald passes on; it says why one
that it was told to use does not come up; energies and forces of 5,166 atoms with 12 windows are the CPU device's (`energy --check`), and the
same on every card, as far as they are printed.

usage: cards.py EMULATED_WORKER SHOALD
"""
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
CARDS = "NVIDIA H200", "NVIDIA A100", "NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 5090"


def run(card, *args, **kwargs):
    return subprocess.run([WORKER, *args], env={**os.environ, "SHOAL_TEST_CARD": card}, capture_output=True, check=False, text=True,
                          **kwargs)


class Cards(unittest.TestCase):
    def test_energies(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, MAKE_INPUTS, folder], check=True, stdout=subprocess.DEVNULL)
            first = None
            for card in CARDS:
                done = run(card, "energy", "solvent.yaml", "--device", "cuda:0", "--check", cwd=folder)
                self.assertEqual(done.returncode, 0, f"{card}: {done.stdout}{done.stderr}")
                self.assertIn("forces: rms", done.stdout)
                first = first or done.stdout
                self.assertEqual(done.stdout, first, card)

    def test_devices(self):
        done = run(f"GTX 1080,{CARDS[1]},GTX 980,{CARDS[2]}", "devices")
        self.assertEqual((done.returncode, done.stdout), (0, "cuda:1\ncuda:3\n"))
        said = done.stderr.splitlines()
        self.assertEqual(len(said), 2)
        for line, card in zip(said, ("GTX 1080", "GTX 980")):
            self.assertRegex(line, f"shoal-worker: .*{card}.*; not used$")

    def test_none_usable(self):
        done = run("GTX 1080", "devices")
        self.assertEqual((done.returncode, done.stdout), (0, "cpu\n"))
        self.assertIn("GTX 1080", done.stderr)
        done = run("", "devices")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "cpu\n", ""))


    def serving(self, folder, card, device):
        s = service.Service(SHOALD, WORKER, folder)
        at = s.command.index("--device")
        s.command[at:at + 2] = device
        s.environment["SHOAL_TEST_CARD"] = card
        self.addCleanup(s.kill)
        s.start(wait=False)
        return s

    def until(self, s, done):
        deadline = time.monotonic() + 60
        while True:
            try:
                version = s.call("GET", "/v1/version")[1]
                if done(version["devices"]):
                    return version["devices"], version["left_out"]
            except service.Gone:
                version = None
            self.assertLess(time.monotonic(), deadline, version)
            time.sleep(0.05)

    def test_service(self):
        # It takes the cards that can be used; one that it is told to take and that cannot be used has its trouble said.
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        devices, left_out = self.until(self.serving(os.path.join(folder, "a"), f"GTX 1080,{CARDS[2]}", []), lambda d: d[0]["state"] == "up")
        self.assertEqual([d["device"] for d in devices], ["cuda:1"])
        self.assertEqual(len(left_out), 1)
        self.assertRegex(left_out[0], r"^.*GTX 1080.*; not used$")
        with open(os.path.join(folder, "a", "log"), encoding="utf-8") as f:
            self.assertIn(f"shoald: {left_out[0]}\n", f.read())
        devices, left_out = self.until(self.serving(os.path.join(folder, "b"), "GTX 1080", ["--device", "cuda:0"]), lambda d: d[0]["trouble"])
        self.assertRegex(devices[0]["trouble"], "^worker exited with status 1: .*GTX 1080")
        self.assertNotEqual(devices[0]["state"], "up")
        self.assertEqual(left_out, [])


if __name__ == "__main__":
    WORKER, SHOALD = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
