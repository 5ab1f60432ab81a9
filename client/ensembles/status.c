/* SPDX-License-Identifier: Apache-2.0
 *
 * States of ensembles, devices and programs: status, top, version.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/command/handlers.h"
#include "client/ensembles/administer.h"
#include "client/ensembles/list.h"
#include "client/ensembles/status.h"
#include "client/show/show.h"
#include "engine/base/number.h"
#include "engine/base/printable.h"

enum { EVERY_S = 2 };

static void number_cell(struct table *t, const json_t *value, const char *format)
{
    if (json_is_number(value))
        table_cell(t, format, json_number_value(value));
    else
        table_cell(t, "-");
}

/* Why it failed or what it waits for: "waits for its turn, 3rd in the queue, starts in about 2 min 00 s". */
static void reason_cell(struct table *t, const json_t *replica)
{
    const json_t *waits = json_object_get(replica, "waits"), *seconds = json_object_get(waits, "expected_seconds");
    struct buf text = {0};
    buf_printf(&text, "%s", answer_text(replica, "reason"));
    if (json_is_object(waits))
        buf_printf(&text, "%swaits for %s", text.len ? "; " : "", answer_text(waits, "for"));
    if (answer_whole(waits, "place"))
        buf_printf(&text, ", place %lld", answer_whole(waits, "place"));
    if (json_is_number(seconds)) {
        buf_printf(&text, ", starts in about ");
        show_duration(&text, json_number_value(seconds));
    }
    table_cell(t, "%s", text.data);
    buf_free(&text);
}

/* Of production handed out by need, what the replica has been given so far; 1 is what even sampling would. */
static void share_cell(struct table *t, const json_t *allocate, const json_t *replica)
{
    if (json_is_object(allocate))
        table_cell(t, "%.2f",
                   (double)(answer_whole(replica, "steps") - answer_whole(allocate, "before")) /
                       answer_number(allocate, "share"));
    else
        table_cell(t, "%s", "");
}

static void print_replicas(const struct client *c, const json_t *replicas, bool several, const json_t *allocate)
{
    static const char *const heads[] = {"window", "repeat", "state",   "device",  "stage", "step",
                                        "of",     "share",  "time/ps", "attempt", "reason"};
    struct table t;
    const json_t *r;
    size_t i;
    const bool walkers = json_object_get(json_array_get(replicas, 0), "walker") != NULL;
    table_setup(&t, "r r7 l l5 r4 r2 r2 r1 r6 r3 l~~~");
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", !h && walkers ? "walker" : heads[h]);
    json_array_foreach (replicas, i, r) {
        if (walkers)
            table_cell(&t, "%s %lld", answer_text(r, "end"), answer_whole(r, "walker"));
        else
            table_cell(&t, "%lld", answer_whole(r, "window"));
        if (several)
            table_cell(&t, "%lld", answer_whole(r, "repeat"));
        else
            table_cell(&t, "%s", "");
        table_state(&t, answer_text(r, "state"));
        table_cell(&t, "%s", answer_text(r, "device"));
        number_cell(&t, json_object_get(r, "stage"), "%.0f");
        table_cell(&t, "%lld", answer_whole(r, "step"));
        table_cell(&t, "%lld", answer_whole(r, "steps"));
        share_cell(&t, allocate, r);
        number_cell(&t, json_object_get(r, "time_ps"), "%.1f");
        table_cell(&t, "%lld", answer_whole(r, "attempt"));
        reason_cell(&t, r);
    }
    client_table(c, &t);
}

/* "windows placed by a pilot: vdw 0 0.25 0.5 1" */
static void print_placed(const json_t *e)
{
    const char *key;
    json_t *ladder, *value;
    size_t i;
    struct buf text = {0};
    if (json_is_true(json_object_get(e, "pilot")))
        printf("these windows are a pilot's, which places others\n");
    json_object_foreach (json_object_get(e, "placed"), key, ladder) {
        buf_printf(&text, "%s%s", text.len ? "; " : "windows placed by a pilot: ", key);
        json_array_foreach (ladder, i, value)
            buf_printf(&text, " %.10g", json_number_value(value));
    }
    if (text.len)
        printable_line(stdout, "%s", text.data);
    buf_free(&text);
}

