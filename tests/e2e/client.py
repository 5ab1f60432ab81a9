#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The client against a scripted service: what it asks, what it prints, and its exit codes.

Usage: client.py SHOAL
"""
import json
import math
import os
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from service import Handler

SHOAL = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "shoal"
EXIT_REFUSED = 3
ENSEMBLE = {"id": "3f2a9c00", "name": "methane", "state": "queued", "created": "2026-11-20T10:00:00.000Z", "windows": 4,
            "done": 0, "failed": 0, "progress": 0.0, "seq": 1, "reason": None, "owner": 0, "replicas": []}


def ensemble(**changes):
    return {**ENSEMBLE, **changes}


def error(code, message, **more):
    return {"error": {"code": code, "message": message, **more}}


class Cut(bytes):
    """An answer whose last ten bytes never come."""


class Service(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Answers "METHOD /path?query" from self.answers: (status, value), a list of them in turn, or a function of the body."""

    daemon_threads = True

    def __init__(self, path):
        self.answers, self.asked = {}, []
        super().__init__(path, Scripted)

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], BrokenPipeError):  # a client that has heard enough hangs up
            super().handle_error(request, client_address)


class Scripted(Handler):
    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        key = f"{self.command} {self.path}"
        self.server.asked.append((key, body))
        found = self.server.answers.get(key, (404, error("NOT_FOUND", f"no {self.path}")))
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        if callable(found):
            found = found(body)
        status, value = found
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        if isinstance(value, bytes) and b'"kind"' in value:  # an event stream: chunked, a line at a time
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for line in value.splitlines(keepends=True):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.write(b"0\r\n\r\n")
            return
        self.send_header("Content-Length", str(len(data) + 10 * isinstance(value, Cut)))
        self.end_headers()
        self.wfile.write(data)
        self.close_connection |= isinstance(value, Cut)

    do_GET = do_POST = do_DELETE = answer


