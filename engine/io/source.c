/* SPDX-License-Identifier: Apache-2.0
 *
 * The lookup rule of every source, and the source of uploaded files.
 */
#include "engine/io/io.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/gzip.h"
#include "engine/base/path.h"
#include "engine/io/hash_table.h"

static void forget_wanted(struct source *s)
{
    for (int i = 0; s->wanted[i]; i++) {
        free(s->wanted[i]);
        s->wanted[i] = NULL;
    }
}

void source_free(struct source *s)
{
    if (!s)
        return;
    forget_wanted(s);
    s->close(s);
}

/* Normalised name to try, into s->wanted[n]; returns the number of names to try so far. */
static int want(struct source *s, int n, const char *from, const char *name)
{
    char *path = path_join(from, name);
    bool skip = !path_is_normal(path) || (n && !strcmp(path, s->wanted[0]));
    if (skip) {
        free(path);
        return n;
    }
    s->wanted[n] = path;
    return n + 1;
}

int source_open(struct source *s, const char *from, const char *name, struct source_text *out, struct err *e)
{
    forget_wanted(s);
    int n = want(s, 0, from, name);
    if (from)
        n = want(s, n, NULL, name);
    if (n == 0)
        return err_set(e, ERR_UNSUPPORTED, "\"%s\" is not the name of a file", name);
    for (int i = 0; i < n; i++) {
        out->text = s->find(s, s->wanted[i], &out->len);
        if (out->text && gzip_is(out->text, out->len))
            return err_set(e, ERR_IO, "\"%s\": its gzip data end too early, are damaged, or hold more than %d MB",
                           s->wanted[i], GZIP_TEXT_MAX >> 20);
        if (out->text) {
            out->name = s->wanted[i];
            return 0;
        }
    }
    return n == 1 ? err_set(e, ERR_MISSING_FILE, "there is no file \"%s\"", s->wanted[0])
                  : err_set(e, ERR_MISSING_FILE, "there is no file \"%s\" or \"%s\"", s->wanted[0], s->wanted[1]);
}

struct memory_file {
    char *text;
    size_t len;
};

struct memory_source {
    struct source source;
    struct hash_table names; /* name -> index into files */
    struct memory_file *files;
    int nfiles, cap;
};

static const char *memory_find(struct source *s, const char *name, size_t *len)
{
    struct memory_source *m = (struct memory_source *)s;
    char *kept = path_kept(name);
    int i = hash_table_get(&m->names, kept, strlen(kept));
    free(kept);
    if (i < 0)
        return NULL;
    *len = m->files[i].len;
    return m->files[i].text;
}

static void memory_close(struct source *s)
{
    struct memory_source *m = (struct memory_source *)s;
    for (int i = 0; i < m->nfiles; i++)
        free(m->files[i].text);
    free(m->files);
    hash_table_free(&m->names);
    free(m);
}

struct source *source_memory_new(void)
{
    struct memory_source *m = xcalloc(1, sizeof *m);
    m->source.find = memory_find;
    m->source.close = memory_close;
    return &m->source;
}

int source_memory_add(struct source *s, const char *name, const void *text, size_t len, struct err *e)
{
    struct memory_source *m = (struct memory_source *)s;
    char *path = path_join(NULL, name);
    if (!path_is_normal(path)) {
        free(path);
        return err_set(e, ERR_UNSUPPORTED, "\"%s\" is not the name of a file", name);
    }
    char *kept = path_kept(path);
    free(path);
    int i = hash_table_add(&m->names, kept, strlen(kept), m->nfiles);
    free(kept);
    if (i == m->nfiles)
        m->files = grow_array(m->files, m->nfiles++, &m->cap, sizeof *m->files);
    free(m->files[i].text);
    m->files[i].text = memcpy(xcalloc(len + 1, 1), text, len);
    m->files[i].len = len;
    return 0;
}
