/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside a replica, from below: its work (work.c); exchanges of windows (exchange.c), its disk (disk.c), whether volume
 * moves have room (volume.c); rows and frames (frames.c), phases (phase.c); checkpoints (checkpoints.c); what it takes
 * over (origin.c); where it goes on (restore.c); its switches (switches.c); its timesteps (dynamics.c); its story
 * (replica.c).
 */
#ifndef SHOAL_DAEMON_WORKER_REPLICA_INTERNAL_H
#define SHOAL_DAEMON_WORKER_REPLICA_INTERNAL_H

#include "daemon/worker/files/checkpoint.h"
#include "daemon/worker/replica/replica.h"
#include "daemon/worker/threads/jobs.h"

struct replica {
    struct replica_setup setup;
    char *directory, *folder, *origin;
    struct shared_model *shared;
    const struct spec *spec; /* the shared one, or `own` */
    struct spec own;         /* the shared one, with stages of its own that reach its target */
    struct stage *stages;    /* those; NULL: it goes as far as the spec says */
    struct sim *sim;
    struct shared_model *under; /* its own, held as long as there is the simulation: exchanges bring one of another
                                   device's */
    struct outputs outputs;
    struct job job;
    struct replica_frame {
        struct job job; /* its own: the replica goes on meanwhile */
        int64_t steps;  /* of the replica's clock */
        double time;    /* ps, in the outputs */
        double box[BOX_SIZE];
        bool begun, awaited; /* begun: x and the trajectory belong to the job */
    } frame;
    uint64_t stage, stage_step, index; /* index: of the last checkpoint */
    uint64_t salt;                     /* of its noise */
    uint64_t switches;                 /* that it has done, of a walker */
    int blown;                         /* switches that blew up since one did not */
    double *delta_u;                   /* [windows] */
    double (*x)[3], (*v)[3];           /* [atoms], for frames and the final file */
    struct buf state;                  /* of the last checkpoint made here; its memory is kept */
    uint64_t kept_stage, kept_step;    /* where the last checkpoint is */
    uint32_t walker;                   /* window in which its simulation began: exchanges bring others */
    struct agreed {
        bool keep, stop; /* at the last exchange: all make a checkpoint, and end with it */
    } agreed;
    uint64_t meeting;        /* of its set that it waits in; 0: none */
    const uint64_t *offered; /* [noffered] meetings before its checkpoints */
    int noffered;
    uint64_t common;                 /* meetings before the checkpoint that all go on from */
    int origin_window;               /* what its origin was of; -1: it has none, or it is not known */
    uint64_t origin_at;              /* steps of the checkpoint there that it goes on from; UINT64_MAX: the newest */
    bool narrow_told;                /* that its box is too narrow, in this stage */
    bool stop, at_gate, lets_others; /* lets_others: it goes on whatever its work does */
    unsigned load_period;            /* the last in which it was counted */
    double step_seconds;             /* wall clock of a step in the last batch, 0: not known */
    int grown;                       /* buffers, since a step was done */
    double reported;                 /* wall clock of the last progress report */
    double saved;                    /* wall clock of the last checkpoint */
};

#define REPLICA_STATE_HEAD 4096                 /* bytes of a state beside those of its atoms, at most */
#define REPLICA_FLUSH_BYTES ((size_t)256 << 10) /* rows that wait for the disk, at most about */

/* What a stage returns where the replica is to stop: a checkpoint was made. */
enum { REPLICA_STOPPED = 1 };

int replica_submit(struct replica *r, enum sim_work kind, uint32_t n, struct err *e);
/* Until the oldest work is done; others go on meanwhile. */
void CO_FN replica_wait(struct replica *r);
/* Goes on once all others that can have done so. */
void CO_FN replica_let_others(struct replica *r);
/* A buffer has grown after so many steps of a piece of work. ERR_OVERFLOW where that happens again and again. */
int replica_grew(struct replica *r, uint32_t done, struct err *e);
/* As many steps as fit into a batch in which so many are on their way already, a multiple of `unit` and at most `most`;
 * 0 where it is full. */
uint32_t replica_batch(const struct replica *r, uint64_t most, uint64_t ahead, uint32_t unit);
/* n steps, of `time` ps together, have taken so long. */
void replica_timed(struct replica *r, double seconds, uint32_t n, double time);
/* Writes rows and tells of progress when it is time to. */
int CO_FN replica_progress(struct replica *r, struct err *e);
/* The timesteps of a stage, with all that happens between them. REPLICA_STOPPED. */
int CO_FN replica_dynamics(struct replica *r, const struct stage *stage, struct err *e);
/* Makes a checkpoint, with which the stage ends where the replica is to stop. REPLICA_STOPPED. */
int CO_FN replica_save_or_stop(struct replica *r, struct err *e);

/* Whether a switch comes before anything else after `step` steps of the stage at hand. */
bool replica_switch_due(const struct replica *r, uint64_t step);
/* Makes the switch that is due, or what is left of it, and notes its work; the replica is where it was before.
 * REPLICA_STOPPED. */
int CO_FN replica_switch(struct replica *r, struct err *e);
/* How often the switch of that number is twice as long as the first, which are as long as the spec says. */
int replica_doublings(const struct replica *r, uint64_t number);
/* Removes files of switches that the checkpoint does not have, which it goes on from. */
int CO_FN replica_drop_slopes(struct replica *r, struct err *e);
/* Volume moves: when a stage begins or is taken up again, after each of them, and when the stage is over. An event
 * (narrow) says where the box has no room for them (engine/system/volume_moves.h): once it is so, and at the end with
 * all counted. */
