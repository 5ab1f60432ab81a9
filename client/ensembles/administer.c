/* SPDX-License-Identifier: Apache-2.0
 *
 * What administrators take out of use and put back: devices and admission.
 */
#include "client/ensembles/administer.h"

#include <stdio.h>

#include "client/ask/answer.h"
#include "client/ask/http.h"
#include "client/command/command.h"
#include "client/command/handlers.h"
#include "client/show/show.h"
#include "engine/base/printable.h"

void administer_put_hold(struct buf *out, const json_t *hold)
{
    const char *reason = answer_text(hold, "reason");
    buf_printf(out, "by %s since ", answer_text(hold, "by"));
    show_time(out, answer_text(hold, "since"));
    buf_printf(out, "%s%s", *reason ? ": " : "", reason);
}

static void add(struct buf *path, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(path, "%s%s=", path->data[path->len - 1] == '?' ? "" : "&", name);
    http_escape(path, value);
}

/* device NULL: all, or none is meant. */
static json_t *post(const struct client *c, const char *device, struct err *e)
{
    struct buf path = {0};
    buf_printf(&path, "/v1/%s?", c->command->name);
    add(&path, "device", device);
    add(&path, "reason", c->reason);
    json_t *answer = client_ask(c, "POST", path.data, e);
    buf_free(&path);
    return answer;
}

/* "cuda:1 drained", a line each. */
static void print_devices(const json_t *answer)
{
    const json_t *device;
    size_t i;
    json_array_foreach (json_object_get(answer, "devices"), i, device)
        printable_line(stdout, "%s %s", answer_text(device, "device"), answer_text(device, "state"));
}

/* What has become of it: `now`, or NULL: the devices of the answer, which is freed. */
static int told(const struct client *c, json_t *answer, const char *now, const char *said)
{
    if (c->json)
        client_print(answer);
    else if (now)
        puts(now);
    else
        print_devices(answer);
    client_say(c, "%s", said);
    json_decref(answer);
    return EXIT_OK;
}

/* The devices named, or all; what is said of the last has all. */
static int use_devices(const struct client *c, int argc, char **argv, const char *said)
{
    struct err e = {0};
    json_t *answer = NULL;
    if (c->all == (argc > 0)) {
        err_set(&e, ERR_USAGE, "%s wants either devices, as in cuda:1, or --all", c->command->name);
        return client_fail(c, &e);
    }
    for (int i = 0; i < argc || (!i && c->all); i++) {
        json_decref(answer);
        if (!(answer = post(c, argc ? argv[i] : NULL, &e)))
            return client_fail(c, &e);
    }
    return told(c, answer, NULL, said);
}

int drain_main(struct client *c, int argc, char **argv)
{
    return use_devices(c, argc, argv,
                       "replicas there make checkpoints and go on elsewhere; `shoal undrain` puts the device back");
}

int undrain_main(struct client *c, int argc, char **argv)
{
    return use_devices(c, argc, argv, "replicas start there again; `shoal status --devices` shows them");
}

static int change_admission(const struct client *c, const char *now, const char *said)
{
    struct err e = {0};
    json_t *answer = post(c, NULL, &e);
    return answer ? told(c, answer, now, said) : client_fail(c, &e);
}

int hold_main(struct client *c, int argc, char **argv)
{
    return change_admission(c, "held",
                            "only administrators submit; what was submitted goes on; `shoal release` ends it");
}

int release_main(struct client *c, int argc, char **argv)
{
    return change_admission(c, "released", "everybody may submit");
}
