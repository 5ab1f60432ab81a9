/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host sets and asks of volume moves.
 */
#include <math.h>

#include "engine/run/program.h"
#include "engine/run/sim_parts.h"

void sim_tune_volume(struct sim *s, bool tune)
{
    sim_edit_ctl(s)->volume_fixed = !tune;
}

void sim_count_volume(struct sim *s)
{
    sim_edit_ctl(s)->counted = (struct volume_moves){0};
}

struct volume_moves sim_volume_moves(const struct sim *s)
{
    return sim_heard(s)->ctl.counted;
}

struct box_room sim_box_room(const struct sim *s)
{
    return s->model->program->box_room(s->model, sim_heard(s)->ctl.box);
}
