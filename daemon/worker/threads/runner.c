/* SPDX-License-Identifier: Apache-2.0
 *
 * A ticket is bumped before the device's descriptor is signalled, and a job is done before the jobs' descriptor is. So:
 * first take the signals (dev poll, jobs_heard), then look at the tickets and jobs; one that arrives after the look
 * leaves its descriptor readable, and the next wait returns at once.
 */
#include "daemon/worker/threads/runner.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "engine/base/buf.h"
#include "engine/base/clock.h"
#include "engine/run/sim.h"

#define FDS_MAX 8
#define BLIND_WAIT_MS                                                                                                  \
    1 /* how long a device without a descriptor is waited for before the caller's descriptors are looked at */

struct task {
    struct co *co;
    bool (*ready)(const void *arg);
    void (*ended)(void *arg);
    void *arg;
    bool begun;
    struct task *next;
};

int runner_add(struct runner *r, void(CO_FN *fn)(void *arg), bool (*ready)(const void *arg), void (*ended)(void *arg),
               void *arg, struct err *e)
{
    struct co *co;
    int rc = co_new(&co, fn, arg, CO_STACK, e);
    if (rc)
        return rc;
    struct task *t = xcalloc(1, sizeof *t);
    *t = (struct task){.co = co, .ready = ready, .ended = ended, .arg = arg};
    if (!r->first)
        r->last = &r->first;
    *r->last = t;
    r->last = &t->next;
    r->count++;
    r->begun++;
    return 0;
}

static bool can_go_on(const struct task *t)
{
    return !t->begun || t->ready(t->arg);
}

static bool any_can_go_on(const struct runner *r)
{
    for (const struct task *t = r->first; t; t = t->next)
        if (can_go_on(t))
            return true;
    return false;
}

/* Counts the time since the last look, by how many were at work then. */
static void look(struct runner *r)
{
    if (!r->at_work)
        return;
    const double now = clock_now();
    r->busy += (now - r->looked) * (r->seen < r->width ? r->seen : r->width) / r->width;
    r->looked = now;
    r->seen = 0;
    for (const struct task *k = r->first; k; k = k->next)
        r->seen += k->begun && r->at_work(k->arg);
}

double runner_busy(struct runner *r)
{
    look(r);
    return r->busy;
}

/* The first that is lost, NULL: none. */
static const struct dev *lost(const struct runner *r)
{
    for (struct dev *const *d = r->dev; *d; d++)
        if (dev_lost(*d))
            return *d;
    return NULL;
}

static int poll_devices(struct runner *r, struct err *e)
{
    int rc = 0;
    for (struct dev **d = r->dev; *d && !rc; d++)
        rc = (*d)->ops->poll(*d, 0, e);
    return rc;
}

/* Until some task can go on: a poll that sleeps would sleep through what happens on the other devices. */
static int look_in_turn(struct runner *r, struct err *e)
{
    const double until = dev_now() + 1e3 * BLIND_WAIT_MS;
    for (double now = 0; now < until; now = dev_now()) {
        int rc = poll_devices(r, e);
        if (rc)
            return rc;
        if (any_can_go_on(r)) {
            pace_waited(&r->pace, dev_now() - r->pace.news);
            return 0;
        }
        const double sleep = pace_sleep(&r->pace, dev_now());
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e3 * sleep)}, NULL);
    }
    return 0;
}

/* Puts the descriptors of all devices behind the first n. Returns how many there are; *blind: a device has none. */
static unsigned add_devices(struct runner *r, struct pollfd *all, unsigned n, bool *blind)
{
    for (struct dev **d = r->dev; *d; d++) {
        all[n] = (struct pollfd){.fd = r->count ? (*d)->ops->poll_fd(*d) : -1, .events = POLLIN};
        *blind |= r->count && all[n].fd < 0;
        n++;
    }
    return n;
}

static int wait_for_something(struct runner *r, struct pollfd *fds, unsigned nfds, int timeout_ms, struct err *e)
{
    struct pollfd all[FDS_MAX + RUNNER_DEVICES + 1];
    bool blind = false;
    unsigned n = add_devices(r, all, nfds, &blind);
    if (blind && timeout_ms != 0) {
        int rc = r->dev[1] ? look_in_turn(r, e) : r->dev[0]->ops->poll(r->dev[0], BLIND_WAIT_MS, e);
        if (rc)
            return rc;
    }
    for (unsigned i = 0; i < nfds; i++)
        all[i] = fds[i];
    all[n++] = (struct pollfd){.fd = r->jobs ? jobs_fd(r->jobs) : -1, .events = POLLIN};
    if (poll(all, n, blind ? 0 : timeout_ms) < 0 && errno != EINTR)
        return err_errno(e, "poll");
    for (unsigned i = 0; i < nfds; i++)
        fds[i].revents = all[i].revents;
    if (r->jobs)
        jobs_heard(r->jobs);
    return r->count && !blind ? poll_devices(r, e) : 0;
}

/* Whether it has ended. */
static bool resume(struct task *t)
{
    t->begun = true;
    co_resume(t->co);
    return co_ended(t->co);
}

/* Takes the ended ones out. */
static void reap(struct runner *r)
{
    for (struct task **at = &r->first; *at;) {
        struct task *t = *at;
        if (!co_ended(t->co)) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        r->count--;
        co_free(t->co);
        t->ended(t->arg);
        free(t);
    }
    r->last = &r->first;
    while (*r->last)
        r->last = &(*r->last)->next;
}

int runner_turn(struct runner *r, struct pollfd *fds, unsigned nfds, int timeout_ms, struct err *e)
{
    if (nfds > FDS_MAX)
        return err_set(e, ERR_INTERNAL, "%u descriptors to wait for", nfds);
    look(r);
    int rc = wait_for_something(r, fds, nfds, any_can_go_on(r) ? 0 : timeout_ms, e);
    if (rc)
        return rc;
    look(r);
    bool ended = false;
    for (struct task *t = r->first; t && !lost(r); t = t->next)
        if (can_go_on(t))
            ended = resume(t) || ended;
    for (struct dev **d = r->dev; *d; d++)
        engine_flush(*d);
    pace_news(&r->pace, dev_now());
    const struct dev *gone = lost(r);
    if (gone) { /* the task that met it is not to blame */
        *e = gone->lost;
        return -(int)e->code;
    }
    if (ended)
        reap(r);
    return 0;
}
