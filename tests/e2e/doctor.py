#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal doctor: each kind of trouble is a warning that says what to do, and makes the exit code 1; a machine without a GPU and without a
service is well. nvidia-smi is a script here.

Usage: doctor.py SHOAL SHOALD SHOAL_WORKER
"""
import http.server
import json
import os
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import unittest

from fake import Fake
from service import Handler

SHOAL, SHOALD, WORKER = (os.path.abspath(p) for p in sys.argv[1:4])
ROOT = os.geteuid() == 0
VERSION = subprocess.run([SHOAL, "--version"], capture_output=True, text=True, check=True).stdout.split(None, 1)[1].strip()


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    address_family = socket.AF_UNIX
    daemon_threads = True

    def server_bind(self):
        self.socket.bind(self.server_address)


class Doctor(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = folder.name
        os.chmod(self.home, 0o755)
        self.bin = self.folder("bin")
        self.specs = self.folder("specs")
        self.socket = os.path.join(self.home, "sock")
        self.environment = {k: v for k, v in os.environ.items() if k not in ("SHOAL_SOCKET", "XDG_RUNTIME_DIR", "XDG_STATE_HOME")}
        self.environment.update(HOME=self.home, SHOAL_WORKER=WORKER, PATH=f"{self.bin}:{os.environ['PATH']}")
        self.program("nvidia-smi", "exit 127")  # as where there is none

    def folder(self, name):
        path = os.path.join(self.home, name)
        os.makedirs(path)
        return path

    def program(self, name, text):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)
        return path

    def doctor(self, *words, uid=None, **environment):
        """{check: [(ok, found, what to do)]}; the text and the JSON say the same, and the exit code says whether all is well."""
        def become():
            if uid is not None:
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)

        def run(*more):
            return subprocess.run([SHOAL, "doctor", *(words or [self.specs]), *more], env={**self.environment, **environment}, text=True,
                                  capture_output=True, check=False, timeout=100, preexec_fn=become, stdin=subprocess.DEVNULL)
        done, text = run("--json"), run()
        self.assertEqual(done.stderr, "")
        answer = json.loads(done.stdout)
        self.assertEqual(done.returncode, 0 if answer["ok"] else 1)
        self.assertEqual((answer["ok"], text.returncode), (all(c["ok"] for c in answer["checks"]), done.returncode))
        found = {}
        for check in answer["checks"]:
            self.assertEqual(check["ok"], check["do"] is None)
            self.assertIn(f"{'ok' if check['ok'] else 'warning':8} {check['check']:9} ", text.stdout)
            self.assertTrue(check["ok"] or f"-> {check['do']}\n" in text.stdout)
            found.setdefault(check["check"], []).append((check["ok"], check["found"], check["do"]))
        return found

    def warns(self, found, check, part, todo):
        """One warning in all, of this check."""
        bad = [(name, *line[1:]) for name, lines in found.items() for line in lines if not line[0]]
        self.assertEqual([line[0] for line in bad], [check], found)
        self.assertIn(part, bad[0][1])
        self.assertIn(todo, bad[0][2])

    def well(self, found):
        self.assertEqual([line for lines in found.values() for line in lines if not line[0]], [])

    def serve(self, **answers):
        """A service that says so; the rest of /v1/version is this client's."""
        version = {"version": VERSION.split(",")[0], "build": VERSION.split(", ", 1)[1], "api": 1, "devices": [], **answers.get("version", {})}
        ready = answers.get("ready", (200, {"ok": True}))

        class Answers(Handler):
            def do_GET(self):
                status, body = (200, version) if self.path == "/v1/version" else ready
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
        server = Server(self.socket, Answers)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

    # ---- programs

    @unittest.skipIf(os.path.exists("/run/shoald/api.sock"), "this machine has a service for all")
    def test_nothing_is_needed(self):
        found = self.doctor()
        self.well(found)
        self.assertEqual(found["client"][0][1], f"shoal {VERSION}")
        self.assertIn("none runs; shoal up starts one", found["service"][0][1])
        self.assertIn("nvidia-smi is not there", found["driver"][0][1])
        self.assertEqual(found["devices"][-1][1], "simulations run on cpu")
        self.assertIn("GB are free", found["specs"][0][1])
        self.assertNotIn("state", found)

    def test_worker(self):
        self.warns(self.doctor(SHOAL_WORKER="/nowhere/shoal-worker"), "worker", "/nowhere/shoal-worker: No such file", "install Shoal again")
        old = self.program("old-worker", '[ "$1" = version ] && echo "shoal-worker 0.0.1" || echo cpu')
        self.warns(self.doctor(SHOAL_WORKER=old), "worker", "shoal-worker 0.0.1, the client is", "of one version")

    def test_service(self):
        with Fake(SHOALD, os.path.join(self.home, "service")) as s:
            found = self.doctor("--socket", s.socket, self.specs)
            self.well(found)
            self.assertIn(f" at {s.socket}", found["service"][0][1])
        os.unlink(s.socket)
        self.warns(self.doctor(SHOAL_SOCKET=s.socket), "service", "api.sock", "systemctl status shoald, or shoal up")
        with socket.socket(socket.AF_UNIX) as gone:
            gone.bind(s.socket)
        self.warns(self.doctor(XDG_RUNTIME_DIR="/nowhere", SHOAL_SOCKET=s.socket), "service", "api.sock", "systemctl status shoald")

    def test_versions(self):
        self.serve(version={"build": "commit 0000000, debug"})
        self.warns(self.doctor(SHOAL_SOCKET=self.socket), "service", "commit 0000000, debug", "restart the service after an upgrade")

    def test_not_ready(self):
        self.serve(ready=(503, {"error": {"code": "BUSY", "message": "the state folder takes no writes"}}))
        self.warns(self.doctor(SHOAL_SOCKET=self.socket), "service", "the state folder takes no writes", "journalctl")

    def test_sick_device(self):
        self.serve(version={"devices": [{"device": "cuda:0", "state": "up"}, {"device": "cuda:1", "state": "sick", "trouble": "died of signal 9"}]})
        self.warns(self.doctor(SHOAL_SOCKET=self.socket), "service", "device cuda:1 is sick: died of signal 9", "tries it again")

    def test_missing_card(self):
        device = {"device": "cuda:0+cuda:1", "state": "up", "cards": {"open": 1, "joined": 2}}
        self.serve(version={"devices": [device, {**device, "cards": {"open": 2, "joined": 2}}]})
        self.warns(self.doctor(SHOAL_SOCKET=self.socket), "service", "device cuda:0+cuda:1 has 1 of its 2 cards", "after a restart")

    @unittest.skipUnless(ROOT, "needs root to be another user")
    def test_not_in_the_group(self):
        self.serve()
        os.chmod(self.socket, 0o600)
        os.chmod(self.specs, 0o777)
        self.warns(self.doctor(uid=1, SHOAL_SOCKET=self.socket), "service", self.socket, "usermod --append --groups shoal-users")

    # ---- GPUs

    def smi(self, *lines):
        self.program("nvidia-smi", "\n".join(f"echo '{line}'" for line in lines))
        return self.doctor()

    def test_memory_errors(self):
        found = self.smi("0, NVIDIA H200, 580.65.06, Enabled, 0", "1, NVIDIA GeForce RTX 4090, 580.65.06, [N/A], [N/A]")
        self.well(found)
        self.assertEqual(found["driver"][0][1], "NVIDIA 580.65.06")
        self.assertEqual([line[1] for line in found["memory"]],
                         ["GPU 0 (NVIDIA H200): ECC is on, no uncorrected errors", "GPU 1 (NVIDIA GeForce RTX 4090): it has no ECC"])
        self.warns(self.smi("0, NVIDIA H200, 580.65.06, Enabled, 3"), "memory", "3 uncorrected memory errors", "--gpu-reset")
        self.warns(self.smi("0, NVIDIA L40S, 580.65.06, Disabled, [N/A]"), "memory", "ECC is off", "--ecc-config=1")

    def clocks(self, *lines):
        said = "\n".join(f"echo '{line}'" for line in lines)
        self.program("nvidia-smi", f"case $* in *clocks*) {said} ;; *) echo '0, NVIDIA H200, 580.65.06, Enabled, 0' ;; esac")
        return self.doctor()

    def test_clocks(self):
        found = self.clocks("0, NVIDIA H200, 1965, 1980, 1980, 1980, 0x0000000000000000", "1, NVIDIA H200, 345, 1980, [N/A], [N/A], 0x0000000000000001",
                            "2, NVIDIA H200, 1500, 1980, 1980, 1980, 0x0000000000000004")
        self.well(found)
        self.assertEqual([line[1] for line in found["clocks"]],
                         ["GPU 0 (NVIDIA H200): 1965 MHz now, 1980 at most", "GPU 1 (NVIDIA H200): 345 MHz now, 1980 at most",
                          "GPU 2 (NVIDIA H200): 1500 MHz now, 1980 at most, held by its power limit"])
        self.warns(self.clocks("0, NVIDIA H200, 900, 1980, 1980, 1980, 0x0000000000000040"), "clocks", "too hot, to 900 of 1980 MHz", "fans")
        self.warns(self.clocks("0, NVIDIA H200, 900, 1980, 1980, 1980, 0x0000000000000020"), "clocks", "too hot, to 900 of 1980 MHz", "fans")
        self.warns(self.clocks("0, NVIDIA H200, 600, 1980, 1980, 1980, 0x0000000000000088"), "clocks", "power brake", "power supply")
        self.warns(self.clocks("0, NVIDIA H200, 600, 1980, 1980, 1980, 0x0000000000000008"), "clocks", "the hardware slows it down", "cables")
        self.warns(self.clocks("0, NVIDIA H200, 1000, 1980, 1000, 1980, 0x0000000000000002"), "clocks", "set to 1000 MHz, and is 1980 MHz by default",
                   "--reset-applications-clocks")
        self.well(self.clocks('Field "clocks_throttle_reasons.active" is not a valid field to query.'))

    def test_driver(self):
        self.program("nvidia-smi", "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18")
        self.warns(self.doctor(), "driver", "Driver/library version mismatch", "modprobe nvidia")
        self.program("timeout", "exit 124")
        self.warns(self.doctor(), "driver", "does not answer within 20 s", "NVRM")

    def test_left_out(self):
        worker = self.program("worker", f'[ "$1" = version ] && exec {WORKER} version\n'
                              'echo "shoal-worker: cuda:1: NVIDIA GeForce GTX 1080: compute capability 6.1; expected 8.0 or later; not used" >&2\n'
                              'echo cuda:0')
        found = self.doctor(SHOAL_WORKER=worker)
        self.warns(found, "devices", "cuda:1: NVIDIA GeForce GTX 1080: compute capability 6.1", "Which GPUs")
        self.assertEqual(found["devices"][-1][1], "simulations run on cuda:0")

    # ---- folders

    def test_state(self):
        state = self.folder(".local/state/shoald")
        os.chmod(state, 0o700)
        found = self.doctor()
        self.well(found)
        self.assertIn(f"{state}: ", found["state"][0][1])
        os.chmod(state, 0o755)
        self.warns(self.doctor(), "state", f"{state} is open to other users (mode 755)", "chmod 700")
        other = self.folder("xdg/shoald")
        os.chmod(other, 0o750)
        self.warns(self.doctor(XDG_STATE_HOME=os.path.dirname(other)), "state", f"{other} is open", "chmod 700")

    @unittest.skipUnless(ROOT, "needs root to be another user")
    def test_state_that_is_closed(self):
        state = self.folder(".local/state/shoald")
        os.chmod(state, 0o400)
        os.chown(state, 1, 1)
        os.chmod(self.specs, 0o777)
        self.warns(self.doctor(uid=1), "state", f"{state}: Permission denied", "chmod u+rwx")

    @unittest.skipUnless(ROOT, "needs root to mount")
    def test_space(self):
        for check, path in (("state", self.folder(".local/state/shoald")), ("specs", self.specs)):
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", path], capture_output=True, check=False).returncode:
                self.skipTest("nothing can be mounted here")
            try:
                self.warns(self.doctor(), check, f"{path}: 0.0 GB are free, expected 5 GB", "shoal rm")
            finally:
                subprocess.run(["umount", path], check=True)
            os.chmod(path, 0o700)

    def test_specs(self):
        self.warns(self.doctor("/nowhere/specs"), "specs", "/nowhere/specs: No such file", "shoal doctor FOLDER")
        self.warns(self.doctor(__file__), "specs", "is no folder", "shoal doctor FOLDER")
        if ROOT:
            os.chmod(self.specs, 0o755)
            self.warns(self.doctor(uid=1), "specs", f"{self.specs} cannot be written: Permission denied", "--output")
            os.chmod(self.specs, 0o700)
            self.warns(self.doctor(uid=1), "specs", f"{self.specs} cannot be read: Permission denied", "ask its owner")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
