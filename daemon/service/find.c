/* SPDX-License-Identifier: Apache-2.0
 *
 * Who is found by which name: ids, their prefixes, and the owners' own keys. Ids and keys are looked up in trees
 * (tsearch(3)); a name or the beginning of an id is compared with those of all ensembles.
 */
#include "daemon/service/service.h"

#include <search.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define ID_LENGTH 10
#define PREFIX_MIN 4 /* characters of the beginning of an id */

bool service_owns(uint32_t uid)
{
    return uid == 0 || uid == geteuid();
}

bool service_is_admin(const struct service *sv, uint32_t uid)
{
    return service_owns(uid) || quota_administrates(sv->config.quota, uid);
}

bool service_may_see(const struct service *sv, uint32_t uid, const struct ensemble *en)
{
    return en->owner == uid || service_is_admin(sv, uid);
}

/* ---- by id and by key ---- */

static int by_id(const void *a, const void *b)
{
    const struct ensemble *x = a, *y = b;
    return strcmp(x->id, y->id);
}

static int by_key(const void *a, const void *b)
{
    const struct ensemble *x = a, *y = b;
    return x->owner != y->owner ? (x->owner > y->owner) - (x->owner < y->owner) : strcmp(x->key, y->key);
}

void service_register(struct service *sv, struct ensemble *en)
{
    if (!tsearch(en, &sv->by_id, by_id) || (en->key && !tsearch(en, &sv->by_key, by_key)))
        abort(); /* no memory */
}

void service_unregister(struct service *sv, struct ensemble *en)
{
    tdelete(en, &sv->by_id, by_id);
    if (en->key)
        tdelete(en, &sv->by_key, by_key);
}

static struct ensemble *found_at(void *node)
{
    return node ? *(struct ensemble **)node : NULL;
}

struct ensemble *service_find_id(const struct service *sv, const char *id)
{
    struct ensemble like = {0};
    int length = snprintf(like.id, sizeof like.id, "%s", id);
    return length < (int)sizeof like.id ? found_at(tfind(&like, &sv->by_id, by_id)) : NULL;
}

struct ensemble *service_find_key(const struct service *sv, uint32_t uid, const char *key)
{
    struct ensemble like = {.owner = uid, .key = (char *)key};
    return found_at(tfind(&like, &sv->by_key, by_key));
}

/* ---- by any word ---- */

typedef bool same_fn(const struct ensemble *en, const char *word);

static bool same_key(const struct ensemble *en, const char *word)
{
    return en->key && strcmp(en->key, word) == 0;
}

static bool same_name(const struct ensemble *en, const char *word)
{
    return strcmp(en->name, word) == 0;
}

static bool begins(const struct ensemble *en, const char *word)
{
    size_t len = strlen(word);
    return len >= PREFIX_MIN && strncmp(en->id, word, len) == 0;
}

/* Any of the above: of others no way is better than another. */
static bool may_be_meant(const struct ensemble *en, const char *word)
{
    return same_key(en, word) || same_name(en, word) || begins(en, word);
}

/* The user's own that are the same, or others' that the user sees. */
static void collect_found(const struct service *sv, uint32_t uid, bool own, same_fn *same, const char *word,
                          struct candidates *found)
{
    found->n = 0;
    for (int i = own || service_is_admin(sv, uid) ? sv->sched.nensembles - 1 : -1; i >= 0; i--) {
        struct ensemble *en = sv->sched.ensembles[i];
        if ((en->owner == uid) != own || !same(en, word))
            continue;
        if (found->n < SERVICE_CANDIDATES)
            found->items[found->n] = en;
        found->n++;
    }
}

static int refuse_ambiguous(const char *word, const struct candidates *found, struct err *e)
{
    struct buf ids = {0};
    for (int i = 0; i < found->n && i < SERVICE_CANDIDATES; i++)
        buf_printf(&ids, "%s%s", i ? ", " : "", found->items[i]->id);
    err_set(e, ERR_CONFLICT, "\"%.260s\" is ambiguous: %s%s", word, ids.data,
            found->n > SERVICE_CANDIDATES ? ", and more" : "");
    buf_free(&ids);
    return -(int)e->code;
}

struct ensemble *service_find(struct service *sv, uint32_t uid, const char *word, struct candidates *found,
                              struct err *e)
{
    static const struct {
        same_fn *same;
        bool own;
    } ways[] = {{same_name, true}, {begins, true}, {may_be_meant, false}};
    struct ensemble *of_id = service_find_id(sv, word), *of_key = service_find_key(sv, uid, word);
    found->n = 0;
    if (of_id && of_id->owner == uid)
        return of_id;
    if (of_key)
        return of_key;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (of_id && !ways[i].own && service_may_see(sv, uid, of_id))
            return of_id;
        collect_found(sv, uid, ways[i].own, ways[i].same, word, found);
        if (found->n == 1)
            return found->items[0];
        if (found->n > 1) {
            refuse_ambiguous(word, found, e);
            return NULL;
        }
    }
    err_set(e, ERR_NOT_FOUND, "no ensemble \"%.260s\"%s", word,
            strlen(word) < PREFIX_MIN ? " (of an id give at least four characters)" : "");
    return NULL;
}

/* Letters and digits that are not mistaken for each other. 31 are used: a byte is drawn again for the rest. */
static const char alphabet[] = "23456789abcdefghjkmnpqrstuvwxyz-";

bool service_is_id(const char *text)
{
    return strlen(text) == ID_LENGTH && strspn(text, alphabet) == ID_LENGTH;
}

void service_choose_id(const struct service *sv, char id[16])
{
    do {
        int n = 0;
        while (n < ID_LENGTH) {
            uint8_t byte;
            if (getrandom(&byte, 1, 0) == 1 && (byte & 31) < 31)
                id[n++] = alphabet[byte & 31];
        }
        id[n] = '\0';
    } while (service_find_id(sv, id));
}
