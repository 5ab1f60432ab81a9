/* SPDX-License-Identifier: Apache-2.0
 *
 * Observables: what they need on a device, and what their sums mean. A kind is a row of engine/system/observables.def
 * and a struct observe_kind. The reader of specs makes its struct observable (daemon/spec/sections/observables.c), and
 * each program its launches (engine/cpu/observe/observe.c, engine/cuda/observe/observe.c).
 */
#ifndef SHOAL_ENGINE_OBSERVE_OBSERVE_H
#define SHOAL_ENGINE_OBSERVE_OBSERVE_H

#include "engine/base/arena.h"
#include "engine/base/buf.h"
#include "engine/base/json/json_writer.h"
#include "engine/observe/device_tables.h"
#include "engine/system/settings.h"
#include "engine/system/system.h"

/* What one replica accumulates: numbers of a block, and bytes of state. */
struct observe_size {
    uint64_t counts, reals, state;
};

/* What came out, on the host. */
struct observe_result {
    const struct system *sys;
    const struct observable *o;
    struct observe_size size;
    const struct observed *seen;
};

struct observe_kind {
    struct observe_size (*size)(const struct observable *o);
    double (*least_width)(const struct observable *o); /* of a box, nm; 0: any will do */
    /* What follows from it, the system and the settings on the host, for put and for programs; the owner gives it back
     * to plan_free. NULL: nothing does. ERR_SPEC, ERR_TOPOLOGY, ERR_UNSUPPORTED. */
    int (*plan)(void **plan, const struct observable *o, const struct system *sys, const struct settings *set,
                struct err *e);
    void (*plan_free)(void *plan);
    /* Edges of a box, nm, at most; NULL: any will do. */
    void (*most_edges)(const struct observable *o, const struct system *sys, double edge[3]);
    /* Its own table, into an arena; the device's address. `sys` gives what atoms are. */
    const void *(*put)(const struct observable *o, const struct system *sys, const void *plan, struct arena *a);
    bool (*needs_cube)(const struct observable *o); /* the box must be one; NULL: it need not */
    /* It follows one replica: its frames must have equal times between them, and no other replica comes in between. */
    bool equal_times;
    bool needs_velocities; /* of its frames */
    bool needs_sample;     /* it comes behind a sample of the same state: of runs alone */
    /* What it computes from displacements, which volume moves change too: "diffusion". NULL: nothing. */
    const char *at_constant_volume;
    /* Title and column of a second file with the value of each frame, by which its first sum grows. NULL: it has no
     * such file. */
    const char *series_title, *series_column;
    /* ERR_SPEC: it cannot be, with the interval that its frames have. NULL: it can. */
    int (*check)(const struct observable *o, const struct system *sys, struct err *e);
    /* Of at least one frame: its file, members of an open JSON object, words for people. */
    void (*file)(const struct observe_result *r, struct buf *out);
    void (*json)(const struct observe_result *r, bool curves, struct writer *w);
    void (*summary)(const struct observe_result *r, struct buf *out);
    /* The number of its line in each block that its error is from, [OBSERVE_BLOCKS]. Returns how many, or -1: there is
     * no number. */
    int (*of_blocks)(const struct observe_result *r, double *value);
    /* How many independent frames the number is worth, where that shows in another way than by blocks; NULL: it does
     * not. */
    double (*independent)(const struct observe_result *r);
};

extern const struct observe_kind *const observe_kinds[OBSERVE_KINDS];

/* What is wrong with it in this system and with this interval, before anything is made of it. ERR_SPEC. */
int observe_check(const struct observable *o, const struct system *sys, struct err *e);
/* Bytes of what a replica accumulates of one observable, a multiple of 8. */
size_t observe_bytes(const struct observable *o);
/* Its whole read-only table, into an arena; the device's address. */
const struct observe_table *observe_put(const struct observable *o, const struct system *sys, const void *plan,
                                        struct arena *a);
/* ERR_SPEC: the box is too narrow for it, too large, or no cube. */
int observe_check_box(const struct observable *o, const struct system *sys, const double box[BOX_SIZE], struct err *e);

/* From the bytes of one observable, copied from a device; both stay the caller's. */
struct observe_result observe_result(const struct system *sys, const struct observable *o, const void *bytes);
/* There is something to be said of it: a frame, or why there is none. */
bool observe_begun(const struct observe_result *r);
/* Blocks that are full, those that errors come from. */
int observe_full_blocks(const struct observe_result *r);
const int64_t *observe_counts(const struct observe_result *r, int block);
const double *observe_reals(const struct observe_result *r, int block);
/* Sums over all blocks; the caller frees them. */
int64_t *observe_total_counts(const struct observe_result *r);
double *observe_total_reals(const struct observe_result *r);
/* The standard error of a mean of n numbers, which are `stride` apart; NAN of fewer than two. */
double observe_error(const double *value, int n, size_t stride);

/* The whole file: its header, and what it holds. Every line that is no data begins with # or @. */
void observe_file(const struct observe_result *r, struct buf *out);
/* Members of an open object: what it is, and what came out; its curves too if they are asked for. */
void observe_json(const struct observe_result *r, bool curves, struct writer *w);
/* Numbers, each an element of a JSON array. */
void observe_list(struct writer *w, const char *key, const double *value, size_t n);
/* "rdf: ..." and a line's end. */
void observe_line(const struct observe_result *r, struct buf *out);
/* The header of an .xvg file with these columns behind the first. */
void observe_header(struct buf *out, const char *title, const char *x, const char *y, const char *const *legends,
                    int n);

#endif
