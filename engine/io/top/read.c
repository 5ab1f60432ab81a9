/* SPDX-License-Identifier: Apache-2.0
 *
 * The sections of a topology: which exist, in which order they may come, who reads their lines.
 */
#include "engine/io/top/top.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a section may be. */
enum place {
    AFTER_NOTHING,
    AFTER_DEFAULTS, /* force field: after [ defaults ], before the first [ moleculetype ] */
    AFTER_TYPES,    /* force field: after [ atomtypes ], before the first [ moleculetype ] */
    NEW_MOLECULE,   /* after [ atomtypes ], before [ system ] */
    IN_MOLECULE,    /* after [ moleculetype ], before [ system ] */
    AFTER_ATOMS,    /* after [ atoms ] of the molecule */
    AFTER_MOLECULE, /* [ system ] */
    AFTER_SYSTEM,
    AFTER_MOLECULES
};

static int read_system(struct top *t, struct err *e);
static int read_count(struct top *t, struct err *e);
static int refuse(struct top *t, struct err *e);
static int ignore(struct top *t, struct err *e);

struct section {
    const char *name;
    enum place place;
    int (*read)(struct top *t, struct err *e); /* one line */
    const char *reason;                        /* why lines of it are refused */
};

#define NO_ORIENTATION_RESTRAINTS "orientation restraints are not computed"
#define NO_POLARIZATION "polarization is not computed"

#define BETWEEN                                                                                                        \
    "[ bonds ], [ angles ], [ dihedrals ], [ pairs ], [ pairs_nb ], [ angle_restraints ], [ angle_restraints_z ] or "  \
    "[ dihedral_restraints ]"

static const struct section sections[] = {
    {"defaults", AFTER_NOTHING, top_defaults, NULL},
    {"atomtypes", AFTER_DEFAULTS, top_atom_type, NULL},
    {"bondtypes", AFTER_TYPES, top_bonded_type, NULL},
    {"constrainttypes", AFTER_TYPES, top_bonded_type, NULL},
    {"pairtypes", AFTER_TYPES, top_bonded_type, NULL},
    {"angletypes", AFTER_TYPES, top_bonded_type, NULL},
    {"dihedraltypes", AFTER_TYPES, top_dihedral_type, NULL},
    {"nonbond_params", AFTER_TYPES, top_nonbond_param, NULL},
    {"cmaptypes", AFTER_TYPES, top_cmap_type, NULL},
    /* Without effect since GROMACS 2019, but force fields carry it everywhere. */
    {"implicit_genborn_params", AFTER_TYPES, ignore, NULL},
    {"moleculetype", NEW_MOLECULE, top_moleculetype, NULL},
    {"atoms", IN_MOLECULE, top_atom, NULL},
    {"bonds", AFTER_ATOMS, top_term, NULL},
    {"angles", AFTER_ATOMS, top_term, NULL},
    {"dihedrals", AFTER_ATOMS, top_term, NULL},
    {"pairs", AFTER_ATOMS, top_term, NULL},
    {"pairs_nb", AFTER_ATOMS, top_term, NULL},
    {"exclusions", AFTER_ATOMS, top_exclusions, NULL},
    {"constraints", AFTER_ATOMS, top_term, NULL},
    {"settles", AFTER_ATOMS, top_term, NULL},
    {"position_restraints", AFTER_ATOMS, top_term, NULL},
    {"virtual_sites1", AFTER_ATOMS, top_site, NULL},
    {"virtual_sites2", AFTER_ATOMS, top_site, NULL},
    {"virtual_sites3", AFTER_ATOMS, top_site, NULL},
    {"virtual_sites4", AFTER_ATOMS, top_site, NULL},
    {"virtual_sitesn", AFTER_ATOMS, top_site_of_many, NULL},
    {"cmap", AFTER_ATOMS, top_term, NULL},
    {"polarization", AFTER_ATOMS, refuse, NO_POLARIZATION},
    {"water_polarization", AFTER_ATOMS, refuse, NO_POLARIZATION},
    {"thole_polarization", AFTER_ATOMS, refuse, NO_POLARIZATION},
    {"distance_restraints", AFTER_ATOMS, top_distance_restraint, NULL},
    {"dihedral_restraints", AFTER_ATOMS, top_term, NULL},
    {"orientation_restraints", AFTER_ATOMS, refuse, NO_ORIENTATION_RESTRAINTS},
    {"angle_restraints", AFTER_ATOMS, top_term, NULL},
    {"angle_restraints_z", AFTER_ATOMS, top_term, NULL},
    {"system", AFTER_MOLECULE, read_system, NULL},
    {"molecules", AFTER_SYSTEM, read_count, NULL},
    {"intermolecular_interactions", AFTER_MOLECULES, refuse, "expected sections: " BETWEEN},
};

/* Small letters of a name without - and _, which grompp does not compare. */
static void bare_name(const char *name, char out[64])
{
    size_t n = 0;
    for (; *name && n < 63; name++)
        if (*name != '-' && *name != '_')
            out[n++] = (char)tolower((unsigned char)*name);
    out[n] = '\0';
}

