/* SPDX-License-Identifier: Apache-2.0
 *
 * What a client submits: the JSON body of POST /v1/ensembles, read and checked from its bytes alone. This is done in a
 * process of its own (shoal-worker check-submission): whatever a body does to its reader, the service goes on.
 */
#ifndef SHOAL_DAEMON_SPEC_SUBMISSION_H
#define SHOAL_DAEMON_SPEC_SUBMISSION_H

#include <jansson.h>
#include <stdbool.h>

#include "engine/base/buf.h"

#define SUBMISSION_FILES 4096
#define SUBMISSION_LABELS 32
#define SUBMISSION_KEY 64
#define SUBMISSION_NAME 255 /* bytes of the name under which a file is kept, also of the spec's */
#define SUBMISSION_PART 250 /* of one part of it: what is written first is called NAME.tmp */

struct spec;
struct system;

/* What devices would have to hold of it, as the API's sizes: [{"kind": text, "limits": text, "tables", "replica":
 * bytes}]. */
typedef json_t *submission_sizes_fn(void *ctx, const struct spec *spec, const struct system *sys);

/* Appends the answer, one line of JSON, to *out:
 *   {"error": {code, message, "files" with MISSING_FILE}}, or
 *   {"summary": openapi.yaml's Summary, "submission": {name, spec_name, key or null, labels, hash, atoms, what
 * spec_facts says (of a spec whose ladder is to be placed: of its pilot), spec_bytes, files: [[name under which it is
 * kept (engine/base/path.h), bytes, hash of its text], ..], sizes: what `sizes` says; absent without it}} then, where
 * `texts`, the spec and the files in that order, each followed by a NUL. */
void submission_check(const char *body, size_t len, bool texts, submission_sizes_fn *sizes, void *ctx, struct buf *out);

/* The hash of a submission: of its spec and of its files by the names under which they are kept, in hexadecimal digits.
 * `files`: such a name to text. */
enum { SUBMISSION_HASH = 65 };
void submission_hash(const char *spec, const json_t *files, char hash[SUBMISSION_HASH]);

/* A label's key: 1 to 63 letters, digits, '.', '_', '-', '/'; also the pattern of a submission's own key (64, no '/').
 */
bool submission_label_key(const char *text);
bool submission_key(const char *text);

#endif
