/* SPDX-License-Identifier: Apache-2.0
 *
 * A replica's state as bytes, and calls that wait for the device: reading positions and velocities, saving, loading.
 *
 * Saved: everything the future depends on and nothing else. Lists, forces and sums are left out: they follow, bit for
 * bit, from what is saved. Within a switch the state that production will go on from is saved, and where the switch is.
 * Counts of volume moves and of moves of waters are there for who asks how they went.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/checksum.h"
#include "engine/observe/observe.h"
#include "engine/run/sim_parts.h"

#define MAGIC "shoalsim"
#define VERSION 5
#define NO_SWITCH 4 /* the version before, which ends before what is said of switches and waters: read as none */
#define UNCOUNTED 3 /* the one before that, which ends before the counts of volume moves: read as none */

/* The switch that a replica is in. way: its doublings are in front of the lowest byte. */
struct saved_switch {
    uint32_t under_way, way, number, steps;
    struct fixed_sum work;
};

/* In front of the arrays x, v and, while minimizing, f_best: [natoms][3] doubles each. Within a switch that is the held
 * state, and another such head with x and v is where the switch is. What observables have accumulated comes last.
 * Native byte order; no padding. */
struct saved {
    char magic[8];
    uint32_t version, natoms;
    uint64_t checksum; /* of all that follows this field */
    uint64_t step, done, barostat_moves;
    double box[BOX_SIZE];
    double volume_scale;
    uint32_t barostat_tried, barostat_accepted;
    uint32_t pending, moving;
    uint32_t min_steps, min_converged;
    double min_step_size, min_energy, min_max_force;
    struct volume_moves counted;
    uint64_t water_batches;
    struct water_moves waters;
    struct saved_switch in_switch; /* of the first head */
};

static_assert(sizeof(struct saved) == 264, "struct saved has padding");

enum { WAY_BITS = 8, WAY_MASK = (1 << WAY_BITS) - 1 };

static const size_t summed_from = offsetof(struct saved, checksum) + sizeof(uint64_t);

/* ---- from the device ---- */

int sim_fetch(struct sim *s, struct err *e)
{
    const struct dev_ops *ops = s->model->dev->ops;
    const void *from[3] = {s->d.x, s->d.v, s->d.f_best};
    int rc = sim_send_ctl(s, e);
    if (rc == 0)
        rc = tables_listen(s, e); /* what was asked before is not forgotten */
    if (rc == 0)
        rc = tables_ask(s, e);
    if (rc == 0)
        rc = ops->copy_async(s->model->dev, s->lane, s->state, s->d.ctl, sizeof *s->state, e);
    for (int k = 0; k < (sim_heard(s)->ctl.min_steps ? 3 : 2) && !rc; k++)
        rc = ops->copy_async(s->model->dev, s->lane, sim_fetched_array(s, k), from[k], sim_array_bytes(s), e);
    if (rc == 0 && model_observed_bytes(s->model))
        rc = ops->copy_async(s->model->dev, s->lane, sim_fetched_array(s, 3), s->d.observed,
                             model_observed_bytes(s->model), e);
    if (rc == 0)
        rc = ops->mark(s->model->dev, s->lane, &s->fetch, e);
    if (rc) {
        sim_fail(s, e);
        return rc;
    }
    sim_memory_fetched(s);
    ops->watch(s->model->dev, s->lane, s->fetch.word, s->fetch.target);
    return 0;
}

/* Waits, unless it was fetched before. */
static int have_state(struct sim *s, struct err *e)
{
    int rc = sim_wait(s, e);
    if (rc || sim_memory_is_fetched(s))
        return rc;
    rc = sim_fetch(s, e);
    return rc ? rc : sim_wait(s, e);
}

