/* SPDX-License-Identifier: Apache-2.0
 *
 * X-ray scattering from grids, against direct sums over the atoms.
 */
#undef NDEBUG
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/observe/observe.h"
#include "engine/observe/saxs_plan.h"
#include "engine/prepare/form_factors.h"
#include "tests/lib/toy.h"

enum { ATOMS = 24, BINS = 30 };

static const double triclinic[BOX_SIZE] = {2.5, 2.4, 2.3, 0.7, -0.6, 0.8};

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Atoms of three elements anywhere near the origin, within `spread` times the box around it; molecules of eight. */
static struct system *random_atoms(const double box[BOX_SIZE], double spread)
{
    static const struct {
        const char *name;
        double mass;
    } kinds[] = {{"C1", 12.011}, {"OW", 15.9994}, {"HW2", 1.008}};
    struct system *s = toy_system(ATOMS, 1);
    uint64_t state = 7;
    memcpy(s->box, box, sizeof s->box);
    s->nmolecules = ATOMS / 8;
    for (int i = 0; i < ATOMS; i++) {
        double f[3];
        for (int d = 0; d < 3; d++)
            f[d] = spread * (uniform(&state) - 0.5);
        box_apply(box, f, s->x[i]);
        strcpy(s->atoms[i].name, kinds[i % 3].name);
        s->atoms[i].mass[0] = s->atoms[i].mass[1] = kinds[i % 3].mass;
        s->atoms[i].molecule = i / 8;
        s->molecules[i / 8] = (struct molecule){i / 8 * 8, 8, 0};
    }
    return s;
}

/* Of all atoms; the last two of the three are other than the usual. */
static void observe_all(struct system *s, struct saxs_choice choice)
{
    static const struct saxs_choice usual = {.spacing = 0.05, .supersampling = 1, .max = 30, .bin = 1, .padding = 1};
    struct observable *o = s->observables = xcalloc(1, sizeof *s->observables);
    s->nobservables = 1;
    *o = (struct observable){.kind = OBSERVE_SAXS, .name = xstrdup("saxs"), .every = 1, .ngroups = 1};
    o->saxs = usual;
    o->saxs.order = choice.order;
    o->saxs.euler = choice.euler;
    o->saxs.outside = choice.outside;
    o->saxs.nfill = choice.nfill;
    memcpy(o->saxs.fill, choice.fill, sizeof choice.fill);
    if (choice.padding > 0)
        o->saxs.padding = choice.padding;
    if (choice.spacing > 0)
        o->saxs.spacing = choice.spacing;
    o->group[0] = (struct atom_group){.label = xstrdup("all"), .atom = xcalloc(ATOMS, sizeof(int)), .n = ATOMS};
    for (int i = 0; i < ATOMS; i++)
        o->group[0].atom[i] = i;
}

struct curve {
    double i[BINS], q[BINS], count[BINS], volume;
};

/* Mean I(q) in bins, of `frames` frames of the same state. */
static void from_grid(struct system *s, uint32_t frames, struct curve *c)
{
    struct settings set = toy_settings();
    struct toy t = toy_open(s, &set, 0);
    const struct observable *o = &s->observables[0];
    unsigned char *bytes = xcalloc(1, observe_bytes(o));
    struct err e = {0};
    for (uint32_t k = 0; k < frames; k++)
        toy_run(t.sim, SIM_OBSERVE, 1);
    assert_int_equal(sim_observe_read(t.sim, 0, bytes, &e), 0);
    struct observe_result r = observe_result(s, o, bytes);
    double *sum = observe_total_reals(&r);
    assert_int_equal(r.seen->frames, frames);
    for (int k = 0; k < BINS; k++) {
        c->count[k] = sum[SAXS_COUNT * BINS + k] / frames;
        c->i[k] = sum[SAXS_INTENSITY * BINS + k] / sum[SAXS_COUNT * BINS + k];
        c->q[k] = sum[SAXS_Q * BINS + k] / sum[SAXS_COUNT * BINS + k];
    }
    c->volume = sum[SAXS_VOLUME * BINS] / frames;
    free(sum);
    free(bytes);
    toy_close(&t);
}

enum { WAVES = 64 };

/* The transform of an edge of the box at waves of a cell that is 1/part as long: a sum over points of it, middles of
 * small pieces. */
static void edge_waves(double part, double out[2 * WAVES + 1][2])
{
    enum { POINTS = 2000 };
    for (int m = -WAVES; m <= WAVES; m++) {
        double *edge = out[m + WAVES];
        edge[0] = edge[1] = 0;
        for (int k = 0; k < POINTS; k++) {
            const double angle = -2 * M_PI * m * part * (k + 0.5) / POINTS;
            edge[0] += cos(angle) / POINTS;
            edge[1] += sin(angle) / POINTS;
        }
    }
}

/* Of the box, over its volume. */
static void box_wave(double edges[2 * WAVES + 1][2], const int m[3], double out[2])
{
    out[0] = 1;
    out[1] = 0;
    for (int d = 0; d < 3; d++) {
        const double *edge = edges[m[d] + WAVES];
        const double re = out[0] * edge[0] - out[1] * edge[1];
        out[1] = out[0] * edge[1] + out[1] * edge[0];
        out[0] = re;
    }
}

