/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked with --wrap=engine_open: every cuda device is emulated. SHOAL_TEST_CARD names the card that each is, with
 * commas between them (cards.c); without it all are alike. SHOAL_TEST_MEMORY is the memory of each, in bytes; without
 * it, the machine's. With --wrap=dev_cuda_count there are as many as it names. Their energy is that of the card at
 * EMULATED_PLACE, where there is a library that tells.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/run/program.h"
#include "graphs/cuda/nvml/energy.h"
#include "tests/lib/emulate/emulate.h"

#define EMULATED_PLACE "0000:3B:00.0"

int __real_engine_open(struct dev **out, const char *name, struct err *e);
int __wrap_engine_open(struct dev **out, const char *name, struct err *e);
int __wrap_dev_cuda_count(uint32_t *out, struct err *e);

/* Of cuda:number; an empty one: of none. NULL: of any. */
static const char *card_of(int number)
{
    static char card[64];
    const char *at = getenv("SHOAL_TEST_CARD");
    for (int k = 0; at && k < number; k++)
        at = strchr(at, ',') ? strchr(at, ',') + 1 : "";
    if (at)
        snprintf(card, sizeof card, "%.*s", (int)strcspn(at, ","), at);
    return at ? card : NULL;
}

static void (*machine_usage)(struct dev *dev, struct lane *lane, struct dev_usage *out);

static void card_usage(struct dev *dev, struct lane *lane, struct dev_usage *out)
{
    const size_t memory = strtoull(getenv("SHOAL_TEST_MEMORY"), NULL, 10);
    machine_usage(dev, lane, out);
    out->total = memory;
    out->free = memory > out->used ? memory - out->used : 0;
}

static bool card_energy(struct dev *dev, uint64_t *millijoules)
{
    static struct gpu_energy counter;
    (void)dev;
    if (!counter.handle)
        gpu_energy_open(&counter, EMULATED_PLACE);
    return gpu_energy_read(&counter, millijoules);
}

/* All cards of a process are alike. */
static void become_card(struct dev *d)
{
    static struct dev_ops card;
    machine_usage = machine_usage ? machine_usage : d->ops->usage;
    card = *d->ops;
    card.energy = card_energy;
    card.usage = getenv("SHOAL_TEST_MEMORY") ? card_usage : machine_usage;
    d->ops = &card;
}

int __wrap_engine_open(struct dev **out, const char *name, struct err *e)
{
    const size_t kind = strlen(cuda_program.device);
    if (strncmp(name, cuda_program.device, kind) != 0)
        return __real_engine_open(out, name, e);
    const char *thread = strstr(name, ":eager") ? "cpu:1:eager" : "cpu:1";
    int rc = emulate_open(out, thread, card_of(name[kind] ? atoi(name + kind + 1) : 0), *cuda_program.kernels, e);
    if (!rc)
        become_card(*out);
    return rc;
}

int __wrap_dev_cuda_count(uint32_t *out, struct err *e)
{
    (void)e;
    for (*out = 0; getenv("SHOAL_TEST_CARD") && *card_of((int)*out); ++*out)
        ;
    return 0;
}
