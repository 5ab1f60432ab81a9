/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/moves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
/* cmocka.h needs them */
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/log.h"

static FILE *trace;
static int stderr_before = -1;

/* A test that ends in between says why in the file. */
static void show(void)
{
    char text[4000];
    ssize_t n;
    if (!trace)
        return;
    fflush(stderr);
    dup2(stderr_before, 2);
    lseek(fileno(trace), 0, SEEK_SET);
    while ((n = read(fileno(trace), text, sizeof text)) > 0 && write(2, text, (size_t)n) == n)
        continue;
    fclose(trace);
    trace = NULL;
}

static void on_abort(int sig)
{
    show();
}

void moves_begin(void)
{
    static bool once;
    show();
    if (!once)
        atexit(show);
    once = true;
    signal(SIGABRT, on_abort);
    trace = tmpfile();
    assert_non_null(trace);
    fflush(stderr);
    stderr_before = dup(2);
    assert_true(stderr_before >= 0 && dup2(fileno(trace), 2) == 2);
    log_setup("test", LOG_DEBUG);
}

void moves_end(const char *kind, char *to, size_t size)
{
    char line[2100], begin[100];
    size_t len = 0;
    log_setup("test", LOG_ERROR);
    fflush(stderr);
    dup2(stderr_before, 2);
    close(stderr_before);
    rewind(trace);
    snprintf(begin, sizeof begin, "test: %s 0x", kind);
    to[0] = '\0';
    while (fgets(line, sizeof line, trace)) {
        const char *from = strstr(line, begin), *arrow = from ? strstr(from, " -> ") : NULL;
        if (!arrow)
            continue;
        line[strcspn(line, "\n")] = '\0';
        len += (size_t)snprintf(to + len, size - len, "%s%s", len ? " " : "", arrow + 4);
        assert_true(len < size);
    }
    fclose(trace);
    trace = NULL;
}

void assert_table(const struct sm_kind *kind, const char *moves)
{
    char text[2000] = "";
    size_t len = 0;
    for (uint32_t from = 0; from < kind->count; from++)
        for (uint32_t to = 0; to < kind->count; to++) {
            const struct sm m = {.kind = kind, .state = from};
            if (sm_may(&m, to))
                len += (size_t)snprintf(text + len, sizeof text - len, "%s%s>%s", len ? " " : "",
                                        kind->states[from].name, kind->states[to].name);
            assert_true(len < sizeof text);
        }
    assert_string_equal(text, moves);
}

void assert_child(void (*f)(void *arg), void *arg, int sig, const char *says)
{
    int fds[2], status;
    char text[1000];
    size_t len = 0;
    ssize_t n;
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(fds[1], 2);
        f(arg);
        _exit(0);
    }
    close(fds[1]);
    while ((n = read(fds[0], text + len, sizeof text - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : 0, sig);
    if (!strstr(text, says))
        fail_msg("expected \"%s\" in \"%s\"", says, text);
}
