/* SPDX-License-Identifier: Apache-2.0
 *
 * Replicas exchange windows: what observables have accumulated belongs to the window, so it is copied to the simulation
 * that moves in.
 */
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
