/* SPDX-License-Identifier: Apache-2.0
 *
 * The server, with a handler that knows no more than paths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/http/internal.h"
#include "tests/lib/moves.h"
#include "tests/lib/server_play.h"

#define IDLE_SECONDS 2

struct fixture {
    struct server_play play;
    struct request *later; /* of /later, not answered yet */
    int gone, closed, fills;
    struct stream *waiting; /* of /wait, which has nothing more to send */
};

static void on_gone(void *arg)
{
    ((struct fixture *)arg)->gone++;
}

/* A body in three pieces; the last of /broken never comes. */
struct pieces {
    struct fixture *f;
    bool broken;
    int sent;
};

static void fill(void *arg, struct stream *s)
{
    struct pieces *p = arg;
    p->f->fills++;
    if (p->sent++ < 2)
        stream_push(s, "piece,", 6);
    else if (p->broken)
        stream_fail(s);
    else
        stream_end(s);
}

static void closed(void *arg)
{
    struct pieces *p = arg;
    p->f->closed++;
    free(p);
}

static struct reply stream_by(struct fixture *f, struct request *r, int64_t bytes, bool broken,
                              void (*fill_it)(void *arg, struct stream *s))
{
    struct pieces *p = calloc(1, sizeof *p);
    *p = (struct pieces){f, broken, 0};
    return reply_stream(r, 200, "text/plain", bytes, &(struct stream_ops){fill_it, closed}, p);
}

static struct reply stream(struct fixture *f, struct request *r, int64_t bytes, bool broken)
{
    return stream_by(f, r, bytes, broken, fill);
}

/* Sends one piece, and then what the test pushes. */
static void fill_once(void *arg, struct stream *s)
{
    struct pieces *p = arg;
    p->f->waiting = s;
    if (p->sent++ == 0)
        stream_push(s, "piece,", 6);
}

static void fill_always(void *arg, struct stream *s)
{
    static const char much[100000];
    stream_push(s, much, sizeof much);
}

static struct reply handle(void *arg, struct request *r)
{
    struct fixture *f = arg;
    const char *path = request_path(r);
    if (strcmp(path, "/later") == 0) {
        f->later = r;
        request_on_gone(r, on_gone, f);
        return reply_later(r);
    }
    if (strcmp(path, "/stream") == 0)
        return stream(f, r, -1, false);
    if (strcmp(path, "/sized") == 0)
        return stream(f, r, 12, false);
    if (strcmp(path, "/wait") == 0)
        return stream_by(f, r, -1, false, fill_once);
    if (strcmp(path, "/flood") == 0)
        return stream_by(f, r, -1, false, fill_always);
    if (strcmp(path, "/broken") == 0)
        return stream(f, r, 18, true);
    size_t len;
    request_body(r, &len);
    return reply_json(r, 200, json_pack("{s:s,s:i}", "method", request_method(r), "bytes", (int)len));
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    server_play_begin(&f->play, handle, f, IDLE_SECONDS);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    server_play_end(&f->play);
    free(f);
    return 0;
}

static void assert_says(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("\"%s\" lacks \"%s\"", text ? text : "(nothing)", part);
}

static void test_answers(void **state)
{
    struct fixture *f = *state;
    int fd = server_play_dial(&f->play);
    server_play_ask(fd, "GET", "/x");
    assert_says(server_play_answer(&f->play, fd, "}\n"), "\"method\":\"GET\"");
    server_play_ask(fd, "POST", "/y"); /* the same connection */
    assert_says(server_play_answer(&f->play, fd, "}\n"), "\"method\":\"POST\"");
    assert_int_equal(quota_held(f->play.quota, getuid(), QUOTA_CONNECTIONS), 1);
    close(fd);
    server_play_turn(&f->play, 50);
    assert_int_equal(quota_held(f->play.quota, getuid(), QUOTA_CONNECTIONS), 0);
}

