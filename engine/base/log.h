/* SPDX-License-Identifier: Apache-2.0
 *
 * Log lines on stderr: a text, or fields. In a file they begin with time and level; on a terminal with neither; in the
 * journal, which has both, with "<N>", the level as systemd reads it. Fields are written as logfmt (name=value), and as
 * the journal's own fields where it takes them. With LOG_JSON every line is an object.
 * Only daemon and worker log; library code returns errors. (sm.c traces moves at debug level.)
 */
#ifndef SHOAL_ENGINE_BASE_LOG_H
#define SHOAL_ENGINE_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_ERROR = 3, LOG_WARNING = 4, LOG_INFO = 6, LOG_DEBUG = 7 };
enum log_form { LOG_TEXT, LOG_JSON };

/* Lines above this level are dropped; LOG_INFO at start. `program` must outlive the process's logging. */
void log_setup(const char *program, enum log_level max);
/* LOG_TEXT at start. */
void log_as(enum log_form form);
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define LOG_FIELDS_MOST 16

/* What happened, for programs. Zeroed is valid and empty. */
struct log_fields {
    int n;
    struct {
        const char *name;
        char *text; /* owned */
        bool number;
    } items[LOG_FIELDS_MOST];
};

/* Append a field. `name`, of small letters, must outlive the fields; a text of NULL is no field. */
void log_add(struct log_fields *f, const char *name, const char *text);
void log_add_number(struct log_fields *f, const char *name, int64_t number);
void log_fields_free(struct log_fields *f);
/* One line with the fields. */
void log_put(enum log_level level, const struct log_fields *f);

#endif
