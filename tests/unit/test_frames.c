/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/processes/frames.h"

static void put_raw(struct buf *b, const char *text, uint32_t len)
{
    uint8_t head[4] = {(uint8_t)len, (uint8_t)(len >> 8), (uint8_t)(len >> 16), (uint8_t)(len >> 24)};
    buf_add(b, head, 4);
    buf_add(b, text, strlen(text));
}

static void frames_arrive_in_pieces(void **state)
{
    struct buf wire = {0}, in = {0};
    struct err e = {0};
    json_t *a = json_pack("{s:s,s:I}", "type", "stop", "replica", (json_int_t)7);
    json_t *b = json_pack("{s:s,s:s}", "type", "event", "message",
                          "gr\xc3\xb6\xc3\x9f"
                          "er\n");
    const size_t begun = frame_begin(&wire);
    buf_printf(&wire, "{\"type\":\"stop\",\"replica\":%d}", 7);
    frame_end(&wire, begun);
    frame_put(&wire, b);
    json_t *want[2] = {a, b};
    int got = 0;
    for (size_t i = 0; i < wire.len; i++) {
        json_t *m;
        buf_add(&in, wire.data + i, 1);
        assert_int_equal(frame_take(&in, &m, &e), 0);
        if (m) {
            assert_true(got < 2 && json_equal(m, want[got]));
            got++;
            json_decref(m);
        }
    }
    assert_int_equal(got, 2);
    assert_int_equal(in.len, 0);
    json_decref(a);
    json_decref(b);
    buf_free(&wire);
    buf_free(&in);
}

static void refuses(const char *text, uint32_t len, const char *why)
{
    struct buf in = {0};
    struct err e = {0};
    json_t *m;
    put_raw(&in, text, len);
    assert_int_equal(frame_take(&in, &m, &e), -ERR_PROTOCOL);
    assert_null(m);
    assert_non_null(strstr(e.msg, why));
    buf_free(&in);
}

static void bad_frames_are_refused(void **state)
{
    refuses("{}", FRAME_MAX + 1, "at most");
    refuses("{]", 2, "not JSON");
    refuses("{}", 2, "\"type\"");
    refuses("[1]", 3, "\"type\"");
    refuses("{\"type\":3}", 10, "\"type\"");
    refuses("{\"type\":\"a\",\"type\":\"b\"}", 23, "not JSON");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_arrive_in_pieces),
        cmocka_unit_test(bad_frames_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
