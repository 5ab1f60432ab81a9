/* SPDX-License-Identifier: Apache-2.0
 *
 * write_frames FILE ATOMS: three .xtc frames of three-atom molecules that move, and on stdout what a reader must find:
 * a line "frame STEP TIME BOX", then a line of coordinates in pm per atom.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/io/output.h"
#include "tests/lib/oscillators.h"

int main(int argc, char **argv)
{
    assert(argc == 3);
    int n = atoi(argv[2]);
    assert(n > 0);
    double(*x)[3] = xcalloc((size_t)n, sizeof *x);
    struct buf out = {0};
    struct err e;
    uint64_t state = 1;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            x[i][d] = i % 3 ? x[i - i % 3][d] + 0.12 * (random_uniform(&state) - 0.5) : 3 * random_uniform(&state);
    for (int f = 0; f < 3; f++) {
        double box[BOX_SIZE] = {3 + 0.125 * f, 3.25, 3.5};
        xtc_frame(&out, n, (const double(*)[3])x, box, (uint64_t)(500 * f), 1.5 * f);
        printf("frame %d %g %g %g %g\n", 500 * f, 1.5 * f, box[0], box[1], box[2]);
        for (int i = 0; i < n; i++) {
            printf("%ld %ld %ld\n", lrint(x[i][0] * 1000), lrint(x[i][1] * 1000), lrint(x[i][2] * 1000));
            for (int d = 0; d < 3; d++)
                x[i][d] += 0.1 * (random_uniform(&state) - 0.5);
        }
    }
    if (buf_write_file(argv[1], out.data, out.len, &e)) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    buf_free(&out);
    free(x);
    return 0;
}
