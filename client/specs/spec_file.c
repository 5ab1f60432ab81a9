/* SPDX-License-Identifier: Apache-2.0
 *
 * A spec that this program makes: on standard output, or in a file that is not there yet; and the pieces of its text.
 */
#include "client/specs/spec_file.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/printable.h"

void spec_text(struct buf *out, const char *text)
{
    bool plain = isalpha((unsigned char)*text) || *text == '/' || !strncmp(text, "../", 3);
    for (const char *p = text; *p; p++)
        plain &= isalnum((unsigned char)*p) || strchr("._/+-", *p);
    if (plain) {
        buf_printf(out, "%s", text);
        return;
    }
    struct buf quoted = {0};
    for (const char *p = text; *p; p++)
        buf_printf(&quoted, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
    buf_printf(out, "\"");
    printable_add(out, quoted.data ? quoted.data : "", ""); /* its escapes are those of YAML */
    buf_printf(out, "\"");
    buf_free(&quoted);
}

/* The folder of a path without symbolic links, appended. ERR_IO: there is none. */
static int folder_of(const char *path, struct buf *out, struct err *e)
{
    char real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct buf folder = {0};
    buf_printf(&folder, "%.*s", !slash ? 1 : slash > path ? (int)(slash - path) : 1, slash ? path : ".");
    int rc = realpath(folder.data, real) ? 0 : err_errno(e, "%s", folder.data);
    buf_free(&folder);
    if (!rc)
        buf_printf(out, "%s", strcmp(real, "/") ? real : "");
    return rc;
}

/* The way from a folder, which ends in '/', to a file, both from the root; appended. Where they share no folder it is
 * the file's path. */
static void add_way(const char *folder, const char *file, struct buf *out)
{
    size_t shared = 0;
    for (size_t i = 0; folder[i] && folder[i] == file[i]; i++)
        if (folder[i] == '/')
            shared = i + 1;
    if (shared <= 1 && folder[shared]) {
        buf_printf(out, "%s", file);
        return;
    }
    for (const char *p = strchr(folder + shared, '/'); p; p = strchr(p + 1, '/'))
        buf_printf(out, "../");
    buf_printf(out, "%s", file + shared);
}

int spec_path(const char *path, const char *spec, struct buf *out, struct err *e)
{
    const char *slash = strrchr(path, '/');
    struct buf base = {0}, file = {0};
    int rc = access(path, R_OK) ? err_set(e, ERR_MISSING_FILE, "%s: no such file", path) : 0;
    if (!rc)
        rc = folder_of(spec ? spec : ".", &base, e);
    if (!rc)
        rc = folder_of(path, &file, e);
    if (!rc) {
        buf_printf(&base, "/");
        buf_printf(&file, "/%s", slash ? slash + 1 : path);
        add_way(base.data, file.data, out);
    }
    buf_free(&base);
    buf_free(&file);
    return rc;
}

void spec_name(struct buf *out, const char *text, const char *otherwise)
{
    char name[64] = "";
    for (size_t used = 0; *text && used < sizeof name - 1; text++)
        if (isalnum((unsigned char)*text) || (used && strchr("._+-", *text)))
            name[used++] = *text;
        else if (used)
            name[used++] = '-';
    buf_printf(out, "%s", *name ? name : otherwise);
}

int spec_file_write(const struct client *c, const struct buf *spec, struct err *e)
{
    if (!c->output)
        return c->json || fwrite(spec->data, 1, spec->len, stdout) == spec->len ? 0 : err_errno(e, "standard output");
    if (!access(c->output, F_OK))
        return err_set(e, ERR_CONFLICT, "%s is there already: expected the name of a new file", c->output);
    return buf_write_file(c->output, spec->data, spec->len, e);
}
