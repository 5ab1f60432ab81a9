/* SPDX-License-Identifier: Apache-2.0
 *
 * Pair lists lose no pair, whatever their buffer, the shape of the box and what volume moves make of it: 60 atoms, four
 * of them half decoupled, in boxes so small that lists reach from face to face.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/math/box.h"
#include "tests/lib/toy.h"

enum { ATOMS = 60, SOLUTES = 4 };

static double lambda_table[2][LAMBDA_COUNT] = {{0.5, 0.5}, {0, 0}};

static struct system *liquid(const double box[BOX_SIZE])
{
    struct system *s = toy_system(ATOMS, 1);
    memcpy(s->box, box, sizeof s->box);
    s->nkinds = 2;
    s->kinds = xrealloc(s->kinds, 2, sizeof *s->kinds);
    s->kinds[1] = (struct molecule_kind){.name = "SOLUTE"};
    s->lj[0] = (struct lj){4 * 1.0 * pow(0.3, 6), 4 * 1.0 * pow(0.3, 12)};
    for (int i = 0; i < ATOMS; i++) {
        const double f[3] = {(i % 4 + 0.5) / 4, (i / 4 % 4 + 0.5) / 4, (i / 16 + 0.5) / 4};
        box_apply(box, f, s->x[i]);
        s->x[i][i % 3] += 0.02 * (i % 7 - 3);
        s->molecules[i].kind = i % (ATOMS / SOLUTES) == 0;
        s->atoms[i].charge[0] = s->atoms[i].charge[1] = i % 2 ? 0.2 : -0.2;
    }
    return s;
}

/* Where everything is after a while. */
struct outcome {
    double x[ATOMS][3], f[ATOMS][3], box[BOX_SIZE];
};

static struct settings settings_of(double cutoff, double buffer, bool npt)
{
    struct settings set = toy_settings();
    set.form = FORM_GRAPH; /* a gang has no lists */
    set.nonbonded.vdw_cutoff = set.nonbonded.coulomb_cutoff = cutoff;
    set.nonbonded.vdw_switch = 0.9 * cutoff;
    set.nonbonded.list_buffer = buffer;
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.timestep = 0.002;
    set.barostat = (struct barostat_settings){.on = npt, .pressure = 20000, .every = 5};
    set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_DECOUPLE,
                                            .decouple = {{.molecule = "SOLUTE", .on = {COUPLED_ALL}}},
                                            .ndecouple = 1,
                                            .soft_core = {.alpha = 0.5, .power = 1, .sigma = 0.3, .coulomb = true},
                                            .nwindows = 2,
                                            .lambda = lambda_table};
    return set;
}

/* Of five timesteps, in which lists are built anew more than once. */
static int rounds(void)
{
    return 200 / (toy_every() * toy_every());
}

static void run(const double box[BOX_SIZE], double cutoff, double buffer, bool npt, struct outcome *out)
{
    struct settings set = settings_of(cutoff, buffer, npt);
    struct system *s = liquid(box);
    struct toy t = toy_open(s, &set, 0);
    struct err e = {0};
    double du[2];
    toy_relax(t.sim, 1000, 50);
    for (int k = 0; k < rounds(); k++) {
        toy_run(t.sim, SIM_STEP, 5);
        if (npt)
            toy_run(t.sim, SIM_BAROSTAT, 1);
    }
    toy_sample(t.sim, du);
    assert_int_equal(sim_get(t.sim, out->x, NULL, out->box, &e), 0);
    assert_int_equal(sim_forces(t.sim, out->f, &e), 0);
    toy_close(&t);
    toy_system_free(s);
}

static void same_for_all_buffers(const double box[BOX_SIZE], double cutoff, bool npt, struct outcome *first)
{
    static const double buffers[] = {0.14, 0.5, 1, 2};
    for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k += (size_t)toy_every()) {
        struct outcome other;
        run(box, cutoff, buffers[k], npt, k ? &other : first);
        if (k)
            assert_memory_equal(&other, first, sizeof other);
    }
}

static void test_long_buffers(void **state)
{
    static const double cube[BOX_SIZE] = {1.5, 1.5, 1.5};
    struct outcome o;
    same_for_all_buffers(cube, 0.7, false, &o);
}

/* The cut-off is just below what the box allows, where the nearest image is not always the one that rounding finds, or
 * below half the distance of the nearest faces, where lists alone reach so far. */
static void test_triclinic(void **state)
{
    static const double dodecahedron[BOX_SIZE] = {1.6, 1.6, 1.1313708, 0, 0.8, 0.8};
    static const double skewed[BOX_SIZE] = {1.5, 1.6, 1.7, 0.7, -0.6, 0.75};
    static const double steep[BOX_SIZE] = {2.4, 1.8, 1.2, 1.2, -1.188, 0.9}; /* as skewed as boxes come */
    static const struct {
        const double *box;
        double cutoff;
    } shapes[] = {{dodecahedron, 0.79}, {dodecahedron, 0.65}, {dodecahedron, 0.56}, {skewed, 0.74},
                  {skewed, 0.55},       {steep, 0.74},        {steep, 0.55}};
    struct outcome o;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k += (size_t)toy_every())
        same_for_all_buffers(shapes[k].box, shapes[k].cutoff, false, &o);
}

/* The box shrinks until the cut-off stops it, in all of the rounds. */
static void test_shrinking(void **state)
{
    static const double skewed[BOX_SIZE] = {1.6, 1.7, 1.8, 0.5, -0.4, 0.6};
    struct outcome o;
    same_for_all_buffers(skewed, 0.7, true, &o);
    if (toy_every() == 1)
        assert_true(box_volume(o.box) < 0.9 * box_volume(skewed) && box_cutoff_limit(o.box) < 1.01 * 0.7);
    for (int k = 0; k < BOX_SIZE; k++)
        assert_true(fabs(o.box[k] / skewed[k] - o.box[0] / skewed[0]) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_buffers),
        cmocka_unit_test(test_triclinic),
        cmocka_unit_test(test_shrinking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
