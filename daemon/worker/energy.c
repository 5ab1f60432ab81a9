/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker energy: one static evaluation of a spec's system at its start coordinates, printed.
 */
#include <getopt.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/worker/commands.h"
#include "daemon/worker/device.h"
#include "daemon/worker/input.h"
#include "engine/base/number.h"
#include "engine/run/sim.h"

#define INCLUDE_MAX 32
#define POLL_MS 1000

struct energy {
    const char *spec, *device;
    const char *includes[INCLUDE_MAX];
    int ninclude, window;
    bool json, forces;
};

struct result {
    struct sample sample;
    double (*forces)[3]; /* [natoms] or NULL */
    int natoms, nwindows;
};

static int evaluate(struct dev *dev, struct sim *sim, struct err *e)
{
    int rc;
    do { /* again after a list has outgrown its buffer */
        if ((rc = sim_submit(sim, SIM_SAMPLE, 1, e)))
            return rc;
        while (!sim_done(sim))
            if ((rc = dev->ops->poll(dev, POLL_MS, e)))
                return rc;
        rc = sim_outcome(sim, e);
    } while (rc == SIM_GROW);
    return rc;
}

static json_t *numbers(const double *v, int n)
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(array, json_real(v[i]));
    return array;
}

static void print_json(const struct result *r)
{
    const struct sample *s = &r->sample;
    json_t *energies = json_object(), *forces = json_array();
    for (int t = 0; t < TERM_COUNT; t++)
        json_object_set_new(energies, term_names[t], json_real(s->energy[t]));
    json_object_set_new(energies, "potential", json_real(s->potential));
    json_t *out =
        json_pack("{s:o, s:f, s:o, s:{s:f, s:f, s:f}, s:o}", "energies", energies, "pressure", s->pressure, "virial",
                  numbers(s->virial, 9), "dvdl", "coulomb", s->dvdl[LAMBDA_COULOMB], "vdw", s->dvdl[LAMBDA_VDW],
                  "bonded", s->dvdl[LAMBDA_BONDED], "delta_u", numbers(s->delta_u, r->nwindows));
    for (int i = 0; r->forces && i < r->natoms; i++)
        json_array_append_new(forces, numbers(r->forces[i], 3));
    if (r->forces)
        json_object_set(out, "forces", forces);
    json_decref(forces);
    json_dumpf(out, stdout, JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(out);
}

static void print_text(const struct result *r)
{
    const struct sample *s = &r->sample;
    for (int t = 0; t < TERM_COUNT; t++)
        printf("%-22s %18.6f kJ/mol\n", term_names[t], s->energy[t]);
    printf("%-22s %18.6f kJ/mol\n", "potential", s->potential);
    printf("%-22s %18.6f bar\n", "pressure", s->pressure);
    printf("dU/dlambda coulomb     %18.6f kJ/mol\ndU/dlambda vdw         %18.6f kJ/mol\n", s->dvdl[LAMBDA_COULOMB],
           s->dvdl[LAMBDA_VDW]);
    printf("dU/dlambda bonded      %18.6f kJ/mol\n", s->dvdl[LAMBDA_BONDED]);
    for (int w = 0; w < r->nwindows; w++)
        printf("U(window %3d) - U      %18.6f kJ/mol\n", w, s->delta_u[w]);
    for (int i = 0; r->forces && i < r->natoms; i++)
        printf("force %8d %16.6f %16.6f %16.6f kJ/mol/nm\n", i + 1, r->forces[i][0], r->forces[i][1], r->forces[i][2]);
}

static int run(const struct energy *o, struct dev *dev, const struct spec *spec, const struct system *sys,
               struct err *e)
{
    struct model *model = NULL;
    struct sim *sim = NULL;
    struct result r = {.natoms = sys->natoms, .nwindows = spec->settings.alchemy.nwindows};
    if (o->window < 0 || o->window >= r.nwindows)
        return err_set(e, ERR_USAGE, "--window %d: the spec has windows 0 to %d", o->window, r.nwindows - 1);
    r.sample.delta_u = xcalloc((size_t)r.nwindows, sizeof(double));
    int rc = model_new(&model, dev, sys, &spec->settings, e);
    if (!rc)
        rc = sim_new(&sim, model, o->window, 0, e);
    if (!rc)
        rc = evaluate(dev, sim, e);
    if (!rc && o->forces) {
        r.forces = xcalloc((size_t)sys->natoms, sizeof *r.forces);
        rc = sim_forces(sim, r.forces, e);
    }
    if (!rc) {
        sim_sample(sim, &r.sample);
        o->json ? print_json(&r) : print_text(&r);
    }
    sim_free(sim);
    model_free(model);
    free(r.forces);
    free(r.sample.delta_u);
    return rc;
}

static int energy(const struct energy *o, struct err *e)
{
    struct spec *spec;
    struct system sys = {0};
    struct dev *dev;
    int rc = input_read(o->spec, o->includes, o->ninclude, &spec, &sys, e);
    if (rc)
        return rc;
    rc = engine_open(&dev, o->device, e);
    if (!rc) {
        rc = run(o, dev, spec, &sys, e);
        dev_close(dev);
    }
    system_close(&sys);
    spec_free(spec);
    return rc;
}

static int usage(void)
{
    fputs("usage: shoal energy SPEC [--window K] [--forces] [--device cpu|cpu:N|cuda:K] [--include DIR]... [--json]\n",
          stderr);
    return EXIT_USAGE;
}

int energy_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"window", required_argument, NULL, 'w'}, {"forces", no_argument, NULL, 'f'},
        {"device", required_argument, NULL, 'd'}, {"include", required_argument, NULL, 'i'},
        {"json", no_argument, NULL, 'j'},         {NULL, 0, NULL, 0}};
    struct energy o = {.device = "cpu:1"};
    struct err e = {0};
    int64_t window = 0;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'd')
            o.device = optarg;
        else if (c == 'j')
            o.json = true;
        else if (c == 'f')
            o.forces = true;
        else if (c == 'i' && o.ninclude < INCLUDE_MAX)
            o.includes[o.ninclude++] = optarg;
        else if (c != 'w')
            return usage();
        else if (number_whole(&window, "--window ", optarg, 0, INT_MAX, &e))
            return exit_with("energy", &e);
    }
    if (optind + 1 != argc)
        return usage();
    o.spec = argv[optind];
    o.window = (int)window;
    return energy(&o, &e) ? exit_with("energy", &e) : EXIT_OK;
}
