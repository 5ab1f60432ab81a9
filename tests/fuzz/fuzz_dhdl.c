/* SPDX-License-Identifier: Apache-2.0
 *
 * dhdl_read on any bytes: an error with a text, or rows of finite numbers in order of time; and xvg_csv, which takes
 * them as they are.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/series/dhdl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dhdl d = {0};
    struct err e = {0};
    char *text = xcalloc(size + 1, 1);
    if (size)
        memcpy(text, data, size);
    if (dhdl_read(&d, "dhdl.xvg", text, size, &e)) {
        assert(e.code == ERR_IO || e.code == ERR_UNSUPPORTED);
        assert(!strncmp(e.msg, "dhdl.xvg:", 9));
    } else {
        assert(d.ncomponents > 0 && d.ncomponents <= LAMBDA_FILE_COUNT && d.nstates >= 0);
        for (size_t i = 0; i < d.n; i++) {
            assert(!i || d.time[i] > d.time[i - 1]);
            for (int k = 0; k < d.nstates; k++)
                assert(isfinite(d.dh[i * (size_t)d.nstates + (size_t)k]));
        }
    }
    dhdl_close(&d);
    struct buf csv = {0};
    xvg_csv(&csv, text, size);
    buf_free(&csv);
    free(text);
    return 0;
}
