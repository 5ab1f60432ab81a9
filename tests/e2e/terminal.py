#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The client on a terminal of 80 columns, against a scripted service: what it draws there, what it asks, how options may be written.

Usage: terminal.py SHOAL
"""
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
import unittest

from client import SHOAL, Answered, ensemble, error

EXIT_REFUSED = 3


class Terminal(Answered):
    def run_shoal(self, *words, code=0):
        """On pipes: what it prints and what it says."""
        done = subprocess.run([SHOAL, *words], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False,
                              env={**os.environ, "SHOAL_SOCKET": self.socket})
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        return done.stdout, done.stderr

    def draw(self, *words, columns=80, typed=b"", code=0):
        """On a terminal: all that it shows, after `typed` was entered."""
        child, terminal = pty.fork()
        if child == 0:
            os.environ.update(SHOAL_SOCKET=self.socket, TERM="xterm", NO_COLOR="1")
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execv(SHOAL, [SHOAL, *words])
        shown, deadline = b"", time.monotonic() + 60
        while time.monotonic() < deadline:
            if typed and b"[y/N]" in shown:
                os.write(terminal, typed)
                typed = b""
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # it has ended
                break
            if not piece:
                break
            shown += piece
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.close(terminal)
        text = shown.decode().replace("\r", "")
        self.assertEqual(status, code, (words, text))
        return text

    def asked(self):
        asked = [key for key, _ in self.service.asked]
        self.service.asked.clear()
        return asked

    # ---- tables

    def test_names_differ(self):
        """Of long names that are alike but for their ends, the ends are there."""
        name = "mini.methanol_ethane-in-a-large-box-of-water.repeat-"
        self.service.answers["GET /v1/ensembles"] = (200, {"ensembles": [ensemble(name=name + end, key=f"{name}{end}-of-a-campaign",
                                                                                  created="2026-11-20T10:00:00Z") for end in "12"]})
        text = self.draw("list")
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        self.assertEqual(len({line.split()[1] for line in text.splitlines()[1:]}), 2, text)
        self.assertIn("~", text)
        self.assertNotIn("reason", text)
        self.assertIn(name + "1", self.run_shoal("list")[0])

    def test_results(self):
        """Lambdas are numbers, all there; columns with something in them stay before those without."""
        components = ("coulomb", "vdw", "bonded", "restraint")
        energy = {unit: {"value": 1, "error": 0.1} for unit in ("kJ/mol", "kcal/mol", "kT")}
        window = {"status": "ok", "reason": None, "sampled": {"magnitude": 0.5}, "samples":
                  {"read": 1001, "used": 1001, "inefficiency": 1.5, "uncorrelated": 29.7, "variance": 0.1}}
        results = {"quantity": "G(1) - G(0)", "status": "ok", "estimate": {"magnitude": 1}, "repeats": None, "warnings": [],
                   "estimators": [{"name": "MBAR", "total": energy, "legs": [], "verdict": {"verdict": "converged", "reasons": []}}],
                   "windows": [{**window, "window": k, "lambda": {c: 0.25 * k for c in components}} for k in range(3)]}
        observed = {"window": 0, "name": "pressure", "frames": 100001, "file": "lambda_00/pressure.xvg", "summary": "P -123.4 +- 5.0 bar",
                    "verdict": {"verdict": "unconverged", "reasons": [{"code": "halves", "text": "its halves differ"}]}}
        results["observables"] = [{**observed, "window": k} for k in range(3)] + [{**observed, "name": "later"}]
        self.service.answers["GET /v1/ensembles/3f2a"] = (200, ensemble(state="done"))
        self.service.answers["GET /v1/ensembles/3f2a9c00/results"] = (200, results)
        lines = self.draw("results", "3f2a").splitlines()
        self.assertTrue(all(len(line) <= 80 for line in lines), lines)
        table = lines[[i for i, line in enumerate(lines) if line.startswith("window")][0]:]
        self.assertIn("coulomb/vdw/bonded/restraint", table[0])
        self.assertIn(" 0.25/0.25/0.25/0.25 ", table[2])
        self.assertTrue(any("P -123.4 +- 5.0 bar" in line and line.endswith("  unconverged") for line in table), table)
        self.assertIn("pressure unconverged (window 0, 1, 2): its halves differ", table)
        self.assertIn("later unconverged (window 0): its halves differ", table)
        self.assertIn(" 29 ", table[2])  # fewer than the 30 that its verdict asks for
        self.assertNotIn("reason", table[0])

    def test_waiting(self):
        """Why a replica waits is worth more columns than its device and its attempts."""
        replica = {"window": 3, "repeat": 0, "state": "queued", "device": "cuda:0", "stage": 3, "step": 1234567, "steps": 2000000,
                   "time_ps": 2345.6, "attempt": 1, "waits": {"for": "its turn", "place": 3, "expected_seconds": 130}, "reason": ""}
        self.service.answers["GET /v1/version"] = (200, {"devices": []})
        self.service.answers["GET /v1/ensembles/3f2a"] = (200, ensemble(replicas=[replica]))
        text = self.draw("status", "3f2a")
        self.assertIn("waits for its turn, place 3, starts in about", text)
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)

    def test_events(self):
        """Whole messages, below each other."""
        message = "the system blew up in stage 2 (produce), after step 0 of it: constraint between atoms 1 and 3 cannot be kept"
        event = {"seq": 7, "time": "2026-11-20T10:00:00.000Z", "kind": "replica", "window": 0, "state": "failed", "message": message}
        self.service.answers["GET /v1/ensembles/3f2a/events?since=0"] = (200, json.dumps(event).encode() + b"\n")
        text = self.draw("events", "3f2a")
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        self.assertIn(message, " ".join(text.split()))

    # ---- help

    def test_help(self):
        """Lines fit, words stay whole, every command is in one group."""
        commands = json.loads(self.run_shoal("help", "--json")[0])["commands"]
        texts = {c["name"]: self.draw("help", c["name"]) for c in commands}
        texts["all"] = self.draw("--help")
        for name, text in texts.items():
            long = [line for line in text.splitlines() if len(line) > 80 and not line.startswith("  shoal ")]
            self.assertEqual(long, [], name)
        told = [line.split()[0] for line in texts["all"].split("Exit codes")[0].split("Run and follow")[1].splitlines()
                if line.startswith("  ") and not line.startswith("   ")]
        self.assertEqual(sorted(told), sorted(c["name"] for c in commands))
        for c in commands:
            flat = " ".join(texts[c["name"]].split())
            self.assertIn(" ".join(c["details"].split()), flat)
            self.assertIn(" ".join(c["summary"].split()), flat)
        self.assertTrue(all(len(line) <= 60 for line in self.draw("--help", columns=60).splitlines()))

    # ---- options

    def test_before_the_command(self):
        """Options stand before or behind the command, with values of their own or in one word."""
        self.service.answers["GET /v1/ensembles"] = self.service.answers["GET /v1/ensembles?limit=3"] = (200, {"ensembles": [ensemble()]})
        expected = self.run_shoal("list", "--plain", "--limit", "3")[0]
        for words in (("--plain", "list", "--limit", "3"), ("--limit", "3", "--plain", "list"), ("--limit=3", "list", "--plain"),
                      ("-n", "3", "list", "--plain"), ("-n3", "--plain", "list"), ("--socket", self.socket, "--plain", "list", "-n3"),
                      ("-qn", "3", "--plain", "list"), ("-qS", self.socket, "list", "-n3", "--plain")):
            self.assertEqual(self.run_shoal(*words)[0], expected, words)
        self.assertIn("no option '--nosuch'", self.run_shoal("--nosuch", "list", code=2)[1])
        self.assertIn("shoal list: no option '--output'", self.run_shoal("--output", "x", "list", code=2)[1])
        self.assertIn("no command 'lists'", self.run_shoal("-q", "lists", code=2)[1])
        for words in ((), ("--quiet",), ("--socket", self.socket), ("--socket",)):
            self.assertIn("shoal COMMAND [OPTIONS]", self.run_shoal(*words, code=2)[1])
        self.assertIn("shoal list [OPTIONS]", self.run_shoal("-q", "list", "--help")[0])

    def test_json(self):
        """A page is no JSON: the command refuses what it would pass over."""
        commands = json.loads(self.run_shoal("help", "--json")[0])["commands"]
        self.assertNotIn("json", next(c for c in commands if c["name"] == "report")["options"])
        self.assertIn("shoal report: no option '--json'", self.run_shoal("report", "3f2a", "--json", code=2)[1])

    def test_states_and_labels(self):
        self.service.answers["GET /v1/ensembles?state=running%2Cqueued"] = (200, {"ensembles": []})
        self.service.answers["GET /v1/ensembles?state=running&state=queued"] = (200, {"ensembles": []})
        self.run_shoal("list", "--state", "running,queued")
        self.run_shoal("list", "--state", "running", "-s", "queued")
        self.assertEqual(len(self.asked()), 2)
        for bad in ("runing", "running,", ",running", "", "running queued"):
            self.assertIn("--state wants queued, running,", self.run_shoal("list", "--state", bad, code=2)[1])
        self.assertEqual(self.asked(), [])

    def test_times(self):
        """One way to write times; a bare number is seconds where that cannot do harm."""
        self.service.answers["GET /v1/ensembles/3f2a"] = (200, ensemble(state="done"))
        for text in ("600", "0.5", "90m", "2 h", "30 min", "1d", "1 w", "90s"):
            self.run_shoal("wait", "3f2a", "--timeout", text)
        for text in ("0", "-1", "2 hours", "m", "", "1e30", "nan", "0s", "1h30"):
            self.assertIn("--timeout wants a time above 0", self.run_shoal("wait", "3f2a", "--timeout", text, code=2)[1])
        self.asked()
        for text, seconds in (("90m", 5400), ("1 d", 86400), ("2w", 1209600), ("600s", 600)):
            self.run_shoal("rm", "--older-than", text, code=66)
            self.assertEqual(self.asked(), [f"GET /v1/ensembles?older_than={seconds}"])
        self.assertIn("--older-than wants an age", self.run_shoal("rm", "--older-than", "30", code=2)[1])

    # ---- what cannot be undone, and what was done

    def three(self):
        three = [ensemble(id=f"aaaa000{k}", name=f"methane-{k}", state="done") for k in range(3)]
        self.service.answers["GET /v1/ensembles"] = (200, {"ensembles": three})
        for one in three:
            self.service.answers[f"GET /v1/ensembles/{one['id']}"] = (200, one)
            self.service.answers[f"DELETE /v1/ensembles/{one['id']}"] = (200, {"bytes": 1000})
        self.asked()

    def removed(self):
        return sum(key.startswith("DELETE") for key in self.asked())

    def test_remove_asks(self):
        """Before it removes several, and only on a terminal."""
        self.three()
        for typed in (b"n\n", b"\n", b"\x04", b"no\n"):
            text = self.draw("rm", "--all", typed=typed, code=EXIT_REFUSED)
            self.assertIn("remove 3 ensembles with all their files, for ever: methane-0, methane-1, methane-2? [y/N]", text)
            self.assertIn("nothing is removed; --yes removes without asking", text)
            self.assertEqual(self.removed(), 0)
        self.draw("rm", "--all", typed=b"y\n")
        self.assertEqual(self.removed(), 3)
        self.draw("rm", "aaaa0000", "aaaa0001", typed=b"yes\n")
        self.assertEqual(self.removed(), 2)
        for words in (("rm", "--all", "--yes"), ("rm", "--all", "-y")):
            self.assertNotIn("[y/N]", self.draw(*words))
            self.assertEqual(self.removed(), 3)
        self.assertNotIn("[y/N]", self.draw("rm", "aaaa0000"))
        self.assertEqual(self.removed(), 1)
        self.assertNotIn("[y/N]", self.draw("rm", "--all", "--dry-run"))
        self.assertEqual(self.removed(), 0)
        self.run_shoal("rm", "--all")
        self.assertEqual(self.removed(), 3)

    def test_extend_says(self):
        """By what, and which revision that makes."""
        moved = ensemble(state="queued", revision=2, windows=4)
        answers = self.service.answers
        answers["POST /v1/ensembles/ace-1/extend?time=2%20ps"] = answers["POST /v1/ensembles/ace-1/extend?until=6%20ps"] = (200, moved)
        answers["POST /v1/ensembles/ace-1/extend?windows=vdw%3A%200.5"] = (200, {**moved, "windows": 5})
        self.assertIn("methane, revision 2: production longer by 2 ps in each of 4 windows\n",
                      self.run_shoal("extend", "ace-1", "--time", "2 ps")[1])
        self.assertIn("methane, revision 2: production of 6 ps in each of 4 windows\n", self.run_shoal("extend", "ace-1", "--until", "6 ps")[1])
        would = {"id": "3f2a9c00", "name": "methane", "revision": 2, "windows": 5, "rows": 204, "kept": 204}
        answers["POST /v1/ensembles/ace-1/extend?windows=vdw%3A%200.5&dry_run=1"] = (200, would)
        err = self.run_shoal("extend", "ace-1", "--add-window", "vdw: 0.5")[1]
        self.assertNotIn("rows", err)
        self.assertIn("methane, revision 2: 1 window more, 5 in all\n", err)
        self.assertIn("methane is queued; `shoal watch ace-1` follows it\n", err)
        answers["POST /v1/ensembles/ace-1/extend?time=2%20ps"] = (409, error("CONFLICT", "it is cancelled"))
        self.assertNotIn("revision", self.run_shoal("extend", "ace-1", "--time", "2 ps", code=EXIT_REFUSED)[1])

    def test_windows_cost(self):
        """Rows that would not count any more are said before windows are added, and asked about on a terminal."""
        words, path = ("extend", "ace-1", "--add-window", "vdw: 0.5"), "POST /v1/ensembles/ace-1/extend?windows=vdw%3A%200.5"
        would = {"id": "3f2a9c00", "name": "methane", "revision": 2, "windows": 5, "rows": 204, "kept": 44}
        self.service.answers[path] = (200, ensemble(state="queued", revision=2, windows=5))
        self.service.answers[path + "&dry_run=1"] = (200, would)
        cost = "methane, revision 2, would have 5 windows; 44 of the 204 rows sampled so far would count: those that are frames\n"
        self.assertEqual(self.run_shoal(*words, "--dry-run")[0], cost)
        self.assertEqual(json.loads(self.run_shoal(*words, "--dry-run", "--json")[0]), {"ensembles": [would], "errors": []})
        for typed in (b"n\n", b"\n"):
            text = self.draw(*words, typed=typed, code=EXIT_REFUSED)
            self.assertIn(cost + "shoal: add the windows? [y/N]", text)
            self.assertIn("no windows are added; --yes adds them without asking", text)
        self.assertEqual(self.asked(), [path + "&dry_run=1"] * 4)
        self.assertIn("1 window more, 5 in all", self.draw(*words, typed=b"y\n"))
        self.assertNotIn("[y/N]", self.draw(*words, "--yes"))
        self.assertIn(cost, self.run_shoal(*words)[1])
        self.assertEqual(self.asked(), [path + "&dry_run=1", path] * 3)
        self.service.answers[path + "&dry_run=1"] = (200, {**would, "kept": 204})
        self.assertNotIn("[y/N]", self.draw(*words))
        self.assertIn("extend --dry-run wants --add-window", self.run_shoal("extend", "ace-1", "--time", "1 ns", "--dry-run", code=2)[1])


if __name__ == "__main__":
    unittest.main()
