#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package against a real service: everything that is said of an ensemble and of a campaign arrives, nothing is left out.

Runs itself with SHOAL_TEST_PYTHON where that is set (a virtual environment with pandas).

Usage: python_package.py SHOAL SHOALD SHOAL_WORKER SOURCE_ROOT
"""
import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

from served import SHOAL, Served
from tiny import tiny

if os.environ.get("SHOAL_TEST_PYTHON") and "SHOAL_TEST_INSIDE" not in os.environ:
    os.execve(os.environ["SHOAL_TEST_PYTHON"], [os.environ["SHOAL_TEST_PYTHON"], *sys.argv], dict(os.environ, SHOAL_TEST_INSIDE="1"))

sys.path.insert(0, os.path.join(os.path.abspath(sys.argv[4]), "client/python"))
import shoal
from shoal.decode import fields_of
from shoal.transport import Transport

CAMPAIGN = """name: study
systems: {table: molecules.csv}
edges: {list: [[a, b]]}
legs:
  - {name: solvent, spec: tiny.yaml, sign: -1}
  - {name: change, of: edges, spec: tiny.yaml, override: {run: {retries: 3}}}
spec:
  protocol: [{minimize: {steps: 5}}, {produce: {time: 40 steps, ensemble: nvt, sample-every: 2 steps}}]
  alchemy: {windows: {vdw: [0, 0.02]}}
