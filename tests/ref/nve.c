/* SPDX-License-Identifier: Apache-2.0
 *
 * usage: nve FOLDER STEPS
 * Velocity Verlet from FOLDER/conf.gro with the settings of the reference runs (nve.py). Prints a row of energies per
 * step: potential, kinetic, temperature, pressure, and xx yy zz xy xz yz of its tensor (0 before the first step); then
 * x and v of every atom, then the box.
 */
#undef NDEBUG
#include <stdio.h>
#include <stdlib.h>

#include "engine/io/io.h"
#include "engine/observe/observe.h"
#include "tests/lib/toy.h"

static struct settings reference_settings(void)
{
    struct settings set = toy_settings();
    set.constrain = CONSTRAIN_H_BONDS;
    set.integrator.timestep = 0.002;
    set.nonbonded = (struct nonbonded_settings){.vdw_cutoff = 1,
                                                .coulomb_cutoff = 1,
                                                .vdw_modifier = VDW_POTENTIAL_SWITCH,
                                                .vdw_switch = 0.8,
                                                .dispersion = DISPERSION_ENERGY_PRESSURE,
                                                .coulomb_modifier = COULOMB_POTENTIAL_SHIFT,
                                                .ewald_tolerance = 1e-5,
                                                .pme_order = 4,
                                                .pme_spacing = 0.12};
    return set;
}

/* grompp's continuation = yes makes md-vv take the file's velocities as they are before the half kick with the first
 * forces; ours are velocities at the time of the positions. */
static void half_kick(struct system *sys, const struct settings *set)
{
    struct toy t = toy_open(sys, set, 0);
    double du, (*f)[3] = xcalloc((size_t)sys->natoms, sizeof *f);
    struct err e = {0};
    toy_sample(t.sim, &du);
    if (sim_forces(t.sim, f, &e))
        abort();
    for (int i = 0; i < sys->natoms; i++)
        for (int d = 0; d < 3; d++)
            sys->v[i][d] += 0.5 * set->integrator.timestep * f[i][d] / sys->atoms[i].mass[0];
    free(f);
    toy_close(&t);
}

/* What the observable has come to with this frame, less what it was. */
static void print_tensor(struct sim *s, const struct system *sys)
{
    static double before[PRESSURE_REALS];
    struct err e = {0};
    void *bytes = xcalloc(1, observe_bytes(sys->observables));
    toy_run(s, SIM_OBSERVE, 1);
    if (sim_observe_read(s, 0, bytes, &e))
        abort();
    const struct observe_result r = observe_result(sys, sys->observables, bytes);
    double *sums = observe_total_reals(&r);
    for (int k = 0; k < PRESSURE_REALS; k++) {
        printf(" %.10f", sums[k] - before[k]);
        before[k] = sums[k];
    }
    printf("\n");
    free(sums);
    free(bytes);
}

static void print_energies(struct sim *s, const struct system *sys)
{
    double du;
    struct sample a = toy_sample(s, &du);
    printf("%.10f %.10f %.10f %.10f", a.potential, a.kinetic, a.temperature, a.pressure);
    print_tensor(s, sys);
}

static void print_atoms(struct sim *s, int natoms)
{
    double(*x)[3] = xcalloc((size_t)natoms, sizeof *x), (*v)[3] = xcalloc((size_t)natoms, sizeof *v), box[BOX_SIZE];
    struct err e = {0};
    if (sim_get(s, x, v, box, &e))
        abort();
    for (int i = 0; i < natoms; i++)
        printf("%.12f %.12f %.12f %.12f %.12f %.12f\n", x[i][0], x[i][1], x[i][2], v[i][0], v[i][1], v[i][2]);
    printf("%.12f %.12f %.12f\n", box[0], box[1], box[2]);
    free(x);
    free(v);
}

int main(int argc, char **argv)
{
    struct system sys = {0};
    struct err e = {0};
    struct source *src = source_disk_new(argc == 3 ? argv[1] : "", false);
    if (argc != 3 || top_read(&sys, src, "system.top", NULL, 0, &e) || gro_read(&sys, src, "conf.gro", &e)) {
        fprintf(stderr, "nve: %s\n", argc == 3 ? e.msg : "usage: nve FOLDER STEPS");
        return 1;
    }
    struct settings set = reference_settings();
    half_kick(&sys, &set);
    sys.observables = xcalloc(1, sizeof *sys.observables);
    sys.observables[sys.nobservables++] =
        (struct observable){.kind = OBSERVE_PRESSURE, .name = xstrdup("pressure"), .every = 1, .interval = 0.002};
    struct toy t = toy_open(&sys, &set, 0);
    print_energies(t.sim, &sys);
    for (int i = atoi(argv[2]); i > 0; i--) {
        toy_run(t.sim, SIM_STEP, 1);
        print_energies(t.sim, &sys);
    }
    print_atoms(t.sim, sys.natoms);
    toy_close(&t);
    source_free(src);
    system_close(&sys);
    return 0;
}
