/* SPDX-License-Identifier: Apache-2.0
 *
 * Who works on a folder: a lock on a file, which file systems of several machines know too, and the name of its holder
 * in the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "client/programs/here.h"
#include "client/programs/service.h"
#include "engine/base/clock.h"

#define SILENT_S 2     /* that a command waits before it says so */
#define STOPPING_S 150 /* what the service of a killed command may take to make its checkpoints */

struct holder {
    long pid;
    char host[256], job[64] /* of Slurm; "-": none */, socket[256];
};

static void this_host(char out[256])
{
    out[0] = out[255] = '\0';
    gethostname(out, 255);
}

static bool read_holder(int fd, struct holder *h)
{
    char text[900] = "";
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    *h = (struct holder){0};
    return n > 0 &&
           sscanf(text, "process %ld of %255s job %63s socket %255[^\n]", &h->pid, h->host, h->job, h->socket) == 4;
}

static bool is_here(const struct holder *h)
{
    char host[256];
    this_host(host);
    return !strcmp(host, h->host);
}

static bool lives(const struct holder *h)
{
    return kill((pid_t)h->pid, 0) == 0 || errno == EPERM;
}

int here_sign(int fd, const char *folder, const char *socket, struct err *e)
{
    char host[256], text[900];
    const char *job = getenv("SLURM_JOB_ID");
    this_host(host);
    int n = snprintf(text, sizeof text, "process %ld of %s job %.63s socket %s\n", (long)getpid(), host,
                     job && *job ? job : "-", socket);
    if (ftruncate(fd, 0) || pwrite(fd, text, (size_t)n, 0) != n)
        return err_errno(e, "write %s/lock", folder);
    return 0;
}

/* A command that was killed leaves the socket of its service, or the folder that was made for it. */
static void remove_leftover(const struct holder *h)
{
    char folder[256];
    snprintf(folder, sizeof folder, "%s", h->socket);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    const char *name = strrchr(folder, '/');
    if (!is_here(h) || !slash || strcmp(slash + 1, "api.sock") != 0 || !name || strncmp(name, "/shoal-", 7) != 0)
        return;
    unlink(h->socket);
    rmdir(folder);
}

/* 0: it is ours; 1: another has it. */
static int try_lock(int fd, const char *folder, struct err *e)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    return errno == EWOULDBLOCK ? 1 : err_errno(e, "lock %s/lock", folder);
}

/* The command was killed, and its service is about to stop. */
static int wait_for_leftover(int fd, const struct client *c, const struct holder *h, struct err *e)
{
    const double until = clock_now() + STOPPING_S;
    int rc = 1;
    client_say(c, "%s: waits for the service of process %ld, which was killed, to make its checkpoints and end",
               c->here, h->pid);
    while (rc == 1 && !here_signalled() && clock_now() < until) {
        here_sleep(0.05);
        rc = try_lock(fd, c->here, e);
    }
    return rc;
}

/* A command that looks asks the service of whoever has the folder, which may not answer yet, or is about to end. */
static int wait_for_answer(int fd, const struct client *c, struct holder *h, struct err *e)
{
    const double begun = clock_now();
    bool said = false;
    int rc = 1;
    while (rc == 1 && !service_answers(h->socket) && clock_now() < begun + STOPPING_S) {
        if (!said && clock_now() > begun + SILENT_S) {
            client_say(c, "%s: waits for the service of process %ld to answer, or to end", c->here, h->pid);
            said = true;
        }
        here_sleep(0.05);
        rc = try_lock(fd, c->here, e);
        if (rc == 1)
            read_holder(fd, h); /* a third may have it now */
    }
    return rc;
}

/* It may not have written yet who it is. */
static int refuse(const char *folder, const struct holder *h, struct err *e)
{
    struct buf who = {0};
    if (h->pid)
        buf_printf(&who, "process %ld on %s", h->pid, h->host);
    if (h->pid && strcmp(h->job, "-") != 0)
        buf_printf(&who, " (job %s)", h->job);
    if (!h->pid)
        buf_printf(&who, "another command");
    err_set(e, ERR_BUSY,
            "%s: %s works on this folder, and one command at a time can: stop it, or try again when it has ended",
            folder, who.data);
    buf_free(&who);
    return -ERR_BUSY;
}

int here_lock(int *fd, const struct client *c, bool wait, struct buf *socket, struct err *e)
{
    const char *folder = c->here;
    struct buf path = {0};
    struct holder h;
    buf_printf(&path, "%s/lock", folder);
    *fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int rc = *fd < 0 ? err_errno(e, "%s", path.data) : try_lock(*fd, folder, e);
    bool known = rc == 1 && read_holder(*fd, &h);
    if (rc == 1 && known && is_here(&h) && !lives(&h))
        rc = wait_for_leftover(*fd, c, &h, e);
    else if (rc == 1 && !wait && known && is_here(&h))
        rc = wait_for_answer(*fd, c, &h, e);
    if (rc == 1 && (wait || !known || !is_here(&h)))
        rc = refuse(folder, &h, e);
    if (rc == 0 && read_holder(*fd, &h))
        remove_leftover(&h);
    if (rc == 1)
        buf_printf(socket, "%s", h.socket);
    if (rc && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    buf_free(&path);
    return rc;
}
