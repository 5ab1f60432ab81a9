/* SPDX-License-Identifier: Apache-2.0
 *
 * work.tsv: the works of the switches of one walker, a line each, in the order of their snapshots. The first lines,
 * which begin with #, say temperature, length of a switch, and columns. Where switches become longer, another such line
 * says the length of those below.
 */
#ifndef SHOAL_ENGINE_SERIES_WORK_TABLE_H
#define SHOAL_ENGINE_SERIES_WORK_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"
#include "engine/system/settings.h"

#define WORK_TABLE_NAME "work.tsv"
#define WORK_TABLE_ALL UINT64_MAX

extern const char *const switch_way_words[SWITCH_WAYS];

struct work_table {
    double temperature; /* K */
    enum switch_way way;
    bool cut_short; /* the last line does not end: it was left out */
    size_t n;
    double *time, *work, *length; /* [n] ps, of the snapshot; kJ/mol, done on the system; ps, of the switch. Owned */
};

/* Whether the name of a file says that it is one, maybe gzipped. */
bool work_table_is(const char *path);
/* K; ps. */
void work_table_header(struct buf *out, double temperature, double length);
/* ps, of the switches of the lines below. */
void work_table_length(struct buf *out, double length);
/* A line: ps, kJ/mol. */
void work_table_row(struct buf *out, double time, enum switch_way way, double work);
/* Of a file, gzipped or not, of which only the first `bytes` count. `name` is for messages. ERR_IO; ERR_UNSUPPORTED:
 * no such table, or works of both ways; ERR_BUSY: it may be read another time. The caller closes *t, which is zeroed
 * before. */
int work_table_read(struct work_table *t, const char *name, const char *path, uint64_t bytes, struct err *e);
void work_table_close(struct work_table *t);

#endif