static void test_streams(void **state)
{
    struct fixture *f = *state;
    int fd = server_play_dial(&f->play);
    server_play_ask(fd, "GET", "/stream");
    assert_says(server_play_answer(&f->play, fd, "\r\n0\r\n\r\n"), "chunked");
    server_play_ask(fd, "GET", "/sized");
    assert_says(server_play_answer(&f->play, fd, "piece,piece,"), "Content-Length: 12");
    server_play_ask(fd, "HEAD", "/sized");
    assert_says(server_play_answer(&f->play, fd, "\r\n\r\n"), "Content-Length: 12");
    server_play_ask(fd, "HEAD", "/stream"); /* the end of the connection is the end of this answer */
    const char *head = server_play_answer(&f->play, fd, NULL);
    assert_says(head, "200 OK");
    assert_null(strstr(head, "Content-Length"));
    assert_null(strstr(head, "chunked"));
    assert_string_equal(strstr(head, "\r\n\r\n"), "\r\n\r\n"); /* nothing of a body */
    close(fd);
    fd = server_play_dial(&f->play);
    server_play_ask(fd, "GET", "/x");
    assert_says(server_play_answer(&f->play, fd, "}\n"), "200 OK"); /* nothing of a body was in the way */
    server_play_ask(fd, "GET", "/broken");
    const char *half = server_play_answer(&f->play, fd, NULL); /* until the end of the connection */
    assert_says(half, "Content-Length: 18");
    assert_null(strstr(half, "piece,piece,piece,"));
    assert_int_equal(f->closed, 5);
    close(fd);
}

/* Who reads may wait for ever; who does not, whether a little or much lies there, is let go. */
static void test_followers_that_do_not_read(void **state)
{
    struct fixture *f = *state;
    int deaf = server_play_dial(&f->play), flooded = server_play_dial(&f->play), good = server_play_dial(&f->play);
    server_play_ask(deaf, "GET", "/wait");
    server_play_ask(flooded, "GET", "/flood");
    server_play_turn(&f->play, 100);
    server_play_ask(good, "GET", "/wait");
    assert_says(server_play_answer(&f->play, good, "piece,"), "200 OK");
    assert_int_equal(f->closed, 0);
    server_play_turn(&f->play, 1000 * (IDLE_SECONDS + 3));
    assert_int_equal(f->closed, 2);
    stream_push(f->waiting, "more,", 5);
    assert_says(server_play_answer(&f->play, good, "more,"), "more,");
    close(deaf);
    close(flooded);
    close(good);
    server_play_turn(&f->play, 1500);
    assert_int_equal(f->closed, 3);
    assert_int_equal(quota_held(f->play.quota, getuid(), QUOTA_CONNECTIONS), 0);
}

static void send_byte(int fd, const char *bytes, int at)
{
    if (send(fd, bytes + at, 1, MSG_NOSIGNAL) != 1)
        assert_true(at > 2 * IDLE_SECONDS);
}

/* A request that comes byte by byte, its head or its body, is cut off, though its client is never silent for long; one
 * that answers and asks again may stay. */
static void test_dribble(void **state)
{
    static const char head[] = "GET /x HTTP/1.1\r\nHost: x\r\nX-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                      body[] = "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n";
    struct fixture *f = *state;
    int slow = server_play_dial(&f->play), slow_body = server_play_dial(&f->play), good = server_play_dial(&f->play);
    assert_int_equal(send(slow_body, body, sizeof body - 1, MSG_NOSIGNAL), sizeof body - 1);
    for (int i = 0; i < 2 * (2 * IDLE_SECONDS + 3); i++) {
        send_byte(slow, head, i);
        send_byte(slow_body, head, i);
        server_play_ask(good, "GET", "/x");
        assert_says(server_play_answer(&f->play, good, "}\n"), "200 OK");
        server_play_turn(&f->play, 500);
        if (i == 2)
            assert_int_equal(quota_held(f->play.quota, getuid(), QUOTA_CONNECTIONS), 3);
    }
    assert_int_equal(quota_held(f->play.quota, getuid(), QUOTA_CONNECTIONS), 1);
    close(slow);
    close(slow_body);
    close(good);
    server_play_turn(&f->play, 50);
}

