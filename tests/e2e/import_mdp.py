#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shoal import: the specs that it writes and that shoal validate accepts them, what it says of each option, and that it knows them
all: those that grompp lists with their defaults, where there is a gmx, and those of releases before and after it.

Usage: import_mdp.py SHOAL EXAMPLES
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SHOAL, EXAMPLES = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
BASE = """integrator = sd
dt = 0.002
nsteps = 50000
coulombtype = PME
rcoulomb = 1.0
rvdw = 1.0
constraints = h-bonds
ref_t = 298.15
tau_t = 2.0
"""
FEP = """free_energy = yes
couple-moltype = MOH
couple-lambda1 = none
sc-alpha = 0.5
coul-lambdas = 0 0.5 1 1 1
vdw_lambdas = 0 0 0 0.5 1
nstdhdl = 50
"""
# Not in the list of GROMACS 2022: of 2023 to 2026, and of before.
OTHERS = """ensemble-temperature-setting ensemble-temperature verlet-buffer-pressure-tolerance mass-repartition-factor deform-init-flow
awh-potential awh-nstout awh-nbias awh1-target awh1-dim1-coord-index awh1-growth-factor awh1-target-metric-scaling awh1-target-metric-scaling-limit colvars-active colvars-configfile colvars-seed
init-lambda-counts init-wl-histogram-counts nnpot-active nnpot-modelfile nnpot-input-group nnpot-model-input1 nnpot-embedding
nnpot-link-type nnpot-link-distance fmm-backend exafmm-order fmsolvr-order
title cpp ns_type xtc_grps nstcalclr rlistlong optimize_fft unconstrained_start E_x E_xt QMMMscheme dihre gb_algorithm""".split()
# What makes grompp list the options of its modules too.
SWITCHES = ("", "pull = yes", "rotation = yes", "swapcoords = Z", "free-energy = expanded", "mts = yes",
            "qmmm-cp2k-active = yes")


