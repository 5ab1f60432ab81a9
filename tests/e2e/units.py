#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The system service's unit is one that systemd takes and calls safe (skipped where there is no systemd-analyze), and makes GPUs ready
before it starts.

Usage: units.py UNIT
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 2.0
GPUS = "/proc/driver/nvidia/gpus"


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def values(unit, key):
    return [word for line in re.findall(rf"(?m)^{key}=(.*)$", unit) for word in line.split()]


def check_order(unit):
    """The driver's modules are loaded before the unit starts: only then are its devices' groups among those allowed."""
    assert "char-nvidia-uvm" in values(unit, "DeviceAllow"), "no GPUs"
    module = "modprobe@nvidia_uvm.service"
    assert module in values(unit, "Wants") and module in values(unit, "After"), f"{module} does not come before it"


def check_files(unit, folder):
    """Its command before the start asks nvidia-modprobe for the files of the GPUs that the driver lists, where both are, and fails nowhere."""
    said, = re.findall(r"(?m)^ExecStartPre=-\+/bin/sh -c '(.*)'$", unit)
    gpus, tools, asked = (os.path.join(folder, name) for name in ("gpus", "tools", "asked"))
    assert said.count(GPUS) == 1, said
    command = said.replace("$$", "$").replace(GPUS, gpus)

    def asks(*wanted):
        done = subprocess.run(["/bin/sh", "-c", command], env={"PATH": f"{tools}:/usr/bin:/bin"}, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout + done.stderr) == (0, ""), done
        found = read(asked).splitlines() if os.path.exists(asked) else []
        assert found == list(wanted), (found, wanted)

    os.mkdir(tools)
    asks()  # neither
    for k, minor in enumerate((0, 3)):
        os.makedirs(os.path.join(gpus, f"0000:{k}8:00.0"))
        with open(os.path.join(gpus, f"0000:{k}8:00.0", "information"), "w", encoding="utf-8") as f:
            f.write(f"Model: \t\t NVIDIA H200\nIRQ:   \t\t {k}\nDevice Minor: \t {minor}\nGPU Excluded:\t No\n")
    asks()  # no nvidia-modprobe
    with open(os.path.join(tools, "nvidia-modprobe"), "w", encoding="utf-8") as f:
        f.write(f'#!/bin/sh\necho "$*" >>{asked}\n')
    os.chmod(os.path.join(tools, "nvidia-modprobe"), 0o755)
    asks("-c 255 -c 0 -c 3", "-u -c 0")
    shutil.rmtree(gpus)
    os.remove(asked)
    asks()  # no driver


def main():
    unit = read(sys.argv[1])
    check_order(unit)
    with tempfile.TemporaryDirectory() as folder:
        check_files(unit, folder)
    if not shutil.which("systemd-analyze"):
        print("skipped: systemd-analyze is not installed")
        return 77
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", sys.argv[1]], capture_output=True,
                          text=True, check=False)
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    assert found, f"no score: {done.stdout[-500:]}\n{done.stderr}"
    print(f"exposure {found.group(1)}, below {LIMIT} wanted")
    assert float(found.group(1)) < LIMIT, done.stdout
    # An option that this systemd does not know would be no protection at all.
    for complaint in ("Unknown", "Failed to parse", "Invalid"):
        assert complaint not in done.stderr, done.stderr
    return 0


if __name__ == "__main__":
    sys.exit(main())
