#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `ninja install` puts below a DESTDIR works from there: all files are there, and the installed programs find each other.

Usage: install.py MESON BUILD_FOLDER SOURCE_FOLDER PREFIX SCDOC(yes|no) WHEEL(a name, or none)
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from service import AS_IS

MESON, BUILD, SOURCE, PREFIX, SCDOC, WHEEL = sys.argv[1:7]

WANTED = """bin/shoal bin/shoald bin/shoal-worker share/bash-completion/completions/shoal share/zsh/site-functions/_shoal
share/fish/vendor_completions.d/shoal.fish share/doc/shoal/README.md share/doc/shoal/CHANGELOG.md share/doc/shoal/LICENSE share/doc/shoal/docs/README.md share/doc/shoal/docs/hydration.md share/doc/shoal/examples/README.md
share/doc/shoal/examples/methane/quickstart.yaml share/shoal/ensemble.schema.json share/shoal/campaign.schema.json share/shoal/results.schema.json
share/shoal/shoald.schema.json share/doc/shoal/shoald.yaml share/doc/shoal/grafana/shoal.json share/shoal/openapi.yaml share/shoal/python/pyproject.toml share/shoal/python/shoal/service.py
lib/systemd/system/shoald.service lib/systemd/system/shoald.socket lib/systemd/user/shoald.service
lib/sysusers.d/shoal.conf""".split()
WANTED += [f"share/shoal/{WHEEL}"] * (WHEEL != "none")
PAGES = "share/man/man1/shoal.1 share/man/man5/shoal-ensemble.5 share/man/man5/shoal-campaign.5 share/man/man5/shoald.yaml.5 share/man/man8/shoald.8 share/man/man8/shoal-worker.8".split()


