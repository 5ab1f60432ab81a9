/* SPDX-License-Identifier: Apache-2.0
 *
 * archive_unpack on any bytes: an error with a text, or a head whose files are all in the folder, as long as it lists
 * them. Nothing is written outside the folder.
 */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/archive/unpack.h"
#include "daemon/host/folder.h"
#include "engine/base/buf.h"

#define MOST (1 << 20) /* bytes of all files */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_files(const char *folder, const json_t *head)
{
    const json_t *file;
    size_t i;
    json_array_foreach (json_object_get(head, "files"), i, file) {
        struct buf path = {0};
        struct stat st;
        buf_printf(&path, "%s/in/%s", folder, json_string_value(json_array_get(file, 0)));
        assert(lstat(path.data, &st) == 0 && S_ISREG(st.st_mode));
        assert(st.st_size == json_integer_value(json_array_get(file, 1)));
        buf_free(&path);
    }
}

/* In memory: what is read into is made durable. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char folder[] = "/dev/shm/shoal-fuzz-XXXXXX", in[sizeof folder + 4];
    struct err e = {0};
    json_t *head;
    int64_t bytes = 0;
    int fd = memfd_create("archive", 0);
    assert(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0 && mkdtemp(folder));
    snprintf(in, sizeof in, "%s/in", folder);
    assert(mkdir(in, 0700) == 0);
    if (archive_unpack(fd, in, MOST, &head, &e)) {
        assert(!head && *e.msg);
        assert(e.code == ERR_ARCHIVE || e.code == ERR_UNSUPPORTED || e.code == ERR_LIMIT || e.code == ERR_IO);
    } else {
        check_files(folder, head);
        json_decref(head);
    }
    assert(folder_remove(in, &bytes, &e) == 0 && rmdir(folder) == 0);
    close(fd);
    return 0;
}
