/* SPDX-License-Identifier: Apache-2.0
 *
 * The beginning of an evaluation and the end of a piece of work; digests of tables.
 */
#include <string.h>

#include "engine/math/digest.h"
#include "engine/run/ctl.h"
#include "engine/cpu/kernels.h"

void cpu_clear(const struct launch *launch, const struct args_clear *a)
{
    struct ctl *c = a->ctl;
    if (c->halt)
        return;
    memset(a->f, 0, (size_t)a->natoms * 3 * sizeof(int64_t));
    memset(a->energy_at_window, 0, (size_t)a->nwindows * sizeof(struct fixed_sum));
    memset(&c->sum, 0, sizeof c->sum);
    memset(c->coordination, 0, sizeof c->coordination);
    c->pressure_correction = 0;
}

void cpu_report(const struct launch *launch, const struct args_report *a)
{
    struct ctl *c = a->ctl;
    struct sim_report *r = report_at(a->report, report_bytes((int32_t)a->nwindows), c->tickets + 1);
    if (c->halt && c->trial) {
        memcpy(a->x, a->x_old, (size_t)a->natoms * 3 * sizeof(double));
        memcpy(c->box, c->box_old, sizeof c->box);
        c->trial = 0;
    }
    c->tickets++;
    r->ctl = *c;
    memcpy(report_energies(r), a->energy_at_window, (size_t)a->nwindows * sizeof(struct fixed_sum));
    __atomic_store_n(&r->ticket, c->tickets, __ATOMIC_RELEASE);
}

void cpu_digest(const struct launch *launch, const struct args_digest *a)
{
    for (uint64_t chunk = 0; chunk < digest_chunks(a->words); chunk++)
        ((uint64_t *)a->digests)[chunk] = digest_part(a->tables, a->words, chunk, 0, 1);
}
