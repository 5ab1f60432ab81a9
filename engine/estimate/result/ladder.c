/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "engine/base/units.h"
#include "engine/estimate/result/result.h"

/* Bit c is set when component c changes from window k to the next. */
static unsigned changes(const struct ladder *l, int k)
{
    unsigned set = 0;
    for (int c = 0; c < l->ncomponents; c++)
        set |= (unsigned)(l->lambda[(k + 1) * l->ncomponents + c] != l->lambda[k * l->ncomponents + c]) << c;
    return set;
}

bool ladder_moves(const struct ladder *l, enum lambda component, int from, int to)
{
    for (int c = 0; c < l->ncomponents; c++)
        for (int k = from; k < to && l->component[c] == component; k++)
            if (l->lambda[(k + 1) * l->ncomponents + c] != l->lambda[k * l->ncomponents + c])
                return true;
    return false;
}

/* Runs of steps along which the same components change: the charging leg, the vdw leg. A step along which nothing
 * changes belongs to the leg before it, at the beginning to the one after. */
static void find_legs(struct ladder *l)
{
    unsigned now = 0;
    l->legs = xcalloc((size_t)l->nstates, sizeof *l->legs);
    for (int k = 0; k + 1 < l->nstates; k++) {
        unsigned step = changes(l, k);
        if (step && step != now) {
            l->legs[l->nlegs].from = l->nlegs ? k : 0;
            l->nlegs++;
            now = step;
        }
        if (l->nlegs)
            l->legs[l->nlegs - 1].to = k + 1;
    }
}

static void set_temperature(struct ladder *l, double temperature)
{
    l->temperature = temperature;
    l->beta = 1 / (UNIT_R * temperature);
}

void ladder_of_settings(struct ladder *l, const struct settings *set)
{
    const struct alchemy_settings *a = &set->alchemy;
    *l = (struct ladder){.nstates = a->nwindows, .allow_no_change = a->allow_no_change};
    set_temperature(l, set->integrator.temperature);
    const struct decoupled *gone = a->decouple;
    if (a->kind == ALCHEMY_DECOUPLE && a->ndecouple == 1 && !gone->intramolecular_decouple &&
        gone->on[0] == COUPLED_ALL && !gone->on[1])
        l->molecule = gone->molecule;
    l->b_states = a->kind == ALCHEMY_B_STATES && !a->temper.nmolecules;
    for (int i = 0; i < LAMBDA_FILE_COUNT; i++)
        if (lambda_file_order[i] < LAMBDA_COUNT && a->given[lambda_file_order[i]])
            l->component[l->ncomponents++] = lambda_file_order[i];
    l->lambda = xcalloc((size_t)l->nstates * (size_t)l->ncomponents, sizeof *l->lambda);
    for (int k = 0; k < l->nstates; k++)
        for (int c = 0; c < l->ncomponents; c++)
            l->lambda[k * l->ncomponents + c] = a->lambda[k][l->component[c]];
    find_legs(l);
}

void ladder_of_file(struct ladder *l, const struct dhdl *d)
{
    size_t n = (size_t)d->nstates * (size_t)d->ncomponents;
    *l = (struct ladder){.nstates = d->nstates, .ncomponents = d->ncomponents};
    set_temperature(l, d->temperature);
    memcpy(l->component, d->component, sizeof l->component);
    l->lambda = xcalloc(n, sizeof *l->lambda);
    memcpy(l->lambda, d->states, n * sizeof *l->lambda);
    find_legs(l);
}

void ladder_leg_name(const struct ladder *l, int from, struct buf *out)
{
    unsigned set = 0;
    const char *join = "";
    for (int k = from; !set && k + 1 < l->nstates; k++)
        set = changes(l, k);
    buf_add(out, "", 0);
    for (int c = 0; c < l->ncomponents; c++)
        if (set >> c & 1) {
            buf_printf(out, "%s%s", join, lambda_names[l->component[c]].ours);
            join = "+";
        }
}

void ladder_close(struct ladder *l)
{
    free(l->lambda);
    free(l->legs);
}

size_t window_most(int nstates)
{
    return ESTIMATE_NUMBERS / (size_t)nstates;
}
