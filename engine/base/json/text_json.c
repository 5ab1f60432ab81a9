/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/json/text_json.h"

#include "engine/base/buf.h"

json_t *text_json(const char *text, size_t len)
{
    json_t *value = json_stringn(text, len);
    if (value)
        return value;
    struct buf utf8 = {0};
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)text[i];
        char two[2] = {(char)(0xc0 | byte >> 6), (char)(0x80 | (byte & 0x3f))};
        if (byte < 0x80)
            buf_add(&utf8, &text[i], 1);
        else
            buf_add(&utf8, two, 2);
    }
    value = json_stringn(utf8.data, utf8.len);
    buf_free(&utf8);
    return value;
}
