/* SPDX-License-Identifier: Apache-2.0
 *
 * The dielectric constant, from how far the dipole M of a periodic box under Ewald sums with a conductor around them
 * (tin foil) goes from its mean: eps = 1 + (<M^2> - <M>^2) / (3 eps0 V kT) (M. Neumann, Mol. Phys. 50, 841 (1983),
 * doi 10.1080/00268978300102721). Its error is that of the jackknife over blocks, from the constants of all blocks but
 * one; or what so many independent dipoles would leave as the mean dipole speaks of, if that is more. Blocks shorter
 * than a dipole lives (10 ps in water) are alike, and know nothing of it, but in a liquid the mean goes to 0: of N
 * independent dipoles of three normal components it has |<M>|^2 = <M^2> / N, and the mean square a variance of 2
 * <M^2>^2 / 3N.
 */
#include <math.h>
#include <stdlib.h>

#include "engine/base/number.h"
#include "engine/base/units.h"
#include "engine/observe/kinds.h"
#include "engine/prepare/alchemy.h"

#define DEBYE 48.03204712 /* in e nm */
#define NEUTRAL 1e-3      /* e: what charges of few digits may leave of a molecule's */

static struct observe_size dielectric_size(const struct observable *o)
{
    return (struct observe_size){.reals = DIPOLE_REALS};
}

/* The charge of atoms `from` up to `to` of the group, in the end state that has more of it. */
static double charge_of(const struct observable *o, const struct system *sys, int32_t from, int32_t to)
{
    double sum[2] = {0, 0};
    for (int32_t i = from; i < to; i++)
        for (int state = 0; state < 2; state++)
            sum[state] += sys->atoms[o->group[0].atom[i]].charge[state];
    return sum[fabs(sum[1]) > fabs(sum[0])];
}

static int dielectric_check(const struct observable *o, const struct system *sys, struct err *e)
{
    int32_t *first;
    const uint32_t n = observe_particles(o, sys, true, &first);
    int rc = 0;
    for (uint32_t m = 0; m < n && !rc; m++) {
        const double charge = charge_of(o, sys, first[m], first[m + 1]);
        const struct atom *a = &sys->atoms[o->group[0].atom[first[m]]];
        if (fabs(charge) > NEUTRAL)
            rc = err_set(e, ERR_SPEC,
                         "%s: %s: the atoms of molecule %d (%s, from atom %d on) in it have a charge of %.6g e: their "
                         "dipole has no value of its own; expected whole molecules without a charge",
                         o->name, o->group[0].label, a->molecule + 1, sys->kinds[sys->molecules[a->molecule].kind].name,
                         o->group[0].atom[first[m]] + 1, charge);
    }
    free(first);
    return rc;
}

static int dielectric_plan(void **plan, const struct observable *o, const struct system *sys,
                           const struct settings *set, struct err *e)
{
    double(*charge)[2] = xcalloc((size_t)o->group[0].n, sizeof *charge);
    for (int i = 0; i < o->group[0].n; i++)
        alchemy_charges(sys, &set->alchemy, o->group[0].atom[i], charge[i]);
    *plan = charge;
    return 0;
}

static const void *dielectric_put(const struct observable *o, const struct system *sys, const void *plan,
                                  struct arena *a)
{
    int32_t *first;
    struct dielectric_table t = {.molecules = observe_particles(o, sys, true, &first)};
    t.first = arena_put_named(a, "molecules with a dipole", first, (t.molecules + 1) * sizeof *first);
    t.charge = arena_put_named(a, "charges of dipoles", plan, (size_t)o->group[0].n * 2 * sizeof(double));
    free(first);
    return arena_put_named(a, "a dielectric constant", &t, sizeof t);
}

/* ---- results ---- */

/* What sums over frames say. */
struct dielectric {
    double constant, error;
    double mean[3], fluctuation; /* of the dipole: debye, debye^2 */
    double molecule;             /* debye */
    double volume;               /* nm^3 */
};

static double fluctuation(const double *sums, double frames)
{
    double square = sums[DIPOLE_SQUARE] / frames;
    for (int d = 0; d < 3; d++)
        square -= sums[DIPOLE_X + d] / frames * (sums[DIPOLE_X + d] / frames);
    return square;
}

/* Of a fluctuation of the dipole: what it adds to 1. */
static double polarization(const struct observe_result *r, const double *sums, double frames, double square)
{
    const double kt = UNIT_R * r->o->dielectric.temperature;
    return 4 * M_PI * UNIT_COULOMB * square / (3 * sums[DIPOLE_VOLUME] / frames * kt);
}

static double constant(const struct observe_result *r, const double *sums, double frames)
{
    return 1 + polarization(r, sums, frames, fluctuation(sums, frames));
}

/* Adds blocks up to that number, the frames of which are returned. */
static double add_blocks(const struct observe_result *r, int blocks, int without, double *sums)
{
    double frames = 0;
    for (int b = 0; b < blocks; b++) {
        if (b == without)
            continue;
        for (int k = 0; k < DIPOLE_REALS; k++)
            sums[k] += observe_reals(r, b)[k];
        frames += (double)(b == r->seen->blocks - 1 ? r->seen->in_block : r->seen->per_block);
    }
    return frames;
}

