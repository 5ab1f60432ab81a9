#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Energy from the driver's counter to the accounts: the true worker on an emulated GPU, with a library in the place of NVIDIA's
(tests/lib/nvml/fake.c) whose counter this script sets.

Usage: energy.py SHOALD EMULATED_WORKER FOLDER_OF_THE_LIBRARY
"""
import os
import re
import sys
import tempfile

from service import Service, until
from tiny import tiny

SHOALD, WORKER, LIBRARY = sys.argv[1:]
PLACE = "0000:3B:00.0"  # of the emulated card


def counted(s):
    status, answer = s.call("GET", "/v1/accounting?by=device")
    assert status == 200, answer
    return {row["device"]: row["energy_joules"] for row in answer["rows"]}


def metric(s, name):
    return float(re.search(rf'^shoal_device_{name}_joules_total{{device="cuda:0"}} (\S+)$', s.raw("GET", "/metrics")[1].decode(), re.M)[1])


def start(s, ensemble):
    """It runs until it is cancelled."""
    spec, files = tiny(ensemble, seed=1, windows=(0, 1), side=4)
    spec = re.sub(r"time: \d+ steps", "time: 1000000 steps", spec)
    status, answer = s.call("POST", "/v1/ensembles", {"spec": spec, "spec_name": "my.yaml", "files": files})
    assert status == 201, answer
    until(lambda: any(r["step"] for r in s.get(answer["id"])["replicas"]))
    return answer["id"]


def end(s, ident):
    s.call("POST", f"/v1/ensembles/{ident}/cancel")
    until(lambda: all(r["state"] == "cancelled" for r in s.get(ident)["replicas"]))


def main():
    with tempfile.TemporaryDirectory(prefix="shoal-energy-") as folder:
        counter = os.path.join(folder, "counter")

        def set_counter(millijoules):
            with open(counter + ".new", "w", encoding="utf-8") as f:
                f.write(str(millijoules))
            os.rename(counter + ".new", counter)

        s = Service(SHOALD, WORKER, folder, device="cuda:0")
        s.environment |= {"LD_LIBRARY_PATH": LIBRARY, "SHOAL_TEST_ENERGY": counter, "SHOAL_TEST_CARD_PLACE": PLACE}
        set_counter(7000000)
        s.start()
        assert metric(s, "energy") == 0
        set_counter(7003000)  # nothing runs
        ident = start(s, "one")
        until(lambda: metric(s, "energy") == 3)
        idle = metric(s, "idle_energy")
        assert 2 <= idle <= 3, idle  # some of it is of the time from the service's decision to its worker's start
        set_counter(7053000)
        end(s, ident)
        until(lambda: metric(s, "energy") == 53)
        until(lambda: counted(s)["cuda:0"])  # told when the last replica has ended, and kept at once
        assert 45 <= counted(s)["cuda:0"] <= 51 and abs(counted(s)["cuda:0"] + metric(s, "idle_energy") - 53) < 1e-6, (counted(s), metric(s, "idle_energy"))
        before = counted(s)
        s.kill()
        set_counter(7999000)
        s.start()
        assert counted(s) == before
        os.unlink(counter)  # it does not tell any more
        end(s, start(s, "two"))
        assert counted(s) == before
        assert s.stop() == 0


if __name__ == "__main__":
    main()
