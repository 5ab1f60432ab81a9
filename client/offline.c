/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that need no service are done by shoal-worker, which has the engine: this process becomes it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"

/* Where the worker may be, from the folder of this program: installed beside it or in libexec, or in the build tree. */
static const char *const places[] = {"shoal-worker", "../libexec/shoal/shoal-worker", "../daemon/worker/shoal-worker"};

int offline_exec(char **argv)
{
    char folder[PATH_MAX], path[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, places[i]);
        execv(path, argv);
        if (errno != ENOENT && errno != ENOTDIR)
            break;
    }
    fprintf(stderr, "shoal %s: %s: %s\n", argv[1], path, strerror(errno));
    return EXIT_UNREACHABLE;
}
