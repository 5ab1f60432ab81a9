/* SPDX-License-Identifier: Apache-2.0
 *
 * Free energies of an ensemble whose walkers switch: the work.tsv of its replicas -> results.json. Works of all repeats
 * are those of one set of walkers.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/units.h"
#include "engine/estimate/analysis.h"
#include "engine/estimate/estimate.h"
#include "engine/estimate/output/output.h"
#include "engine/estimate/switching/switching.h"

/* What was done so far: the switches of all repeats together and of each. */
struct works_read_so_far {
    const struct estimate_ensemble *q;
    struct switching whole, *repeats; /* [q->repeats] */
    struct switching first;           /* the first switches of all, where later ones may be longer */
    bool all_first;                   /* every walker has made them */
    struct walker_result *walkers;    /* [q->repeats * estimate_windows] */
    struct work_table *tables;        /* the same; what each has read */
};

/* Those by which it is found how long later ones are to be. */
static void add_first(struct works_read_so_far *x, enum switch_way way, const struct work_table *t)
{
    struct work_table first = *t;
    const size_t n = x->q->pace.first;
    x->all_first = x->all_first && t->n >= n;
    first.n = t->n < n ? t->n : n;
    if (first.n)
        works_add_walker(x->first.works + way, &first);
}

static void add_walker(struct works_read_so_far *x, struct walker_result *walker, const struct work_table *t)
{
    const enum switch_way way = walker->end ? SWITCH_BACKWARD : SWITCH_FORWARD;
    add_first(x, way, t);
    walker->works = t->n;
    works_add_walker(x->whole.works + way, t);
    works_add_walker(x->repeats[walker->repeat].works + way, t);
}

/* DIRECTORY/repeat_RR/lambda_KK/work.tsv; *name: what is below the directory. */
static void find_path(const struct estimate_ensemble *q, int repeat, int window, struct buf *path, const char **name)
{
    buf_printf(path, "%s/", q->directory);
    const size_t below = path->len;
    if (q->repeats > 1)
        buf_printf(path, "repeat_%02d/", repeat);
    buf_printf(path, "lambda_%02d/" WORK_TABLE_NAME, window);
    *name = path->data + below;
}

/* pmx gives backward works the sign of going from A to B, and knows neither works that are not finite nor switches of
 * several lengths. */
static void put_integrals(const struct works_read_so_far *x, int index, double length)
{
    const struct estimate_ensemble *q = x->q;
    const struct walker_result *walker = x->walkers + index;
    const struct work_table *t = x->tables + index;
    struct buf path = {0};
    const char *name;
    find_path(q, walker->repeat, index % estimate_windows(q), &path, &name);
    for (size_t i = 0; i < t->n; i++)
        if (isfinite(t->work[i]) && works_of_length(t->length[i], length))
            buf_printf(&q->integrals[walker->end], "%s:%.4f %.6f\n", name, t->time[i],
                       walker->end ? -t->work[i] : t->work[i]);
    buf_free(&path);
}

/* Of the works that the number is of: once it is there, these are of one length. */
static void put_all_integrals(const struct works_read_so_far *x)
{
    const struct switch_works *works = x->whole.works;
    const double length = fmax(works_length(works + SWITCH_FORWARD), works_length(works + SWITCH_BACKWARD));
    for (int i = 0; x->q->integrals && i < x->q->repeats * estimate_windows(x->q); i++)
        put_integrals(x, i, length);
}

static void read_works(struct works_read_so_far *x, struct walker_result *walker, int window,
                       const struct estimate_replica *r)
{
    struct work_table *t = x->tables + (walker - x->walkers);
    struct buf path = {0};
    struct err e = {0};
    const char *name;
    find_path(x->q, walker->repeat, window, &path, &name);
    if (work_table_read(t, name, path.data, r->vouched ? r->work_bytes : WORK_TABLE_ALL, &e)) {
        walker->status = ESTIMATE_FAILED;
        snprintf(walker->reason, sizeof walker->reason, "%s", e.msg);
        if (x->q->unread && e.code == ERR_BUSY)
            *x->q->unread = e;
        work_table_close(t);
    } else {
        add_walker(x, walker, t);
    }
    buf_free(&path);
}

