#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal-worker by itself: this program is its shoald and speaks frames with it (daemon/processes/frames.h).

Usage: worker.py SHOAL_WORKER
"""
import json
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from tiny import tiny

OUTPUTS = ["dhdl.xvg", "energy.xvg", "traj.xtc", "confout.gro"]
MEMORY_ERROR, IO_ERROR, PROTOCOL_ERROR, NO_SPACE = 2, 3, 21, 25  # numbers in schemas/errors.def


class Worker:
    def __init__(self, program, *options, file_limit=None, environment=None, stderr=None):
        ours, theirs = socket.socketpair()
        ours.settimeout(120)
        self.socket, self.inbox, self.loads = ours, b"", []

        def in_the_child(descriptor=theirs.fileno()):
            os.dup2(descriptor, 3)  # our own 3 may be anything
            if file_limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))

        self.process = subprocess.Popen([program, "serve", *options], close_fds=True, pass_fds=(3,),
                                        preexec_fn=in_the_child, stderr=stderr, env=dict(os.environ, **(environment or {})))
        theirs.close()
        self.hello = self.receive()

    def send(self, **message):
        data = json.dumps(message).encode()
        self.socket.sendall(struct.pack("<I", len(data)) + data)

    def receive(self):
        """The next frame but those of load, which are kept apart; None at the end of the stream."""
        while (message := self.take()) and message["type"] == "load":
            self.loads.append(message)
        return message

    def take(self):
        while len(self.inbox) < 4 or len(self.inbox) < 4 + struct.unpack("<I", self.inbox[:4])[0]:
            data = self.socket.recv(1 << 16)
            if not data:
                return None
            self.inbox += data
        size = struct.unpack("<I", self.inbox[:4])[0]
        message, self.inbox = json.loads(self.inbox[4:4 + size]), self.inbox[4 + size:]
        return message

    def start(self, replica, directory, window, windows, steps=0, **more):
        self.send(type="start", set=replica, ensemble="e", directory=directory, windows=windows, attempt=0, **more,
                  replicas=[dict(number=replica, window=window, repeat=0, key=window, folder=f"lambda_{window:02d}",
                                 steps=steps)])

    def until_ended(self, count, stop=None):
        """{replica: last frame} once `count` replicas have ended, and every other frame that came before. The replica
        `stop` is told to stop after its first checkpoint."""
        ended, others = {}, []
        while len(ended) < count:
            message = self.receive()
            assert message, "the worker ended"
            if message["type"] in ("done", "stopped", "failed"):
                assert message["replica"] not in ended
                ended[message["replica"]] = message
                continue
            others.append(message)
            if message["type"] == "segment" and message["replica"] == stop:
                self.send(type="stop", set=stop)
                stop = None
        return ended, others

    def interrupt(self, running, sets, checkpoints, kill):
        """Waits for some checkpoints of what runs, then kills the worker or stops the sets that are left. Returns the replicas that are
        done."""
        done, left = set(), checkpoints
        while left and len(done) < len(running):
            message = self.receive()
            assert message and message["type"] not in ("failed", "stopped"), message
            left -= message["type"] == "segment"
            done |= {message["replica"]} if message["type"] == "done" else set()
        if kill:
            self.process.kill()
            self.process.wait()
            return done
        for number in sets:
            self.send(type="stop", set=number)
        ended, _ = self.until_ended(len(running - done))
        assert all(last["type"] in ("done", "stopped") for last in ended.values()), ended
        return done | {number for number, last in ended.items() if last["type"] == "done"}

    def drain(self):
        self.send(type="drain")
        while self.receive():
            pass
        assert self.process.wait(timeout=60) == 0


def make(folder, name, **settings):
    directory = os.path.join(folder, name)
    os.makedirs(os.path.join(directory, "input"))
    spec, files = tiny(name, **settings)
    for file, text in {"spec.yaml": spec, **files}.items():
        with open(os.path.join(directory, "input", file), "w", encoding="utf-8") as f:
            f.write(text)
    return directory


def outputs(directory, windows):
    found = {}
    for window in range(windows):
        for name in OUTPUTS:
            path = f"lambda_{window:02d}/{name}"
            with open(os.path.join(directory, path), "rb") as f:
                found[path] = f.read()
    return found


def check_hello(worker):
    hello = worker.hello
    assert hello["type"] == "hello" and hello["device"] == "cpu:2" and hello["slots"] == 2, hello
    assert hello["protocol"] == 5
    assert hello["pid"] == worker.process.pid and hello["version"], hello
    assert re.fullmatch(r"cpu \w+, build [0-9a-f]{8}", hello["model"]), hello


def loads(program, folder):
    """What the device does is told every two seconds, and once it does nothing any more."""
    directory = make(folder, "long", seed=10, steps=1000000)
    worker = Worker(program, "--device", "cpu:2")
    for window in range(3):
        worker.start(window, directory, window, 3)
    while not any(m["ns_per_day"] for m in worker.loads):
        assert worker.receive()
    for window in range(3):
        worker.send(type="stop", set=window)
    worker.until_ended(3)
    worker.drain()
    check_loads(worker.loads)


def check_loads(loads):
    assert all(0 <= m["busy"] <= 1 and m["slots"] == 2 for m in loads), loads
    assert loads[-1]["busy"] == 0 and any(m["busy"] > 0.5 for m in loads), loads
    for m in loads:
        memory = m["memory"]
        assert 0 <= memory["replica"] <= memory["used"] + memory["free"] <= memory["total"], m
        if m["us_per_replica_step"]:  # of these all have 2 fs
            most = 2e-6 / m["us_per_replica_step"] * 1e6 * 86400
            assert 0 <= m["ns_per_day"] < 1.001 * most, m  # minimization is no time
        shares = {number: taken for number, taken, _ in m["replicas"]}
        assert all(card == "cpu:2" for *_, card in m["replicas"]), m
        assert len(shares) == len(m["replicas"]) and set(shares) <= {0, 1, 2}, m
        assert max(shares.values(), default=0) == memory["replica"] and all(b > 1000 for b in shares.values()), m
    assert any(len(m["replicas"]) == 3 for m in loads) and loads[-1]["replicas"] == [], loads
    assert any(m["ns_per_day"] > 0 for m in loads), loads


def interleaved(program, folder):
    """Two ensembles on one device, all replicas at once, and one in the middle that cannot write."""
    a = make(folder, "a", seed=1, steps=400, windows=(0, 0.5, 1))
    b = make(folder, "b", seed=2, steps=400, windows=(0, 1))
    c = make(folder, "c", seed=3, steps=400, windows=(0, 1))
    with open(os.path.join(c, "lambda_01"), "w", encoding="utf-8"):
        pass  # a file where the window's folder should be
    worker = Worker(program, "--device", "cpu:2")
    check_hello(worker)
    for number, (directory, window, windows) in enumerate(
            [(a, 0, 3), (b, 1, 2), (c, 1, 2), (a, 2, 3), (b, 0, 2), (a, 1, 3)], 100):
        worker.start(number, directory, window, windows)
    ended, others = worker.until_ended(6)
    failed = ended.pop(102)
    assert failed["type"] == "failed" and failed["code"] == IO_ERROR, failed
    assert failed["message"] == f"open {c}/lambda_01: Not a directory", failed
    for number, last in ended.items():
        assert last == {"type": "done", "replica": number, "step": 900}, last
    segments = [m for m in others if m["type"] == "segment"]
    assert {m["replica"] for m in segments} == set(ended), segments
    last = max((m for m in segments if m["replica"] == 100), key=lambda m: m["index"])
    assert last["bytes"] == {name: os.path.getsize(f"{a}/lambda_00/{name}") for name in OUTPUTS[:3]}, last
    assert last["step"] == last["steps"] == 900 and last["stage"] == 4, last
    worker.drain()
    files = outputs(a, 3)
    assert len(set(files.values())) == len(files), "two files are the same: windows do not differ"
    return {a: files, b: outputs(b, 2)}


def predicted(program, directory):
    """What validate says a run takes on disk is what it took, about."""
    run = subprocess.run([program, "validate", f"{directory}/input/spec.yaml", "--json"], capture_output=True, text=True,
                         check=True)
    about = json.loads(run.stdout)["about"]
    taken = sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(directory) for name in names
                if "lambda_" in path)
    assert 0.85 < about["disk_bytes"] / taken < 1.2, (about, taken)
    assert abs(about["ns_per_window"] - 800 * 2e-6) < 1e-9, about
    assert about["us_per_step"] > 1 and about["wall_seconds"] > 900 * 1e-6 * about["us_per_step"], about


def alone_and_stopped(program, folder, wanted):
    """One window at a time, stopped over and over: the bytes are those of the interleaved run."""
    for directory, files in wanted.items():
        again = os.path.join(folder, "again")
        shutil.copytree(os.path.join(directory, "input"), os.path.join(again, "input"))
        windows = len(files) // len(OUTPUTS)
        worker = Worker(program, "--device", "cpu:1", "--slots", "7")
        assert worker.hello["slots"] == 7
        stops = 0
        for window in range(windows):
            while True:
                worker.start(window, again, window, windows)
                ended, _ = worker.until_ended(1, stop=window)
                if ended[window]["type"] == "done":
                    break
                assert ended[window]["type"] == "stopped", ended
                stops += 1
        assert stops, "nothing was ever stopped"
        worker.drain()
        for path, data in outputs(again, windows).items():
            assert data == files[path], f"{path} differs after {stops} stops; see {again}"
        print(f"stopped {stops} times: every byte the same")
        shutil.rmtree(again)


def salted(program, folder, wanted):
    """A replica that is told of a salt goes on from the checkpoint before the newest, says so once, and goes another way."""
    directory, files = next(iter(wanted.items()))
    again = os.path.join(folder, "salted")
    shutil.copytree(os.path.join(directory, "input"), os.path.join(again, "input"))
    worker = Worker(program, "--device", "cpu:1")
    ends = []
    for salt in (0, 0, 0, 3, 3, 0):  # stopped five times
        worker.start(0, again, 0, 3, salt=salt)
        ended, others = worker.until_ended(1, stop=0 if len(ends) < 5 else None)
        events = [m for m in others if m["type"] == "event" and m["kind"] == "salt"]
        assert len(events) == (salt == 3 and ends.count(3) == 0), events
        assert all("salt 3" in m["message"] for m in events), events
        ends.append(salt)
    assert ended[0]["type"] == "done", ended
    worker.drain()
    with open(f"{again}/lambda_00/dhdl.xvg", "rb") as f:
        dhdl = f.read()
    plain = files["lambda_00/dhdl.xvg"]
    assert dhdl != plain and len(dhdl.splitlines()) == len(plain.splitlines())
    shutil.rmtree(again)


def signals_and_partings(program, folder):
    d = make(folder, "d", seed=4, steps=100000, windows=(0, 1))
    worker = Worker(program)
    worker.start(1, d, 0, 2)
    worker.start(2, d, 1, 2)
    while worker.receive()["type"] != "segment":
        pass
    worker.process.send_signal(signal.SIGTERM)
    ended, _ = worker.until_ended(2)
    assert {m["type"] for m in ended.values()} == {"stopped"}, ended
    assert worker.process.wait(timeout=30) == 0
    assert os.path.exists(f"{d}/lambda_00/checkpoint")

    worker = Worker(program)  # shoald goes away in the middle of the work
    worker.start(1, d, 0, 2)
    while worker.receive()["type"] != "segment":
        pass
    worker.socket.close()
    assert worker.process.wait(timeout=10) == 0

    for nonsense in (b"\xff\xff\xff\xff", struct.pack("<I", 2) + b"{}", struct.pack("<I", 16) + b'{"type": "dance"',
                     struct.pack("<I", 17) + b'{"type": "dance"}', struct.pack("<I", 17) + b'{"type": "start"}'):
        worker = Worker(program)
        worker.socket.sendall(nonsense)
        assert worker.receive()["type"] == "ending"
        assert worker.receive() is None
        assert worker.process.wait(timeout=10) == 1, nonsense


def full_disk(program, folder):
    """Files that can grow no longer: the replicas say which, and the worker lives. With room again, they go on."""
    f = make(folder, "f", seed=8, steps=200, windows=(0, 1))
    worker = Worker(program, file_limit=2000)
    for window in (0, 1):
        worker.start(window, f, window, 2)
    ended, _ = worker.until_ended(2)
    for window, last in ended.items():
        assert last["type"] == "failed" and last["code"] == NO_SPACE, last
        assert last["message"] == f"write {f}/lambda_{window:02d}/checkpoint: File too large", last
    worker.drain()
    worker = Worker(program)
    for window in (0, 1):
        worker.start(window, f, window, 2)
    ended, _ = worker.until_ended(2)
    assert {m["type"] for m in ended.values()} == {"done"}, ended
    worker.drain()


def little_memory(program, folder):
    """An ensemble that does not fit into memory fails by itself, with the numbers; the others of the worker go on. With more
    memory it runs."""
    small = make(folder, "small", seed=7, steps=100000, windows=(0, 1))
    big = make(folder, "big", seed=8, side=24, windows=[k / 7 for k in range(8)])
    worker = Worker(program)
    worker.start(1, small, 0, 2)
    while worker.receive()["type"] != "segment":
        pass
    pid = worker.process.pid
    used = data_of(pid)
    for room, starts, what in (80, 1, "an ensemble"), (200, 8, "a replica"):
        resource.prlimit(pid, resource.RLIMIT_DATA, (used + (room << 20), resource.RLIM_INFINITY))
        for window in range(starts):
            worker.start(10 + window, big, window, 8)
        failed = next(iter(worker.until_ended(1)[0].values()))
        assert failed["type"] == "failed" and failed["code"] == MEMORY_ERROR, failed
        assert re.fullmatch(rf"memory for {what}: about \S+ MiB are needed, and 64 to spare; RLIMIT_DATA leaves \S+",
                            failed["message"]), failed
    resource.prlimit(pid, resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    worker.start(4, big, 7, 8)
    heard = set()
    while not heard >= {1, 4}:  # the small one was not disturbed, and the one that failed begins
        message = worker.receive()
        if message["type"] == "failed":  # of the eight, told after the first
            assert message["code"] == MEMORY_ERROR and message["replica"] > 4, message
            continue
        heard.add(message["replica"])
    worker.process.kill()
    worker.process.wait()


def data_of(pid):
    """Bytes that RLIMIT_DATA counts."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(next(line for line in f if line.startswith("VmData:")).split()[1]) << 10