static struct saved head_of(const struct sim *s, const struct ctl *c)
{
    struct saved head = {.version = VERSION,
                         .natoms = (uint32_t)s->model->sys->natoms,
                         .step = c->step,
                         .done = c->done,
                         .barostat_moves = c->barostat_moves,
                         .volume_scale = c->volume_scale,
                         .barostat_tried = c->barostat_tried,
                         .barostat_accepted = c->barostat_accepted,
                         .pending = c->pending,
                         .moving = c->moving,
                         .min_steps = c->min_steps,
                         .min_converged = c->min_converged,
                         .min_step_size = c->min_step_size,
                         .min_energy = c->min_energy,
                         .min_max_force = c->min_max_force,
                         .counted = c->counted,
                         .water_batches = c->water_batches,
                         .waters = c->waters};
    memcpy(head.magic, MAGIC, sizeof head.magic);
    memcpy(head.box, c->box, sizeof head.box);
    return head;
}

static uint32_t arrays_of(const struct saved *head)
{
    return head->min_steps ? 3 : 2;
}

/* The held state, up to what observables have accumulated, says where the switch is. */
static void add_held(const struct sim *s, const struct switch_course *at, struct buf *out)
{
    const struct saved_switch in_switch = {at->under_way, at->way | at->doublings << WAY_BITS, at->number, at->steps,
                                           at->work};
    const size_t first = out->len + offsetof(struct saved, in_switch);
    buf_add(out, s->held.data, s->held.len - model_observed_bytes(s->model));
    memcpy(out->data + first, &in_switch, sizeof in_switch);
}

int sim_copy_state(struct sim *s, struct buf *out, struct err *e)
{
    int rc = have_state(s, e);
    const struct ctl c = *s->state;
    if (rc == 0 && c.halt)
        rc = err_set(e, ERR_INTERNAL, "a halted replica has no state to save");
    if (rc)
        return rc;
    const struct saved head = head_of(s, &c);
    if (s->held.data)
        add_held(s, &c.switching, out);
    buf_add(out, &head, sizeof head);
    buf_add(out, sim_fetched_array(s, 0), arrays_of(&head) * sim_array_bytes(s));
    if (model_observed_bytes(s->model))
        buf_add(out, sim_fetched_array(s, 3), model_observed_bytes(s->model));
    return 0;
}

int sim_save(struct sim *s, struct buf *out, struct err *e)
{
    int rc = have_state(s, e);
    if (rc == 0)
        rc = sim_check(s, e);
    return rc ? rc : sim_copy_state(s, out, e);
}

const void *sim_saved_observable(const struct system *sys, const struct buf *saved, int i)
{
    size_t at = saved->len;
    for (int k = sys->nobservables; k-- > i;)
        at -= observe_bytes(&sys->observables[k]);
    return saved->data + at;
}

void sim_seal(struct buf *saved)
{
    uint64_t sum = checksum(saved->data + summed_from, saved->len - summed_from);
    memcpy(saved->data + offsetof(struct saved, checksum), &sum, sizeof sum);
}

static bool known_version(uint32_t version)
{
    return version >= UNCOUNTED && version <= VERSION;
}

/* Bytes in front of the arrays. */
static size_t head_bytes(const struct saved *head)
{
    if (head->version == UNCOUNTED)
        return offsetof(struct saved, counted);
    return head->version == NO_SWITCH ? offsetof(struct saved, water_batches) : sizeof *head;
}

static struct saved read_head(const void *data, size_t len)
{
    struct saved head = {0};
    if (len)
        memcpy(&head, data, len < sizeof head ? len : sizeof head);
    const size_t known = known_version(head.version) ? head_bytes(&head) : offsetof(struct saved, counted);
    memset((unsigned char *)&head + known, 0, sizeof head - known);
    return head;
}

struct volume_moves sim_saved_moves(const void *data, size_t len)
{
    return read_head(data, len).counted;
}

struct water_moves sim_saved_water_moves(const void *data, size_t len)
{
    return read_head(data, len).waters;
}

/* Bytes of a head with its arrays. */
static size_t part_bytes(const struct sim *s, const struct saved *head)
{
    return head_bytes(head) + arrays_of(head) * sim_array_bytes(s);
}

