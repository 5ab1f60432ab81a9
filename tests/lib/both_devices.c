/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/both_devices.h"

#include "engine/run/program.h"
#include "engine/run/sim_parts.h"
#include "tests/lib/emulate/toy.h"

static double lambda_table[MOST_WINDOWS][LAMBDA_COUNT];

const double shapes[3][BOX_SIZE] = {{1, 1, 0.70710678, 0, 0.5, 0.5},
                                    {1, 0.94280904, 0.81649658, 1.0 / 3, -1.0 / 3, 0.47140452},
                                    {1, 0.95, 0.9, 0.43, -0.31, 0.38}};

static void near(const char *what, double cpu, double cuda, double tolerance)
{
    if (!(fabs(cpu - cuda) <= tolerance))
        fail_msg("%s: %.10g on the CPU device, %.10g by the CUDA program, off by %.3g (allowed %.3g)", what, cpu, cuda,
                 cuda - cpu, tolerance);
}

/* What volume moves go by is the potential energy that a sample has; but for the box's edges as floats, which only that
 * takes off. */
static void check_volume_move(struct toy *t, const struct sample *s)
{
    double parts = 0;
    for (int k = 0; k < TERM_COUNT; k++)
        parts += fabs(s->energy[k]);
    const uint64_t before = sim_heard(t->sim)->ctl.barostat_moves;
    toy_run(t->sim, SIM_BAROSTAT, 1);
    const struct ctl *c = &sim_heard(t->sim)->ctl;
    assert_true(c->barostat_moves == before + 1 && parts != 0);
    near("potential energy before a volume move", s->potential, c->energy_old, 2e-7 * parts + 1e-6);
}

struct outcome outcome_of(struct toy *t, int natoms)
{
    struct outcome o = {.f = xcalloc((size_t)natoms, sizeof *o.f)};
    struct err e = {0};
    o.sample = toy_sample(t->sim, o.delta_u);
    if (sim_forces(t->sim, o.f, &e))
        fail_msg("%s", e.msg);
    check_volume_move(t, &o.sample);
    return o;
}

static void compare_forces(const struct outcome *cpu, const struct outcome *cuda, int natoms)
{
    double sum = 0, off = 0, worst = 0;
    for (int i = 0; i < natoms; i++)
        for (int d = 0; d < 3; d++) {
            double diff = fabs(cpu->f[i][d] - cuda->f[i][d]);
            sum += cpu->f[i][d] * cpu->f[i][d];
            off += diff * diff;
            worst = fmax(worst, diff);
        }
    double rms = sqrt(sum / (3 * natoms));
    print_message("forces: rms %.4g, off by %.3g of it, worst %.3g\n", rms, sqrt(off / (3 * natoms)) / rms,
                  worst / rms);
    near("forces, rms", 0, sqrt(off / (3 * natoms)) / rms, 2e-6);
    near("forces, worst", 0, worst / rms, 1e-4);
}

void compare_ended(struct toy *a, struct toy *b, const struct system *sys, const struct settings *set)
{
    struct outcome cpu = outcome_of(a, sys->natoms), cuda = outcome_of(b, sys->natoms);
    for (int k = 0; k < TERM_COUNT; k++)
        near(term_names[k], cpu.sample.energy[k], cuda.sample.energy[k],
             (k == TERM_COULOMB_RECIPROCAL ? 1e-4 : 2e-6) * fabs(cpu.sample.energy[k]) + 1e-5);
    for (int k = 0; k < LAMBDA_COUNT; k++)
        near("dU/dlambda", cpu.sample.dvdl[k], cuda.sample.dvdl[k], 1e-5 * fabs(cpu.sample.dvdl[k]) + 1e-3);
    for (int w = 0; w < set->alchemy.nwindows; w++)
        near("U at a window", cpu.delta_u[w], cuda.delta_u[w], 1e-5 * fabs(cpu.delta_u[w]) + 1e-3);
    double largest = 0;
    for (int k = 0; k < 9; k++)
        largest = fmax(largest, fabs(cpu.sample.virial[k]));
    for (int k = 0; k < 9; k++)
        near("virial", cpu.sample.virial[k], cuda.sample.virial[k], 1e-4 * largest);
    compare_forces(&cpu, &cuda, sys->natoms);
    free(cpu.f);
    free(cuda.f);
    toy_close(a);
    toy_close(b);
}

void compare(const struct system *sys, const struct settings *set, int window)
{
    struct toy a = toy_open(sys, set, window), b = toy_emulated(*cuda_program.kernels, NULL, sys, set, window);
    compare_ended(&a, &b, sys, set);
}

void same_outcome(struct outcome a, struct outcome b, const struct system *sys, const struct settings *set)
{
    assert_memory_equal(a.sample.energy, b.sample.energy, sizeof a.sample.energy);
    assert_memory_equal(a.sample.dvdl, b.sample.dvdl, sizeof a.sample.dvdl);
    assert_memory_equal(a.sample.virial, b.sample.virial, sizeof a.sample.virial);
    assert_memory_equal(a.delta_u, b.delta_u, (size_t)set->alchemy.nwindows * sizeof *a.delta_u);
    assert_memory_equal(a.f, b.f, (size_t)sys->natoms * sizeof *a.f);
    free(a.f);
    free(b.f);
}

struct settings settings_of(enum vdw_modifier modifier, enum alchemy kind)
{
    struct settings set = toy_settings();
    set.nonbonded.vdw_cutoff = 0.9;
    set.nonbonded.coulomb_cutoff = 1.0;
    set.nonbonded.vdw_modifier = modifier;
    set.nonbonded.vdw_switch = 0.7;
    set.alchemy = mixture_alchemy(kind, 3, lambda_table);
    for (int w = 0; w < 3; w++) {
        lambda_table[w][LAMBDA_COULOMB] = (const double[]){0, 0.4, 1}[w];
        lambda_table[w][LAMBDA_VDW] = (const double[]){0, 0.3, 0.7}[w];
    }
    return set;
}

void relax(struct system *sys, const struct settings *set)
{
    struct err e = {0};
    struct toy t = toy_open(sys, set, 0);
    sim_minimize_setup(t.sim, 10);
    toy_run(t.sim, SIM_MINIMIZE, 100);
    if (sim_get(t.sim, sys->x, NULL, NULL, &e))
        fail_msg("%s", e.msg);
    toy_close(&t);
}

struct system *relaxed_water(int side, const struct settings *set)
{
    struct system *sys = toy_water(side);
    relax(sys, set);
    return sys;
}

void cut_into(uint32_t most)
{
    emulate_shared(0, 0);
    if (most)
        emulate_room(0, most);
}

void reshape(struct system *sys, const double shape[BOX_SIZE], bool molecules)
{
    double box[BOX_SIZE], inverse[BOX_SIZE], edge = cbrt(box_volume(sys->box) / box_volume(shape));
    box_invert(sys->box, inverse);
    for (int k = 0; k < BOX_SIZE; k++)
        box[k] = edge * shape[k];
    double from[3], to[3];
    for (int i = 0; i < sys->natoms; i++) {
        if (!molecules || i == sys->molecules[sys->atoms[i].molecule].first) {
            memcpy(from, sys->x[i], sizeof from);
            box_apply(inverse, from, to);
            box_apply(box, to, to);
        }
        for (int d = 0; d < 3; d++)
            sys->x[i][d] += to[d] - from[d];
    }
    memcpy(sys->box, box, sizeof box);
}
