/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/devices.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/log.h"

#define SPEAKER "shoal-worker: " /* how its lines on standard error begin */

/* Takes what a program says, however much, without being read meanwhile. */
static FILE *capture(void)
{
    const int fd = memfd_create("devices", MFD_CLOEXEC);
    return fd < 0 ? NULL : fdopen(fd, "r+");
}

static bool ask_devices(const char *worker, FILE *names, FILE *said)
{
    int status;
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(fileno(names), 1);
        dup2(fileno(said), 2);
        execl(worker, worker, "devices", (char *)NULL);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void take_names(FILE *f, const char **devices, int *n)
{
    static char names[DEVICES_MAX][DEVICES_NAME];
    rewind(f);
    while (*n < DEVICES_MAX && fgets(names[*n], sizeof names[0], f)) {
        names[*n][strcspn(names[*n], "\n")] = '\0';
        devices[*n] = names[*n];
        ++*n;
    }
}

static void take_reasons(FILE *f, json_t *out)
{
    char line[1200];
    rewind(f);
    while (fgets(line, sizeof line, f)) {
        const char *text = line + (strncmp(line, SPEAKER, strlen(SPEAKER)) == 0 ? strlen(SPEAKER) : 0);
        line[strcspn(line, "\n")] = '\0';
        log_line(LOG_WARNING, "%s", text);
        json_array_append_new(out, json_string(text));
    }
}

json_t *devices_choose(const char *worker, const char **devices, int *n)
{
    json_t *left_out = json_array();
    FILE *names = *n ? NULL : capture(), *said = names ? capture() : NULL;
    if (said && ask_devices(worker, names, said))
        take_names(names, devices, n);
    if (said)
        take_reasons(said, left_out);
    if (*n == 0)
        devices[(*n)++] = "cpu";
    if (names)
        fclose(names);
    if (said)
        fclose(said);
    return left_out;
}
