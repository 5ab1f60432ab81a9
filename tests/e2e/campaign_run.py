#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal campaign run: submits, waits, hands a budget out in rounds to those who lack most, gathers; killed at any moment and said
again, it goes on, and nothing is made twice.

Usage: campaign_run.py SHOAL SHOALD SHOAL_WORKER
"""
import json
import os
import random
import re
import signal
import socketserver
import subprocess
import threading
import time
import unittest

import pair
from served import SHOAL, Served
from service import Connection, Handler

STEP_NS, FIRST, EVERY = 4e-6, 2000, 20  # steps: what specs produce, and between samples
WINDOWS, SYSTEMS = 3, ("easy", "hard")
SHARE = 12000  # steps of a window, were it even

BONDS = {"easy": ((0.2, 500.0), (0.21, 520.0)), "hard": ((0.2, 500.0), (0.3, 1000.0))}
SPEC = pair.spec((0, 0.5, 1), 400, FIRST, EVERY, name="$(system).top")
BUDGET = f"budget: {{time: {SHARE * WINDOWS * len(SYSTEMS) * STEP_NS:.9f} ns}}\n"
CAMPAIGN = """name: {name}
systems: {{list: [{{name: easy}}, {{name: hard}}]}}
legs: [{{name: pair, spec: pair.yaml}}]
"""


class Between(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """A socket in front of the service's: `before` is told what is asked, and may do something first."""

    daemon_threads = True

    def __init__(self, path, service, before):
        self.service, self.before = service, before
        super().__init__(path, Passing)


