/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/predict.h"

#include <stdlib.h>

#include "engine/io/output.h"
#include "engine/series/dhdl.h"
#include "engine/series/energy.h"

#define CHECKPOINT_BYTES_PER_ATOM 48.0 /* positions and velocities in double precision */
#define GRO_BYTES_PER_ATOM 69.0        /* with velocities */

#define BYTES_OF_WORK 40.0        /* a line of work.tsv */
#define BYTES_OF_SLOPES 450.0     /* the head of a file with dH/dlambda of a switch, */
#define BYTES_OF_SLOPE 22.0       /* and a row */
#define EVALUATIONS_OF_CHANGE 1.0 /* the work of one change of lambda, beside its timesteps */

/* Bytes of one row of each kind, of one frame. */
struct sizes {
    double dhdl, energy, frame;
};

static struct sizes measure_rows(const struct spec *s, const struct system *sys, bool pv)
{
    const struct settings *set = &s->settings;
    struct buf b = {0};
    struct sizes sizes;
    struct sample row = {.time = 1234.5, .potential = -12345.678, .kinetic = 1234.5678, .density = 998.7654321};
    row.delta_u = xcalloc((size_t)set->alchemy.nwindows, sizeof *row.delta_u);
    for (int i = 0; i < set->alchemy.nwindows; i++)
        row.delta_u[i] = 12.345678;
    for (int i = 0; i < LAMBDA_COUNT; i++)
        row.dvdl[i] = -12.345678;
    dhdl_row(&b, set, pv, &row);
    sizes.dhdl = (double)b.len;
    b.len = 0;
    energy_row(&b, set, sys, &row);
    sizes.energy = (double)b.len;
    b.len = 0;
    xtc_frame(&b, sys->natoms, (const double(*)[3])sys->x, sys->box, 0, 0);
    sizes.frame = (double)b.len;
    buf_free(&b);
    free(row.delta_u);
    return sizes;
}

static double times(uint64_t steps, uint64_t every)
{
    return every ? (double)(steps / every) : 0;
}

double spec_switching_share(const struct spec *s)
{
    double produced = 0, switched = 0;
    for (int i = 0; i < s->nstages; i++) {
        const struct stage *stage = &s->stages[i];
        produced += stage->kind == STAGE_PRODUCE ? (double)stage->steps : 0;
        switched += times(stage->steps, stage->switch_every) * (double)switch_steps(&s->settings.switching);
    }
    return produced > 0 ? switched / produced : 0;
}

struct prediction spec_predict(const struct spec *s, const struct system *sys)
{
    struct prediction p = {.replicas = spec_windows_placed(s) * s->repeats};
    bool pv = false;
    for (int i = 0; i < s->nstages; i++)
        pv |= s->stages[i].kind == STAGE_PRODUCE && s->stages[i].npt;
    struct sizes bytes = measure_rows(s, sys, pv);
    for (int i = 0; i < s->nstages; i++) {
        const struct stage *stage = &s->stages[i];
        double rows = times(stage->steps, stage->sample_every);
        p.evaluations += (double)stage->steps;
        if (stage->kind == STAGE_MINIMIZE)
            continue;
        p.ns += (double)stage->steps * stage->timestep * 1e-3;
        p.switches += times(stage->steps, stage->switch_every);
        p.evaluations += rows + (stage->npt ? 2 * times(stage->steps, (uint64_t)s->settings.barostat.every) : 0);
        p.evaluations += s->settings.waters.on ? 2 * times(stage->steps, (uint64_t)s->settings.waters.every) : 0;
        p.replica_bytes += rows * bytes.energy;
        if (stage->kind == STAGE_PRODUCE)
            p.replica_bytes += rows * bytes.dhdl + times(stage->steps, stage->frames_every) * bytes.frame;
    }
    const struct switch_settings *way = &s->settings.switching;
    p.switch_ns = (double)switch_steps(way) * s->settings.integrator.timestep * 1e-3;
    p.ns += p.switches * p.switch_ns;
    p.evaluations += p.switches * way->changes * (way->every + EVALUATIONS_OF_CHANGE);
    p.replica_bytes += p.switches * BYTES_OF_WORK;
    if (s->slopes_every)
        p.replica_bytes +=
            p.switches * (BYTES_OF_SLOPES + BYTES_OF_SLOPE * (times(switch_steps(way), s->slopes_every) + 1));
    p.replica_bytes += (2 * CHECKPOINT_BYTES_PER_ATOM + GRO_BYTES_PER_ATOM) * sys->natoms;
    return p;
}

json_t *spec_switching_json(const struct spec *s, const struct prediction *p)
{
    return json_pack("{s:i,s:f,s:f,s:i,s:i}", "walkers", s->walkers, "switches_per_walker", p->switches, "length_ns",
                     p->switch_ns, "changes", s->settings.switching.changes, "change_every_steps",
                     s->settings.switching.every);
}
