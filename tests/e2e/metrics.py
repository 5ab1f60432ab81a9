#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GET /metrics and the node exporter's file: Prometheus' own promtool reads both, every family of families.def is there, values move as
they should in a run, nobody's name is in them. The Grafana dashboard asks for nothing that there is not.

Usage: metrics.py SHOALD SOURCE_ROOT [NAME...]    only the scenarios with one of the names
"""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import fake
from fake import body_of
from scenarios import ROOT, run, service
from service import Connection, until

SOURCE = sys.argv[2]
PROMTOOL = shutil.which("promtool") or os.path.join(SOURCE, ".build/promtool/promtool")
FAMILY = re.compile(r'^FAMILY\(\w+, (\w+), "(\w+)", "([\w,]*)", "([^"]*)"\)$', re.M)
HISTOGRAM = re.compile(r'^HISTOGRAM\(\w+, "(\w+)", "([^"]*)", (.*)\)$', re.M)
SAMPLE = re.compile(r'(\w+)(?:\{(.*)\})? (\S+)')
SUFFIXES = {"COUNTER": ["_total"], "INFO": ["_info"], "GAUGE": [""], "HISTOGRAM": ["_bucket", "_sum", "_count"]}


def declared():
    """{name of a sample: names of its labels}, and the families in order."""
    with open(os.path.join(SOURCE, "daemon/metrics/families.def"), encoding="utf-8") as f:
        text = f.read()
    families = [(kind, name, labels) for kind, name, labels, _ in FAMILY.findall(text)]
    families += [("HISTOGRAM", name, "") for name, _, _ in HISTOGRAM.findall(text)]
    assert len(families) == len(re.findall(r"^(?:FAMILY|HISTOGRAM)\(", text, re.M)), "families.def has lines that this does not read"
    samples = {name + suffix: set(labels.split(",") if labels else []) | ({"le"} if suffix == "_bucket" else set())
               for kind, name, labels in families for suffix in SUFFIXES[kind]}
    return samples, [name for _, name, _ in families]


def values(text):
    """{"name{labels}": value} of a report."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        key = f"{match[1]}{{{match[2] or ''}}}"
        assert key not in found, f"{key} is there twice"
        found[key] = float(match[3])
    return found


def asked(s):
    status, data = s.raw("GET", "/metrics")
    assert status == 200, data
    return data.decode()


def content_type(s):
    connection = Connection(s.socket)
    try:
        connection.request("GET", "/metrics")
        return connection.getresponse().getheader("Content-Type")
    finally:
        connection.close()


