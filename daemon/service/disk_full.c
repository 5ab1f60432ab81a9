/* SPDX-License-Identifier: Apache-2.0
 *
 * A full disk is waited out: every second a file of a few MiB is written beside the database, made durable and removed;
 * when that works, there is space. (What statfs says does not count quotas.)
 */
#include "daemon/service/service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/base/log.h"

#define TRY_MS 1000
#define TRY_BYTES (4 << 20)

struct space_probe {
    struct service *sv;
    char *path;
    bool room;
};

static void try_to_write(void *arg)
{
    struct space_probe *j = arg;
    int fd = open(j->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    j->room = posix_fallocate(fd, 0, TRY_BYTES) == 0 && fsync(fd) == 0;
    close(fd);
    unlink(j->path);
}

static void tried(void *arg)
{
    struct space_probe *j = arg;
    struct service *sv = j->sv;
    struct err e = {0};
    bool room = j->room;
    free(j->path);
    free(j);
    if (sv->stopped)
        return;
    if (!room) {
        service_watch_disk(sv);
        return;
    }
    log_line(LOG_INFO, "the disk has space again");
    service_step(sv, &(struct sched_event){.kind = SCHED_SPACE}, &e);
}

static void on_disk_time(uv_timer_t *t)
{
    struct service *sv = t->data;
    struct space_probe *j = xcalloc(1, sizeof *j);
    struct buf path = {0};
    buf_printf(&path, "%s/.space", sv->config.state);
    *j = (struct space_probe){.sv = sv, .path = path.data};
    service_offload(sv, try_to_write, tried, j);
}

void service_watch_disk(struct service *sv)
{
    uv_timer_start(&sv->space, on_disk_time, TRY_MS, 0);
}