static void print_ensemble(const struct client *c, const json_t *e)
{
    const char *reason = answer_text(e, "reason"), *key = answer_text(e, "key");
    bool repeats = answer_whole(e, "repeats") > 1;
    struct buf submitted = {0}, labels = {0}, estimate = {0}, fits = {0};
    show_time(&submitted, answer_text(e, "created"));
    answer_labels(&labels, e);
    printable_line(stdout, "%s  %s  %s%s%s", answer_text(e, "id"), answer_text(e, "name"), answer_text(e, "state"),
                   *reason ? ": " : "", reason);
    if (answer_whole(e, "revision") > (json_is_object(json_object_get(e, "placed")) ? 2 : 1))
        printf("revision %lld: it was extended\n", answer_whole(e, "revision"));
    print_placed(e);
    printf("%lld of %lld %s done, %lld failed, %d %% of all steps\n", answer_whole(e, "done"), answer_replicas(e),
           repeats                      ? "replicas"
           : answer_whole(e, "walkers") ? "walkers"
                                        : number_word(answer_replicas(e), "window", "windows"),
           answer_whole(e, "failed"), (int)(100 * answer_number(e, "progress")));
    const char *moved_to = answer_text(e, "moved_to");
    if (*moved_to)
        printable_line(stdout, "moved to %s", moved_to);
    answer_estimate(&estimate, e);
    if (estimate.len)
        printable_line(stdout, "so far %s", estimate.data);
    const json_t *stop = json_object_get(e, "stop_when");
    if (json_is_object(stop) && estimate.len)
        printf("stops when the error is %.3g %s or less, verdict %s\n", answer_number(stop, "error"),
               answer_text(stop, "unit"), answer_text(stop, "verdict"));
    buf_free(&estimate);
    const json_t *allocate = json_object_get(e, "allocate");
    if (json_is_object(allocate))
        printf("production goes where it cuts the error most: %.0f %% of it handed out; share 1 is an even one\n",
               100 * answer_number(allocate, "handed_out"));
    printable_line(stdout, "submitted %s%s%s%s%s", submitted.data, *key ? ", key " : "", key,
                   labels.len ? ", labels " : "", labels.data);
    if (answer_whole(e, "done") + answer_whole(e, "failed") < answer_replicas(e) && answer_number(e, "progress") <= 0)
        answer_fits(&fits, e);
    printable_text(stdout, fits.len ? fits.data : "");
    buf_free(&fits);
    putchar('\n');
    buf_free(&labels);
    buf_free(&submitted);
    print_replicas(c, json_object_get(e, "replicas"), repeats, allocate);
}

/* "93 % busy, 8.01 us per replica-step, 21600 ns/day": what it did in the last seconds, if anything. */
static void put_load(const json_t *d, struct buf *out)
{
    double us = answer_number(d, "us_per_replica_step");
    if (!answer_whole(d, "running") || !json_object_get(d, "busy"))
        return;
    buf_printf(out, ", %.0f %% busy", 100 * answer_number(d, "busy"));
    if (us > 0)
        buf_printf(out, ", %.5g us per replica-step, %.5g ns/day", us, answer_number(d, "ns_per_day"));
}

/* A line each: why a GPU is not among the devices. */
static void put_left_out(const json_t *left_out, struct buf *out)
{
    const json_t *text;
    size_t i;
    json_array_foreach (left_out, i, text)
        buf_printf(out, "%s\n", json_string_value(text));
}

/* "; drained by ann since 2026-11-20T10:00:00Z: fan" */
static void put_drained(const json_t *d, const char *before, struct buf *out)
{
    const json_t *hold = json_object_get(d, "drained");
    buf_add(out, "", 0);
    if (!json_is_object(hold))
        return;
    buf_printf(out, "%sdrained ", before);
    administer_put_hold(out, hold);
}

/* A line, where administrators alone submit. */
static void put_held(const json_t *hold, struct buf *out)
{
    if (!json_is_object(hold))
        return;
    buf_printf(out, "admission is held ");
    administer_put_hold(out, hold);
    buf_printf(out, "\n");
}

void status_put_remarks(const json_t *version, struct buf *out)
{
    put_held(json_object_get(version, "held"), out);
    put_left_out(json_object_get(version, "left_out"), out);
}

/* "1 of 2 cards", where a device joins several and not all are open. */
static void put_cards(const json_t *device, const char *before, struct buf *out)
{
    const json_t *cards = json_object_get(device, "cards");
    const long long open = answer_whole(cards, "open"), joined = answer_whole(cards, "joined");
    if (open < joined)
        buf_printf(out, "%s%lld of %lld cards", before, open, joined);
}

