/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading captured graphs back as tapes: node by node, each known since it was captured.
 */
#include <string.h>

#include "engine/base/checksum.h"
#include "graphs/check.h"
#include "graphs/cuda/dev.h"

/* --- kernels --- */

/* Row of the kernel table, or its count when the function is in no row. */
static uint32_t kernel_number(const struct cuda_dev *d, const void *func)
{
    uint32_t k = 0;
    while (k < d->base.kernels.count && !(d->kernels[k].handle && (func == d->base.kernels.kernels[k].gpu ||
                                                                   func == (const void *)d->kernels[k].handle)))
        k++;
    return k;
}

static int read_cluster(struct cuda_dev *d, cudaGraphNode_t node, struct launch *l, struct err *e)
{
    cudaLaunchAttributeValue v = {0};
    if (d->base.limits.clusters) /* else there is nothing to ask */
        TRY(cudaGraphKernelNodeGetAttribute, node, cudaLaunchAttributeClusterDimension, &v);
    uint32_t is[3] = {v.clusterDim.x, v.clusterDim.y, v.clusterDim.z};
    for (int k = 0; k < 3; k++)
        l->cluster[k] = is[k] ? is[k] : 1; /* zeros: no clusters */
    return 0;
}

/* Fills in *l but for edges; *args points into the graph. */
static int read_kernel(struct cuda_dev *d, cudaGraphNode_t node, struct launch *l, const void **args, struct err *e)
{
    enum cudaGraphNodeType type;
    struct cudaKernelNodeParams p;
    TRY(cudaGraphNodeGetType, node, &type);
    if (type != cudaGraphNodeTypeKernel)
        return err_set(e, ERR_DRIFT, "its node is not a kernel (type %d)", (int)type);
    TRY(cudaGraphKernelNodeGetParams, node, &p);
    uint32_t k = kernel_number(d, p.func);
    if (k == d->base.kernels.count)
        return err_set(e, ERR_DRIFT, "its node launches a function that is in no kernel table");
    if (!p.kernelParams)
        return err_set(e, ERR_DRIFT, "its node has no argument list");
    *l = (struct launch){.kernel = k,
                         .kind = LAUNCH_KERNEL,
                         .grid = {p.gridDim.x, p.gridDim.y, p.gridDim.z},
                         .block = {p.blockDim.x, p.blockDim.y, p.blockDim.z},
                         .shared_bytes = p.sharedMemBytes,
                         .args_size = d->base.kernels.kernels[k].args_size};
    *args = p.kernelParams[0];
    return read_cluster(d, node, l, e);
}

/* --- library functions: their nodes are not ours to name, so they are counted and hashed --- */

static int add_kernel_node(struct cuda_dev *d, cudaGraphNode_t node, struct buf *b, struct err *e)
{
    CUDA_KERNEL_NODE_PARAMS p;
    size_t offset, size;
    if (d->driver.kernel_node((CUgraphNode)node, &p) != CUDA_SUCCESS || !p.kernelParams)
        return err_set(e, ERR_DEVICE, "%s: a kernel of a library function does not tell its arguments", d->name);
    buf_add(b, &p.func, sizeof p.func);
    buf_add(b, &p.kern, sizeof p.kern);
    const unsigned shape[] = {p.gridDimX,  p.gridDimY,  p.gridDimZ,      p.blockDimX,
                              p.blockDimY, p.blockDimZ, p.sharedMemBytes};
    buf_add(b, shape, sizeof shape);
    for (size_t i = 0;; i++) {
        CUresult rc = p.func ? d->driver.function_parameter(p.func, i, &offset, &size)
                             : d->driver.kernel_parameter(p.kern, i, &offset, &size);
        if (rc != CUDA_SUCCESS)
            return 0; /* that was the last one */
        buf_add(b, p.kernelParams[i], size);
    }
}

static int add_memset_node(struct cuda_dev *d, cudaGraphNode_t node, struct buf *b, struct err *e)
{
    struct cudaMemsetParams p;
    TRY(cudaGraphMemsetNodeGetParams, node, &p);
    const size_t is[] = {(size_t)p.dst, p.elementSize, p.height, p.pitch, p.value, p.width};
    buf_add(b, is, sizeof is);
    return 0;
}

