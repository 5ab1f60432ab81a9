/* SPDX-License-Identifier: Apache-2.0
 *
 * The file is mapped: frames are read where they lie. A file that grows meanwhile is read as far as it was; of one that
 * becomes shorter, as that of a replica that goes on from its checkpoint does, pages that are gone must not be touched.
 */
#include "engine/io/trajectory.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/buf.h"
#include "engine/base/number.h"
#include "engine/io/io.h"
#include "engine/io/trr_read.h"
#include "engine/io/xtc_read.h"

struct trajectory {
    char *path;
    const struct system *sys;
    const unsigned char *data;
    size_t len, at;
    int fd;
    uint64_t number;
    bool cut;
    int line; /* of a text */
    double (*x)[3], (*v)[3];
    /* 0: what is at t->at is a frame, and t->at behind it; else as trajectory_next says it */
    int (*next)(struct trajectory *t, struct trajectory_frame *f, struct err *e);
};

static int bad(const struct trajectory *t, size_t at, struct err *e, const char *what)
{
    return err_set(e, ERR_COORDINATES, "%s: frame %llu, at byte %zu: %s", t->path, (unsigned long long)t->number, at,
                   what);
}

static int check_atoms(const struct trajectory *t, int natoms, struct err *e)
{
    if (natoms == t->sys->natoms)
        return 0;
    return err_set(e, ERR_COORDINATES, "%s: frame %llu has %d %s; expected %d, as in the topology", t->path,
                   (unsigned long long)t->number, natoms, number_word(natoms, "atom", "atoms"), t->sys->natoms);
}

/* Edge vectors a along x, b in the xy plane, leaning by no more than half an edge, with room for rounding: GROMACS'
 * boxes. */
static int check_box(const struct trajectory *t, size_t at, const double b[BOX_SIZE], struct err *e)
{
    const double half = 0.5 * 1.001;
    if (!(b[BOX_XX] > 0 && b[BOX_YY] > 0 && b[BOX_ZZ] > 0 && isfinite(b[BOX_XX] + b[BOX_YY] + b[BOX_ZZ])))
        return bad(t, at, e, "it has no periodic box");
    if (!(fabs(b[BOX_YX]) <= half * b[BOX_XX] && fabs(b[BOX_ZX]) <= half * b[BOX_XX] &&
          fabs(b[BOX_ZY]) <= half * b[BOX_YY]))
        return bad(t, at, e, "a box edge leans by more than half of another (every lattice has a box where none does)");
    return 0;
}

/* Of what each atom has, nm or nm/ps. A million is what a .xtc of three decimals ends at. */
static int check_vectors(const struct trajectory *t, size_t at, const double (*of)[3], const char *what, struct err *e)
{
    for (int i = 0; i < t->sys->natoms; i++)
        if (!(fabs(of[i][0]) < 1e6 && fabs(of[i][1]) < 1e6 && fabs(of[i][2]) < 1e6))
            return err_set(
                e, ERR_COORDINATES,
                "%s: frame %llu, at byte %zu: atom %d has the %s (%g %g %g); expected numbers below a million", t->path,
                (unsigned long long)t->number, at, i + 1, what, of[i][0], of[i][1], of[i][2]);
    return 0;
}

static int next_xtc(struct trajectory *t, struct trajectory_frame *f, struct err *e)
{
    struct xtc_read frame = {0};
    const size_t at = t->at, length = xtc_read_frame(&frame, t->data + at, t->len - at);
    t->cut = frame.cut;
    if (!length)
        return bad(t, at, e,
                   t->cut ? "not a whole .xtc frame: the file ends in it" : "no .xtc frame: the file is damaged there");
    int rc = check_atoms(t, frame.natoms, e);
    if (!rc && (frame.box[1] != 0 || frame.box[2] != 0 || frame.box[5] != 0))
        rc = bad(t, at, e, "the box is turned: expected its first edge along x, its second in the xy plane");
    if (!rc)
        xtc_place(&frame, t->x, f->box);
    f->time = frame.time;
    free(frame.grid);
    t->at += length;
    return rc;
}

static void copy_vectors(const struct trr_read *frame, const unsigned char *part, double (*out)[3])
{
    for (int i = 0; i < frame->natoms; i++)
        for (int d = 0; d < 3; d++)
            out[i][d] = trr_number(frame, part, (size_t)i * 3 + (size_t)d);
}

static void trr_box(const struct trr_read *frame, double box[BOX_SIZE])
{
    static const size_t from[BOX_SIZE] = {
        [BOX_XX] = 0, [BOX_YY] = 4, [BOX_ZZ] = 8, [BOX_YX] = 3, [BOX_ZX] = 6, [BOX_ZY] = 7};
    for (int i = 0; i < BOX_SIZE; i++)
        box[i] = frame->box ? trr_number(frame, frame->box, from[i]) : 0;
}

