/* SPDX-License-Identifier: Apache-2.0
 *
 * Non-equilibrium switches: walkers at both ends of the ladder, each of which is driven to the other end every so
 * often.
 */
#include "daemon/spec/sections/reader.h"
#include "engine/base/mem.h"
#include "engine/base/number.h"

#define CHANGES_MAX 1000000 /* of lambda in one switch: each has a row in the memory of the device */

/* Of the switches of a walker one in so many is made before it is known whether later ones become longer: few enough
 * that their works can be left out. */
enum { OF_FIRST_ROUND = 4 };

void spec_read_walkers(struct spec *s, struct view v)
{
    s->walkers = view_given(v) ? (int)view_integer(view_key(v, "walkers")) : 0;
}

static int check_alchemy(struct reader *r, const struct spec *s, struct view v)
{
    const struct alchemy_settings *a = &s->settings.alchemy;
    if (a->nwindows == 1)
        return spec_bad(r, v, "switch",
                        "alchemy.windows has one row; expected two or more: the ends and what is between");
    if (a->given[LAMBDA_MASS])
        return spec_bad(r, v, "switch",
                        "alchemy.windows.mass: the work would lack the kinetic energy of masses that change; expected "
                        "no ladder of masses");
    return 0;
}

/* What is said of windows, and walkers of the ends do not have. */
static int check_other_sections(struct reader *r, struct view root)
{
    struct view exchange = view_key(root, "exchange"), allocate = view_key(root, "allocate");
    if (view_given(exchange))
        return spec_bad(r, exchange, "exchange",
                        "walkers of a switch: section have no neighbours; expected one of both");
    if (view_given(allocate) && view_choice(allocate) != 0)
        return spec_bad(r, allocate, "allocate",
                        "adaptive: walkers of a switch: section are sampled alike; expected even");
    return 0;
}

/* How often lambda changes, and how many changes are a switch. */
static int read_length(struct reader *r, struct spec *s, struct view v)
{
    struct view length = view_key(v, "length"), every = view_key(v, "change-every");
    const int rows = s->settings.alchemy.nwindows;
    uint64_t steps = 0, change = 0;
    int rc = spec_cycles_of(r, every, "switch.change-every", &change);
    if (!rc)
        rc = spec_steps_of(r, length, "switch.length", &steps);
    if (rc)
        return rc;
    if (change < 2 * r->cycle)
        return spec_bad(
            r, every, "switch.change-every",
            "%s: the work of a change is done within timesteps, of which two with a mesh have to come from one "
            "change to the next; expected %u steps or more",
            view_text(every), 2 * r->cycle);
    if (steps % change)
        return spec_bad(r, length, "switch.length",
                        "%s: %llu timesteps; expected a multiple of switch.change-every, %llu timesteps or %.15g ps",
                        view_text(length), (unsigned long long)steps, (unsigned long long)change,
                        (double)change * r->timestep);
    if (steps / change + 1 < (uint64_t)rows || steps / change > CHANGES_MAX)
        return spec_bad(r, length, "switch.length",
                        "%s: lambda would change %llu times; expected from %d times, once for each row of "
                        "alchemy.windows but the first, to %d",
                        view_text(length), (unsigned long long)(steps / change), rows - 1, CHANGES_MAX);
    s->settings.switching = (struct switch_settings){.changes = (int)(steps / change), .every = (int)change};
    return 0;
}

/* Of the length, for each interval between rows. */
static int read_shares(struct reader *r, struct spec *s, struct view v)
{
    struct view shares = view_key(v, "shares");
    const int n = view_count(shares), intervals = s->settings.alchemy.nwindows - 1;
    if (!view_given(shares))
        return 0;
    if (n != intervals)
        return spec_bad(r, shares, "switch.shares",
                        "%d %s; expected %d, one for each interval between the %d rows of alchemy.windows", n,
                        number_word(n, "value", "values"), intervals, intervals + 1);
    double *to = s->settings.switching.shares = xcalloc((size_t)n, sizeof *to);
    for (int i = 0; i < n; i++)
        to[i] = view_number(view_item(shares, i));
    return 0;
}

