/* SPDX-License-Identifier: Apache-2.0
 *
 * A topology while it is read: what the force-field sections define and the molecule types, before expansion over all
 * molecules. Internal to engine/io/top*.c. Values are as in the file (degrees; sigma and epsilon or C6 and C12).
 */
#ifndef SHOAL_ENGINE_IO_TOP_TOP_H
#define SHOAL_ENGINE_IO_TOP_TOP_H

#include "engine/io/top/preprocess.h"
#include "engine/system/system.h"

enum {
    TOP_PARAMS = 6,          /* most parameters of one state */
    TOP_ATOMS_MAX = 1000000, /* size limits, so that no input can exhaust the memory of the service */
    TOP_TYPES_MAX = 100000,
    TOP_EXCLUSIONS_MAX = 50000000,
    TOP_TERMS_MAX = 50000000,
    TOP_CMAP_POINTS_MAX = 2000000,
    TOP_RESTRAINT_PAIRS_MAX = 256 /* of one restraint; the time of a step grows with their square */
};

/* Every interaction that a topology line can ask for. */
enum top_kind {
#define KIND(name, ...) KIND_##name,
#include "engine/math/bonded_kinds.def"
    KIND_RARE, /* .. + enum rare_kind */
    KIND_COUNT = KIND_RARE + RARE_KINDS
};

struct top_kind_info {
    const char *section; /* of the molecule's lines */
    const char *name;    /* for messages */
    int funct;
    int natoms; /* on the line */
    int nparams, nparams_b;
};
extern const struct top_kind_info top_kinds[KIND_COUNT];
/* The kind of a section and function number, or -1. */
int top_kind_of(const char *section, long funct);
/* Atoms on a line of a section. */
int top_atoms_of(const char *section);
/* The function numbers of a section, as "1, 2 or 5"; returns out. */
const char *top_functions_of(const char *section, char *out, size_t size);

struct top_atom_type {
    char name[32];
    int bonded; /* index of its bonded type */
    double mass, charge;
    char particle; /* A, S, D or V */
    int number;    /* atomic number; 0 or less: not given */
    double c[2];   /* C6, C12 (rule 1) or sigma, epsilon */
    bool paired;   /* [ nonbond_params ] name it */
};

/* One line of [ bondtypes ] and kin. */
struct top_bonded_type {
    int atom[4]; /* bonded types, WILDCARD; pair types: atom types */
    double c[2][TOP_PARAMS];
    int block; /* index of the first line of a funct 9 block that this line continues; else its own */
};
enum { WILDCARD = -1 };

struct top_bonded_types {
    struct top_bonded_type *items;
    int n, cap;
    struct hash_table index; /* atom[4] -> first line of its block */
};

/* One line of [ cmaptypes ]. */
struct top_cmap_type {
    int side;
    double *values;      /* [side * side], kJ/mol, owned */
    char residue[5][16]; /* of each atom; "*": any; all empty: the line names none */
    int next;            /* of the same five types, for other residues; -1: none */
};

struct top_nonbonded {
    double c[2];
};

/* A line. */
struct top_place {
    const char *file; /* of pp.names */
    int line;
};

struct top_atom {
    struct top_place at;
    int type[2];
    double charge[2], mass[2];
    int residue;
    char name[16], resname[16];
};

struct top_term {
    struct top_place at;
    int atom[5]; /* 0-based within the molecule */
    double c[2][TOP_PARAMS];
    int cmap; /* index of the CMAP's type */
};

struct top_terms {
    struct top_term *items;
    int n, cap;
};

/* A virtual site whose line has no parameters: they follow from the bonds and angles of its molecule (derive.c). */
struct top_derived {
    int site;      /* of the molecule's */
    bool mirrored; /* its function number is negative: on the other side */
    struct top_place at;
};

