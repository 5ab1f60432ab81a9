/* SPDX-License-Identifier: Apache-2.0
 *
 * What cards have: CUDA C++ Programming Guide, compute capabilities; multiprocessors by the makers' data sheets.
 */
#include <string.h>

#include "tests/lib/emulate/emulate.h"

#define KIB 1024

const struct emulated_card emulated_cards[] = {
    {"NVIDIA H200", {132, 227 * KIB, 228 * KIB, KIB, 32, true}},             /* sm_90 */
    {"NVIDIA A100", {108, 163 * KIB, 164 * KIB, KIB, 32, false}},            /* sm_80 */
    {"NVIDIA GeForce RTX 3090", {82, 99 * KIB, 100 * KIB, KIB, 32, false}},  /* sm_86 */
    {"NVIDIA GeForce RTX 4090", {128, 99 * KIB, 100 * KIB, KIB, 32, false}}, /* sm_89 */
    {"NVIDIA B200", {148, 227 * KIB, 228 * KIB, KIB, 32, true}},             /* sm_100 */
    {"NVIDIA GeForce RTX 5090", {170, 99 * KIB, 100 * KIB, KIB, 32, true}},  /* sm_120 */
    {NULL, {0}},
};

struct dev_limits emulated_limits;

static uint32_t said_of_block, said_of_processor;

void emulate_shared(uint32_t block, uint32_t processor)
{
    said_of_block = block;
    said_of_processor = processor;
}

int emulate_open(struct dev **out, const char *device, const char *card, struct kernel_table kernels, struct err *e)
{
    const struct emulated_card *c = emulated_cards;
    while (card && c->name && strcmp(c->name, card) != 0)
        c++;
    if (!c->name)
        return err_set(e, ERR_USAGE, "card '%s': expected one of tests/lib/emulate/cards.c", card);
    int rc = dev_open(out, device, kernels, e);
    if (rc)
        return rc;
    emulated_limits = (*out)->limits = c->limits;
    if (said_of_block)
        (*out)->limits.block_shared = said_of_block;
    if (said_of_processor)
        (*out)->limits.processor_shared = said_of_processor;
    return 0;
}
