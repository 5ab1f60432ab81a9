/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/printable.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

/* The character at `p`, whose bytes are counted in *n; a byte that is not UTF-8 is -1 and counted as one. */
static int32_t character(const unsigned char *p, int *n)
{
    static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    *n = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : *p >> 3 == 30 ? 4 : 0;
    int32_t c = *n == 1 ? *p : *n ? *p & (0x7f >> *n) : -1;
    for (int i = 1; i < *n && c >= 0; i++)
        c = p[i] >> 6 == 2 ? c << 6 | (p[i] & 0x3f) : -1; /* the NUL at the end is no such byte */
    if (c < least[*n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = -1;
    *n = c < 0 ? 1 : *n;
    return c;
}

static bool shows(int32_t c)
{
    const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0), line = c == 0x2028 || c == 0x2029;
    const bool direction =
        c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
    return !control && !line && !direction;
}

bool printable(const char *text)
{
    int n;
    for (const unsigned char *p = (const unsigned char *)text; *p; p += n)
        if (!shows(character(p, &n)))
            return false;
    return true;
}

void printable_add(struct buf *out, const char *text, const char *keep)
{
    int n;
    for (const unsigned char *p = (const unsigned char *)text; *p; p += n) {
        const int32_t c = character(p, &n);
        if (shows(c) || (n == 1 && strchr(keep, *p)))
            buf_add(out, p, (size_t)n);
        else
            buf_printf(out, c < 0x80 ? "\\x%02x" : "\\u%04x", c < 0 ? *p : (unsigned)c);
    }
}

void printable_line(FILE *to, const char *fmt, ...)
{
    struct buf raw = {0}, out = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&raw, fmt, ap);
    va_end(ap);
    printable_add(&out, raw.data, "");
    buf_printf(&out, "\n");
    fputs(out.data, to);
    buf_free(&raw);
    buf_free(&out);
}

void printable_text(FILE *to, const char *text)
{
    struct buf out = {0};
    printable_add(&out, text, "\n\t");
    if (out.len)
        fputs(out.data, to);
    buf_free(&out);
}
