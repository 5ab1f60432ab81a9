/* SPDX-License-Identifier: Apache-2.0
 *
 * Who is found by which name: ids, their prefixes, and the owners' own keys.
 */
#include "daemon/service.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define ID_LENGTH 10
#define PREFIX_MIN 4 /* characters of the beginning of an id */

bool service_is_admin(uint32_t uid)
{
    return uid == 0 || uid == geteuid();
}

bool service_may_see(uint32_t uid, const struct ensemble *en)
{
    return en->owner == uid || service_is_admin(uid);
}

typedef bool same_fn(const struct ensemble *en, const char *word);

static bool same_id(const struct ensemble *en, const char *word)
{
    return strcmp(en->id, word) == 0;
}

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

static void collect(const struct service *sv, uint32_t uid, bool own, same_fn *same, const char *word,
                    struct candidates *found)
{
    found->n = 0;
    for (int i = sv->sched.nensembles - 1; i >= 0; i--) {
        struct ensemble *en = sv->sched.ensembles[i];
        if ((en->owner == uid) != own || !service_may_see(uid, en) || !same(en, word))
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
    } ways[] = {{same_id, true}, {same_key, true}, {same_name, true},
                {begins, true},  {same_id, false}, {may_be_meant, false}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        collect(sv, uid, ways[i].own, ways[i].same, word, found);
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

struct ensemble *service_find_key(struct service *sv, uint32_t uid, const char *key)
{
    for (int i = 0; i < sv->sched.nensembles; i++) {
        struct ensemble *en = sv->sched.ensembles[i];
        if (en->owner == uid && en->key && strcmp(en->key, key) == 0)
            return en;
    }
    return NULL;
}

static bool id_taken(const struct service *sv, const char *id)
{
    for (int i = 0; i < sv->sched.nensembles; i++)
        if (strcmp(sv->sched.ensembles[i]->id, id) == 0)
            return true;
    return false;
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
    } while (id_taken(sv, id));
}
