/* SPDX-License-Identifier: Apache-2.0 */
#include "client/division/lines.h"

#include <string.h>

enum { SHOWN = 100 }; /* bytes of a line in quotes */

const char *lines_next(const char *text)
{
    text += strcspn(text, "\n");
    return text + (*text == '\n');
}

int lines_same(const char **a, const char **b)
{
    int n = 0;
    for (; **a || **b; n++) {
        const size_t length = strcspn(*a, "\n");
        if (length != strcspn(*b, "\n") || memcmp(*a, *b, length) != 0)
            break;
        *a = lines_next(*a);
        *b = lines_next(*b);
    }
    return n;
}

void lines_quote(struct buf *out, const char *line)
{
    const char *text = line + strspn(line, " ");
    const size_t n = strcspn(text, "\n");
    buf_printf(out, "\"%.*s\"", (int)(n < SHOWN ? n : SHOWN), text);
}