static int read_snapshots(struct reader *r, struct spec *s, struct view v)
{
    struct view every = view_key(v, "snapshots-every");
    for (int i = 0; i < s->nstages; i++) {
        struct stage *stage = &s->stages[i];
        if (stage->kind != STAGE_PRODUCE)
            continue;
        if (spec_cycles_of(r, every, "switch.snapshots-every", &stage->switch_every))
            return -ERR_SPEC;
        if (stage->switch_every > stage->steps)
            return spec_bad(r, every, "switch.snapshots-every",
                            "%s: longer than protocol[%d].produce, %.15g ps, so there would be no switch",
                            view_text(every), i, (double)stage->steps * stage->timestep);
    }
    return 0;
}

/* How often the longest switches are twice as long as the first. */
static int read_doublings(struct reader *r, struct spec *s, struct view longest)
{
    struct switch_settings *to = &s->settings.switching;
    uint64_t steps = 0;
    int n = 1;
    if (spec_cycles_of(r, longest, "switch.longest", &steps))
        return -ERR_SPEC;
    while (switch_steps_longer(to, n) < steps)
        n++;
    if (switch_steps_longer(to, n) != steps)
        return spec_bad(r, longest, "switch.longest", "%s: expected 2, 4, 8 or so times switch.length, %.15g ps",
                        view_text(longest), (double)switch_steps(to) * r->timestep);
    if ((uint64_t)to->changes << n > CHANGES_MAX)
        return spec_bad(r, longest, "switch.longest", "%s: lambda would change %llu times; expected %d times at most",
                        view_text(longest), (unsigned long long)to->changes << n, CHANGES_MAX);
    to->doublings = n;
    return 0;
}

/* A file of each switch, with rows that are evenly apart from its beginning to its end. */
static int read_slopes(struct reader *r, struct spec *s, struct view v)
{
    struct view every = view_key(v, "dhdl-every");
    const struct switch_settings *to = &s->settings.switching;
    if (!view_given(every))
        return 0;
    if (spec_cycles_of(r, every, "switch.dhdl-every", &s->slopes_every))
        return -ERR_SPEC;
    const uint64_t rows = switch_steps(to) / s->slopes_every;
    if (s->slopes_every % (uint64_t)to->every || rows < 2 || rows * s->slopes_every != switch_steps(to))
        return spec_bad(
            r, every, "switch.dhdl-every",
            "%s: expected a multiple of switch.change-every, %.15g ps, of which 2 or more are switch.length",
            view_text(every), to->every * r->timestep);
    return 0;
}

static bool produces_once(const struct spec *s)
{
    int n = 0;
    for (int i = 0; i < s->nstages; i++)
        n += s->stages[i].kind == STAGE_PRODUCE;
    return n == 1 && s->stages[s->nstages - 1].kind == STAGE_PRODUCE;
}

/* Later switches may be longer. All walkers make the first quarter of their switches, and how long the others are is
 * found from these. */
static int read_longest(struct reader *r, struct spec *s, struct view v)
{
    struct view longest = view_key(v, "longest");
    if (!view_given(longest))
        return 0;
    if (!produces_once(s))
        return spec_bad(r, longest, "switch.longest", "expected a protocol that ends with its only produce stage");
    const struct stage *last = &s->stages[s->nstages - 1];
    const uint64_t produce = last->steps;
    if (produce / last->switch_every < 2)
        return spec_bad(r, longest, "switch.longest",
                        "a walker makes one switch, so there is no later one; expected two or more in "
                        "protocol[%d].produce, %.15g ps",
                        s->nstages - 1, (double)produce * last->timestep);
    const uint64_t after = produce / last->switch_every / OF_FIRST_ROUND;
    s->lengthen.after = after ? after : 1;
    s->allocate = (struct allocate_rule){
        .rounds = true, .share = produce, .every = last->switch_every, .first = s->lengthen.after * last->switch_every};
    return read_doublings(r, s, longest);
}

int spec_read_switching(struct reader *r, struct spec *s, struct view root)
{
    struct view v = view_key(root, "switch");
    if (!view_given(v))
        return 0;
    r->line = v.node->line;
    int rc = check_alchemy(r, s, v);
    if (!rc)
        rc = spec_check_thermostat(r, s->settings.integrator.kind, v, "switch");
    if (!rc)
        rc = check_other_sections(r, root);
    r->timestep = s->settings.integrator.timestep; /* that of all that produces */
    if (!rc)
        rc = read_length(r, s, v);
    if (!rc)
        rc = read_shares(r, s, v);
    if (!rc)
        rc = read_slopes(r, s, v);
    if (!rc)
        rc = read_snapshots(r, s, v);
    return rc ? rc : read_longest(r, s, v);
}