class Passing(Handler):
    def answer(self):
        self.server.before(self.command, self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        service = Connection(self.server.service)
        service.request(self.command, self.path, body or None, {"Content-Type": "application/json"} if body else {})
        answer = service.getresponse()
        data = answer.read()
        service.close()
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = answer


class Run(Served):
    OPTIONS = ("--live-seconds", "0")

    def running(self, path):
        return subprocess.Popen([SHOAL, "campaign", "run", path], env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def write(self, name, more=BUDGET, spec=SPEC):
        folder = os.path.join(self.folder, name)
        os.makedirs(folder, exist_ok=True)
        files = {"pair.yaml": spec, "pair.gro": pair.COORDINATES, "campaign.yaml": CAMPAIGN.format(name=name) + more,
                 **{f"{s}.top": pair.topology(BONDS[s]) for s in SYSTEMS}}
        for file, text in files.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8") as f:
                f.write(text)
        return os.path.join(folder, "campaign.yaml")

    def shoal(self, *words, code=0):
        done = subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def ensembles(self, name):
        """By system, with their replicas."""
        listed = json.loads(self.shoal("list", "--label", f"campaign={name}", "--json").stdout)["ensembles"]
        found = json.loads(self.shoal("status", "--json", *[e["id"] for e in listed]).stdout)["ensembles"]
        self.assertEqual(len(found), len({e["key"] for e in found}))
        return {e["labels"]["system"]: e for e in found}

    def production(self, name):
        """Steps of production of each window, all made and all in the files once."""
        steps = {}
        for system, e in self.ensembles(name).items():
            self.assertEqual(e["state"], "done", e)
            made = {r["step"] - 400 for r in e["replicas"]}
            self.assertEqual(made, {r["steps"] - 400 for r in e["replicas"]})
            steps[system] = made.pop()
            self.assertEqual(made, set())
            results = json.loads(self.shoal("results", e["id"], "--json").stdout)
            self.assertEqual({w["samples"]["read"] for w in results["windows"]}, {steps[system] // EVERY + 1})
        return steps

    def assert_spent(self, steps):
        self.assertEqual(set(steps), set(SYSTEMS))
        self.assertLessEqual(sum(steps.values()), SHARE * len(SYSTEMS))
        self.assertGreater(sum(steps.values()), SHARE * len(SYSTEMS) * 0.998)
        self.assertGreaterEqual(steps["easy"], SHARE // 4)
        self.assertGreater(steps["hard"], 1.5 * steps["easy"])

    def test_whole(self):
        path = self.write("whole")
        planned = self.shoal("campaign", "plan", path)
        self.assertIn("of 0.288 ns of production 0.048 are as the specs say, the rest is handed out by need in 3 rounds", planned.stderr)
        table = os.path.join(self.folder, "table")
        done = self.shoal("campaign", "run", path, "--json", "--output", table)
        gathered = json.loads(done.stdout)
        self.assertEqual({e["state"] for e in gathered["ensembles"]}, {"done"})
        self.assertTrue(os.path.exists(os.path.join(table, "report.html")))
        said = re.findall(r"round (\d) of 3: from ([\d.]+) to ([\d.]+) of 0.288 ns", done.stderr)
        rounds = [tuple(map(float, found)) for found in said]
        self.assertEqual([number for number, _, _ in rounds], [1, 2, 3])
        for number, before, after in rounds:
            for ns, parts in ((before, number - 1), (after, number)):
                self.assertTrue(-3e-4 < ns - (0.048 + 0.08 * parts) < 1e-9, rounds)
        self.assert_spent(self.production("whole"))
        revisions = {s: e["revision"] for s, e in self.ensembles("whole").items()}
        self.assertLessEqual(max(revisions.values()), 4)
        again = self.shoal("campaign", "run", path)  # there is nothing left to do
        self.assertNotIn("round", again.stderr)
        self.assertEqual(revisions, {s: e["revision"] for s, e in self.ensembles("whole").items()})

    def test_killed(self):
        """The command, the service or both, at random moments; in the end two commands at once."""
        path = self.write("killed", BUDGET.replace("}", ", rounds: 8}"))  # each of which takes a turn
        rng, kills = random.Random(4), 0
        for turn in range(14):
            with self.running(path) as run:
                time.sleep(0.03 + rng.random() * 0.1)  # the whole may take no more than a second
                kills += run.poll() is None
                run.kill()
            if turn % 4 == 3:
                self.stop(signal.SIGKILL)
                self.start()
        self.assertGreater(kills, 4)
        both = [self.running(path) for _ in range(2)]
        for run in both:
            said = run.communicate(timeout=120)
            self.assertEqual(run.returncode, 0, said)
        self.assert_spent(self.production("killed"))

    def test_interrupt(self):
        """It says that the ensembles go on, and they do."""
        path = self.write("interrupted", more="")
        run = self.running(path)
        while "submitted" not in run.stderr.readline():
            pass
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=60)
        self.assertEqual(run.returncode, -signal.SIGINT)
        self.assertIn(f"shoal: what was submitted goes on; `shoal campaign run {path}` waits for it again\n", said)
        self.shoal("campaign", "run", path)

    def test_part_of_a_round_by_another(self):
        """Another `run` begins to hand out the round while this one looks at the ensembles: it waits, as if that had been before."""
        until, hard, meanwhile = f"{FIRST + 3000} steps", {}, []
        for name in ("first", "other"):
            path = self.write(name)
            self.shoal("campaign", "submit", path)
            self.shoal("wait", "--label", f"campaign={name}")
            hard[name] = self.ensembles(name)["hard"]["id"]
        self.shoal("extend", hard["first"], "--until", until)
        self.shoal("campaign", "run", os.path.join(self.folder, "first", "campaign.yaml"))

        def before(method, asked):
            if (method, asked) == ("GET", f"/v1/ensembles/{hard['other']}") and not meanwhile:
                meanwhile.append(asked)
                self.shoal("extend", hard["other"], "--until", until)

        with Between(os.path.join(self.folder, "between.sock"), self.environment["SHOAL_SOCKET"], before) as between:
            threading.Thread(target=between.serve_forever, args=(0.01,), daemon=True).start()
            done = subprocess.run([SHOAL, "campaign", "run", path], env={**self.environment, "SHOAL_SOCKET": between.server_address},
                                  capture_output=True, text=True, check=False, timeout=120)
            between.shutdown()
        self.assertEqual((done.returncode, len(meanwhile)), (0, 1), done.stderr)
        self.assert_spent(self.production("other"))
        self.assertEqual(self.production("other"), self.production("first"), done.stderr)

    def test_service_goes_away(self):
        """The command, once it has submitted, waits for it, and goes on."""
        path = self.write("away")
        with self.running(path) as run:
            self.assertTrue(any(" submitted" in line for line in run.stderr))
            for _ in range(3):
                time.sleep(0.7)  # the command may be anywhere when the service goes
                self.stop(signal.SIGKILL)
                self.start()
            self.assertEqual((run.communicate(timeout=120)[1], run.returncode)[1], 0)
        self.assert_spent(self.production("away"))

    def test_good_enough(self):
        """By its own stop-when: it gets nothing more, and the others all of it."""
        more = BUDGET + "spec: {stop-when: {error: 0.5 kcal/mol, verdict: any}}\n"
        path = self.write("enough", more)
        self.assertNotIn("round", self.shoal("campaign", "run", path).stderr)
        self.assertEqual(self.production("enough"), {"easy": FIRST, "hard": FIRST})

    def test_not_all_can(self):
        """What was cancelled takes nothing; what is left goes to the others, and the exit code tells."""
        before = 100000  # steps, so that it can be cancelled on the way
        path = self.write("some", spec=SPEC.replace("time: 400 steps", f"time: {before} steps"))
        self.shoal("campaign", "submit", path)
        self.shoal("cancel", self.ensembles("some")["easy"]["id"])
        self.shoal("campaign", "run", path, code=1)
        found = self.ensembles("some")
        self.assertEqual((found["easy"]["state"], found["easy"]["revision"], found["hard"]["state"]), ("cancelled", 1, "done"))
        hard = found["hard"]["replicas"][0]["steps"] - before
        self.assertTrue(2 * SHARE * 0.998 < hard + FIRST <= 2 * SHARE, hard)

    def test_widened(self):
        """By hand, meanwhile: the windows more are paid for too."""
        for name, more in (("widened", ""), ("needy", "allocate: adaptive\n")):
            with self.subTest(name):
                self.widen(name, pair.spec((0, 0.5, 1), 400, FIRST, EVERY, "20 steps", "$(system).top") + more)

    def widen(self, name, spec):
        path = self.write(name, "", spec)
        self.shoal("campaign", "run", path)
        self.shoal("extend", self.ensembles(name)["hard"]["id"], "--add-window", "bonded: 0.75", "--add-window", "bonded: 0.25")
        self.write(name, BUDGET, spec)
        said = self.shoal("campaign", "run", path).stderr
        self.assertIn("round 1 of 3: from 0.064 to", said)
        found = self.ensembles(name)
        self.assertEqual((found["easy"]["windows"], found["hard"]["windows"], found["hard"]["state"]), (3, 5, "done"))
        spent = sum(r["steps"] - 400 for e in found.values() for r in e["replicas"])
        budget = SHARE * WINDOWS * len(SYSTEMS)
        self.assertTrue(0.998 * budget < spent <= budget, (spent, budget))

    def test_no_budget(self):
        path = self.write("plain", "")
        self.assertIn("easy", self.shoal("campaign", "run", path).stdout)
        self.assertEqual(self.production("plain"), {"easy": FIRST, "hard": FIRST})

    def test_refused(self):
        path = self.write("small", "budget: {time: 0.04 ns}\n")
        said = self.shoal("campaign", "run", path, code=65).stderr
        self.assertIn("campaign.yaml:4: budget.time: 0.04 ns: the specs produce 0.048 ns in all, which is its first part; expected more",
                      said)
        path = self.write("unit", "budget: {time: 40 steps}\n")
        self.assertIn("campaign.yaml:4: budget.time: 40 steps", self.shoal("campaign", "plan", path, code=65).stderr)
        protocol = SPEC.replace("  - equilibrate", "  - produce: {time: 40 steps, ensemble: nvt, sample-every: 20 steps}\n  - equilibrate")
        protocol = protocol[:protocol.rindex("  - produce")]
        path = self.write("last", BUDGET, protocol)
        self.assertIn("its last stage does not produce", self.shoal("campaign", "plan", path, code=65).stderr)
        path = self.write("long")
        self.assertIn("have not ended after 0.01 s", self.shoal("campaign", "run", path, "--timeout", "0.01", code=124).stderr)
        self.write("long", spec=SPEC.replace("12 /ps", "13 /ps"))
        self.assertIn("has other content", self.shoal("campaign", "run", path, code=3).stderr)
        self.assertIn("--time 40 steps: expected, with --by-need, a time above 0 in fs, ps, ns or us",
                      self.shoal("campaign", "extend", path, "--time", "40 steps", "--by-need", code=2).stderr)
        self.assertEqual({e["revision"] for e in self.ensembles("long").values()}, {1})


if __name__ == "__main__":
    unittest.main(argv=["campaign_run.py"])
