/* SPDX-License-Identifier: Apache-2.0
 *
 * Replicas exchange windows: what observables have accumulated belongs to the window, so it is copied to the simulation
 * that moves in.
 *
 * Velocities lack half a kick after a timestep, and this half is one by forces of the window that they were made in. So
 * they get it before the replica leaves its window, and half a kick by the forces of the new window is taken off once
 * it has arrived. Without that each exchange would push atoms by (timestep / 2) (f_new - f_old) / m, which per time is
 * of no order in the timestep: one exchange in n timesteps adds its acceptance / 2n of the difference of forces.
 */
#include <stdlib.h>

#include "engine/run/sim_parts.h"

/* Where the observables of window w are to come from, of simulations that change places. */
static int giver(const int *from, int w)
{
    int g = 0;
    while (from[g] != w)
        g++;
    return g;
}

/* Whether no other window of w's cycle comes before it. */
static bool leads(const int *from, int w)
{
    int at = from[w];
    while (at > w)
        at = from[at];
    return at == w;
}

/* Where they are, and where the host's side has room for as many. */
static int move_observed(const struct sim *by, void *to, const void *from, struct err *e)
{
    const struct model *m = by->model;
    return m->dev->ops->copy_async(m->dev, by->lane, to, from, model_observed_bytes(m), e);
}

/* What is submitted to the lane of s from now on finds done what was submitted to that of `by`: lanes follow lanes of
 * their own device; for a replica of another one that is waited for. */
static int follow(const struct sim *s, const struct sim *by, struct err *e)
{
    struct dev *dev = by->model->dev;
    struct mark done;
    if (s->model->dev == dev)
        return dev->ops->follow(dev, s->lane, by->lane, e);
    int rc = dev->ops->mark(dev, by->lane, &done, e);
    return rc ? rc : dev_wait(dev, by->lane, &done, e);
}

/* Rotates one cycle of the permutation, starting at `first`: each replica takes what the one in its new window has. The
 * copies run in the lane of `first`; the other lanes wait for them. */
static int hand_round(struct sim *const *sim, const int *from, int first, struct err *e)
{
    const struct sim *by = sim[first];
    const size_t place = (size_t)(sim_fetched_array(by, 3) - (unsigned char *)by->reports);
    void *held = (unsigned char *)by->report_device + place;
    int rc = move_observed(by, held, by->d.observed, e), at = first;
    for (int next = giver(from, at); next != first && !rc; at = next, next = giver(from, at))
        rc = move_observed(by, sim[at]->d.observed, sim[next]->d.observed, e);
    if (rc == 0)
        rc = move_observed(by, sim[at]->d.observed, held, e);
    for (at = from[first]; at != first && !rc; at = from[at])
        rc = follow(sim[at], by, e);
    return rc;
}

int sim_hand_observed(struct sim *const *sim, const int *from, int n, struct err *e)
{
    int rc = 0;
    if (!model_observed_bytes(sim[0]->model))
        return 0;
    for (int w = 0; w < n && !rc; w++) {
        if (from[w] != w)
            sim_memory_changed(sim[w]);
        if (from[w] != w && leads(from, w))
            rc = hand_round(sim, from, w, e);
    }
    return rc;
}

/* ---- velocities ---- */

/* To the time of x, or from there with a sign of -1: by the forces of the last sample and the masses of its window. */
static int half_kick(struct sim *s, double sign, struct err *e)
{
    const struct model *m = s->model;
    const struct dev_ops *ops = m->dev->ops;
    const size_t n = (size_t)m->sys->natoms;
    const double b = sim_heard(s)->ctl.lambda[LAMBDA_MASS], half = sign * 0.5 * m->set->integrator.timestep;
    double(*v)[3] = xcalloc(2 * n, sizeof *v), (*f)[3] = v + n;
    int rc = sim_forces(s, f, e);
    if (rc == 0)
        rc = ops->copy(m->dev, s->lane, v, s->d.v, sim_array_bytes(s), e);
    for (size_t i = 0; i < n; i++) {
        const double mass = (1 - b) * m->masses[i][0] + b * m->masses[i][1];
        for (int d = 0; d < 3 && mass > 0; d++)
            v[i][d] += half / mass * f[i][d];
    }
    if (rc == 0)
        rc = ops->copy(m->dev, s->lane, s->d.v, v, sim_array_bytes(s), e);
    free(v);
    return rc;
}

static int leave_for(struct sim *s, int window, uint32_t replica, struct err *e)
{
    int rc = half_kick(s, 1, e);
    if (rc)
        return rc;
    sim_place(s, window, replica);
    return sim_submit(s, SIM_SAMPLE, 1, e);
}

static int arrive(struct sim *s, struct err *e)
{
    int rc = sim_wait(s, e);
    if (rc == 0)
        rc = sim_outcome(s, e);
    if (rc == SIM_GROW)
        rc = sim_sample_now(s, e);
    return rc ? rc : half_kick(s, -1, e);
}

int sim_exchange(struct sim *const *sim, const int *from, const uint32_t *replica, int n, struct err *e)
{
    int rc = 0;
    for (int w = 0; w < n && !rc; w++)
        if (from[w] != w)
            rc = leave_for(sim[from[w]], w, replica[w], e);
    for (int w = 0; w < n && !rc; w++)
        if (from[w] != w)
            rc = arrive(sim[from[w]], e);
    return rc;
}
