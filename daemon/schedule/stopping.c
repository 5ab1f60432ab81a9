/* SPDX-License-Identifier: Apache-2.0
 *
 * Ensembles that end when their free energy is good enough. What is asked is a live estimate; those come at growing
 * intervals (service/estimates_so_far.c), and it has to hold at STOP_LOOKS of them in a row: who stops as soon as an
 * error looks small stops more often when it looks smaller than it is. Every replica's target then becomes where its
 * checkpoint is (of those that exchange windows, where the furthest is): it starts once more for its final files.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "daemon/schedule/internal.h"
#include "engine/base/units.h"

#define STOP_LOOKS 2

static void end_set(struct step *st, struct sched_set *set)
{
    if (set->worker >= 0) {
        stop_set(st, set); /* it ends where that checkpoint will be */
        return;
    }
    for (int i = 0; i < set->nreplicas; i++)
        if (set->replicas[i].sm.state == REPLICA_QUEUED)
            end_here(st, &set->replicas[i]);
}

void on_live(struct step *st, const struct sched_event *ev)
{
    struct ensemble *e = ev->ensemble;
    const struct stop_rule *stop = &e->stop;
    if (ev->ladder != e->ladder) /* windows were added while it was made */
        return;
    if (!stop->error || e->stopped || !ensemble_wants(e) || ensemble_count(e, REPLICA_FAILED))
        return;
    bool good = ev->ok && ev->error <= stop->error && (!stop->converged || !strcmp(ev->message, "converged"));
    e->stop_held = good && ev->step >= stop->after ? e->stop_held + 1 : 0;
    if (e->stop_held < STOP_LOOKS)
        return;
    char text[200];
    snprintf(text, sizeof text, "stopped early: the error is %.3g kcal/mol (stop-when: %.3g), verdict %.20s",
             ev->error / UNIT_KCAL, stop->error / UNIT_KCAL, ev->message);
    ensemble_string(&e->stopped, text);
    ensemble_string(&e->reason, text);
    e->stopped_revision = e->revision;
    decide(st, (struct decision){.kind = DECIDE_REASON, .ensemble = e, .worker = -1});
    note_ensemble(st, e, "stop", "%s", text);
    for (int i = 0; i < e->nsets; i++)
        end_set(st, &e->sets[i]);
}
