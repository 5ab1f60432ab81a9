/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares two tapes, every byte of every launch, and says what differs by name. No device and no CUDA in it.
 */
#ifndef SHOAL_GRAPHS_CHECK_H
#define SHOAL_GRAPHS_CHECK_H

#include "graphs/tape.h"

/* 0: equal. ERR_DRIFT otherwise, with launch number, kernel, field, old and new value; or the added/removed launch. */
int check_tapes(const struct kernel_table *kernels, const struct tape *was, const struct tape *is, struct err *e);

/* The tape can be launched at all: known kernels with their bytes of arguments, whole clusters, edges to earlier
 * launches only, at most TAPE_LAUNCHES_MAX. ERR_INTERNAL says which launch is wrong. Devices refuse what fails here. */
int check_launches(const struct kernel_table *kernels, const struct tape *t, struct err *e);

/* A span of device memory a replica's launches may point into. */
struct span {
    const void *start;
    size_t bytes;
};
/* check_launches(), and every non-null FIELD_PTR of every launch lies in one of the spans or is the tape's echo ring;
 * or ERR_DRIFT names kernel, field and address. */
int check_pointers(const struct kernel_table *kernels, const struct tape *t, const struct span *spans, uint32_t nspans,
                   struct err *e);

/* A row of a table in device memory that a kernel reads arguments from, one for each of its blocks. */
struct row_kind {
    const char *what; /* a row is, in messages: "member of a gang" */
    const char *name; /* of the kind */
    const struct field *fields;
    uint32_t nfields, bytes;
};
/* The same for two rows: 0, or ERR_DRIFT with field, old and new value. */
int check_rows(const struct row_kind *kind, const void *was, const void *is, struct err *e);
/* Every non-null FIELD_PTR of a row lies in one of the spans, or ERR_DRIFT. */
int check_row_pointers(const struct row_kind *kind, const void *row, const struct span *spans, uint32_t nspans,
                       struct err *e);

#endif
