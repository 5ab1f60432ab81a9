/* SPDX-License-Identifier: Apache-2.0 */
#include "client/programs/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Up to the end of what it prints. */
static void read_all(int from, struct buf *text)
{
    char piece[65536];
    ssize_t n;
    while ((n = read(from, piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            buf_add(text, piece, (size_t)n);
}

int program_output(void (*become)(char **words), char **words, struct buf *text, struct err *e)
{
    int out[2], status = 0;
    fflush(stdout);
    if (pipe(out))
        return err_set(e, ERR_INTERNAL, "%s: %s", words[0], strerror(errno));
    const pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        become(words);
        _exit(EXIT_INTERNAL);
    }
    close(out[1]);
    if (child < 0)
        err_set(e, ERR_INTERNAL, "%s: %s", words[0], strerror(errno));
    else
        read_all(out[0], text);
    close(out[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERNAL;
}