/* What production says of the end that its snapshots are of. */
static void look_at_production(struct switch_works *works, const struct walker_result *walker,
                               const struct estimate_replica *r)
{
    struct switch_works *w = works + (walker->end ? SWITCH_BACKWARD : SWITCH_FORWARD);
    w->failed += r->kind == ESTIMATE_FAILED;
    w->refused = fmax(w->refused, volume_refused_share(&r->moves));
}

/* Of one replica. */
static void read_walker(struct works_read_so_far *x, int index)
{
    const struct estimate_ensemble *q = x->q;
    const int windows = estimate_windows(q), window = index % windows;
    const struct estimate_replica *r = q->replicas + index;
    struct walker_result *walker = x->walkers + index;
    *walker = (struct walker_result){.repeat = index / windows,
                                     .end = window / q->walkers,
                                     .walker = window % q->walkers,
                                     .status = r->kind,
                                     .waters = r->waters,
                                     .seeded = r->seeded,
                                     .seed = r->seed};
    snprintf(walker->reason, sizeof walker->reason, "%s", r->reason ? r->reason : "");
    look_at_production(x->whole.works, walker, r);
    look_at_production(x->repeats[walker->repeat].works, walker, r);
    x->all_first &= r->kind == ESTIMATE_FAILED || !r->vouched || r->work_bytes;
    if (r->vouched && !r->work_bytes)
        walker->status = ESTIMATE_WAITS;
    else if (r->kind != ESTIMATE_FAILED)
        read_works(x, walker, window, r);
}

static void take_temperature(struct switching *s, const struct settings *set)
{
    s->temperature = set->integrator.temperature;
    s->beta = 1 / (UNIT_R * s->temperature);
}

static void solve(struct switching *s, const struct settings *set)
{
    take_temperature(s, set);
    switching_solve(s);
}

static struct switch_choice choice_of_works(struct works_read_so_far *x)
{
    if (!x->q->pace.first || !x->all_first) {
        switching_close(&x->first);
        return (struct switch_choice){.dissipated = NAN};
    }
    take_temperature(&x->first, x->q->set);
    return switching_choose(&x->first, &x->q->pace);
}

/* What was decided stands, though walkers may have failed since, or been retried. */
static struct switch_choice choose(struct works_read_so_far *x)
{
    const struct switch_pace *pace = &x->q->pace;
    struct switch_choice choice = choice_of_works(x);
    if (!pace->first || !pace->decided)
        return choice;
    choice.otherwise = !choice.made || choice.doublings != pace->chosen;
    choice.made = true;
    choice.doublings = pace->chosen;
    return choice;
}

static void write(struct works_read_so_far *x, struct buf *json)
{
    const struct estimate_ensemble *q = x->q;
    struct ladder l;
    ladder_of_settings(&l, q->set);
    const struct report report = report_of_ensemble(q, &l);
    const struct walkers_report of = {&report,   q->repeats, q->repeats * estimate_windows(q), x->repeats, x->walkers,
                                      choose(x), q->pace};
    switches_write(&x->whole, &of, json);
    ladder_close(&l);
}

void estimate_walkers(const struct estimate_ensemble *q, struct buf *json)
{
    const int n = q->repeats * estimate_windows(q);
    struct works_read_so_far x = {.q = q,
                                  .all_first = true,
                                  .repeats = xcalloc((size_t)q->repeats, sizeof *x.repeats),
                                  .walkers = xcalloc((size_t)n, sizeof *x.walkers),
                                  .tables = xcalloc((size_t)n, sizeof *x.tables)};
    for (int i = 0; i < n; i++)
        read_walker(&x, i);
    solve(&x.whole, q->set);
    for (int i = 0; i < q->repeats; i++)
        solve(x.repeats + i, q->set);
    put_all_integrals(&x);
    write(&x, json);
    for (int i = 0; i < q->repeats; i++)
        switching_close(x.repeats + i);
    for (int i = 0; i < n; i++)
        work_table_close(x.tables + i);
    switching_close(&x.whole);
    free(x.repeats);
    free(x.walkers);
    free(x.tables);
}
