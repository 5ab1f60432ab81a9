/* SPDX-License-Identifier: Apache-2.0
 *
 * The programs of Shoal: are they there, of one version, and does the service work?
 */
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/ask/http.h"
#include "client/ask/socket_path.h"
#include "client/doctor/doctor.h"
#include "client/programs/worker.h"

static void check_worker(struct doctor *d)
{
    char *words[] = {"shoal-worker", "version", NULL};
    struct buf said = {0};
    const int rc = hear_worker(d->c, words, &said);
    said.len -= said.len && said.data[said.len - 1] == '\n';
    const char *text = said.len ? said.data : "nothing";
    if (said.len)
        said.data[said.len] = '\0';
    if (rc)
        doctor_say(d, "worker", "install Shoal again, or let SHOAL_WORKER name the program shoal-worker",
                   "the worker does not start: %s", text);
    else if (strcmp(text, "shoal-worker " SHOAL_VERSION))
        doctor_say(d, "worker", "install client and worker of one version", "%s, the client is %s", text,
                   SHOAL_VERSION);
    else
        doctor_say(d, "worker", NULL, "%s", text);
    buf_free(&said);
}

static void check_cards(struct doctor *d, const json_t *device)
{
    const json_t *cards = json_object_get(device, "cards");
    const long long open = answer_whole(cards, "open"), joined = answer_whole(cards, "joined");
    if (open < joined)
        doctor_say(d, "service", "its log says why, journalctl -u shoald; they are tried again after a restart of it",
                   "device %s has %lld of its %lld cards", answer_text(device, "device"), open, joined);
}

/* Devices of the service that are in trouble; drained ones are not. */
static void check_devices_of(struct doctor *d, const json_t *version)
{
    const json_t *device;
    size_t i;
    json_array_foreach (json_object_get(version, "devices"), i, device) {
        const char *state = answer_text(device, "state"), *trouble = answer_text(device, "trouble");
        check_cards(d, device);
        if (strcmp(state, "down") && strcmp(state, "sick"))
            continue;
        doctor_say(d, "service", "the service tries it again by itself; its log says more: journalctl -u shoald",
                   "device %s is %s%s%s", answer_text(device, "device"), state, *trouble ? ": " : "", trouble);
    }
}

static void check_version(struct doctor *d, const char *socket, const json_t *version)
{
    const char *number = answer_text(version, "version"), *build = answer_text(version, "build");
    if (strcmp(number, SHOAL_VERSION) || strcmp(build, d->c->build))
        doctor_say(
            d, "service",
            "restart the service after an upgrade (systemctl restart shoald), or install the client of its version",
            "shoald %s, %s at %s is not of the client's build", number, build, socket);
    else
        doctor_say(d, "service", NULL, "shoald %s at %s", number, socket);
}

static void check_ready(struct doctor *d)
{
    struct err e = {0};
    json_t *ready = client_get(d->c, "/healthz/ready", &e);
    if (!ready)
        doctor_say(d, "service", "its log says why: journalctl -u shoald", "the service takes no work: %s", e.msg);
    json_decref(ready);
}

/* `expected`: a socket is there, or was named. */
static void say_none(struct doctor *d, const char *socket, bool expected, const struct err *e)
{
    if (e->code == ERR_FORBIDDEN)
        doctor_say(d, "service", "usermod --append --groups shoal-users USER as root, then log in again", "%s", e->msg);
    else if (expected)
        doctor_say(d, "service", "systemctl status shoald, or shoal up for a service of your own", "%s: %s", socket,
                   e->msg);
    else
        doctor_say(d, "service", NULL, "none runs; shoal up starts one of your own");
}

static void check_service(struct doctor *d)
{
    struct client c = *d->c;
    struct doctor with = {.c = &c, .lines = d->lines};
    struct buf socket = {0}, tried = {0};
    struct err e = {0};
    socket_path_find(c.socket, &socket, &tried);
    c.http = http_new(socket.data, tried.data);
    json_t *version = client_get(&c, "/v1/version", &e);
    if (version) {
        check_version(&with, socket.data, version);
        check_ready(&with);
        check_devices_of(&with, version);
    } else {
        say_none(&with, socket.data, !strcmp(socket.data, tried.data) || !access(socket.data, F_OK), &e);
    }
    d->warned |= with.warned;
    json_decref(version);
    http_free(c.http);
    buf_free(&socket);
    buf_free(&tried);
}

void doctor_programs(struct doctor *d)
{
    doctor_say(d, "client", NULL, "shoal %s, %s", SHOAL_VERSION, d->c->build);
    check_worker(d);
    check_service(d);
}
