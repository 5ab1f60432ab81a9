/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables that people keep beside a campaign: values between tabs or commas, a line of headings first. Lines that are
 * empty or begin with # are left out. A value may be in "double quotes", doubled where it has one.
 */
#ifndef SHOAL_DAEMON_CAMPAIGN_DELIMITED_H
#define SHOAL_DAEMON_CAMPAIGN_DELIMITED_H

#include "engine/base/err.h"

struct delimited {
    int columns, rows;
    char **heads; /* [columns] */
    char **cells; /* [rows * columns] */
    int *lines;   /* [rows] */
    int line;     /* of the headings */
};

/* `file` is only for messages. ERR_SPEC: "file:line: ...". *s is the caller's to free, empty on failure. */
int delimited_parse(struct delimited *s, const char *file, const char *text, struct err *e);
/* -1: there is none. */
int delimited_column(const struct delimited *s, const char *head);
const char *delimited_cell(const struct delimited *s, int row, int column);
void delimited_free(struct delimited *s);

#endif
