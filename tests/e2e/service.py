# SPDX-License-Identifier: Apache-2.0
"""A shoald with a state folder of its own, as tests use it: start, talk, kill, start again."""
import http.client
import http.server
import json
import os
import signal
import socket
import subprocess
import time


# shoald started by root becomes another user unless it is told not to.
AS_IS = ["--user", "root"] if os.geteuid() == 0 else []


class Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout=30):
        super().__init__("shoal", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Handler(http.server.BaseHTTPRequestHandler):
    """Of a server on such a socket; it says nothing of its own."""

    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "socket"

    def log_message(self, *args):
        pass


def until(test, seconds=90, said=lambda: "still waiting"):
    """What the test comes to, once that is true; said() is the message of one that never is."""
    deadline = time.monotonic() + seconds
    while not (value := test()):
        assert time.monotonic() < deadline, said()
        time.sleep(0.02)
    return value


class Gone(Exception):
    """The service did not answer: it is not there, or it died in the middle."""


class Service:
    def __init__(self, shoald, worker, folder, device="cpu", log=None):
        self.command = [shoald, "--state", os.path.join(folder, "state"), "--socket", os.path.join(folder, "api.sock")]
        for one in device.split(","):
            self.command += ["--device", one]
        self.command += AS_IS
        self.environment = dict(os.environ, SHOAL_WORKER=worker)
        self.socket = os.path.join(folder, "api.sock")
        self.log = log or os.path.join(folder, "log")
        self.process = None
        os.makedirs(folder, exist_ok=True)

    def start(self, wait=True):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log, env=self.environment)
        if wait:
            self.wait_ready()

    def wait_ready(self, seconds=300):  # as long as shoald gives a worker
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"shoald ended with {self.process.returncode}; see {self.log}")
            try:
                if self.call("GET", "/healthz/ready")[0] == 200:
                    return
            except Gone:
                pass
            time.sleep(0.02)
        raise AssertionError(f"shoald is not ready after {seconds} s; see {self.log}")

    def raw(self, method, path, body=None):
        """(status, bytes). Gone when there is no whole answer."""
        connection = Connection(self.socket)
        try:
            connection.request(method, path, None if body is None else json.dumps(body),
                               {} if body is None else {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise Gone(str(error)) from error
        finally:
            connection.close()

    def call(self, method, path, body=None):
        """(status, value)."""
        status, data = self.raw(method, path, body)
        return status, json.loads(data)

    def workers(self):
        """Process ids of the living shoal-workers of this shoald."""
        return self.children("shoal-worker")

    def children(self, program=""):
        """Process ids of its living children."""
        found = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/stat", encoding="latin-1") as f:
                    name, rest = f.read().rsplit(")", 1)
            except OSError:
                continue
            fields = rest.split()
            if int(fields[1]) == self.process.pid and fields[0] != "Z" and program in name:
                found.append(int(entry))
        return found

    def connections(self):
        """(accepted by the service, waiting in its backlog)"""
        with open("/proc/net/unix", encoding="utf-8", errors="replace") as f:
            states = [words[5] for words in map(str.split, f) if words[7:] == [self.socket]]
        return states.count("03"), states.count("02")

    def kill(self):
        """kill -9, as a power cut would end it."""
        self.process.kill()
        self.process.wait()

    def stop(self, seconds=60):
        """SIGTERM: drain. Returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=seconds)

    # ---- what its ensembles come to

    def get(self, ident):
        status, ensemble = self.call("GET", f"/v1/ensembles/{ident}")
        assert status == 200, ensemble
        return ensemble

    def wait_done(self, ident, also=lambda ensemble: None):
        """also: called with every look at it."""
        deadline = time.monotonic() + 120
        while (ensemble := self.get(ident))["state"] != "done":
            assert time.monotonic() < deadline and ensemble["state"] not in ("failed", "cancelled"), ensemble
            also(ensemble)
            time.sleep(0.02)
        return ensemble

    def outputs(self, ident):
        """{window/file: bytes} of one repeat, and "results" without what is this ensemble's own."""
        found = {}
        for window in range(self.get(ident)["windows"]):
            for name in ("dhdl.xvg", "energy.xvg", "traj.xtc", "confout.gro"):
                status, found[f"{window}/{name}"] = self.raw("GET", f"/v1/ensembles/{ident}/files/lambda_{window:02d}/{name}")
                assert status == 200, (window, name)
        status, results = self.call("GET", f"/v1/ensembles/{ident}/results")
        assert status == 200, results
        for name in ("id", "key", "speed", "running", "spec_hash", "revision"):
            del results["ensemble"][name]
        return {**found, "results": json.dumps(results)}

    def shoal(self, program, *words, cwd=None):
        """What the program says to this service's socket; it is to succeed."""
        run = subprocess.run([program, *words], cwd=cwd, env={**os.environ, "SHOAL_SOCKET": self.socket}, capture_output=True, text=True,
                             check=False)
        assert run.returncode == 0, (words, run.stdout, run.stderr)
        return run.stdout