class Answered(unittest.TestCase):
    """A folder with a service's socket in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.socket = os.path.join(self.folder, "api.sock")
        self.service = Service(self.socket)
        self.addCleanup(self.service.server_close)
        threading.Thread(target=self.service.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(self.service.shutdown)


class Client(Answered):
    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(text if isinstance(text, bytes) else text.encode())
        return path

    def shoal(self, *words, code=0, socket=None, env=None):
        done = subprocess.run([SHOAL, *words], capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
                              env={**os.environ, "SHOAL_SOCKET": socket or self.socket, "GMXLIB": "", **(env or {})}, check=False)
        out, err = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, code, f"{words}\n{out}\n{err}")
        return out, err

    # ---- words and options

    def test_help(self):
        out, _ = self.shoal("--help")
        self.assertTrue(out.startswith("shoal COMMAND [OPTIONS]: "))
        table = json.loads(self.shoal("help", "--json")[0])
        for command in ("submit", "list", "status", "watch", "results", "cancel", "pause", "resume", "retry", "reestimate", "validate",
                        "energy", "bench", "version", "events", "wait", "top"):
            self.assertIn(command, [c["name"] for c in table["commands"]])
        self.assertEqual(table["states"], ["queued", "running", "paused", "finishing", "done", "failed", "cancelled"])
        for command in table["commands"]:
            self.assertIn(f"\n  {command['name']} ", out)
            told, _ = self.shoal(command["name"], "--help")
            self.assertTrue(told.startswith(f"shoal {command['name']} "), told)
            self.assertEqual(told, self.shoal("help", command["name"])[0])
            for option in command["options"]:
                self.assertIn(f"--{option} ", told)
        for row in table["exit_codes"]:
            self.assertIn(f"{row['code']}  {row['text']}\n", out.replace("\n       ", " "))
        self.shoal(code=2)

    def test_mistyped(self):
        self.assertIn("no command 'sumbit'; did you mean 'submit'?", self.shoal("sumbit", code=2)[1])
        self.assertIn("no option '--jsno'; did you mean '--json'?", self.shoal("list", "--jsno", code=2)[1])
        # Names are taken whole: a script's --stat must not come to mean another option one day.
        self.assertIn("no option '--stat'; did you mean '--state'?", self.shoal("list", "--stat", "done", code=2)[1])
        self.assertIn("no option '--replica'; did you mean '--replicas'?", self.shoal("bench", "x.yaml", "--replica=3", code=2)[1])
        self.assertIn("shoal list: --json takes no value, got 'yes'; ", self.shoal("list", "--json=yes", code=2)[1])
        self.assertIn("shoal watch: too few words, expected ID; ", self.shoal("watch", code=2)[1])
        self.assertIn("shoal list: too many words, expected none; ", self.shoal("list", "x", code=2)[1])
        self.assertIn("shoal list: --state needs a value, STATE; ", self.shoal("list", "--state", code=2)[1])
        self.assertIn("--timeout wants", self.shoal("watch", "x", "--timeout", "-1", code=2)[1])
        for words in (("watch", "x", "--timeout", "inf"), ("watch", "x", "--timeout", "1e30"), ("list", "--state", "dnoe"),
                      ("list", "--limit", "0"), ("list", "--limit", "1e3"), ("list", "--label", "x"), ("list", "--label", "=x"),
                      ("events", "x", "--since", "-1"), ("pause",), ("pause", "x", "--all"), ("help", "x", "y")):
            self.shoal(*words, code=2)
        self.assertEqual(self.service.asked, [])

    def test_words(self):
        """Options stand anywhere, letters together, values in their words or after them; -- ends them."""
        self.service.answers["GET /v1/ensembles?limit=3&state=done"] = (200, {"ensembles": []})
        for words in (("-qjsdone", "-n", "3"), ("--state=done", "-jn3"), ("-n3", "--json", "--state", "done", "--")):
            self.assertEqual(json.loads(self.shoal("list", *words)[0]), {"ensembles": []})
        self.assertIn("too many words", self.shoal("list", "--", "--json", code=2)[1])

    def test_offline(self):
        """The worker gets the same options and words, by their long names."""
        worker = self.path("worker", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
        os.chmod(worker, 0o755)
        out, _ = self.shoal("validate", "-jI", "inc", "m.yaml", env={"SHOAL_WORKER": worker})
        self.assertEqual(out.split("\n"), ["validate", "--json", "--include", "inc", "m.yaml", ""])
        _, err = self.shoal("energy", "m.yaml", env={"SHOAL_WORKER": self.path("none")}, code=69)
        self.assertIn("none: No such file or directory; $SHOAL_WORKER names another", err)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([SHOAL, "help"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr), (73, b"shoal: standard output: No space left on device\n"))

    # ---- the service's absence and refusals

    def test_no_service(self):
        _, err = self.shoal("list", code=69, socket=self.path("nothing.sock"))
        self.assertIn("No such file or directory; is shoald running?", err)
        env = {"SHOAL_SOCKET": "", "XDG_RUNTIME_DIR": "/run/nobody", "XDG_STATE_HOME": "/nowhere", "HOME": self.folder}
        if not os.path.exists("/run/shoald/api.sock"):
            _, err = self.shoal("list", code=69, env=env)
            self.assertIn(f"no service at /run/nobody/shoald/api.sock, /nowhere/shoald/api.sock, {self.folder}/.local/state/shoald/"
                          "api.sock, /run/shoald/api.sock: ", err)
        out, _ = self.shoal("list", "--json", code=69, socket=self.path("nothing.sock"))
        self.assertEqual(json.loads(out)["error"]["code"], "UNREACHABLE")
        self.path("dead.sock", "")
        self.shoal("version", code=69, socket=self.path("dead.sock"))

    def test_long_socket(self):
        """A path that no socket can have: the length that is possible, as the service says it."""
        path = self.path("x" * 108)
        _, err = self.shoal("list", code=2, socket=path)
        self.assertIn(f"socket path {path}: it has {len(path)} bytes, at most 107 are possible; --socket or SHOAL_SOCKET", err)

    def test_ids_that_are_places(self):
        """They reach the service as they are, which has no ensemble called so."""
        for name in (".", ".."):
            self.assertIn(f"no /v1/ensembles/{name}/pause", self.shoal("pause", name, code=66)[1])

    def test_socket_beside_the_state(self):
        """Without a login session shoald listens in its state folder, and the client finds it there."""
        self.service.answers["GET /v1/version"] = (200, {"version": "0.1.0"})
        os.makedirs(self.path("state/shoald"))
        os.symlink(os.path.abspath(self.socket), self.path("state/shoald/api.sock"))
        self.shoal("version", env={"SHOAL_SOCKET": "", "XDG_RUNTIME_DIR": "", "XDG_STATE_HOME": self.path("state")})

    def test_refusals(self):
        for code, name in ((EXIT_REFUSED, "CONFLICT"), (65, "SPEC"), (66, "NOT_FOUND"), (70, "INTERNAL"), (75, "BUSY"), (77, "FORBIDDEN")):
            self.service.answers["POST /v1/ensembles/3f2a/pause"] = (400, error(name, "a reason"))
            out, err = self.shoal("pause", "3f2a", "--json", code=code)
            self.assertEqual(err, "shoal: a reason\n")
            self.assertEqual(json.loads(out), {"ensembles": [], "errors": [{"id": "3f2a", "code": name, "message": "a reason"}]})
            self.service.answers["GET /v1/version"] = (400, error(name, "a reason"))
            self.assertEqual(json.loads(self.shoal("status", "--json", code=code)[0]), error(name, "a reason"))
        self.service.answers["POST /v1/ensembles/3f2a/pause"] = (200, b"no JSON")
        self.shoal("pause", "3f2a", code=70)

    # ---- commands

    def test_version(self):
        self.service.answers["GET /v1/version"] = (200, {"version": "9.9", "api": 1, "devices": []})
        out, _ = self.shoal("version")
        self.assertEqual(out.splitlines()[1], "shoald 9.9")
        told = json.loads(self.shoal("version", "--json")[0])
        self.assertEqual(told["service"]["version"], "9.9")
        self.assertRegex(told["build"], r"^commit ([0-9a-f]{7,}(-dirty)?|unknown), [a-z]+, (CUDA \d+\.\d+|without CUDA)$")
        self.assertEqual(out.splitlines()[0], f"shoal {told['client']}, {told['build']}")
        self.assertEqual(self.shoal("--version")[0], out.splitlines()[0] + "\n")
        self.service.answers["GET /v1/version"] = (200, {"version": "9.9", "build": "commit 1a2b3c4d, debug, CUDA 13.0", "api": 1})
        self.assertEqual(self.shoal("version")[0].splitlines()[1], "shoald 9.9, commit 1a2b3c4d, debug, CUDA 13.0")

    def test_list(self):
        two = [ensemble(progress=0.509, done=1, failed=1), ensemble(id="77", key="k-1", labels={"a": "b", "c": ""})]
        self.service.answers["GET /v1/ensembles"] = (200, {"ensembles": two})
        self.service.answers["GET /v1/ensembles?state=done&label=a%3Db%2Fc"] = (200, {"ensembles": []})
        admin = os.geteuid() == 0
        out, _ = self.shoal("list")
        self.assertEqual(out.splitlines()[0].split(), "id name state windows progress created key labels".split() + ["owner"] * admin)
        self.assertEqual(out.splitlines()[1].split(),
                         "3f2a9c00 methane queued 1/4, 1 failed 50 % 2026-11-20T10:00:00Z".split() + ["root"] * admin)
        self.assertEqual(out.splitlines()[2].split()[-2 - admin:][:2], ["k-1", "a=b,c="])
        self.assertEqual(json.loads(self.shoal("list", "--state", "done", "--label", "a=b/c", "--json")[0]), {"ensembles": []})
        self.assertEqual([json.loads(line) for line in self.shoal("list", "--jsonl")[0].splitlines()], two)
        self.assertEqual(self.shoal("list", "--plain")[0].splitlines()[1].split("\t")[:8],
                         ["77", "methane", "queued", "0/4", "0 %", "2026-11-20T10:00:00Z", "k-1", "a=b,c="])

    def test_list_pages(self):
        self.service.answers["GET /v1/ensembles"] = (200, {"ensembles": [ensemble(id="3"), ensemble(id="2")], "next": "2"})
        self.service.answers["GET /v1/ensembles?after=2"] = (200, {"ensembles": [ensemble(id="1")], "next": None})
        ids = [e["id"] for e in json.loads(self.shoal("list", "--json")[0])["ensembles"]]
        self.assertEqual(ids, ["3", "2", "1"])
        # A limit that is met ends the asking, wherever the pages do.
        self.service.answers["GET /v1/ensembles?limit=3"] = self.service.answers["GET /v1/ensembles"]
        self.service.answers["GET /v1/ensembles?limit=1&after=2"] = (200, {"ensembles": [ensemble(id="1")], "next": "1"})
        ids = [e["id"] for e in json.loads(self.shoal("list", "--limit", "3", "--json")[0])["ensembles"]]
        self.assertEqual(ids, ["3", "2", "1"])
        self.service.answers["GET /v1/ensembles?after=2"] = (503, error("BUSY", "not now"))
        self.shoal("list", code=75)

    def test_status(self):
        replica = {"window": 2, "repeat": 0, "waits": None, "state": "failed", "step": 10, "steps": 100, "stage": 1, "time_ps": 0.02, "attempt": 3,
                   "device": "cpu", "reason": "blew up"}
        devices = [{"device": "cpu", "state": "up", "model": "a CPU", "slots": 2, "running": 1}]
        self.service.answers["GET /v1/version"] = (200, {"version": "1", "api": 1, "devices": devices})
        one = ensemble(state="running", replicas=[replica])
        self.service.answers["GET /v1/ensembles/3f2a"] = (200, one)
        self.service.answers["GET /v1/ensembles/a%2Fkey"] = (200, ensemble(key="a/key"))
        out, _ = self.shoal("status", "3f2a")
        self.assertIn("submitted 2026-11-20T10:00:00Z\n", out)
        self.assertEqual(out.splitlines()[-1].split(), "2 failed cpu 1 10 100 0.0 3 blew up".split())
        waiting = {**replica, "repeat": 1, "state": "queued", "reason": None,
                   "waits": {"for": "its turn", "place": 3, "expected_seconds": 125.0}}
        self.service.answers["GET /v1/ensembles/w"] = (200, ensemble(repeats=2, labels={"p": "h"}, replicas=[waiting]))
        out, _ = self.shoal("status", "w")
        self.assertIn("0 of 8 replicas done", out)
        self.assertIn("submitted 2026-11-20T10:00:00Z, labels p=h\n", out)
        self.assertTrue(out.splitlines()[-1].startswith("     2       1  queued"), out)
        self.assertTrue(out.endswith("  waits for its turn, place 3, starts in about 2 min 05 s\n"), out)
        # One shape, whether ensembles are named or not.
        self.assertEqual(json.loads(self.shoal("status", "3f2a", "--json")[0]), {"devices": devices, "ensembles": [one]})
        out, _ = self.shoal("status", "3f2a", "a/key")
        self.assertIn("submitted 2026-11-20T10:00:00Z, key a/key\n", out)
        self.shoal("status", "3f2a", "none", code=66)
        self.service.answers["GET /v1/ensembles"] = (200, {"ensembles": [ensemble(), ensemble(id="old", state="done")]})
        out, _ = self.shoal("status")
        self.assertIn("cpu  up, a CPU  1 of 2 slots taken\n", out)
        self.assertNotIn("old", out)
        self.assertEqual(self.shoal("top")[0], out)  # once, where there is no terminal
        self.assertEqual(json.loads(self.shoal("top", "--json")[0]), json.loads(self.shoal("status", "--json")[0]))
        load = {"busy": 0.934, "us_per_replica_step": 8.011, "ns_per_day": 21570, "memory": {"total": 64 << 20, "free": 32 << 20,
                                                                                              "used": 3 << 20, "replica": 1 << 19}}
        _, version = self.service.answers["GET /v1/version"]
        loaded = {**version, "devices": [{**version["devices"][0], **load}]}
        self.service.answers["GET /v1/version"] = (200, loaded)
        out, _ = self.shoal("status")
        self.assertIn("1 of 2 slots taken, 93 % busy, 8.011 us per replica-step, 21570 ns/day\n", out)
        out, _ = self.shoal("status", "--devices", "--plain")
        self.assertEqual(out.split("\t")[2:11], ["1", "2", "93", "8.011", "21570", "3.0", "32.0", "64.0", "0.5"])
        out, _ = self.shoal("status", "--devices", "--json")
        self.assertEqual(json.loads(out), {"devices": loaded["devices"]})
        loaded["devices"][0]["replicas"] = [{"ensemble": "3f2a9c00", "window": w, "repeat": 0, "bytes": (w + 2) << 18} for w in range(3)]
        out, _ = self.shoal("status", "--devices", "--plain")
        self.assertEqual(out.split("\t")[7:11], ["3.0", "32.0", "64.0", "1.0"])
        self.assertIn(" 0.5..1.0 ", self.shoal("status", "--devices")[0])
        self.assertEqual(json.loads(self.shoal("status", "--devices", "--json")[0])["devices"][0]["replicas"][2]["bytes"], 1 << 20)

    def test_terminal(self):
        """What others wrote, and what is quoted of a file that somebody gave, commands no terminal."""
        hostile = "a\x1b]0;owned\x07\x9b2J\u202ecba\n"
        seen = "a\\x1b]0;owned\\x07\\u009b2J\\u202ecba\\x0a"
        replica = {"window": 0, "repeat": 0, "waits": None, "state": "failed", "step": 1, "steps": 9, "stage": 0, "time_ps": 0.0, "attempt": 0,
                   "device": "cpu", "reason": hostile}
        one = ensemble(state="failed", labels={"k": hostile}, reason=hostile, replicas=[replica])
        devices = [{"device": "cpu", "state": "sick", "model": hostile, "trouble": hostile, "slots": 2, "running": 0}]
        self.service.answers["GET /v1/version"] = (200, {"version": "1", "api": 1, "devices": devices, "left_out": [hostile]})
        self.service.answers["GET /v1/ensembles"] = (200, {"ensembles": [{**one, "state": "running"}], "next": None})
        self.service.answers["GET /v1/ensembles/x"] = (200, one)
        self.service.answers["GET /v1/ensembles/y"] = (409, error("CONFLICT", hostile))
        self.service.answers["GET /v1/ensembles/x/events?since=0"] = self.events(
            {"seq": 1, "time": "2026-11-20T10:00:00.000Z", "kind": "note", "window": 0, "repeat": 0, "message": hostile})
        spec = self.path("h.yaml", 'name: x\n"k\\e]0;owned\\a\\x9b2J\\u202ecba": 1\n')
        top = self.path("h.top", "[ \x1b[2Jowned\x07\x9b2J ]\n")
        good = self.path("g.yaml", "name: x\nsystem: {topology: h.top, coordinates: h.gro}\nprotocol: [{produce: {time: 1 ps}}]\n")
        for words, code in ((["status", "x"], 0), (["status"], 0), (["status", "--devices"], 0), (["list"], 0), (["list", "--plain"], 0),
                            (["status", "y"], 3), (["events", "x"], 0), (["validate", spec], 65), (["validate", good], 65)):
            out, err = self.shoal(*words, code=code)
            bad = [c for c in out + err if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c in "\u202e\ufffd"]
            self.assertEqual(bad, [], (words, out, err))
            self.assertTrue("owned" in out + err or words == ["list"] or "--plain" in words, (words, out, err))
        for words in (["no\x1b[2J"], ["list", "--no\x1b[2J"]):
            self.assertIn("no\\x1b[2J", self.shoal(*words, code=2)[1])
        self.assertIn(seen, self.shoal("status", "x")[0])
        self.assertEqual(json.loads(self.shoal("status", "x", "--json")[0])["ensembles"][0]["reason"], hostile, "data stay as they are")

    def test_left_out(self):
        """Why a GPU is not among the devices, wherever devices are shown, but for scripts."""
        devices = [{"device": "cpu", "state": "up", "model": "a CPU", "slots": 2, "running": 0}]
        said = "cuda:0: a GPU: compute capability 7.5; expected 8.0 or later; not used"
        self.service.answers["GET /v1/version"] = (200, {"version": "1", "api": 1, "devices": devices, "left_out": [said]})
        self.service.answers["GET /v1/ensembles"] = (200, {"ensembles": []})
        for command in (["status"], ["top"], ["status", "--devices"]):
            self.assertIn(f"\n{said}\n", self.shoal(*command)[0])
            self.assertEqual(json.loads(self.shoal(*command, "--json")[0])["left_out"], [said])
        self.assertNotIn(said, self.shoal("status", "--devices", "--plain")[0])

    def test_usage(self):
        row = {"owner": 7, "user": "ann", "id": None, "name": None, "campaign": "a, b", "device": None, "day": None,
               "device_seconds": 3725.5, "steps": 1200, "ns": 0.0024, "energy_joules": 8316.25}
        answer = {"by": "campaign", "since": "2026-11-20", "rows": [row, {**row, "campaign": None, "energy_joules": None}]}
        self.service.answers["GET /v1/accounting?by=campaign&since=2592000&owner=ann%20b"] = (200, answer)
        words = ("usage", "--by", "campaign", "--since", "30d", "--owner", "ann b")
        out, err = self.shoal(*words)
        self.assertEqual([line.split("  ") for line in out.splitlines()][1][0], "a, b")
        self.assertIn("1 h 02 min", out)
        self.assertEqual([line.split("  ")[-1].strip() for line in out.splitlines()], ["energy", "2.31 Wh", "-"])
        for joules, said in ((0.4, "0.40 J"), (3599, "3599 J"), (50400000, "14.0 kWh"), (3600000, "1.00 kWh")):
            answer["rows"][1]["energy_joules"] = joules
            self.assertEqual(self.shoal(*words)[0].splitlines()[-1].split("  ")[-1].strip(), said)
        answer["rows"][1]["energy_joules"] = None
        self.assertIn("since 2026-11-20 (UTC)", err)
        self.assertEqual(self.shoal(*words, "--csv")[0], 'campaign,user,device_seconds,steps,ns,energy_joules\n'
                         '"a, b",ann,3725.500,1200,0.0024,8316.250\n,ann,3725.500,1200,0.0024,\n')
        self.assertEqual(self.shoal(*words, "--plain")[0], "a, b\tann\t3725.500\t1200\t0.0024\t8316.250\n\tann\t3725.500\t1200\t0.0024\t\n")
        self.assertEqual(json.loads(self.shoal(*words, "--json")[0]), answer)
        for wrong in (("--by", "colour"), ("--since", "30"), ("--since", "SEQ")):
            self.shoal("usage", *wrong, code=2)

    def test_moves(self):
        for verb, state in (("cancel", "cancelled"), ("pause", "paused"), ("resume", "queued"), ("retry", "queued"),
                            ("priority", "queued"), ("reestimate", "finishing")):
            query, more = ("?to=high", ["--to", "high"]) if verb == "priority" else ("", [])
            self.service.answers[f"POST /v1/ensembles/3f2a/{verb}{query}"] = (200, ensemble(state=state))
            out, err = self.shoal(verb, "3f2a", *more)
            self.assertEqual(out, state + "\n")
            self.assertIn(f"methane is {state}", err)
            self.assertEqual(self.shoal(verb, "3f2a", "-q", *more)[1], "")
        self.service.answers["POST /v1/ensembles/3f2a/move?to=cuda%3A1"] = (200, ensemble(state="running", moved_to="cuda:1"))
        self.assertEqual(self.shoal("move", "3f2a", "cuda:1")[0], "running\n")
        self.assertIn("move wants either IDs or a choice", self.shoal("move", "cuda:1", code=2)[1])
        self.assertIn("`shoal retry 3f2a` goes on with it", self.shoal("cancel", "3f2a")[1])
        self.assertIn("`shoal results 3f2a` shows the new results once they are computed", self.shoal("reestimate", "3f2a")[1])

    def test_estimate(self):
        """What the samples say so far, wherever an ensemble that runs is shown."""
        running = ensemble(state="running", progress=0.5, estimate={"value": -2.3141, "error": 0.1234, "unit": "kcal/mol",
                                                                    "verdict": "unconverged", "time": "2026-11-20T10:00:00.000Z"})
        said = "-2.31 +- 0.12 kcal/mol, unconverged"
        self.service.answers["GET /v1/version"] = (200, {"version": "x", "api": 1, "devices": []})
        self.service.answers["GET /v1/ensembles/3f2a9c00"] = (200, running)
        self.service.answers["GET /v1/ensembles"] = (200, {"ensembles": [running], "next": None})
        self.assertIn(f"\nso far {said}\n", self.shoal("status", "3f2a9c00")[0])
        for command in ("status", "top", "list"):
            self.assertIn(said, self.shoal(command)[0])
        self.assertTrue(self.shoal("list", "--plain")[0].endswith(f"\t{said}\n"))
        done = {"seq": 2, "time": "2026-11-20T10:00:01.000Z", "kind": "ensemble", "state": "done", "ensemble": ensemble(state="done")}
        self.service.answers["GET /v1/ensembles/3f2a9c00/events?follow=1&since=1"] = self.events(done)
        self.assertIn(f"0/4 windows  {said}\n", self.shoal("watch", "3f2a9c00")[1])
        running["estimate"].update(value=None, error=None, verdict="failed")
        self.assertIn("\nso far no free energy yet\n", self.shoal("status", "3f2a9c00")[0])

    def test_extend(self):
        for option, value, query in (("--time", "2 ns", "time=2%20ns"), ("--until", "500 steps", "until=500%20steps")):
            self.service.answers[f"POST /v1/ensembles/3f2a/extend?{query}"] = (200, ensemble(state="queued"))
            self.assertEqual(self.shoal("extend", "3f2a", option, value)[0], "queued\n")
        query = "windows=coulomb%3A%201%2C%20vdw%3A%200.65%3Bvdw%3A%200.7"
        self.service.answers[f"POST /v1/ensembles/3f2a/extend?{query}"] = (200, ensemble(state="queued"))
        self.service.answers[f"POST /v1/ensembles/3f2a/extend?{query}&dry_run=1"] = (200, {"windows": 6, "rows": 0, "kept": 0})
        words = ("--add-window", "coulomb: 1, vdw: 0.65", "--add-window", "vdw: 0.7")
        self.assertEqual(self.shoal("extend", "3f2a", *words)[0], "queued\n")
        for words in ((), ("--time", "1 ns", "--until", "2 ns"), ("--time", "1 ns", "--add-window", "vdw: 0.7")):
            self.assertIn("one of --time TIME", self.shoal("extend", "3f2a", *words, code=2)[1])

    def test_retry_of_one_window(self):
        self.service.answers["POST /v1/ensembles/3f2a/retry?window=3"] = (200, ensemble(state="running"))
        self.assertEqual(self.shoal("retry", "3f2a", "--window", "3")[0], "running\n")

    def test_several(self):
        """What fails for one does not keep the others from it; the first failure is the exit code."""
        for name, answer in (("a", (200, ensemble(id="a", state="paused"))), ("b", (409, error("CONFLICT", "it is done"))),
                             ("c", (404, error("NOT_FOUND", "no c"))), ("d", (200, ensemble(id="d", state="paused")))):
            self.service.answers[f"POST /v1/ensembles/{name}/pause"] = answer
        out, err = self.shoal("pause", "a", "b", "c", "d", code=EXIT_REFUSED)
        self.assertEqual(out, "a paused\nd paused\n")
        self.assertIn("shoal: b: it is done\nshoal: c: no c\n", err)
        value = json.loads(self.shoal("pause", "c", "b", "a", "--json", code=66)[0])
        self.assertEqual([e["id"] for e in value["ensembles"]], ["a"])
        self.assertEqual([e["code"] for e in value["errors"]], ["NOT_FOUND", "CONFLICT"])

    def test_choice(self):
        """--all takes one's own in states that the move is for; --state exactly those in that state."""
        me = os.geteuid()
        listed = [ensemble(id="a", state="running", owner=me), ensemble(id="b", state="done", owner=me),
                  ensemble(id="c", state="queued", owner=me + 1), ensemble(id="d", state="queued", owner=me)]
        self.service.answers["GET /v1/ensembles"] = (200, {"ensembles": listed})
        self.service.answers["GET /v1/ensembles?state=done"] = (200, {"ensembles": listed[1:2]})
        self.service.answers["GET /v1/ensembles?label=p%3Dh"] = (200, {"ensembles": listed[3:]})
        for name in "abcd":
            self.service.answers[f"POST /v1/ensembles/{name}/pause"] = (200, ensemble(id=name, state="paused"))
        self.assertEqual(self.shoal("pause", "--all")[0], "a paused\nd paused\n")
        self.assertEqual(self.shoal("pause", "--label", "p=h")[0], "paused\n")
        self.assertEqual(self.service.asked[-1][0], "POST /v1/ensembles/d/pause")
        self.shoal("pause", "--state", "done")
        self.assertEqual(self.service.asked[-1][0], "POST /v1/ensembles/b/pause")
        out, err = self.shoal("resume", "--all")
        self.assertEqual((out, err), ("", "shoal: nothing to resume\n"))

    # ---- space

    def test_remove(self):
        for name, state in (("a", "done"), ("b", "failed"), ("c", "running")):
            self.service.answers[f"GET /v1/ensembles/{name}"] = (200, ensemble(id=name, state=state, bytes=1500))
            self.service.answers[f"DELETE /v1/ensembles/{name}"] = (200, {"id": name, "bytes": 2500})
        self.service.answers["GET /v1/ensembles/a-key"] = self.service.answers["GET /v1/ensembles/a"]
        self.service.answers["DELETE /v1/ensembles/c"] = (409, error("CONFLICT", "c is running"))
        out, err = self.shoal("rm", "--dry-run", "a-key", "b", "c", code=EXIT_REFUSED)
        self.assertEqual(out, "a methane would be removed: 1.5 kB\nb methane would be removed: 1.5 kB\n")
        self.assertIn("3.0 kB would be freed", err)
        self.assertIn("ensemble c is running: cancel it first", err)
        self.assertFalse([key for key, _ in self.service.asked if key.startswith("DELETE")])
        self.assertEqual(self.shoal("rm", "a-key")[0], "a methane removed: 2.5 kB\n")
        value = json.loads(self.shoal("rm", "c", "b", "--json", code=EXIT_REFUSED)[0])
        self.assertEqual(value["ensembles"], [{"id": "b", "name": "methane", "bytes": 2500}])
        self.assertEqual((value["errors"][0]["id"], value["bytes"]), ("c", 2500))
        # A choice is made of those that have ended; how long ago is for the service to know.
        listed = [ensemble(id=name, state=state, owner=os.geteuid()) for name, state in (("a", "done"), ("c", "running"))]
        self.service.answers["GET /v1/ensembles?older_than=129600"] = (200, {"ensembles": listed})
        self.assertEqual(self.shoal("rm", "--older-than", "36h")[0], "a methane removed: 2.5 kB\n")
        self.shoal("rm", code=2)
        self.shoal("rm", "--older-than", "soon", code=2)

    def test_space(self):
        own = {"owner": 0, "ensembles": 3, "ensembles_limit": 20000, "replicas": 72, "replicas_limit": 400000, "bytes": 3000000, "bytes_limit": 1000000000000}
        listed = [ensemble(id="a", bytes=1000), ensemble(id="b", bytes=None), ensemble(id="c", bytes=2999000)]
        self.service.answers["GET /v1/usage"] = (200, {"users": [own]})
        self.service.answers["GET /v1/ensembles"] = (200, {"ensembles": listed})
        self.service.answers["GET /v1/ensembles/a"] = (200, ensemble(id="a", bytes=1000))
        out, err = self.shoal("du")
        self.assertEqual([line.split() for line in out.splitlines()],
                         ["id name state bytes size".split(), "c methane queued 2999000 3.0 MB".split(),
                          "a methane queued 1000 1.0 kB".split(), "b methane queued - not measured yet".split()])
        self.assertEqual(err, "shoal: you have 3 of 20000 ensembles and 3.0 MB of 1.0 TB\n")
        self.service.answers["GET /v1/usage"] = (200, {"users": [{**own, "limited": False}]})
        self.assertEqual(self.shoal("du")[1], "shoal: you have 3 ensembles and 3.0 MB; limits of one user do not hold for you\n")
        self.service.answers["GET /v1/usage"] = (200, {"users": [own]})
        value = json.loads(self.shoal("du", "a", "--json")[0])
        self.assertEqual((value["users"], [e["id"] for e in value["ensembles"]]), ([own], ["a"]))
        self.shoal("du", "none", code=66)

    # ---- submitting

    def test_submit_adds_files(self):
        """The service asks for files until it has them; they come from beside the spec, then from include folders."""
        spec = self.path("run/m.yaml", "system: {topology: m.top}\n")
        top = '#include "ff/a.itp"\n'
        self.path("run/m.top", top)
        self.path("run/ff/a.itp", b'; 1 \xc5ngstr\xf6m\n#include "b.itp"\n')
        self.path("inc/b.itp", "b")
        need = [[["m.top"], ["ff/a.itp", "a.itp"]], [["ff/b.itp", "b.itp"]]]

        def take(body):
            for wanted in need:
                if not all(any(n in body["files"] for n in names) for names in wanted):
                    return 422, error("MISSING_FILE", "m.top:1: no file", files=wanted)
            return 201, ENSEMBLE

        self.service.answers["POST /v1/ensembles"] = take
        out, err = self.shoal("submit", spec, "--include", self.path("inc"), "--key", "k-1", "--label", "p=h", "--label", "q=")
        self.assertEqual(out, "3f2a9c00\n")
        self.assertIn("methane is 3f2a9c00, 4 windows", err)
        _, body = self.service.asked[-1]
        self.assertEqual(body, {"spec": "system: {topology: m.top}\n", "spec_name": "m.yaml", "id": "k-1", "labels": {"p": "h", "q": ""},
                                "files": {"m.top": top, "ff/a.itp": '; 1 Ångström\n#include "b.itp"\n', "b.itp": "b"}})
        self.assertEqual(len(self.service.asked), 3)
        self.shoal("submit", spec, "--include", self.path("inc"), "--id", "k-2")  # what --key was called first
        self.assertEqual(self.service.asked[-1][1]["id"], "k-2")

    def test_submit_missing(self):
        spec = self.path("m.yaml", "name: m\nsystem: {topology: x.itp}\n")
        self.path("secret", "s")
        self.service.answers["POST /v1/ensembles"] = (422, error("MISSING_FILE", "m.top:7: x.itp: no such file",
                                                                 files=[["x.itp"]]))
        _, err = self.shoal("submit", spec, code=66)
        self.assertIn("m.top:7: x.itp: no such file; looked in " + self.folder, err)
        # Only files that the spec or one of its files names are read, whatever is asked for.
        for name in (self.path("secret"), "../secret", "secret", "/etc/passwd"):
            self.service.answers["POST /v1/ensembles"] = (422, error("MISSING_FILE", "m.top:7: no such file", files=[[name]]))
            _, err = self.shoal("submit", spec, code=77)
            self.assertIn(f"the service asks for the file {name}, which neither the spec nor a file it includes names", err)
            self.assertEqual(self.service.asked[-1][1]["files"], {})
        for name in ("a/../../secret", "", "..", "./m.top"):
            self.service.answers["POST /v1/ensembles"] = (422, error("MISSING_FILE", "m.top:7: no such file", files=[[name]]))
            self.shoal("submit", spec, code=66)
            self.assertEqual(self.service.asked[-1][1]["files"], {})
        # A service that asks for what it has gets its own error back, not an endless stream of files.
        spec = self.path("m.yaml", "name: m\n# secret\n")
        self.service.answers["POST /v1/ensembles"] = (422, error("MISSING_FILE", "again", files=[["secret"]]))
        self.assertEqual(self.shoal("submit", spec, code=66)[1], "shoal: again\n")
        # What is not a file, and would be read for ever, is none.
        os.mkfifo(self.path("pipe"))
        spec = self.path("m.yaml", "name: m\n# pipe /dev/zero\n")
        for name in ("pipe", "/dev/zero"):
            self.service.answers["POST /v1/ensembles"] = (422, error("MISSING_FILE", "none", files=[[name]]))
            self.assertIn("none; looked in ", self.shoal("submit", spec, code=66)[1])

    def test_submit_warnings(self):
        odd = [{"kind": "timestep", "message": "m.yaml:5: integrator.timestep: too long"}]
        self.service.answers["POST /v1/ensembles"] = (201, ensemble(warnings=odd))
        out, err = self.shoal("submit", self.path("m.yaml", "name: m\n"))
        self.assertEqual(out, "3f2a9c00\n")
        self.assertIn("shoal: warning: m.yaml:5: integrator.timestep: too long\n", err)
        self.assertEqual(self.shoal("submit", self.path("m.yaml"), "-q")[1], "")

    def test_submit_bad(self):
        self.shoal("submit", self.path("none.yaml"), code=66)
        self.assertIn("not UTF-8", self.shoal("submit", self.path("b.yaml", b"\xff"), code=65)[1])
        self.service.answers["POST /v1/ensembles"] = (422, error("SPEC", "m.yaml:1: zebra: unknown key"))
        out, err = self.shoal("submit", self.path("m.yaml", "zebra: 1\n"), code=65)
        self.assertEqual((out, err), ("", "shoal: m.yaml:1: zebra: unknown key\n"))
        # Names that are not UTF-8 are sent as Latin-1: the service says what is wrong with them, and none is left out.
        byte = os.fsdecode(b"\xff")
        self.shoal("submit", self.path(f"{byte}.yaml", "name: m\n"), "--key", byte, "--label", f"k={byte}", code=65)
        _, body = self.service.asked[-1]
        self.assertEqual((body["spec_name"], body["id"], body["labels"]), ("\xff.yaml", "\xff", {"k": "\xff"}))
        self.service.answers["DELETE /v1/ensembles/%C3%BF"] = (404, error("NOT_FOUND", "no such ensemble"))
        self.shoal("rm", byte, code=66)

    # ---- watching and results

    def events(self, *lines):
        return 200, b"".join(json.dumps(line).encode() + b"\n" for line in lines)

    def test_watch(self):
        base = "GET /v1/ensembles/3f2a"
        self.service.answers[base] = (200, ensemble(seq=5))
        # The first stream breaks off; the second is asked for from the last event seen.
        self.service.answers[base + "/events?follow=1&since=5"] = self.events(
            {"kind": "progress", "time": "t", "ensemble": ensemble(progress=0.5)},
            {"seq": 6, "kind": "replica", "window": 1, "state": "failed", "time": "t", "message": "blew up"})
        self.service.answers[base + "/events?follow=1&since=6"] = self.events(
            {"seq": 7, "kind": "ensemble", "state": "done", "time": "t", "ensemble": ensemble(state="done")})
        out, err = self.shoal("watch", "3f2a")
        self.assertEqual(out, "done\n")
        self.assertIn("[........................]   0 %  0/4 windows\n", err)
        self.assertIn("window 1: failed: blew up", err)
        out, err = self.shoal("watch", "3f2a", "--quiet")
        self.assertEqual((out, err), ("done\n", ""))
        out, _ = self.shoal("watch", "3f2a", "--jsonl")
        self.assertEqual([json.loads(line)["kind"] for line in out.splitlines()], ["progress", "replica", "ensemble"])

    def test_watch_ends(self):
        base = "GET /v1/ensembles/3f2a"
        for state, code in (("done", 0), ("failed", 1), ("cancelled", 1)):
            self.service.answers[base] = (200, ensemble(state=state))
            self.assertEqual(self.shoal("watch", "3f2a", code=code)[0], state + "\n")
        self.shoal("watch", "nope", code=66)
        self.service.answers[base] = (200, ensemble(seq=0))
        self.service.answers[base + "/events?follow=1&since=0"] = self.events({"kind": "progress", "time": "t"})
        self.assertIn("3f2a has not ended after 1 s", self.shoal("watch", "3f2a", "--timeout", "1", code=124)[1])
        self.service.answers[base] = (200, ensemble(state="done"))
        self.assertEqual(json.loads(self.shoal("watch", "3f2a", "--json")[0]), ensemble(state="done"))

    def test_wait(self):
        for name, state in (("a", "done"), ("b", "cancelled"), ("c", "done")):
            self.service.answers[f"GET /v1/ensembles/{name}"] = (200, ensemble(id=name, state=state))
        self.assertEqual(self.shoal("wait", "a", "c")[0], "a done\nc done\n")
        self.assertEqual(self.shoal("wait", "a", "b", "c", code=1)[0], "a done\nb cancelled\nc done\n")
        value = json.loads(self.shoal("wait", "b", "a", "--json", code=1)[0])
        self.assertEqual(value, {"ensembles": [{"id": "b", "state": "cancelled"}, {"id": "a", "state": "done"}]})
        self.shoal("wait", "a", "none", code=66)

    def test_interrupt(self):
        """Ctrl-C ends the waiting only, and says so."""
        base = "GET /v1/ensembles/3f2a9c00"
        self.service.answers["POST /v1/ensembles"] = (201, ENSEMBLE)
        self.service.answers[base] = (200, ensemble(seq=0))
        self.service.answers[base + "/events?follow=1&since=0"] = self.events({"kind": "progress", "time": "t"})
        with subprocess.Popen([SHOAL, "submit", self.path("m.yaml", "name: m\n"), "--wait"], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE, env={**os.environ, "SHOAL_SOCKET": self.socket}) as shoal:
            while not any("events" in key for key, _ in self.service.asked):
                time.sleep(0.01)
            shoal.send_signal(signal.SIGINT)
            _, err = shoal.communicate(timeout=60)
        self.assertEqual(shoal.returncode, -signal.SIGINT)
        self.assertIn("\nshoal: 3f2a9c00 goes on; `shoal watch 3f2a9c00` follows it again\n", err)

    def test_events(self):
        happened = [{"seq": 1, "kind": "ensemble", "state": "queued", "time": "2026-11-20T10:00:00.000Z", "window": None, "message": None},
                    {"seq": 2, "kind": "replica", "window": 1, "state": "failed", "time": "2026-11-20T10:00:01.000Z", "message": "blew up"}]
        self.service.answers["GET /v1/ensembles/3f2a/events?since=0"] = self.events(*happened)
        self.service.answers["GET /v1/ensembles/3f2a/events?since=1"] = self.events(happened[1])
        self.service.answers["GET /v1/ensembles/3f2a/events?since=0&follow=1"] = self.events({"kind": "progress", "time": "t"}, *happened)
        out, _ = self.shoal("events", "3f2a")
        self.assertEqual([line.split() for line in out.splitlines()],
                         ["seq time window what message".split(), "1 2026-11-20T10:00:00Z queued".split(),
                          "2 2026-11-20T10:00:01Z 1 failed blew up".split()])
        self.assertEqual(self.shoal("events", "3f2a", "--since", "1", "--plain")[0], "2\t2026-11-20T10:00:01Z\t1\tfailed\tblew up\n")
        self.assertEqual(json.loads(self.shoal("events", "3f2a", "--json")[0]), {"events": happened})
        self.assertEqual([json.loads(x) for x in self.shoal("events", "3f2a", "--jsonl", "--follow")[0].splitlines()], happened)
        self.assertEqual(self.shoal("events", "3f2a", "--follow")[0],
                         "2026-11-20T10:00:00Z  queued\n2026-11-20T10:00:01Z  window 1  failed: blew up\n")
        self.shoal("events", "none", code=66)

    def results(self, state="done"):
        base = "GET /v1/ensembles/3f2a9c00"
        text = b'{"estimate": null, "status": "averages", "windows": [], "warnings": []}\n'
        self.service.answers[base] = (200, ensemble(state=state))
        self.service.answers[base + "/results"] = (200, text)
        self.service.answers[base + "/files"] = (200, {"files": [{"path": "results.json", "bytes": len(text)},
                                                                 {"path": "lambda_00/checkpoint", "bytes": 9},
                                                                 {"path": "lambda_00/dhdl 1.xvg", "bytes": 2}]})
        self.service.answers[base + "/files/results.json"] = (200, text)
        self.service.answers[base + "/files/lambda_00/dhdl%201.xvg"] = (200, b"\x00\xff")
        return base, text

    def test_results(self):
        base, text = self.results()
        self.assertEqual(self.shoal("results", "3f2a9c00", "--json")[0].encode(), text)
        out, _ = self.shoal("results", "3f2a9c00", "--output", self.path("out/deep"))
        self.assertIn("status averages", out)
        with open(self.path("out/deep/lambda_00/dhdl 1.xvg"), "rb") as f:
            self.assertEqual(f.read(), b"\x00\xff")
        self.service.answers[base + "/files"] = (200, {"files": [{"path": "../escape", "bytes": 1}]})
        self.shoal("results", "3f2a9c00", "--output", self.path("out/deep"), code=70)
        self.assertFalse(os.path.exists(self.path("out/escape")))
        self.service.answers[base + "/results"] = (409, error("CONFLICT", "still stopping"))
        self.shoal("results", "3f2a9c00", code=75)

    def test_results_so_far(self):
        """Of an ensemble that has not ended: what there is, marked, and an exit code that no script takes for success."""
        base, _ = self.results("running")
        text = b'{"estimate": {"magnitude": 1}, "status": "partial", "reason": "still running", "windows": []}\n'
        self.service.answers[base] = (200, ensemble(state="running", progress=0.439))
        self.service.answers[base + "/results?live=1"] = (200, text)
        out, _ = self.shoal("results", "3f2a9c00", code=75)
        self.assertTrue(out.startswith("SO FAR: the ensemble is running, 43 % of all steps are done\n"), out)
        self.assertIn("status partial: still running", out)
        self.assertEqual(self.shoal("results", "3f2a9c00", "--json", code=75)[0].encode(), text)
        # Files are there before there is anything to estimate from.
        self.service.answers[base + "/results?live=1"] = (409, error("CONFLICT", "no samples yet"))
        self.assertIn("no samples yet", self.shoal("results", "3f2a9c00", "--output", self.path("early"), code=75)[1])
        self.assertTrue(os.path.exists(self.path("early/lambda_00/dhdl 1.xvg")))

    def test_ladder(self):
        """From the results of an ensemble, of one that runs those so far."""
        base, _ = self.results("running")
        steps = [{"from": k, "to": k + 1, "length": 2, "deviation_from": 1, "deviation_to": 3} for k in range(2)]
        results = {"windows": [{"repeat": 0, "window": k, "lambda": {"vdw": k / 2}} for k in range(3)], "overlap": None,
                   "thermodynamic_length": {"total": 4, "steps": steps}}
        self.service.answers[base + "/results?live=1"] = (200, results)
        out, _ = self.shoal("ladder", "3f2a9c00", "--windows", "5")
        # from 1 to 3: half of the length 2 is at s + s^2 = 1, s = 0.618
        self.assertIn("windows:\n  vdw: [0, 0.309, 0.5, 0.809, 1]\n", out)
        self.shoal("ladder", "none", code=66)

    def test_ladder_by_overlap(self):
        """A step whose windows overlap otherwise than its ends tell is as long as the overlap tells."""
        def overlap(d):
            xs = (k / 100 for k in range(-800, 801 + int(100 * d)))
            pairs = [(math.exp(-x * x / 2), math.exp(-(x - d) ** 2 / 2)) for x in xs]
            return sum(p * q / (p + q) for p, q in pairs) / (100 * math.sqrt(2 * math.pi))

        base, _ = self.results("running")
        steps = [{"from": k, "to": k + 1, "length": 2, "deviation_from": 2, "deviation_to": 2} for k in range(2)]
        results = {"windows": [{"repeat": 0, "window": k, "lambda": {"vdw": k / 2}} for k in range(3)],
                   "overlap": {"minimum": overlap(4), "neighbours": [{"from": 0, "to": 1, "overlap": overlap(4)},
                                                                     {"from": 1, "to": 2, "overlap": overlap(2.2)}]},
                   "thermodynamic_length": {"total": 4, "steps": steps}}
        self.service.answers[base + "/results?live=1"] = (200, results)
        out, _ = self.shoal("ladder", "3f2a9c00", "--windows", "5")
        self.assertIn("Thermodynamic length 6.00", out)  # 4, and 2 as its ends say
        self.assertIn("windows:\n  vdw: [0, 0.1875, 0.375, 0.625, 1]\n", out)

    def test_results_exit(self):
        """As the ensemble did; and a headline that is null is no success."""
        base, text = self.results()
        for state, code in (("done", 0), ("failed", 1), ("cancelled", 1)):
            self.service.answers[base] = (200, ensemble(state=state))
            self.assertEqual(self.shoal("results", "3f2a9c00", "--json", code=code)[0].encode(), text)
        self.service.answers[base] = (200, ensemble(state="done"))
        for status, estimate, code in (("ok", {"magnitude": 1}, 0), ("partial", None, 1), ("failed", None, 1)):
            self.service.answers[base + "/results"] = (200, {"estimate": estimate, "status": status, "windows": []})
            self.shoal("results", "3f2a9c00", code=code)

    def test_folder_of_one_ensemble(self):
        """Files of two ensembles, or an ensemble's and something else, are never put into one folder."""
        self.results()
        folder = self.path("out")
        self.shoal("results", "3f2a9c00", "--output", folder)
        self.shoal("results", "3f2a9c00", "--output", folder)  # again is fine
        base = "GET /v1/ensembles/77"
        for rest in ("/results", "/files", "/files/results.json"):
            self.service.answers[base + rest] = self.service.answers["GET /v1/ensembles/3f2a9c00" + rest]
        self.service.answers[base] = (200, ensemble(id="77", state="done"))
        _, err = self.shoal("results", "77", "--output", folder, code=EXIT_REFUSED)
        self.assertIn(f"{folder} has the files of ensemble 3f2a9c00: those of 77 need another folder", err)
        os.remove(os.path.join(folder, ".shoal-ensemble"))  # as an older client left it
        _, err = self.shoal("results", "77", "--output", folder, code=EXIT_REFUSED)
        self.assertIn("is not empty and has no files of ensemble 77", err)
        self.path("out/results.json", '{"ensemble": {"id": "3f2a9c00"}}')
        self.shoal("results", "3f2a9c00", "--output", folder)
        # submit refuses before it waits.
        self.service.answers["POST /v1/ensembles"] = (201, ensemble(id="77"))
        self.shoal("submit", self.path("m.yaml", "name: m\n"), "--output", folder, code=EXIT_REFUSED)

    def test_cut_downloads(self):
        """A file that is shorter than it was listed to be is fetched again; then it is an error, and there is no such file."""
        base, _ = self.results()
        name, url = self.path("out/lambda_00/dhdl 1.xvg"), base + "/files/lambda_00/dhdl%201.xvg"
        for bad in ((200, b"\x00"), (200, Cut(b"\x00\xff")), (200, b"\x00\xff\x00")):
            self.service.answers[url] = bad
            out, err = self.shoal("results", "3f2a9c00", "--json", "--output", self.path("out"), code=73)
            self.assertEqual(json.loads(out)["error"]["code"], "IO")
            self.assertIn("lambda_00/dhdl 1.xvg: ", err)
            self.assertEqual(err.count("once more"), 2)
            self.assertEqual(os.listdir(os.path.dirname(name)), [])
        self.service.answers[url] = [(200, Cut(b"\x00")), (200, b"\x00\xff")]
        self.shoal("results", "3f2a9c00", "--output", self.path("out"))
        with open(name, "rb") as f:
            self.assertEqual(f.read(), b"\x00\xff")
        # Of an ensemble that runs files grow between the list and the fetch.
        self.service.answers[url] = (200, b"\x00\xff\x00")
        self.service.answers[base] = (200, ensemble(state="running"))
        self.service.answers[base + "/results?live=1"] = self.service.answers[base + "/results"]
        self.shoal("results", "3f2a9c00", "--output", self.path("out"), code=75)
        self.assertEqual(os.path.getsize(name), 3)
        # A disk that is full.
        os.remove(name)
        os.symlink("/dev/full", name + ".part")
        self.service.answers[base] = (200, ensemble(state="done"))
        self.service.answers[url] = (200, b"\x00\xff")
        self.assertIn("No space left", self.shoal("results", "3f2a9c00", "--output", self.path("out"), code=73)[1])

    def test_submit_wait(self):
        base, _ = self.results("failed")
        self.service.answers["POST /v1/ensembles"] = (201, ENSEMBLE)
        spec = self.path("m.yaml", "name: m\n")
        out, _ = self.shoal("submit", spec, "--wait", code=1)
        self.assertTrue(out.startswith("3f2a9c00\n"))
        self.assertIn("status averages", out)
        out, _ = self.shoal("submit", spec, "--wait", "--json", "--output", self.path("got"), code=1)
        value = json.loads(out)
        self.assertEqual((value["state"], value["results"]["status"]), ("failed", "averages"))
        self.assertTrue(os.path.exists(self.path("got/results.json")))
        # One value, whatever fails after the submission.
        self.service.answers[base + "/files/results.json"] = (404, error("NOT_FOUND", "gone"))
        value = json.loads(self.shoal("submit", spec, "--json", "--output", self.path("got"), code=66)[0])
        self.assertEqual(value["id"], "3f2a9c00")


if __name__ == "__main__":
    unittest.main()
