/* SPDX-License-Identifier: Apache-2.0
 *
 * [ virtual_sites1 ] to [ virtual_sitesn ]: atoms without mass that other atoms place.
 */
#include "engine/io/top/top.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/number.h"
#include "engine/prepare/sites.h"

static struct top_molecule *last_molecule(struct top *t)
{
    return &t->molecules[t->nmolecules - 1];
}

static int read_atom(struct top *t, int word, int *atom, struct err *e)
{
    long number;
    int rc = top_int(t, word, "an atom number of the molecule", 1, last_molecule(t)->natoms, &number, e);
    *atom = (int)number - 1;
    return rc;
}

static void add_from(struct top_molecule *m, int atom, double weight)
{
    m->site_weights = grow_array(m->site_weights, m->nsite_atoms, &m->site_weights_cap, sizeof *m->site_weights);
    m->site_atoms = grow_array(m->site_atoms, m->nsite_atoms, &m->site_atoms_cap, sizeof *m->site_atoms);
    m->site_weights[m->nsite_atoms] = weight;
    m->site_atoms[m->nsite_atoms++] = atom;
}

/* The atoms of a line that has read its site: none twice. */
static int check_atoms(struct top *t, const struct virtual_site *s, struct err *e)
{
    const struct top_molecule *m = last_molecule(t);
    const int *from = m->site_atoms + s->first;
    for (uint32_t i = 0; i < s->count; i++) {
        if (from[i] == s->atom)
            return top_fail(t, e, ERR_TOPOLOGY, "atom %d is on the line twice", s->atom + 1);
        for (uint32_t j = 0; j < i; j++)
            if (from[i] == from[j])
                return top_fail(t, e, ERR_TOPOLOGY, "atom %d is on the line twice", from[i] + 1);
    }
    return 0;
}

static int add_site(struct top *t, const struct virtual_site *s, struct err *e)
{
    struct top_molecule *m = last_molecule(t);
    int rc = check_atoms(t, s, e);
    if (rc)
        return rc;
    for (int i = 0; i < m->nsites; i++)
        if (m->sites[i].atom == s->atom)
            return top_fail(t, e, ERR_TOPOLOGY, "atom %d is placed by an earlier line", s->atom + 1);
    m->sites = grow_array(m->sites, m->nsites, &m->sites_cap, sizeof *m->sites);
    m->sites[m->nsites++] = *s;
    return 0;
}

static const struct form {
    const char *section;
    int funct, atoms, nparams;
    enum site_kind kind;
} forms[] = {
    {"virtual_sites1", 1, 1, 0, SITE_LINEAR}, {"virtual_sites2", 1, 2, 1, SITE_LINEAR},
    {"virtual_sites2", 2, 2, 1, SITE_2FD},    {"virtual_sites3", 1, 3, 2, SITE_LINEAR},
    {"virtual_sites3", 2, 3, 2, SITE_3FD},    {"virtual_sites3", 3, 3, 2, SITE_3FAD},
    {"virtual_sites3", 4, 3, 3, SITE_3OUT},   {"virtual_sites4", 2, 4, 3, SITE_4FDN},
};
enum { FORMS = sizeof forms / sizeof *forms };

static const struct form *form_of(const char *section, long funct)
{
    for (int k = 0; k < FORMS; k++)
        if (!strcmp(forms[k].section, section) && forms[k].funct == funct)
            return &forms[k];
    return NULL;
}

/* Weights of the atoms from the parameters of a linear form; degrees and a distance into what the formula takes. */
void top_site_params(struct top_molecule *m, struct virtual_site *s, const double c[3])
{
    double *weight = m->site_weights + s->first;
    memcpy(s->c, c, sizeof s->c);
    if (s->kind == SITE_3FAD) {
        s->c[0] = c[1] * cos(c[0] * (M_PI / 180));
        s->c[1] = c[1] * sin(c[0] * (M_PI / 180));
    } else if (s->kind == SITE_LINEAR) {
        weight[0] = 1;
        for (uint32_t k = 1; k < s->count; k++) {
            weight[k] = c[k - 1];
            weight[0] -= c[k - 1];
        }
        memset(s->c, 0, sizeof s->c);
    }
}

/* A line that ends with its function: only what follows from bonds and angles may be left out. */
static int leave_out(struct top *t, const struct form *form, bool mirrored, struct err *e)
{
    struct top_molecule *m = last_molecule(t);
    if (form->atoms < 3)
        return top_fail(t, e, ERR_TOPOLOGY,
                        "read no parameters, expected %d: only those of three atoms and more follow "
                        "from bonds and angles",
                        form->nparams);
    m->derived = grow_array(m->derived, m->nderived, &m->derived_cap, sizeof *m->derived);
    m->derived[m->nderived++] = (struct top_derived){.site = m->nsites, .mirrored = mirrored, .at = top_here(t)};
    return 0;
}