/* F of one wave vector; x: where atoms are in the cell. */
static void direct(const struct system *s, const double (*x)[3], const double wave[2], const double q[3], double f[2])
{
    const struct saxs_choice *choice = &s->observables[0].saxs;
    const double q2 = vec_dot(q, q), volume = box_volume(s->box);
    f[0] = f[1] = 0;
    for (int i = 0; i < ATOMS; i++) {
        const struct element *element;
        struct err e;
        assert_int_equal(element_of_atom(s, i, &element, &e), 0);
        const double size = form_factor(&element->factor, q2), phase = vec_dot(q, x[i]);
        f[0] += size * cos(phase);
        f[1] -= size * sin(phase);
        for (int k = 0; k < 2 && choice->outside == SAXS_AVERAGE; k++)
            f[k] -= size * wave[k];
    }
    for (int n = 0; n < choice->nfill; n++) {
        const struct element *element = element_named(choice->fill[n].symbol);
        for (int k = 0; k < 2; k++)
            f[k] -= choice->fill[n].density * volume * form_factor(&element->factor, q2) * wave[k];
    }
}

/* At every wave vector of the cell, both halves. */
static void from_sums(const struct system *s, const double (*x)[3], struct curve *c)
{
    const double padding = s->observables[0].saxs.padding;
    const int most = (int)(BINS * padding * 2.7 / (2 * M_PI)); /* no edge is longer */
    static double edges[2 * WAVES + 1][2];
    double inverse[BOX_SIZE];
    assert_true(most <= WAVES);
    edge_waves(1 / padding, edges);
    memset(c, 0, sizeof *c);
    box_invert(s->box, inverse);
    for (int m[3] = {-most}; m[0] <= most; m[0]++)
        for (m[1] = -most; m[1] <= most; m[1]++)
            for (m[2] = -most; m[2] <= most; m[2]++) {
                double q[3] = {2 * M_PI / padding * m[0], 2 * M_PI / padding * m[1], 2 * M_PI / padding * m[2]}, f[2],
                       wave[2];
                box_gradient(inverse, q, q);
                const int k = (int)sqrt(vec_dot(q, q));
                if ((!m[0] && !m[1] && !m[2]) || k >= BINS)
                    continue;
                box_wave(edges, m, wave);
                direct(s, x, wave, q, f);
                c->i[k] += f[0] * f[0] + f[1] * f[1];
                c->q[k] += sqrt(vec_dot(q, q));
                c->count[k]++;
            }
    for (int k = 0; k < BINS; k++) {
        c->i[k] /= c->count[k];
        c->q[k] /= c->count[k];
    }
}

/* The largest relative difference of a bin. */
static double compare(const struct curve *a, const struct curve *b)
{
    double worst = 0;
    for (int k = 0; k < BINS; k++) {
        assert_true(a->count[k] == b->count[k]);
        if (b->count[k] == 0)
            continue;
        assert_true(fabs(a->q[k] - b->q[k]) < 1e-5);
        worst = fmax(worst, fabs(a->i[k] / b->i[k] - 1));
    }
    return worst;
}

static void test_triclinic(void **state)
{
    /* what the order is good for at 0.05 nm, and how much less it is where the Euler spline divides */
    static const double most[] = {[2] = 2e-1, [3] = 3e-2, [4] = 4e-3, [5] = 6e-4, [6] = 1e-4, [7] = 2e-5, [8] = 4e-6};
    struct curve grid, sums;
    for (int order = 2; order <= 8; order++)
        for (int euler = 0; euler < 2; euler++) {
            struct system *s = random_atoms(triclinic, 3);
            observe_all(s, (struct saxs_choice){.order = order, .euler = euler});
            from_grid(s, 2, &grid);
            from_sums(s, (const double(*)[3])s->x, &sums);
            double worst = compare(&grid, &sums);
            printf("order %d%s: %.2g\n", order, euler ? " euler" : "", worst);
            assert_true(worst < toy_allowed(euler ? 20 * most[order] : most[order], 1e-5));
            assert_true(fabs(grid.volume - box_volume(s->box)) < 1e-9);
            toy_system_free(s);
        }
}

/* Atoms that lie together, put back into the box by whole edges: so molecules are broken. x: as they were. */
static struct system *broken(double (*x)[3])
{
    struct system *s = random_atoms(triclinic, 0.45);
    double inverse[BOX_SIZE];
    box_invert(s->box, inverse);
    memcpy(x, s->x, ATOMS * sizeof *x);
    for (int i = 0; i < ATOMS; i++) {
        double f[3];
        box_apply(inverse, s->x[i], f);
        for (int d = 0; d < 3; d++)
            f[d] -= floor(f[d]);
        box_apply(s->box, f, s->x[i]);
    }
    return s;
}

