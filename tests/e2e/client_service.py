#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command of the client against a real service with a tiny ensemble.

Usage: client_service.py SHOAL SHOALD SHOAL_WORKER
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

from served import SHOAL, WORKER, Served
from service import until
from tiny import tiny


class Commands(Served):
    OPTIONS = "--live-seconds", "1"

    @classmethod
    def setUpClass(cls):
        cls.begun = time.monotonic()
        super().setUpClass()
        cls.done = cls.submitted("done", seed=31, steps=200, windows=(0, 0.05, 0.1))

    @classmethod
    def write(cls, name, **settings):
        """The path of a spec with its files beside it."""
        spec, files = tiny(name, **settings)
        folder = os.path.join(cls.folder, name)
        os.makedirs(folder, exist_ok=True)
        for file, text in {"spec.yaml": spec, **files}.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8") as f:
                f.write(text)
        return os.path.join(folder, "spec.yaml")

    @classmethod
    def shoal(cls, *words, code=0):
        done = subprocess.run([SHOAL, *words], env=cls.environment, capture_output=True, timeout=700, text=True, check=False)
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout if code == 0 else done.stderr

    @classmethod
    def submitted(cls, name, **settings):
        return cls.shoal("submit", cls.write(name, **settings)).strip()

    def test_options_of_the_worker(self):
        """What the client admits and passes on, the worker takes."""
        for command in json.loads(self.shoal("help", "--json"))["commands"]:
            if command["needs"] == "worker":
                told = subprocess.run([WORKER, command["name"], "--help"], capture_output=True, text=True, check=True).stdout
                self.assertLessEqual(set(command["options"]), set(re.findall(r"(?m)^  --([a-z-]+)", told)), command["name"])

    def status(self, ensemble):
        return json.loads(self.shoal("status", ensemble, "--json"))["ensembles"][0]

    def removed(self, word):
        """What rm says once the replicas have stopped, which they do soon after a cancel."""
        deadline = time.monotonic() + 60
        while True:
            done = subprocess.run([SHOAL, "rm", word], env=self.environment, capture_output=True, text=True, check=False)
            if done.returncode == 0 or time.monotonic() > deadline or "still stopping" not in done.stderr:
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout
            time.sleep(0.1)

    def test_results(self):
        self.assertEqual(self.shoal("watch", self.done, "--timeout", "600"), "done\n")
        status = self.status(self.done[:6])
        self.assertEqual((status["state"], status["windows"], status["done"]), ("done", 3, 3))
        self.assertEqual([r["state"] for r in status["replicas"]], ["done"] * 3)
        events = json.loads(self.shoal("events", self.done, "--json"))["events"]
        producing = [e for e in events if e["kind"] == "produces"]
        self.assertEqual(sorted(e["window"] for e in producing), [0, 1, 2])
        self.assertTrue(all(events[0]["time"] < e["time"] < events[-1]["time"] for e in producing), events)
        results = json.loads(self.shoal("results", self.done, "--json"))
        self.assertEqual([w["seed"] for w in results["windows"]], [31] * 3)
        speed = results["ensemble"]["speed"]  # 600 steps of 2 fs in each of 3 windows
        seconds = 3 * 600 * 2e-6 / speed["magnitude"] * 86400
        self.assertEqual(speed["unit"], "nanosecond_per_day")
        self.assertTrue(0 < seconds < time.monotonic() - self.begun, speed)
        used, = (row for row in json.loads(self.shoal("usage", "--by", "ensemble", "--json"))["rows"] if row["id"] == self.done)
        self.assertEqual(used["steps"], sum(r["step"] for r in status["replicas"]))
        self.assertAlmostEqual(used["ns"], 3 * 600 * 2e-6, 9)
        self.assertTrue(0 < used["device_seconds"] <= 1.01 * results["ensemble"]["running"]["magnitude"] + 0.1, used)
        table = self.shoal("results", self.done, "--output", os.path.join(self.folder, "got"))
        for word in ("MBAR", "BAR", "TI", "  vdw   ", "  0.05  ", "kcal/mol"):
            self.assertIn(word, table)
        for name in ("results.json", "input/spec.yaml", "lambda_02/dhdl.xvg", "lambda_00/confout.gro"):
            self.assertGreater(os.path.getsize(os.path.join(self.folder, "got", name)), 0)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "got/lambda_00/checkpoint")))
        self.shoal("pause", self.done, code=3)

    def test_live_estimate(self):
        """What is shown while it runs is what its samples say: that of the results so far, of one made from the same rows."""
        ensemble = self.submitted("live", seed=12, steps=10000000, windows=(0, 0.05), checkpoint="200 steps")
        until(lambda: (self.status(ensemble)["estimate"] or {}).get("value") is not None, 120)
        self.assertIn("so far ", self.shoal("status", ensemble))
        self.shoal("pause", ensemble)
        until(lambda: {r["state"] for r in self.status(ensemble)["replicas"]} == {"paused"}, 120)
        done = subprocess.run([SHOAL, "results", ensemble, "--json"], env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 75, done.stderr)
        results = json.loads(done.stdout)
        shown = self.status(ensemble)["estimate"]
        self.assertLess(abs(results["estimate"]["magnitude"] - shown["value"]), 4 * shown["error"])
        self.assertIn(shown["verdict"], ("converged", "unconverged"))
        self.shoal("cancel", ensemble)

    def test_same_key(self):
        spec = self.write("keyed", seed=2, steps=100)
        first = self.shoal("submit", spec, "--id", "a-key")
        self.assertEqual(self.shoal("submit", spec, "--key", "a-key"), first)
        other = self.write("keyed", seed=3, steps=100)
        self.assertIn("a-key", self.shoal("submit", other, "--key", "a-key", code=3))

    def test_moves(self):
        ensemble = self.submitted("long", seed=4, steps=100000000)
        self.shoal("results", ensemble, code=75)
        self.shoal("watch", ensemble, "--timeout", "1", code=124)
        self.assertIn(ensemble, self.shoal("list"))
        self.assertEqual(self.shoal("pause", ensemble), "paused\n")
        self.assertIn(ensemble, self.shoal("list", "--state", "paused"))
        self.shoal("resume", ensemble)
        self.assertIn(self.status(ensemble)["state"], ("queued", "running"))
        self.assertEqual(self.shoal("cancel", ensemble), "cancelled\n")
        self.shoal("watch", ensemble, code=1)
        self.shoal("resume", ensemble, code=3)
        self.shoal("retry", self.done[:5], code=3)

    def test_words_and_labels(self):
        """An ensemble is found by its key, its name and the beginning of its id; several by their labels."""
        spec = self.write("worded", seed=8, steps=100000000)
        ids = [self.shoal("submit", spec, "--key", key, "--label", "project=words", "--label", f"round={key}").strip()
               for key in ("first", "second")]
        for word in (ids[0], ids[0][:6], "first"):
            self.assertEqual(self.status(word)["id"], ids[0])
        self.assertIn(ids[1], self.shoal("status", "worded", code=3))  # a name that two have
        listed = json.loads(self.shoal("list", "--label", "project=words", "--limit", "1", "--json"))["ensembles"]
        self.assertEqual([(e["id"], e["labels"]["round"]) for e in listed], [(ids[1], "second")])
        self.assertEqual(len(self.shoal("list", "--label", "project=words", "--plain").splitlines()), 2)
        self.assertEqual(sorted(self.shoal("cancel", "--label", "project=words").splitlines()),
                         sorted(f"{i} cancelled" for i in ids))
        # Removing says what it frees, and needs an ensemble that has ended.
        self.assertIn(self.done, self.shoal("rm", self.done, "--dry-run"))
        space = json.loads(self.shoal("du", "--label", "project=words", "--json"))
        self.assertEqual({e["id"] for e in space["ensembles"]}, set(ids))
        self.assertGreaterEqual(space["users"][0]["ensembles"], 2)
        self.shoal("wait", "--label", "project=words", "--state", "cancelled", code=1)
        self.assertIn(f"{ids[0]} worded removed", self.removed("first"))
        self.shoal("status", "first", code=66)
        self.assertEqual(self.shoal("rm", "--all", "--older-than", "9w"), "")
        self.shoal("retry", "second")
        self.shoal("rm", "second", code=3)
        self.shoal("cancel", "second")

    def test_watch_through_a_restart(self):
        """The service is killed and started again while a client watches: it asks again and sees the end."""
        ensemble = self.submitted("restarted", seed=5, steps=1000)
        with subprocess.Popen([SHOAL, "watch", ensemble, "--timeout", "600"], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as watch:
            self.assertIn("windows", watch.stderr.readline())  # it has heard from the service: one that never did gives up
            self.stop(signal.SIGKILL)
            self.assertIn("lost the service", watch.stderr.readline())
            self.start()
            out, err = watch.communicate(timeout=700)
        self.assertEqual((watch.returncode, out), (0, "done\n"), err)

    def test_bad_input(self):
        spec = self.write("bad", seed=6)
        with open(spec, encoding="utf-8") as f:
            good = f.read()

        def refused(text, code, message, *words):
            with open(spec, "w", encoding="utf-8") as f:
                f.write(text)
            for command in ("submit", "validate"):
                self.assertIn(message, self.shoal(command, spec, *words, code=code), command)

        refused(good.replace("cutoff:", "cutof:"), 65, "spec.yaml:4: nonbonded.cutof: unknown key; did you mean cutoff?")
        refused(good.replace("0.6 nm", "0.6"), 65, "spec.yaml:4: nonbonded.cutoff: 0.6: no unit")
        refused(good.replace("decouple: MET", "decouple: MTE"), 65, "has no molecules of this type; did you mean MET?")
        refused(good.replace("tiny.gro", "none.gro"), 66, "none.gro")
        refused("", 65, "spec.yaml:1: the spec is empty")
        rdf = "observables: [{{rdf: {{between: [C1, OW], max: {} nm}}}}]\n"
        refused(good + rdf.format(0.5), 65, "observables[0].rdf: C1: no atom has this name")
        refused(good + rdf.format(1.2).replace("C1", "C"), 65,
                "observables: rdf: a box 1.5535 nm wide: expected at least twice max, 2.4 nm")
        msd = "observables:\n- rdf: {between: [C, OW], max: 0.5 nm}\n- msd: {of: C, max: 1 ps}\n"
        refused(good + msd + "exchange: {every: 20 steps}\n", 65,
                "spec.yaml:20: exchange: observables[1].msd follows one replica from frame to frame, but a window has now one, now another")
        with open(spec, "w", encoding="utf-8") as f:
            f.write(good)
        answer = json.loads(self.shoal("validate", spec, "--json"))
        warnings = answer.pop("warnings")
        self.assertEqual([w["kind"] for w in warnings], ["ladder", "barostat"])
        self.assertIn("spec.yaml:7: alchemy.windows.vdw: from 0 in window 0 to 0.5 in window 1", warnings[0]["message"])
        about = answer.pop("about")
        self.assertTrue(about["us_per_step"] > 0 and about["wall_seconds"] > 0 and about["replica_memory_bytes"] > 1e5, about)
        self.assertEqual(answer, {"ok": True, "name": "bad", "atoms": 373, "windows": 3, "repeats": 1, "fits": [], "stages": 4,
                                  "steps_per_window": 1500})
        self.shoal("validate", os.path.join(self.folder, "none.yaml"), code=66)
        self.shoal("validate", code=2)
        self.shoal("status", "zzzzzz", code=66)

    def test_includes(self):
        """Files named by #include go along, from beside the spec and from --include folders."""
        spec = self.write("including", seed=7, steps=100, windows=(0, 0.05, 0.1))
        folder, more = os.path.dirname(spec), os.path.join(self.folder, "more")
        with open(os.path.join(folder, "tiny.top"), encoding="utf-8") as f:
            top = f.read()
        head, tail = top.split("[ moleculetype ]", 1)
        os.makedirs(os.path.join(more, "ff"))
        with open(os.path.join(more, "ff", "types.itp"), "w", encoding="utf-8") as f:
            f.write(head)
        with open(os.path.join(folder, "tiny.top"), "w", encoding="utf-8") as f:
            f.write('#include "ff/types.itp"\n[ moleculetype ]' + tail)
        self.assertIn("types.itp", self.shoal("submit", spec, code=66))
        self.assertIn("types.itp", self.shoal("validate", spec, code=66))
        self.shoal("validate", spec, "--include", more)
        ensemble = json.loads(self.shoal("submit", spec, "--include", more, "--wait", "--timeout", "600", "--json"))
        self.assertEqual((ensemble["state"], len(ensemble["results"]["windows"])), ("done", 3))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
