/* SPDX-License-Identifier: Apache-2.0
 *
 * Trajectories of any bytes, as .xtc, .trr or .gro: frames of finite numbers one after the other, or an error that
 * names the file.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/io/io.h"
#include "engine/io/trajectory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of so few atoms that .xtc files have them as they are, and of as many as they compress. */
#define TOPOLOGY(atoms)                                                                                                \
    "[ defaults ]\n1 2\n[ atomtypes ]\nA 1 12 0 A 0 0\n[ moleculetype ]\nM 0\n[ atoms ]\n1 A 1 RES CA 1\n"             \
    "[ system ]\nt\n[ molecules ]\nM " atoms "\n"
static const char *const topologies[] = {TOPOLOGY("3"), TOPOLOGY("10")};

static void check_frame(const struct trajectory_frame *f, const struct system *sys)
{
    assert(f->number > 0);
    for (int i = 0; i < BOX_SIZE; i++)
        assert(isfinite(f->box[i]));
    assert(f->box[BOX_XX] > 0 && f->box[BOX_YY] > 0 && f->box[BOX_ZZ] > 0);
    for (int i = 0; i < sys->natoms; i++)
        for (int d = 0; d < 3; d++)
            assert(isfinite(f->x[i][d]) && (!f->v || isfinite(f->v[i][d])));
}

static void read_all(const char *path, const struct system *sys)
{
    struct trajectory *t;
    struct trajectory_frame f;
    struct err e = {0};
    int rc = trajectory_open(&t, path, sys, &e);
    if (!rc) {
        while ((rc = trajectory_next(t, &f, &e)) == 0)
            check_frame(&f, sys);
        assert(trajectory_read_part(t) >= 0 && trajectory_read_part(t) <= 1);
        trajectory_close(t);
    }
    assert(rc == TRAJECTORY_END || rc == -ERR_COORDINATES || rc == -ERR_UNSUPPORTED);
    assert(rc == TRAJECTORY_END || !strncmp(e.msg, path, strlen(path)));
}

static void read_as(const char *path, const char *topology)
{
    struct source *src = source_memory_new();
    struct system sys;
    struct err e = {0};
    assert(!source_memory_add(src, "x.top", topology, strlen(topology), &e));
    assert(!top_read(&sys, src, "x.top", NULL, 0, &e));
    read_all(path, &sys);
    system_close(&sys);
    source_free(src);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("trajectory", MFD_CLOEXEC);
    assert(fd >= 0 && (!size || write(fd, data, size) == (ssize_t)size));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    read_as(path, topologies[0]);
    read_as(path, topologies[1]);
    close(fd);
    return 0;
}