static const struct section *section_named(const char *name)
{
    char bare[64], known[64];
    bare_name(name, bare);
    const char *old = strncmp(bare, "dummies", 7) ? NULL : bare + 7; /* the old name of virtual_sites */
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        bare_name(sections[i].name, known);
        if (!strcmp(bare, known) || (old && !strncmp(known, "virtualsites", 12) && !strcmp(known + 12, old)))
            return &sections[i];
    }
    return NULL;
}

static int refuse(struct top *t, struct err *e)
{
    return top_fail(t, e, ERR_UNSUPPORTED, "%s", section_named(t->section)->reason);
}

static int ignore(struct top *t, struct err *e)
{
    return 0;
}

static int read_system(struct top *t, struct err *e)
{
    for (int i = 0; i < t->nwords && !t->have_title; i++) {
        size_t n = strlen(t->title);
        snprintf(t->title + n, sizeof t->title - n, "%s%s", n ? " " : "", t->words[i]);
    }
    t->have_title = true;
    return 0;
}

/* The molecule type of a name: as written, else the only one that differs in case alone. */
static int find_molecule(const struct top *t, const char *name)
{
    char folded[sizeof t->molecules->name];
    int found = hash_table_get(&t->molecule_names, name, strlen(name));
    if (found >= 0 || strlen(name) >= sizeof folded)
        return found;
    found = hash_table_get(&t->folded_names, folded, top_fold(name, folded, sizeof folded));
    return found >= 0 && !t->molecules[found].has_likes ? found : -1;
}

static int read_count(struct top *t, struct err *e)
{
    long count;
    int kind = find_molecule(t, t->words[0]);
    if (kind < 0)
        return top_fail(t, e, ERR_TOPOLOGY, "read '%.80s', expected the name of a [ moleculetype ]", t->words[0]);
    int rc = top_int(t, 1, "a number of molecules", 0, TOP_ATOMS_MAX, &count, e);
    if (rc)
        return rc;
    if ((rc = top_end(t, 2, "after name and number", e)))
        return rc;
    if (!t->molecules[kind].natoms)
        return top_fail(t, e, ERR_TOPOLOGY, "molecule type %s has no atoms", t->words[0]);
    if (count > (TOP_ATOMS_MAX - t->natoms) / t->molecules[kind].natoms)
        return top_fail(t, e, ERR_UNSUPPORTED, "more than %d atoms in the system", TOP_ATOMS_MAX);
    t->natoms += (int)count * t->molecules[kind].natoms;
    t->counts = grow_array(t->counts, t->ncounts, &t->counts_cap, sizeof *t->counts);
    t->counts[t->ncounts++] = (struct top_count){.kind = kind, .count = (int)count};
    return 0;
}

/* Why the section may not be here; NULL if it may. */
static const char *misplaced(const struct top *t, enum place place)
{
    bool types_only = place == AFTER_DEFAULTS || place == AFTER_TYPES;
    bool molecule = place == IN_MOLECULE || place == AFTER_ATOMS;
    if (types_only && t->nmolecules)
        return "force-field sections must come before the first [ moleculetype ]";
    if (place == AFTER_DEFAULTS && !t->have_defaults)
        return "it must come after [ defaults ]";
    if ((place == AFTER_TYPES || place == NEW_MOLECULE) && !t->ntypes)
        return "it must come after [ atomtypes ]";
    if ((place == NEW_MOLECULE || molecule) && t->have_system)
        return "molecule types must come before [ system ]";
    if ((molecule || place == AFTER_MOLECULE) && !t->nmolecules)
        return "it must come after a [ moleculetype ]";
    if (place == AFTER_ATOMS && !t->molecules[t->nmolecules - 1].natoms)
        return "it must come after the [ atoms ] of the molecule";
    if (place == AFTER_SYSTEM && !t->have_system)
        return "it must come after [ system ]";
    if (place == AFTER_MOLECULES && !t->natoms)
        return "it must come after [ molecules ]";
    return NULL;
}

/* Whether a section of molecules may be in [ intermolecular_interactions ]. */
static bool is_between(const struct section *s)
{
    static const char *const names[] = {"bonds",    "angles",           "dihedrals",          "pairs",
                                        "pairs_nb", "angle_restraints", "angle_restraints_z", "dihedral_restraints"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(s->name, names[i]))
            return true;
    return false;
}

/* The first line of [ intermolecular_interactions ]: atoms are numbered over all molecules, which are known now. */
static void begin_between(struct top *t)
{
    t->intermolecular = true;
    t->between.natoms = t->natoms;
}