struct top_molecule {
    char name[64];
    struct top_place at; /* where it begins */
    bool has_likes;      /* later ones differ from it in case alone */
    int nrexcl;
    struct top_atom *atoms;
    int natoms, cap;
    struct top_terms terms[KIND_COUNT];
    struct virtual_site *sites; /* atoms as in the molecule; first, count: of the two arrays below */
    int nsites, sites_cap;
    int *site_atoms;
    double *site_weights;
    int nsite_atoms, site_atoms_cap, site_weights_cap;
    struct top_derived *derived;
    int nderived, derived_cap;
    struct hash_table restraint_labels; /* of [ distance_restraints ] */
    long restraint_label[2];            /* index and type' of its last line */
    int restraint_end;                  /* of the list of distance restraints, behind that line's */
    int (*exclusions)[2];
    int nexclusions, exclusions_cap;
    int *exclusion_start, *exclusion; /* made by top_exclude */
};

struct top_count {
    int kind;
    int count;
};

/* What a reader takes as grompp does, and should say. */
enum top_note {
    NOTE_COMMENT,
    NOTE_REDEFINED,
    NOTE_UNUSED_DEFINE,
    NOTE_OPEN_CONDITION,
    NOTE_CMAP,
    NOTE_DISTANCES,
    NOTE_COUNT
};

struct top {
    struct pp pp;
    char **words; /* of the current line */
    int nwords, words_cap;
    const char *section; /* of the current line: an entry of the section table */

    bool have_defaults, gen_pairs;
    int comb_rule;
    double fudge_lj, fudge_qq;

    struct top_atom_type *types;
    int ntypes, types_cap;
    struct hash_table type_names, bonded_names;
    int nbonded_names;
    struct top_bonded_types bonded_types[KIND_COUNT];
    struct top_cmap_type *cmaps;
    int ncmaps, cmaps_cap;
    struct hash_table cmap_index;    /* five bonded types -> the first of them */
    struct top_nonbonded *nonbonded; /* [ nonbond_params ] */
    int nnonbonded, nonbonded_cap;
    struct hash_table nonbonded_index; /* two type numbers, smaller first */

    struct top_molecule *molecules;
    int nmolecules, molecules_cap;
    struct hash_table molecule_names, folded_names; /* as written; in small letters, of the first that has them */
    bool intermolecular;                            /* [ intermolecular_interactions ] has begun */
    struct top_molecule between;                    /* its terms, of atoms of the whole system */
    bool have_system, have_title;
    char title[128];
    struct top_count *counts;
    int ncounts, counts_cap;
    int natoms; /* of the whole system so far */

    struct hash_table leap_types, leap_atoms; /* types and atoms of the impropers that have kept their order (leap.c) */
    char *notes[NOTE_COUNT];                  /* the first of its kind; NULL: none */
    int nnotes[NOTE_COUNT];
};

