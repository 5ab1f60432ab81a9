/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker check-submission: shoald's reader of what users send. A submission, or with --extension what is asked of an
 * ensemble's spec, comes on stdin, the answer goes to stdout (daemon/spec/submission.h, spec/extension.h). With --devices it says what
 * the ensemble takes of those (device/sizes.h); it opens none. The process has limits of processor time and memory, opens no file and
 * no socket, and ends with the service.
 */
#include <getopt.h>
#include <stdio.h>

#include "daemon/spec/extension.h"
#include "daemon/spec/submission.h"
#include "daemon/worker/children/confine.h"
#include "daemon/worker/children/last_words.h"
#include "daemon/worker/children/own_limits.h"
#include "daemon/worker/command/commands.h"
#include "daemon/worker/device/sizes.h"

static const struct option options[] = {
    {"seconds", required_argument, NULL, 's'}, {"mib", required_argument, NULL, 'm'}, {"only", no_argument, NULL, 'o'},
    {"devices", required_argument, NULL, 'd'}, {"extension", no_argument, NULL, 'e'}, {NULL, 0, NULL, 0}};

int check_submission_main(int argc, char **argv)
{
    struct err e = {0};
    struct buf body = {0}, answer = {0};
    bool texts = true, extension = false;
    char *devices = NULL;
    const char *seconds = "60", *mib = "2048";
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 's')
            seconds = optarg;
        else if (c == 'm')
            mib = optarg;
        else if (c == 'o')
            texts = false;
        else if (c == 'd')
            devices = optarg;
        else if (c == 'e')
            extension = true;
        else
            return EXIT_BAD_USAGE;
    }
    last_words_of_memory();
    if (own_limits(seconds, mib, &e) || buf_read_stream(&body, stdin, "stdin", &e))
        return last_words("check-submission", &e);
    confine();
    if (extension)
        extension_check(body.data, body.len, &answer);
    else
        submission_check(body.data, body.len, texts, devices ? sizes_of_kinds : NULL, devices, &answer);
    size_t written = fwrite(answer.data, 1, answer.len, stdout);
    int rc = written == answer.len && fflush(stdout) == 0 ? EXIT_OK : EXIT_FAILED;
    buf_free(&body);
    buf_free(&answer);
    return rc;
}
