/* SPDX-License-Identifier: Apache-2.0
 *
 * Which atoms of a system tell whether a protein keeps its fold, and a ligand its place: those that `fold` of a spec
 * names, else those that names of atoms and the alchemy tell.
 */
#ifndef SHOAL_DAEMON_SPEC_SECTIONS_FOLD_H
#define SHOAL_DAEMON_SPEC_SECTIONS_FOLD_H

#include "daemon/spec/spec.h"
#include "engine/derive/fold.h"

struct fold_atoms {
    int *atom[FOLD_GROUPS], n[FOLD_GROUPS]; /* owned; n 0: there is no such group */
    struct buf label[FOLD_GROUPS];          /* for people */
};

/* *out, in any case, is for fold_atoms_close. Without a backbone there is no ligand either. ERR_SPEC, ERR_MISSING_FILE:
 * of groups that the spec names. */
int fold_atoms_find(struct fold_atoms *out, const struct spec *s, struct source *src, const struct system *sys,
                    struct err *e);
void fold_atoms_close(struct fold_atoms *f);

#endif
