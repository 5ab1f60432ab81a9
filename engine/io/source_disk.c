/* SPDX-License-Identifier: Apache-2.0
 *
 * The source that reads a folder of the disk and include folders. Texts are read once and kept.
 */
#include "engine/io/io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/gzip.h"
#include "engine/base/path.h"
#include "engine/io/hash_table.h"

struct disk_text {
    char *name, *path;
    struct buf text;
};

struct disk_source {
    struct source source;
    bool confined;  /* to the base */
    char **folders; /* the base, then include folders */
    int nfolders, folders_cap;
    struct hash_table names; /* name -> index into texts */
    struct disk_text *texts;
    int ntexts, texts_cap;
};

/* True when the file behind `path` lies below `folder` once symbolic links are followed. */
static bool lies_below(const char *folder, const char *path)
{
    char *base = realpath(folder, NULL), *file = realpath(path, NULL);
    size_t n = base ? strlen(base) : 0;
    bool ok = base && file && !strncmp(base, file, n) && (file[n] == '/' || (n == 1 && base[0] == '/'));
    free(base);
    free(file);
    return ok;
}

/* The text of a name, which lies in `file` as seen from `folder`. */
static bool read_from(const struct disk_source *d, const char *folder, const char *file, const char *name,
                      struct disk_text *out)
{
    struct buf path = {0};
    struct stat st;
    struct err e;
    if (file[0] == '/')
        buf_printf(&path, "%s", file);
    else
        buf_printf(&path, "%s/%s", folder, file);
    bool ok = !stat(path.data, &st) && S_ISREG(st.st_mode) && (!d->confined || lies_below(folder, path.data)) &&
              !gzip_read_file(&out->text, path.data, &e);
    if (ok) {
        out->name = xstrdup(name);
        out->path = path.data;
        return true;
    }
    buf_free(&path);
    buf_free(&out->text);
    return false;
}

static const char *disk_find(struct source *s, const char *name, size_t *len)
{
    struct disk_source *d = (struct disk_source *)s;
    int known = hash_table_get(&d->names, name, strlen(name));
    struct disk_text text = {0};
    if (known < 0) {
        char *kept = path_kept(name);
        bool found = false;
        for (int i = 0; !found && !d->confined && i < d->nfolders; i++)
            found = read_from(d, d->folders[i], name, name, &text);
        found = found || read_from(d, d->folders[0], kept, name, &text);
        free(kept);
        if (!found)
            return NULL;
        known = hash_table_add(&d->names, name, strlen(name), d->ntexts);
        d->texts = grow_array(d->texts, d->ntexts, &d->texts_cap, sizeof *d->texts);
        d->texts[d->ntexts++] = text;
    }
    *len = d->texts[known].text.len;
    return d->texts[known].text.data;
}

static void disk_close(struct source *s)
{
    struct disk_source *d = (struct disk_source *)s;
    for (int i = 0; i < d->ntexts; i++) {
        free(d->texts[i].name);
        free(d->texts[i].path);
        buf_free(&d->texts[i].text);
    }
    free(d->texts);
    for (int i = 0; i < d->nfolders; i++)
        free(d->folders[i]);
    free(d->folders);
    hash_table_free(&d->names);
    free(d);
}

void source_disk_include(struct source *s, const char *folder)
{
    struct disk_source *d = (struct disk_source *)s;
    d->folders = grow_array(d->folders, d->nfolders, &d->folders_cap, sizeof *d->folders);
    d->folders[d->nfolders++] = xstrdup(folder);
}

struct source *source_disk_new(const char *base, bool confined)
{
    struct disk_source *d = xcalloc(1, sizeof *d);
    d->source.find = disk_find;
    d->source.close = disk_close;
    d->confined = confined;
    source_disk_include(&d->source, base[0] ? base : ".");
    return &d->source;
}

bool source_disk_file(const struct source *s, int i, struct source_file *out)
{
    const struct disk_source *d = (const struct disk_source *)s;
    if (i >= d->ntexts)
        return false;
    const struct disk_text *t = &d->texts[i];
    *out = (struct source_file){t->name, t->path, t->text.data, t->text.len};
    return true;
}
