/* SPDX-License-Identifier: Apache-2.0
 *
 * One replica on one device. Work is submitted and runs asynchronously; the caller waits until sim_done() (the worker
 * does it by yielding its coroutine), then asks for the outcome. A model (system + settings, read-only on the device)
 * is shared by all replicas of an ensemble.
 *
 * Every submit goes through a recorder: a tape is emitted, run, built into a graph, replayed and periodically
 * re-captured; but for timesteps of tiny systems, of which many replicas' go in one launch (engine/run/gang.h).
 */
#ifndef SHOAL_ENGINE_RUN_SIM_H
#define SHOAL_ENGINE_RUN_SIM_H

#include "engine/system/sample.h"
#include "engine/system/settings.h"
#include "engine/system/system.h"
#include "engine/system/volume_moves.h"
#include "engine/system/water_moves.h"
#include "engine/base/buf.h"
#include "graphs/remote_dev.h"

struct model;
struct sim;

/* Opens a device (graphs/dev.h names them) with the engine's kernels for it. */
int engine_open(struct dev **out, const char *name, struct err *e);

/* Submits the work of replicas of this device that wait for a gang to fill. To be called before any wait for replicas.
 */
void engine_flush(struct dev *dev);

/* Uploads the read-only part. `sys` and `set` are borrowed for the model's lifetime. Checks that they fit together
 * (cut-off below half the box, known decoupled molecule, ...): ERR_UNSUPPORTED, ERR_TOPOLOGY, ERR_SPEC. */
int model_new(struct model **out, struct dev *dev, const struct system *sys, const struct settings *set, struct err *e);
/* The same from any other thread than the device's, which goes on meanwhile: all but the calls of the device happens
 * here. */
int model_new_apart(struct model **out, struct dev *dev, const struct dev_owner *owner, const struct system *sys,
                    const struct settings *set, struct err *e);
void model_free(struct model *m);
/* Bytes of the host's memory that observables and biases of each replica compute in; 0 where the device has memory of
 * its own. */
size_t model_host_work(const struct model *m);
/* The first constraint whose length differs between windows, with its atoms and lengths; NULL: all keep theirs. */
const char *model_stretched(const struct model *m);
/* How replicas of the model go about timesteps, FORM_GANG or FORM_GRAPH, and the mesh: PME_BLOCK or PME_CARD; PME_AUTO:
 * there is none, or one way only on such a device. */
struct model_forms {
    enum step_form step;
    enum pme_form pme;
};
struct model_forms model_forms(const struct model *m);
/* *form: the form of PME that timings compiled into the program expect to be faster with `in_flight` replicas on the
 * device, of whatever models. A new model begins with the form for its whole ensemble. False: the device has only one
 * form. */
bool model_pme_guess(const struct model *m, int in_flight, enum pme_form *form);
/* From now on the mesh goes this way, one of the two that model_pme_guess names: each replica changes over, in a new
 * epoch, with the next work that finds nothing of its own in flight. The same bits. */
void model_set_pme(struct model *m, enum pme_form form);
/* A replica has found that the read-only tables were corrupted: no replica of this model goes on, a new model is
 * needed. */
bool model_damaged(const struct model *m);

/* Bytes that a device would have to hold. */
struct model_sizes {
    size_t tables;  /* once for all replicas */
    size_t replica; /* each, as sim_device_bytes says of one that is new; lists that turn out too short become a fifth
                       longer */
};
/* What a model would take of the device of that name ("cuda:0") and of each of its replicas, found without the device:
 * of that only its limits are needed. Errors are those of model_new; ERR_DEVICE: this program was built without such
 * devices.
 */
int model_sizes(const char *device, const struct dev_limits *limits, const struct system *sys,
                const struct settings *set, struct model_sizes *out, struct err *e);

/* A replica in window `window`, at the system's coordinates and (if any) velocities, its own lane and arena.
 * Random streams are keyed by the settings' seed and `replica`. */
int sim_new(struct sim **out, struct model *m, int window, uint32_t replica, struct err *e);
void sim_free(struct sim *s);
/* Changes every random number still to come, for a replica that must not do again what it did; 0: those of the seed
 * alone. Not part of the saved state. While nothing is in flight. */
void sim_salt(struct sim *s, uint32_t salt);

/* From now on it is in another window, as the replica whose random streams it has then: the lambda row of its control
 * block. While nothing is in flight. */
void sim_place(struct sim *s, int window, uint32_t replica);
/* To be called before replicas of one model, or of models of one system on several devices, are exchanged: sim[w] is in
 * window w, and sim[from[w]] will be. Accumulated observables belong to windows, so they are copied to the replica that
 * moves in. While nothing is in flight in any of the n; waits for copies between devices. */
