/* SPDX-License-Identifier: Apache-2.0
 *
 * Salt whose timesteps leave out the mesh between two that take its force times their number (integrator.mesh-every).
 */
#ifndef SHOAL_TESTS_PHYSICS_MESH_EVERY_PLAY_H
#define SHOAL_TESTS_PHYSICS_MESH_EVERY_PLAY_H

#include "engine/run/sim_parts.h"
#include "tests/lib/toy.h"

/* Atoms: room for as many molecules of water. Most: timesteps of a cycle. */
enum { MESH_SIDE = 4, MESH_IONS = MESH_SIDE * MESH_SIDE * MESH_SIDE, MESH_ATOMS = 3 * MESH_IONS, MESH_MOST = 3 };

struct mesh_state {
    double x[MESH_ATOMS][3], v[MESH_ATOMS][3];
};

/* Salt that has left its lattice: no exclusions, no constraints, and much that goes by the mesh. */
struct system *mesh_every_salt(void);
/* Nothing but forces: friction 0 keeps velocities and makes no noise. */
struct settings mesh_every_settings(int every, double timestep);
/* With velocities. */
struct toy mesh_every_moving(const struct system *sys, const struct settings *set);
void mesh_every_get(struct sim *s, struct mesh_state *out);
void mesh_every_put(const struct system *sys, struct sim *s, const struct mesh_state *to);

#endif
