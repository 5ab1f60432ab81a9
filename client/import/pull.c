/* SPDX-License-Identifier: Apache-2.0
 *
 * The pull code, as far as it holds the centers of two groups together: a spec's restraints.
 */
#include <stdio.h>
#include <string.h>

#include "client/import/internal.h"
#include "client/specs/spec_file.h"

enum { RESTRAINTS_MAX = 16 }; /* as schemas/ensemble.schema.json has it */

/* "pull-coord2-k" */
static const char *named(char name[48], const char *object, int number, const char *key)
{
    snprintf(name, 48, "pull-%s%d-%s", object, number, key);
    return name;
}

/* An option that the spec's restraint says the same of. */
static void keep(struct mdp *m, const char *name)
{
    if (mdp_value(m, name))
        mdp_say(m, name, MDP_KEPT, "restraints");
}

/* What of a coordinate no restraint has. */
static void check_coordinate(struct mdp *m, int number)
{
    static const char *const keys[] = {"geometry", "dim", "start", "rate"};
    char name[48];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        keep(m, named(name, "coord", number, keys[i]));
    if (!mdp_is(m, named(name, "coord", number, "geometry"), "distance", "distance"))
        mdp_say(m, name, MDP_REFUSED, "expected distance: a restraint acts along the line between two centers of mass");
    const char *dim = mdp_value(m, named(name, "coord", number, "dim"));
    if (dim && strpbrk(dim, "nN"))
        mdp_say(m, name, MDP_REFUSED, "expected Y Y Y: distances are those in space");
    if (mdp_number(m, named(name, "coord", number, "rate"), 0) != 0)
        mdp_say(m, name, MDP_REFUSED, "expected 0: a restraint that moves has no equilibrium");
}

static void write_group(struct mdp *m, int number, struct buf *out)
{
    char name[48];
    const char *group = mdp_value(m, named(name, "group", number, "name"));
    if (!group)
        mdp_say(m, name, MDP_REFUSED, "expected the name of a group of atoms");
    else
        mdp_say(m, name, MDP_KEPT, "a group of the spec's index file");
    if (mdp_value(m, named(name, "group", number, "weights")))
        mdp_say(m, name, MDP_REFUSED, "expected none: centers are those of mass");
    buf_printf(out, "{group: ");
    spec_text(out, group ? group : "?");
    buf_printf(out, "}");
}

static void write_groups(struct mdp *m, int number, struct buf *out)
{
    char name[48];
    double group[2] = {0};
    int n = mdp_numbers(m, named(name, "coord", number, "groups"), 0, group, 2);
    buf_printf(out, "  - between: [");
    if (n != 2 || group[0] < 1 || group[1] < 1) {
        mdp_say(m, name, MDP_REFUSED, "expected two groups, from 1 on: 0 is a place in space, not a center");
    } else {
        mdp_say(m, name, MDP_KEPT, "restraints");
        write_group(m, (int)group[0], out);
        buf_printf(out, ", ");
        write_group(m, (int)group[1], out);
    }
    buf_printf(out, "]\n");
}

/* Where it is zero, or where walls begin; the distance that the coordinates have is read with them. */
static void write_reference(struct mdp *m, int number, const char *key, struct buf *out)
{
    char start[48], init[48];
    const double at = mdp_number(m, named(init, "coord", number, "init"), 0);
    const bool from_start = !mdp_is(m, named(start, "coord", number, "start"), "no", "no|false");
    keep(m, init);
    if (from_start && (strcmp(key, "distance") != 0 || at != 0))
        mdp_say(m, start, MDP_REFUSED, "expected no: give the distance that is meant as init");
    if (from_start)
        buf_printf(out, "    %s: start\n", key);
    else
        buf_printf(out, "    %s: %.10g nm\n", key, at);
}

static void write_wall(struct mdp *m, int number, struct buf *out)
{
    static const char *const kinds[][2] = {
        {"umbrella", "distance"}, {"flat-bottom", "upper"}, {"flat-bottom-high", "lower"}};
    char type[48];
    named(type, "coord", number, "type");
    for (int k = 0; k < 3; k++)
        if (mdp_is(m, type, "umbrella", kinds[k][0])) {
            keep(m, type);
            write_reference(m, number, kinds[k][1], out);
            return;
        }
    mdp_say(m, type, MDP_REFUSED,
            "expected umbrella, flat-bottom or flat-bottom-high: restraints are potentials of a distance");
}

/* k, and what it is at lambda 1, which the restraint lambda leads to. */
static void write_strength(struct mdp *m, int number, bool changes, struct buf *out)
{
    char name[48];
    double k[2];
    k[0] = mdp_number(m, named(name, "coord", number, "k"), 0);
    keep(m, name);
    buf_printf(out, "    force-constant: %.10g kJ/mol/nm^2\n", k[0]);
    k[1] = mdp_number(m, named(name, "coord", number, "kB"), k[0]);
    if (mdp_value(m, name))
        mdp_say(m, name, changes ? MDP_KEPT : MDP_IDLE, changes ? "restraints" : "of restraint-lambdas");
    if (changes && k[1] != k[0])
        buf_printf(out, "    b: {force-constant: %.10g kJ/mol/nm^2}\n", k[1]);
}

static bool restraints_change(const struct mdp *m)
{
    static const char *const ladders[] = {"restraint-lambdas", "bonded-lambdas", "fep-lambdas", "init-lambda"};
    bool any = false;
    for (size_t i = 0; i < sizeof ladders / sizeof *ladders; i++)
        any |= mdp_value(m, ladders[i]) != NULL;
    return any && import_perturbs(m);
}

static void coordinate(struct mdp *m, int number, struct buf *out)
{
    check_coordinate(m, number);
    write_groups(m, number, out);
    write_wall(m, number, out);
    write_strength(m, number, restraints_change(m), out);
}

bool import_pulls(const struct mdp *m)
{
    return mdp_is(m, "pull", "no", "yes|true");
}

void import_pull(struct mdp *m, struct buf *out)
{
    if (!import_pulls(m)) {
        if (!mdp_is(m, "pull", "no", "no|false"))
            mdp_say(m, "pull", MDP_REFUSED, "expected yes or no; what older GROMACS says here is pull-coord1-type now");
        return;
    }
    int n = (int)mdp_number(m, "pull-ncoords", 1);
    if (n < 1 || n > RESTRAINTS_MAX) {
        mdp_say(m, "pull-ncoords", MDP_REFUSED, "expected 1 to %d", RESTRAINTS_MAX);
        return;
    }
    keep(m, "pull-ngroups");
    keep(m, "pull-ncoords");
    buf_printf(out, "restraints:\n");
    for (int i = 1; i <= n; i++)
        coordinate(m, i, out);
}
