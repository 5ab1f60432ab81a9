/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host sets and asks of volume moves.
 */
#include <math.h>

#include "engine/run/program.h"
#include "engine/run/sim_parts.h"

int sim_tune_volume(struct sim *s, bool tune, struct err *e)
{
    struct ctl c;
    int rc = sim_read_ctl(s, &c, e);
    c.volume_fixed = !tune;
    return rc ? rc : sim_write_ctl(s, &c, e);
}

int sim_count_volume(struct sim *s, struct err *e)
{
    struct ctl c;
    int rc = sim_read_ctl(s, &c, e);
    c.counted = (struct volume_moves){0};
    return rc ? rc : sim_write_ctl(s, &c, e);
}

struct volume_moves sim_volume_moves(const struct sim *s)
{
    return sim_heard(s)->ctl.counted;
}

struct box_room sim_box_room(const struct sim *s)
{
    return s->model->program->box_room(s->model, sim_heard(s)->ctl.box);
}
