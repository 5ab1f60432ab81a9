/* SPDX-License-Identifier: Apache-2.0
 *
 * The sections of a molecule type: atoms, interactions, exclusions.
 */
#include "engine/io/top/top.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/number.h"

static struct top_molecule *current(struct top *t)
{
    return t->intermolecular ? &t->between : &t->molecules[t->nmolecules - 1];
}

size_t top_fold(const char *name, char *out, size_t size)
{
    size_t n = 0;
    for (; name[n] && n < size; n++)
        out[n] = (char)tolower((unsigned char)name[n]);
    return n;
}

int top_moleculetype(struct top *t, struct err *e)
{
    struct top_molecule m = {0};
    long nrexcl;
    int rc = top_name(t, 0, "a molecule name", m.name, sizeof m.name, e);
    if (rc || (rc = top_int(t, 1, "nrexcl", 0, 100, &nrexcl, e)))
        return rc;
    if ((rc = top_end(t, 2, "after name and nrexcl", e)))
        return rc;
    if (hash_table_add(&t->molecule_names, m.name, strlen(m.name), t->nmolecules) != t->nmolecules)
        return top_fail(t, e, ERR_TOPOLOGY, "molecule type %s is defined before", m.name);
    char folded[sizeof m.name];
    size_t len = top_fold(m.name, folded, sizeof folded);
    int first = hash_table_add(&t->folded_names, folded, len, t->nmolecules);
    if (first != t->nmolecules)
        t->molecules[first].has_likes = true;
    m.nrexcl = (int)nrexcl;
    m.at = top_here(t);
    t->molecules = grow_array(t->molecules, t->nmolecules, &t->molecules_cap, sizeof *t->molecules);
    t->molecules[t->nmolecules++] = m;
    return 0;
}

static int atom_type(struct top *t, int word, int *type, struct err *e)
{
    *type = top_type_of(t, t->words[word]);
    if (*type < 0)
        return top_fail(t, e, ERR_TOPOLOGY, "read '%.80s', expected an atom type of [ atomtypes ]", t->words[word]);
    if (t->types[*type].particle == 'S')
        return top_fail(t, e, ERR_UNSUPPORTED, "atom type %s is a shell: only atoms and virtual sites are computed",
                        t->words[word]);
    return 0;
}

/* What the line leaves out comes from the types; state B is A where the line names no type for it. */
static int atom_states(struct top *t, struct top_atom *a, struct err *e)
{
    int rc = atom_type(t, 1, &a->type[0], e);
    if (rc)
        return rc;
    const struct top_atom_type *type = &t->types[a->type[0]];
    a->charge[0] = type->charge;
    a->mass[0] = type->mass;
    int word = 6;
    if (top_is_number(t, word) && (rc = top_real(t, word++, "a charge", &a->charge[0], e)))
        return rc;
    if (word == 7 && top_is_number(t, word) && (rc = top_real(t, word++, "a mass", &a->mass[0], e)))
        return rc;
    a->type[1] = a->type[0];
    a->charge[1] = a->charge[0];
    a->mass[1] = a->mass[0];
    if (word == 8 && t->nwords > word) {
        word++;
        if ((rc = atom_type(t, 8, &a->type[1], e)))
            return rc;
        a->charge[1] = t->types[a->type[1]].charge;
        a->mass[1] = t->types[a->type[1]].mass;
    }
    if (word == 9 && top_is_number(t, word) && (rc = top_real(t, word++, "the charge of state B", &a->charge[1], e)))
        return rc;
    if (word == 10 && top_is_number(t, word) && (rc = top_real(t, word++, "the mass of state B", &a->mass[1], e)))
        return rc;
    return top_end(t, word, "after the last value", e);
}

/* A residue number may end in a letter (the insertion code of the PDB). */
static int residue_number(struct top *t, int *residue, struct err *e)
{
    char *w = t->words[2];
    size_t n = strlen(w);
    if (n > 1 && isalpha((unsigned char)w[n - 1]))
        w[n - 1] = '\0';
    long value;
    int rc = top_int(t, 2, "a residue number", -1000000000, 1000000000, &value, e);
    *residue = (int)value;
    return rc;
}