/* Lines about devices. */
static void put_devices(const json_t *state, struct buf *out)
{
    const json_t *d;
    size_t i;
    json_array_foreach (json_object_get(state, "devices"), i, d) {
        const char *model = answer_text(d, "model"), *trouble = answer_text(d, "trouble");
        long long slots = answer_whole(d, "slots");
        buf_printf(out, "%s  %s%s%s  %lld of %lld %s taken", answer_text(d, "device"), answer_text(d, "state"),
                   *model ? ", " : "", model, answer_whole(d, "running"), slots, number_word(slots, "slot", "slots"));
        put_load(d, out);
        put_cards(d, "; ", out);
        put_drained(d, "; ", out);
        buf_printf(out, "%s%s\n", *trouble ? "; " : "", trouble);
    }
    status_put_remarks(state, out);
}

#define MIB (1024.0 * 1024)

/* "41.2", "3.0..41.2": of the smallest and of the largest replica, for scripts of the largest alone; a service of
 * before says that. */
static void replicas_cell(const struct client *c, struct table *t, const json_t *d)
{
    const json_t *replica;
    size_t i;
    double most = (double)answer_whole(json_object_get(d, "memory"), "replica"), least = most;
    json_array_foreach (json_object_get(d, "replicas"), i, replica) {
        const double bytes = (double)answer_whole(replica, "bytes");
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    if (least < most && !c->plain)
        table_cell(t, "%.1f..%.1f", least / MIB, most / MIB);
    else
        table_cell(t, "%.1f", most / MIB);
}

/* Why it is not to be counted on. */
static void trouble_cell(struct table *t, const json_t *d)
{
    const char *trouble = answer_text(d, "trouble");
    struct buf text = {0};
    put_cards(d, "", &text);
    put_drained(d, text.len ? "; " : "", &text);
    buf_printf(&text, "%s%s", text.len && *trouble ? "; " : "", trouble);
    table_cell(t, "%s", text.data);
    buf_free(&text);
}

struct table status_devices(const struct client *c, const json_t *devices)
{
    static const char *const heads[] = {"device",   "state", "running", "slots",   "busy/%", "us/step", "ns/day",
                                        "used/MiB", "free",  "total",   "replica", "model",  "trouble"};
    static const char *const loads[] = {"us_per_replica_step", "ns_per_day"}, *const sizes[] = {"used", "free",
                                                                                                "total"};
    struct table t;
    const json_t *d;
    size_t i;
    table_setup(&t, "l l r r r r r r3 r3 r3 r3 l4 l~");
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        table_cell(&t, "%s", heads[h]);
    json_array_foreach (devices, i, d) {
        const json_t *busy = json_object_get(d, "busy"), *memory = json_object_get(d, "memory");
        table_cell(&t, "%s", answer_text(d, "device"));
        table_state(&t, answer_text(d, "state"));
        table_cell(&t, "%lld", answer_whole(d, "running"));
        table_cell(&t, "%lld", answer_whole(d, "slots"));
        if (json_is_number(busy))
            table_cell(&t, "%.0f", 100 * json_number_value(busy));
        else
            table_cell(&t, "-");
        for (size_t k = 0; k < sizeof loads / sizeof *loads; k++)
            number_cell(&t, json_object_get(d, loads[k]), "%.5g");
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            if (json_is_object(memory))
                table_cell(&t, "%.1f", (double)answer_whole(memory, sizes[k]) / MIB);
            else
                table_cell(&t, "-");
        if (json_is_object(memory))
            replicas_cell(c, &t, d);
        else
            table_cell(&t, "-");
        table_cell(&t, "%s", answer_text(d, "model"));
        trouble_cell(&t, d);
    }
    return t;
}

/* {"devices": ..., "left_out": ..., "ensembles": those named, with their windows, or those that have not ended}, or
 * NULL. */
static json_t *state_get(const struct client *c, int argc, char **argv, struct err *e)
{
    json_t *version = client_get(c, "/v1/version", e), *ensembles = NULL, *all, *item;
    size_t i;
    if (version && !argc && (all = ensembles_get(c, e))) {
        ensembles = json_array();
        json_array_foreach (all, i, item)
            if (!ensemble_ended(answer_text(item, "state")))
                json_array_append(ensembles, item);
        json_decref(all);
    }
    for (int k = 0; version && k < argc; k++) {
        struct buf path = {0};
        ensembles = ensembles ? ensembles : json_array();
        client_path(&path, argv[k], "");
        item = client_get(c, path.data, e);
        buf_free(&path);
        if (!item) {
            json_decref(ensembles);
            ensembles = NULL;
            break;
        }
        json_array_append_new(ensembles, item);
    }
    json_t *state = ensembles ? json_pack("{s:O?,s:O*,s:O*,s:o}", "devices", json_object_get(version, "devices"),
                                          "left_out", json_object_get(version, "left_out"), "held",
                                          json_object_get(version, "held"), "ensembles", ensembles)
                              : NULL;
    json_decref(version);
    return state;
}

static int status_of_devices(const struct client *c)
{
    struct err e = {0};
    json_t *version = client_get(c, "/v1/version", &e);
    if (!version)
        return client_fail(c, &e);
    json_t *left_out = json_object_get(version, "left_out");
    if (c->json) {
        json_t *state = json_pack("{s:O,s:O*,s:O*}", "devices", json_object_get(version, "devices"), "left_out",
                                  left_out, "held", json_object_get(version, "held"));
        client_print(state);
        json_decref(state);
    } else {
        struct buf reasons = {0};
        struct table t = status_devices(c, json_object_get(version, "devices"));
        client_table(c, &t);
        status_put_remarks(version, &reasons);
        if (!c->plain && reasons.len)
            printable_text(stdout, reasons.data);
        buf_free(&reasons);
    }
    json_decref(version);
    return EXIT_OK;
}

int status_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    if (c->devices)
        return status_of_devices(c);
    json_t *state = state_get(c, argc, argv, &e), *ensembles = json_object_get(state, "ensembles"), *ensemble;
    size_t i;
    if (!state)
        return client_fail(c, &e);
    if (c->json) {
        client_print(state);
    } else if (argc) {
        json_array_foreach (ensembles, i, ensemble) {
            if (i && !c->plain)
                putchar('\n');
            print_ensemble(c, ensemble);
        }
    } else {
        struct buf devices = {0};
        struct table t;
        put_devices(state, &devices);
        if (!c->plain) {
            buf_printf(&devices, "\n");
            printable_text(stdout, devices.data);
        }
        buf_free(&devices);
        ensembles_put(c, ensembles, &t);
        client_table(c, &t);
    }
    json_decref(state);
    return EXIT_OK;
}

