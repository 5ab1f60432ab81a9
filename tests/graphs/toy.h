/* SPDX-License-Identifier: Apache-2.0
 *
 * A toy replica: two vectors, a control block and a ticket on one lane of a device, and a step that works on them. Its
 * bits depend on every launch of every step and on their order.
 */
#ifndef SHOAL_TESTS_GRAPHS_TOY_H
#define SHOAL_TESTS_GRAPHS_TOY_H

#include "graphs/recorder.h"
#include "tests/graphs/toy_kernels.h"

/* What differs from the declared step, on purpose. */
enum toy_plant {
    PLANT_NONE,
    PLANT_SCALAR,
    PLANT_FLOAT,
    PLANT_POINTER,
    PLANT_GRID,
    PLANT_BLOCK,
    PLANT_SHARED,
    PLANT_ADDED,
    PLANT_REMOVED,
    PLANT_KERNEL,
    PLANT_VARIANT, /* another kernel with the same arguments */
    PLANT_OUTSIDE,
    /* of the forked step: */
    PLANT_EDGE,
    PLANT_CLUSTER,
    PLANT_LATE, /* a launch that began early does not */
    PLANT_LIBRARY
};

struct toy {
    struct dev *dev; /* borrowed */
    struct lane *lane;
    struct echo *echo;
    unsigned char *arena; /* device: ctl, x, y, z */
    size_t arena_bytes;
    void *ctl, *x, *y, *z; /* device, in the arena */
    void *ticket;          /* device */
    uint64_t *ticket_host;
    struct span spans[2];
    uint32_t n;      /* elements of x and y */
    uint32_t links;  /* chain launches per step; a step has links + 3 launches */
    bool fork;       /* the step has two more, and a branch of its own */
    uint32_t repeat; /* steps of a recorder's graphs; 1 unless set otherwise */
    struct recorder_clock clock;
    double a;
    enum toy_plant plant;
    uint32_t emitted; /* calls of toy_emit */
};

/* Zeroed or closed before. After a failure toy_close() is due as well. */
int toy_open(struct toy *t, struct dev *d, uint32_t n, uint32_t links, struct err *e);
void toy_close(struct toy *t);
/* Whether swap is launched in clusters: all devices can but some GPUs. */
bool toy_clusters(const struct dev *d);
/* One step: links x chain on x, then y += a x, ctl->step++ and, forked, swap and shrink on z, side by side, then
 * ticket. The signature of recorder_setup.emit, with a struct toy. */
void toy_emit(void *toy, struct tape *tape);
struct recorder_setup toy_setup(struct toy *t, uint64_t check_every);
/* Polls until the ticket says `steps`. ERR_DEVICE when the device fails or a minute passes. */
int toy_wait(struct toy *t, uint64_t steps, struct err *e);
uint64_t toy_ticket(const struct toy *t);
/* x, y, z and the step number, as they are after the lane's work: bytes of toy_state_size(), the caller's. */
size_t toy_state_size(const struct toy *t);
int toy_state(struct toy *t, void *out, struct err *e);

#endif
