/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the engine: what a sim is made of (sim.c: life and work; recorders.c: its tapes; state_file.c: bytes in and
 * out; velocities.c: new ones; switches.c: non-equilibrium switches; exchange.c: observables that change hands;
 * sample.c: what it says of its work; table_guard.c: whether the tables of the model are still what they were;
 * sim_states.c: the states of its work and of its memory).
 */
#ifndef SHOAL_ENGINE_RUN_SIM_PARTS_H
#define SHOAL_ENGINE_RUN_SIM_PARTS_H

#include "engine/run/gang.h"
#include "engine/run/model.h"
#include "engine/run/sim_states.h"
#include "graphs/recorder.h"

/* Device addresses inside a replica's arena. What is needed to go on after the arena grew lies in front of `f`. */
struct sim_arrays {
    struct ctl *ctl;
    double (*x)[3], (*v)[3], (*x_old)[3];
    double (*f_best)[3];     /* while minimizing */
    void *observe_work;      /* of program.observe_work */
    unsigned char *observed; /* what observables have accumulated, one after the other */
    int64_t (*f)[3];
    double (*v_out)[3];
    double *w;                          /* [3 natoms + 1], scratch */
    struct fixed_sum *energy_at_window; /* [nwindows] */
    void *bias_sums;                    /* engine/kernels/biases.h */
    void *bias_work;                    /* of program.bias_work */
    void *nonbonded;                    /* program->block_bytes() */
};

enum { SPAN_ARENA, SPAN_SHARED, SPAN_NONBONDED, SPAN_MAPPED, SPAN_COUNT };

struct sim;

/* The question whether the model's tables are what they were (table_guard.c). */
struct tables_check {
    struct tape ask;
    const uint64_t *digests; /* mapped: the answer; host address */
    bool asked;              /* and not looked at yet */
    struct mark answered;
    uint64_t asked_at; /* clock.steps */
};

/* A tape of one kind of work. */
struct sim_recorder {
    struct sim *sim;
    enum sim_work work;
    struct recorder *recorder; /* NULL: gangs do such work */
};

struct sim {
    struct model *model;
    struct lane *lane;
    struct list_caps caps;
    enum pme_form pme; /* of this epoch's launches */
    struct sim_arrays d;
    size_t arena_bytes, kept_bytes; /* kept: in front of `f` */
    struct sim_report *reports;     /* host address of mapped memory: SIM_REPORTS with their energies, then `state` */
    struct buf held;                /* production's state, of sim_copy_state, while a switch is under way; else empty */
    uint64_t seed;                  /* production's random-number key */
    struct ctl *state; /* the state as it was fetched last: x, v, while minimizing f_best, and what observables have
                          accumulated follow it */
    struct mark fetch; /* that it has arrived */
    void *report_device;
    size_t mapped_bytes;
    struct span spans[SPAN_COUNT];
    struct sim_recorder tapes[SIM_WORK_COUNT];
    struct sm work;   /* enum sim_work_state */
    struct sm memory; /* enum sim_memory_state */
    struct gang_member gang;
    struct recorder_clock clock; /* replica steps, of which checks are due every so many */
    struct tables_check tables;
    struct echo *echo;
    uint64_t submitted;   /* tickets asked for */
    uint64_t heard;       /* tickets whose outcome was asked for; the last of them is the one that answers are about */
    uint64_t step_after;  /* timesteps since the replica began, once all that was submitted is done */
    uint64_t done_before; /* ctl.done before that one */
    double min_tolerance;
    struct err
        failure; /* code ERR_NONE, or why a submit failed: how much is in flight is unknown, only sim_free is left */
};

/* Where things lie: once with a measuring arena, once with the allocation. Sets s->d and s->kept_bytes. */
void sim_lay_out(struct sim *s, struct arena *a);
/* Of the memory that a replica shares with the host. */
size_t sim_mapped_bytes(const struct sim *s);
/* Of one array of the state. */
static inline size_t sim_array_bytes(const struct sim *s)
{
    return (size_t)s->model->sys->natoms * sizeof *s->d.x;
}

/* Array k of the state that was fetched: x, v, f_best, and what observables have accumulated. Host address. */
static inline unsigned char *sim_fetched_array(const struct sim *s, int k)
{
    return (unsigned char *)(s->state + 1) + (size_t)k * sim_array_bytes(s);
}

/* Where such an evaluation adds up the energies at foreign rows of lambda (struct foreign_rows): device
 * address. */
static inline struct fixed_sum *sim_foreign_energies(const struct sim *s, enum evaluate mode)
{
    return mode == EVALUATE_SWITCH ? s->d.ctl->switching.at_row : s->d.energy_at_window;
}

