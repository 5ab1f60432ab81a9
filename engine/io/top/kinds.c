/* SPDX-License-Identifier: Apache-2.0
 *
 * The interactions that are read, by section and function number (engine/math/bonded_kinds.def).
 */
#include "engine/io/top/top.h"

#include <stdio.h>
#include <string.h>

enum { FUNCTIONS_MOST = 20 };

const struct top_kind_info top_kinds[KIND_COUNT] = {
#define KIND(name, section, text, function, atoms, a, b) [KIND_##name] = {section, text, function, atoms, a, b},
#define RARE(name, section, text, function, atoms, a, b, ...)                                                          \
    [KIND_RARE + RARE_##name] = {section, text, function, atoms, a, b},
#include "engine/math/bonded_kinds.def"
};

int top_kind_of(const char *section, long funct)
{
    if (funct == 9 && !strcmp(section, "dihedrals"))
        return KIND_DIHEDRAL;
    for (int k = 0; k < KIND_COUNT; k++)
        if (top_kinds[k].funct == funct && !strcmp(top_kinds[k].section, section))
            return k;
    return -1;
}

int top_atoms_of(const char *section)
{
    for (int k = 0; k < KIND_COUNT; k++)
        if (!strcmp(top_kinds[k].section, section))
            return top_kinds[k].natoms;
    return 0;
}

const char *top_functions_of(const char *section, char *out, size_t size)
{
    int last = 0;
    size_t used = 0;
    for (int f = 1; f < FUNCTIONS_MOST; f++)
        if (top_kind_of(section, f) >= 0)
            last = f;
    out[0] = '\0';
    for (int f = 1; f <= last && used < size; f++)
        if (top_kind_of(section, f) >= 0)
            used += (size_t)snprintf(out + used, size - used, "%s%d", !used ? "" : f == last ? " or " : ", ", f);
    return out;
}
