/* SPDX-License-Identifier: Apache-2.0
 *
 * Who is found by which name: ids, their prefixes, and the owners' own keys.
 */
#include "daemon/service.h"

#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define ID_LENGTH 10

bool service_is_admin(uint32_t uid)
{
    return uid == 0 || uid == geteuid();
}

static bool may_see(uint32_t uid, const struct ensemble *en)
{
    return en->owner == uid || service_is_admin(uid);
}

struct ensemble *service_find(struct service *sv, uint32_t uid, const char *prefix, struct err *e)
{
    struct ensemble *found = NULL;
    size_t len = strlen(prefix);
    for (int i = 0; i < sv->sched.nensembles; i++) {
        struct ensemble *en = sv->sched.ensembles[i];
        if (!may_see(uid, en) || strncmp(en->id, prefix, len) != 0)
            continue;
        if (en->id[len] == '\0')
            return en;
        if (len < 4)
            continue;
        if (found) {
            err_set(e, ERR_CONFLICT, "\"%s\" is ambiguous: %s, %s", prefix, found->id, en->id);
            return NULL;
        }
        found = en;
    }
    if (!found)
        err_set(e, ERR_NOT_FOUND, "no ensemble \"%s\"%s", prefix, len < 4 ? " (give at least four characters)" : "");
    return found;
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

/* Random, of letters and digits that are not mistaken for each other. */
void service_choose_id(const struct service *sv, char id[16])
{
    static const char alphabet[] = "23456789abcdefghjkmnpqrstuvwxyz-"; /* 31 used: a byte is drawn again for the rest */
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
