/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules that give some users and groups other limits and another weight than everybody, and the group that
 * administrates. Of several rules the first that fits a user counts, and only that one.
 */
#ifndef SHOAL_DAEMON_QUOTA_RULES_H
#define SHOAL_DAEMON_QUOTA_RULES_H

#include <stdint.h>

#include "daemon/quota/quota.h"

struct quota_rule {
    const char *user, *group;  /* both must fit; NULL: any does */
    double weight;             /* of the user's part of the slots */
    int64_t each[QUOTA_COUNT]; /* -1: as everybody's */
};

struct quota_rules;

/* Copies them. Names that the machine does not know fit nobody. admins: the group whose members are administrators;
 * NULL: there is none. */
struct quota_rules *rules_new(const struct quota_rule *rules, int n, const char *admins);
/* NULL is fine. */
void rules_free(struct quota_rules *r);
/* The first that fits; NULL: none. Groups are looked up once for each user, which may take as long as the machine's
 * directory takes. */
const struct quota_rule *rules_find(struct quota_rules *r, uint32_t uid);
/* Whether a user is a member of the group of administrators; groups are looked up as by rules_find. */
bool rules_administrate(struct quota_rules *r, uint32_t uid);
/* The user or group of a rule that the machine does not know; NULL: it knows them. */
const char *rules_unknown(const struct quota_rule *rule);

#endif
