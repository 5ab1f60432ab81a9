/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker serve: runs what shoald says over the socket on descriptor 3 (daemon/processes/frames.h).
 *
 * It ends with status 0 after a drain (asked by a frame or by SIGTERM or SIGINT: every replica makes a checkpoint
 * first) or when shoald is gone; with another status when a device is lost or a message makes no sense: shoald starts
 * a fresh one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/processes/frames.h"
#include "daemon/worker/command/commands.h"
#include "daemon/worker/command/line.h"
#include "daemon/worker/device/cards.h"
#include "daemon/worker/device/device.h"
#include "daemon/worker/device/load.h"
#include "daemon/worker/device/meshes.h"
#include "daemon/worker/device/packing.h"
#include "daemon/worker/files/checkpoint.h"
#include "daemon/worker/replica/exchange.h"
#include "daemon/worker/replica/replica.h"
#include "daemon/worker/report_frames.h"
#include "daemon/worker/threads/runner.h"
#include "engine/base/clock.h"
#include "engine/base/log.h"
#include "engine/base/number.h"
#include "graphs/kinds.h"

#define FRAMES_FD 3
#define IDLE_MS 10000 /* between two looks at the memory of a device on which nothing runs: others may use it */
#define OUTBOX_LIMIT (1u << 20) /* above this many bytes not yet taken by shoald, progress is not told */

struct slot {
    json_int_t id, set; /* names of the replica and of its set in messages */
    char name[64];      /* in the log: ensemble and window */
    struct replica *replica;
    struct serving *server;
    struct slot *next;
};

struct serving {
    struct cards cards;
    struct jobs *jobs;
    struct runner runner;
    struct slot *slots;
    struct load_meter meter;
    struct packing packing;
    struct buf inbox, outbox;
    unsigned ended;      /* replicas, so far */
    bool draining, gone; /* gone: shoald has closed its end */
};

static void send_frame(struct serving *s, json_t *message)
{
    frame_put(&s->outbox, message);
    json_decref(message);
}

static void heard(void *ctx, const struct replica *replica, const struct replica_report *what)
{
    const struct slot *slot = ctx;
    struct serving *s = slot->server;
    if (what->kind == REPORT_PROGRESS && s->outbox.len >= OUTBOX_LIMIT)
        return;
    if (what->kind == REPORT_FAILED) {
        if (cards_lost(&s->cards)) /* nobody's fault; the worker ends and says why */
            return;
        if (what->why->code == ERR_MEMORY && !replica_sim(replica))
            packing_full(&s->packing, s->runner.count - 1);
        log_line(LOG_WARNING, "failed %s: %s", slot->name, what->why->msg);
    }
    report_frame_put(&s->outbox, slot->id, what);
}

static void slot_ended(void *arg)
{
    struct slot *slot = arg;
    struct slot **at = &slot->server->slots;
    while (*at != slot)
        at = &(*at)->next;
    *at = slot->next;
    slot->server->ended++;
    replica_free(slot->replica);
    free(slot);
}

static bool slot_ready(const void *arg)
{
    return replica_ready(((const struct slot *)arg)->replica);
}

static bool slot_at_work(const void *arg)
{
    return replica_at_work(((const struct slot *)arg)->replica);
}

static void CO_FN slot_run(void *arg)
{
    replica_run(((struct slot *)arg)->replica);
}

static struct slot *slot_of(const struct serving *s, json_int_t id)
{
    struct slot *slot = s->slots;
    while (slot && slot->id != id)
        slot = slot->next;
    return slot;
}

static int card_of(const struct serving *s, const struct slot *slot)
{
    int i = 0;
    while (s->cards.card[i].dev != replica_device(slot->replica))
        i++;
    return i;
}

/* Of each that has any: its number, its bytes and the card that has them. Returns those of the largest. */
static size_t put_replicas(const struct serving *s, struct buf *out, struct card_load load[CARDS_MAX])
{
    size_t most = 0;
    const char *between = "";
    for (const struct slot *slot = s->slots; slot; slot = slot->next) {
        const struct sim *sim = replica_sim(slot->replica);
        const int at = card_of(s, slot);
        size_t bytes = sim ? sim_device_bytes(sim) : 0;
        most = bytes > most ? bytes : most;
        load[at].replicas++;
        load[at].bytes += bytes;
        if (sim) {
            buf_printf(out, "%s[%lld,%zu,\"%s\"]", between, (long long)slot->id, bytes, s->cards.card[at].name);
            between = ",";
        }
    }
    return most;
}

