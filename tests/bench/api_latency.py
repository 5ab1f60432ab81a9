#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the API takes to answer with many ensembles stored: list alone, health while others list, a crowd at once.

Usage: api_latency.py SHOALD WORKER [--ensembles N] [--seconds S] [--check]
--check fails where a target is missed: list p99 under 50 ms, health under 100 ms while 20 clients list, no one of 1,000 refused.
"""
import argparse
import json
import os
import random
import shutil
import socket
import sqlite3
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from service import Connection, Service  # noqa: E402


def fill(database, n, windows=24, state=4, owner=lambda number: os.geteuid()):
    """n ensembles in the state that their replicas are in too (4: done), as a service that ran for long has them. Their ids."""
    db = sqlite3.connect(database)
    db.execute("PRAGMA foreign_keys = ON")
    now, idents = int(time.time() * 1000), []
    (first,), (replica,) = (db.execute(f"SELECT coalesce(max(number), 0) FROM {table}").fetchone() for table in ("ensemble", "replica"))
    steps = 1000 if state == 4 else 0
    for number in range(first + 1, first + n + 1):
        idents.append("".join(random.choices("23456789abcdefghjkmnpqrstuvwxyz", k=10)))
        db.execute("INSERT INTO ensemble (number, id, owner, key, hash, name, spec_name, spec, atoms, windows, repeats, stages,"
                   " retries, state, reason, created, changed) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                   (number, idents[-1], owner(number), f"key-{number}", "0" * 64, f"ensemble-{number}", "s.yaml", "name: x\n", 1000,
                    windows, 1, 3, 2, state, None, now - 1000 * (first + n - number), now - 500 * (first + n - number)))
        db.execute("INSERT INTO label VALUES (?, 'project', ?)", (number, f"p{number % 10}"))
        for window in range(windows):
            replica += 1
            db.execute("INSERT INTO replica_set (number, ensemble, failures, crashes, salt, device, model) VALUES (?,?,0,0,0,?,?)",
                       (replica, number, *(("cpu", "cpu") if steps else (None, None))))
            db.execute("INSERT INTO replica (number, ensemble, in_set, window, repeat, steps, state, stage, step, time_ps, code,"
                       " failed_step, stream) VALUES (?,?,?,?,0,1000,?,?,?,?,0,0,?)",
                       (replica, number, replica, window, state, 2 if steps else 0, steps, steps / 500, window))
            for _ in range(3 if steps else 0):
                db.execute("INSERT INTO event (ensemble, replica, time, kind, state) VALUES (?,?,?,'replica',4)", (number, replica, now))
        db.execute("INSERT INTO event (ensemble, time, kind, state) VALUES (?,?,'ensemble',?)", (number, now, state))
    db.commit()
    db.close()
    return idents


class Client:
    """One connection that stays."""

    def __init__(self, path):
        self.connection = Connection(path, timeout=60)

    def timed(self, path):
        begin = time.monotonic()
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        data = answer.read()
        return answer.status, 1000 * (time.monotonic() - begin), data


def percentile(values, p):
    return sorted(values)[min(len(values) - 1, int(p / 100 * len(values)))]


def wait_measured(s):
    """A start measures every folder once; what is timed is a service that has been up for a while."""
    client = Client(s.socket)
    while json.loads(client.timed("/v1/ensembles?limit=1")[2])["ensembles"][0]["bytes"] is None:
        time.sleep(0.1)


def measure_list(s, seconds):
    client, times, end = Client(s.socket), [], time.monotonic() + seconds
    after = None
    while time.monotonic() < end:
        status, ms, data = client.timed("/v1/ensembles" + (f"?after={after}" if after else ""))
        assert status == 200
        after = json.loads(data)["next"]
        times.append(ms)
    return times


def lister(path, end, times):
    client = Client(path)
    while time.monotonic() < end:
        status, ms, _ = client.timed("/v1/ensembles")
        assert status == 200
        times.append(ms)


def measure_health(s, seconds, clients=20):
    """The listers are processes of their own: threads of this one would wait for each other and not for the service."""
    end = time.monotonic() + seconds
    children = []
    for _ in range(clients):
        pid = os.fork()
        if pid == 0:
            lister(s.socket, end, [])
            os._exit(0)
        children.append(pid)
    client, times = Client(s.socket), []
    while time.monotonic() < end:
        status, ms, _ = client.timed("/healthz/live")
        assert status == 200
        times.append(ms)
        time.sleep(0.002)
    for pid in children:
        assert os.waitpid(pid, 0)[1] == 0
    return times


def measure_crowd(s, n=1000):
    """n connections, then n requests: all answered."""
    held, begin = [], time.monotonic()
    for _ in range(n):
        k = socket.socket(socket.AF_UNIX)
        k.settimeout(60)
        k.connect(s.socket)
        held.append(k)
    for k in held:
        k.sendall(b"GET /v1/ensembles?limit=20 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    refused, lock = [], threading.Lock()

    def read(mine):
        for k in mine:
            data = b""
            while piece := k.recv(1 << 16):
                data += piece
            if b" 200 " not in data.split(b"\r\n")[0]:
                with lock:
                    refused.append(data[:60])

    threads = [threading.Thread(target=read, args=(held[i::10],)) for i in range(10)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return refused, time.monotonic() - begin


def main():
    options = argparse.ArgumentParser()
    options.add_argument("shoald")
    options.add_argument("worker")
    options.add_argument("--ensembles", type=int, default=10000)
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--check", action="store_true")
    o = options.parse_args()
    folder = tempfile.mkdtemp(prefix="shoald-")
    s = Service(os.path.abspath(o.shoald), os.path.abspath(o.worker), folder)
    s.start()
    s.stop()
    fill(os.path.join(folder, "state/shoald.db"), o.ensembles)
    begin = time.monotonic()
    s.start()
    print(f"start with {o.ensembles} ensembles: {time.monotonic() - begin:.2f} s")
    wait_measured(s)
    try:
        missed = []
        times = measure_list(s, o.seconds)
        print(f"list, {len(times)} pages of 100: p50 {percentile(times, 50):.1f} ms, p99 {percentile(times, 99):.1f} ms,"
              f" worst {max(times):.1f} ms")
        missed += ["list"] if percentile(times, 99) >= 50 else []
        times = measure_health(s, o.seconds)
        print(f"health while 20 clients list, {len(times)} answers: p50 {percentile(times, 50):.1f} ms,"
              f" p99 {percentile(times, 99):.1f} ms, worst {max(times):.1f} ms")
        missed += ["health"] if max(times) >= 100 else []
        refused, seconds = measure_crowd(s)
        print(f"1000 clients at once: {len(refused)} refused, all answered in {seconds:.2f} s")
        missed += ["crowd"] if refused else []
    finally:
        s.stop()
        shutil.rmtree(folder)
    if o.check and missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
