/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes an archive into memory, from where the caller takes it piece by piece: begin with pack_head, then every file
 * of the head by pack_begin, pack_add until all its bytes are there, and pack_end; at last pack_finish.
 */
#ifndef SHOAL_DAEMON_ARCHIVE_PACK_H
#define SHOAL_DAEMON_ARCHIVE_PACK_H

#include <jansson.h>
#include <stdint.h>

#include "engine/base/buf.h"

struct pack;

/* `folder`: the name of the folder that all is in. ERR_INTERNAL. */
int pack_new(struct pack **out, const char *folder, struct err *e);
/* NULL is fine. */
void pack_free(struct pack *p);
/* All of these: ERR_INTERNAL. */
int pack_head(struct pack *p, const json_t *head, struct err *e);
int pack_begin(struct pack *p, const char *path, int64_t bytes, struct err *e);
int pack_add(struct pack *p, const void *data, size_t len, struct err *e);
void pack_end(struct pack *p);
int pack_finish(struct pack *p, struct err *e);
/* What was not taken yet of the compressed bytes; the caller frees it. */
struct buf pack_take(struct pack *p);
size_t pack_waiting(const struct pack *p);

#endif
