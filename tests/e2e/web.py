#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal web: whom it answers, what its pages show, and that they show by themselves what has changed; against a scripted service, and
in a real browser while a run goes on.

Usage: web.py SHOAL SHOALD SHOAL_WORKER
"""
import http.client
import os
import re
import socket
import subprocess
import sys
import unittest
import urllib.parse
import xml.etree.ElementTree

import browser
from served import SHOAL, Served
from service import until
from tiny import tiny
from client import Answered, ensemble, error  # takes SHOAL from the words

HTML = "{http://www.w3.org/1999/xhtml}"
LISTED = "GET /v1/ensembles?limit=100"
CPU = {"device": "cpu", "state": "up", "model": "x <86> & more", "slots": 2, "running": 1, "busy": 0.5, "us_per_replica_step": 8, "ns_per_day": 21}


class Web:
    """A `shoal web` that runs, and requests to it."""

    def __init__(self, environment, *words):
        self.process = subprocess.Popen([SHOAL, "web", *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        address = urllib.parse.urlsplit(self.url)
        self.port, self.home = address.port, address.path

    def close(self):
        self.process.terminate()
        self.process.communicate(timeout=20)

    def ask(self, path, method="GET", host=None, version="1.1", port=None):
        """Status, headers and text; path: behind the token, or a whole one."""
        lines = [f"{method} {path if path.startswith('/') else self.home + path} HTTP/{version}", "Connection: close"]
        lines += [f"Host: {host or f'127.0.0.1:{self.port}'}"] if host != "" else []
        with socket.create_connection(("127.0.0.1", port or self.port), timeout=60) as s:
            s.sendall("\r\n".join([*lines, "", ""]).encode())
            answer = http.client.HTTPResponse(s, method=method)
            answer.begin()
            return answer.status, answer.headers, answer.read().decode()

    def events(self, path):
        """The data of each event, as it comes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", self.home + path)
        answer, data = connection.getresponse(), []
        assert (answer.status, answer.headers["Content-Type"]) == (200, "text/event-stream")
        for line in iter(answer.readline, b""):
            if line.startswith(b"data: "):
                data.append(line[6:].decode())
            elif line == b"\n" and data:
                yield "".join(data).strip()
                data = []


def cells(page):
    """Of all tables, the rows."""
    root = xml.etree.ElementTree.fromstring(page)
    return [["".join(cell.itertext()) for cell in row] for row in root.iter() if row.tag in ("tr", HTML + "tr")]