static void test_later_and_gone(void **state)
{
    struct fixture *f = *state;
    int fd = server_play_dial(&f->play);
    server_play_ask(fd, "GET", "/later");
    server_play_turn(&f->play, 50);
    assert_non_null(f->later);
    reply_json(f->later, 200, json_pack("{s:b}", "late", 1));
    assert_says(server_play_answer(&f->play, fd, "}\n"), "\"late\":true");
    server_play_ask(fd, "GET", "/later");
    server_play_turn(&f->play, 50);
    shutdown(fd, SHUT_WR); /* it has no more to say, and waits */
    server_play_turn(&f->play, 1500);
    assert_int_equal(f->gone, 0);
    close(fd);
    server_play_turn(&f->play, 1500);
    assert_int_equal(f->gone, 1);
    reply_json(f->later, 200, json_object()); /* to nobody */
    server_play_turn(&f->play, 50);
    assert_int_equal(quota_held(f->play.quota, getuid(), QUOTA_CONNECTIONS), 0);
}

/* At the limit, one more, then all leave at once: it answers. */
static void test_limit(void **state)
{
    struct fixture *f = *state;
    int fds[40], all = 16;
    quota_limit(f->play.quota, QUOTA_CONNECTIONS, all, all);
    for (int round = 0; round < 5; round++) {
        int told = 0, let_in = 0;
        for (int i = 0; i < 40; i++) {
            fds[i] = server_play_dial(&f->play);
            server_play_ask(fds[i], "GET", "/x");
        }
        for (int i = 0; i < 40; i++) {
            const char *text = server_play_answer(&f->play, fds[i], "}\n");
            let_in += strstr(text, "200 OK") != NULL;
            told += strstr(text, "\"LIMIT\"") || strstr(text, "\"BUSY\"");
        }
        assert_int_equal(let_in + told, 40);
        assert_int_equal(let_in, getuid() == 0 ? all : all - all / 16);
        for (int i = 0; i < 40; i++)
            close(fds[i]); /* the loop sees them go in one turn */
        int fd = server_play_dial(&f->play);
        server_play_ask(fd, "GET", "/x");
        assert_says(server_play_answer(&f->play, fd, "}\n"), " "); /* whatever it says: it listens */
        close(fd);
        server_play_turn(&f->play, 50);
        assert_int_equal(quota_held(f->play.quota, getuid(), QUOTA_CONNECTIONS), 0);
    }
}

static void test_close_with_work_in_hand(void **state)
{
    struct fixture *f = *state;
    int a = server_play_dial(&f->play), b = server_play_dial(&f->play), c = server_play_dial(&f->play);
    server_play_ask(a, "GET", "/later");
    server_play_ask(b, "GET", "/x");
    server_play_turn(&f->play, 50);
    server_close(f->play.server);
    f->play.server = NULL;
    server_play_turn(&f->play, 50);
    reply_json(f->later, 200, json_object()); /* after the server is gone */
    assert_int_equal(f->gone, 0);
    close(a);
    close(b);
    close(c);
}

/* What is answered last is sent, though there is no turn of the loop any more. */
static void test_answer_and_close(void **state)
{
    struct fixture *f = *state;
    int fd = server_play_dial(&f->play);
    server_play_ask(fd, "GET", "/later");
    server_play_turn(&f->play, 50);
    reply_json(f->later, 200, json_pack("{s:b}", "last", 1));
    server_close(f->play.server);
    f->play.server = NULL;
    assert_says(server_play_answer(&f->play, fd, "}\n"), "\"last\":true");
    close(fd);
}

/* ---- states ---- */

