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

void system_add_coordination(struct system *sys, struct coordination c, const int *const group[2], const int n[2])
{
    const int small = c.pairs == COORDINATION_BETWEEN && n[1] < n[0];
    for (int g = 0; g < 2; g++) {
        const int from = c.pairs == COORDINATION_WITHIN ? 0 : g ^ small;
        c.count[g] = (uint32_t)n[from];
        c.first[g] = g && c.pairs == COORDINATION_WITHIN ? c.first[0] : add_atoms(sys, group[from], n[from]);
    }
    sys->coordinations = xrealloc(sys->coordinations, (size_t)sys->ncoordinations + 1, sizeof *sys->coordinations);
    sys->coordinations[sys->ncoordinations++] = c;
}