static void test_solute(void **state)
{
    static double x[ATOMS][3];
    struct curve grid, sums;
    struct system *s = broken(x);
    observe_all(s, (struct saxs_choice){.order = 8, .padding = 2, .outside = SAXS_NOTHING});
    from_grid(s, 1, &grid);
    from_sums(s, (const double(*)[3])x, &sums);
    double worst = compare(&grid, &sums);
    printf("whole molecules in an empty cell: %.2g\n", worst);
    assert_true(worst < toy_allowed(1e-4, 1e-5));
    toy_system_free(s);
}

static void test_fill(void **state)
{
    static const struct saxs_choice cases[] = {
        {.order = 8, .padding = 2, .outside = SAXS_AVERAGE},
        {.order = 8, .padding = 1.7, .outside = SAXS_SOLVENT, .nfill = 2, .fill = {{"O", 0.9}, {"N", 0.4}}},
    };
    struct curve grid, sums;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        static double x[ATOMS][3];
        struct system *s = broken(x); /* in the box they stay */
        observe_all(s, cases[k]);
        from_grid(s, 1, &grid);
        from_sums(s, (const double(*)[3])s->x, &sums);
        double worst = compare(&grid, &sums);
        printf("a box in a cell with %s: %.2g\n", k ? "a solvent" : "its own density", worst);
        assert_true(worst < toy_allowed(1e-4, 1e-5));
        toy_system_free(s);
    }
}

/* What the table says of a whole atom, and of carbon at a wave vector: International Tables C, table 6.1.1.1, at s =
 * 0.5 / A. */
static void test_form_factors(void **state)
{
    static const struct {
        const char *symbol;
        double electrons;
    } cases[] = {{"H", 1}, {"C", 6}, {"O", 8}, {"Cl", 17}, {"Zn", 30}, {"I", 53}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        assert_true(fabs(form_factor(&element_named(cases[k].symbol)->factor, 0) - cases[k].electrons) < 0.03);
    const double q = 4 * M_PI * 5;
    assert_true(fabs(form_factor(&element_named("C")->factor, q * q) - 1.685) < 0.01);
    assert_null(element_named("Xx"));
}

static void test_elements(void **state)
{
    static const struct {
        const char *name, *type;
        int number;
        double mass, charge;
        const char *symbol; /* NULL: refused; empty: scatters nothing */
        int ion;
    } cases[] = {
        {"CA", "CT", 6, 12.011, 0, "C", 0},     {"CA", "CT", 0, 12.011, 0, "C", 0},  {"CA", "Ca", 0, 40.08, 2, "Ca", 2},
        {"1HB2", "H1", 0, 1.008, 0, "H", 0},    {"HW1", "HW", 1, 4.0, 0, "H", 0},    {"XX", "N3", 0, 14.01, 0, "N", 0},
        {"CL", "Cl-", 17, 35.45, -1, "Cl", -1}, {"NA", "Na+", 0, 22.99, 1, "Na", 1}, {"MW", "M", 0, 0, -1, "", 0},
        {"CH3", "CH3", 0, 15.035, 0, NULL, 0},  {"X1", "opls_1", 0, 5, 0, NULL, 0},  {"UE", "U", 92, 238, 0, NULL, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct system *s = toy_system(1, 3);
        const struct element *element = NULL;
        struct err e = {0};
        strcpy(s->atoms[0].name, cases[k].name);
        strcpy(s->type_names[0], cases[k].type);
        s->type_numbers = xcalloc(1, sizeof *s->type_numbers);
        s->type_numbers[0] = cases[k].number;
        s->atoms[0].mass[0] = cases[k].mass;
        s->atoms[0].charge[0] = cases[k].charge;
        int rc = element_of_atom(s, 0, &element, &e);
        assert_int_equal(rc, cases[k].symbol ? 0 : -ERR_TOPOLOGY);
        if (!cases[k].symbol)
            assert_non_null(strstr(e.msg, "atom 1 ("));
        else if (!*cases[k].symbol)
            assert_null(element);
        else
            assert_true(!strcmp(element->symbol, cases[k].symbol) && element->charge == cases[k].ion);
        toy_system_free(s);
    }
}

/* What cannot be computed is said before a frame is. */
static void test_refused(void **state)
{
    static const struct {
        double spacing, max;
        const char *says;
    } cases[] = {{0.2, 30, "hold up to"}, {0.05, 30, NULL}, {0.004, 30, "at most"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct system *s = random_atoms(triclinic, 1);
        struct saxs_plan p;
        struct err e = {0};
        observe_all(s, (struct saxs_choice){.order = 4, .spacing = cases[k].spacing});
        int rc = saxs_plan_make(&p, &s->observables[0], s, &e);
        assert_int_equal(rc, cases[k].says ? -ERR_SPEC : 0);
        if (cases[k].says)
            assert_non_null(strstr(e.msg, cases[k].says));
        if (!rc)
            saxs_plan_close(&p);
        toy_system_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_triclinic),    cmocka_unit_test(test_solute),   cmocka_unit_test(test_fill),
        cmocka_unit_test(test_form_factors), cmocka_unit_test(test_elements), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
