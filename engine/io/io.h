/* SPDX-License-Identifier: Apache-2.0
 *
 * Where input text comes from. Readers never open paths: they ask a source for a name. The daemon's source is what the
 * client uploaded; `shoal energy` reads the disk.
 */
#ifndef SHOAL_ENGINE_IO_H
#define SHOAL_ENGINE_IO_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"
#include "engine/system.h"

struct source {
    /* The whole text of `name` (a relative path with forward slashes, already joined to its includer's folder), owned by
     * the source until it is closed; NULL when there is no such file. */
    const char *(*find)(struct source *s, const char *name, size_t *len);
    /* #include "name" from file `from`: looked up first beside `from`, then as `name` itself in the source (which may
     * search include folders). Names nobody had are collected here by the caller of find through the error text. */
};

struct define {
    const char *name, *value; /* -DNAME or -DNAME=value */
};

/* Reads a GROMACS topology. Fills *s except coordinates. ERR_TOPOLOGY: "file:line: what was read, what was expected";
 * ERR_UNSUPPORTED likewise with the reason; ERR_MISSING_FILE with "file:line" and the names tried. */
int top_read(struct system *s, struct source *src, const char *name, const struct define *defines, int ndefines,
             struct err *e);
/* Reads .gro coordinates of any decimal width into s->x, s->v, s->box and checks the atom count and names against the
 * topology (a differing name is accepted when only digits or case move; count and order are not). */
int gro_read(struct system *s, struct source *src, const char *name, struct err *e);
/* Position-restraint reference coordinates from a second .gro (default: the start coordinates, call after gro_read). */
int gro_read_reference(struct system *s, struct source *src, const char *name, struct err *e);

#endif
