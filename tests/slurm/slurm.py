#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A campaign in shares under a real Slurm (cluster.py): shares meet their time limit again and again, are preempted, lose their service to
kill -9, their node with all processes, and have copies. In the end the files of all shares are those of a run in one piece, byte for byte.

Needs root. Usage: slurm.py SHOAL SHOALD SHOAL_WORKER EXAMPLES
"""
import json
import os
import signal
import sys
import time
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e")]

import cluster
from parts import BOTH, CAMPAIGN, EXAMPLES, FIRST, LEGS, SPEC, VACUUM, WATER, Parts

SHARES = 4
# A minute of which a share works 10 to 40 s: Slurm looks every 30 s whether a signal is due.
LIMIT = ("--partition=low", "--time=1", "--signal=TERM@20", "--cpus-per-task=1", "--comment=it's \"two\" words & more")
LEGS["water"]["steps"], LEGS["vacuum"]["steps"] = 300, 5000


class Slurm(Parts):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.cluster = cluster.Cluster(self.at("cluster"))
        self.addCleanup(self.cluster.stop)
        self.cluster.start()
        self.environment = {**self.cluster.environment, **self.environment}
        self.began = time.monotonic()

    def tell(self, text):
        print(f"{time.monotonic() - self.began:6.1f} s  {text}", flush=True)

    def log_of(self, share):
        path = self.at(f"d/log/{share}.out")
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as f:
            return f.read()

    def states(self):
        """State of each share as its status.json has it, "" where it has none."""
        found = []
        for share in range(SHARES):
            path = self.at(f"d/share-{share:03}/status.json")
            found.append("")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    found[-1] = json.load(f)["state"]
        return found

    def holder(self, share):
        """Process and job that have a share; None: nobody has."""
        path, words = self.at(f"d/share-{share:03}/lock"), []
        if os.path.exists(path):
            with open(path, encoding="ascii") as f:
                words = f.read().split()
        return (int(words[1]), words[5]) if len(words) > 5 else None

    def working(self):
        """Shares that run what they have submitted."""
        return [share for share, state in enumerate(self.states()) if state == "works" and self.holder(share)]

    def wait(self, what, told, seconds=200):
        self.cluster.wait(what, told, seconds)
        self.tell(told)

    def one_that_works(self):
        self.wait(self.working, "a share works")
        return self.working()[0]

    def running(self, array):
        return [task for task, state in self.cluster.tasks().items() if task.startswith(f"{array}_") and state == "RUNNING"]

    def slurm(self, *words):
        return self.shoal("campaign", "slurm", self.file, "--here", self.at("d"), "--device", "cpu:1", *words)

    def run_whole(self):
        with self.begin("whole") as run:
            _, said = run.communicate(timeout=1500)
        self.assertEqual(run.returncode, 0, said)
        self.tell("the undisturbed run has ended")

    def compare(self, shares):
        whole, divided = self.outputs("whole"), {}
        for share in range(shares):
            divided |= self.outputs(f"d/share-{share:03}")
        self.assertEqual(sorted(divided), sorted(whole))
        for name, content in whole.items():
            self.assertEqual(divided[name], content, name)
        self.tell(f"{len(whole)} files of {shares} shares are equal")

    def status(self):
        """What is said of the shares."""
        return self.shoal("campaign", "status", self.file, "--here", self.at("d")).stderr

    def test_many(self):
        """Twenty shares, as many at once as there are processors; cancelled on the way, and submitted again."""
        self.write("vacuum.yaml", SPEC.format(leg="vacuum", **{**LEGS["vacuum"], "steps": 200}))
        self.write("campaign.yaml", CAMPAIGN.format(examples=EXAMPLES, edges=FIRST, legs=VACUUM) + "repeats: 20\n")
        self.run_whole()
        self.slurm("--shares", "20", "--", "--cpus-per-task=1")
        self.wait(lambda: "done" in self.status(), "a share is done")
        self.shoal("campaign", "cancel", self.file, "--here", self.at("d"))
        self.wait(lambda: not self.cluster.tasks(), "the queue is empty after a cancel", 60)
        self.assertRegex(self.status(), "20 shares: .* new; the campaign was cancelled")
        os.remove(self.at("d/cancelled"))
        self.slurm("--", "--cpus-per-task=1")
        self.wait(lambda: not self.cluster.tasks(), "the queue is empty", 1000)
        self.assertIn("20 shares: 20 done", self.status())
        self.compare(20)

    def test_shares(self):
        self.write("campaign.yaml", CAMPAIGN.format(examples=EXAMPLES, edges=BOTH, legs=WATER + VACUUM))
        self.run_whole()
        array = self.slurm("--shares", str(SHARES), "--at-once", "2", "--", *LIMIT).stdout.strip()
        self.assertIn('Comment=it\'s "two" words & more', self.cluster.run("scontrol", "show", "job", array))
        self.preempt(array)
        self.kill_service()
        self.copy(array)
        self.lose_node()
        self.assertIn(f"0 of {SHARES} shares are submitted", self.slurm("--", *LIMIT).stderr)
        self.wait(lambda: self.states() == ["done"] * SHARES, "all shares are done", 1500)
        self.wait(lambda: not self.cluster.tasks(), "the queue is empty", 300)
        self.compare(SHARES)
        starts = [self.log(f"d/share-{share:03}").count("listening") for share in range(SHARES)]
        self.tell(f"services of the shares: {starts}")
        self.assertGreater(sum("signal 15" in self.log_of(share) for share in range(SHARES)), 1)
        self.gather("--here", self.at("d"))

    def preempt(self, array):
        """A job of the other partition wants all processors: shares make room at once, not at the end of the grace time."""
        self.one_that_works()
        job = self.cluster.run("sbatch", "--parsable", "--partition=high", f"--cpus-per-task={os.cpu_count()}", "--output=/dev/null",
                               "--wrap=sleep 3").strip()
        began = time.monotonic()
        self.wait(lambda: not self.running(array), "shares were preempted", 60)
        self.assertLess(time.monotonic() - began, cluster.GRACE_S)
        self.wait(lambda: job not in self.cluster.tasks(), "the other job has ended")

    def kill_service(self):
        share = self.one_that_works()
        process, _ = self.holder(share)
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as f:
            os.kill(int(f.read().split()[0]), signal.SIGKILL)
        self.wait(lambda: "the service was ended by signal 9" in self.log_of(share), "the service of a share was killed")

    def copy(self, array):
        """One by hand, and one of Slurm's that comes again until it finds nothing to do."""
        share = self.one_that_works()
        process, job = self.holder(share)
        with self.begin("d", "--share", f"{share}/{SHARES}") as copy:
            _, said = copy.communicate(timeout=60)
        self.assertEqual(copy.returncode, 75, said)
        self.assertIn(f"process {process} on {os.uname().nodename} (job {job}) works on this folder", said)
        self.tell("a copy was refused")
        self.cluster.run("sbatch", f"--array={share}", self.at("d/slurm.sh"))

    def lose_node(self):
        """slurmd, the steps and all that they have started die at once."""
        share = self.one_that_works()
        self.cluster.kill("slurmd")
        for process in self.of_node():
            os.kill(process, signal.SIGKILL)
        self.assertIsNotNone(self.holder(share))
        self.wait(lambda: "down" in self.cluster.run("sinfo", "--noheader", "--format=%T"), "the node is down")
        self.cluster.begin("slurmd", "-D", "-N", self.cluster.host)

    def of_node(self):
        """Processes of jobs: those with this cluster in their environment, but for its daemons and this test's own."""
        mine = {daemon.pid for daemon in self.cluster.daemons.values()} | {os.getpid()}
        found, wanted = [], f"SLURM_CONF={self.cluster.folder}/".encode()
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as f:
                    if wanted in f.read() and int(name) not in mine:
                        found.append(int(name))
            except OSError:
                pass
        return found


if __name__ == "__main__":
    if os.geteuid() or not cluster.install():
        print("skipped: expected root, and Debian's slurmctld, slurmd and munge")
        sys.exit(77)
    unittest.main(argv=["slurm.py", *sys.argv[5:]])
