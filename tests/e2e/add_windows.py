#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Windows added to a ladder with a gap: what was sampled is kept as frames, evaluated at all windows, and the free energy is the known
one, as of an ensemble submitted with all windows, also where production goes by need. The service and its worker killed at any moment
change no byte; what the windows of before do afterwards is what they would have done; windows are added again, in repeats, and to an
ensemble that is paused; an ensemble that cannot have windows added is told why.

Usage: add_windows.py SHOAL SHOALD SHOAL_WORKER
"""
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

import pair
from service import Service, until
from verdicts import beyond_chance

BOND = ((0.2, 3000.0), (0.35, 3000.0))  # nm, kJ/mol/nm^2: five standard deviations apart
BEFORE, STEPS, EVERY, FRAMES = 200, 32000, 25, 100  # steps
ADDED = (0.3, 0.65)
LADDER = (0, *ADDED, 1)


def submit(s, key, windows=(0, 1), steps=STEPS, frames=f"{FRAMES} steps", more=""):
    spec = pair.spec(windows, BEFORE, steps, EVERY, frames) + more
    status, answer = s.call("POST", "/v1/ensembles", {"spec": spec, "spec_name": "pair.yaml", "files": pair.files(BOND), "id": key})
    assert status in (200, 201), answer
    return answer["id"]


def add_windows(s, ident, windows, expect=200):
    status, answer = s.call("POST", f"/v1/ensembles/{ident}/extend?" + urllib.parse.urlencode({"windows": windows}))
    assert status == expect, (status, answer)
    return answer if expect == 200 else answer["error"]["message"]


def results(s, ident):
    status, answer = s.call("GET", f"/v1/ensembles/{ident}/results")
    assert status == 200, answer
    return answer


def read(s, ident, path):
    status, data = s.raw("GET", f"/v1/ensembles/{ident}/files/{path}")
    assert status == 200, path
    return data


def rows(data):
    """{time: columns} of dhdl.xvg."""
    return {line.split()[0]: [float(x) for x in line.split()[1:]] for line in data.decode().splitlines() if line[0] not in "#@"}


def events(s, ident, kind):
    lines = s.raw("GET", f"/v1/ensembles/{ident}/events")[1].decode().splitlines()
    return [e["message"] for e in map(json.loads, lines) if e["kind"] == kind]


def error(result):
    return result["uncertainty"]["magnitude"]


def assert_known(result):
    off = result["estimate"]["magnitude"] - pair.exact(BOND)
    assert abs(off) < 3 * error(result), (off, result["estimate"], result["uncertainty"])


def story(program, s):
    """A gap; then none."""
    ident = submit(s, "gap")
    s.wait_done(ident)
    gap = results(s, ident)
    codes = {r["code"] for r in gap["verdict"]["reasons"]}
    assert gap["verdict"]["verdict"] == "unconverged" and "overlap" in " ".join(codes), gap["verdict"]
    own = [read(s, ident, f"lambda_{k:02d}/dhdl.xvg") for k in range(2)]
    others = occupy(s, "others")
    s.shoal(program, "extend", "gap", "--add-window", "bonded: 0.65", "--add-window", "bonded: 0.3")
    assert_still_known(program, s, ident, gap)
    assert s.call("POST", f"/v1/ensembles/{others}/cancel")[0] == 200
    ensemble = s.wait_done(ident)
    assert ensemble["revision"] == 2 and ensemble["windows"] == 4 and [r["window"] for r in ensemble["replicas"]] == [0, 1, 2, 3], ensemble
    assert {r["steps"] for r in ensemble["replicas"]} == {r["step"] for r in ensemble["replicas"]} == {BEFORE + STEPS}, ensemble
    rows, kept = (2 * (STEPS // every + 1) for every in (EVERY, FRAMES))
    assert events(s, ident, "extend") == ["revision 2: windows added: bonded: 0.65;bonded: 0.3; "
                                          f"{kept} of the {rows} rows sampled so far count from here on: those that are frames"]
    assert len(events(s, ident, "frames")) == 2, events(s, ident, "frames")
    whole = results(s, ident)
    assert not beyond_chance(whole["verdict"]) and error(whole) < error(gap), whole["verdict"]
    assert_known(whole)
    assert [w["lambda"]["bonded"] for w in whole["windows"]] == list(LADDER)
    assert_frames(s, ident, whole, own)
    assert "Sampled before windows were added" in s.shoal(program, "results", "gap")
    assert submit(s, "gap") == ident, "what was submitted stays the same"
    return ident, whole


def occupy(s, key):
    """An ensemble that has all slots for as long as a slice."""
    slots = s.call("GET", "/v1/version")[1]["devices"][0]["slots"]
    ident = submit(s, key, [k / slots for k in range(slots + 1)], steps=10**9)
    deadline = time.monotonic() + 60
    while sum(r["state"] == "running" for r in s.get(ident)["replicas"]) < slots:
        assert time.monotonic() < deadline, s.get(ident)
        time.sleep(0.05)
    return ident


def assert_still_known(program, s, ident, gap):
    """Until the new windows have samples, the results of before are what there is so far."""
    estimate, so_far = s.get(ident)["estimate"], s.call("GET", f"/v1/ensembles/{ident}/results?live=1")[1]
    assert estimate["revision"] == 1 and abs(estimate["value"] - gap["estimate"]["magnitude"]) < 1e-6, estimate
    assert so_far == gap == json.loads(read(s, ident, "revision_1/results.json")), so_far
    text = subprocess.run([program, "results", ident], env={**os.environ, "SHOAL_SOCKET": s.socket}, capture_output=True, text=True, check=False).stdout
    assert "These are the results of revision 1, before windows were added" in text, text
    assert "unconverged (revision 1)" in s.shoal(program, "list"), s.shoal(program, "list")


def assert_frames(s, ident, result, own):
    """Which rows count, and that they are the frames' energies."""
    frames = [w["samples"]["frames"] for w in result["windows"]]
    assert frames[1] is None and frames[2] is None, frames
    for k, (window, f) in enumerate(((0, frames[0]), (3, frames[3]))):
        before, now = rows(own[k]), rows(read(s, ident, f"lambda_{window:02d}/dhdl.xvg"))
        assert read(s, ident, f"revision_1/lambda_{k:02d}/dhdl.xvg") == own[k]
        assert f["rows"] == len(now) == STEPS // FRAMES + 1 and f["of"] == len(before) == STEPS // EVERY + 1 and f["thinned"] == 0, f
        assert set(now) < set(before)
        # Columns: dH/dlambda, then energies at the windows. A bond whose length is rounded by up to 0.001 nm.
        off = [now[t][4 if k == 0 else 1] - before[t][2 if k == 0 else 1] for t in now]
        spread = (sum(x * x for x in off) / len(off)) ** 0.5
        assert 0 < spread < BOND[0][1] * (BOND[1][0] - BOND[0][0]) * 1e-3, spread
        assert abs(sum(off) / len(off)) < 4 * spread / len(off) ** 0.5, "rounding has a bias"
        if f["compared"]:
            assert 0 < f["difference"]["magnitude"] < 2 * spread and abs(f["bias"]["magnitude"]) < f["difference"]["magnitude"], f


