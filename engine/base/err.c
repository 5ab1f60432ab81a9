/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list ap;
    e->code = code;
    va_start(ap, fmt);
    vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    return -(int)code;
}

static int prefix_v(struct err *e, const char *fmt, va_list ap)
{
    char old[sizeof e->msg];
    memcpy(old, e->msg, sizeof old);
    int n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    if (n >= 0 && (size_t)n < sizeof e->msg)
        snprintf(e->msg + n, sizeof e->msg - (size_t)n, ": %s", old);
    return -(int)e->code;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int rc = prefix_v(e, fmt, ap);
    va_end(ap);
    return rc;
}

/* What passes without anything that this program could do. */
static enum err_code code_of(int number)
{
    if (number == ENOSPC || number == EDQUOT || number == EROFS || number == EFBIG)
        return ERR_NO_SPACE;
    return number == EMFILE || number == ENFILE ? ERR_BUSY : ERR_IO;
}

int err_errno(struct err *e, const char *fmt, ...)
{
    int number = errno;
    va_list ap;
    err_set(e, code_of(number), "%s", strerror(number));
    va_start(ap, fmt);
    int rc = prefix_v(e, fmt, ap);
    va_end(ap);
    errno = number;
    return rc;
}

static const struct row {
    enum err_code code;
    const char *name, *text;
    int http, exit;
} rows[] = {
    {ERR_NONE, "NONE", "no error", 200, 0},
#define ERR(name, number, http, exit, text) {ERR_##name, #name, text, http, exit},
#include "schemas/errors.def"
#undef ERR
};

static const struct row *row_of(enum err_code code)
{
    static const struct row unknown = {ERR_INTERNAL, "UNKNOWN", "unknown error", 500, 70};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code)
            return &rows[i];
    return &unknown;
}

const char *err_text(enum err_code code)
{
    return row_of(code)->text;
}

const char *err_name(enum err_code code)
{
    return row_of(code)->name;
}

int err_http(enum err_code code)
{
    return row_of(code)->http;
}

int err_exit(enum err_code code)
{
    return row_of(code)->exit;
}

int err_named(const char *name, enum err_code *code)
{
    for (size_t i = 1; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) {
            *code = rows[i].code;
            return 0;
        }
    return -1;
}
