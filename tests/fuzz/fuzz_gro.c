/* SPDX-License-Identifier: Apache-2.0
 *
 * gro_read on any bytes: an error that names its place, or finite coordinates and a positive box.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "engine/base/gzip.h"
#include "engine/io/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char topology[] =
    "[ defaults ]\n1 2\n[ atomtypes ]\nA 1 12 0 A 0 0\n[ moleculetype ]\nM 0\n[ atoms ]\n"
    "1 A 1 RES CA 1\n2 A 1 RES HB1 1\n[ position_restraints ]\n2 1 1 1 1\n"
    "[ system ]\nt\n[ molecules ]\nM 2\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source *src = source_memory_new();
    struct system s;
    struct err e = {0};
    assert(!source_memory_add(src, "x.top", topology, sizeof topology - 1, &e));
    assert(!source_memory_add(src, "x.gro", size ? (const void *)data : "", size, &e));
    assert(!top_read(&s, src, "x.top", NULL, 0, &e));
    if (gro_read(&s, src, "x.gro", &e) && e.code == ERR_IO) {
        assert(gzip_is(data, size)); /* and not all of it */
    } else if (e.code) {
        assert(e.code == ERR_COORDINATES || e.code == ERR_UNSUPPORTED);
        assert(!strncmp(e.msg, "x.gro:", 6) && !s.x && !s.v);
    } else {
        for (int i = 0; i < s.natoms; i++)
            for (int d = 0; d < 3; d++)
                assert(isfinite(s.x[i][d]) && (!s.v || isfinite(s.v[i][d])) && s.box[d] > 0);
        assert(s.position_restraints[1].x0[2] == s.x[3][2]);
    }
    system_close(&s);
    source_free(src);
    return 0;
}
