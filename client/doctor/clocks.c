/* SPDX-License-Identifier: Apache-2.0
 *
 * Clocks of GPUs, as nvidia-smi tells them: whether something holds a GPU back now, and what they were set to. An
 * nvidia-smi that does not know one of the fields tells nothing, and nothing is said then.
 */
#include <stdlib.h>
#include <string.h>

#include "client/doctor/doctor.h"

static char *const clock_query[] = {"timeout",
                                    "20",
                                    "nvidia-smi",
                                    "--query-gpu=index,name,clocks.sm,clocks.max.sm,clocks.applications.graphics,"
                                    "clocks.default_applications.graphics,clocks_throttle_reasons.active",
                                    "--format=csv,noheader,nounits",
                                    NULL};

enum { INDEX, NAME, NOW, MAX, SET, USUAL, REASONS, FIELDS };

/* Bits of clocks_throttle_reasons.active, as nvml.h names them, that are no one's wish. */
static const struct {
    unsigned long bits;
    const char *what, *todo;
} slowdowns[] = {
    {0x20 | 0x40, "it is slowed down because it is too hot",
     "look after its fans, its air and the room; nvidia-smi --query --display=TEMPERATURE,PERFORMANCE says more"},
    {0x80, "it is slowed down by the power brake: its power supply does not give enough",
     "look after the power supply of the machine, and what else draws on it"},
    {0x8, "the hardware slows it down, for heat or power",
     "look after its fans and power cables; nvidia-smi --query --display=TEMPERATURE,PERFORMANCE says more"},
};

/* A number of MHz; 0: "[N/A]" and the like. */
static long mhz(const char *field)
{
    return strtol(field, NULL, 10);
}

static void check_clocks(struct doctor *d, char *const fields[FIELDS])
{
    const unsigned long reasons = strtoul(fields[REASONS], NULL, 16);
    const char *gpu = fields[INDEX], *name = fields[NAME];
    for (size_t i = 0; i < sizeof slowdowns / sizeof *slowdowns; i++)
        if (reasons & slowdowns[i].bits) {
            doctor_say(d, "clocks", slowdowns[i].todo, "GPU %s (%s): %s, to %ld of %ld MHz", gpu, name,
                       slowdowns[i].what, mhz(fields[NOW]), mhz(fields[MAX]));
            return;
        }
    if (mhz(fields[SET]) && mhz(fields[SET]) < mhz(fields[USUAL]))
        doctor_say(d, "clocks", "nvidia-smi --reset-applications-clocks as root, unless the low clock is wanted",
                   "GPU %s (%s): its application clock was set to %ld MHz, and is %ld MHz by default", gpu, name,
                   mhz(fields[SET]), mhz(fields[USUAL]));
    else
        doctor_say(d, "clocks", NULL, "GPU %s (%s): %ld MHz now, %ld at most%s", gpu, name, mhz(fields[NOW]),
                   mhz(fields[MAX]), reasons & 0x4 ? ", held by its power limit" : "");
}

void doctor_clocks(struct doctor *d)
{
    struct buf text = {0};
    char *fields[FIELDS];
    if (doctor_ask_driver(clock_query, &text) == 0)
        for (char *rest = text.data, *line; (line = strsep(&rest, "\n"));)
            if (doctor_split(line, fields, FIELDS) && mhz(fields[MAX]))
                check_clocks(d, fields);
    buf_free(&text);
}
