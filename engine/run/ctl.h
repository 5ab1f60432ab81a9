/* SPDX-License-Identifier: Apache-2.0
 *
 * The control block of one replica, in device memory: everything that changes from step to step, so that no launch
 * argument has to. Kernels read it through a pointer; after a piece of work `report` copies what the host wants into
 * mapped memory and bumps the ticket there.
 *
 * Rules: every kernel but `report` returns at once when ctl.halt is set. The first kernel that meets an error sets it
 * (ctl_halt). A tape changes x and v only after its force evaluation, or keeps what is needed to go back; so a list
 * that overflows leaves the state of the last whole step, and the tape can be submitted again after growing.
 */
#ifndef SHOAL_ENGINE_RUN_CTL_H
#define SHOAL_ENGINE_RUN_CTL_H

#include <stddef.h>
#include <stdint.h>

#include "engine/math/accumulate.h"
#include "engine/math/box.h"
#include "engine/math/fn.h"
#include "engine/system/biases.h"
#include "engine/system/volume_moves.h"
#include "engine/system/water_moves.h"

enum halt {
    HALT_NONE,
    HALT_LIST,       /* a list is too short: grow and go on; where[0]: which (meaning is the owner's), value: needed */
    HALT_NONFINITE,  /* where[0]: atom */
    HALT_CONSTRAINT, /* where: the two atoms; value: relative deviation left */
    HALT_OVERFLOW    /* contributions were clamped in dynamics (sum.clamped: of what); value: how many */
};

/* What of the kicks by the forces at x is still to come, between two timesteps. */
enum pending_kick {
    PENDING_USUAL,  /* half of one by velocity Verlet, for v is that at the time of x; a whole one by Langevin-middle */
    PENDING_SECOND, /* velocity Verlet: that half, and the second half of the last timestep's */
    PENDING_HALF    /* Langevin-middle: half of one, for v is that at the time of x (kernel half_kick) */
};

/* A non-equilibrium switch (switches.h). Zeroed: none is under way. */
struct switch_course {
    uint32_t under_way, looks;   /* looks: the next evaluation is that of a change */
    uint32_t way, number;        /* enum switch_way; see sim_switch_begin */
    uint32_t steps, doublings;   /* timesteps carried out; of struct switch_settings */
    double row[2][LAMBDA_COUNT]; /* lambda before and after that change */
    double ahead[LAMBDA_COUNT];  /* of the timestep behind the next one */
    struct fixed_sum at_row[2];  /* U of what is perturbed, of that evaluation */
    struct fixed_sum work;
};

struct ctl {
    uint64_t step;        /* timesteps since the replica began */
    uint64_t done;        /* timesteps, descent steps, samples and volume moves carried out to the end */
    uint64_t tickets;     /* reports made */
    uint64_t seed;        /* random-number key, see engine/math/philox.h */
    double box[BOX_SIZE]; /* nm */
    double lambda[LAMBDA_COUNT];
    uint32_t replica;
    uint32_t window; /* the window lambda belongs to */

    uint32_t halt; /* enum halt */
    uint32_t where[2];
    uint32_t pending; /* enum pending_kick */
    uint32_t moving;  /* 1 once a timestep was carried out */
    uint32_t trial;   /* x is a trial, of a move or a descent: `report` goes back to x_old and box_old when halted */
    double value;

    /* sums of one evaluation, cleared before it; on a GPU also at the end of a timestep, for the next */
    struct accumulate sum;
    struct fixed_sum coordination[COORDINATIONS_MOST]; /* see coordination_value() */
    double pressure_correction;                        /* bar, of the dispersion correction; samples */

    /* of the last SIM_SAMPLE, double */
    double kinetic;              /* kJ/mol */
    double constraint_virial[9]; /* kJ/mol; zero while `moving` is 0 */

    /* Monte Carlo barostat */
    double box_old[BOX_SIZE];
    double energy_old;                          /* kJ/mol, before the move, or the batch of waters */
    double volume_scale;                        /* the largest change tried, of V (nm^3) or, of few molecules, ln V */
    uint64_t barostat_moves;                    /* tried since the replica began */
    struct volume_moves counted;                /* since sim_count_moves */
    uint32_t barostat_tried, barostat_accepted; /* since volume_scale was adapted */

    /* exchange of waters (engine/kernels/waters.h) */
    uint64_t water_batches;    /* since the replica began */
    struct water_moves waters; /* since sim_count_moves */
    double water_change;       /* of the batch so far, of the approximate energy: kJ/mol */
    uint32_t waters_inside[2]; /* in the sphere before the batch, and now */
    uint32_t waters_moved;     /* moves of the batch that the approximate energy accepted */
    uint32_t waters_pad;

    struct switch_course switching;

    /* steepest descent */
    uint32_t min_steps;     /* 0: nothing evaluated yet */
    uint32_t min_converged; /* largest force below tolerance, or the step can shrink no more */
    uint32_t min_rejected;  /* the trial broke a constraint: do not even look at its energy */
    uint32_t volume_fixed;  /* volume_scale stays as it is */
    double min_tolerance;   /* kJ/mol/nm */
    double min_step_size;   /* nm */
    double min_energy;      /* kJ/mol, of the best x */
    double min_max_force;   /* kJ/mol/nm, of the best x */
};

/* The first error wins. On the CPU a replica's kernels run on one thread; on a GPU the caller has one thread do it. */
MATH_FN void ctl_halt(struct ctl *c, uint32_t why, uint32_t where0, uint32_t where1, double value)
{
    if (c->halt)
        return;
    c->halt = why;
    c->where[0] = where0;
    c->where[1] = where1;
    c->value = value;
}

/* A coordination has values of 1 in every pair at most; this many times in one of math/fixed.h its sum is as fine as a
 * double. */
#define COORDINATION_UNITS 4096.0

MATH_FN double coordination_value_of(struct fixed_sum sum)
{
    return fixed_total(sum) / COORDINATION_UNITS;
}

MATH_FN double coordination_value(const struct ctl *c, uint32_t which)
{
    return coordination_value_of(c->coordination[which]);
}

/* Sum of the energy terms, kJ/mol. */
MATH_FN double ctl_potential(const struct ctl *c)
{
    return acc_potential(&c->sum);
}

/* Mapped memory of one replica: written by `report`, read by the host. `ticket` is written last, with release order.
 * Reports have their places in turn, so that work can be queued behind one that is yet to be read; each is followed by
 * energy_at_window. */
struct sim_report {
    uint64_t ticket; /* pieces of work that have come to their end, halted ones too */
    struct ctl ctl;
};

enum { SIM_REPORTS = 4 };

MATH_FN size_t report_bytes(int32_t nwindows)
{
    return sizeof(struct sim_report) + (size_t)nwindows * sizeof(struct fixed_sum);
}

/* Where the report with that ticket is; first: where they all are. */
MATH_FN struct sim_report *report_at(void *first, size_t bytes, uint64_t ticket)
{
    return (struct sim_report *)((char *)first + ticket % SIM_REPORTS * bytes);
}

MATH_FN struct fixed_sum *report_energies(struct sim_report *r)
{
    return (struct fixed_sum *)(r + 1);
}

#endif
