/* SPDX-License-Identifier: Apache-2.0
 *
 * The force-field sections of a topology. Column layouts as the GROMACS manual gives them and as grompp tells them
 * apart.
 */
#include "engine/io/top/top.h"

#include <ctype.h>
#include <string.h>

#include "engine/base/number.h"

/* One of some names, as its place among them from 1 on, or that number. */
static int read_choice(struct top *t, int word, const char *what, const char *const *names, long *value, struct err *e)
{
    int n = 0;
    for (; names[n]; n++)
        if (word < t->nwords && !strcasecmp(t->words[word], names[n])) {
            *value = n + 1;
            return 0;
        }
    return top_int(t, word, what, 1, n, value, e);
}

int top_defaults(struct top *t, struct err *e)
{
    long nbfunc, rule;
    double power = 12;
    int rc;
    if (t->have_defaults)
        return top_fail(t, e, ERR_TOPOLOGY, "a second [ defaults ] line");
    static const char *const functions[] = {"LJ", "Buckingham", NULL};
    static const char *const rules[] = {"Geometric", "Arithmetic", "GeomSigEps", NULL};
    if ((rc = read_choice(t, 0, "nbfunc", functions, &nbfunc, e)) ||
        (rc = read_choice(t, 1, "comb-rule", rules, &rule, e)))
        return rc;
    if (nbfunc != 1)
        return top_fail(t, e, ERR_UNSUPPORTED, "nbfunc %ld: only 1 (Lennard-Jones) is computed, not Buckingham",
                        nbfunc);
    t->fudge_lj = t->fudge_qq = 1;
    if (t->nwords > 2) {
        const char *w = t->words[2];
        if (strncasecmp(w, "y", 1) && strncasecmp(w, "n", 1))
            return top_fail(t, e, ERR_TOPOLOGY, "gen-pairs: read '%.80s', expected yes or no", w);
        t->gen_pairs = tolower((unsigned char)w[0]) == 'y';
    }
    if (t->nwords > 3 && (rc = top_real(t, 3, "fudgeLJ", &t->fudge_lj, e)))
        return rc;
    if (t->nwords > 4 && (rc = top_real(t, 4, "fudgeQQ", &t->fudge_qq, e)))
        return rc;
    if (t->nwords > 5 && (rc = top_real(t, 5, "the power of the repulsion", &power, e)))
        return rc;
    if (power != 12)
        return top_fail(t, e, ERR_UNSUPPORTED, "repulsion power %s: only 12 is computed", t->words[5]);
    if ((rc = top_end(t, 6, "after the sixth word", e)))
        return rc;
    t->comb_rule = (int)rule;
    t->have_defaults = true;
    return 0;
}

int top_type_of(const struct top *t, const char *name)
{
    return hash_table_get(&t->type_names, name, strlen(name));
}

static bool is_particle(const char *word)
{
    return isalpha((unsigned char)word[0]) && !word[1];
}

static bool is_whole(const char *word)
{
    word += *word == '+' || *word == '-';
    return *word && word[strspn(word, "0123456789")] == '\0';
}

/* The optional columns between name and mass, told apart as grompp does: the particle type (one letter) is in
 * column 6 when both are there, in column 4 when neither is; otherwise column 2 is the bonded type unless it is a whole
 * number. */
static bool atom_type_layout(const struct top *t, bool *bonded, bool *number)
{
    if (t->nwords > 5 && is_particle(t->words[5]))
        *bonded = *number = true;
    else if (t->nwords > 3 && is_particle(t->words[3]))
        *bonded = *number = false;
    else if (t->nwords > 4 && is_particle(t->words[4]))
        *bonded = !(*number = is_whole(t->words[1]));
    else
        return false;
    return true;
}

static bool same_type(const struct top_atom_type *a, const struct top_atom_type *b)
{
    return a->bonded == b->bonded && a->mass == b->mass && a->charge == b->charge && a->particle == b->particle &&
           a->c[0] == b->c[0] && a->c[1] == b->c[1];
}

/* A negative C6 repels, and a negative sigma is GROMACS's word for "no attraction"; C12 and epsilon below zero would
 * pull atoms onto each other. */
static int check_lj(struct top *t, const double c[2], struct err *e)
{
    if (c[1] < 0)
        return top_fail(t, e, ERR_TOPOLOGY, "%s %g: expected 0 or more", t->comb_rule > 1 ? "epsilon" : "C12", c[1]);
    return 0;
}

