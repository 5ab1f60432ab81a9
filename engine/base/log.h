/* SPDX-License-Identifier: Apache-2.0
 *
 * Log lines on stderr, text and key=value pairs. In a file they begin with time and level; in the journal, which has
 * both, with
 * "<N>", the level as systemd reads it; on a terminal with neither.
 * Only daemon and worker log; library code returns errors. (sm.c traces moves at debug level.)
 */
#ifndef SHOAL_ENGINE_BASE_LOG_H
#define SHOAL_ENGINE_BASE_LOG_H

enum log_level { LOG_ERROR = 3, LOG_WARNING = 4, LOG_INFO = 6, LOG_DEBUG = 7 };

/* Lines above this level are dropped; LOG_INFO at start. `program` must outlive the process's logging. */
void log_setup(const char *program, enum log_level max);
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
