# SPDX-License-Identifier: Apache-2.0
"""A Slurm of one machine for tests: munged, slurmctld and slurmd in a folder of their own, with two partitions of which the second preempts
the first. Needs root, and Debian's slurmctld, slurmd and munge, which install() installs."""
import os
import shutil
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol", "squeue", "scancel")
GRACE_S = 20
CONFIGURATION = """ClusterName=shoaltest
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=sched_interval=2,bf_interval=2,sched_min_interval=0
KillWait=5
SlurmdTimeout=10
ReturnToService=2
MaxArraySize=1001
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=low Nodes={host} Default=YES MaxTime=60 PriorityTier=1 GraceTime={grace} State=UP
PartitionName=high Nodes={host} MaxTime=60 PriorityTier=10 PreemptMode=off State=UP
"""


def install():
    """Whether Slurm is at hand: root installs it where it is not."""
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing and shutil.which("apt-get"):
        subprocess.run(["apt-get", "install", "--yes", "--no-install-recommends", "slurmctld", "slurmd", "munge"], check=False,
                       stdout=subprocess.DEVNULL, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    return all(shutil.which(name) for name in PROGRAMS)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cluster:
    def __init__(self, folder):
        self.folder, self.host, self.daemons = folder, socket.gethostname().split(".")[0], {}
        os.makedirs(folder)
        for name in ("state", "spool"):
            os.mkdir(os.path.join(folder, name))
        os.chmod(folder, 0o755)
        with open(f"{folder}/slurm.conf", "w", encoding="ascii") as f:
            f.write(CONFIGURATION.format(host=self.host, port=free_port(), node_port=free_port(), folder=folder,
                                         cpus=os.cpu_count(), grace=GRACE_S))
        with open(f"{folder}/munge.key", "wb") as f:
            f.write(os.urandom(128))
        os.chmod(f.name, 0o400)
        self.environment = {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf"}

    def start(self):
        munge = ["--key-file", "munge.key", "--socket", "munge.socket", "--pid-file", "munge.pid", "--log-file", "munge.log", "--seed-file",
                 "munge.seed"]
        self.begin("munged", "--foreground", "--force", *[word if word.startswith("--") else f"{self.folder}/{word}" for word in munge])
        self.wait(lambda: os.path.exists(f"{self.folder}/munge.socket"), "munged answers")
        self.begin("slurmctld", "-D")
        self.begin("slurmd", "-D", "-N", self.host)
        self.wait(lambda: "idle" in self.run("sinfo", "--noheader", "--format=%T", check=False), "the node is idle")

    def begin(self, program, *words):
        with open(f"{self.folder}/{program}.out", "ab") as out:
            self.daemons[program] = subprocess.Popen([program, *words], env=self.environment, stdout=out, stderr=out)

    def kill(self, program):
        self.daemons[program].kill()
        self.daemons[program].wait()

    def stop(self):
        for daemon in reversed(list(self.daemons.values())):
            daemon.terminate()
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def run(self, *words, check=True):
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False)
        assert not check or done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def tasks(self):
        """{"JOB_TASK" or "JOB": state} of what is in the queue."""
        listed = self.run("squeue", "--noheader", "--array", "--format=%i %T").split()
        return dict(zip(listed[::2], listed[1::2]))

    def log(self):
        texts = ""
        for name in ("slurmctld", "slurmd"):
            with open(f"{self.folder}/{name}.log", encoding="utf-8", errors="replace") as f:
                texts += f"--- {name}\n" + f.read()[-6000:]
        return texts

    def wait(self, what, told, seconds=120):
        deadline = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < deadline, f"{told}: not within {seconds} s\n{self.log()}"
            time.sleep(0.1)