int top_atom_type(struct top *t, struct err *e)
{
    struct top_atom_type a = {0};
    bool bonded, number;
    long atomic_number = 0;
    int rc = top_name(t, 0, "an atom type name", a.name, sizeof a.name, e), w = 1;
    if (rc)
        return rc;
    if (!atom_type_layout(t, &bonded, &number))
        return top_fail(t, e, ERR_TOPOLOGY,
                        "atom type %s: read no particle type (A, S, D or V) in column 4, 5 or 6, expected: name "
                        "[bonded type] [atomic number] mass charge particle-type two parameters",
                        a.name);
    const char *bonded_name = bonded ? t->words[w++] : a.name;
    if (number && (rc = top_int(t, w++, "an atomic number", -1, 200, &atomic_number, e)))
        return rc;
    a.number = (int)atomic_number;
    if ((rc = top_real(t, w, "a mass", &a.mass, e)) || (rc = top_real(t, w + 1, "a charge", &a.charge, e)))
        return rc;
    a.particle = (char)toupper((unsigned char)t->words[w + 2][0]);
    if (!strchr("ASDV", a.particle))
        return top_fail(t, e, ERR_TOPOLOGY, "atom type %s: read particle type '%s', expected A, S, D or V", a.name,
                        t->words[w + 2]);
    if ((rc = top_real(t, w + 3, "a parameter", &a.c[0], e)) || (rc = top_real(t, w + 4, "a parameter", &a.c[1], e)) ||
        (rc = check_lj(t, a.c, e)))
        return rc;
    if ((rc = top_end(t, w + 5, "after the two parameters", e)))
        return rc;
    int b = hash_table_add(&t->bonded_names, bonded_name, strlen(bonded_name), t->nbonded_names);
    if (b == t->nbonded_names)
        t->nbonded_names++;
    a.bonded = b;
    if (t->ntypes == TOP_TYPES_MAX)
        return top_fail(t, e, ERR_UNSUPPORTED, "more than %d atom types", TOP_TYPES_MAX);
    int i = hash_table_add(&t->type_names, a.name, strlen(a.name), t->ntypes);
    if (i < t->ntypes) {
        if (!same_type(&a, &t->types[i]))
            top_note(t, NOTE_REDEFINED, "atom type %s is defined before with other values; these hold now", a.name);
        a.paired = t->types[i].paired;
        t->types[i] = a;
        return 0;
    }
    t->types = grow_array(t->types, t->ntypes, &t->types_cap, sizeof *t->types);
    t->types[t->ntypes++] = a;
    return 0;
}

/* Two lines of one set of types: the same line again is harmless, another is not. Lines of dihedral function 9 that
 * follow each other are a block of terms, each of them once. */
static int add_bonded_type(struct top *t, enum top_kind kind, struct top_bonded_type *b, bool repeat, struct err *e)
{
    struct top_bonded_types *list = &t->bonded_types[kind];
    int n = top_kinds[kind].natoms, reverse[4] = {0};
    for (int i = 0; i < n; i++)
        reverse[i] = b->atom[n - 1 - i];
    int known = hash_table_get(&list->index, b->atom, sizeof b->atom);
    if (known < 0)
        known = hash_table_get(&list->index, reverse, sizeof reverse);
    bool continues = repeat && known >= 0 && list->items[list->n - 1].block == known &&
                     !memcmp(list->items[known].atom, b->atom, sizeof b->atom);
    int lines = 0;
    bool again = false;
    for (; known >= 0 && known + lines < list->n && list->items[known + lines].block == known; lines++)
        again |= !memcmp(list->items[known + lines].c, b->c, sizeof b->c);
    if (again && (continues || lines == 1))
        return 0;
    if (known >= 0 && !continues && (repeat || lines > 1))
        return top_fail(t, e, ERR_TOPOLOGY, "parameters for these types are defined before with other values");
    if (known >= 0 && !continues) {
        top_note(t, NOTE_REDEFINED, "parameters for these types are defined before with other values; these hold now");
        b->block = known;
        list->items[known] = *b;
        return 0;
    }
    list->items = grow_array(list->items, list->n, &list->cap, sizeof *list->items);
    b->block = continues ? known : hash_table_add(&list->index, b->atom, sizeof b->atom, list->n);
    list->items[list->n++] = *b;
    return 0;
}

int top_type_names(struct top *t, int first, int n, bool wildcards, int *types, struct err *e)
{
    bool pairs = !strcmp(t->section, "pairtypes");
    for (int i = 0; i < n; i++) {
        if (first + i >= t->nwords)
            return top_fail(t, e, ERR_TOPOLOGY, "the line ends after %d %s, expected %d type %s", t->nwords,
                            number_word(t->nwords, "word", "words"), n, number_word(n, "name", "names"));
        const char *w = t->words[first + i];
        types[i] = wildcards && !strcmp(w, "X") ? WILDCARD
                   : pairs                      ? top_type_of(t, w)
                                                : hash_table_get(&t->bonded_names, w, strlen(w));
        if (types[i] < 0 && !(wildcards && !strcmp(w, "X")))
            return top_fail(t, e, ERR_TOPOLOGY, "read '%.80s', expected %s of [ atomtypes ]", w,
                            pairs ? "an atom type" : "a bonded type");
    }
    return 0;
}

