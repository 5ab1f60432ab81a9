/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kind of device brings to a replica: its kernels, the read-only tables they need of a model, the working memory
 * they need of a replica, and the tapes of every kind of work. engine/cpu has one, and so has the room of each kind of
 * GPU (graphs/kinds.def).
 *
 * Common to all programs is what outlives a piece of work, and so what is saved: the control block (ctl.h), positions
 * and velocities in double precision, forces and energies in fixed point. So a replica's state reads the same from any
 * device.
 */
#ifndef SHOAL_ENGINE_RUN_PROGRAM_H
#define SHOAL_ENGINE_RUN_PROGRAM_H

#include <math.h>

#include "engine/run/ctl.h"
#include "engine/run/gang.h"
#include "engine/run/readonly.h"
#include "engine/run/sim.h"
#include "engine/prepare/lambda_rows.h"
#include "engine/prepare/topology.h"

/* Of the forces: read-only tables of one model in device memory. Each program has its own. */
struct nonbonded;

/* How long lists may grow. HALT_LIST names one by where[0], 0: entries, 1: pairs, 2: regions, 3: near. */
struct list_caps {
    uint32_t entries; /* of the list of unperturbed pairs, in the program's own unit */
    uint32_t pairs;   /* of the list of perturbed pairs */
    uint32_t
        regions[3]; /* that a GPU cuts a large system into along each edge: more of them where one is too crowded */
    uint32_t near;  /* on a GPU: of the pairs that are near, of three atoms */
};

/* Of a list that has outgrown its own: a fifth more than it needed. */
static inline uint32_t list_cap_grown(const struct ctl *ctl)
{
    return (uint32_t)(1.2 * ctl->value) + 64;
}

/* Of the list of perturbed pairs at first: every perturbed atom with a fifth more than are within `reach` (nm) at that
 * density (atoms per nm^3), and some more in small systems, of which it has all at most. */
static inline uint32_t list_cap_perturbed(int32_t nperturbed, int32_t natoms, double reach, double density)
{
    const double around = 1.2 * 4 * M_PI / 3 * density * pow(reach, 3) + 32;
    return (uint32_t)(nperturbed * fmin(around, natoms)) + 64;
}

enum evaluate {
    EVALUATE_STEP,      /* forces only, those of the mesh times mesh_cycle() */
    EVALUATE_POTENTIAL, /* energies of the current state (barostat); what forces there are then is left open */
    EVALUATE_ENERGY,    /* forces and energies of the current state (minimizer) */
    EVALUATE_SAMPLE,    /* the same with virial, dU/dlambda and energy_at_window */
    EVALUATE_SWITCH,    /* as EVALUATE_STEP, and U before and after the change of lambda that is due */
    EVALUATE_COUNT
};

/* Whether it has the energies of the current state. mode: enum evaluate */
MATH_FN bool evaluates_energies(uint32_t mode)
{
    return mode != EVALUATE_STEP && mode != EVALUATE_SWITCH;
}

MATH_FN bool evaluates_forces(uint32_t mode)
{
    return mode != EVALUATE_POTENTIAL;
}

/* Virial and dU/dlambda. */
MATH_FN bool evaluates_slopes(uint32_t mode)
{
    return mode == EVALUATE_SAMPLE;
}

/* Rows of lambda at which it finds the energy of all that is perturbed, besides the row it is at. */
struct foreign_rows {
    uint32_t n;
    const double (*lambda)[LAMBDA_COUNT]; /* [n] */
};

/* At a sample those of all windows, in a switch those before and after a change that is due; else none. */
MATH_FN struct foreign_rows foreign_rows_of(uint32_t mode, const struct ctl *c, const double (*windows)[LAMBDA_COUNT],
                                            uint32_t nwindows)
{
    struct foreign_rows rows = {0, windows};
    if (mode == EVALUATE_SAMPLE)
        rows.n = nwindows;
    if (mode == EVALUATE_SWITCH) {
        rows.n = c->switching.looks ? 2 : 0;
        rows.lambda = c->switching.row;
    }
    return rows;
}