int top_atom(struct top *t, struct err *e)
{
    struct top_molecule *m = current(t);
    struct top_atom a = {0};
    long number, group;
    int rc;
    if (t->nwords < 6)
        return top_fail(t, e, ERR_TOPOLOGY,
                        "read %d %s, expected 6 or more: number type residue-number residue name charge-group [charge "
                        "[mass [typeB [chargeB [massB]]]]]",
                        t->nwords, number_word(t->nwords, "word", "words"));
    if ((rc = top_int(t, 0, "an atom number", 1, TOP_ATOMS_MAX, &number, e)) ||
        (rc = top_int(t, 5, "a charge group number", -1000000000, 1000000000, &group, e)))
        return rc;
    if (number != m->natoms + 1)
        return top_fail(t, e, ERR_TOPOLOGY, "read atom number %ld, expected %d: atoms are numbered from 1 without gaps",
                        number, m->natoms + 1);
    if ((rc = atom_states(t, &a, e)) || (rc = residue_number(t, &a.residue, e)) ||
        (rc = top_name(t, 3, "a residue name", a.resname, sizeof a.resname, e)) ||
        (rc = top_name(t, 4, "an atom name", a.name, sizeof a.name, e)))
        return rc;
    for (int state = 0; state < 2; state++)
        if (a.mass[state] < 0) /* none: a virtual site, as top_check_sites finds or not */
            return top_fail(t, e, ERR_TOPOLOGY, "atom %ld (%s) has mass %g in state %c, expected a positive mass",
                            number, a.name, a.mass[state], "AB"[state]);
    m->atoms = grow_array(m->atoms, m->natoms, &m->cap, sizeof *m->atoms);
    a.at = top_here(t);
    m->atoms[m->natoms++] = a;
    return 0;
}

/* Whether two atoms of a line must differ: the two vectors of an angle restraint may share theirs. */
static bool must_differ(const struct top *t, int i, int j)
{
    return strcmp(t->section, "angle_restraints") != 0 || i / 2 == j / 2;
}

/* Atom numbers of the line, in range and different. */
static int read_atoms(struct top *t, int n, int *atoms, struct err *e)
{
    const struct top_molecule *m = current(t);
    for (int i = 0; i < n; i++) {
        long number;
        int rc = top_int(t, i, t->intermolecular ? "an atom number of the system" : "an atom number of the molecule", 1,
                         m->natoms, &number, e);
        if (rc)
            return rc;
        atoms[i] = (int)number - 1;
        for (int j = 0; j < i; j++)
            if (atoms[i] == atoms[j] && must_differ(t, i, j))
                return top_fail(t, e, ERR_TOPOLOGY, "atom %ld is on the line twice", number);
    }
    return 0;
}

static int no_default(struct top *t, enum top_kind kind, const struct top_term *term, struct err *e)
{
    char names[160] = ""; /* of four types */
    const struct top_molecule *m = current(t);
    for (int i = 0; i < top_kinds[kind].natoms; i++) {
        strcat(names, i ? " " : "");
        strcat(names, t->types[m->atoms[term->atom[i]].type[0]].name);
    }
    if (!t->bonded_types[kind].n && kind != KIND_PAIR) /* so too the kinds that have no types at all */
        return top_fail(t, e, ERR_TOPOLOGY,
                        "read no parameters, expected %d for %s (no types of that function are defined)",
                        top_kinds[kind].nparams, top_kinds[kind].name);
    return top_fail(t, e, ERR_TOPOLOGY, "read no parameters, and there are none for %s between the types %s",
                    top_kinds[kind].name, names);
}

static void keep_term(struct top *t, enum top_kind kind, const struct top_term *term)
{
    struct top_terms *list = &current(t)->terms[kind];
    list->items = grow_array(list->items, list->n, &list->cap, sizeof *list->items);
    list->items[list->n] = *term;
    list->items[list->n].at = top_here(t);
    top_leap_order(t, kind, list->items[list->n++].atom);
}

static bool has_multiplicity(enum top_kind kind)
{
    return kind == KIND_DIHEDRAL || kind == KIND_PERIODIC_IMPROPER || kind == KIND_RARE + RARE_ANGLE_RESTRAINT ||
           kind == KIND_RARE + RARE_ANGLE_RESTRAINT_Z;
}

