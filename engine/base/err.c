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

int err_errno(struct err *e, const char *fmt, ...)
{
    va_list ap;
    err_set(e, errno == ENOSPC || errno == EDQUOT ? ERR_NO_SPACE : ERR_IO, "%s", strerror(errno));
    va_start(ap, fmt);
    int rc = prefix_v(e, fmt, ap);
    va_end(ap);
    return rc;
}

const char *err_text(enum err_code code)
{
    switch (code) {
    case ERR_NONE:
        return "no error";
#define ERR(name, number, text)                                                                                        \
    case ERR_##name:                                                                                                   \
        return text;
#include "schemas/errors.def"
#undef ERR
    }
    return "unknown error";
}

const char *err_name(enum err_code code)
{
    switch (code) {
    case ERR_NONE:
        return "NONE";
#define ERR(name, number, text)                                                                                        \
    case ERR_##name:                                                                                                   \
        return #name;
#include "schemas/errors.def"
#undef ERR
    }
    return "UNKNOWN";
}
