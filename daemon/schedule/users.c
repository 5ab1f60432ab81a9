/* SPDX-License-Identifier: Apache-2.0
 *
 * What users and their ensembles have used: slots x time. It only orders turns, so it need not survive the service. Who comes
 * back from being idle does not catch up: they begin where the least served of the others is, and nobody waits longer for it.
 */
#include "daemon/schedule/internal.h"

#include "engine/base/buf.h"

int user_index(struct sched *s, uint32_t uid)
{
    for (int i = 0; i < s->nusers; i++)
        if (s->users[i].uid == uid)
            return i;
    if (s->nusers == s->users_cap) {
        s->users_cap = s->users_cap ? 2 * s->users_cap : 8;
        s->users = xrealloc(s->users, (size_t)s->users_cap, sizeof *s->users);
    }
    s->users[s->nusers] = (struct sched_user){.uid = uid};
    return s->nusers++;
}

static int64_t least_of_users(const struct sched *s)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < s->nusers; i++)
        if (s->users[i].wanting && !s->users[i].over && s->users[i].usage < least)
            least = s->users[i].usage;
    return least;
}

static int64_t least_of_ensembles(const struct sched *s, const struct ensemble *e)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < s->nactive; i++) {
        const struct ensemble *o = s->active[i];
        if (o != e && o->user == e->user && ensemble_wants(o) && o->usage < least)
            least = o->usage;
    }
    return least;
}

static void catch_up(int64_t *usage, int64_t least)
{
    if (least != INT64_MAX && *usage < least)
        *usage = least;
}

void user_wants(struct sched *s, struct ensemble *e, bool wants)
{
    struct sched_user *u = &s->users[e->user];
    if (wants) {
        if (!u->wanting)
            catch_up(&u->usage, least_of_users(s));
        catch_up(&e->usage, least_of_ensembles(s, e));
    }
    u->wanting += wants ? 1 : -1;
}

void user_over(struct sched *s, int user, bool over)
{
    struct sched_user *u = &s->users[user];
    if (u->over && !over)
        catch_up(&u->usage, least_of_users(s));
    u->over = over;
}

void account(struct sched *s, int64_t now)
{
    int64_t passed = now - s->accounted;
    s->accounted = now;
    for (int w = 0; w < s->nworkers && passed > 0; w++)
        for (int i = 0; i < s->workers[w].nsets; i++) {
            const struct sched_set *set = s->workers[w].sets[i];
            for (int k = 0; k < set->nreplicas; k++)
                if (set->replicas[k].held) {
                    set->ensemble->usage += passed;
                    s->users[set->ensemble->user].usage += passed;
                }
        }
}
