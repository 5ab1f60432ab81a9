/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/offline/input.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/spec/split.h"
#include "engine/base/gzip.h"

static const char gromacs_folder[] = "/usr/share/gromacs/top";

struct source *input_source(const char *folder, const char *const *includes, int ninclude)
{
    const char *gmxlib = getenv("GMXLIB");
    char *list = xstrdup(gmxlib ? gmxlib : "");
    struct source *src = source_disk_new(folder, false);
    for (int i = 0; i < ninclude; i++)
        source_disk_include(src, includes[i]);
    for (char *rest = list, *one; (one = strsep(&rest, ":"));)
        if (*one)
            source_disk_include(src, one);
    source_disk_include(src, gromacs_folder);
    free(list);
    return src;
}

char *input_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = xstrdup(slash ? path : ".");
    if (slash)
        folder[slash == path ? 1 : slash - path] = '\0';
    return folder;
}

int input_window(const struct spec *spec, int64_t window, struct err *e)
{
    const int n = spec->settings.alchemy.nwindows;
    if (window >= 0 && window < n)
        return 0;
    return err_set(e, ERR_USAGE, "--window %lld: the spec has windows 0 to %d", (long long)window, n - 1);
}

int input_read(const char *path, const char *const *includes, int ninclude, struct spec **spec, struct system *sys,
               struct err *e)
{
    struct buf text = {0}, drawn = {0};
    int rc = gzip_read_file(&text, path, e);
    if (rc) {
        e->code = ERR_MISSING_FILE;
        rc = -(int)ERR_MISSING_FILE;
    }
    if (!rc)
        rc = spec_parse(spec, path, text.data, text.len, e);
    if (!rc && (*spec)->seed_random && (rc = spec_draw_seed(*spec, text.data, text.len, &drawn, e)))
        spec_free(*spec);
    buf_free(&drawn);
    buf_free(&text);
    if (rc)
        return rc;
    char *folder = input_folder(path);
    struct source *src = input_source(folder, includes, ninclude);
    free(folder);
    rc = spec_system(*spec, src, sys, e);
    if (!rc && (rc = spec_choose_split(*spec, sys, e)))
        system_close(sys);
    source_free(src);
    if (rc) {
        spec_free(*spec);
        *spec = NULL;
    }
    return rc;
}
