# SPDX-License-Identifier: Apache-2.0
"""How far a device may be from references in double precision: the CPU device, which computes in double too, and GPUs, which
compute in mixed precision (single-precision pairs, sums in fixed point). daemon/worker/offline/energy_check.c has the latter in C."""
import collections

Tolerances = collections.namedtuple('Tolerances', (
    'terms',         # energies, relative
    'of_lambda',     # of_lambda(value): dU/dlambda and differences between windows, kJ/mol
    'virial',        # of the largest element
    'forces',        # rms and worst, of the rms force
    'rounded',       # rms and worst, of the rms force: what rounding of pair forces leaves of the difference of two evaluations
    'run_energy',    # in 20 steps without thermostat: potential, relative
    'run_kinetic',   # kinetic energy and temperature, relative
    'run_pressure',  # bar
    'run_atoms'))    # at their end: x rms, x worst (nm), v worst (nm/ps)

BONDED = ('bond', 'angle', 'urey_bradley', 'proper_dihedral', 'improper_dihedral', 'coulomb_14', 'restraint', 'cmap')
DOUBLE = Tolerances(terms={**dict.fromkeys(BONDED, 1e-9), 'lj_14': 3e-9, 'lj': 1e-8, 'dispersion_correction': 1e-8,
                           'coulomb': 1e-8, 'coulomb_reciprocal': 1e-6, 'potential': 1e-8},
                    of_lambda=lambda value: 1e-6 + 1e-7 * abs(value), virial=1e-6, forces=(1e-6, 4e-6), rounded=(0, 0), run_energy=2e-8,
                    run_kinetic=1e-7, run_pressure=0.05, run_atoms=(1e-7, 2e-7, 1e-5))
MIXED = Tolerances(terms={**dict.fromkeys(BONDED, 1e-5), 'lj_14': 1e-5, 'lj': 2e-6, 'dispersion_correction': 1e-8,
                          'coulomb': 2e-6, 'coulomb_reciprocal': 1e-4, 'potential': 3e-6},
                   of_lambda=lambda value: 1e-3 + 1e-5 * abs(value), virial=1e-4, forces=(2e-6, 1e-4), rounded=(1e-7, 1e-6), run_energy=3e-6,
                   run_kinetic=3e-6, run_pressure=1, run_atoms=(1e-5, 1e-5, 1e-3))


def of(device):
    return MIXED if device.startswith('cuda') else DOUBLE
