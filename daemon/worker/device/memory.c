/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/device/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SPARE_TO_BEGIN (UINT64_C(64) << 20)
#define SPARE_TO_GO_ON (UINT64_C(8) << 20) /* for what nobody asks for, on all threads */
#define GROUPS "/sys/fs/cgroup"

/* The narrowest so far. */
struct left {
    uint64_t bytes;
    const char *by;
};

static void narrow(struct left *l, uint64_t limit, uint64_t used, const char *by)
{
    uint64_t bytes = used < limit ? limit - used : 0;
    if (bytes < l->bytes)
        *l = (struct left){bytes, by};
}

/* The number behind `key` in a file of lines "key number"; NULL: the first of the file. False: there is none. */
static bool read_number(const char *path, const char *key, uint64_t *out)
{
    FILE *f = fopen(path, "re");
    char line[256];
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f)) {
        size_t n = key ? strlen(key) : 0;
        found = (!key || strncmp(line, key, n) == 0) && sscanf(line + n, " %" SCNu64, out) == 1;
    }
    if (f)
        fclose(f);
    return found;
}

static void own_limits_left(struct left *l)
{
    static const struct {
        int limit;
        const char *used, *by;
    } limits[] = {{RLIMIT_AS, "VmSize:", "RLIMIT_AS"}, {RLIMIT_DATA, "VmData:", "RLIMIT_DATA"}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct rlimit limit;
        uint64_t kib;
        if (!getrlimit(limits[i].limit, &limit) && limit.rlim_cur != RLIM_INFINITY &&
            read_number("/proc/self/status", limits[i].used, &kib))
            narrow(l, limit.rlim_cur, kib << 10, limits[i].by);
    }
}

/* One control group; files that were read count as free. */
static void group_left(struct left *l, const char *folder)
{
    char path[1200];
    uint64_t limit, used, active = 0, inactive = 0;
    snprintf(path, sizeof path, "%s/memory.max", folder);
    if (!read_number(path, NULL, &limit)) /* "max", or no such controller */
        return;
    snprintf(path, sizeof path, "%s/memory.current", folder);
    if (!read_number(path, NULL, &used))
        return;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    read_number(path, "active_file ", &active);
    read_number(path, "inactive_file ", &inactive);
    uint64_t cached = active + inactive;
    narrow(l, limit, used > cached ? used - cached : 0, "the control group (memory.max)");
}

static void groups_left(struct left *l)
{
    char line[1024], folder[1100];
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "0::", 3)) /* version 2 */
            continue;
        line[strcspn(line, "\n")] = '\0';
        int root = snprintf(folder, sizeof folder, GROUPS "%s", line + 3);
        for (char *slash; root > 0 && (slash = strrchr(folder, '/')) >= folder + sizeof GROUPS - 1; *slash = '\0')
            group_left(l, folder);
    }
    if (f)
        fclose(f);
}

static struct left find_left(void)
{
    struct left l = {UINT64_MAX, "nothing"};
    uint64_t kib;
    own_limits_left(&l);
    groups_left(&l);
    if (read_number("/proc/meminfo", "MemAvailable:", &kib))
        narrow(&l, kib << 10, 0, "the machine");
    return l;
}

uint64_t memory_left(void)
{
    return find_left().bytes;
}

static int room(uint64_t bytes, uint64_t spare, const char *what, struct err *e)
{
    const double mib = 1 << 20;
    const struct left l = find_left();
    if (bytes <= l.bytes && l.bytes - bytes >= spare)
        return 0;
    return err_set(e, ERR_MEMORY, "memory for %s: about %.3g MiB are needed, and %.0f to spare; %s leaves %.3g", what,
                   (double)bytes / mib, (double)spare / mib, l.by, (double)l.bytes / mib);
}

int memory_to_begin(uint64_t bytes, const char *what, struct err *e)
{
    return room(bytes, SPARE_TO_BEGIN, what, e);
}

int memory_to_go_on(uint64_t bytes, const char *what, struct err *e)
{
    return room(bytes, SPARE_TO_GO_ON, what, e);
}