/* Frames of velocities or forces alone are passed over. */
static int next_trr(struct trajectory *t, struct trajectory_frame *f, struct err *e)
{
    struct trr_read frame = {0};
    size_t at = t->at;
    while (t->at < t->len && !frame.x) {
        at = t->at;
        const size_t length = trr_read_frame(&frame, t->data + at, t->len - at);
        t->cut = frame.cut;
        if (!length)
            return bad(t, at, e,
                       t->cut ? "not a whole .trr frame: the file ends in it"
                              : "no .trr frame: the file is damaged there");
        t->at += length;
    }
    if (!frame.x)
        return TRAJECTORY_END;
    int rc = check_atoms(t, frame.natoms, e);
    if (rc)
        return rc;
    if (frame.box && (trr_number(&frame, frame.box, 1) != 0 || trr_number(&frame, frame.box, 2) != 0 ||
                      trr_number(&frame, frame.box, 5) != 0))
        return bad(t, at, e, "the box is turned: expected its first edge along x, its second in the xy plane");
    copy_vectors(&frame, frame.x, t->x);
    if (frame.v)
        copy_vectors(&frame, frame.v, t->v);
    f->v = frame.v ? t->v : NULL;
    trr_box(&frame, f->box);
    f->time = frame.time;
    return 0;
}

static int next_gro(struct trajectory *t, struct trajectory_frame *f, struct err *e)
{
    struct start from;
    int rc = gro_read_frame(t->sys, t->path, (const char *)t->data, t->len, &t->at, &t->line, &from, &f->time, e);
    if (rc)
        return rc;
    free(t->x);
    t->x = from.x;
    if (from.v) {
        free(t->v);
        t->v = from.v;
        f->v = t->v;
    }
    memcpy(f->box, from.box, sizeof f->box);
    return 0;
}

/* Whether there is more, and all of it still. */
static int check_file(const struct trajectory *t, struct err *e)
{
    struct stat about;
    if (t->at == t->len)
        return TRAJECTORY_END;
    if (fstat(t->fd, &about) || (size_t)about.st_size < t->len)
        return err_set(e, ERR_COORDINATES,
                       "%s: it has become shorter than the %zu bytes that it had: is it being written?", t->path,
                       t->len);
    return 0;
}

int trajectory_pass(struct trajectory *t, struct err *e)
{
    struct trajectory_frame f;
    if (t->next != next_xtc)
        return trajectory_next(t, &f, e);
    int rc = check_file(t, e);
    if (rc)
        return rc;
    const size_t length = xtc_length(t->data + t->at, t->len - t->at);
    t->number++;
    if (!length)
        return bad(t, t->at, e, "no whole .xtc frame");
    t->at += length;
    return 0;
}

int trajectory_next(struct trajectory *t, struct trajectory_frame *f, struct err *e)
{
    const size_t at = t->at;
    int rc = check_file(t, e);
    if (rc)
        return rc;
    *f = (struct trajectory_frame){.number = ++t->number};
    rc = t->next(t, f, e);
    if (!rc)
        rc = check_box(t, at, f->box, e);
    if (!rc)
        rc = check_vectors(t, at, (const double(*)[3])t->x, "position", e);
    if (!rc && f->v)
        rc = check_vectors(t, at, (const double(*)[3])t->v, "velocity", e);
    f->x = t->x;
    return rc;
}

/* .xtc and .trr begin with numbers of their own. */
static int find_format(struct trajectory *t, struct err *e)
{
    uint32_t magic = 0;
    for (size_t i = 0; i < 4 && i < t->len; i++)
        magic = magic << 8 | t->data[i];
    if (magic == XTC_MAGIC)
        t->next = next_xtc;
    else if (magic == TRR_MAGIC)
        t->next = next_trr;
    else if (t->len && !memchr(t->data, '\0', t->len < 256 ? t->len : 256))
        t->next = next_gro;
    else
        return err_set(e, ERR_COORDINATES, "%s: expected .xtc, .trr or .gro", t->path);
    return 0;
}

static int map(struct trajectory *t, struct err *e)
{
    struct stat about;
    int rc = 0;
    t->fd = open(t->path, O_RDONLY | O_CLOEXEC);
    if (t->fd < 0 || fstat(t->fd, &about)) {
        rc = err_errno(e, "%s", t->path);
        e->code = ERR_MISSING_FILE;
    } else if (!S_ISREG(about.st_mode) || !about.st_size) {
        rc = err_set(e, ERR_COORDINATES, "%s: %s", t->path, S_ISREG(about.st_mode) ? "it is empty" : "it is no file");
    } else {
        void *data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, t->fd, 0);
        if (data == MAP_FAILED)
            rc = err_errno(e, "%s", t->path);
        else
            t->data = data, t->len = (size_t)about.st_size;
    }
    return rc ? -(int)e->code : 0;
}

int trajectory_open(struct trajectory **out, const char *path, const struct system *sys, struct err *e)
{
    struct trajectory *t = xcalloc(1, sizeof *t);
    t->path = xstrdup(path);
    t->sys = sys;
    t->x = xcalloc((size_t)sys->natoms, sizeof *t->x);
    t->v = xcalloc((size_t)sys->natoms, sizeof *t->v);
    int rc = map(t, e);
    if (!rc)
        rc = find_format(t, e);
    if (rc) {
        trajectory_close(t);
        return rc;
    }
    *out = t;
    return 0;
}

bool trajectory_is_cut(const struct trajectory *t)
{
    return t->cut;
}

double trajectory_read_part(const struct trajectory *t)
{
    return (double)t->at / (double)t->len;
}

void trajectory_close(struct trajectory *t)
{
    if (!t)
        return;
    if (t->data)
        munmap((void *)(uintptr_t)t->data, t->len);
    if (t->fd >= 0)
        close(t->fd);
    free(t->path);
    free(t->x);
    free(t->v);
    free(t);
}
