/* SPDX-License-Identifier: Apache-2.0
 *
 * What one replica of a spec takes of a device once its lists are built, in an ensemble of all windows and repeats of
 * the spec.
 *
 * usage: sizes_taken DEVICE SPEC...
 * prints a line for each: bytes of the replica.
 */
#include <stdio.h>

#include "daemon/worker/offline/input.h"
#include "daemon/worker/offline/measure.h"
#include "engine/run/sim.h"

static int take(const char *device, const char *path, size_t *bytes, struct err *e)
{
    struct spec *spec = NULL;
    struct system sys = {0};
    struct dev *dev = NULL;
    struct model *model = NULL;
    struct sim *sim = NULL;
    int rc = input_read(path, NULL, 0, &spec, &sys, e);
    if (!rc)
        rc = engine_open(&dev, device, e);
    if (!rc)
        rc = model_new(&model, dev, &sys, &spec->settings, e);
    if (!rc)
        rc = sim_new(&sim, model, 0, 0, e);
    if (!rc)
        rc = work_through(dev, sim, SIM_SAMPLE, 1, e);
    if (!rc)
        *bytes = sim_device_bytes(sim);
    sim_free(sim);
    model_free(model);
    dev_close(dev);
    system_close(&sys);
    spec_free(spec);
    return rc;
}

int main(int argc, char **argv)
{
    for (int k = 2; k < argc; k++) {
        struct err e = {0};
        size_t bytes;
        if (take(argv[1], argv[k], &bytes, &e)) {
            fprintf(stderr, "%s: %s\n", argv[k], e.msg);
            return 1;
        }
        printf("%zu\n", bytes);
    }
    return 0;
}
