/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/edit.h"

#include <string.h>

#include "daemon/spec/sections/reader.h"

bool edit_word(struct buf *out, const char *text, size_t len, size_t at, const char *word, const char *with)
{
    const size_t begin = spec_byte_of(text, len, at), n = strlen(word);
    const size_t quote = begin < len && (text[begin] == '\'' || text[begin] == '"');
    const size_t end = begin + n + 2 * quote;
    if (end > len || memcmp(text + begin + quote, word, n) != 0)
        return false;
    buf_add(out, text, begin);
    buf_printf(out, "%s", with);
    buf_add(out, text + end, len - end);
    return true;
}

/* In a block of lines the entry has a line of its own, with what is before the first key there. */
void edit_first_key(struct buf *out, const char *text, size_t len, const struct node *mapping, const char *entry)
{
    size_t from = spec_byte_of(text, len, mapping->at), line = from;
    const bool flow = from < len && text[from] == '{';
    from += flow;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    buf_add(out, text, from);
    buf_printf(out, flow ? "%s, " : "%s\n", entry);
    if (!flow)
        buf_add(out, text + line, from - line);
    buf_add(out, text + from, len - from);
}
