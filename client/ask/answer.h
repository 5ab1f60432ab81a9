/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions to the service and its answers, as values.
 */
#ifndef SHOAL_CLIENT_ASK_ANSWER_H
#define SHOAL_CLIENT_ASK_ANSWER_H

#include "client/command/client.h"

/* Appends /v1/ensembles/ID (an id, a beginning of one, a key or a name) and what follows it. */
void client_path(struct buf *out, const char *id, const char *rest);
/* A request whose answer is a JSON object: a new reference, or NULL. */
json_t *client_ask(const struct client *c, const char *method, const char *path, struct err *e);
json_t *client_get(const struct client *c, const char *path, struct err *e);

/* The JSON object of an answer with a 2xx status as a new reference; else NULL and the service's own error. */
json_t *answer_object(long status, const struct buf *reply, struct err *e);
/* The error object of an answer. Returns -code. */
int answer_error(const json_t *answer, long status, struct err *e);
/* A member of an object: "" or 0 where there is none. */
const char *answer_text(const json_t *object, const char *key);
long long answer_whole(const json_t *object, const char *key);
double answer_number(const json_t *object, const char *key);
/* The value of a quantity with a unit, or NAN. */
double answer_magnitude(const json_t *quantity);
/* Appends which replica an event or a replica is of: "window 3", "walker A 3". False: of none. */
bool answer_replica(struct buf *out, const json_t *object);
/* An ensemble's windows times its repeats. */
long long answer_replicas(const json_t *ensemble);
/* Appends what the samples of an ensemble that has not ended say so far: "-2.31 +- 0.12 kcal/mol, unconverged". Nothing
 * where that is not known. */
void answer_estimate(struct buf *out, const json_t *ensemble);
/* Appends an ensemble's labels: "project=hydration,round=2". */
void answer_labels(struct buf *out, const json_t *ensemble);
/* Appends lines that say how many replicas of it each device holds: GPUs, and a CPU where fewer than the ensemble has.
 */
void answer_fits(struct buf *out, const json_t *ensemble);

#endif
