# SPDX-License-Identifier: Apache-2.0
"""Tests of `shoal` beside a service of their own on the CPU device. SHOAL SHOALD WORKER are the first arguments of the script."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from service import AS_IS

SHOAL, SHOALD, WORKER = (os.path.abspath(p) for p in sys.argv[1:4])


class Served(unittest.TestCase):
    OPTIONS = ()  # of the service

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.environment = {**os.environ, "SHOAL_SOCKET": os.path.join(cls.folder, "api.sock"), "GMXLIB": ""}
        cls.start()
        cls.addClassCleanup(lambda: cls.stop(signal.SIGTERM))

    @classmethod
    def start(cls):
        cls.service = subprocess.Popen(
            [SHOALD, "--socket", cls.environment["SHOAL_SOCKET"], "--state", os.path.join(cls.folder, "state"),
             "--worker", WORKER, "--device", "cpu", *cls.OPTIONS, *AS_IS], stderr=subprocess.DEVNULL)
        for _ in range(1200):
            if subprocess.run([SHOAL, "version"], env=cls.environment, capture_output=True, check=False).returncode == 0:
                return
            time.sleep(0.05)
        raise AssertionError("the service did not start")

    @classmethod
    def stop(cls, how):
        cls.service.send_signal(how)
        cls.service.wait(60)