/* The same of launches that have nothing perturbed. */
static inline enum evaluate evaluate_unperturbed(enum evaluate mode)
{
    return mode == EVALUATE_SWITCH ? EVALUATE_STEP : mode;
}

struct program {
    const char *device; /* first part of the names of the devices it serves: a row of graphs/kinds.def */
    const struct kernel_table *kernels;
    bool host_memory; /* what replicas work in is memory of the host */
    /* What the program makes of a model's plans (struct observe_kind), before it has a replica, on the device's thread,
     * with work on a lane that nobody waits for; and takes back. More than once is fine. NULL: nothing. ERR_DEVICE,
     * ERR_MEMORY. */
    int (*observe_open)(struct model *m, struct lane *lane, struct err *e);
    void (*observe_close)(struct model *m);
    /* Launches of a frame of the model's observables. */
    uint32_t (*observe_launches)(const struct model *m);
    /* Bytes that a replica's observables compute in, one after the other; zeroed when it is new. */
    size_t (*observe_work)(const struct model *m);
    /* The same of the coordinations that its system has for biases. */
    size_t (*bias_work)(const struct model *m);
    /* ERR_UNSUPPORTED, ERR_TOPOLOGY, ERR_SPEC: what does not fit together. All but `dev` is only read during the call,
     * which may come from another thread than the device's: of `dev` it may use what graphs/remote_dev.h has, now and
     * in nonbonded_free. */
    int (*nonbonded_new)(struct nonbonded **out, struct dev *dev, const struct system *sys, const struct settings *set,
                         const struct topology *t, const struct lambda_rows *windows, struct err *e);
    void (*nonbonded_free)(struct nonbonded *nb); /* NULL is fine */
    const struct readonly *(*nonbonded_tables)(const struct nonbonded *nb);
    /* The form of PME that is expected to be faster with `in_flight` replicas on the device: PME_BLOCK or PME_CARD;
     * PME_AUTO: there is no mesh. If it is the same for 1 and for INT_MAX, this is the only form, and block_bytes has
     * no memory for another. NULL: the program has one form. */
    enum pme_form (*pme_form)(const struct nonbonded *nb, int in_flight);
    /* A first guess from density and box; and, after HALT_LIST, capacities that hold what was asked for, with room. */
    void (*caps_guess)(const struct nonbonded *nb, struct list_caps *caps);
    void (*caps_grow)(struct list_caps *caps, const struct ctl *ctl);
    /* Bytes (a multiple of 64) of a replica's working memory. It is zeroed when it is new or caps have changed. It is
     * no part of a replica's state: bits do not depend on it. */
    size_t (*block_bytes)(const struct nonbonded *nb, const struct list_caps *caps);
    /* Each appends the launches of one piece of a kind of work to a tape. SIM_STEP: all timesteps of a mesh_cycle().
     * SIM_PREPARE redoes what a timestep leaves for the next one (atoms placed, forces cleared); it is needed after any
     * other work except frames. NULL: not needed. */
    void (*emit[SIM_WORK_COUNT])(const struct sim *s, struct tape *t);
    /* What launches of timesteps of many tiny systems are, and whether a model is one: then gangs do its
     * SIM_STEP. NULL: none. */
    const struct gang_kind *gang;
    bool (*in_gangs)(const struct nonbonded *nb);
    void (*emit_new_velocities)(const struct sim *s, struct tape *t); /* of sim_thermalize */
    /* Digests of tables, in memory that the host reads: readonly_chunks() words. */
    void (*emit_digests)(const struct readonly *tables, void *digests, struct tape *t);
    /* What volume moves measure a box by, and leave it at least. */
    struct box_room (*box_room)(const struct model *m, const double box[BOX_SIZE]);
};

/* One for each kind of device. */
#define HOST(kind) extern const struct program kind##_program;
#define GPU HOST
#include "graphs/kinds.def"

/* The program whose kernels the device was opened with. */
const struct program *program_of(const struct dev *dev);
/* The program of the devices with such names ("cuda:0"); the CPU's where no other is meant. */
const struct program *program_named(const char *device);

#endif
