/* SPDX-License-Identifier: Apache-2.0
 *
 * --here DIR: a service of this command's own, with all that it keeps in DIR, so that DIR can be carried to another
 * machine.
 *
 *   DIR/lock    the service that works on DIR has it locked; process, machine, job of Slurm and socket
 *                of that service are written in it
 *   DIR/log     what the services said, one behind the other
 *   DIR/state   database and outputs (docs/backup.md)
 *
 * 1. One service at most works on DIR. The service inherits the lock, so that DIR stays locked until the service has
 *    ended, also where the command was killed.
 * 2. The service ends with the command: it makes its checkpoints when the command ends in any way.
 * 3. Signals that ask the command to stop are told to nobody else: the command stops the service in order.
 *
 * Failure modes: the service dies (here_over says so; another run goes on from the last checkpoints); DIR is locked
 * (here_open says by whom); the machine dies (the file system gives the lock back; the process that is written in the
 * file is not asked for on another one).
 */
#ifndef SHOAL_CLIENT_PROGRAMS_HERE_H
#define SHOAL_CLIENT_PROGRAMS_HERE_H

#include <stdbool.h>
#include <sys/types.h>

#include "client/command/client.h"

struct here {
    const char *folder;   /* as it was given */
    int lock;             /* descriptor; -1: another command has the service */
    pid_t service;        /* 0: there is none of ours */
    struct buf socket;    /* path */
    struct buf temporary; /* folder of the socket, which is ours */
    double stops;         /* clock_now() when the time of --for is over; 0: there is no limit */
    int status;           /* of waitpid, once the service has ended */
    bool ended;
    double troubled; /* clock_now() when no device was up any more; 0: one is */
};

/* Starts the service, or finds the one that runs on this machine. `works`: it runs what is submitted, on c's --device,
 * until --for is over, and DIR is made where there is none; else it only answers. ERR_BUSY: another command has DIR. */
int here_open(struct here *h, const struct client *c, bool works, struct err *e);
/* Whether the command is to stop: ERR_BUSY after a signal, at the end of --for, or when the service was killed;
 * ERR_UNREACHABLE where the service ended by itself. 0: it goes on. */
int here_over(struct here *h, struct err *e);
/* Whether a device of the service works. ERR_DEVICE, with each one's trouble: none has for half a minute. */
int here_works(struct here *h, const struct client *c, struct err *e);
/* Stops the service, which makes its checkpoints, and waits for its end. ERR_UNREACHABLE: it did not end in order.
 * Half-opened is fine. */
int here_close(struct here *h, struct err *e);

/* signals.c */
/* From here on signals that ask the command to stop are noted, but for those that are ignored. */
void here_take_signals(void);
/* The number of the signal that asks the command to stop; 0: none. */
int here_signalled(void);
/* As if none had come. */
void here_forget_signal(void);
/* Waits so long, or until a signal comes. */
void here_sleep(double seconds);

/* here_lock.c */
/* Locks the lock of c's DIR, and removes the socket of a holder that was killed. 1: another process of this machine has
 * it, and *socket is where its service listens. ERR_BUSY: it is on another machine, or `wait` and the process that is
 * written there lives. */
int here_lock(int *fd, const struct client *c, bool wait, struct buf *socket, struct err *e);
/* Writes who has the lock. */
int here_sign(int fd, const char *folder, const char *socket, struct err *e);

#endif
