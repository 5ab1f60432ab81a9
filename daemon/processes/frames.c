/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/processes/frames.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 4 /* bytes of length before the JSON text */

size_t frame_begin(struct buf *out)
{
    const size_t begun = out->len;
    buf_add(out, (char[HEADER]){0}, HEADER);
    return begun;
}

void frame_end(struct buf *out, size_t begun)
{
    const size_t len = out->len - begun - HEADER;
    for (int i = 0; i < HEADER; i++)
        out->data[begun + (size_t)i] = (char)(uint8_t)(len >> 8 * i);
}

void frame_put(struct buf *out, const json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT);
    if (!text)
        abort(); /* only for memory or a message that is no JSON object: our own mistake */
    size_t begun = frame_begin(out);
    buf_add(out, text, strlen(text));
    frame_end(out, begun);
    free(text);
}

static void drop_front(struct buf *in, size_t n)
{
    memmove(in->data, in->data + n, in->len - n);
    in->len -= n;
    in->data[in->len] = '\0';
}

int frame_take(struct buf *in, json_t **message, struct err *e)
{
    *message = NULL;
    if (in->len < HEADER)
        return 0;
    const uint8_t *head = (const uint8_t *)in->data;
    uint32_t len = head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
    if (len > FRAME_MAX)
        return err_set(e, ERR_PROTOCOL, "frame of %u bytes, at most %u are allowed", len, FRAME_MAX);
    if (in->len - HEADER < len)
        return 0;
    json_error_t why;
    json_t *got = json_loadb(in->data + HEADER, len, JSON_REJECT_DUPLICATES, &why);
    if (!got)
        return err_set(e, ERR_PROTOCOL, "frame is not JSON: %s", why.text);
    if (!json_is_string(json_object_get(got, "type"))) {
        json_decref(got);
        return err_set(e, ERR_PROTOCOL, "frame is not an object with a \"type\"");
    }
    drop_front(in, HEADER + len);
    *message = got;
    return 0;
}
