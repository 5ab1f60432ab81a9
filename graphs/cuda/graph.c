/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs of the CUDA device. What holds:
 *
 *  1. A graph keeps three things that must agree: the captured cudaGraph_t, the executable made or updated from it, and
 *     `held`, a copy of the tape that was captured. CUDA can read back the captured graph but not the executable, so
 * the captured graph is never touched after it made the executable, and readback compares it with `held`.
 *  2. Capture is thread-local, begins and ends inside cuda_capture(), and nothing but launches happens in between. It
 * is one stream; before each launch the stream's dependencies are set to those of the launch, which makes the edges.
 *  3. Replays in flight keep the parameters they were launched with, so an executable may be updated at any time; it is
 *     destroyed only after they are done. One that cannot be updated is replaced, and nobody waits for that.
 */
#include <stdlib.h>

#include "engine/base/buf.h"
#include "graphs/check.h"
#include "graphs/cuda/dev.h"

static void node_add(struct node_list *l, cudaGraphNode_t node)
{
    if (l->count == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        l->at = xrealloc(l->at, l->cap, sizeof *l->at);
    }
    l->at[l->count++] = node;
}

void cuda_scratch_reserve(struct cuda_scratch *s, size_t nodes)
{
    if (nodes <= s->cap)
        return;
    s->from = xrealloc(s->from, nodes, sizeof *s->from);
    s->data = xrealloc(s->data, nodes, sizeof *s->data);
    s->cap = nodes;
}

/* --- capturing --- */

static bool is_known(const struct node_list *l, cudaGraphNode_t node)
{
    for (uint32_t i = l->count; i-- > 0;)
        if (l->at[i] == node)
            return true;
    return false;
}

/* Nodes that a library function has put into the graph: those that nobody knows yet. */
static int add_new_nodes(struct cuda_dev *d, cudaGraph_t graph, struct node_list *known, struct err *e)
{
    size_t n = 0;
    TRY(cudaGraphGetNodes, graph, NULL, &n);
    cuda_scratch_reserve(&d->scratch, n);
    TRY(cudaGraphGetNodes, graph, d->scratch.from, &n);
    for (size_t i = 0; i < n; i++)
        if (!is_known(known, d->scratch.from[i]))
            node_add(known, d->scratch.from[i]);
    return 0;
}

/* What the launch just captured has become. */
static int note_piece(struct cuda_dev *d, struct lane *lane, enum launch_kind kind, struct capture *c, struct err *e)
{
    enum cudaStreamCaptureStatus status;
    unsigned long long id;
    cudaGraph_t graph;
    const cudaGraphNode_t *tails;
    const cudaGraphEdgeData *edges;
    size_t n = 0;
    TRY(cudaStreamGetCaptureInfo, lane->stream, &status, &id, &graph, &tails, &edges, &n);
    if (status != cudaStreamCaptureStatusActive || (kind == LAUNCH_KERNEL && n != 1))
        return err_set(e, ERR_DEVICE, "%s: a captured launch became %zu nodes (status %d)", d->name, n, (int)status);
    for (size_t i = 0; i < n; i++)
        node_add(&c->tails, tails[i]);
    if (kind == LAUNCH_KERNEL) {
        node_add(&c->nodes, tails[0]);
    } else {
        int rc = add_new_nodes(d, graph, &c->nodes, e);
        if (rc)
            return rc;
    }
    c->pieces++;
    c->nodes_from[c->pieces] = c->nodes.count;
    c->tails_from[c->pieces] = c->tails.count;
    return 0;
}

/* The next launch comes after the launches of `mask`, in the repetition whose first piece is `first`. */
static int set_edges(struct cuda_dev *d, struct lane *lane, const struct capture *c, uint32_t first, uint64_t mask,
                     struct err *e)
{
    struct node_list *after = &d->scratch.after;
    after->count = 0;
    for (uint32_t i = 0; i < c->launches; i++)
        if (mask >> i & 1)
            for (uint32_t n = c->tails_from[first + i]; n < c->tails_from[first + i + 1]; n++)
                node_add(after, c->tails.at[n]);
    TRY(cudaStreamUpdateCaptureDependencies, lane->stream, after->at, NULL, after->count,
        cudaStreamSetCaptureDependencies);
    return 0;
}

uint64_t cuda_after(const struct tape *t, uint32_t number, uint32_t repetition)
{
    const uint64_t after = t->launches[number].after;
    return after || repetition || !number ? after : 1;
}

static int capture_step(struct cuda_dev *d, struct lane *lane, const struct tape *t, uint32_t repetition,
                        struct capture *c, struct err *e)
{
    uint32_t first = repetition * t->count;
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t after = cuda_after(t, i, repetition);
        int rc = after || !repetition ? set_edges(d, lane, c, first, after, e)
                                      : set_edges(d, lane, c, first - t->count, tape_sinks(t), e);
        if (rc || (rc = cuda_launch(d, lane, t, i, !after && !repetition, e)) ||
            (rc = note_piece(d, lane, (enum launch_kind)t->launches[i].kind, c, e)))
            return rc;
    }
    return 0;
}

void cuda_capture_drop(struct cuda_dev *d, struct capture *c)
{
    if (c->graph)
        cuda_note(d, cudaGraphDestroy(c->graph), "cudaGraphDestroy");
    c->graph = NULL;
}

void cuda_capture_free(struct cuda_dev *d, struct capture *c)
{
    cuda_capture_drop(d, c);
    free(c->nodes.at);
    free(c->tails.at);
    free(c->nodes_from);
    free(c->tails_from);
    *c = (struct capture){0};
}

