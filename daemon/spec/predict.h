/* SPDX-License-Identifier: Apache-2.0
 *
 * What a spec will take, counted from its protocol and from rows and frames as they will be written. About right:
 * energies vary in length, frames in how well they compress.
 */
#ifndef SHOAL_DAEMON_SPEC_PREDICT_H
#define SHOAL_DAEMON_SPEC_PREDICT_H

#include <jansson.h>

#include "daemon/spec/spec.h"

struct prediction {
    double ns;            /* of dynamics of one replica, its switches among it */
    double switches;      /* of one replica */
    double switch_ns;     /* of dynamics in each */
    double evaluations;   /* of all forces, by one replica: steps, samples, changes of lambda in switches, and twice for
                             every volume move */
    int replicas;         /* windows times repeats */
    double replica_bytes; /* that one replica leaves on disk: outputs, two checkpoints, final coordinates */
};

struct prediction spec_predict(const struct spec *s, const struct system *sys);
/* Timesteps of switches for each of production; 0: the spec has none. */
double spec_switching_share(const struct spec *s);
/* openapi.yaml's `switching` of a Summary, for a spec that has walkers. */
json_t *spec_switching_json(const struct spec *s, const struct prediction *p);

#endif
