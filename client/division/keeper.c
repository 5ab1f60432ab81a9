/* SPDX-License-Identifier: Apache-2.0
 *
 * The share's side of kept.h.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/http.h"
#include "client/division/division.h"
#include "client/division/kept.h"
#include "engine/base/clock.h"
#include "engine/base/path.h"

#define SAID_S 30.0
#define FURTHER 0.1 /* of all steps: then results so far are asked for again */
#define ENDED 3.0   /* much further than any other */
#define REVISED 10.0

/* ---- results ---- */

struct fetching_kept {
    const struct client *c;
    const json_t **wanted;  /* ensembles */
    json_t *marks;          /* key -> how far it was when this was kept of it */
    const char *what, *end; /* of the service, of the file */
};

/* One that was extended begins again, further than it was. */
static double far(const json_t *ensemble)
{
    const double done = ensemble_ended(answer_text(ensemble, "state")) ? ENDED : answer_number(ensemble, "progress");
    return REVISED * (double)(answer_whole(ensemble, "revision") - 1) + done;
}

static void fill_kept(void *arg, int i, struct buf *path, struct buf *body)
{
    const struct fetching_kept *f = arg;
    client_path(path, answer_text(f->wanted[i], "id"), f->what);
}

static void write_kept(const struct client *c, const char *name, const char *end, const void *data, size_t size)
{
    struct buf path = {0};
    struct err e = {0};
    buf_printf(&path, "%s/%s%s", c->here, name, end);
    if (path_make_parents(path.data, 0777, &e) || buf_write_file(path.data, data, size, &e))
        client_say(c, "%s", e.msg);
    buf_free(&path);
}

static void keep_one(void *arg, int i, long status, const struct buf *reply)
{
    const struct fetching_kept *f = arg;
    const char *key = answer_text(f->wanted[i], "key");
    struct buf name = {0};
    buf_printf(&name, "results/%s", key);
    if (status == 200)
        write_kept(f->c, name.data, f->end, reply->data, reply->len);
    if (status < 500) /* else it is asked again */
        json_object_set_new(f->marks, key, json_real(far(f->wanted[i])));
    buf_free(&name);
}

/* Of those that have got so much further since. How many those are. */
static int keep(struct fetching_kept *f, const json_t *present, double further)
{
    struct http_batch batch = {.method = "GET", .arg = f, .fill = fill_kept, .done = keep_one};
    struct err away = {0}; /* the next look says so */
    json_t *one;
    const char *key;
    json_object_foreach ((json_t *)present, key, one)
        if (far(one) - answer_number(f->marks, key) > further)
            f->wanted[batch.count++] = one;
    http_batch(f->c->http, &batch, &away);
    return batch.count;
}

/* ---- status.json ---- */

static void write_status(const struct client *c, const json_t *present, enum share_state state)
{
    char host[256] = "";
    const char *job = getenv("SLURM_JOB_ID"), *key;
    json_t *before = present ? NULL : kept_status(c->division, c->share.at), *list = json_array(), *one;
    gethostname(host, sizeof host - 1);
    json_array_extend(list, json_object_get(before, "ensembles"));
    json_object_foreach ((json_t *)present, key, one)
        json_array_append(list, one);
    json_t *status = json_pack("{s:s,s:I,s:s,s:s,s:I,s:o}", "state", kept_word(state), "process", (json_int_t)getpid(),
                               "host", host, "job", job ? job : "", "said", (json_int_t)time(NULL), "ensembles", list);
    char *text = json_dumps(status, JSON_COMPACT);
    write_kept(c, "status", ".json", text, strlen(text));
    free(text);
    json_decref(status);
    json_decref(before);
}

/* ---- all of it ---- */

void keeper_open(struct keeper *k)
{
    *k = (struct keeper){.results = json_object(), .specs = json_object()};
}

void keeper_look(struct keeper *k, const struct client *c, const json_t *present)
{
    const json_t **wanted = xcalloc(json_object_size(present) + 1, sizeof *wanted);
    struct fetching_kept results = {c, wanted, k->results, "/results?live=1", ".json"},
                         specs = {c, wanted, k->specs, "/files/input/spec.yaml", ".yaml"};
    int news = keep(&results, present, FURTHER);
    news += keep(&specs, present, 0);
    if (news || k->said == 0 || clock_now() - k->said > SAID_S) {
        write_status(c, present, SHARE_WORKS);
        k->said = clock_now();
    }
    free(wanted);
}

void keeper_close(struct keeper *k, const struct client *c, const json_t *present, int code)
{
    struct err e = {0};
    const bool stopped = code == EXIT_TRY_LATER || division_cancelled(c->division, &e);
    const enum share_state state = code == EXIT_OK       ? SHARE_DONE
                                   : code == EXIT_FAILED ? SHARE_FAILED
                                   : stopped             ? SHARE_STOPPED
                                                         : SHARE_REFUSED;
    write_status(c, present, state);
    json_decref(k->results);
    json_decref(k->specs);
    *k = (struct keeper){0};
}
