/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/fit.h"

int err_vset(struct err *e, enum err_code code, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    e->code = code;
    int n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    if (n >= (int)sizeof e->msg) {
        char *whole = xcalloc((size_t)n + 1, 1);
        vsnprintf(whole, (size_t)n + 1, fmt, again);
        fit_text(e->msg, sizeof e->msg, whole);
        free(whole);
    }
    va_end(again);
    return -(int)code;
}

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_vset(e, code, fmt, ap);
    va_end(ap);
    return -(int)code;
}

static int prefix_v(struct err *e, const char *fmt, va_list ap)
{
    char old[sizeof e->msg], prefix[sizeof e->msg];
    memcpy(old, e->msg, sizeof old);
    vsnprintf(prefix, sizeof prefix, fmt, ap);
    return err_set(e, e->code, "%s: %s", prefix, old);
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

static const struct code_row {
    enum err_code code;
    const char *name, *text;
    int http;
    enum exit_code exit;
} rows[] = {
    {ERR_NONE, "NONE", "no error", 200, EXIT_OK},
#define ERR(name, number, http, exit, text) {ERR_##name, #name, text, http, EXIT_##exit},
#include "schemas/errors.def"
#undef ERR
};

static const struct code_row *row_of(enum err_code code)
{
    static const struct code_row unknown = {ERR_INTERNAL, "UNKNOWN", "unknown error", 500, EXIT_INTERNAL};
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

enum exit_code err_exit(enum err_code code)
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