/* Bytes of all that is saved in front of what observables have accumulated, by the first head. */
static size_t expected_bytes(const struct sim *s, const struct saved *head)
{
    return part_bytes(s, head) + (head->in_switch.under_way ? sizeof *head + 2 * sim_array_bytes(s) : 0);
}

static int check_switch(const struct sim *s, const struct saved *head, struct err *e)
{
    const struct saved_switch *at = &head->in_switch;
    const int doublings = (int)(at->way >> WAY_BITS);
    if (at->under_way && (!s->model->schedule.n || (at->way & WAY_MASK) >= SWITCH_WAYS ||
                          doublings > s->model->set->switching.doublings))
        return err_set(e, ERR_CHECKPOINT, "state within a switch: the settings have none such");
    return 0;
}

/* Programs that wrote the versions before left maps of dihedrals (CMAP) of a tempered solute at full strength, so what
 * was sampled then is of other energies. */
static int check_maps(const struct system *sys, const struct saved *head, struct err *e)
{
    for (int i = 0; i < sys->ncmaps && head->version != VERSION; i++)
        if (sys->cmaps[i].share[0] != sys->cmaps[i].share[1])
            return err_set(e, ERR_UNSUPPORTED,
                           "state of version %u, in which CMAP of the tempered solute was at full strength: submit the "
                           "ensemble again",
                           head->version);
    return 0;
}

static int check_saved(const struct sim *s, const struct saved *head, const void *data, size_t len, struct err *e)
{
    if (len < head_bytes(head) || memcmp(head->magic, MAGIC, sizeof head->magic) != 0)
        return err_set(e, ERR_CHECKPOINT, "not the state of a replica (%zu bytes)", len);
    if (checksum((const unsigned char *)data + summed_from, len - summed_from) != head->checksum)
        return err_set(e, ERR_CHECKPOINT, "state with a wrong checksum");
    if (!known_version(head->version))
        return err_set(e, ERR_UNSUPPORTED,
                       "state of version %u, this program reads version %d: go on with the program that wrote it, "
                       "or submit the ensemble again",
                       head->version, VERSION);
    if (head->natoms != (uint32_t)s->model->sys->natoms)
        return err_set(e, ERR_CHECKPOINT, "state of %u atoms, the system has %d", head->natoms, s->model->sys->natoms);
    size_t expected = expected_bytes(s, head) + model_observed_bytes(s->model);
    if (len != expected)
        return err_set(e, ERR_CHECKPOINT, "state of %zu bytes, expected %zu", len, expected);
    int rc = check_maps(s->model->sys, head, e);
    return rc ? rc : check_switch(s, head, e);
}

static int write_array(struct sim *s, void *to, const unsigned char *from, size_t bytes, struct err *e)
{
    return bytes ? s->model->dev->ops->copy(s->model->dev, s->lane, to, from, bytes, e) : 0;
}

static void read_ctl(const struct saved *head, struct ctl *c)
{
    c->halt = HALT_NONE;
    c->trial = 0;
    c->step = head->step;
    c->done = head->done;
    c->barostat_moves = head->barostat_moves;
    memcpy(c->box, head->box, sizeof c->box);
    c->volume_scale = head->volume_scale;
    c->barostat_tried = head->barostat_tried;
    c->barostat_accepted = head->barostat_accepted;
    c->pending = head->pending;
    c->moving = head->moving;
    c->min_steps = head->min_steps;
    c->min_converged = head->min_converged;
    c->min_step_size = head->min_step_size;
    c->min_energy = head->min_energy;
    c->min_max_force = head->min_max_force;
    c->counted = head->counted;
    c->water_batches = head->water_batches;
    c->waters = head->waters;
}

/* The arrays behind a head become the replica's. */
static int load_arrays(struct sim *s, const struct saved *head, const unsigned char *at, struct err *e)
{
    void *to[3] = {s->d.x, s->d.v, s->d.f_best};
    int rc = 0;
    for (uint32_t k = 0; k < arrays_of(head) && rc == 0; k++)
        rc = write_array(s, to[k], at + head_bytes(head) + k * sim_array_bytes(s), sim_array_bytes(s), e);
    return rc;
}

