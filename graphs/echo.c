/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs/echo.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"

/* Records beyond those expected that are heard, too: launches that should not have been. */
enum { SPARE_RECORDS = 8, SPARE_BYTES = 512 };

enum { ON, OFF };

/* Where each launch of each repetition was heard; index: repetition x launches + launch. */
struct heard {
    const unsigned char **record; /* NULL: not */
    uint32_t *order;              /* how many records came before */
    size_t cap;                   /* of both */
    uint32_t times[TAPE_LAUNCHES_MAX];
};

struct echo {
    struct dev *dev;
    struct lane *lane;
    struct echo_ring *ring;     /* device address */
    struct echo_ring *settings; /* host address, mapped: [ON] and [OFF], what the ring is set to */
    void *settings_device;
    unsigned char *records; /* host address, mapped */
    void *records_device;
    size_t capacity;  /* bytes of records */
    struct tape live; /* outstanding: what was submitted */
    uint32_t repeat;  /* executions of it; 0: idle */
    struct mark ended;
    struct heard heard; /* scratch, as is this: a repetition as it was heard */
    struct tape step;
};

/* --- the ring --- */

int echo_new(struct echo **out, struct dev *d, struct lane *lane, struct err *e)
{
    struct echo *echo = xcalloc(1, sizeof *echo);
    void *ring, *settings;
    echo->dev = d;
    echo->lane = lane;
    int rc = d->ops->alloc(d, lane, DEV_MEMORY, sizeof *echo->ring, &ring, NULL, e);
    if (rc == 0) {
        echo->ring = ring;
        rc = d->ops->alloc(d, lane, DEV_MAPPED, 2 * sizeof *echo->settings, &echo->settings_device, &settings, e);
    }
    if (rc) {
        echo_free(echo);
        return rc;
    }
    echo->settings = settings;
    *out = echo;
    return 0;
}

void echo_free(struct echo *echo)
{
    if (!echo)
        return;
    const struct dev_ops *ops = echo->dev->ops;
    ops->free(echo->dev, DEV_MAPPED, echo->records_device);
    ops->free(echo->dev, DEV_MAPPED, echo->settings_device);
    ops->free(echo->dev, DEV_MEMORY, echo->ring);
    tape_free(&echo->live);
    tape_free(&echo->step);
    free(echo->heard.record);
    free(echo->heard.order);
    free(echo);
}

void *echo_ring(const struct echo *echo)
{
    return echo->ring;
}

static size_t bytes_of(const struct tape *t, uint32_t repeat)
{
    size_t step = 0;
    for (uint32_t i = 0; i < t->count; i++)
        if (t->launches[i].kind == LAUNCH_KERNEL)
            step += ECHO_RECORD_BYTES(t->launches[i].args_size);
    return step * repeat + SPARE_RECORDS * SPARE_BYTES;
}

/* Of the host's memory. */
static void reserve_scratch(struct echo *echo, const struct tape *t, uint32_t repeat)
{
    struct heard *h = &echo->heard;
    const size_t n = (size_t)t->count * repeat;
    if (n > h->cap) {
        h->record = xrealloc(h->record, n, sizeof *h->record);
        h->order = xrealloc(h->order, n, sizeof *h->order);
        h->cap = n;
    }
    tape_copy(&echo->live, t);
    tape_copy(&echo->step, t);
}

int echo_reserve(struct echo *echo, const struct tape *t, uint32_t repeat, struct err *e)
{
    const struct dev_ops *ops = echo->dev->ops;
    size_t bytes = bytes_of(t, repeat);
    void *host;
    if (!echo_idle(echo))
        return 0;
    reserve_scratch(echo, t, repeat);
    if (bytes <= echo->capacity)
        return 0;
    ops->free(echo->dev, DEV_MAPPED, echo->records_device);
    echo->records_device = NULL;
    echo->capacity = 0;
    int rc = ops->alloc(echo->dev, echo->lane, DEV_MAPPED, bytes, &echo->records_device, &host, e);
    if (rc)
        return rc;
    echo->records = host;
    echo->capacity = bytes;
    return 0;
}

static int set_ring(struct echo *echo, int which, struct err *e)
{
    return echo->dev->ops->copy_async(echo->dev, echo->lane, echo->ring, &echo->settings[which], sizeof *echo->ring, e);
}

int echo_begin(struct echo *echo, const struct tape *live, uint32_t repeat, struct err *e)
{
    int rc = echo_reserve(echo, live, repeat, e);
    if (rc)
        return rc;
    tape_copy(&echo->live, live);
    memset(echo->records, 0, echo->capacity);
    echo->settings[ON] =
        (struct echo_ring){.on = 1, .capacity = (uint32_t)echo->capacity, .records = echo->records_device};
    echo->settings[OFF] = (struct echo_ring){.on = 0};
    return set_ring(echo, ON, e);
}

int echo_end(struct echo *echo, uint32_t repeat, struct err *e)
{
    int rc = set_ring(echo, OFF, e);
    if (rc || (rc = echo->dev->ops->mark(echo->dev, echo->lane, &echo->ended, e)))
        return rc;
    echo->repeat = repeat;
    return 0;
}

bool echo_idle(const struct echo *echo)
{
    return echo->repeat == 0;
}

/* --- what was heard, as tapes --- */

static struct echo_record load(const unsigned char *at)
{
    struct echo_record r;
    memcpy(&r, at, sizeof r);
    return r;
}

static const char *name_of(const struct echo *echo, uint32_t launch)
{
    return echo->dev->kernels.kernels[echo->live.launches[launch].kernel].name;
}

