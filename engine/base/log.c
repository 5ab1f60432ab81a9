/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/printable.h"

static const char *program_name = "shoal";
static enum log_level level_max = LOG_INFO;

void log_setup(const char *program, enum log_level max)
{
    program_name = program;
    level_max = max;
}

/* The journal names in JOURNAL_STREAM what it gave as stderr, "DEVICE:INODE": whoever redirected it since writes a
 * plain file. */
static bool is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    unsigned long long device, inode;
    struct stat st;
    return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 && !fstat(2, &st) && st.st_dev == device &&
           st.st_ino == inode;
}

static const char *level_name(enum log_level level)
{
    switch (level) {
    case LOG_ERROR:
        return "error";
    case LOG_WARNING:
        return "warning";
    case LOG_INFO:
        return "info";
    case LOG_DEBUG:
        return "debug";
    }
    return "?";
}

/* "2026-11-20T10:00:00.123Z" */
static void now_text(char text[32])
{
    struct timespec now;
    struct tm t;
    char seconds[24];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &t);
    strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(text, 32, "%s.%03dZ", seconds, (int)(now.tv_nsec / 1000000));
}

void log_line(enum log_level level, const char *fmt, ...)
{
    if (level > level_max)
        return;
    char text[2048], time[32];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (is_journal()) {
        printable_line(stderr, "<%d>%s: %s", (int)level, program_name, text);
    } else if (isatty(2)) {
        printable_line(stderr, "%s: %s", program_name, text);
    } else {
        now_text(time);
        printable_line(stderr, "%s %s %s: %s", time, level_name(level), program_name, text);
    }
}
