#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker that was built without CUDA, on a machine whose NVIDIA driver lists GPUs (tests/lib/listed_gpus.c): whoever asks for devices
is told that GPUs are left out, and what was missing; where there is no driver nothing is said.

Usage: without_cuda.py SHOAL SHOALD WORKER SOURCE_FOLDER
"""
import os
import subprocess
import sys
import tempfile
import unittest

from service import Service

SHOAL, SHOALD, WORKER, SOURCE = (os.path.abspath(p) for p in sys.argv[1:])
SAID = ("2 NVIDIA GPUs, but this program was built without CUDA; expected nvcc of the CUDA toolkit 13.0 or later when it was built; "
        "not used")


class WithoutCuda(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.gpus = os.path.join(self.folder, "gpus")
        self.environment = {**os.environ, "SHOAL_TEST_GPUS": self.gpus}

    def list_gpus(self):
        for gpu in ("0000:18:00.0", "0000:3b:00.0"):
            os.makedirs(os.path.join(self.gpus, gpu))

    def run_it(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, timeout=60)

    def test_devices(self):
        done = self.run_it(WORKER, "devices")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "cpu\n", ""))
        self.list_gpus()
        done = self.run_it(WORKER, "devices")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "cpu\n", f"shoal-worker: {SAID}\n"))

    def test_service(self):
        self.list_gpus()
        service = Service(SHOALD, WORKER, os.path.join(self.folder, "service"))
        at = service.command.index("--device")
        del service.command[at:at + 2]
        service.environment.update(self.environment, SHOAL_WORKER=WORKER)
        service.start()
        self.addCleanup(service.kill)
        self.assertIn(f"\n{SAID}\n", service.shoal(SHOAL, "status", "--devices"))
        with open(service.log, encoding="utf-8") as f:
            self.assertRegex(f.read(), rf"(?m)^\S+ warning shoald: {SAID}$")

    def test_quickstart(self):
        """The line of deploy/quickstart: devices, and why a GPU is not among them."""
        build = os.path.join(self.folder, "build")
        os.makedirs(os.path.join(build, "daemon/worker"))
        os.symlink(WORKER, os.path.join(build, "daemon/worker/shoal-worker"))
        self.list_gpus()
        done = self.run_it("bash", "-euc", f". {SOURCE}/deploy/lib.sh; say_devices {build}")
        self.assertEqual((done.returncode, done.stderr), (0, f"shoal-worker: {SAID}\ndeploy: devices: cpu\n"))
        with open(os.path.join(SOURCE, "deploy/quickstart"), encoding="utf-8") as f:
            self.assertIn('\nsay_devices "$build"\n', f.read())

    def test_build(self):
        """A tree that was configured looks again for what it can be built with; what the build says of CUDA is passed on, nothing else."""
        tree, tools = os.path.join(self.folder, "tree"), os.path.join(self.folder, "tools")
        os.mkdir(tools)
        warning = "graphs/cuda/meson.build:17: WARNING: nvcc is of CUDA 11.8: expected 13.0 or later; built without CUDA"
        for tool, text in (("meson", f'echo "$*" >>{self.folder}/asked; mkdir -p {tree}; touch {tree}/build.ninja\n'
                                     f'printf "Compiler: cc\\n%s\\n" "{warning}"'), ("ninja", "true")):
            path = os.path.join(tools, tool)
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"#!/bin/sh\n{text}\n")
            os.chmod(path, 0o755)
        self.environment["PATH"] = tools + ":" + os.environ["PATH"]
        for _ in range(2):
            done = self.run_it("bash", "-euc", f". {SOURCE}/deploy/lib.sh; build_tree {tree} -Dtests=disabled")
            self.assertEqual((done.returncode, done.stderr), (0, warning + "\n"))
        with open(os.path.join(self.folder, "asked"), encoding="utf-8") as f:
            self.assertEqual(f.read().splitlines(), [f"setup {tree} -Dtests=disabled", f"setup --reconfigure {tree} -Dtests=disabled"])


if __name__ == "__main__":
    unittest.main(argv=["without_cuda.py"])