int sim_hand_observed(struct sim *const *sim, const int *from, int n, struct err *e);

/* Whether volume moves adapt their size to how often they are accepted, as they do from the start. Not part of the
 * saved state, the size is. While nothing is in flight. */
void sim_tune_volume(struct sim *s, bool tune);
/* Counts volume moves and moves of waters from none again; the counts are part of the saved state. While nothing is in
 * flight. */
void sim_count_moves(struct sim *s);
/* Since then, at the outcome that was asked for last. */
struct volume_moves sim_volume_moves(const struct sim *s);
struct water_moves sim_water_moves(const struct sim *s);
/* How wide the box is then, and how wide volume moves leave it at least, as this device measures it: nm. */
struct box_room {
    double width, least;
};
struct box_room sim_box_room(const struct sim *s);

enum sim_work {
    SIM_MINIMIZE, /* n steepest-descent steps (later ones do nothing once converged) */
    SIM_STEP,     /* n timesteps of the integrator (with COM removal at its interval), to the end of a mesh_cycle() */
    SIM_SAMPLE,   /* n = 1: energies, virial, dU/dlambda and U at every window of the current state */
    SIM_BAROSTAT, /* n Monte Carlo volume moves */
    SIM_WATERS,   /* n batches of exchange of waters, where the settings have it */
    SIM_KICK,     /* n = 1: half of the next timestep's kick, for velocities at the time of the positions: before
                     replicas exchange windows (sim_place), where the settings have that */
    SIM_OBSERVE,  /* n = 1: the current state is a frame for the system's observables, for those of this step */
    SIM_REPORT,   /* the engine's own, at the end of each of these; */
    SIM_PREPARE,  /* this in front of timesteps that come after anything else; */
    SIM_INNER,    /* and this, a timestep without the mesh, where a mesh_cycle() was interrupted */
    SIM_SWITCH,   /* n timesteps as of SIM_STEP, of the switch that is under way (sim_switch_begin) */
    SIM_WORK_COUNT
};
/* What tapes of such work say that they are (tape.work). */
static inline uint32_t sim_work_label(enum sim_work work)
{
    return (uint32_t)work + 1;
}
/* Whether more work may be submitted now: some, behind work whose outcome was not asked for yet, unless the replica
 * is in a gang, another way of the mesh is due or there are more lanes than the device has queues. */
bool sim_room(const struct sim *s);
/* Asynchronous; engine_flush() comes before any wait. Work is done in order. ERR_DRIFT and ERR_DEVICE are fatal for
 * this replica. */
int sim_submit(struct sim *s, enum sim_work work, uint32_t n, struct err *e);
/* True when the oldest work whose outcome was not asked for has finished, or halted with all that is behind it. Cheap;
 * reads mapped memory. */
bool sim_done(const struct sim *s);

enum sim_outcome { SIM_OK = 0, SIM_GROW = 1 };
/* Of that work, once it is done; what is asked below is about it then. SIM_OK; SIM_GROW: a list overflowed, the replica
 * stopped cleanly before the affected step, its buffers have been grown and a new epoch declared: submit the remaining
 * steps (sim_steps_done counts) and all that was queued behind them again. Negative: ERR_NONFINITE, ERR_CONSTRAINT,
 * ERR_OVERFLOW with step, atom and value. */
int sim_outcome(struct sim *s, struct err *e);
/* Steps of the SIM_MINIMIZE/SIM_STEP submit that were carried out. */
uint32_t sim_steps_done(const struct sim *s);
/* A minimization goes on from where the last one stopped, also after sim_load, until a timestep or sim_thermalize.
 * After SIM_MINIMIZE: largest force (kJ/mol/nm) and whether it is below the tolerance or no further step helps. */
void sim_minimize_setup(struct sim *s, double force_tolerance);
bool sim_minimized(const struct sim *s, double *max_force, double *potential);

/* ---- non-equilibrium switches, of a model whose settings have one (struct switch_settings) ---- */

/* Holds the state as it is now, and prepares a switch from it: SIM_SWITCH then takes lambda from the window that the
 * replica is in, which must be an end, to the other end. `doublings`: how often it is twice as long, of those of the
 * settings. Its random numbers are its own: they follow from seed, replica, way and `number`, and no other switch nor
 * production has them. While nothing is in flight, after whole mesh_cycle()s; waits for what was not fetched
 * (sim_fetch). ERR_INTERNAL: the settings have no such switch, one is under way, or the replica is in another window.
 */
int sim_switch_begin(struct sim *s, enum switch_way way, int doublings, uint32_t number, struct err *e);
/* The state that was held is the replica's again, and production goes on bit by bit as if there had been no switch,
 * wherever in its course this is left. While nothing is in flight. ERR_INTERNAL: none is under way. */