def as_whole(s, added):
    """One that had all windows from the beginning."""
    ident = submit(s, "whole", LADDER)
    s.wait_done(ident)
    whole = results(s, ident)
    assert_known(whole)
    off = whole["estimate"]["magnitude"] - added["estimate"]["magnitude"]
    assert abs(off) < 3 * (error(whole) ** 2 + error(added) ** 2) ** 0.5, off
    return ident


def killed(s, expected, more=""):
    """kill -9 of the service or its worker at random moments after the request; it is asked for again until it is there."""
    rng = random.Random(5)
    ident = submit(s, "killed-" + more.split(":")[0], more=more)
    s.wait_done(ident)
    for k in range(14):
        if s.get(ident)["revision"] == 1:
            status, answer = s.call("POST", f"/v1/ensembles/{ident}/extend?windows=bonded%3A+0.65;bonded%3A+0.3")
            assert status in (200, 503), answer
        time.sleep(rng.random() * (0.03 if k < 8 else 0.3))
        if k % 3 == 1:
            for pid in s.workers():
                with contextlib.suppress(ProcessLookupError):  # an estimator that has just ended
                    os.kill(pid, signal.SIGKILL)
        else:
            s.kill()
            s.start()
    assert s.wait_done(ident)["revision"] == 2
    found = s.outputs(ident)
    for name, data in expected.items():
        assert found[name] == data, f"{name} of the one that was killed differs"
    return ident


BY_NEED = "allocate: adaptive\n"


