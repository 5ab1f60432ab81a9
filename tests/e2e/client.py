#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The client against a scripted service: what it asks, what it prints, and its exit codes.

Usage: client.py SHOAL
"""
import http.server
import json
import os
import socketserver
import subprocess
import sys
import tempfile
import threading
import unittest

SHOAL = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "shoal"
ENSEMBLE = {"id": "3f2a9c00", "name": "methane", "state": "queued", "created": "2026-11-20T10:00:00.000Z", "windows": 4,
            "done": 0, "failed": 0, "progress": 0.0, "seq": 1, "reason": None, "owner": 0, "replicas": []}


def ensemble(**changes):
    return {**ENSEMBLE, **changes}


def error(code, message, **more):
    return {"error": {"code": code, "message": message, **more}}


class Service(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Answers "METHOD /path?query" from self.answers: (status, value), a list of them in turn, or a function of the body."""

    daemon_threads = True

    def __init__(self, path):
        self.answers, self.asked = {}, []
        super().__init__(path, Handler)

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], BrokenPipeError):  # a client that has heard enough hangs up
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "socket"

    def log_message(self, *args):
        pass

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
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = answer


class Client(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.socket = os.path.join(self.folder.name, "api.sock")
        self.service = Service(self.socket)
        self.addCleanup(self.service.server_close)
        thread = threading.Thread(target=self.service.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        self.addCleanup(self.service.shutdown)

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
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
        self.assertTrue(out.startswith("  shoal submit"))
        for command in ("submit", "list", "status", "watch", "results", "cancel", "pause", "resume", "retry", "validate",
                        "energy", "bench", "version"):
            self.assertIn(f"\n  {command} ", out)
            told, _ = self.shoal(command, "--help")
            self.assertTrue(told.startswith(f"  shoal {command}"), told)
            self.assertEqual(told, self.shoal("help", command)[0])
        self.shoal(code=2)

    def test_mistyped(self):
        self.assertIn("no command 'sumbit'; did you mean 'submit'?", self.shoal("sumbit", code=2)[1])
        self.assertIn("no option '--jsno'; did you mean '--json'?", self.shoal("list", "--jsno", code=2)[1])
        self.assertIn("too few words", self.shoal("watch", code=2)[1])
        self.assertIn("too many words", self.shoal("list", "x", code=2)[1])
        self.assertIn("lacks its value", self.shoal("list", "--state", code=2)[1])
        self.assertIn("--timeout wants", self.shoal("watch", "x", "--timeout", "-1", code=2)[1])

    def test_completion(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../client/completions/shoal.bash")
        self.service.answers["GET /v1/ensembles"] = (200, {"ensembles": [ensemble()]})

        def complete(*words):
            line = " ".join(f"'{w}'" for w in words)
            code = f"shoal() {{ {SHOAL} \"$@\"; }}; . {script}; COMP_WORDS=(shoal {line}); COMP_CWORD={len(words)}; _shoal; " \
                   'echo "${COMPREPLY[*]}"'
            done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True,
                                  env={**os.environ, "SHOAL_SOCKET": self.socket})
            self.assertEqual(done.stderr, "")
            return done.stdout.split()

        self.assertEqual(complete("re"), ["results", "resume", "retry"])
        self.assertEqual(complete("submit", "--i"), ["--id", "--include"])
        self.assertEqual(complete("watch", "3"), ["3f2a9c00"])

    # ---- the service's absence and refusals

    def test_no_service(self):
        _, err = self.shoal("list", code=69, socket=self.path("nothing.sock"))
        self.assertIn("No such file or directory; is shoald running?", err)
        out, _ = self.shoal("list", "--json", code=69, socket=self.path("nothing.sock"))
        self.assertEqual(json.loads(out)["error"]["code"], "UNREACHABLE")
        self.path("dead.sock", "")
        self.shoal("version", code=69, socket=self.path("dead.sock"))

    def test_socket_beside_the_state(self):
        """Without a login session shoald listens in its state folder, and the client finds it there."""
        self.service.answers["GET /v1/version"] = (200, {"version": "0.1.0"})
        os.makedirs(self.path("state/shoald"))
        os.symlink(os.path.abspath(self.socket), self.path("state/shoald/api.sock"))
        self.shoal("version", env={"SHOAL_SOCKET": "", "XDG_RUNTIME_DIR": "", "XDG_STATE_HOME": self.path("state")})

    def test_refusals(self):
        for code, name in ((1, "CONFLICT"), (65, "SPEC"), (66, "NOT_FOUND"), (70, "INTERNAL"), (75, "BUSY"), (77, "FORBIDDEN")):
            self.service.answers["POST /v1/ensembles/3f2a/pause"] = (400, error(name, "a reason"))
            out, err = self.shoal("pause", "3f2a", "--json", code=code)
            self.assertEqual(err, "shoal: a reason\n")
            self.assertEqual(json.loads(out), error(name, "a reason"))
        self.service.answers["POST /v1/ensembles/3f2a/pause"] = (200, b"no JSON")
        self.shoal("pause", "3f2a", code=70)

    # ---- commands

    def test_version(self):
        self.service.answers["GET /v1/version"] = (200, {"version": "9.9", "api": 1, "devices": []})
        out, _ = self.shoal("version")
        self.assertEqual(out.splitlines()[1], "shoald 9.9")
        self.assertEqual(json.loads(self.shoal("version", "--json")[0])["service"]["version"], "9.9")

    def test_list(self):
        self.service.answers["GET /v1/ensembles"] = (200, {"ensembles": [ensemble(progress=0.509), ensemble(id="77")]})
        self.service.answers["GET /v1/ensembles?state=done"] = (200, {"ensembles": []})
        out, _ = self.shoal("list")
        self.assertEqual(out.splitlines()[0].split(), "id name state windows done failed progress created".split())
        self.assertEqual(out.splitlines()[1].split(),
                         ["3f2a9c00", "methane", "queued", "4", "0", "0", "50", "%", "2026-11-20T10:00:00"])
        self.assertEqual(json.loads(self.shoal("list", "--state", "done", "--json")[0]), {"ensembles": []})

    def test_status(self):
        replica = {"window": 2, "state": "failed", "step": 10, "steps": 100, "stage": 1, "time_ps": 0.02, "attempt": 3,
                   "device": "cpu", "reason": "blew up"}
        self.service.answers["GET /v1/ensembles/3f2a"] = (200, ensemble(state="running", replicas=[replica]))
        out, _ = self.shoal("status", "3f2a")
        self.assertEqual(out.splitlines()[-1].split(), "2 failed cpu 1 10 100 0.0 3 blew up".split())
        self.assertEqual(json.loads(self.shoal("status", "3f2a", "--json")[0])["replicas"], [replica])
        self.service.answers["GET /v1/version"] = (200, {"version": "1", "api": 1, "devices": [
            {"device": "cpu", "state": "up", "model": "a CPU", "slots": 2, "running": 1}]})
        self.service.answers["GET /v1/ensembles"] = (200, {"ensembles": [ensemble(), ensemble(id="old", state="done")]})
        out, _ = self.shoal("status")
        self.assertIn("cpu  up, a CPU  1 of 2 slots busy", out)
        self.assertNotIn("old", out)

    def test_moves(self):
        for verb, state in (("cancel", "cancelled"), ("pause", "paused"), ("resume", "queued"), ("retry", "queued")):
            self.service.answers[f"POST /v1/ensembles/3f2a/{verb}"] = (200, ensemble(state=state))
            out, err = self.shoal(verb, "3f2a")
            self.assertEqual(out, state + "\n")
            self.assertIn(f"methane is {state}", err)

    # ---- submitting

    def test_submit_adds_files(self):
        """The service asks for files until it has them; they come from beside the spec, then from include folders."""
        spec = self.path("run/m.yaml", "name: m\n")
        self.path("run/m.top", "top")
        self.path("run/ff/a.itp", b"; 1 \xc5ngstr\xf6m\n")
        self.path("inc/b.itp", "b")
        need = [[["m.top"], ["ff/a.itp", "a.itp"]], [["sub/b.itp", "b.itp"]]]

        def take(body):
            for wanted in need:
                if not all(any(n in body["files"] for n in names) for names in wanted):
                    return 422, error("MISSING_FILE", "m.top:1: no file", files=wanted)
            return 201, ENSEMBLE

        self.service.answers["POST /v1/ensembles"] = take
        out, err = self.shoal("submit", spec, "--include", self.path("inc"), "--id", "k-1")
        self.assertEqual(out, "3f2a9c00\n")
        self.assertIn("methane is 3f2a9c00, 4 windows", err)
        _, body = self.service.asked[-1]
        self.assertEqual(body, {"spec": "name: m\n", "spec_name": "m.yaml", "id": "k-1",
                                "files": {"m.top": "top", "ff/a.itp": "; 1 Ångström\n", "b.itp": "b"}})
        self.assertEqual(len(self.service.asked), 3)

    def test_submit_missing(self):
        spec = self.path("m.yaml", "name: m\n")
        self.path("secret", "s")
        self.service.answers["POST /v1/ensembles"] = (422, error("MISSING_FILE", "m.top:7: x.itp: no such file",
                                                                 files=[["x.itp"]]))
        _, err = self.shoal("submit", spec, code=66)
        self.assertIn("m.top:7: x.itp: no such file; looked in " + self.folder.name, err)
        # Only names below the folders are read, whatever is asked for.
        for name in (self.path("secret"), "../secret", "a/../../secret", ""):
            self.service.answers["POST /v1/ensembles"] = (422, error("MISSING_FILE", "m.top:7: no such file", files=[[name]]))
            self.shoal("submit", spec, code=66)
            self.assertEqual(self.service.asked[-1][1]["files"], {})
        # A service that asks for what it has gets its own error back, not an endless stream of files.
        self.service.answers["POST /v1/ensembles"] = (422, error("MISSING_FILE", "again", files=[["secret"]]))
        self.assertEqual(self.shoal("submit", spec, code=66)[1], "shoal: again\n")

    def test_submit_bad(self):
        self.shoal("submit", self.path("none.yaml"), code=66)
        self.assertIn("not UTF-8", self.shoal("submit", self.path("b.yaml", b"\xff"), code=65)[1])
        self.service.answers["POST /v1/ensembles"] = (422, error("SPEC", "m.yaml:1: zebra: unknown key"))
        out, err = self.shoal("submit", self.path("m.yaml", "zebra: 1\n"), code=65)
        self.assertEqual((out, err), ("", "shoal: m.yaml:1: zebra: unknown key\n"))

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
        out, _ = self.shoal("watch", "3f2a", "--json")
        self.assertEqual([json.loads(line)["kind"] for line in out.splitlines()], ["progress", "replica", "ensemble"])

    def test_watch_ends(self):
        base = "GET /v1/ensembles/3f2a"
        for state, code in (("done", 0), ("failed", 1), ("cancelled", 1)):
            self.service.answers[base] = (200, ensemble(state=state))
            self.assertEqual(self.shoal("watch", "3f2a", code=code)[0], state + "\n")
        self.shoal("watch", "nope", code=66)
        self.service.answers[base] = (200, ensemble(seq=0))
        self.service.answers[base + "/events?follow=1&since=0"] = self.events({"kind": "progress", "time": "t"})
        self.assertIn("not ended after 1 s", self.shoal("watch", "3f2a", "--timeout", "1", code=124)[1])

    def results(self):
        base = "GET /v1/ensembles/3f2a9c00"
        text = b'{"estimate": null, "status": "averages", "windows": [], "warnings": []}\n'
        self.service.answers[base + "/results"] = (200, text)
        self.service.answers[base + "/files"] = (200, {"files": [{"path": "results.json", "bytes": 1},
                                                                 {"path": "lambda_00/dhdl 1.xvg", "bytes": 1}]})
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
        self.shoal("results", "3f2a9c00", "--output", self.path("out"), code=70)
        self.assertFalse(os.path.exists(self.path("escape")))
        self.service.answers[base + "/results"] = (409, error("CONFLICT", "not ended yet"))
        self.shoal("results", "3f2a9c00", code=75)

    def test_submit_wait(self):
        base, _ = self.results()
        self.service.answers["POST /v1/ensembles"] = (201, ENSEMBLE)
        self.service.answers[base] = (200, ensemble(state="failed"))
        spec = self.path("m.yaml", "name: m\n")
        out, _ = self.shoal("submit", spec, "--wait", code=1)
        self.assertTrue(out.startswith("3f2a9c00\n"))
        self.assertIn("status averages", out)
        out, _ = self.shoal("submit", spec, "--wait", "--json", "--output", self.path("got"), code=1)
        value = json.loads(out)
        self.assertEqual((value["state"], value["results"]["status"]), ("failed", "averages"))
        self.assertTrue(os.path.exists(self.path("got/results.json")))


if __name__ == "__main__":
    unittest.main()