static void test_tables(void **state)
{
    assert_table(&request_states,
                 "reading>handled reading>answered reading>over handled>waiting handled>answered "
                 "handled>left waiting>handled waiting>answered waiting>left answered>sent "
                 "answered>over sent>over left>over");
    assert_table(&stream_states,
                 "idle>filling idle>ended idle>broken filling>idle filling>ended filling>broken "
                 "ended>broken");
}

static void assert_went(const char *kind, const char *expected)
{
    char moves[400];
    moves_end(kind, moves, sizeof moves);
    assert_string_equal(moves, expected);
}

/* Asks for `path`, reads until `until` has come, and leaves. */
static void ask_once(struct fixture *f, const char *path, const char *until)
{
    int fd = server_play_dial(&f->play);
    server_play_ask(fd, "GET", path);
    server_play_answer(&f->play, fd, until);
    close(fd);
    server_play_turn(&f->play, 50);
}

static void test_states_of_answers(void **state)
{
    struct fixture *f = *state;
    moves_begin();
    ask_once(f, "/x", "}\n");
    assert_went("request", "handled answered sent over");
    moves_begin();
    int fd = server_play_dial(&f->play);
    server_play_ask(fd, "GET", "/later");
    server_play_turn(&f->play, 50);
    reply_json(f->later, 200, json_object());
    server_play_answer(&f->play, fd, "}\n");
    close(fd);
    server_play_turn(&f->play, 50);
    assert_went("request", "handled waiting answered sent over");
    moves_begin();
    quota_limit(f->play.quota, QUOTA_CONNECTIONS, 0, 0);
    ask_once(f, "/x", "}\n");
    assert_went("request", "answered sent over");
}

static void test_states_without_answers(void **state)
{
    struct fixture *f = *state;
    int fd = server_play_dial(&f->play);
    moves_begin();
    assert_int_equal(send(fd, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", 50, MSG_NOSIGNAL), 50);
    server_play_turn(&f->play, 50);
    close(fd);
    server_play_turn(&f->play, 50);
    assert_went("request", "over");
    fd = server_play_dial(&f->play);
    moves_begin();
    server_play_ask(fd, "GET", "/later");
    server_play_turn(&f->play, 50);
    close(fd);
    server_close(f->play.server);
    f->play.server = NULL;
    assert_went("request", "handled waiting handled left");
    moves_begin();
    reply_json(f->later, 200, json_object());
    assert_went("request", "over");
}

static void test_states_of_streams(void **state)
{
    struct fixture *f = *state;
    moves_begin();
    ask_once(f, "/stream", "\r\n0\r\n\r\n");
    assert_went("stream", "filling idle filling idle filling ended");
    moves_begin();
    ask_once(f, "/broken", NULL);
    assert_went("stream", "filling idle filling idle filling broken");
    moves_begin();
    ask_once(f, "/wait", "piece,");
    server_play_turn(&f->play, 1500); /* it is seen to have left */
    assert_went("stream", "filling idle filling broken");
}

static void answer(void *request)
{
    reply_json(request, 200, json_object());
}

static void test_answer_twice(void **state)
{
    struct fixture *f = *state;
    int fd = server_play_dial(&f->play);
    server_play_ask(fd, "GET", "/later");
    server_play_turn(&f->play, 50);
    answer(f->later);
    assert_child(answer, f->later, SIGABRT, "answered -> answered (3 -> 3): not an allowed move");
    close(fd);
    server_play_turn(&f->play, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_answers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_streams, setup, teardown),
        cmocka_unit_test_setup_teardown(test_later_and_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_followers_that_do_not_read, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dribble, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_close_with_work_in_hand, setup, teardown),
        cmocka_unit_test_setup_teardown(test_answer_and_close, setup, teardown),
        cmocka_unit_test(test_tables),
        cmocka_unit_test_setup_teardown(test_states_of_answers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_states_without_answers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_states_of_streams, setup, teardown),
        cmocka_unit_test_setup_teardown(test_answer_twice, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
