/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/schedule/energy/meter.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "engine/base/buf.h"

static struct energy_claim *claim_of(const struct energy_meter *m, const struct ensemble *e)
{
    for (int i = 0; i < m->n; i++)
        if (m->claims[i].ensemble == e)
            return &m->claims[i];
    return NULL;
}

static struct energy_claim *new_claim(struct energy_meter *m, struct ensemble *e)
{
    if (m->n == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 8;
        m->claims = xrealloc(m->claims, (size_t)m->cap, sizeof *m->claims);
    }
    m->claims[m->n] = (struct energy_claim){.ensemble = e};
    return &m->claims[m->n++];
}

/* Claims to nothing go. */
static void tidy(struct energy_meter *m)
{
    int kept = 0;
    for (int i = 0; i < m->n; i++)
        if (m->claims[i].ms > 0 || m->claims[i].joules > 0)
            m->claims[kept++] = m->claims[i];
    m->n = kept;
}

void energy_claim(struct energy_meter *m, struct ensemble *e, double ms)
{
    if (!m->millijoules || ms <= 0)
        return;
    struct energy_claim *c = claim_of(m, e);
    c = c ? c : new_claim(m, e);
    c->ms += ms;
}

static void share(struct energy_meter *m, double joules, double ms)
{
    double idle = joules;
    for (int i = 0; i < m->n; i++) {
        const double part = joules * m->claims[i].ms / ms;
        m->claims[i].joules += part;
        idle -= part;
    }
    m->joules += joules;
    m->idle += fmax(idle, 0); /* rounding */
}

void energy_read(struct energy_meter *m, int64_t now, int64_t millijoules)
{
    if (m->millijoules && millijoules >= m->millijoules) {
        if (now <= m->read_at)
            return; /* too early to tell: it is the next stretch's */
        share(m, (double)(millijoules - m->millijoules) * 1e-3, (double)(now - m->read_at));
    }
    for (int i = 0; i < m->n; i++)
        m->claims[i].ms = 0;
    tidy(m);
    m->millijoules = millijoules;
    m->read_at = now;
}

double energy_take(struct energy_meter *m, const struct ensemble *e)
{
    struct energy_claim *c = claim_of(m, e);
    const double joules = c ? c->joules : 0;
    if (c)
        c->joules = 0;
    tidy(m);
    return joules;
}

struct ensemble *energy_next(const struct energy_meter *m)
{
    for (int i = 0; i < m->n; i++)
        if (m->claims[i].joules > 0)
            return m->claims[i].ensemble;
    return NULL;
}

void energy_forget(struct energy_meter *m, const struct ensemble *e)
{
    struct energy_claim *c = claim_of(m, e);
    if (c)
        c->ms = c->joules = 0;
    tidy(m);
}

void energy_close(struct energy_meter *m)
{
    free(m->claims);
    *m = (struct energy_meter){0};
}
