/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/observe/lags.h"

#include <math.h>
#include <stdlib.h>

#include "engine/observe/kinds.h"

#define STATE_MOST 2e9  /* bytes */
#define FRAMES_MOST 1e9 /* up to the longest lag */

static double in_frames(const struct observable *o, double time)
{
    return time / o->interval;
}

/* A number that observables can have of frames; more than that are too many (lags_check). */
static uint32_t whole(double frames)
{
    return (uint32_t)fmin(frames, FRAMES_MOST);
}

static uint32_t lags_of(const struct observable *o)
{
    return whole(floor(in_frames(o, o->lags.max) + 1e-3)) + 1;
}

static uint32_t restart_of(const struct observable *o)
{
    const double restart = o->lags.restart;
    const uint32_t frames = whole(restart > 0 ? rint(in_frames(o, restart)) : floor(in_frames(o, -restart) + 1e-3));
    return frames ? frames : 1;
}

/* Kept at a time. */
static uint32_t origins_of(const struct observable *o)
{
    return (lags_of(o) - 1) / restart_of(o) + 1;
}

static bool of_velocities(const struct observable *o)
{
    return o->kind == OBSERVE_VACF;
}

static double state_bytes(const struct observable *o)
{
    /* as many particles as atoms: what fewer need is less */
    const double arrays = 1.0 + origins_of(o) + (of_velocities(o) ? 0 : 2);
    return 3.0 * sizeof(double) * o->group[0].n * arrays;
}

struct observe_size lags_size(const struct observable *o)
{
    return (struct observe_size){.counts = lags_of(o), .reals = lags_of(o) + 1, .state = (uint64_t)state_bytes(o)};
}

static int check_restart(const struct observable *o, struct err *e)
{
    const double frames = in_frames(o, o->lags.restart);
    if (o->lags.restart <= 0 || (frames > 0.5 && fabs(frames - rint(frames)) < 1e-3 * frames))
        return 0;
    return err_set(e, ERR_SPEC, "%s: restart %.10g ps: expected a whole multiple of the time between frames, %.10g ps",
                   o->name, o->lags.restart, o->interval);
}

int lags_check(const struct observable *o, const struct system *sys, struct err *e)
{
    if (!(o->interval > 0))
        return err_set(e, ERR_SPEC, "%s: expected two frames or more with known times, later ones behind earlier ones",
                       o->name);
    if (lags_of(o) < 2)
        return err_set(e, ERR_SPEC, "%s: max %.10g ps: expected at least the time between frames, %.10g ps", o->name,
                       o->lags.max, o->interval);
    int rc = check_restart(o, e);
    if (!rc && state_bytes(o) > STATE_MOST)
        rc = err_set(
            e, ERR_SPEC,
            "%s: %.3g GB for the origins of %.10g ps of %d atoms: expected a shorter max, or origins less often "
            "(restart), %.3g GB at most",
            o->name, 1e-9 * state_bytes(o), o->lags.max, o->group[0].n, 1e-9 * STATE_MOST);
    if (!rc && in_frames(o, o->lags.max) > FRAMES_MOST)
        rc = err_set(e, ERR_SPEC,
                     "%s: max %.10g ps: %.3g times the time between frames, %.10g ps; expected at most %.3g", o->name,
                     o->lags.max, in_frames(o, o->lags.max), o->interval, FRAMES_MOST);
    return rc;
}

/* Masses, or 1 each where none of them has one. */
static void put_weights(const struct system *sys, const int *atom, int n, double *weight)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += sys->atoms[atom[i]].mass[0];
    for (int i = 0; i < n; i++)
        weight[i] = sum > 0 ? sys->atoms[atom[i]].mass[0] / sum : 1.0 / n;
}

const void *lags_put(const struct observable *o, const struct system *sys, const void *plan, struct arena *a)
{
    const struct atom_group *g = &o->group[0];
    int32_t *first;
    struct lag_table t = {.lags = lags_of(o),
                          .restart = restart_of(o),
                          .origins = origins_of(o),
                          .velocities = of_velocities(o),
                          .particles = observe_particles(o, sys, o->lags.molecules, &first)};
    double *weight = xcalloc((size_t)g->n, sizeof *weight), *all = xcalloc((size_t)g->n, sizeof *all);
    double *share = xcalloc(t.particles, sizeof *share);
    put_weights(sys, g->atom, g->n, all);
    for (uint32_t p = 0; p < t.particles; p++) {
        put_weights(sys, g->atom + first[p], first[p + 1] - first[p], weight + first[p]);
        for (int i = first[p]; i < first[p + 1]; i++)
            share[p] += all[i];
    }
    t.first = arena_put(a, first, (t.particles + 1) * sizeof *first);
    t.weight = arena_put(a, weight, (size_t)g->n * sizeof *weight);
    if (o->lags.center)
        t.share = arena_put(a, share, t.particles * sizeof *share);
    free(first);
    free(weight);
    free(all);
    free(share);
    return arena_put_named(a, "lags of time", &t, sizeof t);
}

/* ---- results ---- */

/* Of blocks `from` and `width - 1` behind it. */
static void block_mean(const struct observe_result *r, int from, int width, uint32_t lags, double *mean)
{
    for (uint32_t k = 0; k < lags; k++) {
        double sum = 0, n = 0;
        for (int b = from; b < from + width; b++) {
            sum += observe_reals(r, b)[k];
            n += (double)observe_counts(r, b)[k];
        }
        mean[k] = sum / n;
    }
}

void lags_errors(const struct observe_result *r, double longest, struct lag_curve *c)
{
    const double frames =
        1 + rint(longest / r->o->interval); /* the first block has no origin for a lag of its length */
    const int width = (int)ceil(frames / (double)r->seen->per_block);
    c->blocks = observe_full_blocks(r) / width;
    c->of_block = xcalloc((size_t)c->blocks + 1, c->lags * sizeof *c->of_block);
    for (int b = 0; b < c->blocks; b++)
        block_mean(r, b * width, width, c->lags, c->of_block + (size_t)b * c->lags);
    for (uint32_t k = 0; k < c->lags; k++)
        c->error[k] = observe_error(c->of_block + k, c->blocks, c->lags);
}

struct lag_curve lags_curve(const struct observe_result *r)
{
    const uint32_t most = lags_of(r->o);
    struct lag_curve c = {.origins = observe_total_counts(r)};
    double *sum = observe_total_reals(r);
    while (c.lags < most && c.origins[c.lags])
        c.lags++;
    c.mean = xcalloc(c.lags, sizeof *c.mean);
    c.error = xcalloc(c.lags, sizeof *c.error);
    for (uint32_t k = 0; k < c.lags; k++)
        c.mean[k] = sum[k] / (double)c.origins[k];
    c.edge = sum[most] / (double)r->seen->frames;
    free(sum);
    return c;
}

void lags_close(struct lag_curve *c)
{
    free(c->origins);
    free(c->mean);
    free(c->error);
    free(c->of_block);
}

void lags_origins(const struct lag_curve *c, struct writer *w)
{
    jw_begin(w, "origins", '[');
    for (uint32_t k = 0; k < c->lags; k++)
        jw_integer(w, NULL, (size_t)c->origins[k]);
    jw_end(w, ']');
}
