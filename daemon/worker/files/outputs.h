/* SPDX-License-Identifier: Apache-2.0
 *
 * The growing output files of one window, in DIRECTORY/lambda_NN.
 *
 * 1. A file holds whole rows only (lines, trajectory frames), except after a crash in the middle of a write.
 * 2. An offset counts the bytes of whole rows. A checkpoint carries the offsets of the files as they were when it was
 * made; opening at those offsets cuts off whatever came later, so that no row is lost or doubled.
 * 3. Nothing here knows the time of day or how often the replica was started.
 */
#ifndef SHOAL_DAEMON_WORKER_FILES_OUTPUTS_H
#define SHOAL_DAEMON_WORKER_FILES_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/buf.h"

enum output { OUTPUT_DHDL, OUTPUT_ENERGY, OUTPUT_TRAJECTORY, OUTPUT_WORK, OUTPUT_COUNT };
extern const char *const output_names[OUTPUT_COUNT]; /* file names in the window's folder */

struct outputs {
    char *folder;
    bool works; /* a walker's: OUTPUT_WORK is one of its files. Set before outputs_open */
    int lock;   /* descriptor of the folder, locked: two workers never write to one window */
    struct output_file {
        int fd;
        uint64_t written; /* bytes in the file */
        struct buf rows;  /* whole rows not written yet */
        bool open;
    } files[OUTPUT_COUNT];
};

/* Makes the folder if need be and locks it: do this before anything in it is read. ERR_BUSY: another process has it. */
int outputs_lock(struct outputs *r, const char *folder, struct err *e);
/* Whether every file of the folder holds at least so many bytes. ERR_CHECKPOINT names one that does not. */
int outputs_reach(const struct outputs *r, const uint64_t offset[OUTPUT_COUNT], struct err *e);
/* Opens the files, makes those that are missing, and truncates each to its offset. */
int outputs_open(struct outputs *r, const uint64_t offset[OUTPUT_COUNT], struct err *e);
/* Closes without writing what is pending; zeroed is fine. */
void outputs_close(struct outputs *r);

/* Where rows of a file are appended. Between begin and end the pointer is borrowed: no yield. */
struct buf *outputs_begin(struct outputs *r, enum output which);
void outputs_end(struct outputs *r, enum output which);
/* Bytes of whole rows so far, pending ones included. */
uint64_t outputs_offset(const struct outputs *r, enum output which);

/* Writes pending rows of one file, or of all. ERR_IO and ERR_NO_SPACE name the file; what was written of a row is taken
 * back. ERR_IO also when a file is not as it was left: somebody has cut, lengthened or removed it. */
int outputs_flush_file(struct outputs *r, enum output which, struct err *e);
int outputs_flush(struct outputs *r, struct err *e);
/* Writes and makes all of it durable. */
int outputs_sync(struct outputs *r, struct err *e);

#endif
