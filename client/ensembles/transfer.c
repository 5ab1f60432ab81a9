/* SPDX-License-Identifier: Apache-2.0
 *
 * export, import-ensemble: an ensemble goes to another service as one file.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/ask/http.h"
#include "client/command/handlers.h"
#include "client/show/show.h"
#include "engine/base/clock.h"
#include "engine/base/number.h"

#define REST_S 60       /* how long an ensemble may take to come to rest after it was paused */
#define AGAIN_US 500000 /* between two looks */

static bool is_standard(const char *file)
{
    return !strcmp(file, "-");
}

/* ---- export ---- */

/* Nothing was written where the service refuses. */
static int download(const struct client *c, const char *path, FILE *file, long long *bytes, struct err *e)
{
    struct buf reply = {0};
    long status = 0;
    int rc = http_download(c->http, path, file, bytes, &status, &reply, e);
    if (!rc && status != 200)
        json_decref(answer_object(status, &reply, e)), rc = -(int)e->code;
    buf_free(&reply);
    return rc;
}

/* One that was paused just now makes its last checkpoints. */
static int download_at_rest(const struct client *c, const char *id, FILE *file, long long *bytes, struct err *e)
{
    const double until = clock_now() + REST_S;
    struct buf path = {0};
    client_path(&path, id, "/export");
    int rc = download(c, path.data, file, bytes, e);
    while (rc == -ERR_BUSY && clock_now() < until) {
        usleep(AGAIN_US);
        *e = (struct err){0};
        rc = download(c, path.data, file, bytes, e);
    }
    buf_free(&path);
    return rc;
}

/* The file has its name when all of it is there. */
static int export_into(const struct client *c, const char *id, const char *target, long long *bytes, struct err *e)
{
    struct buf part = {0};
    buf_printf(&part, "%s.part", target);
    FILE *file = fopen(part.data, "wb");
    int rc = file ? download_at_rest(c, id, file, bytes, e) : err_errno(e, "%s", part.data);
    if (file && (fflush(file) || fsync(fileno(file))) && !rc)
        rc = err_errno(e, "%s", part.data);
    if (file)
        fclose(file);
    if (!rc && rename(part.data, target))
        rc = err_errno(e, "%s", target);
    if (rc && file)
        unlink(part.data);
    buf_free(&part);
    return rc;
}

static int export_one(const struct client *c, const json_t *ensemble, struct err *e)
{
    const char *id = answer_text(ensemble, "id");
    struct buf size = {0};
    long long bytes = 0;
    int rc =
        is_standard(c->output) ? download_at_rest(c, id, stdout, &bytes, e) : export_into(c, id, c->output, &bytes, e);
    number_bytes(&size, (double)bytes);
    if (!rc)
        client_say(c, "ensemble %s %s: %s in %s; it stays here as it is", id, answer_text(ensemble, "name"), size.data,
                   is_standard(c->output) ? "all" : c->output);
    if (!rc && c->json && !is_standard(c->output)) {
        json_t *said = json_pack("{s:s,s:s,s:s,s:I}", "id", id, "name", answer_text(ensemble, "name"), "file",
                                 c->output, "bytes", (json_int_t)bytes);
        client_print(said);
        json_decref(said);
    }
    buf_free(&size);
    return rc;
}

int export_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    struct buf path = {0};
    if (!c->output || (is_standard(c->output) && show_is_terminal(stdout))) {
        err_set(&e, ERR_USAGE,
                "export needs --output FILE: where the archive goes; - is standard output, if that is no "
                "terminal");
        return client_fail(c, &e);
    }
    client_path(&path, argv[0], "");
    json_t *ensemble = client_get(c, path.data, &e);
    buf_free(&path);
    if (ensemble)
        export_one(c, ensemble, &e);
    json_decref(ensemble);
    return e.code ? client_fail(c, &e) : EXIT_OK;
}

/* ---- import-ensemble ---- */

static json_t *upload(const struct client *c, FILE *file, struct err *e)
{
    struct buf reply = {0};
    long status = 0;
    json_t *ensemble = NULL;
    if (http_upload(c->http, "/v1/import", file, &status, &reply, e) == 0)
        ensemble = answer_object(status, &reply, e);
    buf_free(&reply);
    return ensemble;
}

static void print_imported(const struct client *c, const json_t *ensemble)
{
    const char *id = answer_text(ensemble, "id"), *state = answer_text(ensemble, "state");
    if (c->json)
        client_print(ensemble);
    else
        printf("%s\n", id);
    client_say(c, "%s is %s%s%s", answer_text(ensemble, "name"), state,
               strcmp(state, "paused") ? "" : "; it goes on with: shoal resume ", strcmp(state, "paused") ? "" : id);
}

int import_ensemble_main(struct client *c, int argc, char **argv)
{
    struct err e = {0};
    FILE *file = is_standard(argv[0]) ? stdin : fopen(argv[0], "rb");
    if (!file)
        err_set(&e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", argv[0], strerror(errno));
    json_t *ensemble = file ? upload(c, file, &e) : NULL;
    if (ensemble)
        print_imported(c, ensemble);
    json_decref(ensemble);
    if (file && file != stdin)
        fclose(file);
    return e.code ? client_fail(c, &e) : EXIT_OK;
}
