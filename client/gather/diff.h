/* SPDX-License-Identifier: Apache-2.0
 *
 * campaign diff: two gathered campaigns side by side, as gather.json has them. Everything in kJ/mol; NAN is not known.
 */
#ifndef SHOAL_CLIENT_GATHER_DIFF_H
#define SHOAL_CLIENT_GATHER_DIFF_H

#include "client/gather/gather.h"

/* What one campaign has of a row. */
struct diff_side {
    bool there;
    struct number number;
    const char *verdict; /* "": none */
    bool so_far;
};

/* An edge, a system, or a leg of one that both campaigns have. Texts are borrowed from the campaigns. */
struct diff_row {
    const char *kind, *name; /* "edge", "system" or "leg"; ligand_i of an edge */
    const char *ligand_j;    /* "": of a system */
    const char *leg;         /* "": the sum of the legs */
    struct diff_side side[2];
};

struct diff {
    const json_t *campaigns[2];
    struct diff_row *rows; /* owned */
    int nrows;
};

/* From two campaigns as gather_json makes them, borrowed. Edges of the second that go the other way are turned round.
 */
void diff_make(struct diff *d, const json_t *first, const json_t *second);
void diff_free(struct diff *d);
/* The second less the first; the error takes the two for independent. NAN where one has no number. */
struct number diff_of(const struct diff_row *r);
/* How many errors that is; NAN without an error. */
double diff_in_errors(const struct diff_row *r);
/* Whether both campaigns have the row, with verdicts that differ. */
bool diff_verdict_changed(const struct diff_row *r);

/* diff_files.c: the rows as JSON, a new reference; as CSV with headings, in kcal/mol. */
json_t *diff_json(const struct diff *d);
void diff_csv(const struct diff *d, struct buf *out);

/* campaign diff; an exit code. Each is a campaign's file, or a gather.json. */
int campaign_diff(struct client *c, const char *first, const char *second);

#endif
