/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors. Functions that can fail return int: 0 is success; negative is fatal here, forward it unchanged (err_prefix
 * adds context on the way up: "job 7: window 3: ..."); positive is a condition documented for that one function.
 */
#ifndef SHOAL_ENGINE_BASE_ERR_H
#define SHOAL_ENGINE_BASE_ERR_H

#include <stdarg.h>

enum err_code {
    ERR_NONE = 0,
#define ERR(name, number, http, exit, text) ERR_##name = number,
#include "schemas/errors.def"
#undef ERR
};

enum exit_code {
#define EXIT(name, code, text) EXIT_##name = code,
#include "schemas/exits.def"
#undef EXIT
};

/* Owned by the caller, usually on its stack. A zeroed struct err is valid and means "no error". */
struct err {
    enum err_code code;
    char msg[1000];
};

/* Sets code and message; returns -code so that callers can write `return err_set(e, ...)`. A message that is too long
 * loses its middle. */
int err_set(struct err *e, enum err_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int err_vset(struct err *e, enum err_code code, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));
/* Puts "<text>: " before the message; returns -e->code. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* With strerror(errno): "<text>: No such file or directory". ERR_IO, or ERR_NO_SPACE where nothing (more) can be
 * written: a disk or quota that is full or read-only, a file at its limit; ERR_BUSY where there are no more
 * descriptors. errno stays as it is. */
int err_errno(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The short text of a code, for tables and JSON ("bad topology"), and its symbolic name ("TOPOLOGY"). */
const char *err_text(enum err_code code);
const char *err_name(enum err_code code);
/* The status of an HTTP answer and the exit code of a program that end with it. */
int err_http(enum err_code code);
enum exit_code err_exit(enum err_code code);
/* The code of a symbolic name; -1: there is none. */
int err_named(const char *name, enum err_code *code);

#endif
