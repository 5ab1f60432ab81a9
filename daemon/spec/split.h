/* SPDX-License-Identifier: Apache-2.0
 *
 * nonbonded.split: auto becomes numbers once, where a spec is accepted: they are written into its text, so whoever
 * reads it later, on whatever device and by whatever version, computes the same forces.
 */
#ifndef SHOAL_DAEMON_SPEC_SPLIT_H
#define SHOAL_DAEMON_SPEC_SPLIT_H

#include <jansson.h>

#include "daemon/spec/spec.h"
#include "engine/derive/ewald_error.h"

/* Chooses the split of a spec that says auto; another one stays as it is. ERR_SPEC: cut-offs and mesh that are asked
 * for do not fit the box. */
int spec_choose_split(struct spec *s, const struct system *sys, struct err *e);
/* *out, appended to: `text`, in which split is auto, with what was chosen in place of the word. ERR_SPEC: the word is
 * elsewhere, behind an alias. */
int spec_write_split(const struct spec *s, const char *text, size_t len, struct buf *out, struct err *e);

/* What is known of a split: estimated errors of forces with it and with what was asked for, without it. */
struct split_errors {
    struct ewald_error chosen, asked;
};
struct split_errors spec_split_errors(const struct spec *s, const struct system *sys);
/* The same with the numbers of the split, as schemas/results.schema.json has it; a new reference. NULL: the spec has no
 * split. */
json_t *spec_split_json(const struct spec *s, const struct system *sys);
/* Appends a sentence on it, without a point at its end: "estimated error of forces .. (rms)". */
void spec_split_sentence(const struct spec *s, const struct system *sys, struct buf *out);

#endif