def promtool(*words, given=""):
    done = subprocess.run([PROMTOOL, *words], input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout + done.stderr


def has_promtool():
    if os.access(PROMTOOL, os.X_OK):
        return True
    print("skipped: no promtool (deploy/test fetches it)")
    return False


def config(name, text):
    path = os.path.join(ROOT, name + ".yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def whole_text():
    """Both forms have all families, and the same values but for what goes on meanwhile."""
    samples, families = declared()
    file = os.path.join(ROOT, "whole.prom")
    with service("whole", "--config", config("whole", f"metrics: {{file: {file}, every: 1}}\n"), per_second=2000) as s:
        s.set_energy(cpu=1000)
        assert s.wait(s.submit("a"))["state"] == "done"
        before = os.stat(file).st_ino if os.path.exists(file) else 0
        until(lambda: os.path.exists(file) and os.stat(file).st_ino != before)
        assert os.stat(file).st_mode & 0o777 == 0o644, oct(os.stat(file).st_mode)
        text, opened = read(file), asked(s)
        for form in (text, opened):
            found = values(form)
            for key in found:
                name, labels = key[:-1].split("{", 1)
                assert name in samples and set(re.findall(r'(\w+)="', labels)) == samples[name], key
            assert re.findall(r"^# TYPE (\w+) ", form, re.M) == re.findall(r"^# HELP (\w+) ", form, re.M)
            assert {key.split("{")[0] for key in found} >= set(samples) - {"shoal_failures_total"}, set(samples)
        assert re.findall(r"^# TYPE (\w+) ", opened, re.M) == families and opened.endswith("\n# EOF\n")
        moves = ("shoal_requests_total", "shoal_commit_", "shoal_state_free_bytes")
        steady = [{k: v for k, v in values(form).items() if not k.startswith(moves)} for form in (text, opened)]
        assert steady[0] == steady[1], steady
        assert content_type(s) == "application/openmetrics-text; version=1.0.0; charset=utf-8"
        assert s.stop() == 0
    assert not os.path.exists(file), "a service that has stopped leaves no numbers behind"


def by_promtool():
    if not has_promtool():
        return
    file = os.path.join(ROOT, "prom.prom")
    with service("prom", "--config", config("prom", f"metrics: {{file: {file}, every: 1}}\n"), per_second=2000,
                 rules=[{"window": 1, "at": 30, "times": 1, "do": "fail", "code": 3, "message": "x"}]) as s:
        s.set_energy(cpu=1000)
        assert s.wait(s.submit("a"))["state"] == "done"
        until(lambda: os.path.exists(file) and 'shoal_ensembles{state="done"} 1' in read(file))
        assert promtool("check", "metrics", given=read(file)) == ""
        bad = read(file).replace("shoal_steps_total", "shoal_steps")  # and it would say so
        assert subprocess.run([PROMTOOL, "check", "metrics"], input=bad, capture_output=True, text=True, check=False).returncode != 0
        with tempfile.TemporaryDirectory() as folder:
            stamped = re.sub(r"(?m)^([^#].*)$", rf"\1 {time.time():.3f}", asked(s))  # a database wants times
            with open(os.path.join(folder, "in"), "w", encoding="utf-8") as f:
                f.write(stamped)
            promtool("tsdb", "create-blocks-from", "openmetrics", os.path.join(folder, "in"), os.path.join(folder, "out"))
            os.mkdir(os.path.join(folder, "out/wal"))  # as a server's folder has one
            dumped = promtool("tsdb", "dump", os.path.join(folder, "out"))
        for key, value in values(asked(s)).items():
            name, labels = key[:-1].split("{", 1)
            if not name.startswith(("shoal_requests", "shoal_commit", "shoal_state")):
                label = ", ".join([f'__name__="{name}"', *sorted(re.findall(r'\w+="(?:[^"\\]|\\.)*"', labels))])
                found = re.search(rf"^{{{re.escape(label)}}} (\S+) ", dumped, re.M)
                assert found and math.isclose(float(found[1]), value), (label, value, dumped[:2000])


def a_run():
    """Steps, states, waits, failures, crashes and answers are counted as they happen; counters never fall."""
    with service("moves", slots=1, steps=0, per_second=1000, segment=100,
                 rules=[{"window": 0, "at": 500, "times": 2, "do": "fail", "code": 11, "message": "x"},
                        {"window": 2, "at": 300, "times": 1, "do": "crash"}]) as s:
        first = values(asked(s))
        assert first['shoal_device_up{device="cpu"}'] == 1 and first['shoal_device_slots{device="cpu"}'] == 1
        assert first['shoal_steps_total{device="cpu"}'] == first['shoal_device_crashes_total{device="cpu"}'] == 0
        assert first['shoal_wait_seconds_count{}'] == 0 and sum(v for k, v in first.items() if k.startswith("shoal_ensembles")) == 0
        ident = s.submit("a")
        seen, last, ended = [], first, False
        while not ended:
            ended = s.get(ident)["state"] == "done"
            now = values(asked(s))
            for key, value in last.items():
                if re.match(r"\w+(_total|_count|_sum|_bucket)\{", key):
                    assert now[key] >= value, (key, value, now[key])
            seen.append(now)
            last = now
            time.sleep(0.02)
        running = [v for v in seen if v['shoal_replicas{state="running"}'] == 1]
        assert running and all(v['shoal_ensembles{state="running"}'] == 1 for v in running)
        assert any(v['shoal_waiting_replicas{reason="room"}'] == v['shoal_waiting_replicas{reason="turn"}'] == 1 for v in running)
        assert any(v['shoal_waiting_replicas{reason="pause"}'] >= 1 for v in seen), "one waited after its failure"
        assert any(v.get('shoal_device_busy_ratio{device="cpu"}') == 0.5 for v in seen)
        assert any(v.get('shoal_device_memory_free_bytes{device="cpu"}') == 1 << 29 for v in seen)
        steps = sum(r["steps"] for r in s.get(ident)["replicas"])
        done = last['shoal_steps_total{device="cpu"}']
        assert steps <= done <= steps + 3 * 500, (steps, done)  # what three failures had done again, too
        assert math.isclose(last['shoal_simulated_seconds_total{device="cpu"}'], steps * 0.002e-12, rel_tol=0.5)
        assert last['shoal_failures_total{reason="nonfinite"}'] == 2 and last['shoal_device_crashes_total{device="cpu"}'] == 1
        assert last['shoal_replicas{state="done"}'] == 3 and last['shoal_ensembles{state="done"}'] == 1
        assert last['shoal_wait_seconds_count{}'] == 1 and 0 <= last['shoal_wait_seconds_sum{}'] < 30
        assert last['shoal_commit_seconds_count{}'] > first['shoal_commit_seconds_count{}'] and last['shoal_commit_seconds_sum{}'] > 0
        assert last['shoal_requests_total{code="201"}'] == 1
        assert s.call("GET", "/v1/nothing")[0] == 404 and values(asked(s))['shoal_requests_total{code="404"}'] == 1
        space = os.statvfs(s.folder)
        assert abs(last["shoal_state_free_bytes{}"] - space.f_bavail * space.f_frsize) < 1 << 30


def energy():
    """All of a device's, and what of it is nobody's, from the first reading on; a counter that goes back begins a new one."""
    names = [f'shoal_device_{what}_joules_total{{device="cpu"}}' for what in ("energy", "idle_energy")]
    with service("energy", slots=3, steps=0, per_second=20) as s:
        assert not any(name in values(asked(s)) for name in names), "a device that does not tell"
        ident = s.submit("a")
        s.wait_replicas(ident, lambda r: r["state"] == "running")

        def come_to(*joules):
            until(lambda: all(math.isclose(values(asked(s)).get(name, -1), x, abs_tol=1e-9) for name, x in zip(names, joules)), 20)

        def comes_to(millijoules, *joules):
            s.set_energy(cpu=millijoules)
            steps = values(asked(s))['shoal_steps_total{device="cpu"}']
            until(lambda: values(asked(s))['shoal_steps_total{device="cpu"}'] > steps + 15)  # it was read
            come_to(*joules)

        comes_to(500000, 0, 0)
        comes_to(507000, 7, 0)
        comes_to(1000, 7, 0)
        comes_to(1250, 7.25, 0)
        s.act(ident, "cancel")
        s.wait_replicas(ident, lambda r: r["state"] == "cancelled")
        s.kill()
        s.set_energy(cpu=2000)
        s.start()
        come_to(0, 0)
        s.set_energy(cpu=5000)  # nothing ran; told when something starts
        s.submit("b")
        until(lambda: values(asked(s))[names[0]] == 3)
        assert 1 < values(asked(s))[names[1]] <= 3, asked(s)


def nobody_s_names():
    """Everybody who may connect may read it."""
    with service("names", per_second=2000) as s:
        status, answer = s.call("POST", "/v1/ensembles", {**body_of("secretname", "secretkey"), "labels": {"secretlabel": "x"}})
        assert status == 201, answer
        s.wait(answer["id"])
        text = asked(s)
        assert "secret" not in text and answer["id"] not in text
        if os.geteuid() == 0:
            os.chmod(s.socket, 0o666)
            status, text = fake.as_user(1, lambda: [s.raw("GET", "/metrics")[0], asked(s)])
            assert status == 200 and 'shoal_ensembles{state="done"} 1' in text


def unwritable():
    """A file that cannot be written is told once, and written when it can be."""
    folder = os.path.join(ROOT, "later")
    file = os.path.join(folder, "shoal.prom")
    path = config("unwritable", f"metrics:\n  file: {file}\n  every: 1\n")
    with service("unwritable", "--config", path) as s:
        until(lambda: f"metrics: write {file}: No such file or directory" in s.log_text())
        time.sleep(2.5)  # it tries twice more, a second apart
        assert s.log_text().count(f"write {file}") == 1, s.log_text()
        os.mkdir(folder)
        until(lambda: os.path.exists(file))
        until(lambda: f"metrics: {file} is written again" in s.log_text())
        config("unwritable", f"metrics:\n  file: {file}x\n  every: 3600\n")
        s.process.send_signal(1)
        until(lambda: "metrics: every was 1, is 3600" in s.log_text())
        assert f"metrics: file stays {file}; {file}x is used from the next start on" in s.log_text()
    bad = config("bad", "metrics: {every: 2}\n")
    done = subprocess.run([s.command[0], "--config", bad, "--check-config"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "bad.yaml:1: metrics.file: missing" in done.stderr, done


def dashboard():
    """Its queries are PromQL, of samples and labels that there are."""
    samples, _ = declared()
    with open(os.path.join(SOURCE, "deploy/grafana/shoal.json"), encoding="utf-8") as f:
        board = json.load(f)
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    assert len(queries) > 10 and len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    asked_for = set()
    for expr in queries:
        names = set(re.findall(r"shoal_\w+", expr))
        assert names and names <= set(samples), (expr, names - set(samples))
        known = set().union(*(samples[name] for name in names))
        for group in re.findall(r"(?:by|on|group_left) \(([\w, ]+)\)", expr) + re.findall(r"\{(\w+)[=!]", expr):
            assert set(group.split(", ")) <= known, (expr, group)
        asked_for |= names
    for panel in board["panels"]:
        for target in panel["targets"]:
            known = set().union(*(samples[name] for name in re.findall(r"shoal_\w+", target["expr"])))
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= known, target
    bases = {re.sub(r"_(bucket|sum|count)$", "", name) for name in samples}
    assert bases - {re.sub(r"_(bucket|sum|count)$", "", name) for name in asked_for} <= {"shoal_info"}, "a family that no panel shows"
    if has_promtool():
        rules = {"groups": [{"name": "x", "rules": [{"record": f"x:y{i}", "expr": expr.replace("$__rate_interval", "5m")}
                                                   for i, expr in enumerate(queries)]}]}
        path = config("rules", json.dumps(rules))
        promtool("check", "rules", path)


def documented():
    samples, _ = declared()
    page = read(os.path.join(SOURCE, "docs/service.md"))
    for name in samples:
        assert f"`{re.sub('_(bucket|sum|count)$', '', name)}`" in page, f"docs/service.md lacks {name}"


if __name__ == "__main__":
    run([documented, whole_text, by_promtool, a_run, energy, nobody_s_names, unwritable, dashboard], sys.argv[3:])
