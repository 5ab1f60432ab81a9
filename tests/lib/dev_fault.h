/* SPDX-License-Identifier: Apache-2.0
 *
 * A device around another device that goes wrong on request, for tests. It counts calls and what is alive; the inner
 * device stays the caller's and outlives it.
 */
#ifndef SHOAL_TESTS_LIB_DEV_FAULT_H
#define SHOAL_TESTS_LIB_DEV_FAULT_H

#include <stdbool.h>

#include "graphs/dev.h"

struct dev *dev_fault_new(struct dev *inner); /* dev_close() frees it, not the inner one */

/* Of the calls from now on that can fail, number `call` (0: the next) returns ERR_DEVICE "planted fault ..", once. */
void dev_fault_fail(struct dev *d, uint64_t call);
bool dev_fault_fired(const struct dev *d);
/* Work is handed to the inner device only after this many polls (0: at once), so that tickets come late. */
void dev_fault_delay(struct dev *d, uint32_t polls);
/* Marks made from now on do not pass, however long ago the lane came by, before this is taken back (false). */
void dev_fault_keep_marks(struct dev *d, bool keep);
/* The next build flips bit 0 of one byte of the arguments of one launch. */
void dev_fault_flip(struct dev *d, uint32_t launch, uint32_t byte);
/* What the next build makes is replayed as `change` makes of the tape, but read back as it was asked for: an executable
 * updated behind our back. */
void dev_fault_behind(struct dev *d, void (*change)(struct tape *t));
/* Every tape that is run from now on is run as `change` makes of it; NULL: as it is. */
void dev_fault_change(struct dev *d, void (*change)(struct tape *t));
/* Waits until the lane that was last given a tape has done all that it was given. */
int dev_fault_settle(struct dev *d, struct err *e);
/* As dev_fault_fail, but from that call on the device is lost: dev_lost() is true and every call that can fail does. */
void dev_fault_lose(struct dev *d, uint64_t call);
/* Allocations, lanes and graphs not given back yet. */
uint32_t dev_fault_alive(const struct dev *d);

#endif
