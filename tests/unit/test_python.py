#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package without a service: answers as dataclasses, which mirror the schemas, dhdl.xvg, the search for files, errors.

Usage: test_python.py SOURCE_ROOT
"""
import contextlib
import dataclasses
import json
import os
import re
import sys
import tempfile
import traceback
import types
import typing
import unittest
from unittest import mock

ROOT = sys.argv[1]
sys.path.insert(0, os.path.join(ROOT, "client/python"))

from shoal import ensembles, errors, frames, inputs, program, socket_path, transport
from shoal.decode import decode, fields_of
from shoal.results import Energy, Results, Value, Window
from shoal.rows import Rows

try:
    import yaml
except ModuleNotFoundError:
    yaml = None

ENERGY = {"kJ/mol": {"value": 4.184, "error": 0.4184}, "kcal/mol": {"value": 1, "error": 0.1}, "kT": {"value": 1.7, "error": None}}
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


class Mirror:
    """Walks a schema and a dataclass side by side."""

    def __init__(self, root):
        self.root, self.found = root, []

    def resolved(self, schema):
        """(schema, whether it may be null)"""
        if "$ref" in schema:
            target = self.root
            for part in schema["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            return self.resolved(target)
        if "oneOf" in schema:
            some = [one for one in schema["oneOf"] if one.get("type") != "null"]
            return self.resolved(some[0])[0], len(some) < len(schema["oneOf"])
        if isinstance(schema.get("type"), list):
            some = [kind for kind in schema["type"] if kind != "null"]
            return {**schema, "type": some[0]}, len(some) < len(schema["type"])
        return schema, None in schema.get("enum", [])

    def compare(self, schema, kind, where, required=True):
        schema, null = self.resolved(schema)
        maybe = isinstance(kind, types.UnionType)
        if maybe:
            kind = next(one for one in typing.get_args(kind) if one is not types.NoneType)
        if maybe != (null or not required):
            self.found.append(f"{where}: null is {'' if maybe else 'not '}admitted")
        if dataclasses.is_dataclass(kind):
            self.compare_object(schema, kind, where)
        elif typing.get_origin(kind) in (tuple, Rows) and schema.get("type") == "array":
            self.compare(schema["items"], typing.get_args(kind)[0], where + "[]")
        elif isinstance(schema.get("additionalProperties"), dict):
            self.compare(schema["additionalProperties"], typing.get_args(kind)[1], where + ".*")
        else:
            words = {"string"} if any(isinstance(x, str) for x in [*schema.get("enum", []), schema.get("const")]) else \
                {"boolean"} if schema.get("const") is True else {schema.get("type", "integer")}
            if {PLAIN.get(kind)} != words:
                self.found.append(f"{where}: {kind} for {words}")

    def compare_object(self, schema, kind, where):
        fields = {key: annotation for _, key, annotation in fields_of(kind)}
        for key in fields.keys() ^ schema["properties"].keys():
            self.found.append(f"{where}: {key} is {'no property' if key in fields else 'no field'}")
        for key in fields.keys() & schema["properties"].keys():
            self.compare(schema["properties"][key], fields[key], f"{where}.{key}", key in schema.get("required", []))


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


class Schemas(unittest.TestCase):
    def check(self, root, schema, kind):
        mirror = Mirror(root)
        mirror.compare(schema, kind, kind.__name__)
        self.assertEqual(mirror.found, [])

    def test_results(self):
        schema = json.loads(read("schemas/results.schema.json"))
        self.check(schema, schema, Results)

    @unittest.skipUnless(yaml, "no PyYAML")
    def test_api(self):
        api = yaml.safe_load(read("schemas/api/openapi.yaml"))
        for name in ("Ensemble", "Event", "Summary"):
            self.check(api, api["components"]["schemas"][name], getattr(ensembles, name))
        answers = {("/v1/version", "get"): ensembles.Version, ("/v1/usage", "get"): ensembles.Users, ("/v1/ensembles", "get"): ensembles.Page,
                   ("/v1/accounting", "get"): ensembles.Accounting, ("/v1/drain", "post"): ensembles.OutOfUse,
                   ("/v1/ensembles/{id}", "delete"): ensembles.Removed, ("/v1/ensembles/{id}/files", "get"): ensembles.Files}
        for (path, method), kind in answers.items():
            self.check(api, api["paths"][path][method]["responses"]["200"]["content"]["application/json"]["schema"], kind)

    def test_differences_are_seen(self):
        """The walk is no empty check."""
        schema = json.loads(read("schemas/results.schema.json"))
        window = schema["definitions"]["window"]
        window["properties"]["new"] = {"type": "integer"}
        del window["properties"]["seed"]
        window["properties"]["status"] = {"type": "integer"}
        window["properties"]["reason"] = {"type": "string"}
        mirror = Mirror(schema)
        mirror.compare(schema, Results, "r")
        self.assertEqual(sorted(mirror.found), ["r.windows[].reason: null is admitted", "r.windows[].status: <class 'str'> for {'integer'}",
                                                "r.windows[]: new is no field", "r.windows[]: seed is no property"])


class Decoding(unittest.TestCase):
    def test_names_and_numbers(self):
        energy = decode(Energy, {**ENERGY, "later": [1]}, "e")
        self.assertEqual((energy.kcal_mol, energy.kT.error), (Value(value=1.0, error=0.1), None))
        self.assertIs(type(energy.kcal_mol.value), float)
        with self.assertRaises(dataclasses.FrozenInstanceError):
            energy.kT = None
        nothing = {"unit": "nanosecond", "magnitude": 0}
        window = decode(Window, {"repeat": 0, "window": 1, "lambda": {"vdw": 1}, "status": "failed", "sampled": nothing, "dhdl": {}, "averages": {}, "fluctuations": {}}, "w")
        self.assertEqual((window.lambda_, window.samples), ({"vdw": 1.0}, None))

    def test_errors(self):
        for change, message in (({"kT": None}, "e.kT: expected an object, read None"),
                                ({"kT": {"error": 1.0}}, 'e.kT: expected a key "value", read error'),
                                ({"kT": {"value": "1"}}, "e.kT.value: expected a number, read '1'"),
                                ({"kT": {"value": True}}, "e.kT.value: expected a number, read True")):
            with self.assertRaises(errors.Malformed) as caught:
                decode(Energy, {**ENERGY, **change}, "e")
            self.assertEqual(str(caught.exception), message)
        for value, message in (({"path": "a", "bytes": 1.5}, "f.bytes: expected a whole number, read 1.5"), ([], "f: expected an object, read []")):
            with self.assertRaisesRegex(errors.Malformed, message.replace("[", r"\[")):
                decode(ensembles.File, value, "f")

    def test_problems(self):
        text = json.dumps({"error": {"code": "LIMIT", "message": "too many", "files": [["a", "b"]]}}).encode()
        problem = transport.problem_of(429, text, "7")
        self.assertIsInstance(problem, errors.Problem)
        self.assertEqual((problem.code, problem.status, problem.files, problem.retry_after, str(problem)), ("LIMIT", 429, (("a", "b"),), 7.0, "too many"))
        self.assertRaisesRegex(errors.Malformed, "status 500: expected a JSON object, read b'<html>'", transport.problem_of, 500, b"<html>", None)
        self.assertIsInstance(transport.problem_of(500, b"{}", None), errors.Malformed)


    def test_escapes(self):
        """A message quotes what somebody else wrote: as a text it shows that, and a terminal obeys nothing of it."""
        said = 's.yaml:1: "k\x1b]0;owned\x07\x9b2J\u202eab\ud800 \u00e4\u03bb": unknown key\n\tof 3'
        text = json.dumps({"error": {"code": "SPEC", "message": said}}).encode()
        problem = transport.problem_of(422, text, None)
        self.assertEqual(problem.message, said)
        shown = 's.yaml:1: "k\\x1b]0;owned\\x07\\u009b2J\\u202eab\\ud800 \u00e4\u03bb": unknown key\n\tof 3'
        self.assertEqual(str(problem), shown)
        self.assertIn(shown, "".join(traceback.format_exception(problem)))

    def test_exit_codes(self):
        """Those that errors of the program are told by are its own."""
        exits = {name: int(code) for name, code in re.findall(r"(?m)^EXIT\((\w+), (\d+),", read("schemas/exits.def"))}
        errors_of = {(name, exits[of]) for name, of in re.findall(r"(?m)^ERR\((\w+), \d+, \d+, (\w+),", read("schemas/errors.def"))}
        self.assertLessEqual({(name, code) for code, name in program.CODES.items()}, errors_of)
        for name in ("OK", "FAILED", "BAD_SPEC", "TRY_LATER"):
            self.assertEqual(getattr(program, name), exits[name], name)


class Place(unittest.TestCase):
    def test_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            run, state = os.path.join(folder, "run"), os.path.join(folder, "state")
            there = os.path.join(state, "shoald/api.sock")
            os.makedirs(os.path.dirname(there))
            open(there, "wb").close()
            with mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": run, "XDG_STATE_HOME": state, "HOME": "relative", "SHOAL_SOCKET": ""}):
                self.assertEqual(socket_path.find_socket(None), (there, f"{run}/shoald/api.sock, {there}, {socket_path.SYSTEM_SOCKET}"))
                self.assertEqual(socket_path.find_socket("given"), ("given", "given"))
                os.environ["SHOAL_SOCKET"] = "named"
                self.assertEqual(socket_path.find_socket(None)[0], "named")


class Asked:
    """A service that wants files until it has them."""

    def __init__(self, *wanted):
        self.wanted, self.asked = wanted, 0

    def ask(self, method, path, body):
        self.asked += 1
        missing = [names for names in self.wanted if not set(names) & body["files"].keys()]
        if missing:
            raise errors.Problem("MISSING_FILE", f"spec.yaml:1: no {missing[0][0]}", 422, missing)
        return body["files"]


class Inputs(unittest.TestCase):
    def test_search(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for name, data in {"run/t.top": b"top", "more/ff/a.itp": "\xb5".encode("latin-1"), "secret": b"x"}.items():
                os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
                with open(name, "wb") as f:
                    f.write(data)
            with mock.patch.dict(os.environ, {"GMXLIB": "gmxlib:"}):
                folders = inputs.folders_of("run/spec.yaml", ["more"])
            self.assertEqual(folders, ["run", "more", "gmxlib", inputs.GROMACS_FOLDER])
            service = Asked(("t.top",), ("b.itp", "ff/a.itp"))
            body = {"spec": "topology: t.top\n# ff/a.itp none g ../out\n", "files": {}}
            self.assertEqual(inputs.post(service, "/", body, folders), {"t.top": "top", "ff/a.itp": "\xb5"})
            self.assertEqual(service.asked, 2)
            for names, message in ((("../out",), "spec.yaml:1: no ../out; looked in run, more, gmxlib, "), (("none",), "no none; looked in run")):
                with self.assertRaisesRegex(errors.MissingFile, message):
                    inputs.post(Asked(names), "/", body, folders)
            for name in ("../secret", "secret", os.path.join(folder, "secret")):
                with self.assertRaisesRegex(errors.Forbidden, f"asks for the file {name}, which neither"):
                    inputs.post(Asked((name,)), "/", body, folders)
            with self.assertRaisesRegex(errors.Problem, "^g: no such file; looked in run"):
                inputs.post(Asked(("t.top",), ("g",)), "/", body, folders)
            self.assertRaisesRegex(errors.ShoalError, "none.yaml: No such file", inputs.read_spec, "none.yaml")
            self.assertRaisesRegex(errors.ShoalError, "a.itp: not UTF-8", inputs.read_spec, "more/ff/a.itp")


DHDL = r"""# a comment
@ subtitle "T = 300 (K) \xl\f{} state 1: vdw-lambda = 0.5000"
@ legend on
@ s0 legend "dH/d\xl\f{} vdw-lambda = 0.5000"
@ s1 legend "\xD\f{}H \xl\f{} to 0.0000"
@ s2 legend "\xD\f{}H \xl\f{} to 0.5000"
@ s3 legend "pV (kJ/mol)"
0.0000 3.5 -1 0 0.75
0.2000 4.5 -2 0 0.76
"""


class DhdlFiles(unittest.TestCase):
    def test_rows(self):
        dhdl = frames.read_dhdl(DHDL, "d")
        self.assertEqual((dhdl.temperature, dhdl.lambdas, dhdl.state, dhdl.rows[1]), (300.0, ("vdw-lambda",), (0.5,), (0.2, 4.5, -2.0, 0.0, 0.76)))
        self.assertEqual((dhdl.columns(frames.GRADIENT), dhdl.columns(frames.DELTA), dhdl.columns("pV")), ([1], [2, 3], [4]))

    def test_errors(self):
        for old, new, message in (("0.76", "", "d:9: expected 5 columns, read 4"), ("4.5", "4.5.6", "d:9: expected numbers, read '0.2000 4.5.6"),
                                  (r"\xl\f{} state 1: vdw-lambda = 0.5000", "", 'd: expected a subtitle with temperature and lambda state, read "T = 300')):
            with self.assertRaises(errors.Malformed) as caught:
                frames.read_dhdl(DHDL.replace(old, new, 1), "d")
            self.assertIn(message, str(caught.exception))

    def test_without_pandas(self):
        with mock.patch.dict(sys.modules, {"pandas": None}), self.assertRaisesRegex(ImportError, "install python3-pandas"):
            frames.dhdl_frame(frames.read_dhdl(DHDL, "d"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
