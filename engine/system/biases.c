/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "engine/base/buf.h"
#include "engine/system/system.h"

static uint32_t add_atoms(struct system *sys, const int *atom, int n)
{
    const int first = sys->ncoordination_atoms;
    sys->ncoordination_atoms += n;
    sys->coordination_atoms =
        xrealloc(sys->coordination_atoms, (size_t)sys->ncoordination_atoms, sizeof *sys->coordination_atoms);
    for (int k = 0; k < n; k++)
        sys->coordination_atoms[first + k] = atom[k];
    return (uint32_t)first;
}

/* The group that becomes the first. */
static int first_of(const struct coordination *c, const int n[2])
{
    return c->pairs == COORDINATION_BETWEEN && n[1] < n[0];
}

struct coordination coordination_sized(struct coordination c, const int n[2])
{
    const int first = first_of(&c, n);
    c.count[0] = (uint32_t)n[first];
    c.count[1] = (uint32_t)n[c.pairs == COORDINATION_WITHIN ? 0 : !first];
    return c;
}

void system_add_coordination(struct system *sys, struct coordination c, const int *const group[2], const int n[2])
{
    const int first = first_of(&c, n);
    c = coordination_sized(c, n);
    c.first[0] = add_atoms(sys, group[first], n[first]);
    c.first[1] = c.pairs == COORDINATION_WITHIN ? c.first[0] : add_atoms(sys, group[!first], n[!first]);
    sys->coordinations = xrealloc(sys->coordinations, (size_t)sys->ncoordinations + 1, sizeof *sys->coordinations);
    sys->coordinations[sys->ncoordinations++] = c;
}
