/* SPDX-License-Identifier: Apache-2.0
 *
 * frame_take on any bytes, whole and in pieces: the same messages or the same refusal, every message has a type, and
 * one that is sent on arrives as it was.
 */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>

#include "daemon/processes/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void goes_round(const json_t *message)
{
    struct buf b = {0};
    struct err e = {0};
    json_t *back;
    frame_put(&b, message);
    assert(frame_take(&b, &back, &e) == 0 && back && json_equal(message, back) && b.len == 0);
    json_decref(back);
    buf_free(&b);
}

/* Messages before the end or the refusal (then negative, less one). */
static int take_all(const uint8_t *data, size_t size, size_t piece)
{
    struct buf in = {0};
    struct err e = {0};
    int n = 0, rc = 0;
    for (size_t at = 0; at < size && rc == 0; at += piece) {
        json_t *message;
        buf_add(&in, data + at, size - at < piece ? size - at : piece);
        while ((rc = frame_take(&in, &message, &e)) == 0 && message) {
            assert(json_is_string(json_object_get(message, "type")));
            goes_round(message);
            json_decref(message);
            n++;
        }
    }
    assert(rc == 0 || (rc == -ERR_PROTOCOL && e.msg[0]));
    buf_free(&in);
    return rc ? -n - 1 : n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assert(take_all(data, size, size ? size : 1) == take_all(data, size, 3));
    return 0;
}
