/* SPDX-License-Identifier: Apache-2.0
 *
 * The mesh in reciprocal space; terms that depend on no distance.
 *   E = f/(2 pi V) sum over m != 0 of exp(-pi^2 m^2/beta^2)/m^2 B(m) |S(m)|^2
 *   Xi = -1/2 sum of each m's share of E times (1 - 2 (1/m^2 + pi^2/beta^2) m m)
 * (Essmann et al. 1995, eqs. 4.7 and 2.8.)
 */
#include <math.h>

#include "engine/base/units.h"
#include "engine/math/accumulate.h"
#include "engine/kernels/uniform.h"
#include "engine/run/program.h"
#include "engine/cpu/mesh/fft.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/nonbonded_tables.h"

void cpu_mesh_forward(const struct launch *launch, const struct args_mesh_forward *a)
{
    const struct ctl *c = a->ctl;
    const struct nb_params *p = a->params;
    if (!c->halt)
        fft_forward(p->mesh.size, a->mesh, a->spectrum);
}

void cpu_mesh_backward(const struct launch *launch, const struct args_mesh_backward *a)
{
    const struct ctl *c = a->ctl;
    const struct nb_params *p = a->params;
    if (!c->halt)
        fft_backward(p->mesh.size, a->spectrum, a->mesh);
}

struct sums {
    double energy, virial[6]; /* xx xy xz yy yz zz */
};

static double wave(int32_t k, int32_t size)
{
    return k < (size + 1) / 2 ? k : k - size;
}

/* One row of the half spectrum, the waves `first` + z steps along the third edge's. Multiplies it by f/(pi V)
 * exp(..)/m^2 B, of which each m's energy is half. */
static void solve_row(const struct nb_params *p, double *row, const double first[3], double step, double factor,
                      struct sums *sums)
{
    const double mx = first[0], my = first[1];
    const int32_t nz = p->mesh.size[2];
    const double decay = M_PI * M_PI / (p->ewald.beta * p->ewald.beta);
    for (int32_t z = 0; z <= nz / 2; z++) {
        double mz = first[2] + z * step, m2 = mx * mx + my * my + mz * mz;
        if (m2 == 0) {
            row[0] = row[1] = 0;
            continue;
        }
        double green = factor * exp(-decay * m2) / (m2 * p->mesh.modulus[2][z]);
        double re = row[2 * z], im = row[2 * z + 1];
        row[2 * z] = green * re;
        row[2 * z + 1] = green * im;
        if (!sums)
            continue;
        double twice = z == 0 || 2 * z == nz ? 1 : 2; /* the other half of the spectrum */
        double e = 0.5 * twice * green * (re * re + im * im), g = 2 * (1 / m2 + decay) * e;
        sums->energy += e;
        sums->virial[0] += e - g * mx * mx;
        sums->virial[1] -= g * mx * my;
        sums->virial[2] -= g * mx * mz;
        sums->virial[3] += e - g * my * my;
        sums->virial[4] -= g * my * mz;
        sums->virial[5] += e - g * mz * mz;
    }
}

static void report_sums(struct ctl *c, const struct sums *s)
{
    static const int place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    acc_energy_within(&c->sum, TERM_COULOMB_RECIPROCAL, s->energy, FIXED_TOTAL_LIMIT);
    for (int k = 0; k < 9; k++)
        acc_virial_within(&c->sum, k, -0.5 * s->virial[place[k]], FIXED_TOTAL_LIMIT);
}

void cpu_mesh_solve(const struct launch *launch, const struct args_mesh_solve *a)
{
    struct ctl *c = a->ctl;
    const struct nb_params *p = a->params;
    const int32_t *size = p->mesh.size;
    struct sums sums = {0};
    double *spectrum = a->spectrum;
    if (c->halt)
        return;
    double prefactor = UNIT_COULOMB / (M_PI * box_volume(c->box)), inverse[BOX_SIZE];
    box_invert(c->box, inverse);
    bool energy = a->mode != EVALUATE_STEP;
    for (int32_t x = 0; x < size[0]; x++)
        for (int32_t y = 0; y < size[1]; y++) {
            double *row = spectrum + 2 * ((size_t)x * (size_t)size[1] + (size_t)y) * (size_t)(size[2] / 2 + 1);
            double m[3] = {wave(x, size[0]), wave(y, size[1]), 0};
            box_gradient(inverse, m, m);
            solve_row(p, row, m, inverse[BOX_ZZ], prefactor / (p->mesh.modulus[0][x] * p->mesh.modulus[1][y]),
                      energy ? &sums : NULL);
        }
    struct fixed_sum *energy_at_window = a->energy_at_window;
    for (int32_t w = 0; a->change && w < p->nwindows; w++) {
        double dl = p->window[w][LAMBDA_COULOMB] - c->lambda[LAMBDA_COULOMB];
        acc_window(&energy_at_window[w], dl * dl * sums.energy, FIXED_TOTAL_LIMIT);
    }
    if (energy && !a->change)
        report_sums(c, &sums);
}

void cpu_uniform(const struct launch *launch, const struct args_uniform *a)
{
    struct ctl *c = a->ctl;
    const struct nb_params *p = a->params;
    struct fixed_sum *energy_at_window = a->energy_at_window;
    if (c->halt)
        return;
    if (evaluates_energies(a->mode))
        uniform_add(&p->uniform, c);
    const struct foreign_rows rows = foreign_rows_of(a->mode, c, p->window, (uint32_t)p->nwindows);
    for (uint32_t w = 0; w < rows.n; w++)
        uniform_at_window(&p->uniform, c, rows.lambda[w], &energy_at_window[w]);
}
