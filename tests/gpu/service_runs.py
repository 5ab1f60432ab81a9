# SPDX-License-Identifier: Apache-2.0
"""What the scripts beside it that take minutes have in common: ensembles through a service of their own, within a limit of time, in a folder that
may be taken up again."""
import argparse
import os
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
from service import Service  # noqa: E402

DATA = os.path.join(HERE, "../../../shared/data")
AGAIN, NO_DATA = 75, 77
STEPS_A_NS = 500000


def parser(data):
    options = argparse.ArgumentParser()
    options.add_argument("shoald", type=os.path.abspath)
    options.add_argument("worker", type=os.path.abspath)
    options.add_argument("--device", default="cpu")
    options.add_argument("--data", default=os.path.join(DATA, data))
    options.add_argument("--time", type=float, default=1, metavar="NS")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--folder", type=os.path.abspath)
    options.add_argument("--limit", type=float)
    return options


def submit(service, ident, spec, files):
    """files: {name in the spec: path}. The ensemble's id; it is submitted once, however often this is said."""
    contents = {}
    for name, path in files.items():
        with open(path, encoding="utf-8") as f:
            contents[name] = f.read()
    status, answer = service.call("POST", "/v1/ensembles", {"spec": spec, "spec_name": f"{ident}.yaml", "files": contents, "id": ident})
    assert status in (200, 201), answer
    return answer["id"]


def ended(service, ident):
    status, ensemble = service.call("GET", f"/v1/ensembles/{ident}")
    assert status == 200, ensemble
    if ensemble["state"] not in ("queued", "running", "finishing", "done"):
        sys.exit(f"{ensemble['name']} is {ensemble['state']}: {ensemble['reason']}; see {service.log}")
    return ensemble["state"] == "done", ensemble["progress"]


def wait(service, idents, limit, going):
    """Whether all ended in time, and nobody who extends them is going on."""
    begun = time.monotonic()
    while True:
        more = going()
        states = [ended(service, ident) for ident in idents.values()]
        if not more and all(done for done, _ in states):
            return True
        if limit and time.monotonic() - begun > limit:
            print("not ended: " + ", ".join(f"{name} {100 * share:.0f} %" for name, (_, share) in zip(idents, states)))
            return False
        time.sleep(1)


def results(service, ident, live):
    """Of all samples there are so far, if live; None: of too few."""
    status, found = service.call("GET", f"/v1/ensembles/{ident}/results" + "?live=true" * live)
    assert status == 200 or live, found
    return found if status == 200 else None


def run(o, submit_all, report, going=lambda: False):
    """submit_all(service) -> {name: id}. report(service, idents, live) prints what came of them and returns how much of it is wrong; when
    the limit has come, live, what is known so far. going() tells whether somebody still extends them. The exit code, and the seconds it
    took."""
    folder = o.folder or tempfile.mkdtemp(prefix="shoal-gpu-")
    service = Service(o.shoald, o.worker, folder, o.device)
    service.start()
    begun = time.monotonic()
    try:
        idents = submit_all(service)
        in_time = wait(service, idents, o.limit, going)
        bad = report(service, idents, not in_time)
    finally:
        service.stop(300)
    seconds = time.monotonic() - begun
    if not in_time:
        print(f"stopped after {seconds:.0f} s; go on with --folder {folder}")
        return AGAIN, seconds
    if not o.folder:
        shutil.rmtree(folder)
    return (1 if bad else 0), seconds
