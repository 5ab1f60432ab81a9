/* SPDX-License-Identifier: Apache-2.0
 *
 * Drift of the total energy of 1000 waters by velocity Verlet: a long check, run by hand (suite `validation`);
 * tests/bench/LOG.md keeps its outcome. sampling.py has what thermostats and barostats sample.
 *
 * usage: validate PICOSECONDS
 */
#undef NDEBUG
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/units.h"
#include "tests/lib/toy.h"

#define MOST 1e-3 /* kT per ns and degree of freedom */

static struct settings langevin(void)
{
    struct settings set = toy_settings();
    set.nonbonded.dispersion = DISPERSION_ENERGY_PRESSURE;
    set.integrator.kind = INTEGRATOR_LANGEVIN_MIDDLE;
    set.integrator.timestep = 0.002;
    set.integrator.temperature = 298.15;
    set.integrator.friction = 2;
    return set;
}

/* Whether it is small enough. */
static bool drift(double picoseconds)
{
    struct system *s = toy_water(10);
    struct settings set = langevin();
    struct err e = {0};
    struct toy t = toy_open(s, &set, 0);
    toy_relax(t.sim, 500, 100);
    toy_run(t.sim, SIM_STEP, 10000);
    s->v = xcalloc((size_t)s->natoms, sizeof *s->v);
    if (sim_get(t.sim, s->x, s->v, NULL, &e))
        abort();
    toy_close(&t);

    set.integrator.kind = INTEGRATOR_VELOCITY_VERLET;
    t = toy_open(s, &set, 0);
    int n = (int)(picoseconds / 0.1);
    double st = 0, su = 0, stt = 0, stu = 0, suu = 0, temperature = 0, du;
    for (int i = 0; i < n; i++) {
        toy_run(t.sim, SIM_STEP, 50);
        struct sample a = toy_sample(t.sim, &du);
        double time = 0.1 * i * 1e-3, u = a.potential + a.kinetic; /* ns */
        st += time, su += u, stt += time * time, stu += time * u, suu += u * u;
        temperature += a.temperature / n;
    }
    double freedom = 6.0 * 1000, kt = UNIT_R * temperature;
    double slope = (stu - st * su / n) / (stt - st * st / n);
    double spread = sqrt((suu - su * su / n - slope * (stu - st * su / n)) / n);
    printf("%.0f ps at %.1f K, total energy fluctuates by %.3g kJ/mol about its trend\n", picoseconds, temperature,
           spread);
    const bool good = fabs(slope / kt / freedom) < MOST;
    printf("%s drift, kT per ns and degree of freedom: %.6g, expected below %g\n", good ? "ok  " : "FAIL",
           slope / kt / freedom, MOST);
    toy_close(&t);
    toy_system_free(s);
    return good;
}

int main(int argc, char **argv)
{
    double picoseconds = argc == 2 ? atof(argv[1]) : 0;
    if (!(picoseconds >= 10)) {
        fprintf(stderr, "usage: validate PICOSECONDS (at least 10)\n");
        return 2;
    }
    return drift(picoseconds) ? 0 : 1;
}
