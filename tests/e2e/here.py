#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal campaign run --here DIR: a campaign in parts. It is cut by --for, by signals, by kill -9 of the command, of
the service and of both, moved to another place, and made longer; in the end its files are those of a run that nothing
has cut, byte for byte.

Usage: here.py SHOAL SHOALD SHOAL_WORKER EXAMPLES
"""
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest

from parts import BOTH, CAMPAIGN, EXAMPLES, FIRST, SHOAL, VACUUM, WATER, Parts


class Here(Parts):
    def test_in_parts(self):
        with self.begin("none", "--device", "cuda:99") as without_device:  # which takes its time
            self.cut_and_whole()
            _, said = without_device.communicate(timeout=120)
        self.assertEqual(without_device.returncode, 1, said)
        self.assertIn("no device has worked for 30 s: cuda:99: ", said)
        left = [name for name in os.listdir(self.folder) if name.startswith("shoal-")]
        self.assertEqual(left, [], "folders of sockets are left")

    def cut_and_whole(self):
        out, said = self.run_part("cut", "--for", "2s", code=75)
        self.assertIn("the time of --for is over: run the same command again", said)
        self.assertIn("water", out)  # the table of where it stands
        self.assertIn("stopped", self.log("cut"))
        reached = [self.steps("cut")]
        self.assertGreater(reached[0], 0)

        with self.begin("cut") as run:  # the command alone is killed: its service stops in order
            self.wait_for(run, lambda: self.log("cut").count("listening") > 2)
            time.sleep(0.7)  # it works for a while
            run.kill()
        with self.begin("cut") as run:  # and is waited for; another copy is refused meanwhile
            self.wait_for(run, lambda: os.path.getsize(self.at("cut/lock")))
            _, said = self.run_part("cut", code=75)
            self.assertIn(f"process {run.pid} on ", said)
            self.assertIn("works on this folder", said)
            live = json.loads(self.shoal("campaign", "status", self.file, "--here", self.at("cut"), "--json").stdout)
            self.assertEqual(len(live["ensembles"]), 2)
            time.sleep(0.7)  # it works for a while
            service = self.service_of(run)  # now both: as a machine that is lost
            run.kill()
            os.kill(service, signal.SIGKILL)
        self.assertNotEqual(os.path.getsize(self.at("cut/lock")), 0)
        reached.append(self.steps("cut"))
        self.assertGreaterEqual(reached[1], reached[0])

        gathered = self.gather("--here", self.at("cut"), code=75)
        for row in gathered["ensembles"]:
            self.assertEqual(row["so_far"], row["estimate"] is not None and row["state"] != "done", row)
        os.rename(self.at("cut"), self.at("moved"))
        for at, _, names in os.walk(self.at("moved")):
            if "checkpoint.previous" in names:
                os.remove(os.path.join(at, "checkpoint.previous"))  # which need not be carried
        self.write("campaign.yaml", CAMPAIGN.format(examples=EXAMPLES, edges=BOTH, legs=WATER + VACUUM))
        for number in (signal.SIGUSR1, signal.SIGTERM):
            with self.begin("moved") as run:
                self.wait_for(run)
                time.sleep(1)  # it works for a while
                os.kill(self.service_of(run), number)  # a job's processes all get it
                run.send_signal(number)
                _, said = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 75, said)
            self.assertTrue(self.log("moved").endswith("stopped\n"), self.log("moved"))
        with self.begin("moved") as run:  # the service dies alone
            self.wait_for(run)
            time.sleep(0.5)  # it works for a while
            os.kill(self.service_of(run), signal.SIGKILL)
            _, said = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 75, said)
        self.assertIn("the service was ended by signal 9", said)

        out, said = self.run_part("moved", code=0)
        self.assertIn("sums of legs", out)
        self.run_part("whole", code=0)
        self.assertEqual(self.log("whole").count("listening"), 1)
        cut, whole = self.outputs("moved"), self.outputs("whole")
        self.assertEqual(sorted(cut), sorted(whole))
        self.assertEqual(sum(name.endswith("dhdl.xvg") for name in whole), 4 * 3)
        for name, content in whole.items():
            self.assertEqual(cut[name], content, name)
        _, said = self.run_part("moved", code=0)  # there is nothing left to do
        self.assertIn("0 of 4 ensembles submitted, 4 were there before", said)

    def test_failed_for_good(self):
        """A window that fails ends with 1, also when it is said again; after a retry the campaign comes to its end."""
        self.write("campaign.yaml", CAMPAIGN.format(examples=EXAMPLES, edges=FIRST, legs=VACUUM))
        self.run_part("bad", "--for", "1s", code=75)
        key = "parts.methane_methanol.vacuum.1"
        self.shoal("cancel", key, "--here", self.at("bad"))
        for _ in range(2):
            out, _ = self.run_part("bad", code=1)
            self.assertIn("cancelled", out)
        self.shoal("retry", key, "--here", self.at("bad"))
        self.run_part("bad", code=0)

    def test_looks_while_another_has_it(self):
        """A command that looks waits for the service of the one that has the folder, which may be about to begin or to end."""
        self.write("campaign.yaml", CAMPAIGN.format(examples=EXAMPLES, edges=FIRST, legs=VACUUM))
        self.run_part("shared", "--for", "1s", code=75)
        with subprocess.Popen(["true"]) as ended:
            ended.wait()
        for holder in (os.getpid(), ended.pid):
            with open(self.at("shared/lock"), "w", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                print(f"process {holder} of {socket.gethostname()} job - socket {self.at('gone')}/api.sock", file=lock, flush=True)
                words = [SHOAL, "list", "--here", self.at("shared"), "--quiet"]
                with subprocess.Popen(words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as look:
                    time.sleep(0.5)  # it would have failed
                    self.assertIsNone(look.poll(), "".join(look.communicate()) if look.poll() is not None else "")
                    fcntl.flock(lock, fcntl.LOCK_UN)
                    out, said = look.communicate(timeout=60)
            self.assertEqual((look.returncode, said), (0, ""), said)
            self.assertTrue(out)

    def test_refused(self):
        said = self.shoal("campaign", "status", self.file, "--here", self.at("none"), code=66).stderr
        self.assertIn("nothing was run in this folder yet", said)
        self.assertFalse(os.path.exists(self.at("none")))
        said = self.shoal("campaign", "run", self.file, "--for", "9m", code=2).stderr
        self.assertIn("--for: expected with campaign run --here DIR", said)
        said = self.shoal("campaign", "run", self.file, "--here", self.at("x"), "--timeout", "3", code=2).stderr
        self.assertIn("expected --for", said)
        self.write("water.yaml", "name: [")
        self.run_part("x", code=65)
        self.assertTrue(self.log("x").endswith("stopped\n"))

    def test_folders(self):
        """Parts of a campaign in folders of their own, at once; one table of both."""
        self.write("campaign.yaml", CAMPAIGN.format(examples=EXAMPLES, edges=BOTH, legs=VACUUM))
        with self.begin("a", "--only", "methane_methanol") as a, \
             self.begin("b", "--only", "methane_ethane", "--leg", "vacuum") as b:
            for run in (a, b):
                out, said = run.communicate(timeout=240)
                self.assertEqual(run.returncode, 0, said)
                self.assertIn("1 of 1 ensemble submitted", said)
        folders = ["--here", self.at("a"), "--here", self.at("b")]
        got = self.gather(*folders)
        self.assertEqual([row["state"] for row in got["ensembles"]], ["done", "done"])
        self.assertEqual([value["free_energy"] is None for value in got["values"]], [False] * 3)
        self.assertEqual(got["remarks"], [r for r in got["remarks"] if "folder" not in r])
        got = self.gather(*folders, *folders[:2])
        self.assertIn("1 ensemble is in more than one folder: that of the first folder counts", got["remarks"])
        page = self.shoal("report", self.file, *folders).stdout
        self.assertIn("Spec of leg vacuum", page)
        part = self.gather(*folders[:2], code=75)
        self.assertEqual([row["state"] for row in part["ensembles"]], ["done", None])
        self.assertIn("several --here", self.shoal("list", *folders, code=2).stderr)
        said = self.shoal("campaign", "plan", self.file, "--only", "x", code=2).stderr
        self.assertIn("has no system, edge or key of this name", said)
        text = CAMPAIGN.format(examples=EXAMPLES, edges=BOTH, legs=VACUUM)
        self.write("campaign.yaml", text + "budget: {time: 1 ns}\n")
        self.assertIn("its budget is for all", self.run_part("c", "--only", "methane_methanol", code=2)[1])


if __name__ == "__main__":
    unittest.main(argv=["here.py", *sys.argv[5:]])