static void begin(struct capture *c, uint32_t launches, uint32_t repeat)
{
    const size_t pieces = (size_t)launches * repeat;
    c->launches = launches;
    c->pieces = c->nodes.count = c->tails.count = 0;
    if (pieces + 1 > c->cap) {
        c->cap = pieces + 1;
        c->nodes_from = xrealloc(c->nodes_from, c->cap, sizeof *c->nodes_from);
        c->tails_from = xrealloc(c->tails_from, c->cap, sizeof *c->tails_from);
    }
    c->nodes_from[0] = c->tails_from[0] = 0;
}

int cuda_capture(struct cuda_dev *d, struct lane *lane, const struct tape *t, uint32_t repeat, struct capture *out,
                 struct err *e)
{
    begin(out, t->count, repeat);
    TRY(cudaStreamBeginCapture, lane->stream, cudaStreamCaptureModeThreadLocal);
    int rc = 0;
    for (uint32_t r = 0; r < repeat && !rc; r++)
        rc = capture_step(d, lane, t, r, out, e);
    cudaError_t ended = cudaStreamEndCapture(lane->stream, &out->graph); /* also after a failure: it ends the capture */
    if (rc)
        (void)cudaGetLastError(); /* the capture says so a second time */
    else if (ended != cudaSuccess)
        rc = cuda_failed(d, ended, "cudaStreamEndCapture", e);
    if (rc)
        cuda_capture_drop(d, out);
    return rc;
}

/* --- executables --- */

/* Waits for the lane: replays in flight still use the executable. */
static void exec_destroy(struct cuda_dev *d, struct graph *g)
{
    if (!g->exec)
        return;
    cuda_note(d, cudaStreamSynchronize(g->lane->stream), "cudaStreamSynchronize");
    cuda_note(d, cudaGraphExecDestroy(g->exec), "cudaGraphExecDestroy");
    g->exec = NULL;
}

void cuda_reap(struct cuda_dev *d)
{
    for (struct retired **at = &d->retired; *at;) {
        struct retired *r = *at;
        if (!mark_passed(&r->done)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        cuda_note(d, cudaGraphExecDestroy(r->exec), "cudaGraphExecDestroy");
        free(r);
    }
}

/* What was submitted of it goes on. */
static int exec_retire(struct cuda_dev *d, struct graph *g, struct err *e)
{
    struct mark done;
    int rc = cuda_mark(&d->base, g->lane, &done, e);
    if (rc)
        return rc;
    struct retired *r = xcalloc(1, sizeof *r);
    *r = (struct retired){d->retired, g->exec, done};
    d->retired = r;
    g->exec = NULL;
    return 0;
}

/* Updates g->exec from `captured`, or replaces it where CUDA cannot: other edges, say. */
static int make_exec(struct cuda_dev *d, struct graph *g, struct lane *lane, cudaGraph_t captured, struct err *e)
{
    double start = dev_now();
    if (g->exec) {
        cudaGraphExecUpdateResultInfo info;
        cudaError_t rc = cudaGraphExecUpdate(g->exec, captured, &info);
        d->base.build_cost.update = dev_now() - start;
        if (rc == cudaSuccess)
            return 0;
        if (rc != cudaErrorGraphExecUpdateFailure)
            return cuda_failed(d, rc, "cudaGraphExecUpdate", e);
        (void)cudaGetLastError();
        int failed = exec_retire(d, g, e);
        if (failed)
            return failed;
        start = dev_now();
    }
    TRY(cudaGraphInstantiate, &g->exec, captured, 0);
    TRY(cudaGraphUpload, g->exec, lane->stream);
    d->base.build_cost.instantiate = dev_now() - start;
    return 0;
}

void cuda_drop(struct dev *dev, struct graph *g)
{
    struct cuda_dev *d = cuda_enter(dev);
    if (!g)
        return;
    exec_destroy(d, g);
    cuda_capture_free(d, &g->captured);
    tape_free(&g->held);
    free(g);
}

/* If the executable cannot be made, *graph is dropped and NULL: what it would replay is not known any more. */
int cuda_build(struct dev *dev, struct lane *lane, const struct tape *t, uint32_t repeat, struct graph **graph,
               struct err *e)
{
    struct cuda_dev *d = cuda_enter(dev);
    struct capture captured = {0};
    int rc = cuda_admit(d, t, e);
    cuda_reap(d);
    dev->build_cost = (struct build_cost){0};
    double start = dev_now();
    if (rc || (rc = cuda_capture(d, lane, t, repeat, &captured, e))) {
        cuda_capture_free(d, &captured);
        return rc;
    }
    dev->build_cost.capture = dev_now() - start;

    struct graph *g = *graph ? *graph : xcalloc(1, sizeof *g);
    rc = make_exec(d, g, lane, captured.graph, e);
    cuda_capture_free(d, &g->captured);
    g->captured = captured;
    if (rc) {
        cuda_drop(dev, g);
        *graph = NULL;
        return rc;
    }
    g->lane = lane;
    g->repeat = repeat;
    tape_copy(&g->held, t);
    *graph = g;
    return 0;
}

int cuda_replay(struct dev *dev, struct lane *lane, struct graph *g, uint32_t times, struct err *e)
{
    struct cuda_dev *d = cuda_enter(dev);
    int rc = cuda_lost(d, e);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < times; i++)
        TRY(cudaGraphLaunch, g->exec, lane->stream);
    return 0;
}
