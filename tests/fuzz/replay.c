/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzz target in the normal test suite: over every file of a corpus folder, over each file cut at every length,
 * and over each with single bytes changed.
 */
#undef NDEBUG
#include <assert.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const struct buf *text)
{
    static const uint8_t bytes[] = {0, '\n', ' ', '"', '(', '-', '9', 0xff};
    LLVMFuzzerTestOneInput((const uint8_t *)text->data, text->len);
    for (size_t len = 0; len < text->len; len++)
        LLVMFuzzerTestOneInput((const uint8_t *)text->data, len);
    for (size_t i = 0; i < text->len; i++) {
        char old = text->data[i];
        text->data[i] = (char)bytes[i % sizeof bytes];
        LLVMFuzzerTestOneInput((const uint8_t *)text->data, text->len);
        text->data[i] = old;
    }
}

int main(int argc, char **argv)
{
    int files = 0;
    assert(argc == 2);
    DIR *folder = opendir(argv[1]);
    assert(folder);
    for (struct dirent *d; (d = readdir(folder));) {
        struct buf path = {0}, text = {0};
        struct err e;
        if (d->d_name[0] == '.')
            continue;
        buf_printf(&path, "%s/%s", argv[1], d->d_name);
        if (buf_read_file(&text, path.data, &e)) {
            fprintf(stderr, "%s\n", e.msg);
            return 1;
        }
        run(&text);
        files++;
        buf_free(&text);
        buf_free(&path);
    }
    closedir(folder);
    printf("%d files of %s\n", files, argv[1]);
    return files ? 0 : 1;
}
