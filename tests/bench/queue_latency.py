#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the API takes to answer while very much is queued: 100,000 replicas of 100 users, 500 who follow, a worker that computes nothing.

Usage: queue_latency.py SHOALD [--users N] [--windows N] [--followers N] [--seconds S] [--check]
Meanwhile one client asks for statuses, one pauses and resumes an ensemble, one removes ensembles of as many windows.
--check fails where a target is missed: health under 100 ms at worst, a status under 50 ms at p99, a removal under 50 ms at p50.
"""
import argparse
import json
import os
import random
import selectors
import shutil
import socket
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from api_latency import Client, fill, percentile  # noqa: E402
from fake import Fake  # noqa: E402

QUEUED, DONE = 0, 4
FIRST_USER = 20000


class Crowd:
    """Functions that run in processes of their own for so long; what they return is in answers."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds
        self.children = []

    def begin(self, name, function, *arguments):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(read)
                with os.fdopen(write, "w", encoding="utf-8") as f:
                    json.dump(function(*arguments, self.end), f)
                os._exit(0)
            finally:
                os._exit(1)
        os.close(write)
        self.children.append((name, pid, read))

    def answers(self):
        found = {}
        for name, pid, read in self.children:
            with os.fdopen(read, encoding="utf-8") as f:
                text = f.read()
            assert os.waitpid(pid, 0)[1] == 0, name
            found[name] = json.loads(text)
        return found


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="latin-1") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def follow(path, idents, n, end):
    """n event streams; how many bytes and lines of progress came."""
    wait, size, progress = selectors.DefaultSelector(), 0, 0
    for i in range(n):
        k = socket.socket(socket.AF_UNIX)
        k.connect(path)
        k.sendall(f"GET /v1/ensembles/{idents[i % len(idents)]}/events?follow=1 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        wait.register(k, selectors.EVENT_READ)
    while time.monotonic() < end:
        for key, _ in wait.select(0.1):
            data = key.fileobj.recv(1 << 18)
            assert data, "a stream ended"
            size += len(data)
            progress += data.count(b'"kind":"progress"')
    return size, progress


def ask(path, words, pause, end):
    """Times of what is asked, ms."""
    client, times = Client(path), []
    while time.monotonic() < end:
        status, ms, _ = client.timed(random.choice(words))
        assert status == 200
        times.append(ms)
        time.sleep(pause)
    return times


def post(path, method, words, pause, end):
    client, times = Client(path), []
    for word in words:
        if time.monotonic() > end:
            break
        begin = time.monotonic()
        client.connection.request(method, word)
        answer = client.connection.getresponse()
        answer.read()
        assert answer.status == 200, (word, answer.status)
        times.append(1000 * (time.monotonic() - begin))
        time.sleep(pause)
    return times


def main():
    options = argparse.ArgumentParser()
    options.add_argument("shoald")
    options.add_argument("--users", type=int, default=100)
    options.add_argument("--windows", type=int, default=1000)
    options.add_argument("--followers", type=int, default=500)
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--check", action="store_true")
    o = options.parse_args()
    folder = tempfile.mkdtemp(prefix="shoald-")
    s = Fake(os.path.abspath(o.shoald), folder, slots=24, steps=10**9, per_second=100, segment=20)
    s.start()
    s.stop()
    removed = int(4 * o.seconds)
    queued = fill(os.path.join(folder, "state/shoald.db"), o.users, o.windows, QUEUED, lambda number: FIRST_USER + number)
    ended = fill(os.path.join(folder, "state/shoald.db"), removed, o.windows, DONE, lambda number: FIRST_USER + number % o.users)
    begin = time.monotonic()
    s.start()
    print(f"start with {o.users} x {o.windows} replicas queued, {removed} x {o.windows} done: {time.monotonic() - begin:.2f} s")
    while any(not s.get(ident)["replicas"][-1]["waits"].get("place") for ident in queued[:5] + queued[-5:]):
        time.sleep(0.2)
    try:
        crowd, used = Crowd(o.seconds), processor_seconds(s.process.pid)
        crowd.begin("followers", follow, s.socket, queued, o.followers)
        time.sleep(1)
        crowd.begin("health", ask, s.socket, ["/healthz/live"], 0.002)
        crowd.begin("status", ask, s.socket, [f"/v1/ensembles/{ident}" for ident in queued], 0.02)
        crowd.begin("pause and resume", post, s.socket, "POST", [f"/v1/ensembles/{queued[-1]}/{what}" for what in ("pause", "resume")] * 10000, 0.1)
        crowd.begin("rm", post, s.socket, "DELETE", [f"/v1/ensembles/{ident}" for ident in ended], 0.2)
        found = crowd.answers()
        size, progress = found.pop("followers")
        print(f"the service used {(processor_seconds(s.process.pid) - used) / o.seconds:.2f} of a processor; load {os.getloadavg()[0]:.0f}")
        print(f"{o.followers} followers: {progress / o.seconds:.0f} lines of progress and {size / o.seconds / 1e6:.2f} MB a second")
        for name, times in found.items():
            print(f"{name}, {len(times)} answers: p50 {percentile(times, 50):.1f} ms, p99 {percentile(times, 99):.1f} ms, worst {max(times):.1f} ms")
        with open(f"/proc/{s.process.pid}/status", encoding="ascii") as f:
            print("memory:", next(line for line in f if line.startswith("VmHWM")).split(None, 1)[1].strip())
    finally:
        s.stop()
        shutil.rmtree(folder)
    missed = [name for name, value, limit in (("health", max(found["health"]), 100), ("status", percentile(found["status"], 99), 50),
                                              ("rm", percentile(found["rm"], 50), 50)) if value >= limit]
    if o.check and missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
