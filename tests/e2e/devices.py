#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several devices: ensembles that are moved, names of devices by ids, starts that wait for memory, and devices that are joined.

Usage: devices.py SHOALD SHOAL SHOAL_WORKER [NAME...]    only the scenarios with one of the names
"""
import json
import os
import re
import signal
import sys

from fake import assert_whole, body_of
from scenarios import ROOT, SHOALD, run, service
from service import Service, until
from tiny import tiny

SHOAL, WORKER = (os.path.abspath(p) for p in sys.argv[2:4])
GPU, MIG = "cuda:GPU-3f6b2c1d", "cuda:MIG-8c1d0a2e-1111-5222-9333-0123456789ab"
LIMITS = "1 0 0 0 0 0"  # of a device, as hello has them


def submit(s, key):
    spec, files = tiny("moved", seed=7, steps=300, windows=(0, 1), checkpoint="70 steps")
    status, answer = s.call("POST", "/v1/ensembles", {"spec": spec, "spec_name": "tiny.yaml", "files": files, "id": key})
    assert status == 201, answer
    return answer["id"]


def bits():
    """An ensemble that is moved to and fro has the bits of one that was left alone."""
    s = Service(SHOALD, WORKER, os.path.join(ROOT, "bits"), device="cpu:2,cpu:1")
    s.start()
    alone = submit(s, "alone")
    expected = (s.wait_done(alone), s.outputs(alone))[1]
    ident, places, moves, steps = submit(s, "moved"), set(), 0, 0

    def to_and_fro(ensemble):
        nonlocal moves, steps
        running = [r for r in ensemble["replicas"] if r["state"] == "running"]
        places.update((r["window"], r["device"]) for r in running)
        made = sum(r["step"] for r in ensemble["replicas"])
        if running and made > steps + 200:
            steps, moves = made, moves + 1
            try:
                s.shoal(SHOAL, "move", ident, "cpu:1" if moves % 2 else "cpu:2")
            except AssertionError as why:
                assert "is finishing: it cannot be moved" in str(why)  # it has come to its end meanwhile
                moves -= 1
    s.wait_done(ident, to_and_fro)
    s.stop()
    s.start()
    found = s.outputs(ident)
    s.kill()
    assert moves >= 4 and all((w, d) in places for w in (0, 1) for d in ("cpu:1", "cpu:2")), (moves, places)
    for name, data in expected.items():
        assert found[name] == data, f"{name} of the one that was moved differs"


def on_devices(name, devices, **rules):
    s = service(name, **rules)
    at = s.command.index("--device")
    s.command[at:at + 2] = [word for device in devices for word in ("--device", device)]
    return s


def where(s, ident):
    return {r["device"] for r in s.get(ident)["replicas"] if r["state"] == "running"}


def ids():
    """Devices have the names that they were given, everywhere; where an ensemble was moved to outlives the service."""
    with on_devices("ids", (GPU, MIG), slots=4, steps=1200, per_second=300) as s:
        until(lambda: all(d["state"] == "up" for d in s.call("GET", "/v1/version")[1]["devices"]))
        assert [d["device"] for d in s.call("GET", "/v1/version")[1]["devices"]] == [GPU, MIG]
        ident = s.submit("a", windows=(0, 1))
        until(lambda: where(s, ident) == {GPU, MIG})  # no device is idle
        assert f"moved to {MIG}" not in s.shoal(SHOAL, "status", ident)
        s.shoal(SHOAL, "move", ident, MIG)
        until(lambda: where(s, ident) == {MIG})
        assert f"\nmoved to {MIG}\n" in s.shoal(SHOAL, "status", ident)
        assert [e["message"] for e in s.events(ident) if e["kind"] == "move"] == [f"moved to {MIG} by its owner"]
        status, answer = s.call("POST", f"/v1/ensembles/{ident}/move?to=cuda:MIG-9")
        assert status == 404 and answer["error"]["message"] == f'no device "cuda:MIG-9"; there is {GPU}, {MIG}', answer
        s.kill()
        s.start()
        until(lambda: all(d["state"] == "up" for d in s.call("GET", "/v1/version")[1]["devices"]))
        s.act(ident, "pause")
        s.wait_replicas(ident, lambda r: r["state"] == "paused")
        s.act(ident, "resume")
        s.wait_replicas(ident, lambda r: r["state"] == "running")
        assert s.get(ident)["moved_to"] == MIG and where(s, ident) == {MIG}
        assert MIG in s.shoal(SHOAL, "drain", MIG)
        until(lambda: where(s, ident) == {GPU})  # it is not bound to what is out of use
        s.shoal(SHOAL, "undrain", MIG)
        s.shoal(SHOAL, "move", ident, "any")
        assert s.get(ident)["moved_to"] is None
        assert_whole(s, ident, 1200)


def memory():
    """A start waits until what is predicted fits, and fails where it never will."""
    room = {"total": 10**9, "free": 10**9, "used": 0}
    with on_devices("memory", ("cpu:1",), slots=4, steps=200, per_second=400, limits=LIMITS, memory=room) as s:
        fit, = s.call("POST", "/v1/validate", body_of("a"))[1]["fits"]
        tables, replica = fit["tables_bytes"], fit["replica_bytes"]

        def give(replicas, total=10**9):
            free = int((tables + replicas * replica) / 0.9) + 10
            s.set_rules(slots=4, steps=200, per_second=400, limits=LIMITS, memory={"total": total or free, "free": free, "used": 0})
            os.kill(s.fakes()[0], signal.SIGKILL)
            until(lambda: s.call("GET", "/v1/version")[1]["devices"][0].get("memory", {}).get("free") == free)
        give(1.5)
        ident = s.submit("a", retries=2)
        most = 0

        def look():
            nonlocal most
            replicas = s.get(ident)["replicas"]
            most = max(most, sum(r["state"] in ("running", "stopping") for r in replicas))
            return next((r["waits"]["for"] for r in replicas if r["waits"] and r["waits"]["for"].startswith("memory on")), None)
        said = until(look)
        assert said.startswith("memory on cpu:1: needs ") and said.endswith(" free"), said
        assert f"waits for {said}" in " ".join(s.shoal(SHOAL, "status", ident).split()), said
        until(lambda: (look(), s.get(ident)["state"] == "done")[1])
        assert most == 1, most
        later = s.submit("later", windows=(0, 1), repeats=2)
        s.wait(later, "running")
        give(0.5, total=0)
        failed = s.wait(later, "failed")
        assert all(r["reason"].startswith("no device has memory for it: cpu:1: it needs ") for r in failed["replicas"]), failed
        assert s.call("POST", "/v1/ensembles", body_of("more"))[0] == 413


def submit_exchanging(s, key, steps=320):
    spec, files = tiny("together", seed=9, windows=(0, 0.1, 0.2), checkpoint="20 steps")
    spec = re.sub("(?s)protocol:.*?run:", """protocol:
  - minimize: {steps: 20}
  - produce: {time: %d steps, ensemble: nvt, sample-every: 10 steps, frames-every: 40 steps}
