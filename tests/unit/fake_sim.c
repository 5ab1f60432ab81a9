/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fake_sim.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/worker/files/outputs.h"
#include "engine/run/ctl.h"

enum { KILLED = 9 }; /* exit code of a process that died where it was told to */

struct fake fake;

static pthread_t feeder; /* the thread that made the last simulation */

void fake_expect_a_job(void)
{
    if (pthread_equal(pthread_self(), feeder))
        abort();
}

/* What a piece of work leaves for whoever asks for its outcome. */
struct fake_report {
    uint64_t step, hash;
    struct volume_moves counted;
    uint32_t done;
    enum sim_outcome outcome;
    bool failed;
};

/* A switch: what is held, and how far it is. */
struct fake_switch {
    uint64_t under_way, way, number, steps;
    uint64_t step, hash; /* held */
    struct volume_moves counted;
    uint64_t salt; /* a switch is of one noise */
    uint64_t doublings;
};

struct sim {
    uint64_t step, hash, converging;
    struct volume_moves counted;
    struct fake_switch driven;
    struct shared_model *model;
    uint32_t replica, salt;
    int window, wait;
    bool grown, halted, tuned, kicked;
    struct fake_report queue[SIM_REPORTS], heard; /* oldest first; of the last whose outcome was asked for */
    int queued;
};

/* The state is not to be touched while work is on its way. */
static void expect_idle(const struct sim *s)
{
    if (s->queued)
        abort();
}

static uint64_t mix(uint64_t h, uint64_t with)
{
    h = (h ^ with) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* Every call is a place where a kill -9 may come. */
static void call(void)
{
    char dhdl[256];
    snprintf(dhdl, sizeof dhdl, "%s/lambda_00/%s", fake.directory, output_names[OUTPUT_DHDL]);
    if (fake.empty_at_call && fake.calls + 1 == fake.empty_at_call && truncate(dhdl, 0))
        abort();
    if (++fake.calls != fake.die_at_call)
        return;
    for (int i = 0; i < OUTPUT_COUNT * fake.spec.settings.alchemy.nwindows; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/lambda_%02d/%s", fake.directory, i / OUTPUT_COUNT,
                 output_names[i % OUTPUT_COUNT]);
        FILE *f = fopen(path, "ab");
        if (f) {
            fputs("1.0000 half a r", f);
            fclose(f);
        }
    }
    _exit(KILLED);
}

bool fake_survives(int k, bool (*run)(const void *what), const void *what)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        fake.calls = 0;
        fake.die_at_call = k;
        _exit(run(what) ? 0 : 1);
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
        (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != KILLED))
        abort();
    return WEXITSTATUS(status) == 0;
}

enum { PHASES = 3 };

/* A model is known by its device and its phase. */
int models_get(struct models *m, struct jobs *jobs, struct job *job, const char *directory, int ladder, uint64_t stage,
               struct shared_model **out, struct err *e)
{
    (void)jobs, (void)job, (void)directory, (void)ladder, (void)e;
    static struct shared_model of_phase[2][PHASES];
    int phase = spec_phase(&fake.spec, stage);
    struct shared_model *s = *out = &of_phase[m->dev == &fake_other_dev][phase];
    if (!s->holders)
        *s = (struct shared_model){.state = MODEL_READY,
                                   .dev = m->dev,
                                   .spec = &fake.spec,
                                   .phase = phase,
                                   .settings = fake.spec.settings,
                                   .system.natoms = 2,
                                   .model = (struct model *)s};
    s->holders++;
    return 0;
}

bool models_fit(const struct shared_model *s, uint64_t stage)
{
    return s->phase == spec_phase(s->spec, stage);
}

bool models_ready(const struct shared_model *s, const struct job *job)
{
    (void)job;
    return s->state != MODEL_MAKING;
}

void models_put(struct models *m, struct shared_model *s)
{
    (void)m;
    if (--s->holders < 0)
        abort();
}

const char *model_stretched(const struct model *m)
{
    return NULL;
}

size_t model_host_work(const struct model *m)
{
    return 0;
}

