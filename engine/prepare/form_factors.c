/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/prepare/form_factors.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "engine/system/lines.h"

#define WEIGHT_TOLERANCE 0.3 /* u: between neighbours there is more, where their symbols begin alike */

/* 1/A^2 to 1/nm^2 */
#define W(b) ((b) / 100)
static const struct element elements[] = {
#define F(symbol, number, charge, weight, a1, a2, a3, a4, b1, b2, b3, b4, c)                                           \
    {#symbol, number, charge, weight, {{a1, a2, a3, a4}, {W(b1), W(b2), W(b3), W(b4)}, c}},
#include "engine/prepare/form_factors.def"
#undef F
};
enum { ELEMENTS = sizeof elements / sizeof elements[0] };

const struct element *element_named(const char *symbol)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (!strcmp(elements[i].symbol, symbol))
            return &elements[i];
    return NULL;
}

static const struct element *numbered(int number)
{
    for (int i = 0; i < ELEMENTS; i++)
        if (elements[i].number == number)
            return &elements[i];
    return NULL;
}

/* The element whose symbol a name begins with, two letters before one, if the mass is its. */
static const struct element *guess(const char *name, double mass)
{
    while (*name && !isalpha((unsigned char)*name))
        name++;
    for (int letters = 2; letters; letters--) {
        char symbol[3] = {(char)toupper((unsigned char)name[0])};
        if (letters == 2)
            symbol[1] = (char)(name[0] ? tolower((unsigned char)name[1]) : 0);
        const struct element *found = element_named(symbol);
        if (found && fabs(found->weight - mass) < WEIGHT_TOLERANCE)
            return found;
    }
    return NULL;
}

static const struct element *charged(const struct element *neutral, double charge)
{
    for (const struct element *i = neutral; i < elements + ELEMENTS && i->number == neutral->number; i++)
        if (fabs(i->charge - charge) < 0.5)
            return i;
    return neutral;
}

int element_of_atom(const struct system *sys, int atom, const struct element **out, struct err *e)
{
    const struct atom *a = &sys->atoms[atom];
    const char *type = sys->type_names[a->type[0]];
    int number = sys->type_numbers ? sys->type_numbers[a->type[0]] : 0;
    const double mass = sys->weights ? sys->weights[atom] : a->mass[0];
    *out = NULL;
    if (mass == 0)
        return 0;
    const struct element *found = number > 0 ? numbered(number) : guess(a->name, mass);
    if (!found && number <= 0)
        found = guess(type, mass);
    if (!found && number > 0)
        err_set(e, ERR_TOPOLOGY,
                "atom %d (%s of %s): its type %s has atomic number %d, which there is no form factor for", atom + 1,
                a->name, a->resname, type, number);
    else if (!found)
        err_set(e, ERR_TOPOLOGY,
                "atom %d (%s of %s): its type %s has no atomic number, and name and mass (%g) are no element's: "
                "expected the number in [ atomtypes ]",
                atom + 1, a->name, a->resname, type, mass);
    if (!found)
        return system_blame(sys, &atom, 1, e);
    *out = sys->molecules[a->molecule].count == 1 ? charged(found, a->charge[0]) : found;
    return 0;
}