/* What all cards did together is shared by them evenly, as replicas are. */
static void look_at_meshes(struct serving *s, const struct card_load *load, const struct load_period *p, bool steady)
{
    bool at_rest = packing_at_rest(&s->packing, s->runner.count);
    for (int i = 0; i < s->cards.n; i++)
        at_rest = meshes_look(&s->cards.card[i].models, &(struct meshes_view){.running = load[i].replicas,
                                                                              .company = s->meter.changes,
                                                                              .rate = p->rate / s->cards.n,
                                                                              .steady = steady && p->moves,
                                                                              .at_rest = at_rest});
}

/* Decides how many replicas are wanted from now on, too. */
static void tell_load(struct serving *s)
{
    struct load_period p;
    struct card_load load[CARDS_MAX] = {0};
    struct buf *out = &s->outbox;
    const size_t begun = frame_begin(out);
    buf_printf(out, "{\"type\":\"load\",\"replicas\":[");
    const size_t replica = put_replicas(s, out, load);
    int64_t left = 0;
    size_t used = 0;
    const struct room room = cards_room(&s->cards, load, &left, &used);
    load_take(&s->meter, clock_now(), runner_busy(&s->runner), s->runner.begun + s->ended, &p);
    if (!s->runner.count)
        p = (struct load_period){0};
    const bool steady = p.steady && p.stepped == s->runner.count;
    look_at_meshes(s, load, &p, steady);
    if (steady)
        packing_look(&s->packing, &(struct packing_view){.running = s->runner.count,
                                                         .rate = p.rate,
                                                         .size = p.size,
                                                         .room = packing_room(&room, s->runner.count, replica)});
    buf_printf(out, "],\"slots\":%u,\"busy\":%.9f,\"us_per_replica_step\":%.9f,\"ns_per_day\":%.9f", s->packing.slots,
               p.busy, p.us_per_replica_step, p.ns_per_day);
    buf_printf(out, ",\"memory\":{\"total\":%" PRId64 ",\"free\":%" PRId64 ",\"used\":%zu,\"replica\":%zu}", room.total,
               left, used, replica);
    buf_printf(out, ",\"energy_mj\":%" PRIu64 "}", cards_energy(&s->cards));
    frame_end(out, begun);
}

/* What the replicas of a set share. */
struct set {
    json_int_t number;
    const char *directory, *ensemble;
    int salt, ladder, doublings;
    struct exchange *exchange;
};

/* Replicas of an ensemble, whose sets may exchange windows, are spread evenly over the cards. */
static struct models *place(struct serving *s, const char *directory)
{
    unsigned same[CARDS_MAX] = {0};
    struct card_load all[CARDS_MAX] = {0};
    for (const struct slot *slot = s->slots; slot; slot = slot->next) {
        const int i = card_of(s, slot);
        all[i].replicas++;
        same[i] += !strcmp(replica_directory(slot->replica), directory);
    }
    return &s->cards.card[cards_emptiest(&s->cards, same, all)].models;
}

static int start_replica(struct serving *s, const struct set *set, json_t *message, struct err *e)
{
    json_int_t id, key, steps;
    const char *folder, *origin = NULL;
    int window;
    json_error_t why;
    if (json_unpack_ex(message, &why, 0, "{s:I, s:i, s:I, s:s, s?s, s:I}", "number", &id, "window", &window, "key",
                       &key, "folder", &folder, "origin", &origin, "steps", &steps))
        return err_set(e, ERR_PROTOCOL, "start: replicas: %s", why.text);
    if (window < 0 || key < 0 || key > UINT32_MAX || steps < 0)
        return err_set(e, ERR_PROTOCOL, "start: window %d, key %lld, steps %lld", window, (long long)key,
                       (long long)steps);
    if (slot_of(s, id))
        return err_set(e, ERR_PROTOCOL, "start: replica %lld runs already", (long long)id);
    if (!s->runner.count) /* what was before does not count; nor is the energy until now that of replicas */
        tell_load(s);
    struct slot *slot = xcalloc(1, sizeof *slot);
    slot->id = id;
    slot->set = set->number;
    slot->server = s;
    const char *slash = strrchr(set->directory, '/');
    snprintf(slot->name, sizeof slot->name, "ensemble=%.32s window=%d", slash ? slash + 1 : set->directory, window);
    slot->replica = replica_new(&(struct replica_setup){.models = place(s, set->directory),
                                                        .jobs = s->jobs,
                                                        .directory = set->directory,
                                                        .ensemble = checkpoint_ensemble(set->ensemble),
                                                        .window = window,
                                                        .replica = (uint32_t)key,
                                                        .folder = folder,
                                                        .origin = origin,
                                                        .ladder = set->ladder,
                                                        .steps = (uint64_t)steps,
                                                        .salt = (uint32_t)set->salt,
                                                        .doublings = set->doublings,
                                                        .exchange = set->exchange,
                                                        .load = &s->meter.sum,
                                                        .report = heard,
                                                        .ctx = slot});
    slot->next = s->slots;
    s->slots = slot;
    struct err why_not = {0};
    if (runner_add(&s->runner, slot_run, slot_ready, slot_ended, slot, &why_not)) {
        heard(slot, slot->replica, &(struct replica_report){.kind = REPORT_FAILED, .why = &why_not});
        slot_ended(slot);
    } else if (s->draining) {
        replica_stop(slot->replica);
    }
    return 0;
}

