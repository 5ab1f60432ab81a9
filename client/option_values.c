/* SPDX-License-Identifier: Apache-2.0 */
#include "client/option_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/division/divide.h"
#include "engine/base/ladder/spacing.h"
#include "engine/base/number.h"

/* "90m", "36 h", "30d", "8w", "600 s" in seconds, or NAN. `bare`: what a number without a unit is in, NAN: it has to
 * have one. */
static double duration(const char *text, double bare)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};
    char *end;
    double n = strtod(text, &end), unit = *end ? NAN : bare;
    while (end > text && *end == ' ')
        end++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].name))
            unit = units[i].seconds;
    n *= end == text ? NAN : unit;
    return n >= 0 && n <= 1e9 ? n : NAN;
}

static bool is_state(const char *text, size_t len)
{
#define ENSEMBLE_STATE(symbol, number, name)                                                                           \
    if (strlen(name) == len && !strncmp(text, name, len))                                                              \
        return true;
#include "schemas/states.def"
#undef ENSEMBLE_STATE
    return false;
}

static bool are_states(const char *text)
{
    bool good = true;
    for (; good; text++) {
        size_t n = strcspn(text, ",");
        good = is_state(text, n);
        text += n;
        if (!*text)
            break;
    }
    return good;
}

/* Of what usage sums up. */
static bool is_kind(const char *text)
{
    static const char *const kinds[] = {"user", "ensemble", "campaign", "device", "day"};
    bool is = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        is |= !strcmp(text, kinds[i]);
    return is;
}

/* KEY=VALUE */
static bool is_label(const char *text)
{
    return *text != '=' && strchr(text, '=');
}

static bool is_priority(const char *text)
{
    return !strcmp(text, "low") || !strcmp(text, "normal") || !strcmp(text, "high") || !strcmp(text, "urgent");
}

static bool read_overlap(struct client *c, const char *text)
{
    char *end;
    c->overlap = strtod(text, &end);
    return end != text && !*end && c->overlap > 0 && c->overlap <= SPACING_AIM_MOST;
}

/* "7/64" */
static bool read_share(struct client *c, const char *text)
{
    char first[24];
    const char *slash = strchr(text, '/');
    const size_t n = slash ? (size_t)(slash - text) : sizeof first;
    if (n >= sizeof first)
        return false;
    memcpy(first, text, n);
    first[n] = '\0';
    return number_parse(first, &c->share.at) && number_parse(slash + 1, &c->share.of) && c->share.at >= 0 &&
           c->share.at < c->share.of && c->share.of <= SHARES_MOST;
}

/* ---- the table ---- */

enum value_kind {
    VALUE_UNREAD, /* shoal-worker reads it */
    VALUE_FLAG,
    VALUE_TEXT,
    VALUE_LIST,    /* of texts, LISTED_MAX at most */
    VALUE_WHOLE,   /* int64_t, from `least` to `most` */
    VALUE_SECONDS, /* double, above `least` */
    VALUE_OWN,     /* as `read` reads it */
};

struct value_rule {
    enum value_kind kind;
    size_t at, number;             /* offsets in struct client: of the member; of the number of a list */
    bool (*allowed)(const char *); /* of texts; NULL: any is */
    int64_t least, most;
    double bare; /* s: what a number without a unit is in; 0: it has to have one */
    bool (*read)(struct client *, const char *);
    const char *wants; /* behind "--name wants" */
};

#define AT(member) .at = offsetof(struct client, member)
#define FLAG(member)                                                                                                   \
    {                                                                                                                  \
        .kind = VALUE_FLAG, AT(member)                                                                                 \
    }
#define TEXT(member, ...)                                                                                              \
    {                                                                                                                  \
        .kind = VALUE_TEXT, AT(member), __VA_ARGS__                                                                    \
    }
