/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker molecules TOPOLOGY: the molecule types of a topology, for `shoal init`: one JSON object
 *   {"molecules": [{name, copies, atoms (of one), charge (e, of one, state A), kind, b_states}, ..]}
 * in the order of the topology. kind: "water", "ion" (one charged atom), "solvent" (any other with ten copies or more)
 * or "solute"; b_states: atoms of it have another type, charge or mass in state B.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/worker/command/commands.h"
#include "daemon/worker/command/line.h"
#include "daemon/worker/offline/input.h"
#include "engine/base/json/text_json.h"
#include "engine/io/io.h"

enum { MANY = 10 };

struct seen {
    int copies, atoms, massive;
    double charge, mass, heaviest; /* amu */
    bool b_states;
};

static void see_atom(struct seen *s, const struct atom *a)
{
    s->atoms++;
    s->massive += a->mass[0] > 0;
    s->charge += a->charge[0];
    s->mass += a->mass[0];
    s->heaviest = fmax(s->heaviest, a->mass[0]);
    s->b_states |= a->type[0] != a->type[1] || a->charge[0] != a->charge[1] || a->mass[0] != a->mass[1];
}

/* An oxygen and two hydrogens of any isotope, however their masses are spread, with sites or without. */
static bool is_water(const struct seen *s)
{
    return s->massive == 3 && s->mass > 17.9 && s->mass < 20.2 && s->heaviest > 9 && s->heaviest < 16.1;
}

static const char *name_kind(const struct seen *s)
{
    if (is_water(s))
        return "water";
    if (s->massive == 1 && fabs(s->charge) > 0.5)
        return "ion";
    return s->copies < MANY ? "solute" : "solvent";
}

static void print_molecules(const struct system *sys)
{
    struct seen *seen = xcalloc((size_t)sys->nkinds, sizeof *seen);
    json_t *list = json_array(), *all;
    for (int m = 0; m < sys->nmolecules; m++) {
        struct seen *s = &seen[sys->molecules[m].kind];
        for (int i = 0; i < sys->molecules[m].count && !s->copies; i++)
            see_atom(s, &sys->atoms[sys->molecules[m].first + i]);
        s->copies++;
    }
    for (int k = 0; k < sys->nkinds; k++)
        if (seen[k].copies)
            json_array_append_new(list, json_pack("{s:o,s:i,s:i,s:f,s:s,s:b}", "name",
                                                  text_json(sys->kinds[k].name, strlen(sys->kinds[k].name)), "copies",
                                                  seen[k].copies, "atoms", seen[k].atoms, "charge", seen[k].charge,
                                                  "kind", name_kind(&seen[k]), "b_states", seen[k].b_states));
    all = json_pack("{s:o}", "molecules", list);
    json_dumpf(all, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(all);
    free(seen);
}

int molecules_main(int argc, char **argv)
{
    struct args_list includes = {.n = 0};
    static const struct arg rows[] = {{.name = "include", .argument = "DIR", .kind = ARG_LIST}};
    static const struct command_line line = {"molecules", "TOPOLOGY", 1, 1, rows, sizeof rows / sizeof *rows, NULL};
    int words, code;
    if (!command_line_read(&line, &includes, argc, argv, &words, &code))
        return code;
    struct err e = {0};
    struct system sys = {0};
    struct source *src = input_source(".", includes.items, includes.n);
    int rc = top_read(&sys, src, argv[1], NULL, 0, &e);
    if (!rc)
        print_molecules(&sys);
    system_close(&sys);
    source_free(src);
    return rc ? exit_with("init", &e) : EXIT_OK;
}
