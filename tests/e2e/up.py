#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal up: a service of one's own that goes on after the command; what it says where one runs, and where none can.

Usage: up.py SHOAL SHOALD SHOAL_WORKER
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

from service import until
from tiny import tiny

SHOAL, SHOALD, WORKER = (os.path.abspath(p) for p in sys.argv[1:4])


def alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="latin-1") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Up(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = folder.name
        self.state = os.path.join(self.home, ".local/state/shoald")
        self.environment = {k: v for k, v in os.environ.items() if k not in ("SHOAL_SOCKET", "XDG_RUNTIME_DIR", "XDG_STATE_HOME")}
        self.environment.update(HOME=self.home, SHOALD=SHOALD, SHOAL_WORKER=WORKER, GMXLIB="")
        self.addCleanup(self.stop_all)
        self.processes = set()

    def shoal(self, *words, code=0, **environment):
        done = subprocess.run([SHOAL, *words], env={**self.environment, **environment}, capture_output=True, text=True, check=False,
                              timeout=100, stdin=subprocess.DEVNULL)
        self.processes |= {int(n) for n in re.findall(r"kill (\d+)", done.stderr)}
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        return done

    def stop(self, process):
        os.kill(process, signal.SIGTERM)
        until(lambda: not alive(process))

    def stop_all(self):
        for process in self.processes:
            if alive(process):
                self.stop(process)

    def up(self, *words, **environment):
        """What it says as JSON, after it was looked at that a process listens."""
        said = json.loads(self.shoal("up", "--device", "cpu:1", "--json", *words, **environment).stdout)
        self.assertTrue(alive(said["process"]), said)
        return said

    @unittest.skipIf(os.path.exists("/run/shoald/api.sock"), "this machine has a service for all")
    def test_from_nothing_to_a_number(self):
        """`submit` without a service names the command; after it everything goes on without it, and it starts no second one."""
        spec, files = tiny("up", seed=3, steps=200, windows=(0, 0.05, 0.1))
        for name, text in {"spec.yaml": spec, **files}.items():
            with open(os.path.join(self.home, name), "w", encoding="utf-8") as f:
                f.write(text)
        lost = self.shoal("submit", os.path.join(self.home, "spec.yaml"), code=69)
        self.assertIn("is shoald running? `shoal up` starts one of your own", lost.stderr)

        said = self.shoal("up", "--device", "cpu:1")
        self.assertEqual(said.stdout, f"a service of your own runs at {self.state}/api.sock, on cpu:1\n")
        self.assertIn(f"its log is {self.state}/log", said.stderr)
        process = int(re.search(r"`kill (\d+)` stops it", said.stderr)[1])
        self.assertEqual(os.getsid(process), process, "it has the session of the command, and ends with its terminal")
        self.assertEqual(os.readlink(f"/proc/{process}/fd/0"), "/dev/null")
        self.assertEqual(os.stat(self.state).st_mode & 0o777, 0o700)

        again = self.shoal("up")
        self.assertEqual(again.stdout, f"a service runs already at {self.state}/api.sock, on cpu:1\n")
        self.assertIn(f"`kill {process}` stops it", again.stderr)
        self.assertNotIn("its log", again.stderr)
        ensemble = self.shoal("submit", os.path.join(self.home, "spec.yaml"), "--key", "up").stdout.strip()
        self.assertEqual(self.shoal("watch", ensemble, "--timeout", "90").stdout, "done\n")

        self.stop(process)
        with open(f"{self.state}/log", encoding="utf-8") as f:
            self.assertIn("stopped", f.read())
        said = self.up()
        self.assertTrue(said["started"])
        self.assertEqual(json.loads(self.shoal("list", "--json").stdout)["ensembles"][0]["key"], "up")

    def test_where(self):
        """--socket and the variable say where; a socket that a killed service has left is used again; XDG_STATE_HOME moves the state."""
        path, state = os.path.join(self.home, "s.sock"), os.path.join(self.home, "elsewhere")
        said = self.up("--socket", path, XDG_STATE_HOME=state)
        self.assertEqual((said["socket"], said["started"], said["log"]), (path, True, f"{state}/shoald/log"))
        self.assertFalse(self.up(SHOAL_SOCKET=path)["started"])
        os.kill(said["process"], signal.SIGKILL)
        until(lambda: not alive(said["process"]))
        again = self.up(SHOAL_SOCKET=path, XDG_STATE_HOME=state)
        self.assertTrue(again["started"])
        self.assertNotEqual(again["process"], said["process"])

        # That state is taken: another service there ends, and its last words are told.
        taken = self.shoal("up", "--device", "cpu:1", "--socket", os.path.join(self.home, "t.sock"), code=69, XDG_STATE_HOME=state)
        self.assertIn(f"the service ended with status 1: another shoald uses {state}/shoald (all that it said is in {state}/shoald/log)",
                      taken.stderr)
        self.stop(again["process"])

    @unittest.skipIf(os.path.exists("/run/shoald/api.sock"), "this machine has a service for all")
    def test_socket_of_a_login(self):
        """One that a killed `shoald` has left in XDG_RUNTIME_DIR would be found first: the new service listens there."""
        left = os.path.join(self.home, "run/shoald/api.sock")
        os.makedirs(os.path.dirname(left))
        subprocess.run([sys.executable, "-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", left], check=True)
        said = self.up(XDG_RUNTIME_DIR=os.path.join(self.home, "run"))
        self.assertEqual(said["socket"], left)
        self.shoal("list", XDG_RUNTIME_DIR=os.path.join(self.home, "run"))
        self.stop(said["process"])

    @unittest.skipIf(os.path.exists("/run/shoald/api.sock"), "this machine has a service for all")
    def test_none_can_be(self):
        self.assertIn("neither XDG_STATE_HOME nor HOME is set", self.shoal("up", code=2, HOME="").stderr)
        none = self.shoal("up", code=69, SHOALD="/none/shoald")
        self.assertIn("the service ended with status 127: shoal: /none/shoald: No such file or directory", none.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
