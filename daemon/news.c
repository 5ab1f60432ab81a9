/* SPDX-License-Identifier: Apache-2.0
 *
 * Events and those who watch for them: an event is put into the store's batch; once it is committed the watchers of its
 * ensemble are told.
 */
#include "daemon/service.h"

#include <stdlib.h>

void service_watch(struct service *sv, struct watcher *w)
{
    w->next = sv->watchers;
    sv->watchers = w;
}

void service_unwatch(struct service *sv, struct watcher *w)
{
    struct watcher **at = &sv->watchers;
    while (*at && *at != w)
        at = &(*at)->next;
    if (*at)
        *at = w->next;
}

struct news {
    struct service *sv;
    const struct ensemble *ensemble;
};

static void spread_news(void *arg)
{
    struct news *n = arg;
    for (struct watcher *w = n->sv->watchers, *next; w; w = next) {
        next = w->next; /* a watcher may leave while it is told */
        if (w->ensemble == n->ensemble)
            w->news(w);
    }
    free(n);
}

void service_put_event(struct service *sv, struct ensemble *en, const struct sched_replica *r, const char *kind,
                       int state, const char *message)
{
    struct event ev = {.seq = sv->next_seq++,
                       .time = service_now(),
                       .ensemble = en,
                       .replica = r,
                       .kind = kind,
                       .state = state,
                       .message = message};
    store_put_event(sv->store, &ev);
    en->seq = ev.seq;
    struct news *n = xcalloc(1, sizeof *n);
    *n = (struct news){sv, en};
    store_after_commit(sv->store, spread_news, n);
}
