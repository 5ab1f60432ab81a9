/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that need no service are done by shoal-worker, which has the engine: this process becomes it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/commands.h"

/* Where the worker may be, from the folder of this program: installed beside it or in libexec, or in the build tree. */
static const char *const places[] = {"shoal-worker", "../libexec/shoal/shoal-worker", "../daemon/worker/shoal-worker"};

int offline_main(struct client *c, int argc, char **argv)
{
    const char *given = getenv("SHOAL_WORKER"); /* as for shoald */
    char folder[PATH_MAX], path[PATH_MAX + 64];
    char **words = options_argv(c, "shoal-worker", argc, argv);
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (given && *given)
            snprintf(path, sizeof path, "%s", given);
        else
            snprintf(path, sizeof path, "%s/%s", folder, places[i]);
        execv(path, words);
        if ((given && *given) || (errno != ENOENT && errno != ENOTDIR))
            break;
    }
    fprintf(stderr, "shoal %s: %s: %s; $SHOAL_WORKER names another\n", c->command->name, path, strerror(errno));
    for (char **word = words; *word; word++)
        free(*word);
    free(words);
    return EXIT_UNREACHABLE;
}
