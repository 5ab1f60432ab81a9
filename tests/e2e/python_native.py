#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package as its users' other packages are: values as texts, tables as DataFrames, specs from mappings, errors as classes,
asyncio; and what the program `shoal` does for it. Against a real service.

Runs itself with SHOAL_TEST_PYTHON where that is set (a virtual environment with pandas).

Usage: python_native.py SHOAL SHOALD SHOAL_WORKER SOURCE_ROOT
"""
import asyncio
import json
import os
import subprocess
import sys
import time
import unittest

from served import SHOAL, Served
from tiny import tiny

if os.environ.get("SHOAL_TEST_PYTHON") and "SHOAL_TEST_INSIDE" not in os.environ:
    os.execve(os.environ["SHOAL_TEST_PYTHON"], [os.environ["SHOAL_TEST_PYTHON"], *sys.argv], dict(os.environ, SHOAL_TEST_INSIDE="1"))

ROOT = os.path.abspath(sys.argv[4])
sys.path.insert(0, os.path.join(ROOT, "client/python"))
import shoal
from shoal import inputs
from shoal.show import html_table, with_error

try:
    import pandas
except ImportError:
    pandas = None


class Native(Served):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shoal = shoal.Service(cls.environment["SHOAL_SOCKET"], program=SHOAL)
        spec, files = tiny("done", seed=31, steps=2000, windows=(0, 0.05, 0.1), side=4)
        spec += "observables: [{rdf: {between: [OW, OW], max: 0.5 nm, every: 200 steps}}]\n"
        for name, text in {**files, "done.yaml": spec}.items():
            with open(cls.path(name), "w", encoding="utf-8") as f:
                f.write(text)
        cls.done = cls.shoal.wait(cls.shoal.submit(cls.path("done.yaml"), key="done"), 100)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def long(self, name):
        spec, files = tiny(name, seed=4, steps=100000000, windows=(0, 0.05), side=4)
        return self.shoal.submit_text(spec, files, key=name)

    # ---- texts

    def test_numbers(self):
        """As the program rounds them."""
        for value, error, text in ((3.57101, 0.1902, "3.57 +- 0.19"), (-12.3, 1.234, "-12.3 +- 1.2"), (1234, 99.6, "1234 +- 100"), (1, 0.0996, "1.00 +- 0.10"),
                                   (0.00123, 0.00004567, "0.001230 +- 0.000046"), (2.5, None, "2.500"), (2.5, 0, "2.500"), (2.5, 1e-12, "2.500"),
                                   (None, 1, "-"), (float("nan"), 1, "-"), (1, float("inf"), "1.000"), (5, 1e-9, "5.000000000 +- 0.000000001")):
            self.assertEqual(with_error(value, error), text)
        results = self.shoal.results("done")
        printed = subprocess.run([SHOAL, "results", "done"], env=self.environment, capture_output=True, text=True, check=False).stdout
        mbar = results.estimators[0]
        line = next(line for line in printed.splitlines() if line.startswith("MBAR"))
        self.assertEqual(line.split("  ")[-1].strip(), str(mbar.verdict))
        self.assertIn(f"  {mbar.total.kcal_mol}  ", line)
        self.assertIn(f"  {mbar.total.kj_mol}  ", line)

    def test_texts(self):
        results = self.shoal.results("done")
        self.assertEqual(str(results), f"{results.estimators[0].total.kcal_mol} kcal/mol, {results.verdict.verdict}")
        self.assertEqual(repr(results), f"<Results of done: {results}>")
        self.assertEqual(str(results.estimators[0].total), f"{results.estimators[0].total.kcal_mol} kcal/mol")
        self.assertEqual(str(results.temperature), "298.15 K")
        self.assertEqual((str(self.done), repr(self.done)), (f"done ({self.done.id}): done, 100%", f"<Ensemble done ({self.done.id}): done, 100%>"))
        for shown in (results._repr_html_(), self.done._repr_html_()):
            self.assertTrue(shown.startswith("<p><b>") and shown.endswith("</table>") and len(shown) < 5000, shown)
        self.assertIn(str(results.estimators[0].total.kj_mol), results._repr_html_())
        self.assertEqual(html_table("<a>", ("&",), [("<b>",)]),
                         "<p><b>&lt;a&gt;</b></p><table><thead><tr><th>&amp;</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>")
        events = [str(event) for event in self.shoal.events("done")]
        self.assertTrue(any(event.endswith("Z ensemble: done") for event in events), events)
        self.assertTrue(any("Z replica window 1: running" in event for event in events), events)
        self.assertRegex(shoal.__version__, r"^\d+\.\d+\.\d+$")

    # ---- DataFrames

    @unittest.skipUnless(pandas, "no pandas")
    def test_frames(self):
        results = self.shoal.results("done")
        windows = results.windows.to_frame()
        self.assertEqual(list(windows["lambda.vdw"]), [0, 0.05, 0.1])
        self.assertEqual(list(windows["samples.used"]), [window.samples.used for window in results.windows])
        self.assertEqual(windows["dhdl.vdw.error"][1], results.windows[1].dhdl["vdw"].error)
        estimators = results.estimators.to_frame()
        self.assertEqual((estimators["total.kcal_mol"][0], estimators["total.kcal_mol.error"][0]),
                         (results.estimators[0].total.kcal_mol.value, results.estimators[0].total.kcal_mol.error))
        observables = results.observables.to_frame()
        self.assertEqual((list(observables["name"]), observables["highest.g"][2]), (["rdf"] * 3, results.observables[2].highest.g))
        curve = self.shoal.table("done", results.observables[0].file)
        self.assertEqual(curve.index.name, "r (nm)")
        self.assertAlmostEqual(curve.iloc[:, 0].max(), results.observables[0].highest.g, 3)
        energies = self.shoal.energies("done", 1)
        self.assertEqual((energies.index.name, energies.index[-1]), ("Time (ps)", 4.0))
        self.assertAlmostEqual(energies.loc[0:, "Volume"].mean(), results.windows[1].averages["Volume"].value, 2)
        self.assertRaisesRegex(shoal.NotFound, "no energy.xvg of window 7", self.shoal.energies, "done", 7)
        self.assertEqual(len(self.shoal.ensemble("done").replicas.to_frame()), 3)
        listed = shoal.Rows(self.shoal.ensembles(key="done")).to_frame()
        self.assertEqual(listed[["id", "name", "state", "windows"]].values.tolist(), [[self.done.id, "done", "done", 3]])
        self.assertEqual(list(observables["verdict.verdict"]), [one.verdict.verdict for one in results.observables])
        self.assertEqual(len(shoal.Rows(()).to_frame()), 0)

    # ---- specs and errors

    def test_mapping(self):
        spec, files = tiny("mapped", seed=3, steps=100, windows=(0, 0.05), side=4)
        mapping = {"name": "mapped", "system": {"topology": "tiny.top", "coordinates": "tiny.gro"},
                   "nonbonded": {"cutoff": "0.6 nm", "coulomb": {"grid-spacing": "0.15 nm", "tolerance": 1e-05}},
                   "alchemy": {"decouple": "MET", "windows": {"vdw": [0, 0.05]}},
                   "integrator": {"timestep": "2 fs", "temperature": "298.15 K", "friction": "1 /ps", "seed": 3, "com-removal": False},
                   "protocol": [{"produce": {"time": "100 steps", "ensemble": "nvt", "sample-every": "2 steps"}}]}
        del mapping["integrator"]["com-removal"]
        summary = self.shoal.validate(mapping, folder=self.folder)
        self.assertEqual((summary.name, summary.windows, summary.steps_per_window), ("mapped", 2, 100))
        self.assertEqual(self.shoal.wait(self.shoal.submit(mapping, key="mapped", folder=self.folder), 100).state, "done")
        self.assertRaises(shoal.MissingFile, self.shoal.submit, mapping, folder="/nowhere")
        wrong = {**mapping, "nonbonded": {"cutoff": 0.6}}
        self.assertRaisesRegex(shoal.BadSpec, r"^spec.yaml:\d+: nonbonded.cutoff: 0.6: no unit", self.shoal.validate, wrong, folder=self.folder)
        self.assertRaises(ValueError, self.shoal.validate, {**mapping, "name": float("nan")})
        self.assertIn("mapped", spec + str(files.keys()))

    def test_errors(self):
        self.assertRaises(shoal.NotFound, self.shoal.ensemble, "none such")
        self.assertRaises(shoal.NotFound, self.shoal.read, "done", "none")
        self.assertRaises(shoal.MissingFile, self.shoal.submit, self.path("none.yaml"))
        with open(self.path("bad.yaml"), "wb") as f:
            f.write(b"\xff")
        self.assertRaises(shoal.BadSpec, self.shoal.submit, self.path("bad.yaml"))
        long = self.long("errors")
        self.assertRaises(shoal.Conflict, self.shoal.remove, long)
        self.assertRaises(shoal.Conflict, self.shoal.submit, self.path("done.yaml"), key="errors")
        self.shoal.cancel(long)
        for kind in (shoal.NotFound, shoal.Conflict, shoal.MissingFile, shoal.BadSpec, shoal.Busy, shoal.Forbidden):
            self.assertTrue(issubclass(kind, shoal.Problem))

    def test_reach(self):
        """Only files that something names are sent: the same as tests/unit/test_reach.c."""
        spec = "name: id_rsa2\nsystem: {topology: ../top/a b.top, coordinates: \"/data/x.gro\", reference: './r/../r.gro'}\n# see passwd\n"
        top = '; #include "commented.itp"\n#include "../ff/one.itp"\n\t#include <two.itp>\nC 1 three.itp 4\n'
        for name in ("../top/a b.top", "/data/x.gro", "r.gro", "passwd"):
            self.assertTrue(inputs.reaches("", spec, name), name)
        for name in ("id_rsa", "a b.top", "x.gro", "/etc/passwd", "../r.gro", "top/a", ".ssh/id_rsa2", "b.top/x"):
            self.assertFalse(inputs.reaches("", spec, name), name)
        for name in ("../ff/one.itp", "two.itp", "../top/two.itp"):
            self.assertTrue(inputs.reaches("../top/a b.top", top, name), name)
        for name in ("one.itp", "../commented.itp", "commented.itp", "three.itp", "../top/three.itp"):
            self.assertFalse(inputs.reaches("../top/a b.top", top, name), name)
        for name, kept in (("a/b", "a/b"), ("../a", "@up1/a"), ("../../a/b", "@up2/a/b"), ("/a", "@root/a")):
            self.assertTrue(inputs.is_normal(name))
            self.assertEqual(inputs.kept_name(name), kept)
        for name in ("", ".", "..", "/", "a/", "./a", "a/../b", "a//b", "//a", "../.."):
            self.assertFalse(inputs.is_normal(name), name)

        class Greedy:
            def ask(self, method, path, body=None):
                raise shoal.MissingFile("MISSING_FILE", "missing", 422, [["secret"]])

        self.assertRaisesRegex(shoal.Forbidden, "asks for the file secret, which neither the spec", inputs.post, Greedy(), "/v1/ensembles",
                               {"spec": "name: x\n", "files": {}}, [self.folder])

    # ---- following

    def test_context(self):
        with shoal.Service(self.shoal.socket) as service:
            self.assertEqual(service.version().api, self.shoal.version().api)

    def test_async(self):
        """Several are waited for at once; events come as they happen; what is cancelled ends at once."""
        async def follow(which):
            return [event async for event in self.shoal.watch_async(which, timeout=100)]

        async def several():
            ensembles = [self.long(f"async-{k}") for k in range(2)]
            tasks = [asyncio.create_task(follow(one)) for one in ensembles]
            first = self.shoal.watch_async(ensembles[0])
            event = await anext(first)
            await first.aclose()
            self.assertTrue(event.kind)
            with self.assertRaises(shoal.OutOfTime):
                await self.shoal.wait_async(ensembles[0], timeout=0.5)
            cut = asyncio.create_task(self.shoal.wait_async(ensembles[0]))
            await asyncio.sleep(0.5)
            begun = time.monotonic()
            cut.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await cut
            self.assertLess(time.monotonic() - begun, 20)
            for one in ensembles:
                await asyncio.to_thread(self.shoal.cancel, one)
            seen = await asyncio.gather(*tasks)
            self.assertEqual([[event.state for event in events if event.kind == "ensemble"][-1] for events in seen], ["cancelled"] * 2)
            ended = await asyncio.gather(*(self.shoal.wait_async(one) for one in (*ensembles, "done")))
            self.assertEqual([one.state for one in ended], ["cancelled", "cancelled", "done"])
            for events in seen:
                stored = [event.seq for event in events if event.seq is not None]
                self.assertEqual(stored, sorted(set(stored)))

        asyncio.run(several())

    # ---- what the program does

    def test_files(self):
        folder = self.path("fetched")
        paths = self.shoal.fetch_all("done", folder)
        self.assertEqual(sorted(paths), sorted(os.path.join(folder, f.path) for f in self.shoal.files("done") if "checkpoint" not in f.path))
        self.assertTrue(all(os.path.getsize(path) == next(f.bytes for f in self.shoal.files("done") if path.endswith("/" + f.path)) for path in paths))
        estimated = shoal.estimate(*(os.path.join(folder, f"lambda_{k:02d}/dhdl.xvg") for k in range(3)), program=SHOAL)
        self.assertAlmostEqual(estimated.estimate.magnitude, self.shoal.results("done").estimate.magnitude, 6)
        seen = shoal.observe(self.path("done.yaml"), os.path.join(folder, "lambda_00/traj.xtc"), output=folder, end="2 ps", program=SHOAL)
        self.assertEqual(seen["observables"][0]["name"], "rdf")
        self.assertTrue(os.path.exists(os.path.join(folder, "rdf.xvg")))

    def test_pages(self):
        page = self.path("done.html")
        self.shoal.report("done", page)
        with open(page, encoding="utf-8") as f:
            self.assertIn("<svg", f.read())
        self.assertRaises(shoal.Problem, self.shoal.report, "none such", self.path("none.html"))
        ladder = self.shoal.ladder("done", windows=5)
        self.assertEqual((len(ladder.windows["vdw"]), ladder.windows["vdw"][0], ladder.windows["vdw"][-1]), (5, 0, 0.1))
        self.assertGreater(ladder.length, 0)
        self.assertRaisesRegex(shoal.Problem, "--windows wants", self.shoal.ladder, "done", windows=1)

    def test_import(self):
        mdp = self.path("run.mdp")
        with open(mdp, "w", encoding="utf-8") as f:
            f.write("integrator = sd\ndt = 0.002\nnsteps = 100\ncoulombtype = PME\nref_t = 298.15\ntau_t = 2\n")
        names = {"topology": self.path("tiny.top"), "coordinates": self.path("tiny.gro"), "program": SHOAL}
        made = shoal.import_mdp(mdp, **names)
        self.assertIn("langevin-middle", made.spec)
        self.assertEqual([(one.name, one.fate) for one in made.options if one.fate == "changed"], [("integrator", "changed")])
        with open(mdp, "a", encoding="utf-8") as f:
            f.write("rvwd = 1\n")
        self.assertRaisesRegex(shoal.BadSpec, "run.mdp:7: rvwd = 1: unknown", shoal.import_mdp, mdp, **names)
        self.assertRaises(shoal.MissingFile, shoal.import_mdp, self.path("none.mdp"), **names)

    def test_by_need(self):
        """Two get as much in all as both would; the less certain one all but the other's floor."""
        ensembles = []
        for name, step in (("rough", 0.05), ("fine", 0.0005)):  # a hundredth of the energy differences, and so of the error
            spec, files = tiny(name, seed=5, steps=1000, windows=(0, step), side=4)
            ensembles.append(self.shoal.submit_text(spec, files, key=name))
        for one in ensembles:
            self.shoal.wait(one, 100)
        before = [self.shoal.ensemble(one).replicas[0].steps for one in ensembles]
        moved = self.shoal.extend_by_need(["rough", "fine"], "4 ps")
        self.assertEqual({one.name for one in moved}, {"rough", "fine"})
        more = [self.shoal.ensemble(one).replicas[0].steps - steps for one, steps in zip(ensembles, before)]
        self.assertTrue(3900 <= sum(more) <= 4000 and more[0] >= 5 * more[1] >= 2500, more)  # the fine one its floor
        self.assertRaisesRegex(shoal.Problem, "TIME|time", self.shoal.extend_by_need, ["rough"], "much")

    def test_campaign(self):
        with open(self.path("molecules.csv"), "w", encoding="utf-8") as f:
            f.write("name,experiment (kcal/mol)\na,1.0\n")
        with open(self.path("campaign.yaml"), "w", encoding="utf-8") as f:
            f.write("name: native\nsystems: {table: molecules.csv}\nlegs: [{name: solvent, spec: done.yaml, sign: -1}]\n"
                    "spec: {alchemy: {windows: {vdw: [0, 0.05]}}}\n")
        campaign = shoal.Campaign(self.path("campaign.yaml"), self.shoal, program=SHOAL)
        self.assertEqual([one.state for one in campaign.status().ensembles], ["missing"])
        campaign.submit()
        self.assertEqual([one.state for one in campaign.wait(100).ensembles], ["done"])
        gathered = campaign.gather()
        self.assertEqual(repr(gathered), "<Gathered native: 1 of 1 systems have a free energy, 0 edges>")
        self.assertIn(str(gathered.systems[0].free_energy), gathered._repr_html_())
        if pandas:
            frame = gathered.systems.to_frame()
            self.assertEqual((list(frame["system"]), frame["free_energy.kcal_mol"][0]), (["a"], gathered.systems[0].free_energy.kcal_mol.value))
        self.assertEqual([one.revision for one in campaign.extend(time="2 ps", by_need=True).ensembles], [2])
        campaign.pause()
        campaign.resume()
        campaign.cancel()
        part = shoal.Campaign(self.path("campaign.yaml"), self.shoal, program=SHOAL, only=["a"], legs=["solvent"])
        self.assertEqual([one.key for one in part.status().ensembles], ["native.a.solvent.1"])
        self.assertRaisesRegex(shoal.Problem, "--leg gas", shoal.Campaign(part.file, self.shoal, program=SHOAL, legs=["gas"]).status)
        with open(self.path("campaign.yaml"), "a", encoding="utf-8") as f:
            f.write("repeats: 2\nname2: 1\n")
        self.assertRaises(shoal.BadSpec, campaign.submit)
        with open(self.path("campaign.yaml"), encoding="utf-8") as f:
            text = f.read().replace("name2: 1\n", "").replace("[0, 0.05]", "[0, 0.06]")
        with open(self.path("campaign.yaml"), "w", encoding="utf-8") as f:
            f.write(text)
        self.assertRaisesRegex(shoal.Conflict, "has other content", campaign.submit)
        self.assertEqual([one.key for one in campaign.submit(replace=True).submitted], ["native.a.solvent.1"])
        campaign.cancel()
        deadline = time.monotonic() + 60
        while campaign.status().ensembles[0].ensemble:
            try:
                campaign.remove()
            except shoal.Conflict:  # its replicas stop soon after
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