int sim_new(struct sim **out, struct model *m, int window, uint32_t replica, struct err *e)
{
    (void)e;
    call();
    feeder = pthread_self();
    *out = xcalloc(1, sizeof **out);
    (*out)->model = (struct shared_model *)m;
    (*out)->window = window;
    (*out)->replica = replica;
    (*out)->hash = mix(1, replica);
    fake.alive++;
    return 0;
}

void sim_salt(struct sim *s, uint32_t salt)
{
    call();
    s->salt = salt;
}

void sim_place(struct sim *s, int window, uint32_t replica)
{
    call();
    expect_idle(s);
    s->window = window;
    s->replica = replica;
}

int sim_hand_observed(struct sim *const *sim, const int *from, int n, struct err *e)
{
    (void)from, (void)e;
    call();
    for (int w = 0; w < n; w++) {
        expect_idle(sim[w]);
        if (!sim[w]->kicked)
            abort();
    }
    return 0;
}

void sim_tune_volume(struct sim *s, bool tune)
{
    call();
    s->tuned = tune;
}

void sim_count_moves(struct sim *s)
{
    expect_idle(s);
    s->counted = s->heard.counted = (struct volume_moves){0};
}

struct volume_moves sim_volume_moves(const struct sim *s)
{
    return s->heard.counted;
}

struct box_room sim_box_room(const struct sim *s)
{
    (void)s;
    return (struct box_room){.width = 1.85, .least = 1.8};
}

/* A simulation lives no longer than its model. */
void sim_free(struct sim *s)
{
    if (s && !s->model->holders)
        abort();
    fake.alive -= s != NULL;
    free(s);
}

static bool one_step(struct sim *s)
{
    if (fake.grow_at && s->step + 1 == fake.grow_at && !s->grown) {
        s->grown = s->halted = true;
        s->queue[s->queued].outcome = SIM_GROW;
        return false;
    }
    if (fake.blow_up_at && s->step + 1 == fake.blow_up_at && s->replica == fake.blow_up_replica && !s->salt) {
        s->halted = s->queue[s->queued].failed = true;
        return false;
    }
    if (s->driven.under_way && s->driven.steps == 12 && fake.blow_up_switches >> s->driven.number & 1) {
        s->halted = s->queue[s->queued].failed = true;
        return false;
    }
    s->step++;
    s->hash = mix(s->hash, s->step + 1000 * s->salt + 1000000 * (uint64_t)s->model->phase);
    if (fake.spec.settings.exchange) /* the forces of that window, and that replica's noise */
        s->hash = mix(s->hash, 100 * (uint64_t)s->window + s->replica);
    return true;
}

static void carry_out(struct sim *s, enum sim_work work, uint32_t n)
{
    struct fake_report *r = &s->queue[s->queued];
    switch (work) {
    case SIM_MINIMIZE:
        for (; r->done < n && s->converging < 30; r->done++)
            s->hash = mix(s->hash, 1000000 + s->converging++);
        r->done = n; /* later ones do nothing */
        break;
    case SIM_STEP:
        if (s->driven.under_way || (s->step + n) % mesh_cycle(&fake.spec.settings.integrator))
            abort();
        s->converging = 0;
        s->kicked = false;
        while (r->done < n && one_step(s))
            r->done++;
        break;
    case SIM_SWITCH:
        if (!s->driven.under_way || s->driven.salt != s->salt ||
            s->driven.steps + n > switch_steps_longer(&fake.spec.settings.switching, (int)s->driven.doublings))
            abort();
        for (; r->done < n && one_step(s); r->done++)
            s->driven.steps++;
        break;
    case SIM_BAROSTAT:
        if (s->tuned == (s->step > fake.tuned_until))
            abort();
        s->hash = mix(s->hash, 7);
        s->counted.refused += (int)(s->counted.tried++ % 10) < fake.narrow;
        break;
    case SIM_KICK:
        s->kicked = true;
        break;
    case SIM_WATERS:
    case SIM_SAMPLE:
    case SIM_OBSERVE:
    case SIM_REPORT:
    case SIM_PREPARE:
    case SIM_INNER:
    case SIM_WORK_COUNT:
        break;
    }
}

