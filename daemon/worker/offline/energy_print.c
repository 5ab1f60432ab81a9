/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdio.h>

#include "daemon/worker/offline/energy.h"

static json_t *numbers(const double *v, int n)
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(array, json_real(v[i]));
    return array;
}

/* Names of what had contributions too large to be summed as they are. */
static json_t *clamped(uint32_t mask)
{
    json_t *array = json_array();
    for (uint32_t k = 0; k < CLAMPED_COUNT; k++) {
        char name[CLAMPED_NAMES_MAX];
        if (mask >> k & 1)
            json_array_append_new(array, json_string(clamped_names(1u << k, name, sizeof name)));
    }
    return array;
}

void energy_print_json(const struct evaluation *r, bool with_forces)
{
    const struct sample *s = &r->sample;
    json_t *energies = json_object(), *forces = json_array();
    for (int t = 0; t < TERM_COUNT; t++)
        json_object_set_new(energies, term_names[t], json_real(s->energy[t]));
    json_object_set_new(energies, "potential", json_real(s->potential));
    json_t *out = json_pack("{s:o, s:f, s:o, s:{s:f, s:f, s:f, s:f}, s:o}", "energies", energies, "pressure",
                            s->pressure, "virial", numbers(s->virial, 9), "dvdl", "coulomb", s->dvdl[LAMBDA_COULOMB],
                            "vdw", s->dvdl[LAMBDA_VDW], "bonded", s->dvdl[LAMBDA_BONDED], "restraint",
                            s->dvdl[LAMBDA_RESTRAINT], "delta_u", numbers(s->delta_u, r->nwindows));
    json_object_set_new(out, "clamped", clamped(s->clamped));
    if (r->ncoordinations)
        json_object_set_new(out, "coordinations", numbers(s->coordination, r->ncoordinations));
    for (int i = 0; with_forces && i < r->natoms; i++)
        json_array_append_new(forces, numbers(r->forces[i], 3));
    if (with_forces)
        json_object_set(out, "forces", forces);
    json_decref(forces);
    json_dumpf(out, stdout, JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(out);
}

void energy_print_text(const struct evaluation *r, bool with_forces)
{
    const struct sample *s = &r->sample;
    for (int t = 0; t < TERM_COUNT; t++)
        printf("%-22s %18.6f kJ/mol\n", term_names[t], s->energy[t]);
    printf("%-22s %18.6f kJ/mol\n", "potential", s->potential);
    printf("%-22s %18.6f bar\n", "pressure", s->pressure);
    printf("dU/dlambda coulomb     %18.6f kJ/mol\ndU/dlambda vdw         %18.6f kJ/mol\n", s->dvdl[LAMBDA_COULOMB],
           s->dvdl[LAMBDA_VDW]);
    printf("dU/dlambda bonded      %18.6f kJ/mol\ndU/dlambda restraint   %18.6f kJ/mol\n", s->dvdl[LAMBDA_BONDED],
           s->dvdl[LAMBDA_RESTRAINT]);
    for (int i = 0; i < r->ncoordinations; i++)
        printf("coordination %-9d %18.6f\n", i + 1, s->coordination[i]);
    for (int w = 0; w < r->nwindows; w++)
        printf("U(window %3d) - U      %18.6f kJ/mol\n", w, s->delta_u[w]);
    char names[CLAMPED_NAMES_MAX];
    if (s->clamped)
        fprintf(stderr, "warning: atoms are too close: contributions to %s were clamped\n",
                clamped_names(s->clamped, names, sizeof names));
    for (int i = 0; with_forces && i < r->natoms; i++)
        printf("force %8d %16.6f %16.6f %16.6f kJ/mol/nm\n", i + 1, r->forces[i][0], r->forces[i][1], r->forces[i][2]);
}
