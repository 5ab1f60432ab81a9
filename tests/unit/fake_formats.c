/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs that say what a simulation of fake_sim.c was, in place of the engine's formats.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/io/output.h"
#include "engine/io/xtc_read.h"
#include "engine/series/dhdl.h"
#include "engine/series/energy.h"
#include "tests/unit/fake_sim.h"

void xtc_frame(struct buf *out, int natoms, const double (*x)[3], const double box[BOX_SIZE], uint64_t step,
               double time)
{
    (void)natoms, (void)box;
    fake_expect_a_job();
    buf_printf(out, "frame %" PRIu64 " %.3f %.0f\n", step, time, x[0][0]);
}

/* Of what xtc_frame writes: a line; its number in two halves. */
size_t xtc_read_frame(struct xtc_read *f, const unsigned char *data, size_t len)
{
    char line[128] = "";
    const unsigned char *end = memchr(data, '\n', len);
    int64_t x;
    fake_expect_a_job();
    if (!end || (size_t)(end - data) >= sizeof line)
        return 0;
    memcpy(line, data, (size_t)(end - data));
    if (sscanf(line, "frame %" SCNd32 " %f %" SCNd64, &f->step, &f->time, &x) != 3)
        return 0;
    f->natoms = 2;
    f->grid = calloc(2, sizeof *f->grid);
    f->grid[0][0] = (int32_t)(x >> 24);
    f->grid[0][1] = (int32_t)(x & 0xffffff);
    return (size_t)(end - data) + 1;
}

void xtc_place(const struct xtc_read *f, double (*x)[3], double box[BOX_SIZE])
{
    x[0][0] = (double)((int64_t)f->grid[0][0] * (1 << 24) + f->grid[0][1]);
    box[0] = box[1] = box[2] = 3;
}

void gro_write(struct buf *out, const struct system *s, const double (*x)[3], const double (*v)[3],
               const double box[BOX_SIZE], const char *title)
{
    (void)s, (void)box;
    fake_expect_a_job();
    buf_printf(out, "%s %.0f %g\n", title, x[0][0], v ? v[0][0] : 0);
}

void dhdl_header(struct buf *out, const struct settings *set, int window, bool pv)
{
    (void)set;
    buf_printf(out, "# window %d%s\n", window, pv ? " pV" : "");
}

void dhdl_row(struct buf *out, const struct settings *set, bool pv, const struct sample *s)
{
    (void)set, (void)pv;
    buf_printf(out, "%.4f %.0f\n", s->time, s->potential);
}

void energy_header(struct buf *out, const struct settings *set, const struct system *sys)
{
    (void)set, (void)sys;
    buf_printf(out, "# energies\n");
}

void energy_row(struct buf *out, const struct settings *set, const struct system *sys, const struct sample *s)
{
    (void)sys;
    buf_printf(out, "%.4f %.0f", s->time, s->potential);
    if (set->exchange)
        buf_printf(out, " %d %" PRIu64, s->walker, s->exchanges);
    buf_printf(out, "\n");
}