/* Function number in `word` and parameters after it. */
static int read_type(struct top *t, const char *section, int word, struct top_bonded_type *b, struct err *e)
{
    long funct;
    int rc = top_int(t, word, "a function number", 1, 100, &funct, e);
    if (rc)
        return rc;
    int kind = top_kind_of(section, funct);
    if (kind < 0 || kind == KIND_CONNECTION || kind == KIND_PAIR_OWN)
        return top_no_function(t, section, funct, e);
    if ((rc = top_params(t, word + 1, (enum top_kind)kind, b->c, e)) < 0)
        return rc;
    if (rc == 0)
        return top_fail(t, e, ERR_TOPOLOGY, "read no parameters, expected %d for %s", top_kinds[kind].nparams,
                        top_kinds[kind].name);
    return add_bonded_type(t, (enum top_kind)kind, b, funct == 9, e);
}

int top_bonded_type(struct top *t, struct err *e)
{
    struct top_bonded_type b = {0};
    const char *section = !strcmp(t->section, "bondtypes")    ? "bonds"
                          : !strcmp(t->section, "angletypes") ? "angles"
                          : !strcmp(t->section, "pairtypes")  ? "pairs"
                                                              : "constraints";
    int n = !strcmp(section, "angles") ? 3 : 2;
    int rc = top_type_names(t, 0, n, false, b.atom, e);
    return rc ? rc : read_type(t, section, n, &b, e);
}

static bool is_digit(const char *word)
{
    return isdigit((unsigned char)word[0]) && !word[1];
}

/* Four names, or two: the inner ones of a proper dihedral, the outer ones of an improper of function 2. */
int top_dihedral_type(struct top *t, struct err *e)
{
    struct top_bonded_type b = {.atom = {WILDCARD, WILDCARD, WILDCARD, WILDCARD}};
    int rc, two[2];
    if (t->nwords > 2 && is_digit(t->words[2])) {
        if ((rc = top_type_names(t, 0, 2, true, two, e)))
            return rc;
        bool outer = t->words[2][0] == '2';
        b.atom[outer ? 0 : 1] = two[0];
        b.atom[outer ? 3 : 2] = two[1];
        return read_type(t, "dihedrals", 2, &b, e);
    }
    if (t->nwords > 4 && is_digit(t->words[4])) {
        rc = top_type_names(t, 0, 4, true, b.atom, e);
        return rc ? rc : read_type(t, "dihedrals", 4, &b, e);
    }
    return top_fail(t, e, ERR_TOPOLOGY,
                    "read no function number in column 3 or 5, expected 2 or 4 type names before it");
}

int top_nonbond_param(struct top *t, struct err *e)
{
    struct top_nonbonded p;
    long funct;
    int type[2], rc;
    for (int i = 0; i < 2; i++) {
        if (i >= t->nwords || (type[i] = top_type_of(t, t->words[i])) < 0)
            return top_fail(t, e, ERR_TOPOLOGY, "read '%.80s', expected an atom type of [ atomtypes ]",
                            i < t->nwords ? t->words[i] : "");
    }
    if ((rc = top_int(t, 2, "a function number", 1, 2, &funct, e)))
        return rc;
    if (funct != 1)
        return top_fail(t, e, ERR_UNSUPPORTED, "function %ld: only 1 (Lennard-Jones) is computed", funct);
    if (t->nwords < 5)
        return top_fail(t, e, ERR_TOPOLOGY, "read %d %s, expected 2", t->nwords - 3,
                        number_word(t->nwords - 3, "parameter", "parameters"));
    if ((rc = top_end(t, 5, "after the two parameters", e)) || (rc = top_real(t, 3, "a parameter", &p.c[0], e)) ||
        (rc = top_real(t, 4, "a parameter", &p.c[1], e)) || (rc = check_lj(t, p.c, e)))
        return rc;
    t->types[type[0]].paired = t->types[type[1]].paired = true;
    int key[2] = {type[0] < type[1] ? type[0] : type[1], type[0] < type[1] ? type[1] : type[0]};
    int i = hash_table_add(&t->nonbonded_index, key, sizeof key, t->nnonbonded);
    if (i < t->nnonbonded) {
        if (memcmp(t->nonbonded[i].c, p.c, sizeof p.c) != 0)
            top_note(t, NOTE_REDEFINED, "%.40s and %.40s are defined before with other values; these hold now",
                     t->words[0], t->words[1]);
        t->nonbonded[i] = p;
        return 0;
    }
    t->nonbonded = grow_array(t->nonbonded, t->nnonbonded, &t->nonbonded_cap, sizeof *t->nonbonded);
    t->nonbonded[t->nnonbonded++] = p;
    return 0;
}