class Scripted(Answered):
    def setUp(self):
        super().setUp()
        self.service.answers.update({"GET /v1/version": (200, {"version": "1", "devices": [CPU], "left_out": ["cuda:0: <none>"],
                                                                "held": {"by": "<ann>", "since": "2026-11-27T10:00:00Z", "reason": None}}),
                                     LISTED: (200, {"ensembles": [ensemble(id="3f2a9c00", name="methane")]})})
        self.environment = {**os.environ, "SHOAL_SOCKET": self.socket}

    def web(self, *words):
        web = Web(self.environment, *words)
        self.addCleanup(web.close)
        return web

    def test_who_is_answered(self):
        """Only those with the token, who mean this machine, by GET; the service hears of no one else. No other address listens."""
        web = self.web()
        self.assertRegex(web.url, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$")
        self.service.asked.clear()
        token = web.home.strip("/")
        wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
        for path in ("/", "/favicon.ico", f"/{wrong}/", f"/{token}", f"/{token[:-1]}/", f"/{token}0/", f"/{wrong}/3f2a9c00", f"/?{token}", f"//{token}/"):
            self.assertEqual(web.ask(path)[0], 403, path)
        for host in ("evil.example", f"evil.example:{web.port}", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.2", "[::2]"):
            status, _, text = web.ask("", host=host)
            self.assertEqual((status, text), (403, "shoal web: only 127.0.0.1 and localhost are answered\n"), host)
        self.assertEqual(web.ask("", host="", version="1.0")[0], 403)
        for method in ("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            status, headers, _ = web.ask("3f2a9c00", method)
            self.assertEqual((status, headers["Allow"]), (405, "GET"), method)
        self.assertEqual(self.service.asked, [])
        for host in ("127.0.0.1", "localhost:8080", f"localhost:{web.port}", "[::1]:8080"):
            self.assertEqual(web.ask("", host=host)[0], 200, host)
        self.assertEqual({key for key, _ in self.service.asked}, {LISTED, "GET /v1/version"})
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", web.port), timeout=20)

    def test_headers(self):
        """No other page may frame it, no address with the token leaves it, no script but its own runs; each start has another token."""
        web, other = self.web(), self.web()
        self.assertNotEqual(web.home, other.home)
        _, headers, page = web.ask("")
        nonce = re.search(r'<script nonce="([0-9a-f]{32})">', page)[1]
        self.assertNotEqual(nonce, web.home.strip("/"))
        self.assertEqual(headers["Content-Security-Policy"], f"default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; "
                         "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
        self.assertEqual([headers[h] for h in ("Referrer-Policy", "Cache-Control", "X-Content-Type-Options")], ["no-referrer", "no-store", "nosniff"])

    def test_tables(self):
        """Those of list and of status --devices; what others named is text and stays text."""
        bad = "<script>alert('1')</script>\"&"
        running = ensemble(id='a"<b/', name=bad, key=bad, state="running", labels={"x": bad}, reason=bad, progress=0.5,
                           estimate={"value": -2.31, "error": 0.12, "unit": "kcal/mol", "verdict": bad})
        self.service.answers[LISTED] = (200, {"ensembles": [running]})
        status, headers, page = self.web().ask("")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertEqual(page.count("<script"), 1)
        rows = cells(page)
        found = dict(zip(rows[0], rows[1]))
        self.assertEqual([found[h] for h in ("id", "name", "state", "progress", "key", "labels", "reason")],
                         ['a"<b/', bad, "running", "50 %", bad, "x=" + bad, bad])
        self.assertEqual(found["so far"], f"-2.31 \u00b1 0.12 kcal/mol, {bad}")
        self.assertEqual([a.get("href") for a in xml.etree.ElementTree.fromstring(page).iter(HTML + "a")], ["a%22%3Cb%2F"])
        device = dict(zip(rows[2], rows[3]))
        self.assertEqual([device[h] for h in ("device", "state", "running", "slots", "model")], ["cpu", "up", "1", "2", CPU["model"]])
        self.assertIn("admission is held by &#60;ann&#62; since 2026-11-27T10:00:00Z\ncuda:0: &#60;none&#62;", page)

    def test_what_is_asked(self):
        """The options of list choose; what is left out is said."""
        self.service.answers["GET /v1/ensembles?limit=1&state=done"] = (200, {"ensembles": [ensemble()]})
        _, _, page = self.web("--limit", "1", "--state", "done").ask("")
        self.assertIn("These are the newest; --limit shows more.", page)
        self.assertNotIn("These are the newest", self.web().ask("")[2])

    def test_refusals(self):
        """The service's own, in a page with its status; nothing that an address holds is markup."""
        web = self.web()
        self.service.answers["GET /v1/ensembles/%3Cb%3E%2F.."] = (404, error("NOT_FOUND", "no ensemble '<b>/..'"))
        status, _, page = web.ask("%3Cb%3E/..")
        self.assertEqual(status, 404)
        self.assertIn('<p class="bad">no ensemble &#39;&#60;b&#62;/..&#39;</p>', page)
        self.assertNotIn("<script", page)
        self.service.answers["GET /v1/ensembles/3f2a9c00"] = (200, ensemble(state="running"))
        self.service.answers["GET /v1/ensembles/3f2a9c00/results?live=1"] = (409, error("CONFLICT", "no rows yet"))
        status, _, page = web.ask("3f2a9c00")
        self.assertEqual(status, 503)
        self.assertIn("no rows yet", page)
        self.assertIn("location.reload()", page)  # it will have some

    def test_events_of_tables(self):
        """The new tables where they differ, also where the service is lost for a time."""
        web = self.web()
        events = web.events("?events=")
        root = xml.etree.ElementTree.fromstring(web.ask("")[2])
        self.assertEqual(cells(f"<main>{next(events)}</main>"), [["".join(c.itertext()) for c in row] for row in root.iter(HTML + "tr")])
        self.service.answers[LISTED] = (200, {"ensembles": [ensemble(name="<new>", state="done")]})
        self.assertEqual(cells(f"<main>{next(events)}</main>")[1][1:3], ["<new>", "done"])
        self.service.answers[LISTED] = (503, error("BUSY", "<later>"))
        self.assertEqual(next(events), '<p class="bad">&#60;later&#62;</p>')

    def test_events_of_ensembles(self):
        """An event where the page is of another state than now; none where the service is lost."""
        path = "GET /v1/ensembles/3f2a9c00"
        self.service.answers[path] = (200, ensemble(state="running", progress=0.25))
        web = self.web()
        events = web.events(re.search(r'EventSource\("([^"]*)"\)', web.ask("3f2a9c00")[2])[1].replace("?", "3f2a9c00?"))
        self.service.asked.clear()
        self.service.answers[path] = [(200, ensemble(state="running", progress=0.25)), (503, error("BUSY", "later")),
                                      (200, ensemble(state="running", progress=0.5))]
        self.assertEqual(next(events), "")
        self.assertEqual([key for key, _ in self.service.asked], 3 * [path])

    def test_start(self):
        """A port that is taken, one that is none, no service: said, with exit codes; the port that was asked for is used."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        web = self.web("--port", str(port))
        self.assertEqual(web.port, port)
        for words, code, text in ((("--port", str(port)), 73, f"port {port} of 127.0.0.1: Address already in use; --port names another"),
                                  (("--port", "65536"), 2, "--port wants a port from 1 to 65535"), (("--socket", "/none"), 69, "no service at /none")):
            done = subprocess.run([SHOAL, "web", *words], env=self.environment, capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertIn(text, done.stderr)


class Running(Served):
    def shoal(self, *words):
        return subprocess.run([SHOAL, *words], env=self.environment, capture_output=True, text=True, check=True, timeout=100).stdout

    def submit(self, steps):
        spec, files = tiny("methane", seed=5, steps=steps)
        for name, text in {"spec.yaml": spec, **files}.items():
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        return self.shoal("submit", os.path.join(self.folder, "spec.yaml")).strip()

    def test_while_it_runs(self):
        """The page of an ensemble that runs is its report so far; when it has ended it is that of `report`."""
        web = Web(self.environment)
        self.addCleanup(web.close)
        name = self.submit(4000)
        until(lambda: "so far: the ensemble is running" in web.ask(name)[2], 100)
        self.assertIn("EventSource", web.ask(name)[2])
        self.assertIn(name, [row[0] for row in cells(web.ask("")[2])])
        self.shoal("watch", name)
        _, _, page = web.ask(name)
        self.assertEqual(page.replace('<p><a href="./">all ensembles</a></p>\n', ""), self.shoal("report", name))

    @unittest.skipUnless(browser.PROGRAM, "no headless browser here; Debian's package chromium-headless-shell has one")
    def test_in_a_browser(self):
        """Nothing is wrong with the pages; the first shows without being asked what is new, the link leads to the report, which is loaded again."""
        web = Web(self.environment)
        self.addCleanup(web.close)
        looking = browser.Browser()
        self.addCleanup(looking.close)
        name = self.submit(20000)
        until(lambda: "running" in self.shoal("list"), 100)
        asked, said = looking.open(web.url)
        self.assertEqual((asked, said), ([web.url + "?events="], []))
        looking.script("window.same = true")
        row = f"""[...document.querySelectorAll("tr")].find(r => r.innerText.includes("{name}"))"""
        first = looking.script(row + ".innerText")
        until(lambda: looking.script(row + ".innerText") != first, 100)
        self.assertTrue(looking.script("window.same"))
        self.assertEqual(looking.script(browser.LAYOUT), [])
        self.assertEqual(looking.script(row + '.querySelector("a").href'), web.url + name)
        until(lambda: "so far: the ensemble is running" in web.ask(name)[2], 100)
        asked, said = looking.open(web.url + name)
        self.assertEqual((len(asked), said), (1, []))
        looking.script("window.same = true")
        self.assertIn("so far: the ensemble is running", looking.script("document.body.innerText"))
        until(lambda: looking.script("!window.same"), 100)
        self.shoal("cancel", name)
        until(lambda: "cancelled, made by" in looking.script("document.body ? document.body.innerText : ''"), 100)
        looking.open(web.url)
        looking.script("document.querySelector('a').click()")
        until(lambda: looking.script("location.href") == web.url + name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
