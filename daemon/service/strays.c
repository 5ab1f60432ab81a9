/* SPDX-License-Identifier: Apache-2.0
 *
 * Folders that a start puts right. Those of imports that were interrupted; and those of ensembles that the database
 * does not know: it is older than they are, since it was restored from an earlier copy or lost its write-ahead log
 * (shoald.db-wal). SQLite opens such a database without a word.
 */
#include "daemon/service/service.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/host/folder.h"
#include "engine/base/log.h"
#include "engine/base/number.h"
#include "engine/base/path.h"

#define NAMED 3 /* in the log */

struct known_folders {
    char **ids; /* owned */
    int n;
};

static void add(void *arg, const char *id)
{
    struct known_folders *k = arg;
    k->ids = xrealloc(k->ids, (size_t)k->n + 1, sizeof *k->ids);
    k->ids[k->n++] = xstrdup(id);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool knows(const struct known_folders *k, const char *id)
{
    return k->n && bsearch(&id, k->ids, (size_t)k->n, sizeof *k->ids, by_text);
}

/* How many folders have the name of an ensemble and no row; the first ones' names go into *names. */
static int count(const char *folder, const struct known_folders *k, struct buf *names)
{
    DIR *d = opendir(folder);
    int n = 0;
    for (const struct dirent *item; d && (item = readdir(d));)
        if (service_is_id(item->d_name) && !knows(k, item->d_name) && n++ < NAMED)
            buf_printf(names, "%s%s", n > 1 ? ", " : "", item->d_name);
    if (d)
        closedir(d);
    if (n > NAMED)
        buf_printf(names, ", ...");
    return n;
}

static int say(const struct service *sv, int strays, const char *names, bool none, struct err *e)
{
    const char *state = sv->config.state;
    if (strays && none)
        return err_set(e, ERR_DATABASE,
                       "%s/shoald.db has no ensembles, but %s/ensembles holds %d %s (%s): put the database back from a "
                       "copy together with its shoald.db-wal, or move %s/ensembles away to start with nothing",
                       state, state, strays, number_word(strays, "ensemble", "ensembles"), names, state);
    if (strays)
        log_line(
            LOG_WARNING,
            "%s/ensembles holds %d %s (%s) of which %s/shoald.db knows nothing: the database is older than they are; "
            "put both back from one copy, the database together with its shoald.db-wal, or move the folders away",
            state, strays, number_word(strays, "ensemble", "ensembles"), names, state);
    return 0;
}

/* ---- imports that a stop interrupted ---- */

static void finish_import(const struct service *sv, const char *name, bool stored)
{
    struct buf from = {0}, to = {0};
    struct err e = {0};
    int64_t bytes = 0;
    buf_printf(&from, "%s/imports/%s", sv->config.state, name);
    buf_printf(&to, "%s/ensembles/%s", sv->config.state, name);
    if (!stored)
        folder_remove(from.data, &bytes, &e);
    else if (path_make_parents(to.data, 0755, &e) == 0 && rename(from.data, to.data))
        err_errno(&e, "move %s to %s", from.data, to.data);
    if (e.code)
        log_line(LOG_WARNING, "an import was interrupted: %s", e.msg);
    buf_free(&from);
    buf_free(&to);
}

void service_finish_imports(struct service *sv, struct ensemble *const *ensembles, int n)
{
    struct buf folder = {0};
    buf_printf(&folder, "%s/imports", sv->config.state);
    DIR *d = opendir(folder.data);
    for (const struct dirent *item; d && (item = readdir(d));) {
        bool stored = false;
        for (int i = 0; i < n; i++)
            stored |= !strcmp(ensembles[i]->id, item->d_name);
        if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0)
            finish_import(sv, item->d_name, stored);
    }
    if (d)
        closedir(d);
    buf_free(&folder);
}

int service_find_strays(struct service *sv, struct ensemble *const *ensembles, int n, struct err *e)
{
    struct known_folders k = {0};
    struct buf folder = {0}, names = {0};
    for (int i = 0; i < n; i++)
        add(&k, ensembles[i]->id);
    int rc = store_load_removals(sv->store, add, &k, e);
    if (!rc) {
        if (k.n)
            qsort(k.ids, (size_t)k.n, sizeof *k.ids, by_text);
        buf_printf(&folder, "%s/ensembles", sv->config.state);
        int strays = count(folder.data, &k, &names);
        rc = say(sv, strays, names.data, n == 0, e);
    }
    for (int i = 0; i < k.n; i++)
        free(k.ids[i]);
    free(k.ids);
    buf_free(&folder);
    buf_free(&names);
    return rc;
}