static int check_params(struct top *t, enum top_kind kind, const struct top_term *term, struct err *e)
{
    if (has_multiplicity(kind)) {
        double a = term->c[0][2], b = term->c[1][2];
        if (a != b)
            return top_fail(t, e, ERR_UNSUPPORTED, "multiplicity %g in A and %g in B: it can not be perturbed", a, b);
        if (a != rint(a) || fabs(a) > 99)
            return top_fail(t, e, ERR_TOPOLOGY, "read multiplicity %g, expected a whole number", a);
    }
    bool length = kind == KIND_CONSTRAINT || kind == KIND_CONSTRAINT_NO_BOND || kind == KIND_SETTLE;
    if (length && (term->c[0][0] <= 0 || term->c[1][0] <= 0 || (kind == KIND_SETTLE && term->c[0][1] <= 0)))
        return top_fail(t, e, ERR_TOPOLOGY, "expected positive lengths in nm");
    if (kind == KIND_RARE + RARE_FENE && term->c[0][0] <= 0)
        return top_fail(t, e, ERR_TOPOLOGY, "read %g, expected the positive length at which the bond breaks",
                        term->c[0][0]);
    if (kind == KIND_RARE + RARE_FLAT_POSITION) {
        double g = term->c[0][0];
        if (g != rint(g) || g < FLAT_SPHERE || g > FLAT_CYLINDER_Z)
            return top_fail(t, e, ERR_TOPOLOGY,
                            "read geometry %g, expected 1 to 8: sphere, cylinder, x, y, z, cylinder-x, "
                            "cylinder-y or cylinder-z",
                            g);
    }
    for (int k = 0; k < 2 && kind == KIND_RARE + RARE_DISTANCE_RESTRAINT; k++)
        if (!(term->c[k][0] <= term->c[k][1] && term->c[k][1] <= term->c[k][2]))
            return top_fail(t, e, ERR_TOPOLOGY,
                            "read distances %g, %g, %g in state %c, expected none below the one before", term->c[k][0],
                            term->c[k][1], term->c[k][2], "AB"[k]);
    return 0;
}

/* Parameters from [ bondtypes ] and kin: A from the types of A, B from the types of B; where those of B have none
 * (bonds to dummies, usually), B = A, as in grompp. A dihedral of several terms can not change into another, because
 * nothing says which term becomes which. The place along a linear angle is counted from its first atom: 1 less it where
 * the types are the other way round. */
static int bonded_defaults(struct top *t, enum top_kind kind, struct top_term *term, struct err *e)
{
    const struct top_kind_info *k = &top_kinds[kind];
    const struct top_molecule *m = current(t);
    const struct top_bonded_type *found[2];
    bool turned[2];
    int n[2];
    for (int state = 0; state < 2; state++) {
        int types[4] = {0};
        for (int i = 0; i < k->natoms; i++)
            types[i] = t->types[m->atoms[term->atom[i]].type[state]].bonded;
        found[state] = top_find(t, kind, types, &n[state]);
        turned[state] = found[state] && memcmp(found[state]->atom, types, sizeof types) != 0;
    }
    if (!found[0])
        return no_default(t, kind, term, e);
    if (found[0] != found[1] && (n[0] > 1 || n[1] > 1 || (kind == KIND_DIHEDRAL && !n[1])))
        return top_fail(t, e, ERR_TOPOLOGY,
                        "the types of A have %d dihedral %s, those of B %d %s: give the parameters on the line", n[0],
                        number_word(n[0], "term", "terms"), n[1], number_word(n[1], "other", "others"));
    for (int i = 0; i < n[0]; i++) {
        memcpy(term->c[0], found[0][i].c[0], sizeof term->c[0]);
        memcpy(term->c[1], found[1] ? found[1][i].c[1] : found[0][i].c[1], sizeof term->c[1]);
        for (int state = 0; state < 2 && kind == KIND_RARE + RARE_LINEAR_ANGLE; state++)
            if (turned[found[state] ? state : 0])
                term->c[state][0] = 1 - term->c[state][0];
        int rc = check_params(t, kind, term, e);
        if (rc)
            return rc;
        keep_term(t, kind, term);
    }
    return 0;
}

/* Where the types of B have none, grompp warns that it takes those of A, and takes no Lennard-Jones in either state. */
static int pair_defaults(struct top *t, struct top_term *term, struct err *e)
{
    const struct top_molecule *m = current(t);
    const struct top_atom *a = &m->atoms[term->atom[0]], *b = &m->atoms[term->atom[1]];
    if (!top_pair_params(t, a->type[0], b->type[0], term->c[0]))
        return no_default(t, KIND_PAIR, term, e);
    if (!top_pair_params(t, a->type[1], b->type[1], term->c[1]))
        return top_fail(t, e, ERR_TOPOLOGY,
                        "the types of A have parameters of a 1-4 pair, those of B (%s %s) none: give them on the line",
                        t->types[a->type[1]].name, t->types[b->type[1]].name);
    keep_term(t, KIND_PAIR, term);
    return 0;
}

