/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/log.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/json/json_writer.h"
#include "engine/base/printable.h"

#define JOURNAL "/run/systemd/journal/socket"

static const char *program_name = "shoal";
static enum log_level level_max = LOG_INFO;
static enum log_form form_now = LOG_TEXT;

void log_setup(const char *program, enum log_level max)
{
    program_name = program;
    level_max = max;
}

void log_as(enum log_form form)
{
    form_now = form;
}

/* The journal names in JOURNAL_STREAM what it gave as stderr, "DEVICE:INODE". If stderr was redirected since, it
 * is a plain file. */
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

/* One member of an object. */
static void put_member(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, "%s\"%s\":", out->len > 1 ? "," : "", name);
    jw_string(out, text);
}

/* {"time":..,"level":..,"program":..,"message":..,fields} in a line. */
static void put_json(enum log_level level, const char *message, const struct log_fields *f)
{
    struct buf out = {0};
    char time[32];
    now_text(time);
    buf_printf(&out, "{");
    put_member(&out, "time", time);
    put_member(&out, "level", level_name(level));
    put_member(&out, "program", program_name);
    if (message)
        put_member(&out, "message", message);
    for (int i = 0; f && i < f->n; i++)
        if (f->items[i].number)
            buf_printf(&out, ",\"%s\":%s", f->items[i].name, f->items[i].text);
        else
            put_member(&out, f->items[i].name, f->items[i].text);
    if (is_journal())
        fprintf(stderr, "<%d>", (int)level);
    fprintf(stderr, "%s}\n", out.data);
    buf_free(&out);
}

static void put_text(enum log_level level, const char *text)
{
    char time[32];
    if (is_journal()) {
        printable_line(stderr, "<%d>%s: %s", (int)level, program_name, text);
    } else if (isatty(2)) {
        printable_line(stderr, "%s: %s", program_name, text);
    } else {
        now_text(time);
        printable_line(stderr, "%s %s %s: %s", time, level_name(level), program_name, text);
    }
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
    if (form_now == LOG_JSON)
        put_json(level, text, NULL);
    else
        put_text(level, text);
}

/* ---- fields ---- */

void log_add(struct log_fields *f, const char *name, const char *text)
{
    if (!text)
        return;
    if (f->n == LOG_FIELDS_MOST)
        abort();
    f->items[f->n].name = name;
    f->items[f->n].number = false;
    f->items[f->n++].text = xstrdup(text);
}

void log_add_number(struct log_fields *f, const char *name, int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    log_add(f, name, text);
    f->items[f->n - 1].number = true;
}

void log_fields_free(struct log_fields *f)
{
    for (int i = 0; i < f->n; i++)
        free(f->items[i].text);
    f->n = 0;
}

/* name=value, or name="a value", with the escapes of JSON, where more than plain words is in it. */
static void put_logfmt(struct buf *out, const struct log_fields *f)
{
    for (int i = 0; i < f->n; i++) {
        const char *text = f->items[i].text;
        buf_printf(out, "%s%s=", i ? " " : "", f->items[i].name);
        if (*text && !strpbrk(text, " \"=\\") && printable(text))
            buf_printf(out, "%s", text);
        else
            jw_string(out, text);
    }
}

/* A field of the journal: its name in capitals. A value with line ends would need another form, and has none. */
static void put_journal_field(struct buf *out, const char *prefix, const char *name, const char *text)
{
    buf_printf(out, "%s", prefix);
    for (; *name; name++)
        buf_printf(out, "%c", toupper((unsigned char)*name));
    buf_printf(out, "=");
    printable_add(out, text, "");
    buf_printf(out, "\n");
}

/* False: the journal does not take it now. It is not waited for. */
static bool send_to_journal(enum log_level level, const char *message, const struct log_fields *f)
{
    const struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = JOURNAL};
    struct buf out = {0};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    buf_printf(&out, "PRIORITY=%d\nSYSLOG_IDENTIFIER=%s\n", (int)level, program_name);
    put_journal_field(&out, "", "MESSAGE", message);
    for (int i = 0; i < f->n; i++)
        put_journal_field(&out, "SHOAL_", f->items[i].name, f->items[i].text);
    bool sent = fd >= 0 && sendto(fd, out.data, out.len, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&to,
                                  sizeof to) == (ssize_t)out.len;
    if (fd >= 0)
        close(fd);
    buf_free(&out);
    return sent;
}

void log_put(enum log_level level, const struct log_fields *f)
{
    struct buf text = {0};
    if (level > level_max)
        return;
    put_logfmt(&text, f);
    if (form_now == LOG_JSON)
        put_json(level, NULL, f);
    else if (!is_journal() || !send_to_journal(level, text.data, f))
        put_text(level, text.data);
    buf_free(&text);
}
