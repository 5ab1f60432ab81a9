/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the reader of campaigns: campaign.c reads campaign.yaml, columns.c the tables that it names; reading.c has
 * what both need.
 */
#ifndef SHOAL_DAEMON_CAMPAIGN_INTERNAL_H
#define SHOAL_DAEMON_CAMPAIGN_INTERNAL_H

#include "daemon/campaign/campaign.h"
#include "daemon/campaign/delimited.h"
#include "daemon/spec/document/schema.h"

struct campaign_reading {
    struct campaign *c;
    struct err *e;
};

/* ---- reading.c ---- */
/* ERR_SPEC: "file:line: text". */
int campaign_bad(struct campaign_reading *r, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A warning of the campaign: "file:line: text". */
void campaign_warn(struct campaign_reading *r, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A path as the campaign's file says it, from the folder of that file. The caller frees the path. */
char *campaign_path(const struct campaign *c, const char *name);
/* 1 where there is no such value. */
int campaign_line(struct view v);
/* Copies both. */
void values_add(struct values *v, const char *name, const char *value);

/* ---- columns.c ---- */
struct open_table {
    struct delimited delimited;
    char *path;
};

/* Reads the table whose path the view is. ERR_SPEC, ERR_MISSING_FILE. Close it in any case. */
int table_open(struct campaign_reading *r, struct view v, struct open_table *t);
void table_close(struct open_table *t);
/* ERR_SPEC: a heading is one of `energies` (NULL at the end) but for its spelling, or is there twice: it would be a
 * word for specs. */
int table_check_energies(struct campaign_reading *r, const struct open_table *t, const char *const *energies);
/* A free energy in kJ/mol, of the column `head`, or "head (UNIT)" where the number has no unit; NAN: an empty cell, or
 * no such column. ERR_SPEC: no free energy. */
int table_energy(struct campaign_reading *r, const struct open_table *t, int row, const char *head, double *out);
/* The same of the column "error", which must not be negative. */
int table_error(struct campaign_reading *r, const struct open_table *t, int row, double *out);
/* Every column but `others` (NULL at the end) is a word for specs. */
void table_values(const struct delimited *s, int row, const char *const *others, struct values *values);
/* Warns of columns but `others` that look like experiments: gather compares nothing with them. */
void table_warn_of_energies(struct campaign_reading *r, const struct open_table *t, const char *const *others,
                            const char *expected);

#endif
