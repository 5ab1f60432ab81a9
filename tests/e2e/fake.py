# SPDX-License-Identifier: Apache-2.0
"""A shoald with a worker that computes nothing (fake_worker.py), and what tests ask of it."""
import json
import os
import sys
import time
import traceback

from service import Gone, Service
from tiny import tiny

FAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_worker.sh")
ENDED = ("done", "failed", "cancelled")


class Fake(Service):
    """A service of its own with a fake worker and its rules."""

    def __init__(self, shoald, folder, options=(), **rules):
        self.folder = folder
        self.rules_path = os.path.join(self.folder, "rules")
        super().__init__(shoald, FAKE, self.folder)
        self.command += options
        self.environment["FAKE_RULES"] = self.rules_path
        self.environment["FAKE_REAL_WORKER"] = os.path.join(os.path.dirname(os.path.abspath(shoald)), "worker/shoal-worker")
        self.set_rules(**rules)
        os.chmod(self.folder, 0o755)

    def set_rules(self, **rules):
        with open(self.rules_path + ".new", "w", encoding="utf-8") as f:
            json.dump({"steps": 100, "per_second": 500, "segment": 20, "slots": 2, **rules}, f)
        os.rename(self.rules_path + ".new", self.rules_path)
        for number in range(10):
            if os.path.exists(f"{self.rules_path}.{number}"):
                os.unlink(f"{self.rules_path}.{number}")

    def set_energy(self, **millijoules):
        """What devices with replicas have taken so far, by their names; of none: they do not tell."""
        with open(self.rules_path + ".energy.new", "w", encoding="utf-8") as f:
            json.dump(millijoules, f)
        os.rename(self.rules_path + ".energy.new", self.rules_path + ".energy")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, value, trace):
        if kind:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                sys.stderr.write(f.read()[-5000:])
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def wait_listening(self):
        deadline = time.monotonic() + 60
        while True:
            try:
                return self.call("GET", "/healthz/live")
            except Gone:
                assert time.monotonic() < deadline
                time.sleep(0.02)

    def submit(self, name, key=None, windows=(0, 0.5, 0.9), retries=2, expect=201, repeats=1):
        status, answer = self.call("POST", "/v1/ensembles", body_of(name, key, windows, retries, repeats))
        assert status == expect, (status, answer)
        return answer.get("id")

    def act(self, ident, what, expect=200):
        status, answer = self.call("POST", f"/v1/ensembles/{ident}/{what}")
        assert status == expect, (what, status, answer)
        return answer

    def wait(self, ident, *states, seconds=30):
        deadline = time.monotonic() + seconds
        while True:
            ensemble = self.get(ident)
            if ensemble["state"] in (states or ENDED):
                return ensemble
            assert time.monotonic() < deadline, f"still {ensemble}"
            time.sleep(0.02)

    def wait_replicas(self, ident, test, seconds=20):
        deadline = time.monotonic() + seconds
        while not all(test(r) for r in self.get(ident)["replicas"]):
            assert time.monotonic() < deadline, self.get(ident)
            time.sleep(0.02)

    def events(self, ident, since=0, follow=0):
        status, data = self.raw("GET", f"/v1/ensembles/{ident}/events?since={since}&follow={follow}")
        assert status == 200, data
        return [json.loads(line) for line in data.decode().splitlines()]

    def steps(self, ident, window, repeat=None):
        """The steps that a window's replica has written, in order."""
        folder = f"lambda_{window:02d}" if repeat is None else f"repeat_{repeat:02d}/lambda_{window:02d}"
        path = os.path.join(self.folder, "state/ensembles", ident, folder, "steps")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as f:
            return [int(line) for line in f]

    def log_text(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def fakes(self):
        """Process ids of the workers, oldest first."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as f:
            return [int(pid) for pid in f.read().split()]

    def wait_steps(self, ident, *windows):
        """Until those windows have got somewhere."""
        deadline = time.monotonic() + 20
        while not all(self.steps(ident, window) for window in windows):
            assert time.monotonic() < deadline, self.get(ident)
            time.sleep(0.02)


def body_of(name, key=None, windows=(0, 0.5, 0.9), retries=2, repeats=1):
    spec, files = tiny(name, seed=1, windows=windows, retries=retries, side=4)
    if repeats > 1:
        spec += f"repeats: {repeats}\n"
    body = {"spec": spec, "spec_name": "my.yaml", "files": files}
    return {**body, "id": key} if key else body


def assert_whole(service, ident, steps=100):
    """Every window done, no step lost or done twice."""
    ensemble = service.wait(ident)
    assert ensemble["state"] == "done", ensemble
    for window in range(ensemble["windows"]):
        assert service.steps(ident, window) == list(range(steps)), (window, service.steps(ident, window))
    return ensemble


class s_running:
    def __init__(self, service):
        self.service = service

    def __enter__(self):
        return self.service

    def __exit__(self, *what):
        self.service.__exit__(*what)


def as_user(uid, call, groups=()):
    """The value of call() in a child of that user."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups(groups)
            os.setgid(uid)
            os.setuid(uid)
            os.write(write, json.dumps(call()).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as f:
        data = f.read()
    os.waitpid(child, 0)
    return json.loads(data)


class Release:
    """Between this process and the child that holds: it holds until it is told to let go."""

    def __init__(self):
        self.ready, self.told = os.pipe(), os.pipe()
        self.value = None

    def wait(self):  # in the child
        os.write(self.ready[1], b".")
        os.read(self.told[0], 1)

    def settle(self):
        os.read(self.ready[0], 1)

    def go(self):
        os.write(self.told[1], b".")

    def done(self, value):
        self.value = value