int sim_switch_end(struct sim *s, struct err *e);
/* The same for a new simulation, where the switch has failed and this one is of no use any more: the state that was
 * held becomes the caller's, to be sealed and loaded there (sim_seal, sim_load). Only sim_free is left. */
struct buf sim_switch_rescue(struct sim *s);

/* A switch at the outcome that was asked for last. */
struct sim_switch {
    bool under_way; /* false: the rest means nothing */
    enum switch_way way;
    uint32_t number, steps, steps_left; /* timesteps done, and to be done; 0 left: it has arrived */
    double work;                        /* on the system so far, kJ/mol */
};
/* Work is done while positions stay, change by change, each in the middle of a timestep's kick; after `steps` timesteps
 * every change so far is in it. SIM_BAROSTAT goes between multiples of switch_settings.every timesteps: volume moves do
 * no work. SIM_GROW leaves timesteps to be submitted again, as of SIM_STEP. A state that is saved within a switch has
 * the held one too, and a replica that loads it is within the switch. */
struct sim_switch sim_switch(const struct sim *s);

/* After SIM_SAMPLE finished. */
void sim_sample(const struct sim *s, struct sample *out);
/* Forces of the last SIM_SAMPLE, [natoms][3] kJ/mol/nm. After a timestep that halted they are of the last evaluation in
 * device memory, which may be that of the step. */
int sim_forces(struct sim *s, double (*f)[3], struct err *e);

/* Maxwell velocities at the settings' temperature obeying the constraints (Philox stream of its own); constraints
 * applied to positions first. Synchronous. */
int sim_thermalize(struct sim *s, struct err *e);
/* Makes the state one that a replica of another model of the same atoms can go on from (sim_save, sim_load): velocities
 * at the time of the positions, and nothing left of a minimization. Synchronous. */
int sim_part(struct sim *s, struct err *e);
/* Copies the state to the host's side; sim_done says when it has arrived. Until there is more work sim_save, and
 * sim_get of positions and box, take it from there and wait for nothing. While nothing is in flight. */
int sim_fetch(struct sim *s, struct err *e);
/* Positions (whole molecules, not wrapped), velocities, box. Waits for what was not fetched; any of the pointers may be
 * NULL. */
int sim_get(struct sim *s, double (*x)[3], double (*v)[3], double box[BOX_SIZE], struct err *e);
/* Other positions, [natoms], and box in place of those that there are: for a sample of them; other velocities too,
 * unless v is NULL. While nothing is in flight. */
int sim_put(struct sim *s, const double (*x)[3], const double (*v)[3], const double box[BOX_SIZE], struct err *e);
uint64_t sim_step_number(const struct sim *s); /* timesteps since the replica began, over all stages */

/* The exact state as bytes, into `out`, which is empty, and back: continuing from it gives the same bits as not
 * stopping. The blob carries version, atom count and checksum; sim_load: ERR_CHECKPOINT when they do not fit,
 * ERR_UNSUPPORTED for a whole one of another version. sim_save waits for what was not fetched, checks and copies;
 * sim_seal, from any thread, puts in the checksum. */
int sim_save(struct sim *s, struct buf *out, struct err *e);
void sim_seal(struct buf *saved);
/* In the bytes of sim_save: what observable i has accumulated, as of sim_observe_read. */
const void *sim_saved_observable(const struct system *sys, const struct buf *saved, int i);
/* The counts of volume moves, and of moves of waters, in whole saved bytes; none in those of a version that had none,
 * or that is not known. */
struct volume_moves sim_saved_moves(const void *data, size_t len);
struct water_moves sim_saved_water_moves(const void *data, size_t len);
int sim_load(struct sim *s, const void *data, size_t len, struct err *e);

/* What observable i of the system has accumulated: observe_bytes() of it, to be read with engine/observe/observe.h.
 * Waits for everything submitted. */
int sim_observe_read(struct sim *s, int i, void *out, struct err *e);

/* What each launch of a piece of such work takes, one after another and in the order of the tape: all of it is done
 * `repeats` + 1 times more, so the state is of no use afterwards. */
int sim_launch_times(struct sim *s, enum sim_work work, uint32_t repeats,
                     void (*each)(void *ctx, const char *kernel, double seconds), void *ctx, struct err *e);

/* Kernel nodes of a timestep, by the live SIM_STEP tape; the mean of a mesh_cycle(), rounded up; 1 where there is a
 * gang.
 */
uint32_t sim_nodes_per_step(const struct sim *s);
size_t sim_device_bytes(const struct sim *s);

#endif
