/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "tests/lib/toy.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/prepare/cmap.h"

struct system *toy_system(int natoms, double edge)
{
    struct system *s = xcalloc(1, sizeof *s);
    size_t n = (size_t)natoms;
    s->natoms = s->nmolecules = natoms;
    s->atoms = xcalloc(n, sizeof *s->atoms);
    s->molecules = xcalloc(n, sizeof *s->molecules);
    s->nkinds = 1;
    s->kinds = xcalloc(1, sizeof *s->kinds);
    strcpy(s->kinds[0].name, "TOY");
    s->ntypes = 1;
    s->lj = xcalloc(1, sizeof *s->lj);
    s->type_names = xcalloc(1, sizeof *s->type_names);
    s->exclusion_start = xcalloc(n + 1, sizeof *s->exclusion_start);
    s->exclusion = xcalloc(1, sizeof *s->exclusion);
    s->x = xcalloc(n, sizeof *s->x);
    for (int i = 0; i < natoms; i++) {
        s->atoms[i] = (struct atom){.mass = {12, 12}, .molecule = i, .residue = i + 1, .name = "C", .resname = "TOY"};
        s->molecules[i] = (struct molecule){i, 1, 0};
    }
    for (int d = 0; d < 3; d++)
        s->box[d] = edge;
    return s;
}

void toy_system_free(struct system *s)
{
    system_close(s);
    free(s);
}

static void add_group(struct system *s, struct center_restraint *r, int g, const int *atom, int n)
{
    double mass = 0;
    for (int i = 0; i < n; i++)
        mass += s->atoms[atom[i]].mass[0];
    r->first[g] = (uint32_t)s->ncenter_atoms;
    r->count[g] = (uint32_t)n;
    for (int i = 0; i < n; i++)
        toy_add(s, center_atoms, ncenter_atoms,
                (struct center_atom){.atom = atom[i], .weight = s->atoms[atom[i]].mass[0] / mass});
}

void toy_add_centers(struct system *s, const int *one, int none, const int *other, int nother, const double c[2][6])
{
    struct center_restraint r;
    add_group(s, &r, 0, one, none);
    add_group(s, &r, 1, other, nother);
    memcpy(r.c, c, sizeof r.c);
    toy_add(s, centers, ncenters, r);
}

struct settings toy_settings(void)
{
    struct settings set = {
        .nonbonded = {.vdw_cutoff = 0.9,
                      .coulomb_cutoff = 0.9,
                      .vdw_modifier = VDW_POTENTIAL_SWITCH,
                      .vdw_switch = 0.8,
                      .coulomb_modifier = COULOMB_POTENTIAL_SHIFT,
                      .ewald_tolerance = 1e-5,
                      .pme_order = 4,
                      .pme_spacing = 0.12},
        .alchemy = {.nwindows = 1},
        .integrator = {.timestep = 0.001, .temperature = 300, .friction = 1, .seed = 1},
        .barostat = {.pressure = 1, .every = 25},
        .check_every = 1000,
    };
    return set;
}

