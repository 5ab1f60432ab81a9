/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader's side of kept.h.
 */
#include "client/division/kept.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/division/division.h"

#define SILENT_S 300 /* ten times what a share that works lets pass */

static const char *const state_words[] = {
    [SHARE_NEW] = "new",         [SHARE_WORKS] = "works",   [SHARE_SILENT] = "silent", [SHARE_STOPPED] = "stopped",
    [SHARE_REFUSED] = "refused", [SHARE_FAILED] = "failed", [SHARE_DONE] = "done"};

const char *kept_word(enum share_state state)
{
    return state_words[state];
}

enum share_state kept_state(const json_t *status)
{
    const char *word = answer_text(status, "state");
    enum share_state state = SHARE_NEW;
    while (state < SHARE_DONE && strcmp(word, state_words[state]) != 0)
        state++;
    if (state == SHARE_WORKS && time(NULL) - answer_whole(status, "said") > SILENT_S)
        state = SHARE_SILENT;
    return status ? state : SHARE_NEW;
}

json_t *kept_status(const char *folder, int64_t share)
{
    struct buf path = {0}, text = {0};
    struct err none = {0};
    division_share(&path, folder, share);
    buf_printf(&path, "/status.json");
    json_t *status = !access(path.data, F_OK) && !buf_read_file(&text, path.data, &none)
                         ? json_loadb(text.data ? text.data : "", text.len, 0, NULL)
                         : NULL;
    buf_free(&text);
    buf_free(&path);
    return status;
}

static void add_share(json_t *present, const char *folder, int64_t share)
{
    json_t *status = kept_status(folder, share), *one;
    size_t i;
    json_array_foreach (json_object_get(status, "ensembles"), i, one) {
        json_object_set_new(one, "share", json_integer(share));
        json_object_set(present, answer_text(one, "key"), one);
    }
    json_decref(status);
}

int kept_look(json_t *present, const char *folder, struct err *e)
{
    json_t *division = division_read(folder, e);
    for (int64_t share = 0; share < answer_whole(division, "shares"); share++)
        add_share(present, folder, share);
    json_decref(division);
    return -(int)e->code;
}

int kept_file(struct buf *text, const char *folder, const json_t *ensemble, const char *end, struct err *e)
{
    struct buf path = {0};
    division_share(&path, folder, answer_whole(ensemble, "share"));
    buf_printf(&path, "/results/%s%s", answer_text(ensemble, "key"), end);
    int rc = buf_read_file(text, path.data, e);
    buf_free(&path);
    return rc;
}

/* ---- said to people ---- */

/* What is to be looked after. */
static void say_share(const struct client *c, const char *file, int64_t share, int64_t shares, const json_t *status)
{
    const char *host = answer_text(status, "host"), *job = answer_text(status, "job");
    const enum share_state state = kept_state(status);
    if (state == SHARE_SILENT)
        client_say(c, "share %lld has said nothing for %lld min: process %lld on %s%s%s", (long long)share,
                   (long long)(time(NULL) - answer_whole(status, "said")) / 60, answer_whole(status, "process"), host,
                   *job ? ", job " : "", job);
    if (state == SHARE_FAILED || state == SHARE_REFUSED)
        client_say(c, "share %lld %s on %s%s%s: after the mend `shoal campaign %s %s --here %s --share %lld/%lld`%s",
                   (long long)share, state == SHARE_FAILED ? "has failed" : "was refused", host, *job ? ", job " : "",
                   job, state == SHARE_FAILED ? "retry" : "run", file, c->division, (long long)share, (long long)shares,
                   state == SHARE_FAILED ? ", then the same with run" : "");
}

void kept_say(const struct client *c, const char *file)
{
    struct err e = {0};
    struct buf counts = {0};
    json_t *division = division_read(c->division, &e);
    const int64_t shares = answer_whole(division, "shares");
    int n[SHARE_DONE + 1] = {0};
    for (int64_t share = 0; share < shares; share++) {
        json_t *status = kept_status(c->division, share);
        n[kept_state(status)]++;
        say_share(c, file, share, shares, status);
        json_decref(status);
    }
    for (int state = SHARE_DONE; state >= SHARE_NEW; state--)
        if (n[state])
            buf_printf(&counts, "%s%d %s", counts.len ? ", " : "", n[state], state_words[state]);
    client_say(c, "%lld shares: %s%s", (long long)shares, counts.data,
               division_cancelled(c->division, &e) ? "; the campaign was cancelled" : "");
    buf_free(&counts);
    json_decref(division);
}