exchange: {every: 10 steps}
run:""" % steps, spec)
    status, answer = s.call("POST", "/v1/ensembles", {"spec": spec, "spec_name": "tiny.yaml", "files": files, "id": key})
    assert status == 201, answer
    return answer["id"]


def restart_on(s, device):
    s.command[s.command.index("--device") + 1] = device
    s.start()


def joined():
    """Windows that exchange over two devices have the bytes of those on one, killed there and going on on one, and on two again."""
    s = Service(SHOALD, WORKER, os.path.join(ROOT, "joined"), device="cpu:1")
    s.start()
    alone = submit_exchanging(s, "alone")
    expected = (s.wait_done(alone), s.outputs(alone))[1]
    s.stop()
    both = "cpu:1+cpu:2"
    restart_on(s, both)
    device, = s.call("GET", "/v1/version")[1]["devices"]
    assert device["device"] == both and device["slots"] == 3 and device["cards"] == {"open": 2, "joined": 2}, device
    ident = submit_exchanging(s, "long", 10**6)
    until(lambda: {r["card"] for r in s.call("GET", "/v1/version")[1]["devices"][0].get("replicas", ())} == {"cpu:1", "cpu:2"})
    assert where(s, ident) == {both} and both in s.shoal(SHOAL, "status", ident)
    s.shoal(SHOAL, "cancel", ident)
    ident = submit_exchanging(s, "together")

    def go_on(least):
        until(lambda: sum(r["step"] for r in s.get(ident)["replicas"]) > least)
        assert s.get(ident)["state"] == "running"
    go_on(150)
    s.kill()
    restart_on(s, "cpu:1")
    go_on(350)
    s.stop()
    restart_on(s, both)
    go_on(600)
    os.kill(s.workers()[0], signal.SIGKILL)
    s.wait_done(ident)
    found = s.outputs(ident)
    walkers = [line.split()[-2] for line in found["0/energy.xvg"].decode().splitlines() if line[0] not in "#@"]
    assert len(set(walkers)) > 1, walkers  # some have changed places
    kinds = {json.loads(line)["kind"] for line in s.raw("GET", f"/v1/ensembles/{ident}/events")[1].splitlines()}
    assert "replica" in kinds and "model" not in kinds, kinds  # its devices are all alike
    assert {row["device"] for row in s.call("GET", "/v1/accounting?by=device")[1]["rows"]} == {"cpu:1", both}
    s.kill()
    for name, data in expected.items():
        assert found[name] == data, f"{name} of the one on two devices differs"


def missing():
    """A device that cannot be opened is left out, which is told; it may be drained by its whole name."""
    name = "cpu:1+cpu:0"  # there are no devices without threads
    s = Service(SHOALD, WORKER, os.path.join(ROOT, "missing"), device=name)
    s.start()
    assert s.call("GET", "/v1/version")[1]["devices"][0]["cards"] == {"open": 1, "joined": 2}
    assert "; 1 of 2 cards" in s.shoal(SHOAL, "status") and "1 of 2 cards" in s.shoal(SHOAL, "status", "--devices")
    with open(s.log, encoding="utf-8") as f:
        assert "cpu:0 is left out of cpu:1+cpu:0: device 'cpu:0': expected cpu" in f.read()
    ident = submit_exchanging(s, "a")
    until(lambda: where(s, ident) == {name})
    assert f"{name} drained" in s.shoal(SHOAL, "drain", name)
    assert f"{name} up" in s.shoal(SHOAL, "undrain", name)
    s.kill()


SCENARIOS = (bits, ids, memory, joined, missing)
run(SCENARIOS, sys.argv[4:])