/* ---- water ---- */

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static void turn(double q[4], const double p[3], double out[3])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double m[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                      {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                      {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    for (int i = 0; i < 3; i++)
        out[i] = m[i][0] * p[0] + m[i][1] * p[1] + m[i][2] * p[2];
}

static void place_water(struct system *s, int m, const double center[3], uint64_t *random)
{
    static const double hh = 0.16329931618554522; /* tetrahedral H-O-H */
    double h = sqrt(0.01 - 0.25 * hh * hh);
    const double shape[3][3] = {{0, 0, 0}, {0.5 * hh, h, 0}, {-0.5 * hh, h, 0}};
    double q[4], norm = 0;
    for (int k = 0; k < 4; k++) {
        q[k] = uniform(random) - 0.5;
        norm += q[k] * q[k];
    }
    for (int k = 0; k < 4; k++)
        q[k] /= sqrt(norm);
    for (int k = 0; k < 3; k++) {
        turn(q, shape[k], s->x[3 * m + k]);
        for (int d = 0; d < 3; d++)
            s->x[3 * m + k][d] += center[d];
    }
}

struct system *toy_water(int side)
{
    int n = side * side * side;
    double spacing = 0.3105; /* nm: 1 g/cm^3 */
    struct system *s = toy_system(3 * n, spacing * side);
    s->nmolecules = n;
    strcpy(s->kinds[0].name, "SOL");
    s->ntypes = 2;
    s->lj = xrealloc(s->lj, 4, sizeof *s->lj);
    memset(s->lj, 0, 4 * sizeof *s->lj);
    s->lj[0] = (struct lj){4 * 0.650194 * pow(0.3165578, 6), 4 * 0.650194 * pow(0.3165578, 12)};
    s->type_names = xrealloc(s->type_names, 2, sizeof *s->type_names);
    strcpy(s->type_names[0], "OW");
    strcpy(s->type_names[1], "HW");
    s->exclusion = xrealloc(s->exclusion, (size_t)(6 * n + 1), sizeof *s->exclusion);
    uint64_t random = 12345;
    for (int m = 0; m < n; m++) {
        double center[3] = {m / (side * side), m / side % side, m % side};
        for (int d = 0; d < 3; d++)
            center[d] = (center[d] + 0.5) * spacing;
        place_water(s, m, center, &random);
        s->molecules[m] = (struct molecule){3 * m, 3, 0};
        for (int k = 0; k < 3; k++) {
            double q = k ? 0.4238 : -0.8476, mass = k ? 1.008 : 15.9994;
            struct atom *a = &s->atoms[3 * m + k];
            *a = (struct atom){.type = {k > 0, k > 0}, .charge = {q, q}, .mass = {mass, mass}, .molecule = m};
            a->residue = m + 1;
            strcpy(a->resname, "SOL");
            strcpy(a->name, k ? "HW" : "OW");
            s->exclusion_start[3 * m + k + 1] = 6 * m + 2 * k + 2;
            s->exclusion[6 * m + 2 * k] = 3 * m + (k == 0);
            s->exclusion[6 * m + 2 * k + 1] = 3 * m + (k == 2 ? 1 : 2);
        }
        toy_add(s, settles, nsettles, (struct settle){3 * m, {3 * m + 1, 3 * m + 2}, 0.1, 0.16329931618554522});
    }
    return s;
}

void toy_add_cmap(struct system *s, int first)
{
    enum { SIDE = 5 };
    double values[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        values[i] = i * 7 % 11 - 4;
    s->ncmap_points = SIDE * SIDE;
    s->cmap_points = xcalloc(SIDE * SIDE, sizeof *s->cmap_points);
    cmap_points_make(values, SIDE, s->cmap_points);
    toy_add(s, cmaps, ncmaps, (struct cmap){{first, first + 1, first + 2, first + 3, first + 4}, 0, SIDE, 0, {1, 0.6}});
}

/* ---- running ---- */

static void must(int rc, const struct err *e)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s: %s\n", err_text(e->code), e->msg);
    abort();
}

#define REFERENCE "cpu:2"

static const char *device_name(void)
{
    const char *name = getenv("SHOAL_TEST_DEVICE");
    return name ? name : REFERENCE;
}

static struct toy open_on(const char *device, const struct system *sys, const struct settings *set, int window)
{
    struct toy t = {0};
    struct err e = {0};
    must(engine_open(&t.dev, device, &e), &e);
    must(model_new(&t.model, t.dev, sys, set, &e), &e);
    t.sim = toy_replica(&t, window, 0);
    return t;
}

struct toy toy_open(const struct system *sys, const struct settings *set, int window)
{
    return open_on(device_name(), sys, set, window);
}

struct toy toy_open_reference(const struct system *sys, const struct settings *set, int window)
{
    return open_on(REFERENCE, sys, set, window);
}

bool toy_refuses(const struct system *sys, const struct settings *set)
{
    struct toy t = {0};
    struct err e = {0};
    must(engine_open(&t.dev, device_name(), &e), &e);
    int rc = model_new(&t.model, t.dev, sys, set, &e);
    if (rc && rc != -ERR_SPEC && rc != -ERR_UNSUPPORTED)
        must(rc, &e);
    if (rc)
        printf("skipped on %s, which refuses it: %s\n", device_name(), e.msg);
    toy_close(&t);
    return rc != 0;
}

double toy_allowed(double full, double mixed)
{
    return strncmp(device_name(), "cpu", 3) ? full + mixed : full;
}

int toy_every(void)
{
    const char *every = getenv("SHOAL_TEST_EVERY");
    return every ? atoi(every) : 1;
}

struct sim *toy_replica(const struct toy *t, int window, uint32_t replica)
{
    struct sim *s;
    struct err e = {0};
    must(sim_new(&s, t->model, window, replica, &e), &e);
    return s;
}

void toy_close(struct toy *t)
{
    sim_free(t->sim);
    model_free(t->model);
    dev_close(t->dev);
    *t = (struct toy){0};
}

int toy_try(struct sim *s, enum sim_work work, uint32_t n, struct err *e)
{
    while (n) {
        int rc = sim_submit(s, work, n, e);
        if (rc == 0)
            rc = sim_get(s, NULL, NULL, NULL, e); /* waits */
        if (rc == 0)
            rc = sim_outcome(s, e);
        if (rc < 0)
            return rc;
        n = rc == SIM_GROW ? n - sim_steps_done(s) : 0;
    }
    return 0;
}

void toy_run(struct sim *s, enum sim_work work, uint32_t n)
{
    struct err e = {0};
    must(toy_try(s, work, n, &e), &e);
}

void toy_relax(struct sim *s, double tolerance, uint32_t steps)
{
    struct err e = {0};
    sim_minimize_setup(s, tolerance);
    toy_run(s, SIM_MINIMIZE, steps);
    must(sim_thermalize(s, &e), &e);
}

void toy_settle(struct system *sys, const struct settings *set, uint32_t steps)
{
    struct toy t = toy_open_reference(sys, set, 0);
    struct err e = {0};
    toy_relax(t.sim, 1000, 50);
    toy_run(t.sim, SIM_STEP, steps);
    must(sim_get(t.sim, sys->x, NULL, NULL, &e), &e);
    toy_close(&t);
}

struct sample toy_sample(struct sim *s, double *delta_u)
{
    struct sample out = {.delta_u = delta_u};
    toy_run(s, SIM_SAMPLE, 1);
    sim_sample(s, &out);
    return out;
}
