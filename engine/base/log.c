/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static const char *program_name = "shoal";
static enum log_level level_max = LOG_INFO;

void log_setup(const char *program, enum log_level max)
{
    program_name = program;
    level_max = max;
}

void log_line(enum log_level level, const char *fmt, ...)
{
    if (level > level_max)
        return;
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (isatty(2))
        fprintf(stderr, "%s: %s\n", program_name, text);
    else
        fprintf(stderr, "<%d>%s: %s\n", (int)level, program_name, text);
}
