/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker energy: one static evaluation of a spec's system at its start coordinates, printed.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/worker/command/commands.h"
#include "daemon/worker/offline/energy.h"
#include "daemon/worker/offline/input.h"
#include "daemon/worker/offline/measure.h"
#include "engine/base/number.h"

#define INCLUDE_MAX 32

struct energy {
    const char *spec, *device;
    const char *includes[INCLUDE_MAX];
    int ninclude;
    int64_t window;
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
    int rc = input_read(o->spec, o->includes, o->ninclude, &spec, &sys, e);
    if (rc)
        return rc;
    rc = run(o, spec, &sys, e);
    system_close(&sys);
    spec_free(spec);
    return rc;
}

static int usage(void)
{
    fputs(
        "usage: shoal energy SPEC [--window K] [--forces] [--device cpu|cpu:N|cuda:K] [--check] [--include DIR]... "
        "[--json]\n",
        stderr);
    return EXIT_BAD_USAGE;
}

int energy_main(int argc, char **argv)
{
    static const struct option options[] = {{"window", required_argument, NULL, 'w'},
                                            {"forces", no_argument, NULL, 'f'},
                                            {"device", required_argument, NULL, 'd'},
                                            {"include", required_argument, NULL, 'i'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"check", no_argument, NULL, 'c'},
                                            {NULL, 0, NULL, 0}};
    struct energy o = {.device = "cpu:1"};
    struct err e = {0};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'd')
            o.device = optarg;
        else if (c == 'j')
            o.json = true;
        else if (c == 'c')
            o.check = true;
        else if (c == 'f')
            o.forces = true;
        else if (c == 'i' && o.ninclude < INCLUDE_MAX)
            o.includes[o.ninclude++] = optarg;
        else if (c != 'w')
            return usage();
        else if (number_whole(&o.window, "--window ", optarg, 0, INT_MAX, &e))
            return exit_with("energy", &e);
    }
    if (optind + 1 != argc)
        return usage();
    o.spec = argv[optind];
    return energy(&o, &e) ? exit_with("energy", &e) : EXIT_OK;
}
