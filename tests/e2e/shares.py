#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A campaign in shares: campaign run --here DIR --share I/N, the commands that read DIR without a service, and the script of campaign
slurm, whose queue is of a few lines of shell here. Files of all shares are those of a run in one piece, byte for byte.

Usage: shares.py SHOAL SHOALD SHOAL_WORKER EXAMPLES
"""
import json
import os
import signal
import stat
import subprocess
import sys
import time
import unittest

from parts import BOTH, CAMPAIGN, EXAMPLES, FIRST, VACUUM, WATER, Parts

QUEUE = {  # what of Slurm the script and the commands need; its state is in files beside these
    "sbatch": 'cp "$2" "$QUEUE/script"; echo 77',
    "squeue": '[ -e "$QUEUE/down" ] && exit 1; cat "$QUEUE/tasks" 2>/dev/null; true',
    "scancel": 'echo "$1" >>"$QUEUE/taken"',
    "scontrol": 'echo "$@" >>"$QUEUE/requeued"',
    "srun": 'echo "$1 $2" >>"$QUEUE/steps"; while [ "${1#-}" != "$1" ]; do shift; done; exec "$@"',
}


class Shares(Parts):
    def divide(self, edges=BOTH, legs=WATER + VACUUM):
        self.write("campaign.yaml", CAMPAIGN.format(examples=EXAMPLES, edges=edges, legs=legs))

    def status(self, folder):
        """{key: row}, and what is said"""
        done = self.shoal("campaign", "status", self.file, "--here", self.at(folder), "--json")
        return {row["key"]: row for row in json.loads(done.stdout)["ensembles"]}, done.stderr

    def test_shares(self):
        self.divide()
        self.run_part("whole", code=0)
        whole = self.outputs("whole")
        _, said = self.run_part("d", "--share", "0/2", "--for", "2s", code=75)
        self.assertIn("the time of --for is over", said)
        with open(self.at("d/plan.json"), encoding="utf-8") as f:
            plan = json.load(f)
        self.assertEqual((plan["campaign"], plan["shares"]), ("parts", 2))
        share = {one["key"]: one["share"] for one in plan["ensembles"]}
        self.assertEqual(sorted(share.values()), [0, 0, 1, 1])
        self.assertEqual(len({key.split(".")[2] for key, at in share.items() if at == 0}), 2)  # water costs most

        with self.begin("d/", "--share", "0/2") as run:
            self.wait_for(run, lambda: self.log("d/share-000").count("listening") > 1)
            with self.begin("d", "--share", "0/2") as copy:
                _, said = copy.communicate(timeout=60)
            self.assertEqual(copy.returncode, 75, said)
            self.assertIn(f"share-000: process {run.pid} on ", said)
            self.assertIn("works on this folder", said)
            self.wait_for(run, lambda: json.loads(self.text("d/share-000/status.json"))["state"] == "works")
            rows, said = self.status("d")
            self.assertEqual({row["ensemble"] and row["ensemble"]["share"] for row in rows.values()}, {0, None})
            self.assertEqual([row["state"] for key, row in rows.items() if share[key] == 1], ["missing"] * 2)
            self.assertIn("2 shares: 1 works, 1 new", said)
            service = self.service_of(run)
            run.kill()
            os.kill(service, signal.SIGKILL)
        self.run_part("d", "--share", "1/2", code=0)
        self.assertIn("2 shares: 1 done, 1 works", self.status("d")[1])  # share 0 could not say otherwise
        self.gather("--here", self.at("d"), code=75)
        out, _ = self.run_part("d", "--share", "0/2", code=0)
        self.assertIn("sums of legs", out)
        self.compare(whole)

    def text(self, name):
        with open(self.at(name), encoding="utf-8") as f:
            return f.read()

    def compare(self, whole):
        """Shares 0 and 1 of d with the run in one piece: files, then what gather and report make of them."""
        divided = {**self.outputs("d/share-000"), **self.outputs("d/share-001")}
        self.assertEqual(sorted(divided), sorted(whole))
        self.assertEqual(sum(name.endswith("dhdl.xvg") for name in whole), 4 * 3)
        for name, content in whole.items():
            self.assertEqual(divided[name], content, name)
        one, many = (self.gather("--here", self.at(folder)) for folder in ("whole", "d"))
        for rows in (one["ensembles"], many["ensembles"]):
            for row in rows:
                del row["id"]
        self.assertEqual(one, many)
        page = self.shoal("report", self.file, "--here", self.at("d")).stdout
        for leg in ("water", "vacuum"):
            self.assertIn(f"Spec of leg {leg}", page)
        self.assertIn("2 shares: 2 done", self.status("d")[1])
        _, said = self.run_part("d", "--share", "0/2", code=0)
        self.assertIn("0 of 2 ensembles submitted, 2 were there before", said)

    def refused(self, *options, code, folder="d"):
        with self.begin(folder, *options) as run:
            _, said = run.communicate(timeout=60)
        self.assertEqual(run.returncode, code, said)
        return said

    def test_refused(self):
        """Nothing but what was divided is run in its folder; a cancelled campaign is not."""
        self.divide(legs=VACUUM)
        self.run_part("d", "--share", "0/2", "--for", "1s", code=75)
        self.assertIn("is divided in 2 shares: expected --share I/2", self.refused("--share", "2/3", code=2))
        self.assertFalse(os.path.exists(self.at("d/share-002")))
        self.assertIn("is divided: expected the folder of one share", self.refused(code=2))
        self.assertIn("--share wants I/N", self.refused("--share", "2/2", code=2))
        self.assertIn("at most as many shares as ensembles", self.refused("--share", "0/3", code=2, folder="e"))
        self.assertIn("campaign gather --here DIR", self.refused("--share", "0/2", "--output", "t", code=2))
        said = self.shoal("campaign", "gather", self.file, "--share", "0/2", code=2).stderr
        self.assertIn("--share: expected --here DIR", said)
        before = self.text("vacuum.yaml")
        self.write("vacuum.yaml", before.replace("seed: 11", "seed: 12"))
        self.assertIn("its spec, topology or coordinates have changed", self.refused("--share", "1/2", code=3))
        self.write("vacuum.yaml", before)
        self.divide(edges=FIRST, legs=VACUUM)
        said = self.refused("--share", "0/2", code=3)
        self.assertIn(f'campaign.yaml:4: "edges: {{list: [{BOTH}]}}" was divided, "edges: {{list: [{FIRST}]}}" is there now', said)
        self.assertEqual(set(self.status("d")[0]), {"parts.methane_methanol.vacuum.1"})  # looking is not refused
        self.divide(legs=VACUUM)
        with self.begin("d", "--share", "0/2") as run:
            self.wait_for(run, lambda: self.log("d/share-000").count("listening") > 1)
            self.assertIn("none begins", self.shoal("campaign", "cancel", self.file, "--here", self.at("d")).stderr)
            _, said = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 3, said)
        self.assertTrue(self.log("d/share-000").endswith("stopped\n"))
        self.assertIn("was cancelled", self.refused("--share", "1/2", code=3))
        said = self.status("d")[1]
        self.assertIn("1 refused, 1 stopped; the campaign was cancelled", said)
        self.assertIn(f"share 1 was refused on {os.uname().nodename}: after the mend `shoal campaign run ", said)
        os.remove(self.at("d/cancelled"))
        self.run_part("d", "--share", "0/2", code=0)

    def test_failed_for_good(self):
        self.divide(edges=FIRST, legs=VACUUM)
        self.run_part("d", "--share", "0/1", "--for", "1s", code=75)
        key = "parts.methane_methanol.vacuum.1"
        self.shoal("cancel", key, "--here", self.at("d/share-000"))
        self.run_part("d", "--share", "0/1", code=1)
        rows, said = self.status("d")
        self.assertEqual(rows[key]["state"], "cancelled")
        self.assertIn(f"share 0 has failed on {os.uname().nodename}: after the mend `shoal campaign retry", said)
        self.shoal("campaign", "retry", self.file, "--here", self.at("d"), "--share", "0/1")
        self.run_part("d", "--share", "0/1", code=0)

    def queue(self):
        """A folder with programs, which `shoal` and the script find first."""
        folder = self.at("queue")
        os.mkdir(folder)
        for name, text in QUEUE.items():
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"#!/bin/sh\n{text}\n")
            os.chmod(path, stat.S_IRWXU)
        self.environment |= {"PATH": f"{folder}:{os.environ['PATH']}", "QUEUE": folder}

    def slurm(self, *words, code=0):
        return self.shoal("campaign", "slurm", self.file, "--here", self.at("d"), "--device", "cpu:1", *words, code=code)

    def task(self, share):
        environment = {**self.environment, "SLURM_ARRAY_TASK_ID": str(share), "SLURM_ARRAY_JOB_ID": "77",
                       "SLURM_JOB_ID": str(78 + share), "SLURM_CPUS_PER_TASK": "1"}
        return subprocess.Popen(["sh", self.at("queue/script")], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def test_slurm(self):
        self.queue()
        self.divide(legs=VACUUM)
        options = ("--shares", "2", "--at-once", "1", "--", "--partition=gpu", "--constraint=a&b", "-t", "60")
        script = self.slurm("--dry-run", *options).stdout
        self.assertFalse(os.path.exists(self.at("d")))
        self.assertEqual(script.splitlines(), [
            "#!/bin/sh",
            "#SBATCH --job-name=shoal-parts --array=0-1%1 --requeue --signal=TERM@120 --open-mode=append "
            f"--output={self.at('d')}/log/%a.out",
            "#SBATCH --partition=gpu '--constraint=a&b' -t 60",
            "srun --ntasks=1 ${SLURM_CPUS_PER_TASK:+--cpus-per-task=$SLURM_CPUS_PER_TASK} "
            f"{os.path.realpath(sys.argv[1])} campaign run {self.file} --here {self.at('d')} --device cpu:1 "
            '--share "$SLURM_ARRAY_TASK_ID/2"',
            "rc=$?",
            '[ $rc = 75 ] && exec scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"',
            "exit $rc"])
        done = self.slurm(*options)
        self.assertEqual(done.stdout, "77\n")
        self.assertIn("2 of 2 shares are submitted, 0 are in the queue, 0 ended", done.stderr)
        self.assertEqual(self.text("queue/script"), script)
        self.assertTrue(os.path.isdir(self.at("d/log")))

        with self.task(0) as run:
            deadline = time.monotonic() + 60
            while not os.path.exists(self.at("d/share-000/status.json")):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            with self.task(0) as copy:
                said, _ = copy.communicate(timeout=60)
            self.assertIn("(job 78) works on this folder", said)
            holder = int(self.text("d/share-000/lock").split()[1])
            os.kill(holder, signal.SIGTERM)
            said, _ = run.communicate(timeout=60)
        self.assertEqual(self.text("queue/requeued"), "requeue 77_0\n" * 2, said)
        self.assertEqual(self.text("queue/steps").splitlines()[0], "--ntasks=1 --cpus-per-task=1")

        self.write("queue/tasks", f"0 77_0 PENDING {self.at('d/slurm.sh')}\n1 76_1 RUNNING /another/slurm.sh\n")
        self.assertIn("1 of 2 shares are submitted, 1 is in the queue, 0 ended", self.slurm(*options[2:]).stderr)
        self.assertIn("--array=1%1 ", self.text("queue/script"))
        with self.task(1) as run:
            said, _ = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, said)
        done = self.slurm("--json", *options[2:])
        self.assertIn("0 of 2 shares are submitted, 1 is in the queue, 1 ended", done.stderr)
        self.assertEqual(json.loads(done.stdout), {"job": None, "shares": []})
        self.assertIn("and not in 3", self.slurm("--shares", "3", code=2).stderr)
        self.shoal("campaign", "cancel", self.file, "--here", self.at("d"))
        self.assertEqual(self.text("queue/taken"), "77_0\n")
        os.remove(self.at("d/cancelled"))
        self.write("queue/down", "")
        self.assertIn("squeue ended with status 1", self.slurm(code=69).stderr)
        self.environment["PATH"] = self.folder
        self.assertIn("squeue: No such file", self.slurm(code=69).stderr)
        self.assertIn("expected --here DIR", self.shoal("campaign", "slurm", self.file, code=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=["shares.py", *sys.argv[5:]])