static int add_memcpy_node(struct cuda_dev *d, cudaGraphNode_t node, struct buf *b, struct err *e)
{
    struct cudaMemcpy3DParms p;
    TRY(cudaGraphMemcpyNodeGetParams, node, &p);
    const size_t is[] = {(size_t)p.srcPtr.ptr, p.srcPtr.pitch,  p.srcPos.x,     p.srcPos.y,    p.srcPos.z,
                         (size_t)p.dstPtr.ptr, p.dstPtr.pitch,  p.dstPos.x,     p.dstPos.y,    p.dstPos.z,
                         p.extent.width,       p.extent.height, p.extent.depth, (size_t)p.kind};
    buf_add(b, is, sizeof is);
    return 0;
}

static int add_node(struct cuda_dev *d, cudaGraphNode_t node, struct buf *b, struct err *e)
{
    enum cudaGraphNodeType type;
    TRY(cudaGraphNodeGetType, node, &type);
    buf_add(b, &type, sizeof type);
    if (type == cudaGraphNodeTypeKernel)
        return add_kernel_node(d, node, b, e);
    if (type == cudaGraphNodeTypeMemset)
        return add_memset_node(d, node, b, e);
    if (type == cudaGraphNodeTypeMemcpy)
        return add_memcpy_node(d, node, b, e);
    if (type == cudaGraphNodeTypeEmpty)
        return 0;
    return err_set(e, ERR_UNSUPPORTED, "%s: a library function puts a node of type %d into the graph", d->name,
                   (int)type);
}

static int read_library(struct cuda_dev *d, const struct capture *c, uint32_t piece, struct launch *l, struct err *e)
{
    struct buf *b = &d->scratch.hashed;
    int rc = 0;
    b->len = 0;
    for (uint32_t n = c->nodes_from[piece]; n < c->nodes_from[piece + 1] && !rc; n++)
        rc = add_node(d, c->nodes.at[n], b, e);
    l->nodes = c->nodes_from[piece + 1] - c->nodes_from[piece];
    l->nodes_hash = checksum(b->data, b->len);
    return rc;
}

/* --- edges --- */

/* What a piece comes after, by launch. */
struct edges {
    uint64_t here, before; /* masks: of its own repetition, of the one before */
    uint32_t count;        /* edges from other pieces */
    bool early;            /* one of them is programmatic */
};

/* The piece that a node belongs to; c->pieces: none. */
static uint32_t piece_of(const struct capture *c, cudaGraphNode_t node)
{
    uint32_t n = 0, piece = 0;
    while (n < c->nodes.count && c->nodes.at[n] != node)
        n++;
    while (piece < c->pieces && n >= c->nodes_from[piece + 1])
        piece++;
    return piece;
}

static int sort_edge(const struct capture *c, uint32_t piece, cudaGraphNode_t from, const cudaGraphEdgeData *edge,
                     struct edges *out, struct err *e)
{
    uint32_t other = piece_of(c, from), repetition = piece / c->launches;
    if (other == piece)
        return 0;
    if (other == c->pieces || other / c->launches > repetition || other / c->launches + 1 < repetition)
        return err_set(e, ERR_DRIFT, "it comes after a node of no launch of this step or the one before");
    uint64_t bit = UINT64_C(1) << other % c->launches;
    *(other / c->launches == repetition ? &out->here : &out->before) |= bit;
    out->early |= edge->type == cudaGraphDependencyTypeProgrammatic;
    out->count++;
    return 0;
}

static int read_node_edges(struct cuda_dev *d, const struct capture *c, uint32_t piece, cudaGraphNode_t node,
                           struct edges *out, struct err *e)
{
    struct cuda_scratch *s = &d->scratch;
    size_t n = c->nodes.count;
    cuda_scratch_reserve(s, n); /* no node has more before it */
    memset(s->data, 0, n * sizeof *s->data);
    TRY(cudaGraphNodeGetDependencies, node, s->from, s->data, &n);
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++)
        rc = sort_edge(c, piece, s->from[i], &s->data[i], out, e);
    return rc;
}

