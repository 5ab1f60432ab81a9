/* SPDX-License-Identifier: Apache-2.0
 *
 * What tapes and graphs cost on a device: making, checking, replaying them, and hearing that they are done. Prints one
 * table of medians in microseconds. Kernels are the toy ones, 5,000 elements each (the size of a small replica), one
 * dependent chain per step.
 *
 * usage: graph_costs [--device NAME]   (default cpu). Exit code 77 when there is no such device.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "graphs/check.h"
#include "tests/graphs/toy.h"

enum { ELEMENTS = 5000, LANES = 12, REPEATS = 51, BATCH = 20, TICKETS = 501, NODES = 20 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, by_value);
    return x[n / 2];
}

static void must(int rc, const struct err *e)
{
    if (rc) {
        fprintf(stderr, "graph_costs: %s\n", e->msg);
        exit(1);
    }
}

/* Microseconds, for tapes of NODES launches and graphs of `repeat` steps. */
struct figures {
    uint32_t repeat;
    double check, heard, emit, eager, capture, instantiate, update, readback, compare, pointers, submit, node_1,
        node_12, step_1, step_12;
};

static void measure_building(struct toy *t, struct figures *f)
{
    double emit[REPEATS], capture[REPEATS], instantiate[REPEATS], update[REPEATS], readback[REPEATS], compare[REPEATS],
        pointers[REPEATS];
    struct dev *d = t->dev;
    struct tape tape = {0}, held = {0};
    struct err e = {0};
    for (int i = 0; i < REPEATS; i++) {
        struct graph *g = NULL;
        double start = now();
        tape_clear(&tape);
        toy_emit(t, &tape);
        emit[i] = now() - start;
        must(d->ops->build(d, t->lane, &tape, f->repeat, &g, &e), &e);
        capture[i] = d->build_cost.capture;
        instantiate[i] = d->build_cost.instantiate;

        t->a += 0.01; /* another argument, the same launches */
        tape_clear(&tape);
        toy_emit(t, &tape);
        must(d->ops->build(d, t->lane, &tape, f->repeat, &g, &e), &e);
        update[i] = d->build_cost.update;

        start = now();
        for (uint32_t r = 0; r < f->repeat; r++)
            must(d->ops->readback(d, g, r, &held, &e), &e);
        readback[i] = now() - start;
        start = now();
        must(check_tapes(&d->kernels, &tape, &held, &e), &e);
        compare[i] = now() - start;
        start = now();
        must(check_pointers(&d->kernels, &tape, t->spans, 2, &e), &e);
        pointers[i] = now() - start;
        d->ops->drop(d, g);
    }
    f->emit = median(emit, REPEATS);
    f->capture = median(capture, REPEATS);
    f->instantiate = median(instantiate, REPEATS);
    f->update = median(update, REPEATS);
    f->readback = median(readback, REPEATS);
    f->compare = median(compare, REPEATS);
    f->pointers = median(pointers, REPEATS);
    tape_free(&tape);
    tape_free(&held);
}

/* Calls that wait for nothing, a few at a time so that no queue fills up. Warm-up round first. */
static void measure_submitting(struct toy *t, struct figures *f)
{
    double eager[REPEATS], submit[REPEATS];
    struct dev *d = t->dev;
    struct tape tape = {0};
    struct graph *g = NULL;
    struct err e = {0};
    uint64_t done = toy_ticket(t);
    toy_emit(t, &tape);
    must(d->ops->build(d, t->lane, &tape, f->repeat, &g, &e), &e);
    for (int i = -1; i < REPEATS; i++) {
        double start = now();
        must(d->ops->run(d, t->lane, &tape, &e), &e);
        double passed = now() - start;
        must(toy_wait(t, ++done, &e), &e);
        if (i >= 0)
            eager[i] = passed;
        start = now();
        for (int k = 0; k < BATCH; k++)
            must(d->ops->replay(d, t->lane, g, 1, &e), &e);
        passed = now() - start;
        must(toy_wait(t, done += BATCH * f->repeat, &e), &e);
        if (i >= 0)
            submit[i] = passed / BATCH;
    }
    f->eager = median(eager, REPEATS) / tape.count;
    f->submit = median(submit, REPEATS);
    d->ops->drop(d, g);
    tape_free(&tape);
}

/* Wall time per step over `lanes` lanes that all have work. */
static double measure_replay(struct dev *d, uint32_t repeat, uint32_t lanes)
{
    enum { ROUNDS = 11, STEPS = 60, CHUNK = 5 };
    uint32_t times = repeat < CHUNK ? CHUNK / repeat : 1;
    double wall[ROUNDS];
    struct toy t[LANES];
    struct graph *g[LANES] = {0};
    struct tape tape = {0};
    struct err e = {0};
    for (uint32_t i = 0; i < lanes; i++) {
        must(toy_open(&t[i], d, ELEMENTS, NODES - 3, &e), &e);
        tape_clear(&tape);
        toy_emit(&t[i], &tape);
        must(d->ops->build(d, t[i].lane, &tape, repeat, &g[i], &e), &e);
    }
    for (int round = -1; round < ROUNDS; round++) {
        uint64_t until = (uint64_t)(round + 2) * STEPS;
        double start = now();
        for (uint32_t k = 0; k < STEPS; k += times * repeat)
            for (uint32_t i = 0; i < lanes; i++)
                must(d->ops->replay(d, t[i].lane, g[i], times, &e), &e);
        for (uint32_t i = 0; i < lanes; i++)
            must(toy_wait(&t[i], until, &e), &e);
        if (round >= 0)
            wall[round] = (now() - start) / (STEPS * lanes);
    }
    for (uint32_t i = 0; i < lanes; i++) {
        d->ops->drop(d, g[i]);
        toy_close(&t[i]);
    }
    tape_free(&tape);
    return median(wall, ROUNDS);
}

