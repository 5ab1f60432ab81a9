/* SPDX-License-Identifier: Apache-2.0
 *
 * A checkpoint: where a replica is in its protocol, how long its output files were, and the exact state of its
 * simulation. Continuing from it gives the same bytes as not stopping. FOLDER/checkpoint is the newest,
 * FOLDER/checkpoint.previous the one before, for when the newest is damaged. On disk: little-endian 64-bit words, the
 * state's bytes, and a checksum of it all. Format 4, and 5 of walkers, which has their switches;
 * format 3, which lacks the owner, is read too.
 */
#ifndef SHOAL_DAEMON_WORKER_FILES_CHECKPOINT_H
#define SHOAL_DAEMON_WORKER_FILES_CHECKPOINT_H

#include "daemon/worker/files/outputs.h"

struct checkpoint {
    uint64_t window, windows;
    bool exchanged;      /* replicas exchange windows */
    uint64_t walker;     /* window in which the replica began that is here now */
    uint64_t stage;      /* index into the protocol; the number of stages: all done, final files in place */
    uint64_t stage_step; /* steps of that stage done; at the end of all, of the last one (0: as the spec says) */
    uint64_t index;      /* counts checkpoints of this replica from 1 */
    uint64_t salt;       /* of the noise (sim_salt) */
    struct checkpoint_owner {
        uint64_t ensemble; /* checkpoint_ensemble; 0: not known */
        uint64_t seed,
            key; /* of the random streams: the spec's, and the replica's, which is another in every window and repeat */
    } owner;
    bool owned;        /* false: it is of format 3, which has no owner */
    bool switching;    /* of a walker */
    uint64_t switches; /* that it has done, whose works are in its file; one more may be under way in the state */
    uint64_t offset[OUTPUT_COUNT];
    struct buf state; /* sim_save's bytes; owned */
};

enum { CHECKPOINT_NEWEST, CHECKPOINT_PREVIOUS, CHECKPOINT_FILES };

/* The number that checkpoints have for the id of an ensemble. */
uint64_t checkpoint_ensemble(const char *id);
/* Whether it is what `by` wrote, as far as both are known. ERR_CHECKPOINT says what differs. */
int checkpoint_check_owner(const struct checkpoint *c, const struct checkpoint_owner *by, struct err *e);
/* Writes FOLDER/checkpoint durably; the one that was there becomes the previous one. */
int checkpoint_write(const char *folder, const struct checkpoint *c, struct err *e);
enum { CHECKPOINT_NONE = 1 };
/* 0; CHECKPOINT_NONE: there is no such file; ERR_UNSUPPORTED: whole, but of another format; ERR_CHECKPOINT: damaged,
 * with numbers that no program writes, or on a bad place of the disk; ERR_IO: it may well be good, but cannot be read
 * now. The caller closes *c, which is zeroed before. */
int checkpoint_read(const char *folder, int which, struct checkpoint *c, struct err *e);
/* Removes one that is of no use, so that it never becomes the previous one of a good one. */
int checkpoint_drop(const char *folder, int which, struct err *e);
void checkpoint_close(struct checkpoint *c);

#endif
