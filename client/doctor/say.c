/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "client/doctor/doctor.h"
#include "engine/base/printable.h"

void doctor_say(struct doctor *d, const char *check, const char *todo, const char *fmt, ...)
{
    struct buf found = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&found, fmt, ap);
    va_end(ap);
    d->warned |= todo != NULL;
    if (!d->c->json) {
        printable_line(stdout, "%-8s %-9s %s", todo ? "warning" : "ok", check, found.data);
        if (todo)
            printable_line(stdout, "%-18s -> %s", "", todo);
        fflush(stdout); /* the next check may take its time */
    }
    json_array_append_new(d->lines, json_pack("{s:s,s:b,s:s%,s:s?}", "check", check, "ok", todo == NULL, "found",
                                              found.data, found.len, "do", todo));
    buf_free(&found);
}
