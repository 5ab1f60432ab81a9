/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/replica/swaps.h"

#include "engine/math/philox.h"

/* The replicas now in windows i and j, or who came there by the swaps before, change places or do not. */
static void attempt(const struct swaps *s, const double *delta_u, int *from, int i, int j, double uniform)
{
    const double *x = delta_u + (size_t)from[i] * (size_t)s->windows;
    const double *y = delta_u + (size_t)from[j] * (size_t)s->windows;
    double d = s->beta * (x[j] - x[i] + y[i] - y[j]);
    if (!(philox_log(uniform) < -d))
        return;
    int was = from[i];
    from[i] = from[j];
    from[j] = was;
}

static struct philox random_at(const struct swaps *s, uint64_t number, uint32_t index)
{
    return philox_at(s->seed, s->set, number, STREAM_EXCHANGE, index);
}

static void neighbours(const struct swaps *s, uint64_t number, const double *delta_u, int *from)
{
    for (int i = (int)(number % 2); i + 1 < s->windows; i += 2) {
        struct philox r = random_at(s, number, (uint32_t)i);
        attempt(s, delta_u, from, i, i + 1, philox_uniform(r.word[0], r.word[1]));
    }
}

static int below(uint32_t word, int n)
{
    return (int)((uint64_t)word * (uint64_t)n >> 32);
}

static void gibbs(const struct swaps *s, uint64_t number, const double *delta_u, int *from)
{
    const uint64_t k = (uint64_t)s->windows, cube = k * k * k;
    for (uint32_t n = 0; n < (cube < SWAPS_MOST ? cube : SWAPS_MOST); n++) {
        struct philox r = random_at(s, number, n);
        int i = below(r.word[0], s->windows), j = below(r.word[1], s->windows - 1);
        attempt(s, delta_u, from, i, j + (j >= i), philox_uniform(r.word[2], r.word[3]));
    }
}

void swaps_draw(const struct swaps *s, uint64_t number, const double *delta_u, int *from)
{
    for (int w = 0; w < s->windows; w++)
        from[w] = w;
    switch (s->scheme) {
    case EXCHANGE_NONE:
        return;
    case EXCHANGE_NEIGHBOURS:
        neighbours(s, number, delta_u, from);
        return;
    case EXCHANGE_GIBBS:
        gibbs(s, number, delta_u, from);
        return;
    }
}
