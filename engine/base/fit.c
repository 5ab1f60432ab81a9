/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/fit.h"

#include <stdbool.h>
#include <string.h>

static bool inside_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

void fit_text(char *out, size_t size, const char *text)
{
    static const char left_out[] = " ... ";
    const size_t n = strlen(text), room = size - sizeof left_out;
    if (n < size) {
        memcpy(out, text, n + 1);
        return;
    }
    size_t head = room / 2, tail = n - (room - head);
    while (head && inside_character(text[head]))
        head--;
    while (inside_character(text[tail]))
        tail++;
    memcpy(out, text, head);
    memcpy(out + head, left_out, sizeof left_out - 1);
    memcpy(out + head + sizeof left_out - 1, text + tail, n - tail + 1);
}