class Import(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="shoal-import-")
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("topol.top", "conf.gro"):
            shutil.copy(f"{EXAMPLES}/methanol/methanol.{name[-3:]}", os.path.join(self.folder, name))

    def shoal(self, *words):
        return subprocess.run([SHOAL, *words], cwd=self.folder, capture_output=True, text=True, check=False)

    def write(self, text, name="run.mdp"):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            f.write(text)

    def spec(self, text, *words, check="validate"):
        """(the spec without its comments, what was said), both as lists of lines; the spec passes shoal validate, or another command that
        takes less time."""
        self.write(text)
        path = os.path.join(self.folder, "spec.yaml")
        if os.path.exists(path):
            os.remove(path)
        done = self.shoal("import", "run.mdp", "-o", "spec.yaml", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")
        with open(os.path.join(self.folder, "spec.yaml"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        valid = self.shoal(check, "spec.yaml", "--json")
        self.assertEqual(valid.returncode, 0, valid.stderr)
        *said, last = [line.removeprefix("shoal: run.mdp:") for line in done.stderr.splitlines()]
        self.assertEqual(last, "shoal: spec.yaml is written; `shoal validate spec.yaml` checks it")
        self.assertEqual([line.removeprefix("#   run.mdp:") for line in lines if line.startswith("#   ")], said)
        return [line for line in lines if line[0] != "#"], said

    def evaluated(self, text, *words):
        return self.spec(text, *words, check="energy")

    def refused(self, text):
        self.write(text)
        done = self.shoal("import", "run.mdp", "-o", "refused.yaml")
        self.assertEqual(done.returncode, 65, done.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "refused.yaml")))
        return [line.removeprefix("shoal import: run.mdp") for line in done.stderr.splitlines()]

    def test_whole(self):
        """There is no nonbonded.split in it, as in specs of shoal init: energies are to be those of the .mdp."""
        spec, said = self.spec(BASE + FEP + "Pcoupl = Parrinello-Rahman\nref-p = 1.01325\nDispCorr = AllEnerPres ; all\n"
                               "vdw-type = Switch\nrvdw_switch = 0.9\nnstxout-compressed = 5000\nld-seed = 7\nnstlist = 20\n"
                               "define = -DPOSRES -DKPOS=10\nmass-repartition-factor = 3\nannealing = no no\n")
        self.assertEqual(spec, [
            "name: run", "system:", "  topology: topol.top", "  coordinates: conf.gro", '  defines: [POSRES, "KPOS=10"]',
            "nonbonded:", "  vdw:", "    cutoff: 1 nm", "    modifier: potential-switch", "    switch-start: 0.9 nm",
            "    dispersion-correction: all", "  coulomb:", "    cutoff: 1 nm", "    modifier: potential-shift",
            "    grid-spacing: 0.12 nm", "    order: 4", "    tolerance: 1e-05", "alchemy:", "  decouple: MOH",
            "  intramolecular: keep", "  soft-core: {alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: no}", "  windows:",
            "    coulomb: [0, 0.5, 1, 1, 1]", "    vdw: [0, 0, 0, 0.5, 1]", "constraints: h-bonds", "masses: {repartition: 3}",
            "integrator: {method: langevin-middle, timestep: 0.002 ps, temperature: 298.15 K, friction: 0.5 /ps, seed: 7, "
            "com-removal: 100 steps}", "barostat: {method: monte-carlo, pressure: 1.01325 bar, coupling: isotropic}", "protocol:",
            "  - produce: {time: 50000 steps, ensemble: npt, sample-every: 50 steps, frames-every: 5000 steps}"])
        self.assertEqual(said, ["1: integrator = sd: changed: langevin-middle: the same equation, other steps",
                                "17: Pcoupl = Parrinello-Rahman: changed: Monte Carlo moves of the volume: the same ensemble",
                                "24: nstlist = 20: dropped: lists are made anew when an atom has moved too far",
                                " comm-mode, not given: changed: None where position restraints hold atoms in space"])

    def test_other_thermostats(self):
        spec, said = self.spec(BASE.replace("= sd", "= md") + "tcoupl = V-rescale\ntc-grps = MOH SOL\n" + FEP)
        self.assertIn("integrator: {method: langevin-middle, timestep: 0.002 ps, temperature: 298.15 K, friction: 1 /ps, seed: random, "
                      "com-removal: 100 steps}", spec)
        self.assertEqual([line.split(":")[0] for line in said], ["1", "9", "10", "11"])
        spec, _ = self.spec(BASE.replace("= sd", "= md") + "gen-vel = yes\ngen-temp = 310\nnstcomm = 0\n")
        self.assertIn("integrator: {method: velocity-verlet, timestep: 0.002 ps, temperature: 310 K, seed: random, com-removal: no}", spec)

    def test_weak_coupling(self):
        """Berendsen's couplings, by their older names too, sample no ensemble: ours is not theirs."""
        for thermostat, barostat in (("berendsen", "Berendsen"), ("yes", "isotropic")):
            _, said = self.spec(BASE.replace("= sd", "= md") + f"tcoupl = {thermostat}\npcoupl = {barostat}\nref-p = 1\n")
            self.assertIn(f"10: tcoupl = {thermostat}: changed: langevin-middle with a friction of 1 /ps: the canonical ensemble; "
                          "Berendsen's thermostat samples none", said)
            self.assertIn(f"11: pcoupl = {barostat}: changed: Monte Carlo moves of the volume: the isothermal-isobaric ensemble; "
                          "Berendsen's barostat samples none", said)
        _, said = self.spec(BASE.replace("= sd", "= steep") + "tcoupl = berendsen\n")
        self.assertFalse([line for line in said if "tcoupl" in line])

    def test_intervals(self):
        """Frames of one kind, and samples in any case."""
        both = BASE + "nstxout = 100\nnstxout-compressed = 500\n"
        spec, said = self.spec(both)
        self.assertIn("frames-every: 500 steps", spec[-1])
        self.assertIn("10: nstxout = 100: dropped: frames are written every nstxout-compressed steps, as .xtc", said)
        spec, said = self.spec(both.replace("= 500", "= 0"))
        self.assertIn("frames-every: 100 steps", spec[-1])
        self.assertIn("10: nstxout = 100: changed: frames are .xtc, with three decimals", said)
        for text, name in ((BASE + "nstenergy = 0\n", "nstenergy"), (BASE + FEP.replace("nstdhdl = 50", "nstdhdl = 0"), "nstdhdl")):
            spec, said = self.spec(text)
            self.assertIn("sample-every: 100 steps", spec[-1])
            self.assertIn(f" {name} = 0: changed: 100 steps: production needs samples", [line.partition(":")[2] for line in said])

    def test_mesh(self):
        """Three numbers, or a spacing."""
        text = BASE + "fourier-nx = 24\nfourier-ny = 30\n"
        spec, said = self.spec(text)
        self.assertIn("    grid-spacing: 0.12 nm", spec)
        self.assertEqual(said[-2:], [f"{line}: {name}: dropped: expected all three, nx, ny and nz: fourierspacing says the mesh"
                                     for line, name in ((10, "fourier-nx = 24"), (11, "fourier-ny = 30"))])
        spec, said = self.spec(text + "fourier_nz = 32\n")
        self.assertIn("    grid: [24, 30, 32]", spec)
        self.assertFalse([line for line in said if "fourier" in line])

    def test_pressure(self):
        """Boxes that change their shape, under one pressure."""
        for kind, ours, pressure, soft in (("semiisotropic", "semi-isotropic", "1 1", "4.5e-5 4.5e-5"),
                                           ("anisotropic", "anisotropic", "1 1 1 0 0 0", "4e-5 4e-5 4e-5 0 0 0")):
            text = BASE + f"pcoupl = C-rescale\npcoupltype = {kind}\nref-p = {pressure}\ncompressibility = "
            spec, _ = self.spec(text + soft + "\n")
            self.assertIn(f"barostat: {{method: monte-carlo, pressure: 1 bar, coupling: {ours}}}", spec)
            self.assertEqual(self.refused(text.replace("1 1", "1 2", 1) + soft + "\n"),
                             [f":12: ref-p = {pressure.replace('1 1', '1 2', 1)}: refused: expected one pressure for all directions"])
            stiff = " ".join(["0", *soft.split()[1:]])
            self.assertIn("expected a box that gives way along every axis", self.refused(text + stiff + "\n")[0])

    def test_minimization(self):
        spec, _ = self.spec(BASE.replace("= sd", "= steep") + "emtol = 50\n")
        self.assertEqual(spec[-2:], ["  - minimize: {steps: 50000, force-tolerance: 50 kJ/mol/nm}",
                                     "  - produce: {time: 1 ns, ensemble: nvt, sample-every: 1000 steps}"])

    def test_ends(self):
        """Every way in which a molecule comes and goes: ladders are as they were, also of what does not change."""
        ends = "couple-lambda0 = {}\ncouple-lambda1 = {}"
        only = {"all": ("coulomb", "vdw"), "coul": ("coulomb",), "vdw": ("vdw",)}
        together = FEP.replace("0 0 0 0.5 1", "0 0.1 0.2 0.5 1") + "sc-coul = yes\n"
        for first, last, given in (("none", "vdw-q", "all"), ("vdw", "none", "all"), ("vdw-q", "vdw", "coul"), ("none", "vdw", "vdw"),
                                   ("VDW", "vdw-q", "coul")):
            text = re.sub("coul-lambdas.*\n" if given == "vdw" else "vdw_lambdas.*\n" if given == "coul" else "$^", "", together)
            spec, _ = self.spec(BASE + text.replace("1 1 1", "0.6 0.8 1").replace("couple-lambda1 = none", ends.format(first, last)))
            self.assertIn(f"  decouple: [{{molecule: MOH, from: {first.lower()}, to: {last}, intramolecular: keep}}]", spec)
            at = spec.index("  windows:")
            ladders = {"coulomb": "    coulomb: [0, 0.5, 0.6, 0.8, 1]", "vdw": "    vdw: [0, 0.1, 0.2, 0.5, 1]"}
            self.assertEqual(spec[at + 1:spec.index("constraints: h-bonds")], [ladders[name] for name in only[given]])

    def test_reaction_field(self):
        text = BASE.replace("PME", "Reaction-Field") + "epsilon_rf = 61\npme-order = 6\n"
        spec, said = self.spec(text)
        at = spec.index("  coulomb:")
        self.assertEqual(spec[at + 1:at + 5], ["    cutoff: 1 nm", "    method: reaction-field", "    epsilon-rf: 61", "constraints: h-bonds"])
        self.assertEqual([line for line in said if "rf" in line or "pme" in line], [])
        self.assertIn("    epsilon-rf: 0", self.spec(text.replace("61", "0"))[0])
        self.assertIn(": epsilon_rf = 0.5: refused: expected 0 or at least epsilon-r, 1", self.refused(text.replace("61", "0.5"))[0])

    def test_gapsys(self):
        """The other soft core; what is of the first has no effect."""
        text = BASE + FEP + "sc-function = gapsys\nsc-gapsys-scale-linpoint-q = 0.4\nsc-gapsys-sigma-lj = 0.25\n"
        spec, said = self.spec(text)
        self.assertIn("  soft-core: {function: gapsys, scale-linpoint-lj: 0.85, scale-linpoint-coulomb: 0.4 nm, sigma: 0.25 nm}", spec)
        self.assertEqual([line for line in said if " sc-" in line], [])
        self.write(text)
        options = json.loads(self.shoal("import", "run.mdp", "--json", "--quiet").stdout)["options"]
        self.assertEqual({o["name"]: o["fate"] for o in options if o["name"].startswith("sc")},
                         {"sc-alpha": "without effect", "sc-function": "kept", "sc-gapsys-scale-linpoint-q": "kept",
                          "sc-gapsys-sigma-lj": "kept"})
        self.assertIn(": sc-function = third: refused: expected beutler or gapsys",
                      self.refused(BASE + FEP + "sc-function = third\n")[0])

    def test_one_ladder(self):
        """All follow fep-lambdas, restraints of the topology too, and grompp softens Coulomb then."""
        one = re.sub("coul-lambdas.*\nvdw_lambdas.*", "fep-lambdas = 0 0.25 0.5 0.75 1", FEP)
        spec, said = self.spec(BASE + one)
        self.assertIn("  soft-core: {alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: yes}", spec)
        at = spec.index("  windows:")
        ladder = "[0, 0.25, 0.5, 0.75, 1]"
        self.assertEqual(spec[at + 1:at + 5], [f"    {name}: {ladder}" for name in ("coulomb", "vdw", "bonded", "restraint")])
        self.assertIn(" sc-coul, not given: changed: yes, as grompp has it where fep-lambdas are the only ladder", said)

    def test_masses(self):
        """fep-lambdas bring no ladder of masses; what becomes of masses is said."""
        path = os.path.join(self.folder, "topol.top")
        with open(path, encoding="utf-8") as f:
            whole = f.read()
        first = re.search(r"\[ atoms \]\n(?:;.*\n)*( *\d+ +(\S+).*\n)", whole)
        with open(path, "w", encoding="utf-8") as f:
            f.write(whole.replace(first[1], f"{first[1].rstrip()} {first[2]} 0.5 20.0\n"))
        states = "free-energy = yes\nsc-coul = yes\n"
        spec, said = self.spec(BASE + states + "fep-lambdas = 0 1\n")
        self.assertIn("  perturb: b-states", spec)
        self.assertFalse([line for line in spec if line.startswith("    mass:")])
        self.assertEqual([line for line in said if "masses" in line],
                         ["12: fep-lambdas = 0 1: changed: masses stay those of state A in every window: free energies are without the "
                          "kinetic part of masses that change, which cancels between legs"])
        spec, said = self.spec(BASE + states + "fep-lambdas = 0 1\nmass-lambdas = 0 0.5\n")
        self.assertIn("    mass: [0, 0.5]", spec)
        self.assertEqual([line for line in said if "masses" in line],
                         ["13: mass-lambdas = 0 0.5: changed: masses change along the ladder, but free energies are without their "
                          "kinetic part, which cancels between legs"])

    def test_restraints_of_the_topology(self):
        """A bond between molecules that comes as fep-lambdas go."""
        with open(os.path.join(self.folder, "topol.top"), "a", encoding="utf-8") as f:
            f.write("[ intermolecular_interactions ]\n[ bonds ]\n1 7 6 0.35 0 0.35 4000\n")
        text = BASE + FEP.replace("coul-lambdas = 0 0.5 1 1 1", "fep-lambdas = 0 0.5 1 1 1")
        self.spec(text)
        found = [self.bond(["energy", "spec.yaml", "--window", str(k)]) for k in range(5)]
        self.assertAlmostEqual(found[1] - found[0], found[2] - found[1], delta=1e-4)
        self.assertGreater(found[1] - found[0], 1)
        self.assertEqual(found[2:], found[2:3] * 3)

    def bond(self, words):
        done = self.shoal(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return float(re.search(r"^bond +([\d.-]+) kJ/mol", done.stdout, re.M)[1])

    def test_refused(self):
        self.assertEqual(self.refused(BASE + "rotation = yes\nnsteps = 4\nrvwd = 1\nnonsense\npcoupl = Berendsen\nref-p = 1\n"
                                      "pcoupltype = surface-tension\n"),
                         [":10: rotation = yes: refused: there is no enforced rotation",
                          ":11: nsteps = 4: refused: given twice, line 3 is the first",
                          ":12: rvwd = 1: unknown: no option of GROMACS 2022 to 2026; did you mean rvdw?",
                          ":13: nonsense = : unknown: expected NAME = VALUE",
                          ":16: pcoupltype = surface-tension: refused: expected isotropic, semiisotropic or anisotropic"])
        self.assertEqual(self.refused(BASE.replace("PME", "Shift")), [":4: coulombtype = Shift: refused: expected PME, Reaction-Field or Cut-off"])
        self.assertIn("expected xyz, the only one of GROMACS' Verlet scheme", self.refused(BASE + "pbc = no\n")[0])
        self.assertEqual(self.refused(BASE + "disre = simple\ndisre-fc = 500\ndisre-tau = 10\ndisre-weighting = equal\n"),
                         [":11: disre-fc = 500: refused: expected 1000: factors on the lines of the topology can be as many times larger",
                          ":12: disre-tau = 10: refused: expected 0: restraints are of distances, not of their averages over time",
                          ":13: disre-weighting = equal: refused: expected conservative: forces that all pairs of a restraint share "
                          "equally belong to no energy"])
        self.assertIn("there is no ensemble of systems to average over", self.refused(BASE + "disre = ensemble\n")[0])
        self.assertEqual(self.refused(BASE.replace("rvdw = 1.0", "rvdw = 0")), [":6: rvdw = 0: refused: expected a cut-off above 0, in nm"])
        self.assertEqual(self.refused(BASE + FEP.replace("MOH", "System")),
                         [":11: couple-moltype = System: refused: all molecules: expected the name of one molecule type"])
        self.assertEqual(self.refused(BASE + FEP.replace("1 1 1", "1 1")),
                         [":15: vdw_lambdas = 0 0 0 0.5 1: refused: 5 values, coul-lambdas has 4"])

    def test_without_a_value(self):
        """GROMACS skips such lines: mdout.mdp of 2019 and before has many, of names that it knows no more."""
        spec, said = self.evaluated(BASE.replace("dt = ", "dt =\ndt = ") + "SH =\nCASorbitals = ; none\nbOPT\t=\npcoupl =\n"
                               "pcoupl = Berendsen\nref-p = 1\ntau-p =\nverlet-buffer-drift = 0.005\n")
        self.assertIn("barostat: {method: monte-carlo, pressure: 1 bar, coupling: isotropic}", spec)
        self.assertEqual([line.split(":")[0] for line in said], ["1", "15", "18"])
        self.assertEqual(said[-1], "18: verlet-buffer-tolerance = 0.005: dropped: lists never lack a pair")
        self.assertIn(":12: pcoupl = no: refused: given twice, line 11 is the first",
                      self.refused(BASE + "pcoupl = \npcoupl = no\npcoupl = no\n"))

    def test_byte_order_mark(self):
        self.assertEqual(self.evaluated("\ufeff" + BASE), self.evaluated(BASE))

    def test_long_values(self):
        """Neither a value nor a name is repeated by kilobytes; what was expected stands behind them."""
        many = " ".join(str(k / 1000) for k in range(1001))
        for line in self.refused(BASE + FEP.replace("0 0.5 1 1 1", many)) + self.refused(BASE + "x" * 5000 + "\n"):
            self.assertLess(len(line), 400)
        self.assertRegex(self.refused(BASE + FEP.replace("0 0.5 1 1 1", many))[0],
                         r"^:14: coul-lambdas = 0.0 0.001 [^;]* \.\.\. [^;]* 1.0: refused: more than 1000 values$")
        self.assertRegex(self.refused(BASE + "define = -D" + "x" * 5000 + " " + "y" * 5000 + "\n")[0], "expected -DNAME or -DNAME=value, read y")

    def test_plain_cutoff(self):
        """A reaction field of vacuum; the default of GROMACS, too."""
        field = ["  coulomb:", "    cutoff: 1 nm", "    method: reaction-field", "    epsilon-rf: 1", "constraints: h-bonds"]
        for text in (BASE.replace("PME", "cutoff"), BASE.replace("coulombtype = PME\n", ""), BASE.replace("PME", "Cut-off") + "epsilon-rf = 61\n"):
            spec, _ = self.evaluated(text)
            self.assertEqual(spec[spec.index("  coulomb:"):][:5], field)
        _, said = self.evaluated(BASE.replace("PME", "Cut-off") + "coulomb-modifier = None\n")
        self.assertIn("10: coulomb-modifier = None: changed: Potential-shift: the potential is zero at the cut-off, forces are the same", said)
        self.assertEqual(self.refused(BASE.replace("PME", "Cut-off") + "coulomb-modifier = Force-switch\n"),
                         [":10: coulomb-modifier = Force-switch: refused: expected None or Potential-shift"])

    def test_dielectric(self):
        """epsilon-r, by every method; grompp exchanges it with an epsilon-rf of 1."""
        spec, _ = self.evaluated(BASE + "epsilon-r = 2.5\n")
        self.assertIn("    epsilon-r: 2.5", spec)
        for more, lines in (("Cut-off\nepsilon_r = 15", ["    epsilon-r: 15", "    method: reaction-field", "    epsilon-rf: 15"]),
                            ("Reaction-Field\nepsilon-r = 2.5\nepsilon-rf = 78", ["    epsilon-r: 2.5", "    method: reaction-field", "    epsilon-rf: 78"]),
                            ("Reaction-Field\nepsilon-r = 15\nepsilon-rf = 1", ["    method: reaction-field", "    epsilon-rf: 15"]),
                            ("Reaction-Field-zero\nepsilon-rf = 4", ["    method: reaction-field", "    epsilon-rf: 0"])):
            spec, _ = self.evaluated(BASE.replace("PME", more))
            at = spec.index("    cutoff: 1 nm", spec.index("  coulomb:"))
            self.assertEqual(spec[at + 1:spec.index("constraints: h-bonds")], lines)
        self.assertIn("expected at least 1: GROMACS takes 0 for an infinite constant", self.refused(BASE + "epsilon-r = 0\n")[0])
        self.assertIn(":6: epsilon-rf = 5: refused: expected 0 or at least epsilon-r, 15",
                      self.refused(BASE.replace("PME", "Reaction-Field\nepsilon-rf = 5\nepsilon-r = 15"))[0].replace(":5:", ":6:"))

    def test_meshes(self):
        """What GROMACS computes as PME, and what is the same sum."""
        pme, _ = self.evaluated(BASE)
        spec, said = self.evaluated(BASE.replace("PME", "PME-Switch\nrcoulomb-switch = 0.9"))
        self.assertEqual(spec, pme)
        self.assertFalse([line for line in said if "coulombtype" in line])
        spec, said = self.evaluated(BASE.replace("PME", "P3M-AD"))
        self.assertEqual(spec, pme)
        self.assertIn("4: coulombtype = P3M-AD: changed: PME: the same sum over images, by another mesh", said)

    def test_restraint_stage(self):
        """The molecule stays, or stays away, while what holds it comes and goes."""
        with open(os.path.join(self.folder, "topol.top"), "a", encoding="utf-8") as f:
            f.write("[ intermolecular_interactions ]\n[ bonds ]\n1 7 6 0.35 0 0.35 4000\n")
        for ends, inner, lines in (("vdw-q vdw-q", "yes", ["  perturb: b-states"]),
                                   ("vdw-q vdw-q", "no", ["  decouple: [{molecule: MOH, from: vdw-q, to: vdw-q, intramolecular: keep}]"]),
                                   ("none none", "yes", ["  decouple: [{molecule: MOH, from: none, to: none, intramolecular: decouple}]"])):
            text = BASE + ("free-energy = yes\ncouple-moltype = MOH\ncouple-lambda0 = {}\ncouple-lambda1 = {}\ncouple-intramol = {}\n"
                           "bonded-lambdas = 0 0.5 1\n").format(*ends.split(), inner)
            spec, _ = self.evaluated(text)
            at = spec.index("alchemy:")
            self.assertEqual(spec[at + 1:at + 2], lines)
            self.assertIn("    bonded: [0, 0.5, 1]", spec)
            self.assertIn(": couple-lambda1 = {}: refused: as at lambda 0: nothing changes; expected other words, or a ladder bonded-lambdas or "
                          "restraint-lambdas".format(ends.split()[1]), self.refused(text.replace("bonded", "coul"))[0])

    def test_one_lambda(self):
        """A file of one state without ladders, or in one."""
        lone = BASE + "free-energy = yes\ncouple-moltype = MOH\ncouple-lambda1 = none\nsc-alpha = 0.5\ninit-lambda = 0.25\ndelta-lambda = 0\n"
        spec, _ = self.evaluated(lone)
        at = spec.index("  windows:")
        self.assertEqual(spec[at - 1:at + 5], ["  soft-core: {alpha: 0.5, power: 1, sigma: 0.3 nm, coulomb: yes}", "  windows:",
                                               *(f"    {name}: [0.25]" for name in ("coulomb", "vdw", "bonded", "restraint"))])
        ladder = lone + "foreign-lambda = 0 0.25 0.5 1\n"
        spec, said = self.evaluated(ladder)
        self.assertIn("    vdw: [0, 0.25, 0.5, 1]", spec)
        self.assertIn("14: init-lambda = 0.25: changed: all windows run; this file is that of window 1", said)
        self.assertIn(":14: init-lambda = 0.3: refused: expected one of fep-lambdas, or init-lambda-state in its place",
                      self.refused(ladder.replace("init-lambda = 0.25", "init-lambda = 0.3")))
        self.assertIn(":15: delta-lambda = 1e-5: refused: lambda would change within a window (slow growth); expected 0",
                      self.refused(lone.replace("delta-lambda = 0", "delta-lambda = 1e-5")))

    def test_range(self):
        """What is no lambda is blamed on its line."""
        self.assertEqual(self.refused(BASE + FEP.replace("0 0.5 1 1 1", "0 0.5 1 1 1.01")),
                         [":14: coul-lambdas = 0 0.5 1 1 1.01: refused: 1.01: expected lambdas of 0 to 1"])
        lone = BASE + "free-energy = yes\ncouple-moltype = MOH\ncouple-lambda1 = none\ninit-lambda = 2\n"
        self.assertEqual(self.refused(lone), [":13: init-lambda = 2: refused: 2: expected lambdas of 0 to 1"])

    def test_temperatures(self):
        """Zeros, as tutorials have them, are no temperatures; nor do masses change by them."""
        for zeros in ("0 0 0 0 0", "300.0 300 300 300 300"):
            _, said = self.evaluated(BASE + FEP + f"temperature_lambdas = {zeros}\n")
            self.assertFalse([line for line in said if "temperature" in line])
        spec, said = self.evaluated(BASE + FEP + "mass-lambdas = 0 0 0 0 0\n")
        self.assertFalse([line for line in spec + said if "mass" in line])
        spec, said = self.evaluated(BASE + FEP + "mass-lambdas = 0 0 0 0 1\n")
        self.assertIn("    mass: [0, 0, 0, 0, 1]", spec)
        self.assertIn("17: mass-lambdas = 0 0 0 0 1: changed: masses change along the ladder", " ".join(said))
        self.assertIn(":17: temperature-lambdas = 0 0 0 0 1: refused: expected one value throughout: windows have one temperature",
                      self.refused(BASE + FEP + "temperature-lambdas = 0 0 0 0 1\n"))

    def test_expanded(self):
        """One walker through the windows: all of them, which exchange."""
        text = BASE + FEP.replace("= yes", "= expanded") + "nstexpanded = 120\nlmc-stats = wang-landau\ninit-lambda-weights = 0 0 0 0 0\n"
        spec, said = self.spec(text)
        self.assertIn("exchange: {every: 150 steps}", spec)
        self.assertIn("10: free_energy = expanded: changed: yes, with exchange: all windows run and replicas change places, so none needs weights", said)
        self.assertIn(":10: free_energy = mutate: refused: expected yes, no or expanded", self.refused(text.replace("expanded", "mutate", 1)))

    PULL = """pull = yes
pull-ngroups = 2
pull-ncoords = 1
pull_group1_name = MOH
pull_group2_name = near by
pull-coord1-type = umbrella
pull-coord1-geometry = distance
pull-coord1-groups = 1 2
pull-coord1-dim = Y  Y Y
pull-coord1-rate = 0.0
pull-coord1-init = 0.4
pull-coord1-k = 500
pull-nstxout = 50
"""

    def test_pull(self):
        """Harmonic or flat, between two centers: a restraint of the spec."""
        with open(os.path.join(self.folder, "groups.ndx"), "w", encoding="utf-8") as f:
            f.write("[ MOH ]\n1 2 3\n[ near by ]\n4 6\n")
        spec, said = self.evaluated(BASE + self.PULL, "--index", "groups.ndx")
        self.assertIn("  index: groups.ndx", spec)
        at = spec.index("restraints:")
        held = ['  - between: [{group: MOH}, {group: "near by"}]', "    distance: 0.4 nm", "    force-constant: 500 kJ/mol/nm^2"]
        self.assertEqual(spec[at + 1:at + 5], held + ["constraints: h-bonds"])
        self.assertEqual([line for line in said if "pull" in line], ["22: pull-nstxout = 50: dropped: of the pull code"])
        for kind, key in (("flat-bottom", "upper"), ("flat-bottom-high", "lower")):
            spec, _ = self.evaluated(BASE + self.PULL.replace("umbrella", kind), "--index", "groups.ndx")
            self.assertIn(f"    {key}: 0.4 nm", spec)
        spec, _ = self.evaluated(BASE + self.PULL.replace("init = 0.4", "start = yes"), "--index", "groups.ndx")
        self.assertIn("    distance: start", spec)
        self.assertRegex(self.shoal("energy", "spec.yaml").stdout, r"\nrestraint +-?0\.000000 kJ/mol\n")
        stage = BASE + self.PULL + "pull-coord1-kB = 900\nfree-energy = yes\nrestraint-lambdas = 0 1\n"
        spec, _ = self.evaluated(stage, "--index", "groups.ndx")
        self.assertIn("    b: {force-constant: 900 kJ/mol/nm^2}", spec)
        for given, wanted, why in (("rate = 0.0", "rate = 0.01", "expected 0: a restraint that moves has no equilibrium"),
                                   ("geometry = distance", "geometry = direction", "expected distance: a restraint acts along"),
                                   ("Y  Y Y", "N N Y", "expected Y Y Y: distances are those in space"), ("umbrella", "constraint", "expected umbrella,"),
                                   ("groups = 1 2", "groups = 0 1", "expected two groups, from 1 on"),
                                   ("-k = 500", "-start = yes", "expected no: give the distance that is meant as init"),
                                   ("pull = yes", "pull = umbrella", "expected yes or no; what older GROMACS says here is pull-coord1-type now")):
            self.assertIn("refused: " + why, self.refused(BASE + self.PULL.replace(given, wanted))[0])
        self.write(BASE + self.PULL)
        done = self.shoal("import", "run.mdp")
        self.assertIn("\n  index: index.ndx\n", done.stdout)
        self.assertIn("pull-ngroups = 2: changed: groups are those of index.ndx beside the spec; --index names another file", done.stderr)

    def test_b_state_beside(self):
        """GROMACS perturbs an ion's B state beside couple-moltype: it is not left out without a word, and an entry says the same."""
        with open(os.path.join(self.folder, "topol.top"), encoding="utf-8") as f:
            top = f.read()
        with open(os.path.join(self.folder, "topol.top"), "w", encoding="utf-8") as f:
            f.write(top.replace("-0.834   16.000", "-0.834   16.000   OW   0   16.000"))
        self.write(BASE + FEP)
        done = self.shoal("import", "run.mdp", "-o", "spec.yaml")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("shoal energy: spec.yaml:", done.stderr)
        self.assertIn("has a state B of its own", done.stderr)
        self.assertEqual(self.shoal("energy", "spec.yaml").returncode, 65)

    def test_words(self):
        """Options of words: any other is refused, also where it has no effect; case, '-' and '_' do not matter."""
        wrong = (("tcoupl", "expected no, Berendsen, Nose-Hoover, Andersen, Andersen-massive or V-rescale"),
                 ("pcoupl", "expected no, Berendsen, Parrinello-Rahman, MTTK or C-rescale"), ("refcoord-scaling", "expected no, all or com"),
                 ("gen_vel", "expected yes or no"), ("couple-intramol", "expected yes or no"), ("sc-coul", "expected yes or no"),
                 ("cutoff-scheme", "expected Verlet or group"))
        for name, why in wrong:
            self.assertIn(f":10: {name} = perhaps: refused: {why}", self.refused(BASE + f"{name} = perhaps\n"))
        self.spec(BASE + "tcoupl = VRescale\npcoupl = c_rescale\nref-p = 1\nrefcoord_scaling = COM\ngen-vel =\nsc-coul = No\n")

    def test_json(self):
        self.write(BASE + "nstlist = 20\nmorse = no\n")
        answer = json.loads(self.shoal("import", "run.mdp", "--json", "--quiet").stdout)
        self.assertIn("\nintegrator: {method: langevin-middle", answer["spec"])
        fates = {o["name"]: o["fate"] for o in answer["options"]}
        self.assertEqual(set(fates), set(line.split()[0] for line in BASE.splitlines()) | {"nstlist", "morse"})
        self.assertEqual((fates["dt"], fates["nstlist"], fates["morse"]), ("kept", "dropped", "without effect"))
        self.write("morse = yes\n")
        answer = json.loads(self.shoal("import", "run.mdp", "--json", "--quiet").stdout)
        self.assertIsNone(answer["spec"])

    def test_names(self):
        """Files are named relative to the spec, wherever they lie; the spec is one that validates there."""
        os.makedirs(os.path.join(self.folder, "runs"))
        self.write(BASE, "runs/prod 1.mdp")
        done = self.shoal("import", "runs/prod 1.mdp", "-o", "spec.yaml", "-p", "./topol.top")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(self.folder, "spec.yaml"), encoding="utf-8") as f:
            self.assertIn("name: prod-1\nsystem:\n  topology: topol.top\n", f.read())
        done = self.shoal("import", "runs/prod 1.mdp", "-o", "spec.yaml")
        self.assertEqual((done.returncode, done.stderr), (3, "shoal: spec.yaml is there already: expected the name of a new file\n"))
        os.makedirs(os.path.join(self.folder, "data/sub"))
        shutil.copy(os.path.join(self.folder, "conf.gro"), os.path.join(self.folder, "data/sub"))
        os.symlink("data/sub", os.path.join(self.folder, "link"))
        with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="shoal-import-") as elsewhere:
            shutil.copy(os.path.join(self.folder, "topol.top"), elsewhere)
            for spec, topology, coordinates, names in (
                    ("runs/spec.yaml", "topol.top", "data/sub/conf.gro", ("../topol.top", "../data/sub/conf.gro")),
                    ("data/sub/a.yaml", os.path.join(self.folder, "topol.top"), "data/sub/conf.gro", ("../../topol.top", "conf.gro")),
                    ("link/b.yaml", "topol.top", "link/conf.gro", ("../../topol.top", "conf.gro")),
                    ("runs/far.yaml", f"{elsewhere}/topol.top", "conf.gro", (f"{elsewhere}/topol.top", "../conf.gro"))):
                done = self.shoal("import", "runs/prod 1.mdp", "-o", spec, "-p", topology, "-c", coordinates)
                self.assertEqual(done.returncode, 0, done.stderr)
                with open(os.path.join(self.folder, spec), encoding="utf-8") as f:
                    text = f.read()
                for key, name in zip(("topology", "coordinates"), names):
                    self.assertIn(f"  {key}: {name}\n", text)
                self.assertEqual(self.shoal("validate", spec).returncode, 0)
        done = self.shoal("import", "runs/prod 1.mdp", "-p", "none.top")
        self.assertEqual((done.returncode, done.stderr), (66, "shoal: none.top: no such file\n"))
        done = self.shoal("import", "none.mdp")
        self.assertEqual(done.returncode, 66)

    def unknown(self):
        return [line for line in self.shoal("import", "run.mdp").stderr.splitlines() if ": unknown: " in line]

    def test_all_are_known(self):
        self.write("".join(f"{name} = 1\n" for name in OTHERS)) # a line without a value has no effect, whatever its name
        self.assertEqual(self.unknown(), [])
        if not shutil.which("gmx"):
            print("no gmx: the options that grompp lists are not tried")
            return
        for switch in SWITCHES:
            self.write(f"integrator = md\n{switch}\n", "try.mdp")
            subprocess.run(["gmx", "grompp", "-f", "try.mdp", "-c", "conf.gro", "-p", "topol.top", "-po", "run.mdp", "-o", "x.tpr"],
                           cwd=self.folder, capture_output=True, check=False)
            self.assertTrue(os.path.exists(os.path.join(self.folder, "run.mdp")), switch)
            with open(os.path.join(self.folder, "run.mdp"), encoding="utf-8") as f:
                self.write(re.sub(r"= *$", "= 1", f.read(), flags=re.M))
            self.assertEqual(self.unknown(), [], switch)
            os.remove(os.path.join(self.folder, "run.mdp"))


if __name__ == "__main__":
    unittest.main()
