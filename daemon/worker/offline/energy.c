/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker energy: one static evaluation of a spec's system at its start coordinates, printed.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/worker/command/commands.h"
#include "daemon/worker/command/line.h"
#include "daemon/worker/offline/energy.h"
#include "daemon/worker/offline/input.h"
#include "daemon/worker/offline/measure.h"
#include "engine/base/number.h"

struct energy {
    const char *spec, *device;
    struct args_list includes;
    int window;
    bool json, forces, check;
};

/* *r owns its arrays: evaluation_close. */
static int evaluate_on(const char *device, const struct energy *o, const struct spec *spec, const struct system *sys,
                       struct evaluation *r, struct err *e)
{
    struct model *model = NULL;
    struct sim *sim = NULL;
    struct dev *dev;
    *r = (struct evaluation){
        .natoms = sys->natoms, .nwindows = spec->settings.alchemy.nwindows, .ncoordinations = sys->ncoordinations};
    int rc = engine_open(&dev, device, e);
    if (rc)
        return rc;
    r->sample.delta_u = xcalloc((size_t)r->nwindows, sizeof(double));
    r->forces = xcalloc((size_t)sys->natoms, sizeof *r->forces);
    rc = model_new(&model, dev, sys, &spec->settings, e);
    if (!rc)
        rc = sim_new(&sim, model, (int)o->window, 0, e);
    if (!rc)
        rc = work_through(dev, sim, SIM_SAMPLE, 1, e);
    if (!rc)
        rc = sim_forces(sim, r->forces, e);
    if (!rc)
        sim_sample(sim, &r->sample);
    sim_free(sim);
    model_free(model);
    dev_close(dev);
    return rc;
}

static void evaluation_close(struct evaluation *r)
{
    free(r->forces);
    free(r->sample.delta_u);
}

/* ERR_INTERNAL: the device is further from the CPU device than mixed precision explains. */
static int check(const struct energy *o, const struct spec *spec, const struct system *sys, const struct evaluation *r,
                 struct err *e)
{
    struct evaluation reference;
    int rc = evaluate_on("cpu", o, spec, sys, &reference, e);
    if (!rc && !energy_check(r, &reference))
        rc = err_set(e, ERR_INTERNAL, "%s: differs from the CPU device (lines marked OFF)", o->device);
    evaluation_close(&reference);
    return rc;
}

static int run(const struct energy *o, const struct spec *spec, const struct system *sys, struct err *e)
{
    struct evaluation r;
    int rc = input_window(spec, o->window, e);
    if (rc || (rc = spec_check_box(spec, sys, e)))
        return rc;
    rc = evaluate_on(o->device, o, spec, sys, &r, e);
    if (!rc && o->check)
        rc = check(o, spec, sys, &r, e);
    else if (!rc)
        (o->json ? energy_print_json : energy_print_text)(&r, o->forces);
    evaluation_close(&r);
    return rc;
}

static int energy(const struct energy *o, struct err *e)
{
    struct spec *spec;
    struct system sys = {0};
    int rc = input_read(o->spec, o->includes.items, o->includes.n, &spec, &sys, e);
    if (rc)
        return rc;
    rc = run(o, spec, &sys, e);
    system_close(&sys);
    spec_free(spec);
    return rc;
}

int energy_main(int argc, char **argv)
{
    static const struct arg rows[] = {
        ARG(WHOLE, "window", "K", struct energy, window, .most = INT_MAX),
        ARG(FLAG, "forces", NULL, struct energy, forces),
        ARG(TEXT, "device", "DEVICE", struct energy, device),
        ARG(LIST, "include", "DIR", struct energy, includes),
        ARG(FLAG, "json", NULL, struct energy, json),
        ARG(FLAG, "check", NULL, struct energy, check),
    };
    static const struct command_line line = {"energy", "SPEC", 1, 1, rows, sizeof rows / sizeof *rows, NULL};
    struct energy o = {.device = "cpu:1"};
    struct err e = {0};
    int words, code;
    if (!command_line_read(&line, &o, argc, argv, &words, &code))
        return code;
    o.spec = argv[1];
    return energy(&o, &e) ? exit_with("energy", &e) : EXIT_OK;
}
