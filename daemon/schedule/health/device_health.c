/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/schedule/health/device_health.h"

#include <stdlib.h>

#include "engine/base/mem.h"

#define PAUSE_MS 5000 /* a device is put aside for so long; doubles */
#define PAUSE_MAX_MS 600000

#define L(state) SM_TO(LIFE_##state)
#define T(state) SM_TO(TRUST_##state)

static const struct sm_state life_table[] = {
    [LIFE_NEW] = {"new", L(UP) | L(NEW) | L(LOST)},    /* hello; ended without one; once too often */
    [LIFE_UP] = {"up", L(ENDING) | L(DOWN)},           /* is being killed; ended */
    [LIFE_ENDING] = {"ending", L(DOWN)},               /* ended */
    [LIFE_DOWN] = {"down", L(UP) | L(DOWN) | L(LOST)}, /* hello; ended without one; once too often */
    [LIFE_LOST] = {"lost", L(UP) | L(LOST)},           /* hello; ended without one */
};

static const struct sm_state trust_table[] = {
    [TRUST_WELL] = {"well", T(STRUCK)},                         /* crash */
    [TRUST_STRUCK] = {"struck", T(STRUCK) | T(SICK) | T(WELL)}, /* crash; one too many; checkpoint */
    [TRUST_SICK] = {"sick", T(SICK) | T(PROBED) | T(WELL)},     /* crash of what still ran; a set starts; checkpoint */
    [TRUST_PROBED] = {"probed", T(SICK) | T(WELL)},             /* crash, or the set left; checkpoint */
};

static bool life_holds(const void *owner, uint32_t state)
{
    const struct device_health *h = owner;
    if (state == LIFE_UP || state == LIFE_ENDING)
        return h->misses == 0;
    return (state == LIFE_LOST) == (h->misses >= HEALTH_MISSES);
}

static bool trust_holds(const void *owner, uint32_t state)
{
    const struct device_health *h = owner;
    if (state == TRUST_WELL)
        return h->strikes == 0;
    return h->strikes > 0 && (state == TRUST_STRUCK) == (h->strikes < HEALTH_STRIKES);
}

const struct sm_kind device_life_states = {"device", life_table, 5, life_holds};
const struct sm_kind device_trust_states = {"trust in device", trust_table, 4, trust_holds};

void device_health_init(struct device_health *h)
{
    *h = (struct device_health){0};
    sm_init(&h->life, &device_life_states, h, LIFE_NEW);
    sm_init(&h->trust, &device_trust_states, h, TRUST_WELL);
}

void device_health_close(struct device_health *h)
{
    free(h->trouble);
    h->trouble = NULL;
    hold_clear(&h->drained);
}

static void set_trouble(struct device_health *h, const char *message)
{
    char *copy = message ? xstrdup(message) : NULL;
    free(h->trouble);
    h->trouble = copy;
}

/* ---- whether a worker is there ---- */

bool health_may_say_hello(const struct device_health *h)
{
    return sm_may(&h->life, LIFE_UP);
}

void health_hello(struct device_health *h)
{
    h->misses = 0;
    sm_move(&h->life, LIFE_UP);
    if (h->trust.state == TRUST_WELL)
        set_trouble(h, NULL);
}

void health_ending(struct device_health *h)
{
    sm_move(&h->life, LIFE_ENDING);
}

void health_ended(struct device_health *h, bool in_order, const char *message)
{
    if (health_is_up(h)) {
        sm_move(&h->life, LIFE_DOWN);
        return;
    }
    h->misses++;
    if (!in_order)
        set_trouble(h, message);
    sm_move(&h->life, h->misses >= HEALTH_MISSES ? LIFE_LOST : h->life.state);
}

/* ---- whether it can be trusted ---- */

int64_t health_pause(const struct device_health *h)
{
    int64_t ms = PAUSE_MS;
    for (int i = HEALTH_STRIKES; i < h->strikes && ms < PAUSE_MAX_MS; i++)
        ms *= 2;
    return ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
}

bool health_strike(struct device_health *h, int64_t now, const char *message)
{
    h->strikes++;
    h->probe_at = now + health_pause(h);
    set_trouble(h, message ? message : "no reason given");
    sm_move(&h->trust, h->strikes >= HEALTH_STRIKES ? TRUST_SICK : TRUST_STRUCK);
    return h->strikes == HEALTH_STRIKES;
}

void health_checkpoint(struct device_health *h)
{
    h->strikes = 0;
    set_trouble(h, NULL);
    if (h->trust.state != TRUST_WELL)
        sm_move(&h->trust, TRUST_WELL);
}

void health_set_starts(struct device_health *h)
{
    if (h->trust.state == TRUST_SICK)
        sm_move(&h->trust, TRUST_PROBED);
}

void health_set_left(struct device_health *h)
{
    if (h->trust.state == TRUST_PROBED)
        sm_move(&h->trust, TRUST_SICK);
}

/* ---- whether it is in use ---- */

void health_drain(struct device_health *h, const struct hold *by)
{
    hold_set(&h->drained, by);
}

void health_undrain(struct device_health *h)
{
    hold_clear(&h->drained);
    if (h->trust.state != TRUST_WELL)
        health_checkpoint(h);
}
