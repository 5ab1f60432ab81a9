/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/advice/internal.h"

#include <stdarg.h>
#include <stdio.h>

void advice_say(const struct advising *a, const char *kind, int line, const char *fmt, ...)
{
    char text[800], whole[1200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(whole, sizeof whole, "%.300s:%d: %s", a->s->file, line, text);
    json_t *message = json_string(whole); /* NULL where a name is no UTF-8: then the advice goes without */
    if (message)
        json_array_append_new(a->list, json_pack("{s:s, s:o}", "kind", kind, "message", message));
}