int sim_load_state(struct sim *s, const void *data, size_t len, struct err *e)
{
    const struct saved head = read_head(data, len);
    const struct saved_switch *is = &head.in_switch;
    const unsigned char *end = (const unsigned char *)data + expected_bytes(s, &head);
    const unsigned char *at = (const unsigned char *)data + (is->under_way ? part_bytes(s, &head) : 0);
    const struct saved now = read_head(at, (size_t)(end - at));
    int rc = sim_wait(s, e);
    if (rc == 0)
        rc = write_array(s, s->d.observed, end, model_observed_bytes(s->model), e);
    if (rc == 0)
        rc = load_arrays(s, &now, at, e);
    if (rc)
        return rc;
    struct ctl *c = sim_edit_ctl(s);
    read_ctl(&now, c);
    if (is->under_way)
        sim_enter_switch(s, c,
                         &(struct switch_course){.under_way = 1,
                                                 .way = is->way & WAY_MASK,
                                                 .doublings = is->way >> WAY_BITS,
                                                 .number = is->number,
                                                 .steps = is->steps,
                                                 .work = is->work});
    else
        sim_leave_switch(s, c);
    return 0;
}

/* What is held by one that is saved within a switch. */
static void take_held(struct sim *s, const unsigned char *data, const struct saved *head)
{
    struct saved plain = *head;
    plain.in_switch = (struct saved_switch){0};
    buf_add(&s->held, &plain, sizeof plain);
    buf_add(&s->held, data + sizeof plain, arrays_of(head) * sim_array_bytes(s));
    buf_add(&s->held, data + expected_bytes(s, head), model_observed_bytes(s->model));
}

int sim_load(struct sim *s, const void *data, size_t len, struct err *e)
{
    const struct saved head = read_head(data, len);
    int rc = check_saved(s, &head, data, len, e);
    if (rc == 0)
        rc = sim_load_state(s, data, len, e);
    if (rc)
        return rc;
    buf_free(&s->held);
    if (head.in_switch.under_way)
        take_held(s, data, &head);
    return 0;
}

int sim_put(struct sim *s, const double (*x)[3], const double (*v)[3], const double box[BOX_SIZE], struct err *e)
{
    const struct dev_ops *ops = s->model->dev->ops;
    int rc = sim_wait(s, e);
    if (rc == 0)
        rc = ops->copy(s->model->dev, s->lane, s->d.x, x, sim_array_bytes(s), e);
    if (rc == 0 && v)
        rc = ops->copy(s->model->dev, s->lane, s->d.v, v, sim_array_bytes(s), e);
    if (rc)
        return rc;
    struct ctl *c = sim_edit_ctl(s);
    c->pending = 0;
    memcpy(c->box, box, sizeof c->box);
    return 0;
}

int sim_observe_read(struct sim *s, int i, void *out, struct err *e)
{
    const size_t *at = &s->model->observed_at[i];
    int rc = sim_wait(s, e);
    return rc ? rc : s->model->dev->ops->copy(s->model->dev, s->lane, out, sim_observed(s, i), at[1] - at[0], e);
}

int sim_get(struct sim *s, double (*x)[3], double (*v)[3], double box[BOX_SIZE], struct err *e)
{
    const struct dev_ops *ops = s->model->dev->ops;
    size_t bytes = (size_t)s->model->sys->natoms * sizeof *x;
    int rc = sim_wait(s, e);
    if (rc == 0 && v)
        rc = sim_sample_now(s, e);
    if (rc == 0 && x)
        rc = have_state(s, e);
    if (rc == 0 && x)
        memcpy(x, sim_fetched_array(s, 0), bytes);
    if (rc == 0 && v)
        rc = ops->copy(s->model->dev, s->lane, v, s->d.v_out, bytes, e);
    if (rc == 0 && box) /* where x is asked for, that in which x is */
        memcpy(box, x ? s->state->box : sim_heard(s)->ctl.box, sizeof s->state->box);
    return rc;
}
