/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading input. Readers never open paths: they ask a source for a name. The daemon's source is what the client
 * uploaded; the worker reads its replica's input folder; `shoal energy` reads the disk.
 *
 * Names are paths with forward slashes, relative to the base (the folder of the spec), normalised: no ".", no "x/..".
 * #include "x" from file f is looked up as `<folder of f>/x`, then as `x`; a source may search include folders for
 * either. A name may lead above the base, or be absolute: where texts are kept in one folder, such a file lies in it
 * under the name that path_kept makes (engine/base/path.h).
 */
#ifndef SHOAL_ENGINE_IO_IO_H
#define SHOAL_ENGINE_IO_IO_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"
#include "engine/system/system.h"

struct source {
    /* The whole text of a normalised name, NUL-terminated, owned by the source until it is freed; NULL: it has none. */
    const char *(*find)(struct source *s, const char *name, size_t *len);
    void (*close)(struct source *s);
    /* After ERR_MISSING_FILE: the names that were tried, best first; any one of them would do. NULL-terminated. */
    char *wanted[3];
};

/* Uploaded files. source_memory_add copies; a later text of the same name replaces the earlier. ERR_UNSUPPORTED: it
 * names no file. */
struct source *source_memory_new(void);
int source_memory_add(struct source *s, const char *name, const void *text, size_t len, struct err *e);
/* Files of the disk, by names relative to a folder; include folders are searched after it, in the order they were
 * added. A confined source opens nothing outside its folder, and follows no symbolic link out of it: files of other
 * names are those kept there. Any other looks for such a file where its name leads first. */
struct source *source_disk_new(const char *base, bool confined);
void source_disk_include(struct source *s, const char *folder);
/* File number i of those that were found, in that order: its name, where it is, and its text, all owned by the source.
 * False: there are no more. */
struct source_file {
    const char *name, *path, *text;
    size_t len;
};
bool source_disk_file(const struct source *s, int i, struct source_file *out);
void source_free(struct source *s);

struct source_text {
    const char *name; /* as found, normalised; valid until the next source_open */
    const char *text; /* NUL-terminated, owned by the source until it is freed */
    size_t len;
};
/* Looks `name` up, beside the file `from` first (NULL: from the base). ERR_MISSING_FILE fills s->wanted;
 * ERR_UNSUPPORTED for a name of no file; ERR_IO for gzip data that are damaged. */
int source_open(struct source *s, const char *from, const char *name, struct source_text *out, struct err *e);

struct define {
    const char *name, *value; /* -DNAME (value NULL or empty) or -DNAME=value */
};

/* Reads a GROMACS topology. Fills *s except coordinates. ERR_TOPOLOGY: "file:line: what was read, what was expected";
 * ERR_UNSUPPORTED: "file:line: the reason"; ERR_MISSING_FILE with "file:line" and the names tried. On failure *s is
 * empty. */
int top_read(struct system *s, struct source *src, const char *name, const struct define *defines, int ndefines,
             struct err *e);
/* Reads the first frame of .gro coordinates of any decimal width into s->x, s->v, s->box and checks the atom count and
 * names against the topology (a name may differ in digits, punctuation and case; count and order may not). Also makes
 * the start coordinates the position-restraint reference. ERR_COORDINATES, ERR_UNSUPPORTED, ERR_MISSING_FILE. */
int gro_read(struct system *s, struct source *src, const char *name, struct err *e);
/* Coordinates of the same kind for one window alone; *out is the caller's. */
int gro_read_start(const struct system *s, struct source *src, const char *name, struct start *out, struct err *e);
/* The next frame of a text of several, which begins at *at, behind line *line: both move on; *out is the caller's.
 * *time: what the title says behind "t=", ps, else NAN. ERR_COORDINATES, ERR_UNSUPPORTED. */
int gro_read_frame(const struct system *s, const char *file, const char *text, size_t len, size_t *at, int *line,
                   struct start *out, double *time, struct err *e);
/* Position-restraint reference coordinates from a second .gro; call after gro_read. */
int gro_read_reference(struct system *s, struct source *src, const char *name, struct err *e);
/* The atoms of one group of an index file (.ndx), counted from 0; *atoms is the caller's. ERR_SPEC, ERR_MISSING_FILE;
 * INDEX_NO_GROUP with an ERR_SPEC in *e: it has no group of this name. */
enum { INDEX_NO_GROUP = 1 };
int index_read(struct source *src, const char *name, const char *group, int natoms, int **atoms, int *n, struct err *e);

#endif
