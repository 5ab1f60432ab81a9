#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal campaign of which something is wrong, or of which a part is meant: what is right is submitted, the rest is told of; --only, --skip
and --leg; what is done to one ensemble done to all; content that changed. With a real service.

Usage: campaign_holes.py SHOAL SHOALD SHOAL_WORKER EXAMPLES
"""
import fcntl
import json
import os
import pty
import subprocess
import sys
import termios
import time
import unittest

import campaign
from campaign import TINY
from served import SHOAL

LONG = TINY.replace("time: 40 steps", "time: 100000000 steps")


class Holes(campaign.Campaigns):
    def states(self, path, *words):
        return {e["key"].split(".", 1)[1]: e["state"] for e in self.json("status", path, *words)["ensembles"]}

    def test_holes(self):
        """A broken topology of one system: the others are submitted, and it with its edges once that is right."""
        path = self.tiny_campaign("holes", TINY.replace("study", "holes"))
        top = os.path.join(os.path.dirname(path), "b/tiny.top")
        with open(top, encoding="utf-8") as f:
            good = f.read()
        self.write(".", top, good.replace("[ settles ]", "[ settle ]"))
        out, err = self.campaign("plan", path, code=65)
        rows = {line.split()[0]: line.split() for line in out.splitlines()}
        self.assertEqual(rows["leg"][-3:], ["missing", "differ", "wrong"])
        self.assertEqual((rows["solvent"][-3:], rows["change"][-3:], rows["all"][-3:]), (["2", "0", "2"], ["0", "0", "2"], ["2", "0", "4"]))
        self.assertIn("b/tiny.top:", err)
        made = self.json("submit", path, code=65)
        self.assertEqual((len(made["submitted"]), made["planned"], made["present"], made["wrong"]), (2, 6, 0, 4))
        _, err = self.campaign("submit", path, code=65)
        self.assertIn("b/tiny.top:", err)
        self.assertIn("4 ensembles were not submitted, for what is said above: holes.b.solvent.1, holes.b.solvent.2, holes.a_b.change.1, "
                      "holes.a_b.change.2; said again once that is right, this submits them", err)
        self.assertIn("0 of 6 ensembles submitted, 2 were there before", err)
        self.assertIn("nothing is submitted before all of it is right", self.campaign("run", path, code=65)[1])
        self.assertEqual({key for key, state in self.states(path).items() if state == "missing"},
                         {f"{key}.{r}" for key in ("b.solvent", "a_b.change") for r in (1, 2)})
        # What is not meant is not told of, and keeps nothing from being submitted.
        _, err = self.campaign("submit", path, "--only", "a")
        self.assertNotIn("tiny.top", err)
        _, err = self.campaign("submit", path, "--only", "b", code=65)
        self.assertIn("nothing of it can be submitted", err)
        self.write(".", top, good)
        self.assertEqual(len(self.json("submit", path)["submitted"]), 4)
        self.assertNotIn("wrong", self.campaign("plan", path)[0])
        # What is wrong with all of it, or with none of them alone, keeps all from being submitted.
        for old, new, said in (("name: holes", "name: lost\nbudget: {time: 0.1 ps}", "budget.time"), ("name: holes", "name: lost\nspec: 3", "")):
            self.write("holes", "lost.yaml", TINY.replace("study", "holes").replace(old, new))
            _, err = self.campaign("submit", os.path.join(os.path.dirname(path), "lost.yaml"), code=65)
            self.assertIn(said, err)
        self.assertEqual(json.loads(self.shoal("list", "--label", "campaign=lost", "--json")[0])["ensembles"], [])
        self.campaign("wait", path, "--timeout", "100")
        self.assertEqual(set(self.states(path).values()), {"done"})

    def test_parts(self):
        """Systems, edges, keys and legs; words that stand for nothing."""
        path = self.tiny_campaign("parts", LONG.replace("study", "parts"))
        for words, chosen in ((("--only", "a"), ["a.solvent.1", "a.solvent.2"]), (("--leg", "change"), ["a_b.change.1", "a_b.change.2"]),
                              (("--only", "a", "--only", "a_b", "--skip", "parts.a.solvent.2"), ["a.solvent.1", "a_b.change.1", "a_b.change.2"]),
                              (("--leg", "solvent", "--skip", "a"), ["b.solvent.1", "b.solvent.2"])):
            self.assertEqual(sorted(self.states(path, *words)), chosen)
            self.assertEqual(self.json("plan", path, *words)["count"], len(chosen))
        for words, said in ((("--only", "c"), "--only c: "), (("--leg", "gas"), "--leg gas: "), (("--skip", "x"), "--skip x: ")):
            for action in ("plan", "submit", "status", "pause"):
                self.assertIn(said, self.campaign(action, path, *words, code=2)[1])
        self.assertIn("leave none", self.campaign("plan", path, "--only", "a", "--skip", "a", code=2)[1])
        part = json.loads(self.campaign("gather", path, "--only", "a", "--json", code=75)[0])
        self.assertEqual({row["item"] for row in part["ensembles"]}, {"a"})
        self.assertIn("--replace goes with campaign submit", self.campaign("plan", path, "--replace", code=2)[1])
        self.assertIn("--dry-run goes with campaign rm", self.campaign("cancel", path, "--dry-run", code=2)[1])
        self.assertIn("campaign report makes a page", self.campaign("report", path, "--json", code=2)[1])
        self.assertEqual(len(self.json("submit", path, "--leg", "solvent", "--skip", "b")["submitted"]), 2)
        self.assertEqual(len(self.json("submit", path)["submitted"]), 4)
        # What is done to one is done to those, and to no other.
        self.campaign("pause", path, "--only", "a")
        states = self.states(path)
        self.assertEqual({key for key, state in states.items() if state == "paused"}, {"a.solvent.1", "a.solvent.2"})
        self.campaign("pause", path)
        self.assertEqual(set(self.states(path).values()), {"paused"})
        self.assertIn("nothing to pause", self.campaign("pause", path, "--only", "a")[1])
        self.campaign("resume", path, "--leg", "change")
        states = self.states(path)
        self.assertEqual({key for key, state in states.items() if state == "paused"}, {f"{s}.solvent.{r}" for s in "ab" for r in (1, 2)})
        self.campaign("cancel", path, "--skip", "a")
        states = self.states(path)
        self.assertEqual({key for key, state in states.items() if state == "cancelled"}, {f"{k}.{r}" for k in ("b.solvent", "a_b.change") for r in (1, 2)})
        self.campaign("retry", path, "--only", "b")
        self.assertTrue({"queued", "running"} >= {state for key, state in self.states(path).items() if key[0] == "b"})
        self.campaign("wait", path, "--only", "b", "--timeout", "1s", code=124)
        self.campaign("cancel", path)
        self.cleared(path, "--only", "a_b")
        self.assertEqual({key for key, state in self.states(path).items() if state == "missing"}, {"a_b.change.1", "a_b.change.2"})
        self.cleared(path)
        self.assertEqual(set(self.states(path).values()), {"missing"})
        self.assertIn("did you mean pause?", self.campaign("pasue", path, code=2)[1])

    def cleared(self, path, *words):
        """Removed, once their replicas have stopped."""
        deadline = time.monotonic() + 60
        while True:
            done = subprocess.run([SHOAL, "campaign", "rm", path, "--json", *words], env=self.environment, capture_output=True, text=True, check=False)
            if not json.loads(done.stdout)["errors"]:
                return
            self.assertIn("still stopping", done.stderr)
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.2)

    def typed(self, text, *words):
        """(exit code, all that is shown) on a terminal, where `text` answers a question."""
        child, terminal = pty.fork()
        if child == 0:
            os.environ.update(self.environment, TERM="xterm")
            fcntl.ioctl(1, termios.TIOCSWINSZ, b"\x18\x00\x50\x00" + bytes(4))
            os.execv(SHOAL, [SHOAL, *words])
        shown = b""
        while True:
            try:
                shown += os.read(terminal, 65536)
            except OSError:
                break
            if text and b"[y/N]" in shown:
                os.write(terminal, text)
                text = b""
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()

    def test_replace(self):
        """Content that changed takes the place of what was there, running or not, once it was asked for."""
        path = self.tiny_campaign("replace", LONG.replace("study", "replace"))
        before = {e["key"]: e["id"] for e in self.json("submit", path)["submitted"]}
        self.write("replace", "campaign.yaml", LONG.replace("study", "replace").replace("retries: 3", "retries: 4"))
        made = self.json("submit", path, code=3)
        self.assertEqual((made["differ"], made["submitted"]), (4, []))
        self.assertIn("--replace` removes it, with its results, and submits what is planned", self.campaign("submit", path, code=3)[1])
        code, shown = self.typed(b"n\n", "campaign", "submit", path, "--replace")
        self.assertIn("remove these ensembles with all their files, for ever, and submit them with other content: replace.a.solvent.1", shown)
        self.assertEqual(code, 3)
        self.assertEqual(self.json("submit", path, code=3)["differ"], 4)
        made = self.json("submit", path, "--replace", "--only", "a")
        self.assertEqual(sorted(e["key"] for e in made["submitted"]), ["replace.a.solvent.1", "replace.a.solvent.2"])
        code, shown = self.typed(b"y\n", "campaign", "submit", path, "--replace")
        self.assertEqual(code, 0, shown)
        now = {e["key"]: e["ensemble"]["id"] for e in self.json("status", path)["ensembles"]}
        self.assertEqual({key for key in now if now[key] != before[key]}, {f"replace.{s}.solvent.{r}" for s in "ab" for r in (1, 2)})
        self.assertEqual(self.json("submit", path, "--replace")["submitted"], [])  # the same content
        self.campaign("cancel", path)
        self.cleared(path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
