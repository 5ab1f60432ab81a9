/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/device/packing.h"

#include <math.h>

#define OTHER_SIZE 2 /* times larger or smaller: what was measured says nothing any more */

unsigned packing_room(const struct room *r, unsigned running, size_t replica)
{
    const int64_t more = room_for(r, 0, (int64_t)replica) - running;
    return more < 0 ? 0 : more < PACKING_MOST ? (unsigned)more : PACKING_MOST;
}

void packing_fix(struct packing *p, unsigned slots)
{
    *p = (struct packing){.slots = slots, .settled = true};
}

void packing_start(struct packing *p, unsigned start)
{
    *p = (struct packing){.slots = start, .start = start};
}

static bool set_slots(struct packing *p, unsigned slots)
{
    bool changed = slots != p->slots;
    p->slots = slots;
    p->looks = 0;
    p->best = 0;
    return changed;
}

static bool is_other(const struct packing *p, double size)
{
    return p->size > 0 && (size > OTHER_SIZE * p->size || size * OTHER_SIZE < p->size);
}

bool packing_look(struct packing *p, const struct packing_view *v)
{
    if (!p->start || v->rate <= 0)
        return false;
    if (is_other(p, v->size)) {
        unsigned slots = p->slots;
        packing_start(p, p->start);
        p->size = v->size;
        return slots != p->slots;
    }
    if (p->settled || v->running != p->slots)
        return false;
    p->size = v->size;
    p->best = fmax(p->best, v->rate);
    if (++p->looks < PACKING_LOOKS)
        return false;
    if (p->rate > 0 && p->best < (1 + PACKING_GAIN) * p->rate) {
        p->settled = true;
        return set_slots(p, p->before);
    }
    unsigned more = p->slots / 2 ? p->slots / 2 : 1;
    p->before = p->slots;
    p->rate = p->best;
    if (v->room < more)
        more = v->room;
    p->settled = more == 0;
    return set_slots(p, p->slots + more);
}

bool packing_at_rest(const struct packing *p, unsigned running)
{
    return p->settled || running != p->slots;
}

bool packing_full(struct packing *p, unsigned running)
{
    if (!p->start || running >= p->slots)
        return false;
    p->settled = true;
    return set_slots(p, running ? running : 1);
}