static int no_cmap(struct top *t, const struct top_term *term, struct err *e)
{
    char names[400] = "";
    for (int i = 0; i < 5; i++) {
        const struct top_atom *a = &current(t)->atoms[term->atom[i]];
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s of %s%d (type %s)", i ? ", " : "", a->name,
                 a->resname, a->residue, t->types[a->type[0]].name);
    }
    return top_fail(t, e, ERR_TOPOLOGY, "[ cmaptypes ] has no CMAP correction for these types and residues: %s", names);
}

/* Those of state A, in both states, as in grompp. */
static int cmap_defaults(struct top *t, struct top_term *term, struct err *e)
{
    const struct top_molecule *m = current(t);
    term->cmap = top_find_cmap(t, m, term->atom, 0);
    if (term->cmap < 0)
        return no_cmap(t, term, e);
    int of_b = top_find_cmap(t, m, term->atom, 1);
    if (of_b >= 0 && of_b != term->cmap)
        top_note(t, NOTE_CMAP,
                 "the types of state B have another CMAP correction; that of A acts in both, as in GROMACS");
    keep_term(t, KIND_CMAP, term);
    return 0;
}

/* SETTLE names the oxygen; its hydrogens are the next two atoms. */
static int check_settle(struct top *t, struct top_term *term, struct err *e)
{
    if (term->atom[0] + 2 >= current(t)->natoms)
        return top_fail(t, e, ERR_TOPOLOGY, "atom %d: two more atoms (the hydrogens) must follow it in the molecule",
                        term->atom[0] + 1);
    term->atom[1] = term->atom[0] + 1;
    term->atom[2] = term->atom[0] + 2;
    return 0;
}

static int apply_defaults(struct top *t, enum top_kind kind, struct top_term *term, struct err *e)
{
    if (t->intermolecular)
        return top_fail(t, e, ERR_TOPOLOGY,
                        "read no parameters, expected %d for %s: between molecules they belong on the line",
                        top_kinds[kind].nparams, top_kinds[kind].name);
    if (kind == KIND_PAIR)
        return pair_defaults(t, term, e);
    if (kind == KIND_CMAP)
        return cmap_defaults(t, term, e);
    if (top_kinds[kind].nparams == 0) {
        keep_term(t, kind, term);
        return 0;
    }
    return bonded_defaults(t, kind, term, e);
}

/* Bonds between molecules would exclude what the lists of a molecule know nothing of. */
static int check_between(struct top *t, enum top_kind kind, struct err *e)
{
    if (!t->intermolecular || strcmp(t->section, "bonds") || kind == KIND_HARMONIC ||
        kind == KIND_RARE + RARE_DISTANCE_RESTRAINT)
        return 0;
    return top_fail(t, e, ERR_UNSUPPORTED,
                    "%s (funct %d) between molecules: expected function 6 (harmonic) or 10 (a restraint), which are no "
                    "chemical bonds",
                    top_kinds[kind].name, top_kinds[kind].funct);
}

int top_term(struct top *t, struct err *e)
{
    struct top_term term = {0};
    int n = top_atoms_of(t->section);
    long funct = 1;
    int rc = read_atoms(t, n, term.atom, e);
    if (rc || (t->nwords > n && (rc = top_int(t, n, "a function number", 1, 100, &funct, e))))
        return rc;
    int kind = top_kind_of(t->section, funct);
    if (kind < 0)
        return top_no_function(t, t->section, funct, e);
    if ((rc = check_between(t, (enum top_kind)kind, e)))
        return rc;
    int word = t->nwords > n ? n + 1 : n;
    if (kind == KIND_CMAP && top_is_number(t, word)) {
        top_note(t, NOTE_COMMENT,
                 "'%.40s' behind the function is not read, as grompp does: types choose the correction",
                 t->words[word]);
        word = t->nwords;
    }
    if ((rc = top_params(t, word, (enum top_kind)kind, term.c, e)) < 0)
        return rc;
    if (rc == 0)
        return apply_defaults(t, (enum top_kind)kind, &term, e);
    if ((rc = check_params(t, (enum top_kind)kind, &term, e)))
        return rc;
    if (kind == KIND_SETTLE && (rc = check_settle(t, &term, e)))
        return rc;
    keep_term(t, (enum top_kind)kind, &term);
    return 0;
}