static int sort_record(const struct echo *echo, const unsigned char *at, uint32_t order, struct heard *h, struct err *e)
{
    struct echo_record r = load(at);
    struct args_head head;
    const struct tape *live = &echo->live;
    memcpy(&head, at + sizeof r, sizeof head);
    if (r.kernel >= echo->dev->kernels.count)
        return err_set(e, ERR_DRIFT, "a kernel ran that says it is number %u, which is in no table", r.kernel);
    if (head.launch >= live->count || live->launches[head.launch].kind != LAUNCH_KERNEL)
        return err_set(e, ERR_DRIFT, "a kernel (%s) ran as launch %u, which the tape does not have",
                       echo->dev->kernels.kernels[r.kernel].name, head.launch);
    uint32_t repetition = h->times[head.launch]++;
    if (repetition >= echo->repeat)
        return err_set(e, ERR_DRIFT, "launch %u (%s) ran more than %u %s", head.launch, name_of(echo, head.launch),
                       echo->repeat, number_word(echo->repeat, "time", "times"));
    h->record[repetition * live->count + head.launch] = at;
    h->order[repetition * live->count + head.launch] = order;
    return 0;
}

static int sort_records(const struct echo *echo, struct heard *h, struct err *e)
{
    const struct tape *live = &echo->live;
    size_t at = 0;
    for (uint32_t order = 0; at + sizeof(struct echo_record) + sizeof(struct args_head) <= echo->capacity; order++) {
        struct echo_record r = load(echo->records + at);
        if (r.bytes == 0)
            break;
        int rc = sort_record(echo, echo->records + at, order, h, e);
        if (rc)
            return rc;
        at += r.bytes;
    }
    for (uint32_t i = 0; i < live->count; i++)
        if (live->launches[i].kind == LAUNCH_KERNEL && h->times[i] != echo->repeat)
            return err_set(e, ERR_DRIFT, "launch %u (%s) ran %u %s, not %u", i, name_of(echo, i), h->times[i],
                           number_word(h->times[i], "time", "times"), echo->repeat);
    return 0;
}

/* The predecessors that began before a launch did; all are of the same repetition. */
static uint64_t heard_after(const struct tape *live, const uint32_t *order, uint32_t launch)
{
    uint64_t after = live->launches[launch].after;
    for (uint32_t j = 0; j < launch; j++)
        if (live->launches[j].kind == LAUNCH_KERNEL && order[j] > order[launch])
            after &= ~(UINT64_C(1) << j);
    return after;
}

/* What is not heard is taken as it was submitted: library launches, and attributes. */
static void add_heard(const struct echo *echo, const unsigned char *at, const struct launch *live, uint64_t after,
                      struct tape *t)
{
    if (live->kind == LAUNCH_LIBRARY) {
        tape_append(t, live, tape_args(&echo->live, live));
        return;
    }
    struct echo_record r = load(at);
    struct launch l = {.kernel = r.kernel,
                       .kind = LAUNCH_KERNEL,
                       .shared_bytes = r.shared_bytes,
                       .flags = live->flags,
                       .after = after,
                       .args_size = echo->dev->kernels.kernels[r.kernel].args_size};
    memcpy(l.grid, r.grid, sizeof l.grid);
    memcpy(l.block, r.block, sizeof l.block);
    memcpy(l.cluster, r.cluster, sizeof l.cluster);
    tape_append(t, &l, at + sizeof r);
}

static int check_repetition(struct echo *echo, uint32_t repetition, struct err *e)
{
    const struct tape *live = &echo->live;
    const struct heard *h = &echo->heard;
    const uint32_t first = repetition * live->count;
    tape_clear(&echo->step);
    for (uint32_t i = 0; i < live->count; i++)
        add_heard(echo, h->record[first + i], &live->launches[i], heard_after(live, h->order + first, i), &echo->step);
    int rc = check_tapes(&echo->dev->kernels, live, &echo->step, e);
    return rc ? err_prefix(e, "step %u of %u", repetition, echo->repeat) : 0;
}

/* No step began before all of the one before it had. */
static int check_steps(const struct echo *echo, const struct heard *h, struct err *e)
{
    uint32_t count = echo->live.count, begun = 0, now = 0;
    for (uint32_t i = 0; i < count * echo->repeat; i++) {
        if (i % count == 0)
            begun = now;
        if (!h->record[i])
            continue;
        if (h->order[i] < begun)
            return err_set(e, ERR_DRIFT, "launch %u (%s) of step %u began before step %u had begun whole", i % count,
                           name_of(echo, i % count), i / count, i / count - 1);
        now = h->order[i] + 1 > now ? h->order[i] + 1 : now;
    }
    return 0;
}

static int compare(struct echo *echo, struct err *e)
{
    struct heard *h = &echo->heard;
    const size_t n = (size_t)echo->live.count * echo->repeat;
    memset(h->record, 0, n * sizeof *h->record);
    memset(h->order, 0, n * sizeof *h->order);
    memset(h->times, 0, sizeof h->times);
    int rc = sort_records(echo, h, e);
    for (uint32_t r = 0; r < echo->repeat && !rc; r++)
        rc = check_repetition(echo, r, e);
    return rc ? rc : check_steps(echo, h, e);
}

int echo_wait(struct echo *echo, struct err *e)
{
    return echo_idle(echo) ? 0 : dev_wait(echo->dev, echo->lane, &echo->ended, e);
}

int echo_check(struct echo *echo, struct err *e)
{
    if (echo_idle(echo) || !mark_passed(&echo->ended))
        return 0;
    int rc = compare(echo, e);
    echo->repeat = 0;
    return rc ? err_prefix(e, "what the device ran is not the tape") : 0;
}
