/* SPDX-License-Identifier: Apache-2.0
 *
 * What the reader of submissions found (spec/submission.h), as an ensemble that can be stored.
 */
#ifndef SHOAL_DAEMON_API_FACTS_H
#define SHOAL_DAEMON_API_FACTS_H

#include <jansson.h>

#include "daemon/service/service.h"

/* A member of them; NULL, or 0: there is none. */
const char *facts_text(const json_t *facts, const char *key);
int64_t facts_number(const json_t *facts, const char *key);
/* The texts follow each other, each with a NUL, as spec/submission.h says. Borrowed; false: they are not what the facts
 * tell. */
bool facts_texts(const json_t *facts, const char *texts, size_t len, struct submission *sub);
void facts_texts_free(struct submission *sub);
/* A queued ensemble, with numbers for its replicas; hand it to the service at once. */
struct ensemble *facts_ensemble(struct service *sv, uint32_t owner, const json_t *facts);
/* Of the ensemble in the database, but for its replicas, its events and the contents of its files. */
int64_t facts_row_bytes(const json_t *facts);
/* *out: what devices would have to hold of it; device_sizes_free it. */
void facts_sizes(struct device_sizes *out, const json_t *facts);

#endif