/* A line of the index of the line before is one more pair of its restraint, whose distance is (sum r^-6)^(-1/6) over
 * the pairs. */
static int join_restraint(struct top *t, struct top_term *term, const long label[2], struct err *e)
{
    struct top_molecule *m = current(t);
    const struct top_terms *list = &m->terms[KIND_RARE + RARE_DISTANCE_RESTRAINT];
    if (hash_table_add(&m->restraint_labels, &label[0], sizeof label[0], list->n) == list->n)
        return 0;
    if (label[0] != m->restraint_label[0] || m->restraint_end != list->n)
        return top_fail(t, e, ERR_UNSUPPORTED,
                        "index %ld is on an earlier line; expected the pairs of one restraint on lines behind one "
                        "another",
                        label[0]);
    struct top_term *last = list->items + list->n - 1;
    if (memcmp(last->c[0], term->c[0], 4 * sizeof *term->c[0]) != 0 || label[1] != m->restraint_label[1])
        return top_fail(t, e, ERR_UNSUPPORTED,
                        "index %ld has other numbers on the line before; expected the same type', distances and factor "
                        "for all pairs of a restraint",
                        label[0]);
    term->c[0][4] = fmax(last->c[0][5], 1);
    if (term->c[0][4] >= TOP_RESTRAINT_PAIRS_MAX)
        return top_fail(t, e, ERR_UNSUPPORTED, "more than %d pairs of one restraint", TOP_RESTRAINT_PAIRS_MAX);
    for (int i = 0; i <= (int)term->c[0][4]; i++) {
        struct top_term *pair = i ? last + 1 - i : term;
        pair->c[0][5] = pair->c[1][5] = term->c[0][4] + 1;
    }
    term->c[1][4] = term->c[0][4];
    return 0;
}

/* As grompp computes them with disre = simple, without averages over time and with the force constant that is its
 * default. */
int top_distance_restraint(struct top *t, struct err *e)
{
    const double force_constant = 1000; /* kJ/mol/nm^2 */
    enum { AVERAGED = 1, PLAIN = 2 };
    struct top_term term = {0};
    long funct, label[2];
    double factor;
    int rc = read_atoms(t, 2, term.atom, e);
    if (rc || (rc = top_int(t, 2, "a function number", 1, 1, &funct, e)) ||
        (rc = top_int(t, 3, "an index", 0, INT32_MAX - 1, &label[0], e)) ||
        (rc = top_int(t, 4, "type'", AVERAGED, PLAIN, &label[1], e)))
        return rc;
    for (int i = 0; i < 3; i++)
        if ((rc = top_real(t, 5 + i, "a distance", &term.c[0][i], e)))
            return rc;
    if ((rc = top_real(t, 8, "a factor of the force constant", &factor, e)) ||
        (rc = top_end(t, 9, "after the factor", e)))
        return rc;
    term.c[0][3] = factor * force_constant;
    memcpy(term.c[1], term.c[0], sizeof term.c[0]);
    if ((rc = join_restraint(t, &term, label, e)) ||
        (rc = check_params(t, KIND_RARE + RARE_DISTANCE_RESTRAINT, &term, e)))
        return rc;
    memcpy(current(t)->restraint_label, label, sizeof label);
    top_note(t, NOTE_DISTANCES,
             "acts with %g kJ/mol/nm^2 times its factor, as in GROMACS with disre = simple; its default, "
             "disre = no, would leave it out",
             force_constant);
    keep_term(t, KIND_RARE + RARE_DISTANCE_RESTRAINT, &term);
    current(t)->restraint_end = current(t)->terms[KIND_RARE + RARE_DISTANCE_RESTRAINT].n;
    return 0;
}

int top_exclusions(struct top *t, struct err *e)
{
    struct top_molecule *m = current(t);
    long first, other;
    int rc = top_int(t, 0, "an atom number of the molecule", 1, m->natoms, &first, e);
    int word = 1;
    for (; !rc && top_is_number(t, word); word++) {
        if ((rc = top_int(t, word, "an atom number of the molecule", 1, m->natoms, &other, e)))
            break;
        if (other == first)
            continue;
        m->exclusions = grow_array(m->exclusions, m->nexclusions, &m->exclusions_cap, sizeof *m->exclusions);
        m->exclusions[m->nexclusions][0] = (int)first - 1;
        m->exclusions[m->nexclusions++][1] = (int)other - 1;
    }
    return rc ? rc : top_end(t, word, "", e);
}
