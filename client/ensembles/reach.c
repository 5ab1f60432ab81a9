/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ensembles/reach.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/path.h"

/* Whether a character beside a path is no part of the path. */
static bool is_edge(char c)
{
    return !isalnum((unsigned char)c) && !strchr("._-+~@/\\", c) && !((unsigned char)c & 0x80);
}

static bool leads_to(const char *from, const char *path, const char *name)
{
    char *joined = path_join(from, path);
    bool same = !strcmp(joined, name);
    free(joined);
    return same;
}

/* Whether a path that ends at `end` and begins where the line does or later leads there. */
static bool path_leads(const char *from, const char *line, const char *end, const char *last, const char *name)
{
    struct buf path = {0};
    bool found = false;
    for (size_t back = 0; back <= (size_t)(last - line) && back < PATH_MAX && !found; back++) {
        const char *p = last - back;
        if (p > line && !is_edge(p[-1]))
            continue;
        path.len = 0;
        buf_add(&path, p, (size_t)(end - p));
        found = leads_to(from, path.data, name) || (from && leads_to(NULL, path.data, name));
    }
    buf_free(&path);
    return found;
}

bool reach_names(const char *from, const char *text, size_t len, const char *name)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name, *stop = text + len;
    size_t n = strlen(last);
    for (const char *p = text; n && (p = memmem(p, (size_t)(stop - p), last, n)); p++) {
        const char *line = p, *first;
        if (p + n < stop && !is_edge(p[n]))
            continue;
        while (line > text && line[-1] != '\n')
            line--;
        for (first = line; first < p && (*first == ' ' || *first == '\t'); first++)
            ;
        if ((!from || *first == '#') && path_leads(from, line, p + n, p, name))
            return true;
    }
    return false;
}
