#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts and the notebook of examples/python against a real service, with very little time for each window; what they print is what there is.
Runs itself with SHOAL_TEST_PYTHON where that is set (a virtual environment with alchemlyb).

Usage: python_examples.py SHOAL SHOALD SHOAL_WORKER SOURCE_ROOT
"""
import ast
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from served import SHOAL, Served
from tiny import tiny

if os.environ.get("SHOAL_TEST_PYTHON") and "SHOAL_TEST_INSIDE" not in os.environ:
    os.execve(os.environ["SHOAL_TEST_PYTHON"], [os.environ["SHOAL_TEST_PYTHON"], *sys.argv], dict(os.environ, SHOAL_TEST_INSIDE="1"))

ROOT = os.path.abspath(sys.argv[4])
SHORT = """  protocol: [{minimize: {steps: 2}}, {produce: {time: 20 steps, ensemble: nvt, sample-every: 2 steps}}]
  alchemy: {windows: {coulomb: [0, 0.1], vdw: [0, 0]}}
"""


def run_cells(cells, parameters):
    """What each cell of code prints and then shows, as a notebook does; the cell with the tag takes the parameters."""
    names, shown = {}, {}
    for cell in cells:
        body = ast.parse("".join(cell["source"])).body
        last = ast.Expression(body.pop().value) if isinstance(body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(ast.Module(body, []), cell["id"], "exec"), names)
            value = eval(compile(last, cell["id"], "eval"), names) if last else None
        shown[cell["id"]] = out.getvalue() + (value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
        if "parameters" in cell["metadata"].get("tags", ()):
            names.update(parameters)
    return shown


class Examples(Served):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.environment.update(PYTHONPATH=os.path.join(ROOT, "client/python"), PATH=f"{os.path.dirname(SHOAL)}:{os.environ['PATH']}",
                               PYTHONDONTWRITEBYTECODE="1")

    def script(self, name, *words):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "examples/python", name), *words], env=self.environment,
                              capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 0, f"{name}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def results(self, which):
        done = subprocess.run([SHOAL, "results", which, "--json"], env=self.environment, capture_output=True, check=False)
        return json.loads(done.stdout)

    def test_hydration_and_convergence(self):
        short = ["--minimization", "20", "--equilibration", "0.02 ps", "--production", "0.2 ps", "--sample-every", "0.008 ps"]
        said = self.script("hydration.py", *short)
        self.assertRegex(said, "done")
        results = self.results("methane-from-python")
        for estimator in results["estimators"]:
            total = estimator["total"]
            wanted = f"{total['kcal/mol']['value']:7.2f}" if total else "none"
            self.assertRegex(said, f"(?m)^{re.escape(estimator['name'])} +{re.escape(wanted.strip())}.* kcal/mol, {estimator['verdict']['verdict']}")
        solvation = results["solvation"]["free_energy"]["kcal/mol"]
        self.assertIn(f"hydration {solvation['value']:7.2f} +- {solvation['error']:.2f} kcal/mol", said)
        self.assertIn(results["verdict"]["reasons"][0]["text"], said)
        self.assertEqual(self.script("hydration.py", *short).split()[2], said.split()[2])  # the same ensemble
        self.check_convergence(results, self.script("convergence.py", "methane-from-python"))

    def check_convergence(self, results, said):
        ours, *theirs = said.split("by alchemlyb")
        last = results["convergence"][-1]
        self.assertIn(f"100%  {last['forward']['kcal/mol']['value']:9.3f}", ours)
        rows = re.findall(r"(?m)^ *(\d+)% +(\S+) +(\S+)$", theirs[0])
        try:
            import alchemlyb  # noqa: F401
        except ImportError:
            self.assertIn("No module named 'alchemlyb'", theirs[0])
            return
        self.assertEqual([share for share, _, _ in rows], [str(10 * k) for k in range(1, 11)])
        # All rows; ours leaves out those that drift.
        self.assertLess(abs(float(rows[-1][2]) - results["estimate"]["magnitude"]), 5 * results["uncertainty"]["magnitude"])

    def test_convergence_so_far(self):
        """Of an ensemble of which not all windows have samples there is nothing to show, and no traceback."""
        spec, files = tiny("so-far", seed=4, steps=100000000, windows=(0, 0.05), side=4)
        for name, text in {**files, "so-far.yaml": spec}.items():
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        for words in (("submit", os.path.join(self.folder, "so-far.yaml")), ("pause", "so-far")):
            subprocess.run([SHOAL, *words], env=self.environment, check=True, capture_output=True)
        said = self.script("convergence.py", "so-far")
        self.assertIn("so-far, by the service: ", said)
        self.assertRegex(said, "not by alchemlyb: windows .* have no samples yet|\nby alchemlyb\n")

    def test_campaign_table(self):
        folder = os.path.join(self.folder, "examples")
        shutil.copytree(os.path.join(ROOT, "examples"), folder)
        path = os.path.join(folder, "campaign/campaign.yaml")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        # One repeat of two windows, and of the ways between molecules the cheap leg alone: they close a loop all the same.
        water = text.index("  - name: water"), text.index("  - name: vacuum")
        text = text[:water[0]] + text[water[1]:].replace("repeats: 3", "repeats: 1").replace(
            "spec: vacuum.yaml", "spec: vacuum.yaml\n    override: {alchemy: {windows: {bonded: [0, 0.1]}}}")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text + SHORT)
        said = self.script("campaign_table.py", path, "--timeout", "300")
        self.assertIn("alcohols: 6 ensembles, ", said)
        self.assertIn("6 submitted, 0 were there", said)
        self.assertRegex(said, r"(?m)^methane +\S.*  +2\.00 .*hydration \d of 1$")
        self.assertRegex(said, r"(?m)^methane to methanol +\S.*  +-7\.10 .*vacuum 1 of 1$")
        self.assertRegex(said, r"(?m)^\w+ - \w+ - \w+: does not close by -?\d")
        self.assertIn("0 submitted, 6 were there", self.script("campaign_table.py", path))

    def test_notebook(self):
        """Every cell runs from the notebook's folder, and shows the numbers that there are."""
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas")
        folder = os.path.join(ROOT, "examples/python")
        with open(os.path.join(folder, "hydration.ipynb"), encoding="utf-8") as f:
            notebook = json.load(f)
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        self.assertEqual((notebook["nbformat"], {cell["execution_count"] for cell in code}, [cell["outputs"] for cell in code if cell["outputs"]]),
                         (4, {None}, []), "a notebook of the tree has no outputs")
        self.assertEqual(len({cell["id"] for cell in notebook["cells"]}), len(notebook["cells"]))
        sys.path.insert(0, os.path.join(ROOT, "client/python"))
        os.environ["SHOAL_SOCKET"] = self.environment["SHOAL_SOCKET"]
        with contextlib.chdir(folder):
            shown = run_cells(code, {"production": "0.2 ps", "equilibration": "0.02 ps", "sample_every": "0.008 ps", "minimization": 20})
        results = self.results("notebook-0.2-ps")
        answer = f"{results['solvation']['free_energy']['kcal/mol']['value']:.2f}"[:4]
        self.assertIn("1013 atoms, 8 windows of ", shown["write"])
        self.assertIn("methane-notebook", shown["submit"])
        self.assertIn(" ensemble: done", shown["watch"])
        self.assertRegex(shown["results"], rf"MBAR.*{re.escape(results['verdict']['verdict'])}")
        self.assertTrue(shown["hydration"].startswith(answer), (answer, shown["hydration"]))
        self.assertIn(results["verdict"]["reasons"][0]["text"], shown["hydration"])
        for table, rows in (("windows", 8), ("convergence", 10), ("energies", 8)):
            self.assertEqual(shown[table].count("<tr"), 1 + rows, shown[table])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
