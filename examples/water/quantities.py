# SPDX-License-Identifier: Apache-2.0
"""What `run` tells of water: how each quantity follows from the results of npt.yaml and nvt.yaml, and what is known of it."""
import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

SOURCES = {
    "a": "H. J. C. Berendsen, J. R. Grigera, T. P. Straatsma, J. Phys. Chem. 91, 6269 (1987), doi 10.1021/j100308a038: at 306 K",
    "b": "C. Vega, J. L. F. Abascal, Phys. Chem. Chem. Phys. 13, 19663 (2011), doi 10.1039/c1cp22168j: cut-off 0.85 nm",
    "c": "values collected by D. Berta et al., J. Chem. Theory Comput. 16, 3316 (2020), doi 10.1021/acs.jctc.9b00703: Table 1",
    "d": "no paper: GROMACS 2022.5, this topology, these settings, 168 ps, bins of 0.002 nm",
    "e": "no paper: that is what the barostat holds; and at 998 kg/m^3 SPC/E is at atmospheric pressure, as [a] has it",
    "f": "W. Wagner, A. Pruss, J. Phys. Chem. Ref. Data 31, 387 (2002), doi 10.1063/1.1461829",
    "g": "W. L. Jorgensen et al., J. Chem. Phys. 79, 926 (1983), doi 10.1063/1.445869: from the heat of vaporization",
    "h": "L. B. Skinner et al., J. Chem. Phys. 138, 074506 (2013), doi 10.1063/1.4790861",
    "i": "R. Mills, J. Phys. Chem. 77, 685 (1973), doi 10.1021/j100624a025",
    "j": "G. S. Kell, J. Chem. Eng. Data 20, 97 (1975), doi 10.1021/je60064a005",
}
POLARIZATION = 5.22  # kJ/mol: what it costs to polarize a molecule, which is part of SPC/E's energy but not of its forces [a]


@dataclass
class Value:
    value: float
    error: float  # NaN: not known


@dataclass
class Quantity:
    name: str
    unit: str
    of: str  # "npt" or "nvt"
    read: Callable  # (window, observable, molecules) -> Value
    published: str  # for SPC/E, with the letters of its sources
    experiment: str
    digits: int


def known(value, error, scale=1.0, added=0.0):
    return Value(value * scale + added, math.nan if error is None else error * scale)


def average(name, scale=1.0, per_molecule=False, added=0.0):
    def read(window, _observable, molecules):
        found = window["averages"][name]
        return known(found["value"], found["error"], scale / (molecules if per_molecule else 1), added)
    return read


def fluctuation(name, scale, per_molecule=False):
    def read(window, _observable, molecules):
        found = window["fluctuations"][name]
        return known(found["value"], found["error"], scale / (molecules if per_molecule else 1))
    return read


def highest(key, error):
    def read(_window, observable, _molecules):
        return known(observable["highest"][key], observable["highest"][error] if error else 0.0)
    return read


def diffusion(infinite):
    def read(_window, observable, _molecules):
        found = observable["diffusion"]
        value = (found["infinite_box"] if infinite else found)["value_cm2_per_s"]
        return known(math.nan if value is None else value, found["error_cm2_per_s"], 1e5)
    return read


QUANTITIES = [
    Quantity("density", "kg/m^3", "npt", average("Density"), "998 [a], 994 [b]", "997.0 [f]", 1),
    Quantity("energy of a molecule", "kJ/mol", "npt", average("Potential", per_molecule=True, added=POLARIZATION),
             "-41.4 [a]", "-41.5 [g]", 2),
    Quantity("g(r) of oxygens, highest", "", "npt", highest("g", "error"), "3.09 [d]", "2.57 +- 0.05 [h]", 3),
    Quantity("  at", "nm", "npt", highest("r_nm", None), "0.274 [d]", "0.280 +- 0.001 [h]", 4),
    Quantity("diffusion, this box", "1e-5 cm^2/s", "nvt", diffusion(False), "2.5 [a], 2.54 [b]", "", 2),
    Quantity("diffusion, infinite box", "1e-5 cm^2/s", "nvt", diffusion(True), "", "2.30 [i]", 2),
    Quantity("pressure, npt", "bar", "npt", average("Pressure"), "1.01 [e]", "1.01", 0),
    Quantity("pressure at 998 kg/m^3", "bar", "nvt", average("Pressure"), "1 [e]", "", 0),
    Quantity("temperature, nvt", "K", "nvt", average("Temperature"), "298.15", "298.15", 1),
    Quantity("heat capacity", "J/mol/K", "npt", fluctuation("Heat capacity at constant pressure", 1e3, per_molecule=True),
             "87 [c]", "75.4 [f]", 1),
    Quantity("compressibility", "1e-6/bar", "npt", fluctuation("Isothermal compressibility", 1e6), "46.1 [b]", "45.2 [j]", 1),
    Quantity("thermal expansion", "1e-4/K", "npt", fluctuation("Thermal expansion", 1e4), "5.14 [b]", "2.57 [j]", 2),
]


def combined(values):
    """The mean of repeats. Its error: from those of the repeats or from how far they spread, whichever is larger."""
    n = len(values)
    own = math.sqrt(sum(v.error ** 2 for v in values)) / n
    spread = statistics.stdev(v.value for v in values) / math.sqrt(n) if n > 1 else 0.0
    return Value(statistics.fmean(v.value for v in values), spread if math.isnan(own) and n > 1 else max(own, spread))


def measured(quantity, results, molecules):
    """Of one number of molecules: results maps "npt" and "nvt" to what `shoal results --json` says."""
    of = results[quantity.of]
    observables = {o["repeat"]: o for o in of["observables"]}
    return combined([quantity.read(w, observables[w["repeat"]], molecules) for w in of["windows"]])


def shown(value, digits):
    if math.isnan(value.value):
        return "none yet"
    error = "?" if math.isnan(value.error) else f"{value.error:.{digits}f}"
    return f"{value.value:.{digits}f}" + (f" +- {error}" if value.error != 0 else "")


def table(results):
    """Lines, of {molecules: {"npt": .., "nvt": ..}}: a quantity a row, and sources below."""
    rows = [["SPC/E water, 298.15 K", *(f"{n:,} molecules" for n in results), "published, SPC/E", "experiment"]]
    for q in QUANTITIES:
        ours = (shown(measured(q, of, n), q.digits) for n, of in results.items())
        rows.append([q.name + (f", {q.unit}" if q.unit else ""), *ours, q.published, q.experiment])
    width = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, width)).rstrip() for row in rows]
    return lines + [""] + [f"[{letter}] {text}" for letter, text in SOURCES.items()]
