/* SPDX-License-Identifier: Apache-2.0
 *
 * Space on the disk that is kept for the database, in a file beside it. When the disk is full the file is removed and
 * commits go on: what makes room again (an ensemble is removed), and what stops who fills it, has to be written first.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/store/internal.h"
#include "engine/base/buf.h"

#define RESERVE_BYTES                                                                                                  \
    (2 << 20) /* less than what must be free before replicas go on (daemon/service/disk_full.c): they get none of it   \
               */

void reserve_find(struct store *s)
{
    struct buf path = {0};
    buf_printf(&path, "%s-reserve", s->path);
    s->reserve = path.data;
    s->reserved = access(s->reserve, F_OK) == 0;
}

void reserve_keep(struct store *s)
{
    if (s->reserved)
        return;
    int fd = open(s->reserve, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    s->reserved = posix_fallocate(fd, 0, RESERVE_BYTES) == 0;
    close(fd);
    if (!s->reserved)
        unlink(s->reserve);
}

bool reserve_give(struct store *s)
{
    bool given = s->reserved && unlink(s->reserve) == 0;
    s->reserved = false;
    return given;
}