static int enter_section(struct top *t, char *text, const struct section **s, struct err *e)
{
    char *close = strchr(text, ']'), *name = text + 1;
    t->section = NULL;
    if (!close)
        return top_fail(t, e, ERR_TOPOLOGY, "read '%.80s', expected [ section ]", text);
    *close = '\0';
    top_split(t, close + 1);
    int rc = top_end(t, 0, "after the section", e);
    if (rc)
        return rc;
    top_split(t, name);
    if (t->nwords != 1)
        return top_fail(t, e, ERR_TOPOLOGY, "read %d words between [ and ], expected one section name", t->nwords);
    *s = section_named(t->words[0]);
    if (!*s)
        return top_fail(t, e, ERR_UNSUPPORTED, "section [ %.80s ] is not known", t->words[0]);
    t->section = (*s)->name;
    if (t->intermolecular && (*s)->place != AFTER_MOLECULES) /* which may come again */
        return is_between(*s)
                   ? 0
                   : top_fail(t, e, ERR_UNSUPPORTED, "after [ intermolecular_interactions ]; expected " BETWEEN);
    const char *why = misplaced(t, (*s)->place);
    if (why)
        return top_fail(t, e, ERR_TOPOLOGY, "%s", why);
    t->have_system |= (*s)->place == AFTER_MOLECULE;
    if ((*s)->place == AFTER_MOLECULES)
        begin_between(t);
    return 0;
}

static int read_lines(struct top *t, struct err *e)
{
    const struct section *s = NULL;
    char *text;
    int rc;
    while ((rc = pp_next(&t->pp, &text, e)) > 0) {
        if (text[0] == '[') {
            if ((rc = enter_section(t, text, &s, e)))
                return rc;
            continue;
        }
        if (!s)
            return top_fail(t, e, ERR_TOPOLOGY, "read '%.80s', expected a section, such as [ defaults ], first", text);
        top_split(t, text);
        if (t->nwords && (rc = s->read(t, e)))
            return rc;
    }
    return rc;
}

static void close_molecule(struct top_molecule *m)
{
    free(m->atoms);
    for (int k = 0; k < KIND_COUNT; k++)
        free(m->terms[k].items);
    free(m->sites);
    free(m->site_atoms);
    free(m->site_weights);
    free(m->derived);
    hash_table_free(&m->restraint_labels);
    free(m->exclusions);
    free(m->exclusion_start);
    free(m->exclusion);
}

static void close_top(struct top *t)
{
    pp_close(&t->pp);
    free(t->words);
    free(t->types);
    hash_table_free(&t->type_names);
    hash_table_free(&t->bonded_names);
    hash_table_free(&t->molecule_names);
    hash_table_free(&t->folded_names);
    for (int k = 0; k < KIND_COUNT; k++) {
        free(t->bonded_types[k].items);
        hash_table_free(&t->bonded_types[k].index);
    }
    free(t->nonbonded);
    hash_table_free(&t->nonbonded_index);
    for (int i = 0; i < t->nmolecules; i++)
        close_molecule(&t->molecules[i]);
    free(t->molecules);
    close_molecule(&t->between);
    for (int i = 0; i < t->ncmaps; i++)
        free(t->cmaps[i].values);
    free(t->cmaps);
    hash_table_free(&t->cmap_index);
    free(t->counts);
    hash_table_free(&t->leap_types);
    hash_table_free(&t->leap_atoms);
    for (int k = 0; k < NOTE_COUNT; k++)
        free(t->notes[k]);
}

/* Notes defines that nothing uses and an #ifdef that stays open: no single line is wrong there. */
static void note_defines(struct top *t, const struct define *defines, int ndefines)
{
    t->section = NULL;
    for (int i = 0; i < ndefines; i++)
        if (!pp_used(&t->pp, defines[i].name)) {
            t->pp.file = t->pp.names[0];
            t->pp.number = 1;
            top_note(t, NOTE_UNUSED_DEFINE, "nothing asks for the define %s: is its name right?", defines[i].name);
        }
    if (t->pp.open_file) {
        t->pp.file = t->pp.open_file;
        t->pp.number = t->pp.open_line;
        top_note(t, NOTE_OPEN_CONDITION, "#ifdef or #ifndef without #endif: it ends with its file, as for grompp");
    }
}

/* What grompp, too, says of a force field that defines these. */
static void note_force_field(struct top *t, struct system *s)
{
    s->fitted_to_h_bonds =
        pp_defined(&t->pp, "_FF_AMBER") || pp_defined(&t->pp, "_FF_CHARMM") || pp_defined(&t->pp, "_FF_OPLSAA");
    if (pp_defined(&t->pp, "_FF_GROMOS96"))
        system_note(s,
                    "%s: GROMOS force fields (_FF_GROMOS96) were fitted with two cut-offs and forces between them that "
                    "acted too rarely; with one cut-off averages such as the density may not be those of the fit",
                    t->pp.names[0]);
}

int top_read(struct system *s, struct source *src, const char *name, const struct define *defines, int ndefines,
             struct err *e)
{
    struct top *t = xcalloc(1, sizeof *t);
    *s = (struct system){0};
    int rc = pp_open(&t->pp, src, name, defines, ndefines, e);
    if (!rc)
        rc = read_lines(t, e);
    if (!rc && !t->natoms)
        rc = err_set(e, ERR_TOPOLOGY, "%s: read no molecules, expected a [ molecules ] section that counts some", name);
    if (!rc && (rc = top_expand(t, s, e)))
        system_close(s);
    if (!rc) {
        note_defines(t, defines, ndefines);
        top_give_notes(t, s);
        note_force_field(t, s);
    }
    close_top(t);
    free(t);
    return rc;
}