def of_frames(folder, name):
    """An ensemble of 12,286 atoms with a frame, and a checkpoint, after every second of its few steps."""
    directory = make(folder, name, seed=9, side=16, timestep="0.1 fs", windows=(0, 1), checkpoint="2 steps")
    path = f"{directory}/input/spec.yaml"
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"(?s)^name: \w+(.*)protocol:.*?run:", r"name: frames\1protocol:\n"
                      "  - produce: {time: 30 steps, ensemble: nvt, sample-every: 2 steps, frames-every: 2 steps}\nrun:", f.read())
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return directory


def memory_runs_out(program, folder):
    """When there is no memory left for the frames of a running replica, it alone fails, with the numbers; those that need less
    go on, and so does the worker. With more memory it goes on where it was: no byte differs."""
    small = make(folder, "little", seed=7, steps=100000, windows=(0, 1))
    big, whole = of_frames(folder, "frames"), of_frames(folder, "whole")
    # Freed memory that AddressSanitizer holds back would count.
    asan = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"
    worker = Worker(program, environment={"ASAN_OPTIONS": asan})
    worker.start(1, small, 0, 2)
    worker.start(2, big, 0, 2)
    saved = set()
    while saved != {1, 2}:
        message = worker.receive()
        saved |= {message["replica"]} if message["type"] == "segment" else set()
    pid = worker.process.pid
    resource.prlimit(pid, resource.RLIMIT_DATA, (data_of(pid) + (8 << 20) + (500 << 10), resource.RLIM_INFINITY))
    failed = worker.until_ended(1)[0][2]
    assert failed["type"] == "failed" and failed["code"] == MEMORY_ERROR, failed
    assert re.fullmatch(rf"{big}/lambda_00/(traj.xtc: memory for a frame|checkpoint: memory for a checkpoint): about \S+ MiB are "
                        r"needed, and 8 to spare; RLIMIT_DATA leaves \S+", failed["message"]), failed
    while worker.receive()["type"] != "segment":
        pass  # of the small one
    resource.prlimit(pid, resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    worker.send(type="stop", set=1)
    worker.start(2, big, 0, 2)
    worker.start(3, whole, 0, 2)
    ended, _ = worker.until_ended(3)
    assert {ended[n]["type"] for n in (2, 3)} == {"done"}, ended
    assert outputs(big, 1) == outputs(whole, 1)
    worker.drain()


def bad_input(program, folder):
    """What the daemon would have refused, and a window out of range."""
    e = make(folder, "e", seed=5)
    with open(f"{e}/input/tiny.top", "a", encoding="utf-8") as f:
        f.write("[ moonbeams ]\n1 2 3\n")
    good = make(folder, "good", seed=6)
    worker = Worker(program)
    worker.start(1, e, 0, 3)
    worker.start(2, os.path.join(folder, "nowhere"), 0, 3)
    worker.start(3, good, 3, 3)
    ended, _ = worker.until_ended(3)
    assert all(m["type"] == "failed" for m in ended.values()), ended
    assert "tiny.top:" in ended[1]["message"] and "moonbeams" in ended[1]["message"], ended[1]
    assert "spec.yaml" in ended[2]["message"], ended[2]
    assert ended[3]["code"] == PROTOCOL_ERROR, ended[3]
    worker.drain()


BENCH_KEYS = ["spec", "device", "form", "pme", "replicas", "atoms", "timestep_fs", "steps", "replica_steps", "wall_s", "us_per_replica_step",
              "ns_per_day_aggregate", "kernel_nodes_per_step", "cpu_s_per_wall_s", "feeding_us_per_replica_step", "device_bytes_per_replica"]


def bench(program, folder):
    """More replicas than windows, from a spec on disk; nothing of the run is left behind."""
    directory, scratch = make(folder, "bench", seed=9), os.path.join(folder, "scratch")
    os.mkdir(scratch)
    run = subprocess.run([program, "bench", f"{directory}/input/spec.yaml", "--replicas", "4", "--steps", "60", "--warm-up", "1", "--form", "auto", "--pme",
                          "auto", "--device", "cpu:2", "--json"], capture_output=True, text=True, env=dict(os.environ, TMPDIR=scratch), check=False)
    assert run.returncode == 0, run.stderr
    figures = json.loads(run.stdout)
    assert list(figures) == BENCH_KEYS, figures
    assert [figures[key] for key in BENCH_KEYS[1:8]] == ["cpu:2", "graph", "none", 4, 373, 2.0, 60], figures
    assert all(figures[key] > 0 for key in BENCH_KEYS[4:]), figures
    assert 60 <= figures["replica_steps"] <= 4 * 60, figures  # the clock stops when the first replica is through
    total = figures["us_per_replica_step"] * 1e-6 * figures["replica_steps"]
    assert abs(total - figures["wall_s"]) < 1e-4 * total, figures
    picture = os.path.join(folder, "sweep.svg")
    run = subprocess.run([program, "bench", *[f"{directory}/input/spec.yaml"] * 2, "--sweep", "1,2", "--steps", "240", "--device",
                          "cpu:1", "--device", "cpu:2", "--plot", picture, "--json"], capture_output=True, text=True,
                         env=dict(os.environ, TMPDIR=scratch), check=False)
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    for one, other in zip(answer[::2], answer[1::2]):  # of the same size: the same part, of replicas and of atoms
        assert list(one) == list(other) == [*BENCH_KEYS, "part_of_replica_steps", "part_of_atom_steps"], one
        part = one["replica_steps"] / (one["replica_steps"] + other["replica_steps"])
        for key in "part_of_replica_steps", "part_of_atom_steps":
            assert abs(one[key] - part) < 1e-5 and abs(one[key] + other[key] - 1) < 1e-5, (one, other)
    rows = [(row["device"], row["replicas"]) for row in answer]
    assert rows == [(device, n) for device in ("cpu:1", "cpu:2") for n in (1, 1, 2, 2)], run.stdout
    svg = "{http://www.w3.org/2000/svg}"
    drawn = xml.etree.ElementTree.parse(picture).getroot()
    assert len(list(drawn.iter(svg + "circle"))) == 4, picture
    assert {"cpu:1", "cpu:2"} < {text.text for text in drawn.iter(svg + "text")}, picture
    assert not os.listdir(scratch)
    bench_each(program, folder, f"{directory}/input/spec.yaml")


def bench_each(program, folder, spec):
    """Specs one after the other, and the picture of their sizes."""
    small, picture = f"{make(folder, 'smaller', seed=9, side=4)}/input/spec.yaml", os.path.join(folder, "each.svg")
    command = [program, "bench", spec, small, "--each", "--steps", "120"]
    run = subprocess.run([*command, "--device", "cpu:2", "--device", "cpu:1", "--plot", picture, "--json"], capture_output=True, text=True,
                         check=False)
    assert run.returncode == 0, run.stderr
    rows = json.loads(run.stdout)
    assert [(row["device"], row["replicas"], row["atoms"]) for row in rows] == [(d, 1, n) for d in ("cpu:2", "cpu:1") for n in (373, 190)], rows
    drawn = xml.etree.ElementTree.parse(picture).getroot()
    svg = "{http://www.w3.org/2000/svg}"
    texts = [text.text or "" for text in drawn.iter(svg + "text")]
    assert len(list(drawn.iter(svg + "circle"))) == 4, picture
    assert [text.text for text in drawn.iter(svg + "text") if text.get("class") == "soft along"] == ["190", "373"], texts
    speed = [row["ns_per_day_aggregate"] for row in rows]
    assert [text for text in texts if text.startswith("x ")] == [f"x {speed[k] / speed[k + 2]:.3g}" for k in (1, 0)], (texts, speed)
    assert all(list(row) == BENCH_KEYS for row in rows), rows
    run = subprocess.run([program, "bench", spec, small, "--steps", "120", "--device", "cpu:2"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    head, *lines = run.stdout.splitlines()
    assert "% of steps  of atom-steps spec" in head, head
    table = [line.split() for line in lines]
    atoms, period, steps, work = ([float(row[k]) for row in table] for k in (2, 3, 6, 7))
    done = [1 / p for p in period]  # steps of each in the same time
    parts = [100 * d / sum(done) for d in done], [100 * d * n / sum(d * n for d, n in zip(done, atoms)) for d, n in zip(done, atoms)]
    assert all(abs(got - due) < 0.2 for column, wanted in zip((steps, work), parts) for got, due in zip(column, wanted)), run.stdout
    assert work[0] > steps[0], run.stdout  # the larger
    run = subprocess.run([*command, "--sweep", "1,2"], capture_output=True, text=True, check=False)
    assert run.returncode == 2 and "--each --sweep: expected one of them" in run.stderr, run


def offline(program, folder):
    """Commands whose answer nobody gets, and numbers that are none, end with an error."""
    spec = f"{make(folder, 'offline', seed=10)}/input/spec.yaml"
    for command in (["validate", spec], ["validate", spec, "--json"], ["energy", spec, "--json", "--forces"], ["version"]):
        with open("/dev/full", "w", encoding="utf-8") as full:
            run = subprocess.run([program, *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert run.returncode == 73 and "standard output: " in run.stderr, (command, run)
    for option, text, verb in (("--steps", "1e6", "bench"), ("--replicas", "4x", "bench"), ("--window", "0x1", "energy"),
                               ("--window", "", "energy"), ("--replicas", "0", "bench"), ("--warm-up", "0", "bench")):
        run = subprocess.run([program, verb, spec, option, text], capture_output=True, text=True, check=False)
        assert run.returncode == 2 and not run.stdout, run
        assert run.stderr.startswith(f"shoal {verb}: {option} {text}: expected a whole number from "), run.stderr
    for options, code, why in ((["--pme", "gpu"], 2, "--pme gpu: expected auto, block or card"),
                               (["--form", "none"], 2, "--form none: expected auto, gang or graph"),
                               (["--form", "gang"], 65, "form gang: cpu devices have none: expected a GPU"),
                               (["--pme", "card"], 65, "pme by a block or over the card: cpu devices have one way: expected a GPU")):
        run = subprocess.run([program, "bench", spec, *options], capture_output=True, text=True, check=False)
        assert run.returncode == code and why in run.stderr, run


def main():
    program = sys.argv[1]
    folder = tempfile.mkdtemp(prefix="shoal-worker-")
    bad_input(program, folder)
    full_disk(program, folder)
    little_memory(program, folder)
    memory_runs_out(program, folder)
    bench(program, folder)
    offline(program, folder)
    loads(program, folder)
    wanted = interleaved(program, folder)
    predicted(program, next(iter(wanted)))
    alone_and_stopped(program, folder, wanted)
    salted(program, folder, wanted)
    signals_and_partings(program, folder)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
