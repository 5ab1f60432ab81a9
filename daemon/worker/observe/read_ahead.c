/* SPDX-License-Identifier: Apache-2.0
 *
 *   1. Slots are filled by the thread and taken by the caller, both in a circle: read - taken of them wait, SLOTS at
 * most.
 *   2. The slot of the frame that the caller has counts as waiting until it asks for the next one.
 *   3. The first slot whose reading was no frame is the last that is filled.
 */
#include "daemon/worker/observe/read_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

enum { SLOTS = 4 };

struct frame_slot {
    struct trajectory_frame frame; /* its arrays are the slot's */
    double (*x)[3], (*v)[3];
    double part;
    int rc; /* of trajectory_next */
    struct err err;
};

struct read_ahead {
    struct trajectory *trajectory; /* the thread's while it runs */
    size_t natoms;
    struct frame_slot slot[SLOTS];
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t moved;
    uint64_t read, taken; /* slots so far */
    bool holds;           /* the caller has the frame of slot `taken` */
    bool leaving;
};

static void fill(struct read_ahead *r, struct frame_slot *s)
{
    const size_t bytes = r->natoms * sizeof *s->x;
    s->rc = trajectory_next(r->trajectory, &s->frame, &s->err);
    s->part = trajectory_read_part(r->trajectory);
    if (s->rc)
        return;
    memcpy(s->x, s->frame.x, bytes);
    if (s->frame.v)
        memcpy(s->v, s->frame.v, bytes);
    s->frame.x = s->x;
    s->frame.v = s->frame.v ? s->v : NULL;
}

static void *run(void *arg)
{
    struct read_ahead *r = arg;
    int rc = 0;
    while (!rc) {
        pthread_mutex_lock(&r->lock);
        while (!r->leaving && r->read - r->taken == SLOTS)
            pthread_cond_wait(&r->moved, &r->lock);
        const bool leaving = r->leaving;
        struct frame_slot *s = &r->slot[r->read % SLOTS];
        pthread_mutex_unlock(&r->lock);
        if (leaving)
            break;
        fill(r, s);
        rc = s->rc;
        pthread_mutex_lock(&r->lock);
        r->read++;
        pthread_cond_signal(&r->moved);
        pthread_mutex_unlock(&r->lock);
    }
    return NULL;
}

int read_ahead_open(struct read_ahead **out, const char *path, const struct system *sys, struct err *e)
{
    struct trajectory *trajectory;
    int rc = trajectory_open(&trajectory, path, sys, e);
    if (rc)
        return rc;
    struct read_ahead *r = xcalloc(1, sizeof *r);
    r->trajectory = trajectory;
    r->natoms = (size_t)sys->natoms;
    for (int i = 0; i < SLOTS; i++) {
        r->slot[i].x = xcalloc(r->natoms, sizeof *r->slot[i].x);
        r->slot[i].v = xcalloc(r->natoms, sizeof *r->slot[i].v);
    }
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->moved, NULL);
    if (pthread_create(&r->thread, NULL, run, r)) {
        r->leaving = true;
        read_ahead_close(r);
        return err_set(e, ERR_MEMORY, "%s: no thread to read it", path);
    }
    *out = r;
    return 0;
}

int read_ahead_next(struct read_ahead *r, struct trajectory_frame *f, struct err *e)
{
    pthread_mutex_lock(&r->lock);
    if (r->holds) {
        r->taken++;
        pthread_cond_signal(&r->moved);
    }
    while (r->read == r->taken)
        pthread_cond_wait(&r->moved, &r->lock);
    const struct frame_slot *s = &r->slot[r->taken % SLOTS];
    r->holds = !s->rc; /* the end stays for who asks again */
    pthread_mutex_unlock(&r->lock);
    if (!s->rc)
        *f = s->frame;
    else if (s->rc < 0)
        *e = s->err;
    return s->rc;
}

double read_ahead_part(const struct read_ahead *r)
{
    return r->slot[r->taken % SLOTS].part;
}

void read_ahead_close(struct read_ahead *r)
{
    if (!r)
        return;
    if (!r->leaving) {
        pthread_mutex_lock(&r->lock);
        r->leaving = true;
        pthread_cond_signal(&r->moved);
        pthread_mutex_unlock(&r->lock);
        pthread_join(r->thread, NULL);
    }
    pthread_cond_destroy(&r->moved);
    pthread_mutex_destroy(&r->lock);
    for (int i = 0; i < SLOTS; i++) {
        free(r->slot[i].x);
        free(r->slot[i].v);
    }
    trajectory_close(r->trajectory);
    free(r);
}