bool sim_room(const struct sim *s)
{
    return s->queued < SIM_REPORTS - 1;
}

int sim_submit(struct sim *s, enum sim_work work, uint32_t n, struct err *e)
{
    (void)e;
    call();
    if (!sim_room(s))
        abort();
    struct fake_report *r = &s->queue[s->queued];
    *r = (struct fake_report){.outcome = SIM_OK};
    s->wait = fake.slowness;
    if (!s->halted) /* what is behind work that halted does nothing */
        carry_out(s, work, n);
    r->step = s->step;
    r->hash = s->hash;
    r->counted = s->counted;
    s->queued++;
    fake.most_queued = s->queued > fake.most_queued ? s->queued : fake.most_queued;
    return 0;
}

bool sim_done(const struct sim *s)
{
    return ((struct sim *)s)->wait-- <= 0;
}

int sim_outcome(struct sim *s, struct err *e)
{
    call();
    if (s->queued == 0)
        abort();
    s->heard = s->queue[0];
    memmove(&s->queue[0], &s->queue[1], (size_t)--s->queued * sizeof s->queue[0]);
    if (s->heard.failed) {
        s->queued = 0; /* what is behind it has halted too */
        return err_set(e, ERR_NONFINITE, "step %" PRIu64 ": the force on atom 1 is not finite", s->heard.step + 1);
    }
    if (s->heard.outcome == SIM_GROW) {
        s->queued = 0;
        s->halted = false;
    }
    return s->heard.outcome;
}

uint32_t sim_steps_done(const struct sim *s)
{
    return s->heard.done;
}

void sim_minimize_setup(struct sim *s, double force_tolerance)
{
    (void)s, (void)force_tolerance;
}

bool sim_minimized(const struct sim *s, double *max_force, double *potential)
{
    *max_force = *potential = 0;
    return s->converging >= 30;
}

void sim_sample(const struct sim *s, struct sample *out)
{
    double *delta_u = out->delta_u;
    *out = (struct sample){.step = s->heard.step, .potential = (double)(s->heard.hash >> 20), .delta_u = delta_u};
    for (int w = 0; w < fake.spec.settings.alchemy.nwindows; w++) /* a few kJ/mol, up or down */
        delta_u[w] = w == s->window ? 0 : (double)(mix(s->heard.hash, (uint64_t)w) >> 40 & 1023) / 128 - 4;
}

/* Noise of its own, by salt, replica, way and number. */
int sim_switch_begin(struct sim *s, enum switch_way way, int doublings, uint32_t number, struct err *e)
{
    (void)e;
    call();
    expect_idle(s);
    const int last = fake.spec.settings.alchemy.nwindows - 1;
    if (s->driven.under_way || s->window != (way == SWITCH_FORWARD ? 0 : last))
        abort();
    s->driven = (struct fake_switch){1, way, number, 0, s->step, s->hash, s->counted, s->salt, (uint64_t)doublings};
    s->hash = mix(s->hash, 17 + 2 * (uint64_t)number + (uint64_t)way);
    return 0;
}

int sim_switch_end(struct sim *s, struct err *e)
{
    (void)e;
    call();
    expect_idle(s);
    if (!s->driven.under_way || s->driven.salt != s->salt)
        abort();
    s->step = s->driven.step;
    s->hash = s->driven.hash;
    s->driven = (struct fake_switch){0};
    return 0;
}

struct buf sim_switch_rescue(struct sim *s)
{
    struct buf out = {0};
    struct err e = {0};
    if (!s->driven.under_way || !s->halted)
        abort();
    s->step = s->driven.step;
    s->hash = s->driven.hash;
    s->counted = s->driven.counted;
    s->driven = (struct fake_switch){0};
    sim_save(s, &out, &e);
    return out;
}

