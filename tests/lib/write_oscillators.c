/* SPDX-License-Identifier: Apache-2.0
 *
 * write_oscillators FOLDER MEMORY: an ensemble of harmonic oscillators, FOLDER/lambda_NN/dhdl.xvg with 600 samples a
 * window, and our results.json of it, for tests that hold other readers of dhdl.xvg against ours.
 */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "engine/estimate/estimate.h"
#include "tests/lib/oscillators.h"

#define STATES 5
#define TEMPERATURE 298.15

static const double path[STATES * 2] = {0, 0, 0.5, 0, 1, 0, 1, 0.5, 1, 1};
static struct ladder_of_oscillators oscillators = {.nstates = STATES,
                                                   .ncomponents = 2,
                                                   .lambda = path,
                                                   .a0 = 1,
                                                   .da = {2, 3},
                                                   .dc = {0.5, -1},
                                                   .component = {LAMBDA_COULOMB, LAMBDA_VDW}};

static void write_file(const char *folder, const char *name, const struct buf *text)
{
    struct buf file = {0};
    struct err e;
    buf_printf(&file, "%s/%s", folder, name);
    assert(!buf_write_file(file.data, text->data, text->len, &e));
    buf_free(&file);
}

int main(int argc, char **argv)
{
    assert(argc == 3);
    oscillators.memory = atof(argv[2]); /* correlation of a sample with the one before */
    double lambda[STATES][LAMBDA_COUNT] = {0};
    struct estimate_replica states[STATES] = {0};
    struct settings set = {.integrator.temperature = TEMPERATURE};
    struct buf json = {0};
    set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_DECOUPLE,
                                            .decouple = {{.molecule = "OSC", .on = {COUPLED_ALL}}},
                                            .ndecouple = 1,
                                            .nwindows = STATES,
                                            .lambda = lambda,
                                            .given = {[LAMBDA_COULOMB] = true, [LAMBDA_VDW] = true}};
    for (int k = 0; k < STATES; k++) {
        struct buf folder = {0}, dhdl = {0}, energy = {0};
        lambda[k][LAMBDA_COULOMB] = path[2 * k];
        lambda[k][LAMBDA_VDW] = path[2 * k + 1];
        buf_printf(&folder, "%s/lambda_%02d", argv[1], k);
        assert(!mkdir(folder.data, 0755));
        oscillators_file(&dhdl, &oscillators, k, 600, TEMPERATURE, (uint64_t)k);
        buf_printf(&energy, "@ s0 legend \"Potential (kJ/mol)\"\n0.0000 %d\n1.0000 %d\n", k, k);
        write_file(folder.data, "dhdl.xvg", &dhdl);
        write_file(folder.data, "energy.xvg", &energy);
        buf_free(&folder);
        buf_free(&dhdl);
        buf_free(&energy);
    }
    struct estimate_ensemble q = {.directory = argv[1], .set = &set, .repeats = 1, .replicas = states};
    estimate_ensemble(&q, &json);
    write_file(argv[1], "results.json", &json);
    buf_free(&json);
    return 0;
}
