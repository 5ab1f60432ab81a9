/* SPDX-License-Identifier: Apache-2.0
 *
 * How a spec names a group of atoms: a word, or conditions that all hold. Everything that takes a group of atoms takes
 * it so.
 */
#ifndef SHOAL_DAEMON_SPEC_SECTIONS_SELECTION_H
#define SHOAL_DAEMON_SPEC_SECTIONS_SELECTION_H

#include "engine/io/io.h"

/* The keys of the schema in this order, and a word alone: a group of the index file, or a name of atoms. */
enum select_by {
    SELECT_MOLECULE,
    SELECT_ATOMS,
    SELECT_GROUP,
    SELECT_NAME,
    SELECT_RESNAME,
    SELECT_WORD,
    SELECT_BY_COUNT
};

/* Zeroed is valid and selects all atoms; selection_close frees. */
struct selection {
    char *by[SELECT_BY_COUNT]; /* NULL: no such condition */
    char *text;                /* for people: "OW", "resname SOL, name OW" */
    int line;
    bool ordered; /* the order of atoms counts: lists of them are to be in that of the topology */
};

void selection_close(struct selection *s);
/* Its atoms in a system, sorted, counted from 0: *n of them, at least 1, in *atoms, the caller's. ERR_SPEC says what
 * matches nothing and what is near it; ERR_MISSING_FILE: the index file. */
int selection_atoms(const struct selection *s, const char *index, struct source *src, const struct system *sys,
                    int **atoms, int *n, struct err *e);

#endif