int top_site(struct top *t, struct err *e)
{
    struct top_molecule *m = last_molecule(t);
    struct virtual_site s = {.first = (uint32_t)m->nsite_atoms};
    const int natoms = t->section[strlen("virtual_sites")] - '0';
    double c[3] = {0, 0, 0};
    long funct = 1;
    int rc = read_atom(t, 0, &s.atom, e), from;
    for (int i = 0; i < natoms && !rc; i++)
        if (!(rc = read_atom(t, 1 + i, &from, e)))
            add_from(m, from, 0);
    if (rc || (t->nwords > 1 + natoms && (rc = top_int(t, 1 + natoms, "a function number", -100, 100, &funct, e))))
        return rc;
    const bool mirrored = funct == -3 || funct == -4, left_out = !top_is_number(t, 2 + natoms);
    const struct form *form = form_of(t->section, mirrored && left_out ? -funct : funct);
    if (!form)
        return top_fail(t, e, ERR_UNSUPPORTED, "function %ld is not computed, expected %s", funct,
                        natoms == 1   ? "1"
                        : natoms == 2 ? "1 or 2"
                        : natoms == 3 ? "1, 2, 3 or 4"
                                      : "2");
    int given = 0;
    while (top_is_number(t, 2 + natoms + given))
        given++;
    if ((rc = top_end(t, 2 + natoms + given, "", e)) ||
        (given == 0 && form->nparams && (rc = leave_out(t, form, mirrored, e))))
        return rc;
    if (given != form->nparams && given)
        return top_fail(t, e, ERR_TOPOLOGY, "read %d %s, expected %d", given,
                        number_word(given, "parameter", "parameters"), form->nparams);
    for (int i = 0; i < given && !rc; i++)
        rc = top_real(t, 2 + natoms + i, "a parameter", &c[i], e);
    if (rc)
        return rc;
    s.kind = form->kind;
    s.count = (uint32_t)natoms;
    top_site_params(m, &s, c);
    return add_site(t, &s, e);
}

/* Site, function, atoms: 1 at their center, 2 at that of their masses, 3 at that of weights which follow each atom. */
int top_site_of_many(struct top *t, struct err *e)
{
    struct top_molecule *m = last_molecule(t);
    struct virtual_site s = {.kind = SITE_LINEAR, .first = (uint32_t)m->nsite_atoms};
    double sum = 0;
    long funct;
    int rc = read_atom(t, 0, &s.atom, e), from;
    if (rc || (rc = top_int(t, 1, "a function number", 1, 3, &funct, e)))
        return rc;
    int word = 2;
    for (; top_is_number(t, word); word += funct == 3 ? 2 : 1) {
        double weight = 1;
        if ((rc = read_atom(t, word, &from, e)) || (funct == 3 && (rc = top_real(t, word + 1, "a weight", &weight, e))))
            return rc;
        if (funct == 2)
            weight = m->atoms[from].mass[0];
        add_from(m, from, weight);
        sum += weight;
        s.count++;
    }
    if ((rc = top_end(t, word, "", e)))
        return rc;
    if (!(sum > 0))
        return top_fail(t, e, ERR_TOPOLOGY, "read %d %s of weight %g in all, expected some of positive weight",
                        (int)s.count, number_word(s.count, "atom", "atoms"), sum);
    for (uint32_t k = 0; k < s.count; k++)
        m->site_weights[s.first + k] /= sum;
    return add_site(t, &s, e);
}

int top_check_sites(const struct top_molecule *m, struct err *e)
{
    bool *site = xcalloc((size_t)m->natoms, sizeof *site);
    int rc = 0;
    for (int i = 0; i < m->nsites; i++)
        site[m->sites[i].atom] = true;
    for (int i = 0; i < m->natoms && !rc; i++)
        for (int k = 0; k < 2 && !rc; k++) {
            const struct top_atom *a = &m->atoms[i];
            if (a->mass[k] == 0 && !site[i])
                rc = err_set(
                    e, ERR_TOPOLOGY,
                    "molecule type %s: atom %d (%s) has mass 0 in state %c, expected a positive mass or a line of "
                    "[ virtual_sites ] that places it",
                    m->name, i + 1, a->name, "AB"[k]);
            else if (a->mass[k] != 0 && site[i])
                rc = err_set(e, ERR_TOPOLOGY, "molecule type %s: virtual site %d (%s) has mass %g, expected none",
                             m->name, i + 1, a->name, a->mass[k]);
        }
    for (int i = 0; i < m->nsites && !rc; i++)
        for (uint32_t k = 0; k < m->sites[i].count && !rc; k++) {
            int from = m->site_atoms[m->sites[i].first + k];
            if (site[from])
                rc = err_set(
                    e, ERR_UNSUPPORTED,
                    "molecule type %s: virtual site %d is placed by atom %d, which is one too: expected atoms with "
                    "mass",
                    m->name, m->sites[i].atom + 1, from + 1);
        }
    free(site);
    return rc;
}
