/* SPDX-License-Identifier: Apache-2.0 */
#include "client/programs/become.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/err.h"

/* Where each may be, from the folder of this program: installed beside it or in libexec, or in the build tree. */
static const struct {
    const char *name, *variable, *places[3];
} programs[] = {{"shoal-worker",
                 "SHOAL_WORKER",
                 {"shoal-worker", "../libexec/shoal/shoal-worker", "../daemon/worker/shoal-worker"}},
                {"shoald", "SHOALD", {"shoald", "../sbin/shoald", "../daemon/shoald"}}};

static void own_folder(char folder[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    folder[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
}

void program_become(const char *name, char **words)
{
    char folder[PATH_MAX], path[PATH_MAX + 64];
    size_t p = 0;
    while (strcmp(programs[p].name, name))
        p++;
    const char *given = getenv(programs[p].variable);
    own_folder(folder);
    for (size_t i = 0; i < sizeof programs[p].places / sizeof *programs[p].places; i++) {
        if (given && *given)
            snprintf(path, sizeof path, "%s", given);
        else
            snprintf(path, sizeof path, "%s/%s", folder, programs[p].places[i]);
        execv(path, words);
        if ((given && *given) || (errno != ENOENT && errno != ENOTDIR))
            break;
    }
    fprintf(stderr, "shoal: %s: %s; $%s names another\n", path, strerror(errno), programs[p].variable);
}

void program_become_named(char **words)
{
    execvp(words[0], words);
    fprintf(stderr, "shoal: %s: %s\n", words[0], strerror(errno));
    _exit(EXIT_UNREACHABLE);
}
