/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ask/socket_path.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A candidate: $NAME followed by rest, if that is an absolute path and not looked at yet. True: it is there. */
static bool try(const char *name, const char *rest, struct buf *path, struct buf *tried)
{
    const char *base = *name ? getenv(name) : "";
    struct stat st;
    path->len = 0;
    if (!base || (*name && *base != '/'))
        return false;
    buf_printf(path, "%s%s", base, rest);
    if (tried->len && strstr(tried->data, path->data))
        return false;
    buf_printf(tried, "%s%s", tried->len ? ", " : "", path->data);
    return !stat(path->data, &st);
}

void socket_path_find(const char *given, struct buf *path, struct buf *tried)
{
    static const char *const places[][2] = {{"XDG_RUNTIME_DIR", "/shoald/api.sock"},
                                            {"XDG_STATE_HOME", "/shoald/api.sock"},
                                            {"HOME", "/.local/state/shoald/api.sock"},
                                            {"", SOCKET_PATH_SYSTEM}};
    if (!given || !*given)
        given = getenv("SHOAL_SOCKET");
    if (given && *given) {
        buf_printf(path, "%s", given);
        buf_printf(tried, "%s", given);
        return;
    }
    bool found = false;
    for (size_t i = 0; !found && i < sizeof places / sizeof *places; i++)
        found = try(places[i][0], places[i][1], path, tried);
    if (!found) {
        path->len = 0;
        buf_printf(path, "%s", SOCKET_PATH_SYSTEM);
    }
}
