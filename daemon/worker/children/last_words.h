/* SPDX-License-Identifier: Apache-2.0
 *
 * How a child of the service ends that failed: its last line on standard output is the error as a JSON object
 * (engine/base/json/err_json.h), which the service reads (child_error in daemon/processes/child.h). Standard error has
 * it as text.
 */
#ifndef SHOAL_DAEMON_WORKER_CHILDREN_LAST_WORDS_H
#define SHOAL_DAEMON_WORKER_CHILDREN_LAST_WORDS_H

#include "engine/base/err.h"

/* Says the error and returns its exit code. */
int last_words(const char *command, const struct err *e);
/* From now on a process that runs out of memory ends in this way too, with ERR_MEMORY. */
void last_words_of_memory(void);

#endif
