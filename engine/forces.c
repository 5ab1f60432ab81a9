/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of the non-bonded interface that does not depend on interactions: a system whose atoms interact through bonded
 * terms only.
 */
#include "engine/forces.h"

#include "engine/base/buf.h"

#include <stdlib.h>

struct forces {
    struct dev *dev;
};

int forces_new(struct forces **out, struct dev *dev, const struct system *sys, const struct settings *set,
               const int32_t *unit, struct err *e)
{
    *out = xcalloc(1, sizeof **out);
    (*out)->dev = dev;
    return 0;
}

void forces_free(struct forces *f)
{
    free(f);
}

struct span forces_span(const struct forces *f)
{
    return (struct span){0};
}

void forces_caps_guess(const struct forces *f, struct forces_caps *caps)
{
    *caps = (struct forces_caps){0};
}

void forces_caps_grow(struct forces_caps *caps, const struct ctl *ctl)
{
}

size_t forces_bytes(const struct forces *f, const struct forces_caps *caps)
{
    return 0;
}

void forces_emit(const struct forces *f, enum forces_mode mode, const struct forces_arrays *arrays,
                 const struct forces_caps *caps, void *block, struct tape *t)
{
}
