/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker check-submission: shoald's reader of what users send. A submission, or with --extension what is asked of
 * an ensemble's spec, comes on stdin, the answer goes to stdout (daemon/spec/submission.h, spec/extension.h). With
 * --devices it says what the ensemble takes of those (device/sizes.h); it opens none. The process has limits of
 * processor time and memory, opens no file and no socket, and ends with the service.
 */
#include <stdio.h>

#include "daemon/spec/extension.h"
#include "daemon/spec/submission.h"
#include "daemon/worker/children/confine.h"
#include "daemon/worker/children/last_words.h"
#include "daemon/worker/children/own_limits.h"
#include "daemon/worker/command/commands.h"
#include "daemon/worker/command/line.h"
#include "daemon/worker/device/sizes.h"

struct check_options {
    const char *seconds, *mib, *devices;
    bool only, extension;
};

static const struct arg rows[] = {
    ARG(TEXT, "seconds", "N", struct check_options, seconds),      ARG(TEXT, "mib", "N", struct check_options, mib),
    ARG(TEXT, "devices", "LIMITS", struct check_options, devices), ARG(FLAG, "only", NULL, struct check_options, only),
    ARG(FLAG, "extension", NULL, struct check_options, extension),
};

int check_submission_main(int argc, char **argv)
{
    static const struct command_line line = {"check-submission", "", 0, 0, rows, sizeof rows / sizeof *rows, NULL};
    struct err e = {0};
    struct buf body = {0}, answer = {0};
    struct check_options o = {.seconds = "60", .mib = "2048"};
    int words, code;
    if (!command_line_read(&line, &o, argc, argv, &words, &code))
        return code;
    last_words_of_memory();
    if (own_limits(o.seconds, o.mib, &e) || buf_read_stream(&body, stdin, "stdin", &e))
        return last_words("check-submission", &e);
    confine();
    if (o.extension)
        extension_check(body.data, body.len, &answer);
    else
        submission_check(body.data, body.len, !o.only, o.devices ? sizes_of_kinds : NULL, (void *)o.devices, &answer);
    size_t written = fwrite(answer.data, 1, answer.len, stdout);
    int rc = written == answer.len && fflush(stdout) == 0 ? EXIT_OK : EXIT_FAILED;
    buf_free(&body);
    buf_free(&answer);
    return rc;
}
