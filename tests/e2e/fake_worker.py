#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker that computes nothing and goes wrong on request, to test how shoald supervises.

It speaks frames (daemon/processes/frames.h) and obeys the file named by FAKE_RULES, read again at every start of a replica:
{"steps": per replica, and so many more as its target is later than the spec's (0: its target), "per_second": steps, "segment": steps between checkpoints, "model": device model,
 "limits", "memory": of the device, {"total", "free", "used": bytes}, "drain_seconds": how long a drain takes, "protocol": what the hello says,
 "rules": [{"window": 1, "name": "ensemble's name", "device": "cpu:1", "salt": of the start, "at": step, "times": n,
            "do": "crash" | "exit" | "fail" | "nonsense" | "stray" | "close" | "hang", "code": n, "message": text}]}
Every key of a rule but "do" may be absent; a replica that hangs makes no step but is heard of; `times` counts in a file beside the rules, over all workers.
The file RULES.energy, where there is one, has the millijoules that each device has taken so far, {"cpu": 1000}; a change is told at once.
Each step writes a line to steps in the replica's folder, so that a test sees which steps were lost or done twice.
"""
import ctypes
import errno
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import struct
import sys
import time

RULES = os.environ["FAKE_RULES"]
NONFINITE, IO, NO_SPACE = 11, 3, 25
PROTOCOL = 5  # FRAMES_PROTOCOL


def rules():
    with open(RULES, encoding="utf-8") as f:
        return json.load(f)


def energy_of(device):
    try:
        with open(RULES + ".energy", encoding="utf-8") as f:
            return json.load(f).get(device, 0)
    except FileNotFoundError:
        return 0


def times_done(number):
    path = f"{RULES}.{number}"
    return os.path.getsize(path) if os.path.exists(path) else 0


def count(number):
    with open(f"{RULES}.{number}", "a", encoding="utf-8") as f:
        f.write(".")


class Replica:
    def __init__(self, start, message, now):
        self.set, self.number, self.window = start["set"], message["number"], message["window"]
        self.config = rules()
        self.folder = os.path.join(start["directory"], message["folder"])
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(start["directory"], "input/spec.yaml"), encoding="utf-8") as f:
            spec = f.read()
        self.name = re.search(r"^name: *(\S+)", spec, re.M).group(1)
        said = sum(int(n) for n in re.findall(r"(?:minimize: {steps|time): (\d+)", spec))
        steps = self.config.get("steps", 100)
        self.steps = steps + message["steps"] - said if steps else message["steps"]
        self.step, self.index, self.salt, self.hangs, self.took = 0, 0, start["salt"], False, False
        self.take_over(start, message)
        # A larger salt than the newest checkpoint's means the checkpoint before, as the true worker does it.
        size = 0
        for name in ("checkpoint", "checkpoint.previous"):
            if os.path.exists(self.path(name)):
                with open(self.path(name), encoding="utf-8") as f:
                    self.step, self.index, size, salt = json.load(f)
                if salt == self.salt or name == "checkpoint.previous":
                    break
                self.step, self.index, size = 0, 0, 0
        with open(self.path("steps"), "ab") as f:
            f.truncate(size)
        self.begun, self.first = now, self.step
        self.told = now

    def take_over(self, start, message):
        """What its window had sampled before windows were added, in one piece."""
        origin = os.path.join(start["directory"], message.get("origin", ""))
        if "origin" in message and os.path.exists(os.path.join(origin, "checkpoint")) and not os.path.exists(self.path("checkpoint")):
            for name in ("steps", "checkpoint"):
                shutil.copy(os.path.join(origin, name), self.path(name))
            self.took = True

    def path(self, name):
        return os.path.join(self.folder, name)

    def checkpoint(self):
        size = os.path.getsize(self.path("steps"))
        with open(self.path("checkpoint.tmp"), "w", encoding="utf-8") as f:
            json.dump([self.step, self.index + 1, size, self.salt], f)
        if os.path.exists(self.path("checkpoint")):
            os.rename(self.path("checkpoint"), self.path("checkpoint.previous"))
        os.rename(self.path("checkpoint.tmp"), self.path("checkpoint"))
        self.index += 1
        return size


class Worker:
    def __init__(self, device, slots):
        self.socket = socket.socket(fileno=3)
        self.inbox = b""
        self.device, self.replicas = device, {}
        config = rules()
        self.slots = slots or config.get("slots", 2)
        self.energy = energy_of(device)
        about = {key: config[key] for key in ("limits", "memory") if key in config}
        self.send(type="hello", protocol=config.get("protocol", PROTOCOL), device=device, model=config.get("model", "fake"), slots=self.slots,
                  pid=os.getpid(), version="fake", energy_mj=self.energy, **about)

    def send(self, **message):
        data = json.dumps(message).encode()
        try:
            self.socket.sendall(struct.pack("<I", len(data)) + data)
        except OSError:
            sys.exit(0)

    def go_wrong(self, replica, rule):
        what = rule["do"]
        if what == "hang":
            replica.hangs = True
            return
        if what == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if what == "exit":
            sys.exit(3)
        if what == "close":
            self.socket.close()
            time.sleep(100)
        if what == "nonsense":
            self.socket.sendall(struct.pack("<I", 4) + b"oops")
            time.sleep(100)
        if what == "stray":
            self.send(type="done", replica=999999999, step=0)
            time.sleep(100)
        self.send(type="failed", replica=replica.number, code=rule.get("code", NONFINITE),
                  message=rule.get("message", "it blew up"), step=replica.step)
        del self.replicas[replica.number]

    def rule_for(self, replica):
        for number, rule in enumerate(replica.config.get("rules", [])):
            facts = {"window": replica.window, "name": replica.name, "salt": replica.salt, "device": self.device}
            if any(rule.get(key, value) != value for key, value in facts.items()):
                continue
            if replica.step >= rule.get("at", 0) and times_done(number) < rule.get("times", 10**9):
                count(number)
                return rule
        return None

    def advance(self, replica, now):
        config = replica.config
        steps, segment = replica.steps, config.get("segment", 20)
        due = min(steps, replica.first + int((now - replica.begun) * config.get("per_second", 500)))
        due = replica.step if replica.hangs else due
        while replica.step < due:
            with open(replica.path("steps"), "a", encoding="utf-8") as f:
                f.write(f"{replica.step}\n")
            replica.step += 1
            rule = self.rule_for(replica)
            if rule:
                self.go_wrong(replica, rule)
                return
            if replica.step % segment == 0:
                size = replica.checkpoint()
                self.send(type="segment", replica=replica.number, index=replica.index, stage=0, step=replica.step,
                          steps=steps, time_ps=replica.step * 0.002, bytes={"steps": size})
        if replica.step >= steps:
            self.send(type="done", replica=replica.number, step=replica.step)
            del self.replicas[replica.number]
        elif now - replica.told > 0.2:
            replica.told = now
            self.send(type="progress", replica=replica.number, stage=0, step=replica.step, steps=steps, time_ps=replica.step * 0.002)

    def stop(self, replica):
        replica.checkpoint()
        self.send(type="stopped", replica=replica.number, step=replica.step)
        del self.replicas[replica.number]

    def start(self, message, one):
        try:
            replica = self.replicas[one["number"]] = Replica(message, one, time.monotonic())
            if replica.took:
                self.send(type="segment", replica=replica.number, index=replica.index, stage=0, step=replica.step, steps=replica.steps,
                          time_ps=replica.step * 0.002, bytes={})
        except OSError as error:
            self.send(type="failed", replica=one["number"], code=NO_SPACE if error.errno == errno.ENOSPC else IO,
                      message=f"open {error.filename}: {error.strerror}", step=0)

    def tell_load(self):
        shares = [[number, 1000 + number] for number in self.replicas]
        self.energy = energy_of(self.device)
        self.send(type="load", slots=self.slots, busy=0.5, us_per_replica_step=100.0, ns_per_day=1000.0, replicas=shares, energy_mj=self.energy,
                  memory={"total": 1 << 30, "free": 1 << 29, "used": 1 << 20, "replica": max((b for _, b in shares), default=0),
                          **rules().get("memory", {})})

    def take(self, message):
        if message["type"] == "start":
            for one in message["replicas"]:
                self.start(message, one)
            self.tell_load()
        elif message["type"] == "stop":
            for replica in [r for r in self.replicas.values() if r.set == message["set"]]:
                self.try_to(self.stop, replica)
        elif message["type"] == "drain":
            time.sleep(rules().get("drain_seconds", 0))
            for replica in list(self.replicas.values()):
                self.try_to(self.stop, replica)
            sys.exit(0)

    def read(self):
        data = self.socket.recv(1 << 16)
        if not data:
            sys.exit(0)
        self.inbox += data
        while len(self.inbox) >= 4:
            size = struct.unpack("<I", self.inbox[:4])[0]
            if len(self.inbox) < 4 + size:
                return
            message, self.inbox = json.loads(self.inbox[4:4 + size]), self.inbox[4 + size:]
            self.take(message)

    def run(self):
        while True:
            if select.select([self.socket], [], [], 0.01 if self.replicas else None)[0]:
                self.read()
            for replica in list(self.replicas.values()):
                self.try_to(self.advance, replica, time.monotonic())
            if self.energy != energy_of(self.device):
                self.tell_load()

    def try_to(self, what, replica, *arguments):
        """A disk that is full is the failure of whoever meets it."""
        try:
            what(replica, *arguments)
        except OSError as error:
            self.send(type="failed", replica=replica.number, code=NO_SPACE if error.errno == errno.ENOSPC else IO,
                      message=f"write {error.filename}: {error.strerror}", step=replica.step)
            del self.replicas[replica.number]


MISLEADING = "No space left on device, out of memory"  # part of a file's name: the code of an error says what it is


def read_slowly():
    """As RULES.COMMAND says: {"how": "busy" | "sleep" | "wait" (a second) | "hold" (until there is a file RULES.go) |
    "named" (sleeps over a spec that is named slow) | "signal-N" | "error-CODE" | "exit" | "nonsense" | "half"
    | "answer" (live estimates of "answers", one after the other, the last for ever: [value, error, verdict], or null: it dies; those
    below number "held" wait for a file RULES.answer-NUMBER), "folder": where it leaves its process id}."""
    with open(f"{RULES}.{sys.argv[1]}", encoding="utf-8") as f:
        rule = json.load(f)
    what, _, number = rule["how"].partition("-")
    if what == "named":
        body = sys.stdin.buffer.read()
        if b"name: slow" not in body:
            memory = os.memfd_create("body")
            os.pwrite(memory, body, 0)
            os.dup2(memory, 0)
            return
    if what == "answer" and "--output" not in sys.argv:
        return
    with open(os.path.join(rule["folder"], str(os.getpid())), "w", encoding="utf-8"):
        pass
    if what == "answer":
        number = len(os.listdir(rule["folder"])) - 1
        while number < rule.get("held", 0) and not os.path.exists(f"{RULES}.answer-{number}"):
            time.sleep(0.01)
        answer = rule["answers"][min(number, len(rule["answers"]) - 1)]
        if answer is None:
            sys.exit(3)
        value, error, verdict = answer
        json.dump({"ensemble": {"revision": json.load(sys.stdin)["revision"]},
                   "estimate": value and {"magnitude": value, "unit": "kilocalorie_per_mole"},
                   "uncertainty": value and {"magnitude": error, "unit": "kilocalorie_per_mole"}, "verdict": {"verdict": verdict}}, sys.stdout)
        sys.exit(0)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG, as the real one does
    if what == "busy":
        resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
        while True:
            pass
    if what == "wait":
        time.sleep(1)
        return
    if what == "hold":
        while not os.path.exists(f"{RULES}.go"):
            time.sleep(0.01)
        return
    if what in ("sleep", "named"):
        time.sleep(100)
    if what == "signal":
        os.kill(os.getpid(), int(number))
    if what == "error":
        json.dump({"error": {"code": number, "message": f"lambda_00/{MISLEADING}: x"}}, sys.stdout)
        print(MISLEADING, file=sys.stderr)
        sys.exit(1)
    if what == "exit":
        sys.exit(3)
    if what == "nonsense":
        print("nonsense")
    if what == "half":
        print('{"summary": {}, "submission": {"name": "x", "spec_name": "x", "hash": "x", "windows": 1, "repeats": 1,'
              ' "steps": 1, "spec_bytes": 10, "files": []}}\nshort', end="")
    sys.exit(0)


def main():
    if sys.argv[1] in ("check-submission", "estimate"):
        read_slowly()
        os.execv(os.environ["FAKE_REAL_WORKER"], [os.environ["FAKE_REAL_WORKER"], *sys.argv[1:]])
    if sys.argv[1] == "devices":
        print("cpu")
        return
    options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
    if os.path.exists(RULES + ".refuse"):
        sys.exit(5)
    Worker(options["--device"], int(options.get("--slots", 0))).run()


if __name__ == "__main__":
    main()