static uint32_t tails_of(const struct capture *c, uint32_t first, uint64_t mask)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->launches; i++)
        if (mask >> i & 1)
            n += c->tails_from[first + i + 1] - c->tails_from[first + i];
    return n;
}

/* Sets l->after and l->flags. A launch that comes after none of its step comes after the whole step before. */
static int read_edges(struct cuda_dev *d, const struct graph *g, uint32_t piece, struct launch *l, struct err *e)
{
    const struct capture *c = &g->captured;
    struct edges is = {0};
    uint32_t first = piece / c->launches * c->launches;
    int rc = 0;
    for (uint32_t n = c->nodes_from[piece]; n < c->nodes_from[piece + 1] && !rc; n++)
        rc = read_node_edges(d, c, piece, c->nodes.at[n], &is, e);
    if (rc)
        return rc;
    l->after = is.here == cuda_after(&g->held, piece - first, piece / c->launches)
                   ? g->held.launches[piece - first].after
                   : is.here;
    if (is.count && cuda_begins_early(d)) /* without edges there is nothing to be early for */
        l->flags = is.early ? LAUNCH_EARLY : 0;
    uint64_t before = first && !is.here ? tape_sinks(&g->held) : 0;
    if (is.before != before)
        return err_set(e, ERR_DRIFT, "the graph has dependencies 0x%llx on the step before, the tape 0x%llx",
                       (unsigned long long)is.before, (unsigned long long)before);
    uint32_t edges = tails_of(c, first, is.here) + (before ? tails_of(c, first - c->launches, before) : 0);
    if (l->kind == LAUNCH_KERNEL && is.count != edges)
        return err_set(e, ERR_DRIFT, "the node has %u edges, expected %u", is.count, edges);
    return 0;
}

/* --- whole graphs --- */

static int read_piece(struct cuda_dev *d, const struct graph *g, uint32_t piece, struct tape *t, struct err *e)
{
    const struct capture *c = &g->captured;
    const struct launch *held = &g->held.launches[piece % c->launches];
    const void *args = tape_args(&g->held, held);
    struct launch l = *held; /* of a library launch, what its nodes do not say */
    int rc = held->kind == LAUNCH_LIBRARY ? read_library(d, c, piece, &l, e)
                                          : read_kernel(d, c->nodes.at[c->nodes_from[piece]], &l, &args, e);
    l.flags = held->flags;
    if (rc || (rc = read_edges(d, g, piece, &l, e)))
        return rc;
    tape_append(t, &l, args);
    return 0;
}

int cuda_readback(struct dev *dev, struct graph *g, uint32_t repetition, struct tape *t, struct err *e)
{
    struct cuda_dev *d = cuda_enter(dev);
    const struct capture *c = &g->captured;
    size_t nodes = 0;
    int rc = cuda_lost(d, e);
    if (rc)
        return rc;
    TRY(cudaGraphGetNodes, c->graph, NULL, &nodes);
    if (nodes != c->nodes.count)
        return err_set(e, ERR_DRIFT, "%s: the graph has %zu nodes, %u were captured", d->name, nodes, c->nodes.count);
    tape_clear(t);
    for (uint32_t i = 0; i < c->launches; i++)
        if (read_piece(d, g, repetition * c->launches + i, t, e))
            return err_prefix(e, "%s: step %u of the graph: launch %u", d->name, repetition, i);
    rc = check_tapes(&dev->kernels, &g->held, t, e);
    return rc ? err_prefix(e, "%s: the captured graph changed after it was instantiated", d->name) : 0;
}

int cuda_trace(struct dev *dev, struct lane *lane, struct tape *t, struct err *e)
{
    struct cuda_dev *d = cuda_enter(dev);
    struct capture *c = &d->scratch.traced;
    int rc = cuda_admit(d, t, e);
    if (rc || (rc = cuda_capture(d, lane, t, 1, c, e)))
        return rc;
    for (uint32_t i = 0; i < t->count && !rc; i++)
        if (t->launches[i].kind == LAUNCH_LIBRARY)
            rc = read_library(d, c, i, &t->launches[i], e);
    cuda_capture_drop(d, c);
    return rc;
}
