/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/fake_sim.h"

int fake_folder_new(void)
{
    static char directory[64];
    snprintf(directory, sizeof directory, "%s/shoal-replicas-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    fake.directory = directory;
    return mkdtemp(directory) ? 0 : -1;
}

void fake_folder_empty(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s/*", fake.directory);
    if (system(command))
        abort();
}

int fake_folder_remove(void)
{
    fake_folder_empty();
    return rmdir(fake.directory);
}

void fake_files_read(struct buf files[FAKE_FILES], int window)
{
    static const char *const names[FAKE_FILES] = {"dhdl.xvg", "energy.xvg", "traj.xtc", "confout.gro"};
    for (int i = 0; i < FAKE_FILES; i++) {
        char path[128];
        struct err e = {0};
        snprintf(path, sizeof path, "%s/lambda_%02d/%s", fake.directory, window, names[i]);
        files[i].len = 0;
        if (buf_read_file(&files[i], path, &e)) {
            fprintf(stderr, "%s\n", e.msg);
            abort();
        }
    }
}

void fake_files_free(struct buf files[FAKE_FILES])
{
    for (int i = 0; i < FAKE_FILES; i++)
        buf_free(&files[i]);
}
