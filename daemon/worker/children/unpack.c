/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker unpack: shoald's reader of ensembles that come from another node. The archive comes on stdin, its files
 * go into a folder. The answer on stdout is the archive's head, as one line of JSON, and then what check-submission
 * says of the spec and the inputs that were in it (daemon/spec/submission.h). The process has limits of processor time
 * and memory, opens files of that folder alone and no socket, and ends with the service.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/archive/archive.h"
#include "daemon/archive/unpack.h"
#include "daemon/spec/submission.h"
#include "daemon/worker/children/confine.h"
#include "daemon/worker/children/last_words.h"
#include "daemon/worker/children/own_limits.h"
#include "daemon/worker/command/commands.h"
#include "daemon/worker/command/line.h"
#include "daemon/worker/device/sizes.h"
#include "engine/base/buf.h"
#include "engine/base/number.h"

#define INPUT_BYTES (64 << 20) /* of spec and inputs together: as many as a submission may have */

struct unpack_options {
    const char *folder, *bytes, *seconds, *mib, *devices;
};

static const struct arg rows[] = {
    ARG(TEXT, "folder", "DIR", struct unpack_options, folder),
    ARG(TEXT, "bytes", "N", struct unpack_options, bytes),
    ARG(TEXT, "seconds", "N", struct unpack_options, seconds),
    ARG(TEXT, "mib", "N", struct unpack_options, mib),
    ARG(TEXT, "devices", "LIMITS", struct unpack_options, devices),
};

static json_t *read_input(const char *folder, const json_t *file, struct err *e)
{
    const char *name = json_string_value(json_array_get(file, 0));
    struct buf path = {0}, text = {0};
    buf_printf(&path, "%s/%s", folder, name);
    json_t *value = NULL;
    if (buf_read_file(&text, path.data, e) == 0 && !(value = json_stringn(text.data ? text.data : "", text.len)))
        err_set(e, ERR_ARCHIVE, "the archive's \"%.200s\" is no text in UTF-8", name);
    buf_free(&path);
    buf_free(&text);
    return value;
}

/* A submission of what the archive has in input/. NULL: some of it is missing or too large. */
static json_t *submission_of(const char *folder, const json_t *head, struct err *e)
{
    json_t *files = json_object(), *spec = NULL, *file;
    const size_t begin = strlen(ARCHIVE_INPUTS);
    int64_t bytes = 0;
    size_t i;
    json_array_foreach (json_object_get(head, "files"), i, file) {
        const char *name = json_string_value(json_array_get(file, 0));
        if (strncmp(name, ARCHIVE_INPUTS, begin) != 0 || e->code)
            continue;
        bytes += json_integer_value(json_array_get(file, 1));
        json_t *text = bytes > INPUT_BYTES ? NULL : read_input(folder, file, e);
        if (bytes > INPUT_BYTES)
            err_set(e, ERR_ARCHIVE, "the archive's inputs have more than %d MiB", INPUT_BYTES >> 20);
        else if (!strcmp(name, ARCHIVE_SPEC))
            spec = text;
        else
            json_object_set_new(files, name + begin, text);
    }
    if (!spec && !e->code)
        err_set(e, ERR_ARCHIVE, "the archive is damaged: it has no " ARCHIVE_SPEC);
    json_t *out = json_pack("{s:o?,s:o}", "spec", spec, "files", files);
    if (!e->code)
        return out;
    json_decref(out);
    return NULL;
}

/* With what the head says of it. */
static int check_inputs(const char *folder, const json_t *head, const char *devices, struct buf *answer, struct err *e)
{
    static const char *const said[][2] = {{"key", "id"}, {"spec_name", "spec_name"}, {"labels", "labels"}};
    const json_t *ensemble = json_object_get(head, "ensemble");
    json_t *body = submission_of(folder, head, e);
    if (!body)
        return -(int)e->code;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        json_t *value = json_object_get(ensemble, said[i][0]);
        if (value && !json_is_null(value))
            json_object_set(body, said[i][1], value);
    }
    char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    if (!text)
        return err_set(e, ERR_ARCHIVE, "the archive's inputs are no text");
    submission_check(text, strlen(text), true, devices ? sizes_of_kinds : NULL, (void *)devices, answer);
    free(text);
    return 0;
}

static int unpack_all(const struct unpack_options *o, struct err *e)
{
    struct buf answer = {0};
    json_t *head = NULL;
    int64_t most;
    if (!o->folder)
        return err_set(e, ERR_USAGE, "unpack needs --folder");
    if (number_whole(&most, "--bytes ", o->bytes, 0, INT64_MAX - 1, e) || own_limits(o->seconds, o->mib, e))
        return -(int)e->code;
    confine_to_tree(o->folder);
    int rc = archive_unpack(0, o->folder, most, &head, e);
    if (!rc)
        rc = check_inputs(o->folder, head, o->devices, &answer, e);
    if (!rc && (json_dumpf(head, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17)) || putchar('\n') < 0 ||
                fwrite(answer.data, 1, answer.len, stdout) != answer.len || fflush(stdout)))
        rc = err_set(e, ERR_IO, "standard output: not all of it was written");
    json_decref(head);
    buf_free(&answer);
    return rc;
}

int unpack_main(int argc, char **argv)
{
    static const struct command_line line = {"unpack", "", 0, 0, rows, sizeof rows / sizeof *rows, NULL};
    struct err e = {0};
    struct unpack_options o = {.bytes = "0", .seconds = "60", .mib = "2048"};
    int words, code;
    if (!command_line_read(&line, &o, argc, argv, &words, &code))
        return code;
    last_words_of_memory();
    return unpack_all(&o, &e) ? last_words("unpack", &e) : EXIT_OK;
}