/* What observable i has accumulated: device address. */
static inline void *sim_observed(const struct sim *s, int i)
{
    return s->d.observed + s->model->observed_at[i];
}

/* What the launches of a frame of one observable read: arguments of its kernels have the names of these members. */
struct observe_frame {
    const struct observable *o;
    const void *plan; /* struct observe_kind */
    void *ctl, *x, *v, *v_out, *seen;
    const void *motion, *table;
    void *work;                 /* where it computes, struct observe_launches.work */
    double freedom, kt, regain; /* struct center_rule */
    uint32_t every, pad_;       /* the same */
};

static inline struct observe_frame sim_observe_frame(const struct sim *s, int i, void *work)
{
    const struct model *m = s->model;
    return (struct observe_frame){.o = &m->sys->observables[i],
                                  .plan = m->observe_plan[i],
                                  .ctl = s->d.ctl,
                                  .x = s->d.x,
                                  .v = s->d.v,
                                  .v_out = s->d.v_out,
                                  .motion = m->motion,
                                  .table = m->observed[i],
                                  .seen = sim_observed(s, i),
                                  .work = work,
                                  .freedom = m->center.freedom,
                                  .kt = m->center.kt,
                                  .regain = m->center.regain,
                                  .every = m->center.every};
}

/* How a program computes a kind of observable. */
struct observe_launches {
    void (*emit)(const struct observe_frame *f, struct tape *t); /* the launches of a frame, behind its begin */
    /* How many these are at most; NULL: as many as the program says. */
    uint32_t (*count)(const struct observable *o, const void *plan);
    size_t (*work)(const struct observable *o, const void *plan); /* bytes that it computes in; NULL: none */
    /* Of program.observe_open and observe_close, for one observable; table: struct observe_table, a device address.
     * NULL: nothing. */
    int (*open)(struct dev *dev, struct lane *lane, void *plan, const void *table, struct err *e);
    void (*close)(void *plan);
};

/* `digests`: device and host address of model_chunks() words of mapped memory. ERR_INTERNAL, ERR_DRIFT. */
int tables_open(struct sim *s, uint64_t *device, const uint64_t *host, struct err *e);
void tables_close(struct sim *s);
/* Asks, in the replica's lane. */
int tables_ask(struct sim *s, struct err *e);
/* The same when enough steps have passed and no answer is out. */
int tables_ask_if_due(struct sim *s, struct err *e);
/* Looks at the answer if it has come. ERR_DRIFT, also where another replica has found it. */
int tables_listen(struct sim *s, struct err *e);
/* Waits for the answer to what was asked, or asks. While nothing is in flight. */
int tables_check(struct sim *s, struct err *e);

/* ---- state_file.c, switches.c ---- */
/* As sim_save and sim_load, without a look at tapes and tables, and at what is loaded: bytes of the one for the other.
 */
int sim_copy_state(struct sim *s, struct buf *out, struct err *e);
int sim_load_state(struct sim *s, const void *data, size_t len, struct err *e);

/* ---- recorders.c ---- */
/* A recorder for each kind of work that the program has; timesteps of a tiny system go by gangs. DEV_FULL as
 * dev_ops.alloc. */
int sim_new_recorders(struct sim *s, struct err *e);
void sim_free_recorders(struct sim *s);
/* `n` pieces of work, what has to prepare them, and the report of the last. Errors as of recorder_submit. */
int sim_submit_recorded(struct sim *s, enum sim_work work, uint32_t n, struct err *e);
/* Every tape, and its place in a gang. ERR_DRIFT. */
int sim_check_recorders(struct sim *s, struct err *e);
/* Memory has moved, or work goes another way: tapes may differ from now on. */
void sim_begin_epoch(struct sim *s);

/* Every tape and the model's tables are checked now. Only while nothing is in flight. */
int sim_check(struct sim *s, struct err *e);
/* The report that answers are about. */
struct sim_report *sim_heard(const struct sim *s);
/* One more piece of work is on its way, in the lane or a gang. */
void sim_await(struct sim *s);
/* Waits for everything submitted; answers are about the last of it. */
int sim_wait(struct sim *s, struct err *e);
/* The control block to be written to, between works: that of the last report. It goes to the device with what is
 * submitted next. */
struct ctl *sim_edit_ctl(struct sim *s);
/* Makes it that of a switch after at->steps timesteps, or of production: lambda, and the key of random numbers. */
void sim_enter_switch(const struct sim *s, struct ctl *c, const struct switch_course *at);
void sim_leave_switch(const struct sim *s, struct ctl *c);
/* Sends what was written there: before anything that reads it. */
int sim_send_ctl(struct sim *s, struct err *e);
/* Velocities at the time of x come with a sample. */
int sim_sample_now(struct sim *s, struct err *e);

#endif
