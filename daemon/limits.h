/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys `limits` and `admins` of shoald.yaml: rules for users and groups (quota/rules.h).
 */
#ifndef SHOAL_DAEMON_LIMITS_H
#define SHOAL_DAEMON_LIMITS_H

#include <jansson.h>

#include "daemon/quota/rules.h"
#include "daemon/spec/document/node.h"

struct limits {
    char *text, *admins;       /* all rules in one line, and who administrates, for the log; owned */
    struct quota_rules *rules; /* owned */
};

/* Completes the schema of the file. */
void limits_schema(json_t *schema);
/* Of a checked file; NULL: there is none. The log warns of users and groups that there are not. ERR_USAGE; then *l
 * is empty. */
int limits_read(struct limits *l, const struct node *file, const char *path, struct err *e);
void limits_free(struct limits *l);

#endif