void replica_begin_moves(struct replica *r, const struct stage *stage);
void replica_moved(struct replica *r);
void replica_end_moves(struct replica *r);

/* Has the state copied from the device; others go on meanwhile. */
int CO_FN replica_fetch(struct replica *r, struct err *e);
/* Fills in where it is and tells the listener. */
void replica_report(const struct replica *r, struct replica_report what);
void replica_report_event(const struct replica *r, const char *kind, const struct err *why);
/* Steps from the start of production to where the replica is; negative during equilibration. */
int64_t replica_clock_steps(const struct replica *r);

/* Takes r->shared's spec, with the replica's own target. ERR_CONFLICT. */
int replica_take_spec(struct replica *r, struct err *e);

/* The row of alchemy.windows that it is in, as its model has them. */
static inline int replica_row(const struct replica *r)
{
    return spec_row(r->spec, r->setup.window);
}
/* What its simulation's random streams are keyed by: that of the replica of the window in which it began. */
uint32_t replica_random_key(const struct replica *r);
/* Whose checkpoints are its own. */
static inline struct checkpoint_owner replica_owner(const struct replica *r)
{
    return (struct checkpoint_owner){r->setup.ensemble, r->spec->settings.integrator.seed, r->setup.replica};
}
/* Whether it exchanges windows with others after `step` steps of its stage: checkpoints are made together. */
bool replica_exchanging(const struct replica *r, uint64_t step);
/* Its simulation is told that it is in the replica's window now, and whose it is. */
void replica_place(struct replica *r);

/* A job of the replica's, once its last frame is written. */
int CO_FN replica_on_disk(struct replica *r, int (*fn)(void *arg, struct err *e), void *arg, struct err *e);
static inline uint64_t replica_atoms(const struct replica *r)
{
    return (uint64_t)r->shared->system.natoms;
}
/* Of what a job makes for a file of the replica's. ERR_MEMORY. */
int replica_memory_for(const struct replica *r, const char *file, const char *what, uint64_t bytes, struct err *e);
/* Locks the folder, waiting for a worker that was killed to let go of it. ERR_BUSY. */
int CO_FN replica_lock(struct replica *r, struct err *e);
/* Asks for what the replica takes as long as it lives, and takes what must not fail later on the thread that feeds the
 * device: for rows and the state. No job, though it reads files: of those that begin together each must see what the
 * one before has taken. ERR_MEMORY. */
int replica_memory(struct replica *r, struct err *e);
/* Takes up the newest good checkpoint, else the beginning, which gives the same bytes; an older one for a new salt. */
int CO_FN replica_restore(struct replica *r, struct err *e);
/* A simulation of the model at hand, on the device where the window began. */
int replica_simulate(struct replica *r, struct err *e);
/* There is none any more, and no hold on its model. */
void replica_drop_sim(struct replica *r);
/* The model and a simulation of the phase of a stage, where those at hand are of another. */
int CO_FN replica_enter(struct replica *r, uint64_t stage, struct err *e);
/* Targets move. A checkpoint of the end is one of the last stage, where the replica's target has become later since;
 * one beyond the target, made before that was known, is where it ends. */
void replica_fit_target(struct replica *r, struct checkpoint *c);
/* It is where the checkpoint is. */
void replica_go_on_from(struct replica *r, const struct checkpoint *c);
/* Its files, each cut to its offset. */
int CO_FN replica_open_at(struct replica *r, const uint64_t *offset, struct err *e);
/* Its files, empty but for the header of dhdl.xvg, which is pending. */
int CO_FN replica_open_files(struct replica *r, struct err *e);
/* Goes on from where the samples in r->origin end, with rows of their frames; a checkpoint is made. *found false: there
 * are none. REPLICA_STOPPED: nothing is kept yet. */
int CO_FN replica_take_over(struct replica *r, bool *found, struct err *e);
/* Before that, of a set that exchanges windows: from where all of it go on, and what their windows were. */
int CO_FN replica_agree_on_origin(struct replica *r, struct err *e);
/* Goes on from the checkpoint just made with the model of the stage that begins. */
int CO_FN replica_next_phase(struct replica *r, struct err *e);
/* Makes a checkpoint here. */
int CO_FN replica_save(struct replica *r, struct err *e);
/* The same, once all replicas that exchange windows with it make one; a replica without exchange does not wait.
 * REPLICA_STOPPED: not all have. */
int CO_FN replica_save_together(struct replica *r, struct err *e);
/* Whether the spec wants one after `step` steps of the stage at hand. */
bool replica_save_due(const struct replica *r, uint64_t step);
/* Copies the positions; they are compressed and written while the replica goes on. */
int CO_FN replica_frame(struct replica *r, struct err *e);
/* Waits for the last frame. Every end of the story is behind this. */
int CO_FN replica_finish_frame(struct replica *r, struct err *e);
/* Writes pending rows. */
int CO_FN replica_flush(struct replica *r, struct err *e);
/* r->x and, where wanted, r->v into a .gro file of the replica's folder. */
int CO_FN replica_write_gro(struct replica *r, const char *name, bool velocities, const double box[BOX_SIZE],
                            struct err *e);
/* Whether work failed because of what the atoms do. */
bool replica_blew_up(const struct err *e);
/* After work that failed because of what the atoms do (ERR_NONFINITE, ERR_CONSTRAINT, ERR_OVERFLOW): *e becomes what
 * blew up, when, in which stage, where its coordinates are and what the usual causes are. Any other *e stays. */
void CO_FN replica_blown_up(struct replica *r, struct err *e);
/* Writes the final coordinates. */
int CO_FN replica_write_final(struct replica *r, struct err *e);

#endif