/* line.c: words and numbers of the current line. Errors are "file:line: [ section ]: ...". */
struct top_place top_here(const struct top *t); /* of the current line */
int top_fail(struct top *t, struct err *e, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void top_split(struct top *t, char *text);
/* Remembers the first note of a kind, and how many there were; it begins with the place of the current line. */
void top_note(struct top *t, enum top_note kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The notes so far, to the system. */
void top_give_notes(struct top *t, struct system *s);
/* The line has said all: numbers from `word` on are an error, other text is a comment, as for grompp. after: "after
 * ..". */
int top_end(struct top *t, int word, const char *after, struct err *e);
/* Whether a word is there that begins as a number does. */
bool top_is_number(const struct top *t, int word);
/* That a function of a section is not computed, and which are. */
int top_no_function(struct top *t, const char *section, long funct, struct err *e);
int top_real(struct top *t, int word, const char *what, double *value, struct err *e);
int top_int(struct top *t, int word, const char *what, long min, long max, long *value, struct err *e);
/* The parameters from `word` to the end of the line: none, those of A (B = A) or those of A and B.
 * Returns how many states were given, 0 to 2, or an error. */
int top_params(struct top *t, int word, enum top_kind kind, double c[2][TOP_PARAMS], struct err *e);
/* Copies a name into a fixed field, or says that it is too long. */
int top_name(struct top *t, int word, const char *what, char *to, size_t size, struct err *e);

/* types.c: force-field sections, one line each. */
int top_defaults(struct top *t, struct err *e);
int top_atom_type(struct top *t, struct err *e);
int top_bonded_type(struct top *t, struct err *e);
int top_dihedral_type(struct top *t, struct err *e);
int top_nonbond_param(struct top *t, struct err *e);
int top_type_of(const struct top *t, const char *name); /* or -1 */
/* The numbers of the names in words first .. first+n-1, as bonded types or (pair types) atom types. */
int top_type_names(struct top *t, int first, int n, bool wildcards, int *types, struct err *e);

/* cmap.c */
int top_cmap_type(struct top *t, struct err *e);
/* The first CMAP of five atoms in a state, by their types in this order (its angles have a direction) and their
 * residues; -1. */
int top_find_cmap(const struct top *t, const struct top_molecule *m, const int atom[5], int state);

/* lookup.c: parameters by types. */
/* First line of the block that fits best, or NULL; *n lines of it. Types are bonded types (pairs: atom types). */
const struct top_bonded_type *top_find(const struct top *t, enum top_kind kind, const int *types, int *n);
/* Whether a line of [ dihedraltypes ] fits four types in their order; else it fits them reversed. */
bool top_fits(const struct top_bonded_type *line, const int types[4]);
/* LJ parameters of two types in file form: [ nonbond_params ] or the combination rule. */
void top_lj_params(const struct top *t, int a, int b, double c[2]);
/* 1-4 parameters of two types: [ pairtypes ] or, with gen-pairs, generated. False: none. */
bool top_pair_params(const struct top *t, int a, int b, double c[2]);
struct lj top_lj(const struct top *t, const double c[2]);

/* molecule.c: sections of a molecule, one line each. */
/* Small letters of a name, at most `size`, not terminated; returns how many. */
size_t top_fold(const char *name, char *out, size_t size);
int top_moleculetype(struct top *t, struct err *e);
int top_atom(struct top *t, struct err *e);
int top_term(struct top *t, struct err *e);
int top_exclusions(struct top *t, struct err *e);
int top_distance_restraint(struct top *t, struct err *e);

/* sites.c: lines of [ virtual_sites1 ] .. [ virtual_sites4 ], and of [ virtual_sitesn ]. */
int top_site(struct top *t, struct err *e);
int top_site_of_many(struct top *t, struct err *e);
/* Every atom has mass or is placed, once its molecule type is complete. */
int top_check_sites(const struct top_molecule *m, struct err *e);
/* Converts the parameters of a line to those of the engine. */
void top_site_params(struct top_molecule *m, struct virtual_site *s, const double c[3]);
/* derive.c: those that lines of a molecule type leave out. */
int top_derive_sites(const struct top *t, struct top_molecule *m, struct err *e);

/* leap.c: the order of an improper's atoms where _FF_AMBER_LEAP_ATOM_REORDERING is defined. */
void top_leap_order(struct top *t, enum top_kind kind, int atom[4]);

/* lines.c: line numbers of molecule types, their atoms and some of their terms; after write_out has made the kinds. */
void top_put_lines(const struct top *t, struct system *s);
/* terms.c: the terms of one molecule, whose atoms begin at `first`, into the system's lists, which have room. */
void top_put_terms(const struct top *t, struct system *s, const struct top_molecule *m, int first);
/* system.c: from molecule types to the system. */
int top_expand(struct top *t, struct system *s, struct err *e);
/* exclude.c: fills exclusion_start and exclusion of a molecule type. */
int top_exclude(struct top_molecule *m, struct err *e);

#endif