/* ---- top ---- */

/* As many lines of a text as there are rows, each no wider than the terminal (colours aside). */
static void print_screen(const char *text, int rows)
{
    fputs("\033[H", stdout);
    for (; *text && rows > 1; rows--) {
        int n = (int)strcspn(text, "\n");
        printf("%.*s\033[K\n", n, text);
        text += n + (text[n] == '\n');
    }
    fputs("\033[J", stdout);
    fflush(stdout);
}

static void top_draw(const struct client *c, const json_t *state)
{
    struct buf devices = {0}, out = {0};
    struct table t;
    int columns = 0, rows = 0;
    bool screen = show_is_terminal(stdout);
    if (screen)
        show_size(stdout, &columns, &rows);
    put_devices(state, &devices);
    buf_printf(&devices, "\n");
    printable_add(&out, devices.data, "\n");
    buf_free(&devices);
    ensembles_put(c, json_object_get(state, "ensembles"), &t);
    table_put(&t, columns, &out);
    if (screen)
        print_screen(out.data, rows);
    else
        fputs(out.data, stdout);
    buf_free(&out);
}

int top_main(struct client *c, int argc, char **argv)
{
    bool once = c->json || !show_is_terminal(stdout);
    if (!once)
        fputs("\033[2J", stdout);
    for (;;) {
        struct err e = {0};
        json_t *state = state_get(c, 0, NULL, &e);
        if (!state)
            return client_fail(c, &e);
        if (c->json)
            client_print(state);
        else
            top_draw(c, state);
        json_decref(state);
        if (once)
            return EXIT_OK;
        usleep((useconds_t)(1e6 * (c->every > 0 ? c->every : EVERY_S)));
    }
}

int version_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    json_t *service = client_get(c, "/v1/version", &e);
    if (!c->json)
        printf("shoal %s, %s\n", SHOAL_VERSION, c->build);
    if (!service)
        return client_fail(c, &e);
    if (c->json) {
        json_t *both = json_pack("{s:s,s:s,s:O}", "client", SHOAL_VERSION, "build", c->build, "service", service);
        client_print(both);
        json_decref(both);
    } else {
        const char *build = answer_text(service, "build"); /* "": the service is older */
        printable_line(stdout, "shoald %s%s%s", answer_text(service, "version"), *build ? ", " : "", build);
    }
    json_decref(service);
    return EXIT_OK;
}