#define LIST(member, ...)                                                                                              \
    {                                                                                                                  \
        .kind = VALUE_LIST, AT(member), .number = offsetof(struct client, n##member), __VA_ARGS__                      \
    }
#define WHOLE(member, first, last, text)                                                                               \
    {                                                                                                                  \
        .kind = VALUE_WHOLE, AT(member), .least = first, .most = last, .wants = text                                   \
    }
#define SECONDS(member, unit, above, text)                                                                             \
    {                                                                                                                  \
        .kind = VALUE_SECONDS, AT(member), .bare = unit, .least = above, .wants = text                                 \
    }
#define OWN(function, text)                                                                                            \
    {                                                                                                                  \
        .kind = VALUE_OWN, .read = function, .wants = text                                                             \
    }
#define PRIORITY TEXT(priority, .allowed = is_priority, .wants = "low, normal, high or urgent")

static const struct value_rule rules[OPTION_COUNT] = {
    [OPTION_JSON] = FLAG(json),
    [OPTION_JSONL] = FLAG(jsonl),
    [OPTION_PLAIN] = FLAG(plain),
    [OPTION_QUIET] = FLAG(quiet),
    [OPTION_WAIT] = FLAG(wait),
    [OPTION_ALL] = FLAG(all),
    [OPTION_ALL_USERS] = FLAG(all_users),
    [OPTION_FOLLOW] = FLAG(follow),
    [OPTION_DEVICES] = FLAG(devices),
    [OPTION_DRY_RUN] = FLAG(dry_run),
    [OPTION_BY_NEED] = FLAG(by_need),
    [OPTION_CSV] = FLAG(csv),
    [OPTION_YES] = FLAG(yes),
    [OPTION_REPLACE] = FLAG(replace),
    [OPTION_KEY] = TEXT(key),
    [OPTION_PRIORITY] = PRIORITY,
    [OPTION_TO] = PRIORITY,
    [OPTION_BY] = TEXT(by, .allowed = is_kind, .wants = "user, ensemble, campaign, device or day"),
    [OPTION_OWNER] = TEXT(owner),
    [OPTION_REASON] = TEXT(reason),
    [OPTION_OUTPUT] = TEXT(output),
    [OPTION_TOPOLOGY] = TEXT(topology),
    [OPTION_COORDINATES] = TEXT(coordinates),
    [OPTION_REFERENCE] = TEXT(reference),
    [OPTION_INDEX] = TEXT(index),
    [OPTION_LIGAND] = TEXT(ligand), /* suggest-restraint's the worker reads */
    [OPTION_TIME] = TEXT(time),
    [OPTION_PILOT] = TEXT(pilot),
    [OPTION_UNTIL] = TEXT(until),
    [OPTION_SOCKET] = TEXT(socket),
    [OPTION_WINDOW] = TEXT(window),
    [OPTION_STATE] = LIST(states, .allowed = are_states,
                          .wants = "queued, running, paused, finishing, done, failed or cancelled, or several of them "
                                   "between commas"),
    [OPTION_LABEL] = LIST(labels, .allowed = is_label, .wants = "KEY=VALUE"),
    [OPTION_INCLUDE] = LIST(includes),
    [OPTION_ADD_WINDOW] = LIST(added),
    [OPTION_ONLY] = LIST(only),
    [OPTION_SKIP] = LIST(skip),
    [OPTION_LEG] = LIST(legs),
    [OPTION_HERE] = LIST(heres),
    [OPTION_LIMIT] = WHOLE(limit, 1, INT64_MAX, "a whole number from 1"),
    [OPTION_SINCE] = WHOLE(since, 0, INT64_MAX, "the seq of an event"),
    [OPTION_SHARES] = WHOLE(shares, 1, SHARES_MOST, "a whole number from 1 to 1000"),
    [OPTION_AT_ONCE] = WHOLE(at_once, 1, INT64_MAX, "a whole number from 1"),
    [OPTION_WINDOWS] = WHOLE(windows, 2, SPACING_MOST, "a whole number from 2 to 1000"),
    [OPTION_PORT] = WHOLE(port, 0, 65535, "a port from 1 to 65535, or 0 for any free one"),
    [OPTION_OLDER_THAN] = SECONDS(older_than, 0, -1, "an age, as in 90m, 36h, 30d or 8w"),
    [OPTION_TIMEOUT] = SECONDS(timeout, 1, 0, "a time above 0, as in 600, 90m, 36h or 2d"),
    [OPTION_EVERY] = SECONDS(every, 1, 0, "a time above 0, as in 10, 90s or 5m"),
    [OPTION_FOR] = SECONDS(run_for, 0, 0, "a time, as in 90s, 9m or 4h"),
    [OPTION_SHARE] = OWN(read_share, "I/N, from 0/N to N-1/N, as in 7/64; N at most 1000"),
    [OPTION_OVERLAP] = OWN(read_overlap, "a number above 0, 0.2 at most"),
};

static const struct value_rule since_age = SECONDS(ago, 0, 0, "an age, as in 24h, 30d or 8w");

/* ---- taking them ---- */

static bool put_text(struct client *c, const struct value_rule *r, const char *value)
{
    const char **text = (const char **)((char *)c + r->at);
    if (r->kind == VALUE_LIST)
        text += (*(int *)((char *)c + r->number))++;
    *text = value;
    return !r->allowed || r->allowed(value);
}

static bool put_whole(struct client *c, const struct value_rule *r, const char *value)
{
    int64_t *n = (int64_t *)((char *)c + r->at);
    return number_parse(value, n) && *n >= r->least && *n <= r->most;
}

static bool put_seconds(struct client *c, const struct value_rule *r, const char *value)
{
    double *seconds = (double *)((char *)c + r->at);
    *seconds = duration(value, r->bare > 0 ? r->bare : NAN);
    return *seconds > (double)r->least;
}

static bool put(struct client *c, const struct value_rule *r, const char *value)
{
    switch (r->kind) {
    case VALUE_FLAG:
        return *(bool *)((char *)c + r->at) = true;
    case VALUE_TEXT:
    case VALUE_LIST:
        return put_text(c, r, value);
    case VALUE_WHOLE:
        return put_whole(c, r, value);
    case VALUE_SECONDS:
        return put_seconds(c, r, value);
    case VALUE_OWN:
        return r->read(c, value);
    case VALUE_UNREAD:
        break;
    }
    return true;
}

bool option_take(struct client *c, enum option option, const char *value, bool sums, char *what, size_t size)
{
    const struct value_rule *r = option == OPTION_SINCE && sums ? &since_age : &rules[option];
    const char *name = option_rows[option].name;
    if (r->kind == VALUE_LIST && *(int *)((char *)c + r->number) == LISTED_MAX) {
        snprintf(what, size, "more than %d --%s", LISTED_MAX, name);
        return false;
    }
    snprintf(what, size, "--%s wants %s", name, r->wants ? r->wants : "");
    const bool taken = put(c, r, value);
    c->here = c->nheres ? c->heres[0] : NULL;
    return taken;
}