def run(*command, code=0, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **more)
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def check_pages(root):
    """No page is broken, and each names the others."""
    for page in PAGES:
        assert ".SH EXAMPLES" in read(os.path.join(root, page)), f"{page}: no examples"
        if shutil.which("man"):
            done = subprocess.run(["man", "--warnings", "-l", os.path.join(root, page)], capture_output=True, text=True, check=False,
                                  env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
            complaints = [x for x in done.stderr.splitlines() if "can't break line" not in x and "cannot adjust" not in x]
            assert done.returncode == 0 and not complaints, f"{page}: {done.stderr}"


def keys_of(schema):
    """All keys that a spec may have, at any depth."""
    for key, child in schema.get("properties", {}).items():
        yield key
        yield from keys_of(child)
    if isinstance(schema.get("items"), dict):
        yield from keys_of(schema["items"])


def check_keys(root):
    """shoal-ensemble(5) explains every key of the schema that is installed with it."""
    page = read(os.path.join(root, "share/man/man5/shoal-ensemble.5")).replace("\\", "")
    keys = set(keys_of(json.loads(read(os.path.join(root, "share/shoal/ensemble.schema.json")))))
    assert len(keys) > 50, keys
    missing = [key for key in keys if f"{key}\\fR" not in page and f"{key}fR" not in page]
    assert not missing, f"shoal-ensemble(5) lacks {missing}"


def check_examples(root):
    """The schema that an example names for editors is there."""
    specs = glob.glob(os.path.join(root, "share/doc/shoal/examples/*/*.yaml"))
    named = [(spec, match[1]) for spec in specs if (match := re.search(r"(?m)^# yaml-language-server: \$schema=(.+)", read(spec)))]
    assert len(named) > 5, specs
    for spec, schema in named:
        assert os.path.isfile(os.path.join(os.path.dirname(spec), schema)), f"{spec}: no {schema}"


OF_THE_SOURCE = "deploy/", "tests/", ".build/"  # what the guide says of these is for who builds or tests Shoal
OF_DEVELOPERS = "docs/architecture.md", "docs/extending.md"  # pages about the source


def named_in_page(text):
    """Paths that a page names: of links, in sentences, and in commands; without what a reader is to write or make."""
    prose = re.sub(r"(?ms)^```.*?^```", "", text)
    found = {link for link in re.findall(r"\]\(([^)\s#]+)", prose) if not link.startswith("http")}
    written = set(re.findall(r"(?m)> (\S+)$", text))
    return found, set(re.findall(r"(?<![\w/.@])((?:examples|schemas|docs|client|deploy|tests|engine|daemon|graphs)/[\w./-]*\w)", text)) - written


def check_named(root):
    """What installed files name is installed. Returns how many paths those are."""
    home, count, missing = os.path.join(root, "share/doc/shoal"), 0, []
    for page in glob.glob(os.path.join(home, "**/*.md"), recursive=True):
        name = os.path.relpath(page, home)
        links, paths = named_in_page(read(page))
        missing += [f"{name}: the link {link}" for link in links if not os.path.exists(os.path.join(os.path.dirname(page), link))]
        for path in paths if name not in OF_DEVELOPERS else ():
            base = SOURCE if path.startswith(OF_THE_SOURCE) else home
            found = any(os.path.exists(os.path.join(folder, path)) for folder in (base, os.path.dirname(page)))
            missing += [] if found else [f"{name}: {path}"]
        count += len(links) + len(paths)
    texts = [p for kind in ("lib/**/*", "share/bash-completion/**/*", "share/zsh/**/*", "share/fish/**/*", "share/man/**/*", "share/shoal/*.*")
             for p in glob.glob(os.path.join(root, kind), recursive=True) if os.path.isfile(p) and not p.endswith(".whl")]
    for text in texts:
        for path in re.findall(re.escape(PREFIX) + r"/[\w./-]*\w", read(text)):
            missing += [] if os.path.exists(root + path[len(PREFIX):]) else [f"{text}: {path}"]
            count += 1
        for page, section in re.findall(r"\b(shoal[a-z-]*)(?:\\fR)?\((\d)\)", read(text)):
            here = SCDOC != "yes" or os.path.isfile(os.path.join(root, f"share/man/man{section}/{page}.{section}"))
            missing += [] if here else [f"{text}: {page}({section})"]
            count += 1
    assert not missing, "named and not installed:\n" + "\n".join(sorted(missing))
    return count


def check_units(root):
    """What units start is installed, and no path of another prefix is in them."""
    for unit in ("system/shoald.service", "user/shoald.service"):
        text = read(os.path.join(root, "lib/systemd", unit))
        assert f"ExecStart={PREFIX}/bin/shoald\n" in text and not re.search(r"@\w+@", text), unit
        assert f"file:{PREFIX}/share/doc/shoal/README.md" in text, unit
        source = read(os.path.join(SOURCE, "deploy/systemd", "" if unit[0] == "s" else "user", "shoald.service.in"))
        assert "/usr" not in source, f"{unit}: a path that does not follow the prefix"
    assert "u shoal " in read(os.path.join(root, "lib/sysusers.d/shoal.conf"))


def check_programs(root, folder):
    """The client finds the worker, the service finds the worker, and the client finds the service by the XDG rules."""
    shoal, spec = os.path.join(root, "bin/shoal"), os.path.join(root, "share/doc/shoal/examples/methane/quickstart.yaml")
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SHOAL_")}
    clean.update(XDG_RUNTIME_DIR=folder, XDG_STATE_HOME=folder, HOME=folder)
    assert json.loads(run(shoal, "validate", spec, "--json", env=clean))["windows"] == 8
    os.makedirs(folder)
    socket = os.path.join(folder, "shoald/api.sock")
    with open(os.path.join(folder, "log"), "wb") as log, \
         subprocess.Popen([os.path.join(root, "bin/shoald"), "--device", "cpu", "--socket", socket, "--state",
                           os.path.join(folder, "state"), *AS_IS], stderr=log, env=clean) as service:
        try:
            deadline = time.monotonic() + 60
            while True:
                done = subprocess.run([shoal, "version", "--json"], env=clean, capture_output=True, text=True, check=False)
                if done.returncode == 0 and json.loads(done.stdout)["service"]["devices"][0]["state"] == "up":
                    break
                assert time.monotonic() < deadline and service.poll() is None, done.stdout + read(os.path.join(folder, "log"))
                time.sleep(0.1)
        finally:
            service.terminate()
            assert service.wait(60) == 0
    for line in read(os.path.join(folder, "log")).splitlines():
        assert line[4] == "-" and "shoal" in line, f"a line of the log without its time: {line}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        run(MESON, "install", "-C", BUILD, "--no-rebuild", "--quiet", env={**os.environ, "DESTDIR": folder})
        root = folder + PREFIX
        missing = [path for path in WANTED + PAGES * (SCDOC == "yes") if not os.path.isfile(os.path.join(root, path))]
        assert not missing, f"not installed: {missing}"
        if SCDOC == "yes":
            check_pages(root)
            check_keys(root)
        check_units(root)
        check_examples(root)
        print(f"{check_named(root)} paths and pages named in installed files")
        check_programs(root, os.path.join(folder, "home"))
        print(f"{len(WANTED + PAGES)} files looked at")


if __name__ == "__main__":
    main()