static double jackknife(const struct observe_result *r)
{
    const int n = observe_full_blocks(r);
    double *without = xcalloc((size_t)n + 1, sizeof *without);
    for (int b = 0; b < n; b++) {
        double sums[DIPOLE_REALS] = {0};
        const double frames = add_blocks(r, n, b, sums);
        without[b] = constant(r, sums, frames);
    }
    /* of blocks that each lack one, the spread is n - 1 times narrower than that of the blocks */
    const double error = (n - 1) * observe_error(without, n, 1);
    free(without);
    return error;
}

/* Of as many independent dipoles as the mean one speaks of. */
static double error_of_few(const struct observe_result *r, const double *sums, double frames)
{
    const double square = sums[DIPOLE_SQUARE] / frames, mean = square - fluctuation(sums, frames);
    return polarization(r, sums, frames, sqrt(2.0 / 3.0 * square * mean));
}

static struct dielectric dielectric_of(const struct observe_result *r)
{
    double sums[DIPOLE_REALS] = {0};
    const double frames = add_blocks(r, (int)r->seen->blocks, -1, sums);
    struct dielectric d = {.constant = constant(r, sums, frames),
                           .error = fmax(jackknife(r), error_of_few(r, sums, frames)),
                           .fluctuation = fluctuation(sums, frames) * DEBYE * DEBYE,
                           .molecule = sums[DIPOLE_MOLECULE] / frames * DEBYE,
                           .volume = sums[DIPOLE_VOLUME] / frames};
    for (int k = 0; k < 3; k++)
        d.mean[k] = sums[DIPOLE_X + k] / frames * DEBYE;
    return d;
}

/* A row a block: what all frames up to its end say. */
static void dielectric_file(const struct observe_result *r, struct buf *out)
{
    static const char *const legends[] = {"dielectric constant of the frames so far", "mean dipole of a molecule (D)",
                                          "mean dipole, x (D)", "mean dipole, y (D)", "mean dipole, z (D)"};
    const struct dielectric d = dielectric_of(r);
    buf_printf(out, "# dielectric constant %.8g +- %.3g at %g K, <M^2> - <M>^2 = %.8g D^2, volume %.8g nm^3\n",
               d.constant, d.error, r->o->dielectric.temperature, d.fluctuation, d.volume);
    observe_header(out, "Dielectric constant", "frames", "\\xe\\f{}", legends, 5);
    for (int b = 0; b < r->seen->blocks; b++) {
        double sums[DIPOLE_REALS] = {0};
        const double frames = add_blocks(r, b + 1, -1, sums);
        buf_printf(out, "%.10g %.8g %.8g", frames, constant(r, sums, frames), sums[DIPOLE_MOLECULE] / frames * DEBYE);
        for (int k = 0; k < 3; k++)
            buf_printf(out, " %.8g", sums[DIPOLE_X + k] / frames * DEBYE);
        buf_printf(out, "\n");
    }
}

static void dielectric_json(const struct observe_result *r, bool curves, struct writer *w)
{
    const struct dielectric d = dielectric_of(r);
    jw_real(w, "mean_volume_nm3", d.volume);
    jw_begin(w, "dielectric", '{');
    jw_real(w, "constant", d.constant);
    jw_real(w, "error", d.error);
    jw_real(w, "temperature_k", r->o->dielectric.temperature);
    jw_real(w, "fluctuation_debye2", d.fluctuation);
    observe_list(w, "mean_dipole_debye", d.mean, 3);
    jw_real(w, "molecule_dipole_debye", d.molecule);
    jw_end(w, '}');
}

static void dielectric_summary(const struct observe_result *r, struct buf *out)
{
    const struct dielectric d = dielectric_of(r);
    buf_printf(out, "dielectric constant ");
    number_with_error(out, d.constant, d.error);
    buf_printf(out, " at %.5g K", r->o->dielectric.temperature);
}

/* The square of the dipole, whose mean is all but what it fluctuates by. */
static int dielectric_of_blocks(const struct observe_result *r, double *value)
{
    const int n = observe_full_blocks(r);
    for (int b = 0; b < n; b++)
        value[b] = observe_reals(r, b)[DIPOLE_SQUARE] / (double)r->seen->per_block;
    return n;
}

/* In a liquid the mean of N independent dipoles has the square <M^2> / N. */
static double dielectric_independent(const struct observe_result *r)
{
    double sums[DIPOLE_REALS] = {0};
    const double frames = add_blocks(r, (int)r->seen->blocks, -1, sums), square = sums[DIPOLE_SQUARE] / frames;
    return square / (square - fluctuation(sums, frames));
}

const struct observe_kind dielectric_kind = {.size = dielectric_size,
                                             .plan = dielectric_plan,
                                             .plan_free = free,
                                             .check = dielectric_check,
                                             .put = dielectric_put,
                                             .file = dielectric_file,
                                             .json = dielectric_json,
                                             .summary = dielectric_summary,
                                             .of_blocks = dielectric_of_blocks,
                                             .independent = dielectric_independent};
