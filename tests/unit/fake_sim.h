/* SPDX-License-Identifier: Apache-2.0
 *
 * A simulation that is a counter and a hash, for tests of what drives simulations: every step, volume move and
 * minimization changes the hash, so that a step lost or doubled changes all that follows. Defines sim_*, models_get,
 * models_put and the output formats in place of the engine's. It grows, blows up, or ends the process where it is told
 * to.
 */
#ifndef SHOAL_TESTS_UNIT_FAKE_SIM_H
#define SHOAL_TESTS_UNIT_FAKE_SIM_H

#include "daemon/worker/device/models.h"

struct fake {
    struct spec spec;    /* of the one ensemble there is */
    uint64_t grow_at;    /* a list overflows at this step, once per simulation; 0: never */
    uint64_t blow_up_at; /* ERR_NONFINITE at this step, unless salted; 0: never */
    uint32_t blow_up_replica;
    uint64_t blow_up_switches; /* bits of the numbers of switches that do so behind their 12th timestep */
    uint64_t tuned_until;      /* volume moves up to this step are to be tuned, later ones not */
    int narrow;                /* of ten volume moves so many are refused for want of room */
    int die_at_call;   /* the process dies at this call into the simulation, after leaving half rows in the outputs */
    int calls;         /* so far */
    int empty_at_call; /* dhdl.xvg is emptied at this call; 0: never */
    const char *directory; /* where half rows are left */
    int slowness;          /* how often sim_done says no */
    int alive;             /* simulations */
    int most_queued;       /* works on their way at a time */
};
extern struct fake fake;

/* What takes long is not done on the thread that feeds the device, which makes simulations: aborts there. */
void fake_expect_a_job(void);

/* A folder of its own for a test's replicas, in memory where that can be had: there are thousands of fsyncs.
 * fake.directory names it. 0, or -1. */
int fake_folder_new(void);
void fake_folder_empty(void);
int fake_folder_remove(void);

/* What a window's folder holds at its end: dhdl.xvg, energy.xvg, traj.xtc, confout.gro. */
enum { FAKE_FILES = 4 };
/* Into buffers that are empty or of another reading. */
void fake_files_read(struct buf files[FAKE_FILES], int window);
void fake_files_free(struct buf files[FAKE_FILES]);

/* Does run(what) in a process of its own that dies at its k-th call into the simulation. Whether it came through alive,
 * and then run has returned true. */
bool fake_survives(int k, bool (*run)(const void *what), const void *what);

/* Devices whose polls do nothing. */
extern struct dev fake_dev, fake_other_dev;

#endif
