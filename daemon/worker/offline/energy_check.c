/* SPDX-License-Identifier: Apache-2.0
 *
 * A device against the reference: relative and absolute tolerances of mixed precision (single-precision pairs, sums in
 * fixed point).
 */
#include <math.h>
#include <stdio.h>

#include "daemon/worker/offline/energy.h"

/* May differ by relative * |reference| + absolute. */
struct tolerance {
    double relative, absolute;
};

static const struct tolerance term_tolerance[TERM_COUNT] = {
    [TERM_BOND] = {1e-5, 1e-6},
    [TERM_ANGLE] = {1e-5, 1e-6},
    [TERM_UREY_BRADLEY] = {1e-5, 1e-6},
    [TERM_PROPER_DIHEDRAL] = {1e-5, 1e-6},
    [TERM_IMPROPER_DIHEDRAL] = {1e-5, 1e-6},
    [TERM_LJ_14] = {1e-5, 1e-6},
    [TERM_COULOMB_14] = {1e-5, 1e-6},
    [TERM_LJ] = {2e-6, 1e-4},
    [TERM_DISPERSION_CORRECTION] = {1e-6, 1e-6},
    [TERM_COULOMB] = {2e-6, 1e-4},
    [TERM_COULOMB_RECIPROCAL] = {1e-4, 1e-4},
    [TERM_RESTRAINT] = {1e-5, 1e-6},
    [TERM_CMAP] = {1e-5, 1e-6},
    [TERM_BIAS] = {1e-5, 1e-6},
};
static const struct tolerance coordination_tolerance = {1e-5, 1e-9};
static const struct tolerance potential_tolerance = {3e-6, 1e-4}, lambda_tolerance = {1e-5, 1e-3};
static const double virial_tolerance = 1e-4;                                  /* of the largest component */
static const double force_rms_tolerance = 2e-6, force_worst_tolerance = 1e-4; /* of the rms force */

static bool is_near(const char *name, int index, double value, double reference, struct tolerance t)
{
    double allowed = t.relative * fabs(reference) + t.absolute, off = fabs(value - reference);
    bool good = off <= allowed;
    char label[40];
    snprintf(label, sizeof label, index < 0 ? "%s" : "%s[%d]", name, index);
    printf("%-24s %18.6f %18.6f %10.2e %10.2e %s\n", label, value, reference, off,
           reference != 0 ? off / fabs(reference) : 0, good ? "ok" : "OFF");
    return good;
}

static bool compare_virials(const struct sample *a, const struct sample *b)
{
    bool good = true;
    double largest = 0;
    for (int k = 0; k < 9; k++)
        largest = fmax(largest, fabs(b->virial[k]));
    for (int k = 0; k < 9; k++)
        good &= is_near("virial", k, a->virial[k], b->virial[k], (struct tolerance){0, virial_tolerance * largest});
    return good;
}

static bool compare_forces(const struct evaluation *a, const struct evaluation *b)
{
    double diff2 = 0, all2 = 0, worst2 = 0;
    int worst = 0;
    for (int i = 0; i < a->natoms; i++) {
        double off2 = 0;
        for (int d = 0; d < 3; d++) {
            double off = a->forces[i][d] - b->forces[i][d];
            off2 += off * off;
            all2 += b->forces[i][d] * b->forces[i][d];
        }
        diff2 += off2;
        if (!(off2 <= worst2))
            worst = i, worst2 = off2;
    }
    double rms = sqrt(all2 / a->natoms), unit = rms > 0 ? rms : 1;
    double relative = sqrt(diff2 / a->natoms) / unit, largest = sqrt(worst2) / unit;
    bool good = relative <= force_rms_tolerance && largest <= force_worst_tolerance;
    printf("forces: rms %.6g kJ/mol/nm, difference rms %.2e of it, worst %.2e (atom %d) %s\n", rms, relative, largest,
           worst + 1, good ? "ok" : "OFF");
    return good;
}

bool energy_check(const struct evaluation *device, const struct evaluation *reference)
{
    const struct sample *a = &device->sample, *b = &reference->sample;
    bool good = true;
    printf("%-24s %18s %18s %10s %10s\n", "", "device", "cpu", "absolute", "relative");
    for (int t = 0; t < TERM_COUNT; t++)
        if (a->energy[t] != 0 || b->energy[t] != 0)
            good &= is_near(term_names[t], -1, a->energy[t], b->energy[t], term_tolerance[t]);
    for (int i = 0; i < device->ncoordinations; i++)
        good &= is_near("coordination", i + 1, a->coordination[i], b->coordination[i], coordination_tolerance);
    good &= is_near("potential", -1, a->potential, b->potential, potential_tolerance);
    for (int l = 0; l < LAMBDA_COUNT; l++)
        good &= is_near("dU/dlambda", l, a->dvdl[l], b->dvdl[l], lambda_tolerance);
    for (int w = 0; w < device->nwindows; w++)
        good &= is_near("delta_u", w, a->delta_u[w], b->delta_u[w], lambda_tolerance);
    good &= compare_virials(a, b);
    good &= compare_forces(device, reference);
    return good;
}
