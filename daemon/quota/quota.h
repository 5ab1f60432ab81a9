/* SPDX-License-Identifier: Apache-2.0
 *
 * What one user may hold of the things that all users share. A charge is an object: taken before the thing is given,
 * returned when it is given back, on every path; a zeroed charge holds nothing, and returning it twice does no harm.
 *
 * Each kind has two limits: of one user, which rules may change (rules.h), and of all together. Nothing is charged for
 * replicas that run: the scheduler holds to that limit. root is held to neither limit of its own, and the last
 * sixteenth of what all may have is kept for it: however many others hold something, root gets in.
 *
 * One thread only.
 */
#ifndef SHOAL_DAEMON_QUOTA_QUOTA_H
#define SHOAL_DAEMON_QUOTA_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"

/* X(name, what messages call one and several, the shoald option, of one user, of all) */
#define QUOTA_KINDS(X)                                                                                                 \
    X(CONNECTIONS, "connection", "connections", "user-connections", 2048, 8192)                                        \
    X(FOLLOWERS, "event stream that is followed", "event streams that are followed", "user-followers", 512, 4096)      \
    X(ANSWER_BYTES, "byte of answers that are not read yet", "bytes of answers that are not read yet",                 \
      "user-answer-bytes", 67108864, 536870912)                                                                        \
    X(BODY_BYTES, "byte of requests that are being sent", "bytes of requests that are being sent", "user-body-bytes",  \
      201326592, 536870912)                                                                                            \
    X(READINGS, "submission that is being read", "submissions that are being read", "user-readings", 64, 1024)         \
    X(ENSEMBLES, "ensemble", "ensembles", "user-ensembles", 20000, 1000000)                                            \
    X(REPLICAS, "replica", "replicas", "user-replicas", 400000, 4000000)                                               \
    X(RUNNING, "replica that runs", "replicas that run", "user-running", 1000000, INT64_MAX)                           \
    X(STORED_BYTES, "byte stored", "bytes stored", "user-stored-bytes", 1000000000000, INT64_MAX)

enum quota_kind {
#define X(name, one, text, option, each, all) QUOTA_##name,
    QUOTA_KINDS(X)
#undef X
        QUOTA_COUNT
};

struct quota;
struct quota_rules;
struct quota_user;

struct quota_charge {
    struct quota_user *user; /* NULL: nothing is held */
    enum quota_kind kind;
    int64_t amount;
};

/* With the limits of QUOTA_KINDS. */
struct quota *quota_new(void);
/* Every charge must have been returned. NULL is fine. */
void quota_free(struct quota *q);
void quota_limit(struct quota *q, enum quota_kind kind, int64_t each, int64_t all);
/* Whether the limits of one user hold for this one: not for root. */
bool quota_limits(uint32_t uid);
/* By the first of these rules that fits a user, which are the quota's from here on; NULL: all users are alike. */
void quota_take_rules(struct quota *q, struct quota_rules *rules);
/* The limit of one user, and the weight of their part of the slots. */
int64_t quota_limit_of(const struct quota *q, uint32_t uid, enum quota_kind kind);
double quota_weight(const struct quota *q, uint32_t uid);
/* Whether the rules make the user an administrator. */
bool quota_administrates(const struct quota *q, uint32_t uid);
int64_t quota_limit_all(const struct quota *q, enum quota_kind kind);

/* Fills *c, which must hold nothing. ERR_LIMIT: the user's own limit; ERR_BUSY: that of all. Nothing is held then. */
int quota_take(struct quota *q, uint32_t uid, enum quota_kind kind, int64_t amount, struct quota_charge *c,
               struct err *e);
/* Makes a charge that holds something larger. On failure it stays what it was. */
int quota_grow(struct quota_charge *c, int64_t more, struct err *e);
/* As quota_take, of what is held already, whatever the limits say: what was stored before they were set. */
void quota_hold(struct quota *q, uint32_t uid, enum quota_kind kind, int64_t amount, struct quota_charge *c);
/* To an amount that is a fact already, whatever the limits say: bytes found on disk. */
void quota_set(struct quota_charge *c, int64_t amount);
void quota_return(struct quota_charge *c);
/* Whether the user holds more than their limit: facts know none. Then *e is an ERR_LIMIT with the numbers. */
bool quota_exceeded(const struct quota *q, uint32_t uid, enum quota_kind kind, struct err *e);
/* Held now by one user. */
int64_t quota_held(const struct quota *q, uint32_t uid, enum quota_kind kind);

#endif
