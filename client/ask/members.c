/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ask/members.h"

#include <stdbool.h>
#include <string.h>

struct scan {
    const char *at, *end;
};

static char look(struct scan *s)
{
    while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
        s->at++;
    return s->at < s->end ? *s->at : '\0';
}

static bool take(struct scan *s, char c)
{
    if (look(s) != c)
        return false;
    s->at++;
    return true;
}

/* From its quote to behind the other. */
static bool pass_string(struct scan *s)
{
    for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
        s->at += *s->at == '\\';
    return s->at < s->end && *s->at++ == '"';
}

/* Behind a value: to the comma or bracket that ends it. */
static bool pass_value(struct scan *s)
{
    int depth = 0;
    while (s->at < s->end) {
        char c = *s->at;
        if (c == '"') {
            if (!pass_string(s))
                return false;
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            return true;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        s->at++;
    }
    return false;
}

static bool is_wanted(const char *const *wanted, const char *name, size_t len)
{
    for (; *wanted; wanted++)
        if (strlen(*wanted) == len && !memcmp(*wanted, name, len))
            return true;
    return false;
}

/* Name, colon and value. */
static bool read_member(struct scan *s, const char *const *wanted, json_t *out)
{
    if (look(s) != '"')
        return false;
    const char *name = s->at + 1;
    if (!pass_string(s))
        return false;
    size_t len = (size_t)(s->at - 1 - name);
    if (!take(s, ':') || !look(s))
        return false;
    const char *value = s->at;
    if (!pass_value(s))
        return false;
    if (!is_wanted(wanted, name, len))
        return true;
    json_t *made = json_loadb(value, (size_t)(s->at - value), JSON_DECODE_ANY, NULL);
    return made && json_object_setn_new(out, name, len, made) == 0;
}

json_t *members_load(const char *text, size_t len, const char *const *wanted)
{
    struct scan s = {text, text + len};
    json_t *out = json_object();
    size_t n = 0;
    while (wanted[n])
        n++;
    bool good = take(&s, '{'), more = good && look(&s) != '}';
    while (more) {
        good = read_member(&s, wanted, out);
        more = good && json_object_size(out) < n && take(&s, ',');
    }
    if (good && json_object_size(out) < n)
        good = look(&s) == '}';
    if (good)
        return out;
    json_decref(out);
    return NULL;
}