def by_need(program, s):
    """New windows begin with the floor; then all production that even sampling of all windows takes is handed out."""
    ident = submit(s, "needy", more=BY_NEED)
    before = s.wait_done(ident)
    assert sum(r["steps"] - BEFORE for r in before["replicas"]) == 2 * STEPS, before
    s.shoal(program, "extend", "needy", "--add-window", "bonded: 0.3", "--add-window", "bonded: 0.65")
    ensemble = s.wait_done(ident)
    assert_handed_out(before, ensemble)
    said = events(s, ident, "allocate")[-1]
    assert said.startswith("100 % of production handed out"), said
    result = results(s, ident)
    assert not beyond_chance(result["verdict"]), result["verdict"]
    assert_known(result)
    expected = s.outputs(ident)
    other = killed(s, expected, BY_NEED)
    assert events(s, other, "allocate") == events(s, ident, "allocate")
    s.shoal(program, "extend", "needy", "--time", f"{STEPS // 4} steps")
    assert sum(r["steps"] - BEFORE for r in s.wait_done(ident)["replicas"]) == 4 * (STEPS + STEPS // 4)
    assert_known(results(s, ident))


def assert_handed_out(before, ensemble):
    """Nothing is taken from those that were there, and nobody has less than the floor."""
    given = [r["steps"] - BEFORE for r in ensemble["replicas"]]
    assert ensemble["revision"] == 2 and ensemble["allocate"]["share"] == STEPS and ensemble["allocate"]["handed_out"] == 1, ensemble
    assert sum(given) == 4 * STEPS and min(given) >= STEPS // 4, given
    assert min(given[1:3]) < max(given[1:3]) and max(given[1:3]) > STEPS // 4, given
    for old, new in zip(before["replicas"], (ensemble["replicas"][0], ensemble["replicas"][3])):
        assert new["steps"] >= old["steps"], (old, new)


SWAPS = "exchange: {every: 100 steps}\n"


def exchanging(program, s):
    """New windows come alone to where the others stand. From there on all exchange replicas, which the walks show."""
    ident = submit(s, "swaps", more=SWAPS)
    s.wait_done(ident)
    s.shoal(program, "extend", "swaps", "--add-window", "bonded: 0.3", "--add-window", "bonded: 0.65")
    ensemble = s.wait_done(ident)
    total = BEFORE + STEPS
    assert f"; new windows make {total} steps alone, and the others wait" in events(s, ident, "extend")[0], events(s, ident, "extend")
    assert {r["step"] for r in ensemble["replicas"]} == {total}, ensemble
    alone = results(s, ident)
    assert_known(alone)
    assert not beyond_chance(alone["verdict"]), alone["verdict"]
    assert {w["samples"]["used"] for w in alone["windows"]} == {STEPS // FRAMES + 1}, alone["windows"]
    assert alone["exchange"] == [], alone["exchange"]
    killed(s, s.outputs(ident), SWAPS)
    s.shoal(program, "extend", "swaps", "--time", f"{STEPS} steps")
    s.wait_done(ident)
    result = results(s, ident)
    assert_known(result)
    assert error(result) < error(alone), (result["uncertainty"], alone["uncertainty"])
    walks = result["exchange"][0]
    assert walks["exchanges"] == STEPS // 100 - 1, walks  # all but the first, after which they are where they show
    assert {r["windows"] for r in walks["replicas"]} == {4} and walks["round_trips"] > 0, walks
    assert all(0.02 < pair["acceptance"] < 0.9 for pair in walks["pairs"]), walks


def exchanging_paused(s):
    """In the middle, in two repeats, which are at steps of their own."""
    ident = submit(s, "swaps-paused", steps=100000, more=SWAPS + "repeats: 2\n")
    until(lambda: min(r["time_ps"] or 0 for r in s.get(ident)["replicas"]) >= 4)
    s.call("POST", f"/v1/ensembles/{ident}/pause")
    until(lambda: {r["state"] for r in s.get(ident)["replicas"]} == {"paused"})
    steps = [r["step"] for r in s.get(ident)["replicas"]]
    assert steps[0] == steps[1] and steps[2] == steps[3], steps
    path = f"/v1/ensembles/{ident}/extend?windows=bonded%3A+0.3;bonded%3A+0.65"
    status, ensemble = until(lambda: (said := s.call("POST", path))[0] != 503 and said)
    assert status == 200, ensemble
    assert f"; new windows make {max(steps)} steps alone" in events(s, ident, "extend")[0], (steps, events(s, ident, "extend"))
    s.call("POST", f"/v1/ensembles/{ident}/resume")
    for _ in range(3):
        time.sleep(0.3)
        s.kill()
        s.start()
    s.wait_done(ident)
    result = results(s, ident)
    assert_known(result)
    assert len(result["exchange"]) == 2
    for walks in result["exchange"]:
        assert walks["exchanges"] == (BEFORE + 100000 - max(steps)) // 100 - 1, (walks, steps)


def longer(program, s, ident, whole):
    """Windows of before go on as if nothing had been added; their later rows count as densely as the frames do."""
    more = STEPS // 2
    before, others = results(s, ident), occupy(s, "others-again")
    s.shoal(program, "extend", "gap", "--time", f"{more} steps")
    so_far = s.get(ident)["estimate"]
    assert so_far["revision"] == 2 and abs(so_far["value"] - before["estimate"]["magnitude"]) < 1e-6, so_far
    assert s.call("POST", f"/v1/ensembles/{others}/cancel")[0] == 200
    s.shoal(program, "extend", "whole", "--time", f"{more} steps")
    assert s.wait_done(ident)["revision"] == 3
    s.wait_done(whole)
    for name in ("traj.xtc", "energy.xvg", "confout.gro"):
        assert read(s, ident, f"lambda_00/{name}") == read(s, whole, f"lambda_00/{name}"), name
    found, expected = (read(s, i, "lambda_00/dhdl.xvg").splitlines()[-more // EVERY:] for i in (ident, whole))
    assert found == expected, "rows after the frames"
    result = results(s, ident)
    frames = result["windows"][0]["samples"]["frames"]
    assert frames["thinned"] == more // EVERY - more // FRAMES and frames["rows"] == STEPS // FRAMES + 1, frames
    assert result["windows"][0]["samples"]["used"] + result["windows"][0]["samples"]["discarded"] == (STEPS + more) // FRAMES + 1
    assert_known(result)


def again(s, ident):
    """From the frames of a revision whose windows were added."""
    add_windows(s, ident, "bonded: 0.8")
    ensemble = s.wait_done(ident)
    assert ensemble["revision"] == 4 and ensemble["windows"] == 5, ensemble
    result = results(s, ident)
    assert [w["samples"]["frames"] is None for w in result["windows"]] == [False, False, False, True, False], result["windows"]
    assert {w["samples"]["read"] for w in result["windows"]} == {(STEPS + STEPS // 2) // n + 1 for n in (FRAMES, EVERY)}
    assert_known(result)
    paths = {f["path"] for f in s.call("GET", f"/v1/ensembles/{ident}/files")[1]["files"]}
    assert {"revision_1/lambda_01/dhdl.xvg", "revision_3/lambda_03/dhdl.xvg", "lambda_04/dhdl.xvg"} <= paths, paths
    status = s.call("GET", f"/v1/ensembles/{ident}/results")[0]
    assert status == 200


def paused_repeats(s):
    """In the middle of it, with two replicas of each window."""
    ident = submit(s, "paused", steps=200000, more="repeats: 2\n")
    until(lambda: min(r["time_ps"] or 0 for r in s.get(ident)["replicas"][:2]) >= 20)
    assert "pause it" in add_windows(s, ident, "bonded: 0.5", 409)
    s.call("POST", f"/v1/ensembles/{ident}/pause")
    until(lambda: {r["state"] for r in s.get(ident)["replicas"]} == {"paused"})
    steps = [r["step"] for r in s.get(ident)["replicas"]]
    path = f"/v1/ensembles/{ident}/extend?windows=bonded%3A+0.5"
    status, ensemble = until(lambda: (said := s.call("POST", path))[0] != 503 and said)
    assert status == 200, ensemble
    assert ensemble["state"] == "paused" and ensemble["revision"] == 2 and {r["state"] for r in ensemble["replicas"]} == {"paused"}, ensemble
    assert [(r["repeat"], r["window"]) for r in ensemble["replicas"]] == [(i, k) for i in range(2) for k in range(3)], ensemble
    assert "has not taken up yet" in add_when_ready(s, ident, "bonded: 0.7")
    s.kill()
    s.start()
    s.call("POST", f"/v1/ensembles/{ident}/resume")
    went_on = {}
    while len(went_on) < sum(n > 0 for n in steps):
        for event in events(s, ident, "frames"):
            went_on[event.split(" frames of ")[1]] = int(event.split("step ")[1].split(",")[0])
        assert s.get(ident)["state"] in ("queued", "running"), s.get(ident)
        time.sleep(0.05)
    for name, step in zip(("repeat_00/lambda_00", "repeat_00/lambda_01", "repeat_01/lambda_00", "repeat_01/lambda_01"), steps):
        assert step == 0 or went_on[f"revision_1/{name} evaluated at all windows"] == step, (went_on, steps)
    s.call("POST", f"/v1/ensembles/{ident}/cancel")
    assert "cancelled" in add_windows(s, ident, "bonded: 0.7", 409)


def add_when_ready(s, ident, windows):
    """Refused for another reason than that it is being prepared."""
    path = f"/v1/ensembles/{ident}/extend?" + urllib.parse.urlencode({"windows": windows})
    status, answer = until(lambda: (said := s.call("POST", path))[0] != 503 and said)
    assert status == 409, answer
    return answer["error"]["message"]


def folder_deleted(s, folder):
    """By somebody who wants the space: what the windows have of their own stays where it is."""
    steps = 1000
    ident = submit(s, "deleted", steps=steps)
    s.wait_done(ident)
    add_windows(s, ident, "bonded: 0.5")
    s.wait_done(ident)
    names = [f"lambda_{k:02d}/{name}" for k in range(3) for name in ("dhdl.xvg", "energy.xvg", "traj.xtc")]
    own = {name: read(s, ident, name) for name in names}
    shutil.rmtree(os.path.join(folder, "state", "ensembles", ident, "revision_1"))
    status, answer = s.call("POST", f"/v1/ensembles/{ident}/extend?time={steps}+steps")
    assert status == 200, answer
    s.wait_done(ident)
    for name, data in own.items():
        assert read(s, ident, name).startswith(data), f"{name} does not go on"
    paths = [f["path"] for f in s.call("GET", f"/v1/ensembles/{ident}/files")[1]["files"]]
    assert not any(path.startswith("revision_1") for path in paths), paths
    result = results(s, ident)
    frames = [w["samples"]["frames"] for w in result["windows"]]
    taken = (steps // FRAMES + 1, steps // EVERY - steps // FRAMES)
    assert [f and (f["rows"], f["thinned"]) for f in frames] == [taken, None, taken], frames
    assert "window 2: revision_1/lambda_01 has no good checkpoint" in " ".join(result["warnings"]), result["warnings"]


def refused(program, s):
    ident = submit(s, "short", steps=200)
    s.wait_done(ident)
    for windows, said in (("bonded: 1.5", "numbers from 0 to 1"), ("bonded 0.5", "expected components"), ("", "an empty window"),
                          ("vdw: 0.5", "has no ladder of vdw"), ("bonded: 1", "has it already: it is window "),
                          ("bonded: 0.5; bonded: 0.5", "lies between no two windows"), ("bonded: 0.00001", "one state to four decimals")):
        message = add_windows(s, ident, windows, 422 if "four decimals" in said else 400)
        assert said in message, (windows, message)
    assert s.get(ident)["revision"] == 1 and s.get(ident)["windows"] == 2
    ident = submit(s, "none", steps=200, frames="no")
    s.wait_done(ident)
    message = add_windows(s, ident, "bonded: 0.5", 409)
    assert "stores no frames" in message and "submit it anew with all windows" in message, message
    run = subprocess.run([program, "extend", "short", "--add-window", "bonded: 0.5", "--time", "1 ps"],
                         env={**os.environ, "SHOAL_SOCKET": s.socket}, capture_output=True, text=True, check=False)
    assert run.returncode == 2 and "one of --time TIME" in run.stderr, run


def main():
    program, shoald, worker = (os.path.abspath(p) for p in sys.argv[1:4])
    folder = tempfile.mkdtemp(prefix="shoal-add-windows-")
    s = Service(shoald, worker, folder, "cpu:4")  # both repeats of two windows at once
    s.start()
    refused(program, s)
    ident, result = story(program, s)
    expected = s.outputs(ident)
    whole = as_whole(s, result)
    killed(s, expected)
    by_need(program, s)
    exchanging(program, s)
    exchanging_paused(s)
    longer(program, s, ident, whole)
    again(s, ident)
    paused_repeats(s)
    folder_deleted(s, folder)
    assert s.stop() == 0
    shutil.rmtree(folder)
    print(f"{len(expected)} files as undisturbed")


if __name__ == "__main__":
    main()