"""


class Package(Served):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shoal = shoal.Service(cls.environment["SHOAL_SOCKET"])
        spec, files = tiny("done", seed=31, steps=200, windows=(0, 0.05, 0.1), side=4)
        cls.done = cls.shoal.wait(cls.shoal.submit_text(spec, files, key="done", labels={"project": "package"}), 100)

    def assert_same(self, value, made, where="answer"):
        """A JSON value and what was made of it: the same keys and values, but for those that are null."""
        if dataclasses.is_dataclass(made):
            fields = {key: getattr(made, name) for name, key, _ in fields_of(type(made))}
            self.assertEqual({k for k, v in value.items() if v is not None}, {k for k, v in fields.items() if v is not None}, where)
            for key in value:
                self.assert_same(value[key], fields.get(key), f"{where}.{key}")
        elif isinstance(made, dict):
            self.assertEqual(value.keys(), made.keys(), where)
            for key in value:
                self.assert_same(value[key], made[key], f"{where}.{key}")
        elif isinstance(made, tuple):
            self.assertEqual(len(value), len(made), where)
            for i, one in enumerate(made):
                self.assert_same(value[i], one, f"{where}[{i}]")
        else:
            self.assertEqual(value, made, where)

    def assert_same_at_once(self, ask, make):
        """A JSON value and what is made of it by another request, where the service may be measuring what is on disk: of what is
        the same before and after."""
        deadline = time.monotonic() + 60
        while True:
            before, made, after = ask(), make(), ask()
            if before == after:
                break
            self.assertLess(time.monotonic(), deadline, "it never stays the same")
        self.assert_same(before, made)

    def write(self, *names, text):
        path = os.path.join(self.folder, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def long(self, name):
        spec, files = tiny(name, seed=4, steps=100000000, windows=(0, 0.05), side=4)
        return self.shoal.submit_text(spec, files, key=name)

    def test_results(self):
        self.assertEqual((self.done.state, self.done.ended, self.done.done, self.done.labels), ("done", True, 3, {"project": "package"}))
        results = self.shoal.results("done")
        self.assert_same(json.loads(self.shoal.read(self.done, "results.json")), results)
        self.assertEqual((results.temperature.magnitude, results.windows[2].lambda_), (298.15, {"vdw": 0.1}))
        mbar = results.estimators[0].total
        self.assertAlmostEqual(mbar.kj_mol.value, results.estimate.magnitude * 4.184, 9)
        self.assertEqual(self.shoal.results(self.done, live=True), results)
        raw = Transport(self.shoal.socket, "")

        def read(path):
            with raw.open("GET", f"/v1/ensembles/{self.done.id}{path}") as answer:
                return answer.read()

        self.assert_same([json.loads(line) for line in read("/events").splitlines()], tuple(self.shoal.events(self.done)))
        self.assert_same(json.loads(read("/files"))["files"], self.shoal.files(self.done))
        self.assert_same_at_once(lambda: json.loads(read("")), lambda: self.shoal.ensemble(self.done))
        self.assertEqual([e.id for e in self.shoal.ensembles(labels={"project": None}, state="done")], [self.done.id])
        self.assertEqual(self.shoal.version().devices[0].device, "cpu")
        self.assertGreaterEqual(self.shoal.usage()[0].ensembles, 1)
        self.assertGreater(sum(used.device_seconds for used in self.shoal.accounting("ensemble", days=1)), 0)
        self.assertEqual([device.drained.reason for device in self.shoal.drain("cpu", "a & b").devices], ["a & b"])
        self.assertEqual([device.drained for device in self.shoal.undrain().devices], [None])
        self.assertIsNotNone(self.shoal.hold().held)
        self.assertIsNone(self.shoal.release().held)
        self.assertEqual(len(list(self.shoal.ensembles(owner=os.geteuid()))), len(list(self.shoal.ensembles(all_users=True))))

    def test_reestimate(self):
        before = self.shoal.results("done")
        self.assertEqual(self.shoal.reestimate("done").state, "finishing")
        self.assertEqual(self.shoal.wait("done", timeout=60).state, "done")
        after = self.shoal.results("done")
        self.assertEqual((after.estimate, after.uncertainty, after.windows), (before.estimate, before.uncertainty, before.windows))

    def test_files(self):
        listed = {f.path: f.bytes for f in self.shoal.files("done")}
        target = os.path.join(self.folder, "dhdl.xvg")
        self.shoal.fetch("done", "lambda_01/dhdl.xvg", target)
        with open(target, "rb") as f:
            data = f.read()
        self.assertEqual((len(data), data), (listed["lambda_01/dhdl.xvg"], self.shoal.read("done", "lambda_01/dhdl.xvg")))
        with self.shoal.open("done", "lambda_01/dhdl.xvg") as file:
            self.assertEqual(b"".join(iter(lambda: file.read(100), b"")), data)
        with self.assertRaises(shoal.Problem) as caught:
            self.shoal.read("done", "lambda_09/dhdl.xvg")
        self.assertEqual((caught.exception.code, caught.exception.status), ("NOT_FOUND", 404))
        self.assertRaises(IsADirectoryError, self.shoal.fetch, "done", "lambda_01/dhdl.xvg", self.folder)
        self.assertFalse(os.path.exists(self.folder + ".part"))

    def test_frames(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.assertRaisesRegex(ImportError, "install python3-pandas", self.shoal.dhdl, "done")
            return
        rows = sum(w.samples.read for w in self.shoal.results("done").windows)
        dhdl, u_nk = self.shoal.dhdl("done"), self.shoal.u_nk("done")
        self.assertEqual((dhdl.shape, list(dhdl.index.names), dhdl.attrs["energy_unit"]), ((rows, 1), ["time", "vdw-lambda"], "kT"))
        self.assertEqual((u_nk.shape, list(u_nk.columns)), ((rows, 3), [0.0, 0.05, 0.1]))
        self.assertTrue(self.shoal.dhdl("done", window=1).equals(dhdl.xs(0.05, level="vdw-lambda", drop_level=False)))
        self.assertRaisesRegex(shoal.Problem, "no dhdl.xvg of window 3 in repeat 0", self.shoal.dhdl, "done", 3)
        self.assertRaisesRegex(shoal.Problem, "no dhdl.xvg of any window in repeat 1", self.shoal.u_nk, "done", repeat=1)

    def test_windows(self):
        spec, files = tiny("finer", seed=3, steps=1000, windows=(0, 0.05), side=4)
        ensemble = self.shoal.submit_text(spec, files, key="finer")
        self.shoal.wait(ensemble, timeout=100)
        would = self.shoal.widening(ensemble, [{"vdw": 0.02}])
        self.assertEqual((would.revision, would.windows, would.rows, would.kept), (2, 3, 102, 12))
        self.assertEqual(self.shoal.ensemble(ensemble).revision, 1)
        wider = self.shoal.extend(ensemble, windows=[{"vdw": 0.02}])
        self.assertEqual((wider.revision, wider.windows), (2, 3))
        self.shoal.wait(ensemble, timeout=100)
        frames = [w.samples.frames for w in self.shoal.results(ensemble).windows]
        self.assertEqual([f and (f.rows, f.of, f.thinned) for f in frames], [(6, 51, 0), None, (6, 51, 0)])
        self.assertTrue(0 < frames[0].difference.magnitude < 1)

    def test_submit(self):
        spec, files = tiny("submitted", seed=3, steps=100, windows=(0, 0.05), side=4)
        top = files.pop("tiny.top").split("[ moleculetype ]", 1)
        self.write("spec", "tiny.gro", text=files["tiny.gro"])
        self.write("spec", "tiny.top", text='#include "ff/types.itp"\n[ moleculetype ]' + top[1])
        path = self.write("spec", "spec.yaml", text=spec)
        with self.assertRaises(shoal.Problem) as caught:
            self.shoal.submit(path)
        self.assertEqual((caught.exception.code, caught.exception.status), ("MISSING_FILE", 422))
        self.assertIn("; looked in " + os.path.dirname(path), str(caught.exception))
        self.write("more", "ff", "types.itp", text=top[0])
        more = os.path.join(self.folder, "more")
        summary = self.shoal.validate(path, includes=[more])
        self.assertEqual((summary.name, summary.windows, summary.stages), ("submitted", 2, 4))
        first = self.shoal.submit(path, key="same", includes=[more])
        self.assertEqual(self.shoal.submit(path, key="same", includes=[more]).id, first.id)
        self.write("spec", "spec.yaml", text=spec.replace("seed: 3", "seed: 4"))
        self.assertRaisesRegex(shoal.Problem, "same", self.shoal.submit, path, key="same", includes=[more])
        self.write("spec", "spec.yaml", text=spec.replace("0.6 nm", "0.6"))
        self.assertRaisesRegex(shoal.Problem, "^spec.yaml:4: nonbonded.cutoff: 0.6: no unit", self.shoal.validate, path)
        with self.assertRaises(shoal.Problem) as caught:  # told before all of it is sent
            self.shoal.submit_text("#" * (65 << 20), {})
        self.assertEqual((caught.exception.code, caught.exception.status), ("TOO_LARGE", 413))
        self.assertEqual(self.shoal.wait(first, 100).state, "done")

    def test_moves(self):
        ensemble = self.long("moved")
        self.assertRaises(shoal.OutOfTime, self.shoal.wait, ensemble, 0.5)
        with self.assertRaises(shoal.Problem) as caught:
            self.shoal.results(ensemble)
        self.assertEqual((caught.exception.code, caught.exception.status), ("CONFLICT", 409))
        self.assertEqual(self.shoal.pause(ensemble).state, "paused")
        self.assertIn(self.shoal.resume(ensemble).state, ("queued", "running"))
        self.assertEqual(self.shoal.extend("moved", time="2 ns").revision, 2)
        self.assertRaisesRegex(shoal.Problem, "window 1", self.shoal.retry, "moved", window=1)
        self.assertEqual(self.shoal.cancel("moved").state, "cancelled")
        self.assertEqual([e.state for e in self.shoal.watch("moved", since=0) if e.kind == "ensemble"][-1], "cancelled")
        deadline = time.monotonic() + 60
        archive = os.path.join(self.folder, "moved.tar.zst")
        while True:
            try:
                self.shoal.export("moved", archive)
                break
            except shoal.Problem as problem:  # its replicas stop soon after
                self.assertIn("come to rest", str(problem))
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)
        with self.assertRaises(shoal.Problem) as caught:
            self.shoal.import_ensemble(archive)
        self.assertEqual((caught.exception.code, caught.exception.status), ("CONFLICT", 409))
        self.assertGreater(self.shoal.remove("moved"), 0)
        self.assertRaisesRegex(shoal.Problem, "no ensemble", self.shoal.ensemble, ensemble)
        again = self.shoal.import_ensemble(archive)
        self.assertEqual((again.id, again.state, again.key), (ensemble.id, "cancelled", ensemble.key))
        self.shoal.remove(again)

    def test_watch_through_a_restart(self):
        """The service is killed and started again under a watch, which sees progress before and the end after it."""
        ensemble, seen = self.long("restarted"), []
        watch = threading.Thread(target=lambda: seen.extend(self.shoal.watch(ensemble, timeout=100)))
        watch.start()
        begun = time.monotonic()
        for _ in self.shoal.watch(ensemble):  # the service goes while it runs
            if time.monotonic() > begun + 1:
                break
        impatient = self.shoal.watch(ensemble, timeout=2.5)
        next(impatient)
        self.stop(signal.SIGKILL)
        with self.assertRaisesRegex(shoal.OutOfTime, ensemble.id):
            list(impatient)
        self.assertLess(time.monotonic() - begun, 20)
        before = len(seen)
        self.start()
        while len(seen) == before:  # the other watch goes on
            self.assertLess(time.monotonic() - begun, 100)
            time.sleep(0.02)
        self.shoal.cancel(ensemble)
        watch.join(100)
        end = [e for e in seen if e.kind == "ensemble"][-1]
        self.assertEqual((end.state, end.ensemble.ended), ("cancelled", True))
        self.assertIn("progress", {e.kind for e in seen})
        stored = [e.seq for e in seen if e.seq is not None]
        self.assertEqual(stored, sorted(set(stored)))

    def test_nobody_there(self):
        nowhere = os.path.join(self.folder, "none.sock")
        with self.assertRaises(shoal.Unreachable) as caught:
            shoal.Service(nowhere).version()
        self.assertEqual((caught.exception.code, str(caught.exception)), ("UNREACHABLE", f"no service at {nowhere}; is shoald running? `shoal up` starts one of your own"))
        self.write("dead.sock", text="")
        self.assertRaisesRegex(shoal.Unreachable, "dead.sock: ", shoal.Service(os.path.join(self.folder, "dead.sock")).version)

    def test_campaign(self):
        spec, files = tiny("tiny", seed=5, side=4)
        for name, text in {"tiny.yaml": spec, **files, "molecules.csv": "name,experiment (kcal/mol)\na,1.0\nb,2.0\n"}.items():
            self.write("campaign", name, text=text)
        path = self.write("campaign", "campaign.yaml", text=CAMPAIGN)
        campaign = shoal.Campaign(path, self.shoal, program=SHOAL)

        def printed(action):
            done = subprocess.run([SHOAL, "campaign", action, path, "--json"], env=self.environment, capture_output=True, check=True)
            return json.loads(done.stdout)

        plan = campaign.plan()
        self.assert_same(printed("plan"), plan)
        self.assertEqual((plan.count, plan.errors, {e.state for e in plan.ensembles}), (3, (), {"missing"}))
        made = campaign.submit()
        self.assertEqual((len(made.submitted), made.planned, made.present), (3, 3, 0))
        self.assertEqual(campaign.submit().present, 3)
        self.assertEqual({e.ensemble.state for e in campaign.wait(100).ensembles}, {"done"})
        self.assert_same_at_once(lambda: printed("status"), campaign.status)
        self.assertEqual(campaign.run(), campaign.gather())
        gathered = campaign.gather(os.path.join(self.folder, "table"))
        with open(os.path.join(self.folder, "table/gather.json"), encoding="utf-8") as f:
            self.assert_same(json.load(f), gathered)
        self.assertEqual((gathered.edges[0].ligand_i, gathered.systems[1].experiment.kcal_mol.value), ("a", 2.0))
        self.assertEqual([e.revision for e in campaign.extend(until="100000 steps").ensembles], [2, 2, 2])
        self.assertEqual({e.state for e in campaign.cancel().ensembles} | {"cancelled"}, {"cancelled"})
        self.assertRaisesRegex(shoal.Unreachable, "no service at /none", shoal.Campaign(path, shoal.Service("/none"), program=SHOAL).status)
        self.write("campaign", "campaign.yaml", text=CAMPAIGN.replace("retries: 3", "retries: 4"))
        self.assertRaisesRegex(shoal.Problem, "has other content", campaign.submit)
        self.write("campaign", "campaign.yaml", text=CAMPAIGN.replace("retries: 3", "retries: -4"))
        self.assertIn("run.retries: -4: out of range", campaign.plan().errors[0])
        self.write("campaign", "campaign.yaml", text="name: 1\n")
        with self.assertRaisesRegex(shoal.Problem, "campaign.yaml:1: ") as caught:
            campaign.plan()
        self.assertEqual(caught.exception.code, "SPEC")
        self.assertRaisesRegex(shoal.ShoalError, "/none: No such file", shoal.Campaign(path, self.shoal, program="/none").plan)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
