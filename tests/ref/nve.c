/* SPDX-License-Identifier: Apache-2.0
 *
 * usage: nve FOLDER STEPS
 * Velocity Verlet from FOLDER/conf.gro with the settings of the reference runs (nve.py). Prints a row of energies per step:
 * potential, kinetic, temperature, pressure; then x and v of every atom, then the box.
 */
#undef NDEBUG
#include <stdio.h>
#include <stdlib.h>

#include "engine/io/io.h"
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

static void print_energies(struct sim *s)
{
    double du;
    struct sample a = toy_sample(s, &du);
    printf("%.10f %.10f %.10f %.10f\n", a.potential, a.kinetic, a.temperature, a.pressure);
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
    struct toy t = toy_open(&sys, &set, 0);
    print_energies(t.sim);
    for (int i = atoi(argv[2]); i > 0; i--) {
        toy_run(t.sim, SIM_STEP, 1);
        print_energies(t.sim);
    }
    print_atoms(t.sim, sys.natoms);
    toy_close(&t);
    source_free(src);
    system_close(&sys);
    return 0;
}
