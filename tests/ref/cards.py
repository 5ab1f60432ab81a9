#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker on GPUs of several kinds, emulated: `devices` lists those it can use and says why it leaves others out; energies and forces of
5,166 atoms with 12 windows are the CPU device's (`energy --check`), and the same on every card. Only what is printed of them is compared.

usage: cards.py EMULATED_WORKER
"""
import os
import subprocess
import sys
import tempfile
import unittest

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


if __name__ == "__main__":
    WORKER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