static int start(struct serving *s, const json_t *message, struct err *e)
{
    struct set set = {.ladder = 1};
    json_t *replicas, *replica;
    size_t i;
    json_error_t why;
    if (json_unpack_ex((json_t *)message, &why, 0, "{s:I, s:s, s:s, s?i, s?i, s?i, s:o}", "set", &set.number,
                       "ensemble", &set.ensemble, "directory", &set.directory, "salt", &set.salt, "ladder", &set.ladder,
                       "doublings", &set.doublings, "replicas", &replicas))
        return err_set(e, ERR_PROTOCOL, "start: %s", why.text);
    if (!json_array_size(replicas) || set.salt < 0 || set.doublings < 0)
        return err_set(e, ERR_PROTOCOL, "start: set %lld has %zu replicas, salt %d and doublings %d",
                       (long long)set.number, json_array_size(replicas), set.salt, set.doublings);
    set.exchange = exchange_new((int)json_array_size(replicas));
    json_array_foreach (replicas, i, replica) {
        int rc = start_replica(s, &set, replica, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* Replicas of the set that have ended in the meantime are no matter: shoald was told so. */
static void stop(struct serving *s, json_int_t set)
{
    for (struct slot *slot = s->slots; slot; slot = slot->next)
        if (slot->set == set)
            replica_stop(slot->replica);
}

static void drain(struct serving *s)
{
    s->draining = true;
    for (struct slot *slot = s->slots; slot; slot = slot->next)
        replica_stop(slot->replica);
}

static int obey(struct serving *s, const json_t *message, struct err *e)
{
    const char *type = json_string_value(json_object_get(message, "type"));
    if (!strcmp(type, "start"))
        return start(s, message, e);
    if (!strcmp(type, "stop")) {
        stop(s, json_integer_value(json_object_get(message, "set")));
        return 0;
    }
    if (!strcmp(type, "drain")) {
        drain(s);
        return 0;
    }
    return err_set(e, ERR_PROTOCOL, "message of type '%s'", type);
}

static int receive(struct serving *s, struct err *e)
{
    char chunk[65536];
    ssize_t n = recv(FRAMES_FD, chunk, sizeof chunk, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : err_errno(e, "read from shoald");
    if (n == 0) {
        s->gone = true;
        return 0;
    }
    buf_add(&s->inbox, chunk, (size_t)n);
    for (;;) {
        json_t *message;
        int rc = frame_take(&s->inbox, &message, e);
        if (rc || !message)
            return rc;
        rc = obey(s, message, e);
        json_decref(message);
        if (rc)
            return rc;
    }
}

static int transmit(struct serving *s, struct err *e)
{
    size_t done = 0;
    while (done < s->outbox.len) {
        ssize_t n = send(FRAMES_FD, s->outbox.data + done, s->outbox.len - done, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) {
            s->gone = true;
            return 0;
        }
        if (n < 0)
            return err_errno(e, "write to shoald");
        done += (size_t)n;
    }
    memmove(s->outbox.data, s->outbox.data + done, s->outbox.len - done);
    s->outbox.len -= done;
    return 0;
}

/* One turn: messages in, replicas on, messages out. */
static int turn(struct serving *s, int signals, struct err *e)
{
    unsigned running = s->runner.count;
    struct pollfd fds[] = {{.fd = FRAMES_FD, .events = (short)(POLLIN | (s->outbox.len ? POLLOUT : 0))},
                           {.fd = signals, .events = POLLIN}};
    int rc = runner_turn(&s->runner, fds, 2, running ? (int)(1e3 * LOAD_SECONDS) : IDLE_MS, e);
    if (rc)
        return rc;
    if ((running && !s->runner.count) || load_due(&s->meter, clock_now()))
        tell_load(s);
    struct signalfd_siginfo info;
    if (fds[1].revents && read(signals, &info, sizeof info) > 0)
        drain(s);
    if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
        rc = receive(s, e);
    return rc || !s->outbox.len ? rc : transmit(s, e);
}

static int serve(struct serving *s, int signals, struct err *e)
{
    const struct cards *c = &s->cards;
    int64_t left;
    size_t used;
    const struct room room = cards_room(c, NULL, &left, &used);
    send_frame(s, device_hello(c->card[0].dev, c->name, s->packing.slots, &room, cards_energy(c)));
    buf_reserve(&s->outbox, OUTBOX_LIMIT); /* however slowly shoald takes them, reports take no memory */
    while (!s->gone && (!s->draining || s->runner.count || s->outbox.len)) {
        int rc = turn(s, signals, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* Why the worker ends is told to shoald, too: its users do not see the log. */
static void say_why(struct serving *s, const struct err *why)
{
    struct err ignored;
    log_line(LOG_ERROR, "%s", why->msg);
    send_frame(s, json_pack("{s:s, s:s}", "type", "ending", "message", why->msg));
    (void)transmit(s, &ignored);
}

/* SIGTERM and SIGINT come as a descriptor, in this thread: blocked before the device starts any other. */
static int catch_signals(struct err *e)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? err_errno(e, "signalfd") : fd;
}

struct serve_options {
    const char *device;
    int slots; /* 0: not given */
};

static int open_devices(struct serving *s, const struct serve_options *o, struct err *e)
{
    int rc = cards_open(&s->cards, o->device, e);
    if (!rc)
        rc = jobs_new(&s->jobs, e);
    if (rc)
        return rc;
    for (int i = 0; i < s->cards.n; i++)
        s->runner.dev[i] = s->cards.card[i].dev;
    s->runner.jobs = s->jobs;
    s->runner.at_work = slot_at_work;
    const unsigned slots = cards_slots(&s->cards);
    const bool gpu = device_is_gpu(o->device);
    s->runner.width = gpu ? (unsigned)s->cards.n : slots;
    if (o->slots || !gpu)
        packing_fix(&s->packing, o->slots ? (unsigned)o->slots : slots);
    else
        packing_start(&s->packing, slots);
    return 0;
}

int serve_main(int argc, char **argv)
{
    static const struct arg rows[] = {
        ARG(TEXT, "device", "DEVICE", struct serve_options, device,
            .help = "cpu, cpu:N or a GPU, as cuda:0 or cuda:GPU-UUID; several with + between"),
        ARG(WHOLE, "slots", "N", struct serve_options, slots, .least = 1, .most = PACKING_MOST,
            .help = "replicas at once"),
    };
    static const struct command_line line = {"serve", "", 0, 0, rows, sizeof rows / sizeof *rows, NULL};
    struct serve_options o = {.device = "cpu"};
    struct err e = {0};
    int words, code;
    if (!command_line_read(&line, &o, argc, argv, &words, &code))
        return code;
    if (fcntl(FRAMES_FD, F_GETFD) < 0) {
        err_set(&e, ERR_USAGE, "expected shoald's socket as descriptor %d", FRAMES_FD);
        return exit_with("serve", &e);
    }
    fcntl(FRAMES_FD, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* never outlive shoald: the next one starts its own worker */
    struct serving s = {0};
    int signals = catch_signals(&e);
    int rc = signals < 0 ? signals : open_devices(&s, &o, &e);
    if (!rc)
        rc = serve(&s, signals, &e);
    if (rc)
        say_why(&s, &e);
    if (s.runner.count) /* replicas in the middle of their story cannot be unwound; the process's end frees all */
        _exit(rc ? EXIT_FAILED : EXIT_OK);
    jobs_free(s.jobs);
    cards_close(&s.cards);
    buf_free(&s.inbox);
    buf_free(&s.outbox);
    return rc ? EXIT_FAILED : EXIT_OK;
}
