/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/worker/device/mesh_choice.h"

#define MANY_MORE 2 /* times as many, or as few: what was measured says nothing any more */

static unsigned level_of(unsigned running)
{
    unsigned level = 0;
    for (; running > 1 && level + 1 < MESH_LEVELS; level++)
        running /= 2;
    return level;
}

static enum pme_form other(enum pme_form form)
{
    return form == PME_BLOCK ? PME_CARD : PME_BLOCK;
}

static void go(struct mesh_choice *c, enum pme_form form)
{
    c->changed |= form != c->form;
    c->form = form;
    c->looks = 0;
}

static void begin(struct mesh_choice *c, enum pme_form form, unsigned company)
{
    go(c, form);
    c->settled = c->second = false;
    c->company = company;
    c->us[PME_BLOCK] = c->us[PME_CARD] = 0;
}

void mesh_choice_heed(struct mesh_choice *c, const struct mesh_view *v)
{
    if (c->running && v->running < MANY_MORE * c->running && v->running * MANY_MORE > c->running)
        return;
    const enum pme_form known = c->measured[level_of(v->running)];
    begin(c, known ? known : v->guess, v->company);
    c->running = v->running;
    c->settled = known != PME_AUTO;
}

bool mesh_choice_open(const struct mesh_choice *c)
{
    return c->running && !c->settled;
}

void mesh_choice_disturb(struct mesh_choice *c, unsigned company)
{
    if (mesh_choice_open(c) && company != c->company)
        begin(c, c->second ? other(c->form) : c->form, company);
}

static void settle(struct mesh_choice *c)
{
    const enum pme_form first = other(c->form);
    go(c, c->us[c->form] < (1 - MESH_GAIN) * c->us[first] ? c->form : first);
    c->measured[level_of(c->running)] = c->form;
    c->settled = true;
}

bool mesh_choice_look(struct mesh_choice *c, const struct mesh_view *v)
{
    if (!mesh_choice_open(c) || !(v->us > 0))
        return false;
    mesh_choice_disturb(c, v->company);
    if (c->changed) {
        c->changed = false;
        return false;
    }
    double *us = &c->us[c->form];
    *us = *us > 0 && *us < v->us ? *us : v->us;
    if (++c->looks < MESH_LOOKS)
        return false;
    if (c->second) {
        settle(c);
        return true;
    }
    c->second = true;
    go(c, other(c->form));
    return false;
}
