# SPDX-License-Identifier: Apache-2.0
"""A headless browser on a pipe, by the DevTools protocol: pages from files, what they say and ask for, how they are laid out, and
pictures of them. No network."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile

PROGRAM = next((p for p in map(shutil.which, ("chromium-headless-shell", "chromium")) if p), None)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "layout.js"), encoding="utf-8") as source:
    LAYOUT = source.read()


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # it may still write while it ends
        to_browser, self.writes = os.pipe()
        self.reads, from_browser = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                   "--disable-background-networking", f"--user-data-dir={self.folder.name}", "--remote-debugging-pipe", "about:blank"]

        def wire():  # the browser reads from 3 and writes to 4
            high = os.dup(to_browser), os.dup(from_browser)
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen([PROGRAM, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=wire, close_fds=False)
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.number, self.events, self.session = b"", 0, [], None
        target = next(t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.ask(f"{domain}.enable")

    def close(self):
        self.session = None
        self.ask("Browser.close")
        self.process.wait(20)
        os.close(self.writes)
        os.close(self.reads)
        self.folder.cleanup()

    def receive(self):
        while b"\0" not in self.rest:
            if not select.select([self.reads], [], [], 60)[0]:
                raise AssertionError(f"{PROGRAM} says nothing for a minute")
            piece = os.read(self.reads, 1 << 20)
            if not piece:
                raise AssertionError(f"{PROGRAM} ended with {self.process.wait(20)}")
            self.rest += piece
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **({"sessionId": self.session} if self.session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writes, data):]
        while (answer := self.receive()).get("id") != self.number:
            self.events.append(answer)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def open(self, path, width=1280, height=800, dark=False):
        """Shows a file, or an address of http, in a window of that size. What it said and asked for meanwhile, itself aside."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        url = path if path.startswith("http://") else "file://" + os.path.abspath(path)
        self.ask("Page.navigate", url=url)
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive())
        self.script("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        asked = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        said = [e["params"] for e in self.events if e["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")]
        return [a for a in asked if a != url], said

    def faults(self, path, width=1280, dark=False):
        """All that is wrong with a page in such a window: what it asks for, says, and how it is laid out (layout.js)."""
        asked, said = self.open(path, width=width, dark=dark)
        return [f"asks for {a}" for a in asked] + [f"says {s}" for s in said] + self.script(LAYOUT)

    def script(self, text):
        """The value of an expression in the page, of its promise."""
        answer = self.ask("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def picture(self):
        """All of the page as a PNG."""
        return base64.b64decode(self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"])