/* From the replay of a graph of one launch until the host, spinning, sees its ticket. */
static double measure_ticket(struct dev *d)
{
    double wait[TICKETS];
    struct toy t;
    struct tape tape = {0};
    struct graph *g = NULL;
    struct err e = {0};
    must(toy_open(&t, d, ELEMENTS, 1, &e), &e);
    emit_ticket(&tape, &SHAPE_CHAIN, &(struct args_ticket){.ctl = t.ctl, .ticket = t.ticket});
    must(d->ops->build(d, t.lane, &tape, 1, &g, &e), &e);
    for (uint64_t i = 0; i < TICKETS; i++) {
        double start = now();
        must(d->ops->replay(d, t.lane, g, 1, &e), &e);
        while (toy_ticket(&t) <= i && now() - start < 5e6) {
        }
        wait[i] = now() - start;
    }
    d->ops->drop(d, g);
    tape_free(&tape);
    toy_close(&t);
    return median(wait, TICKETS);
}

/* A recorder's check, and what its echo costs beyond the replay itself: beginning, ending and comparing it. */
static void measure_check(struct dev *d, struct figures *f)
{
    double check[REPEATS], heard[REPEATS];
    struct toy t;
    struct recorder *r;
    struct err e = {0};
    must(toy_open(&t, d, ELEMENTS, NODES - 3, &e), &e);
    t.repeat = f->repeat;
    struct recorder_setup setup = toy_setup(&t, 0);
    must(recorder_new(&r, &setup, &e), &e);
    uint64_t done = 2 + f->repeat;
    must(recorder_submit(r, (uint32_t)done, &e), &e);
    for (int i = 0; i < REPEATS; i++) {
        must(toy_wait(&t, done, &e), &e);
        must(d->ops->copy(d, t.lane, &(uint64_t){0}, t.ctl, 8, &e), &e); /* idle: the echo has been heard */
        double start = now();
        must(recorder_check_now(r, &e), &e);
        check[i] = now() - start;
        start = now();
        must(recorder_submit(r, f->repeat, &e), &e);
        heard[i] = now() - start;
        done += f->repeat;
    }
    f->check = median(check, REPEATS);
    f->heard = median(heard, REPEATS);
    recorder_free(r);
    toy_close(&t);
}

static void measure(struct dev *d, uint32_t repeat, struct figures *f)
{
    struct toy t;
    struct err e = {0};
    *f = (struct figures){.repeat = repeat};
    must(toy_open(&t, d, ELEMENTS, NODES - 3, &e), &e);
    measure_building(&t, f);
    measure_submitting(&t, f);
    toy_close(&t);
    measure_check(d, f);
    f->step_1 = measure_replay(d, repeat, 1);
    f->step_12 = measure_replay(d, repeat, LANES);
    f->node_1 = f->step_1 / NODES;
    f->node_12 = f->step_12 / NODES;
}

static void print_table(const struct dev *d, const struct figures *a, const struct figures *b, double ticket)
{
    const struct {
        const char *name;
        double a, b;
    } rows[] = {
        {"emit the tape", a->emit, b->emit},
        {"eager, host time per launch", a->eager, b->eager},
        {"build: capture (cpu: copy)", a->capture, b->capture},
        {"build: instantiate", a->instantiate, b->instantiate},
        {"build: exec-update", a->update, b->update},
        {"readback", a->readback, b->readback},
        {"compare a step", a->compare, b->compare},
        {"check pointers", a->pointers, b->pointers},
        {"a check, and the last echo", a->check, b->check},
        {"submitting one graph, heard", a->heard, b->heard},
        {"replay: host time per graph", a->submit, b->submit},
        {"replay, 1 lane: per step", a->step_1, b->step_1},
        {"replay, 1 lane: per node", a->node_1, b->node_1},
        {"replay, 12 lanes: per step", a->step_12, b->step_12},
        {"replay, 12 lanes: per node", a->node_12, b->node_12},
    };
    printf("%s, medians in microseconds; steps of %d nodes, %d elements per kernel\n", d->model, NODES, ELEMENTS);
    printf("| %-30s | %9s | %9s |\n|---|---|---|\n", "graphs of", "1 step", "10 steps");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        printf("| %-30s | %9.3f | %9.3f |\n", rows[i].name, rows[i].a, rows[i].b);
    printf("| %-30s | %9.3f | %9s |\n", "replay of one node to ticket", ticket, "");
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"device", required_argument, NULL, 'd'}, {0}};
    const char *name = "cpu";
    struct figures small, large;
    struct dev *d;
    struct err e = {0};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c != 'd')
            return 2;
        name = optarg;
    }
    if (dev_open(&d, name, toy_kernels, &e)) {
        fprintf(stderr, "graph_costs: %s\n", e.msg);
        return e.code == ERR_DEVICE ? 77 : 2;
    }
    measure(d, 1, &small);
    measure(d, 10, &large);
    print_table(d, &small, &large, measure_ticket(d));
    dev_close(d);
    return 0;
}
