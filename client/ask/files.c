/* SPDX-License-Identifier: Apache-2.0
 *
 * Fetching an ensemble's files. Each goes into NAME.part as it comes and gets its name when all of it is there, as long
 * as it was listed: a file of that name is whole. A folder belongs to one ensemble, and says to which.
 */
#include "client/ask/files.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/ask/answer.h"
#include "client/ask/ensembles.h"
#include "client/ask/http.h"
#include "engine/base/number.h"
#include "engine/base/path.h"
#include "engine/series/xvg.h"

static const char owner_file[] = ".shoal-ensemble";
enum { TRIES = 3 };

/* ---- whose folder it is ---- */

static bool is_empty(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *item; d && (item = readdir(d));)
        n += strcmp(item->d_name, ".") && strcmp(item->d_name, "..");
    if (d)
        closedir(d);
    return n == 0;
}

/* The id in the folder's own file, or in its results.json; "" when there is none. Appended. */
static void read_owner(const char *folder, struct buf *id)
{
    struct buf path = {0}, text = {0};
    struct err e = {0};
    buf_printf(&path, "%s/%s", folder, owner_file);
    buf_add(id, "", 0);
    if (!buf_read_file(&text, path.data, &e)) {
        buf_add(id, text.data, strcspn(text.data, "\n"));
    } else {
        path.len = 0;
        buf_printf(&path, "%s/results.json", folder);
        json_t *results = json_load_file(path.data, 0, NULL);
        buf_printf(id, "%s", answer_text(json_object_get(results, "ensemble"), "id"));
        json_decref(results);
    }
    buf_free(&path);
    buf_free(&text);
}

int files_claim(const char *folder, const char *id, struct err *e)
{
    struct buf path = {0}, owner = {0};
    buf_printf(&path, "%s/%s", folder, owner_file);
    int rc = path_make_parents(path.data, 0777, e);
    if (!rc)
        read_owner(folder, &owner);
    if (!rc && owner.len && strcmp(owner.data, id) != 0)
        rc = err_set(e, ERR_CONFLICT, "%s has the files of ensemble %s: those of %s need another folder", folder,
                     owner.data, id);
    else if (!rc && !owner.len && !is_empty(folder))
        rc = err_set(e, ERR_CONFLICT, "%s is not empty and has no files of ensemble %s: name another folder", folder,
                     id);
    owner.len = 0;
    buf_printf(&owner, "%s\n", id);
    if (!rc)
        rc = buf_write_file(path.data, owner.data, owner.len, e);
    buf_free(&path);
    buf_free(&owner);
    return rc;
}

/* ---- one file ---- */

/* A file of an ensemble that runs may have grown since it was listed; one that became shorter was cut on its way. */
static int check_length(const char *name, long long bytes, long long listed, bool grows, struct err *e)
{
    if (bytes == listed || (grows && bytes > listed))
        return 0;
    return err_set(e, ERR_IO, "%s: %lld %s came, %lld %s listed", name, bytes, number_word(bytes, "byte", "bytes"),
                   listed, number_word(listed, "was", "were"));
}

/* The same table as NAME.csv, beside NAME.xvg; of any other file nothing. */
static int write_csv(const char *path, struct err *e)
{
    const size_t n = strlen(path);
    struct buf text = {0}, csv = {0}, target = {0};
    if (n < 4 || strcmp(path + n - 4, ".xvg") != 0)
        return 0;
    int rc = buf_read_file(&text, path, e);
    buf_printf(&target, "%.*s.csv", (int)n - 4, path);
    buf_add(&csv, "", 0);
    if (!rc) {
        xvg_csv(&csv, text.data ? text.data : "", text.len);
        rc = buf_write_file(target.data, csv.data, csv.len, e);
    }
    buf_free(&text);
    buf_free(&csv);
    buf_free(&target);
    return rc;
}

struct fetch {
    const struct client *c;
    const char *id, *folder;
    bool grows;
};

static int fetch_part(const struct fetch *f, const char *name, const char *part, long long listed, struct err *e)
{
    struct buf url = {0}, reply = {0};
    long long bytes = 0;
    long status = 0;
    FILE *file = fopen(part, "wb");
    if (!file)
        return err_errno(e, "%s", part);
    client_path(&url, f->id, "/files/");
    http_escape_path(&url, name);
    int rc = http_download(f->c->http, url.data, file, &bytes, &status, &reply, e);
    if (rc == -ERR_IO)
        err_prefix(e, "%s", name);
    bool unwritten = ferror(file);
    unwritten |= fclose(file) != 0;
    if (unwritten)
        rc = err_errno(e, "%s", part);
    else if (!rc && status != 200)
        json_decref(answer_object(status, &reply, e)), rc = -(int)e->code;
    else if (!rc)
        rc = check_length(name, bytes, listed, f->grows, e);
    buf_free(&url);
    buf_free(&reply);
    return rc;
}

static int fetch(const struct fetch *f, const char *name, long long listed, struct err *e)
{
    struct buf target = {0}, part = {0};
    if (!path_is_below(name))
        return err_set(e, ERR_PROTOCOL, "the service lists a file named %s", name);
    buf_printf(&target, "%s/%s", f->folder, name);
    buf_printf(&part, "%s.part", target.data);
    int rc = path_make_parents(target.data, 0777, e);
    for (int tries = 1; !rc && (rc = fetch_part(f, name, part.data, listed, e)) && tries < TRIES; tries++) {
        if (e->code != ERR_IO && e->code != ERR_BUSY && e->code != ERR_UNREACHABLE)
            break;
        client_say(f->c, "%s; once more", e->msg);
        rc = 0;
    }
    if (!rc && rename(part.data, target.data))
        rc = err_errno(e, "%s", target.data);
    if (rc)
        unlink(part.data);
    else if (f->c->csv)
        rc = write_csv(target.data, e);
    buf_free(&target);
    buf_free(&part);
    return rc;
}

int files_download(const struct client *c, const json_t *ensemble, const char *folder, struct err *e)
{
    struct fetch f = {c, answer_text(ensemble, "id"), folder, !ensemble_ended(answer_text(ensemble, "state"))};
    struct buf path = {0};
    const json_t *file;
    size_t i, n = 0;
    if (files_claim(folder, f.id, e))
        return -(int)e->code;
    client_path(&path, f.id, "/files");
    json_t *answer = client_get(c, path.data, e);
    int rc = answer ? 0 : -(int)e->code;
    buf_free(&path);
    json_array_foreach (json_object_get(answer, "files"), i, file) {
        const char *name = answer_text(file, "path"), *slash = strrchr(name, '/');
        if (rc || !strncmp(slash ? slash + 1 : name, "checkpoint", 10)) /* the service's own, of no use here */
            continue;
        rc = fetch(&f, name, answer_whole(file, "bytes"), e);
        n++;
    }
    if (!rc)
        client_say(c, "%zu %s in %s", n, number_word((int64_t)n, "file", "files"), folder);
    json_decref(answer);
    return rc;
}