struct sim_switch sim_switch(const struct sim *s)
{
    const struct fake_switch *d = &s->driven;
    return (struct sim_switch){
        .under_way = d->under_way,
        .way = (enum switch_way)d->way,
        .number = (uint32_t)d->number,
        .steps = (uint32_t)d->steps,
        .steps_left = (uint32_t)(switch_steps_longer(&fake.spec.settings.switching, (int)d->doublings) - d->steps),
        .work = d->steps ? (double)(s->hash >> 40) : 0};
}

int sim_thermalize(struct sim *s, struct err *e)
{
    (void)e;
    call();
    s->hash = mix(s->hash, 3);
    return 0;
}

int sim_fetch(struct sim *s, struct err *e)
{
    (void)e;
    expect_idle(s);
    return 0;
}

int sim_forces(struct sim *s, double (*f)[3], struct err *e)
{
    (void)f;
    expect_idle(s);
    return err_set(e, ERR_DEVICE, "not asked for where no sum overflows");
}

int sim_get(struct sim *s, double (*x)[3], double (*v)[3], double box[BOX_SIZE], struct err *e)
{
    (void)e;
    call();
    expect_idle(s);
    x[0][0] = (double)(s->hash >> 20);
    if (v)
        v[0][0] = 1;
    box[0] = box[1] = box[2] = 3;
    return 0;
}

int sim_put(struct sim *s, const double (*x)[3], const double (*v)[3], const double box[BOX_SIZE], struct err *e)
{
    (void)box, (void)e;
    call();
    expect_idle(s);
    s->hash = (uint64_t)x[0][0] << 20;
    return 0;
}

int sim_part(struct sim *s, struct err *e)
{
    (void)e;
    call();
    s->converging = 0;
    s->hash = mix(s->hash, 11);
    return 0;
}

uint64_t sim_step_number(const struct sim *s)
{
    return s->heard.step;
}

enum { SEALED = 3 * 8 + sizeof(struct volume_moves) + sizeof(struct fake_switch) };

int sim_save(struct sim *s, struct buf *out, struct err *e)
{
    (void)e;
    call();
    expect_idle(s);
    buf_add(out, &s->step, 8);
    buf_add(out, &s->hash, 8);
    buf_add(out, &s->converging, 8);
    buf_add(out, &s->counted, sizeof s->counted);
    buf_add(out, &s->driven, sizeof s->driven);
    buf_add(out, "unsealed", 8);
    return 0;
}

const void *sim_saved_observable(const struct system *sys, const struct buf *saved, int i)
{
    (void)sys, (void)saved, (void)i;
    abort(); /* its systems have none */
}

void sim_seal(struct buf *saved)
{
    fake_expect_a_job();
    memcpy(saved->data + SEALED, "sealed..", 8);
}

int sim_load(struct sim *s, const void *data, size_t len, struct err *e)
{
    call();
    if (len != SEALED + 8 || memcmp((const char *)data + SEALED, "sealed..", 8))
        return err_set(e, ERR_CHECKPOINT, "state of %zu bytes", len);
    memcpy(&s->step, data, 8);
    memcpy(&s->hash, (const char *)data + 8, 8);
    memcpy(&s->converging, (const char *)data + 16, 8);
    memcpy(&s->counted, (const char *)data + 24, sizeof s->counted);
    memcpy(&s->driven, (const char *)data + 24 + sizeof s->counted, sizeof s->driven);
    s->heard.counted = s->counted;
    return 0;
}

void engine_flush(struct dev *d)
{
    (void)d;
}

static int fake_poll(struct dev *d, int timeout_ms, struct err *e)
{
    (void)d, (void)e;
    if (timeout_ms) /* all wait for jobs: let them have the core */
        nanosleep(&(struct timespec){0, 20000}, NULL);
    return 0;
}

static int fake_poll_fd(struct dev *d)
{
    (void)d;
    return -1;
}

static const struct dev_ops fake_ops = {.poll = fake_poll, .poll_fd = fake_poll_fd};
struct dev fake_dev = {.ops = &fake_ops, .model = "fake"}, fake_other_dev = {.ops = &fake_ops, .model = "fake"};
