/* SPDX-License-Identifier: Apache-2.0
 *
 * GPUs, as nvidia-smi and the worker see them. A machine may have none.
 */
#include <stdlib.h>
#include <string.h>

#include "client/doctor/doctor.h"
#include "client/programs/worker.h"

/* A driver that hangs is a finding, too. */
static char *const query[] = {
    "timeout",
    "20",
    "nvidia-smi",
    "--query-gpu=index,name,driver_version,ecc.mode.current,ecc.errors.uncorrected.volatile.total",
    "--format=csv,noheader",
    NULL};

enum { INDEX, NAME, DRIVER, ECC, ERRORS, FIELDS };

static void check_memory(struct doctor *d, char *const fields[FIELDS])
{
    const long errors = strtol(fields[ERRORS], NULL, 10);
    if (errors > 0)
        doctor_say(d, "memory",
                   "drain the GPU and reset it (nvidia-smi --gpu-reset); where errors come again, have it replaced",
                   "GPU %s (%s): %ld uncorrected memory errors since the driver was loaded", fields[INDEX],
                   fields[NAME], errors);
    else if (!strcmp(fields[ECC], "Disabled"))
        doctor_say(d, "memory", "nvidia-smi --ecc-config=1 as root, then restart the machine",
                   "GPU %s (%s): ECC is off, so that wrong bits are not seen", fields[INDEX], fields[NAME]);
    else
        doctor_say(d, "memory", NULL, "GPU %s (%s): %s", fields[INDEX], fields[NAME],
                   !strcmp(fields[ECC], "Enabled") ? "ECC is on, no uncorrected errors" : "it has no ECC");
}

/* Of each GPU a line; the driver's version with the first. */
static int take_lines(struct doctor *d, char *text)
{
    int gpus = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        char *fields[FIELDS];
        if (!doctor_split(line, fields, FIELDS))
            continue;
        if (!gpus++)
            doctor_say(d, "driver", NULL, "NVIDIA %s", fields[DRIVER]);
        check_memory(d, fields);
    }
    return gpus;
}

static void check_driver(struct doctor *d)
{
    struct buf text = {0};
    const int code = doctor_ask_driver(query, &text);
    if (code == 127) /* there is no such program */
        doctor_say(d, "driver", NULL, "nvidia-smi is not there: this machine has no NVIDIA driver, or not all of it");
    else if (code == 124)
        doctor_say(d, "driver", "restart the machine, or the service nvidia-persistenced; dmesg has lines with NVRM",
                   "nvidia-smi does not answer within 20 s");
    else if (code || !take_lines(d, text.data))
        doctor_say(d, "driver", "load the driver (modprobe nvidia), or install it again after an upgrade of the kernel",
                   "nvidia-smi: %.*s", (int)strcspn(text.data, "\n"), text.data);
    else
        doctor_clocks(d);
    buf_free(&text);
}

/* Where the worker leaves a GPU out, it says why on a line of its own. */
static void check_devices(struct doctor *d)
{
    char *words[] = {"shoal-worker", "devices", NULL};
    struct buf said = {0}, names = {0};
    if (hear_worker(d->c, words, &said)) { /* doctor_programs says that there is none */
        buf_free(&said);
        return;
    }
    for (char *rest = said.data, *line; rest && (line = strsep(&rest, "\n"));) {
        const char *why = strchr(line, ' ');
        if (why)
            doctor_say(d, "devices", "docs/service.md, \"Which GPUs\", says what to do for each of these reasons", "%s",
                       !strncmp(line, "shoal-worker:", 13) ? why + 1 : line);
        else if (*line)
            buf_printf(&names, "%s%s", names.len ? ", " : "", line);
    }
    doctor_say(d, "devices", NULL, "simulations run on %s", names.len ? names.data : "none");
    buf_free(&said);
    buf_free(&names);
}

void doctor_gpus(struct doctor *d)
{
    check_driver(d);
    check_devices(d);
}
