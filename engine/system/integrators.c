/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/system/integrators.h"

#include "engine/base/buf.h"

const struct integrator_info integrators[] = {
#define INTEGRATOR(name, word, kernel, thermostat, bond_steps, text)                                                   \
    [INTEGRATOR_##name] = {word, THERMOSTAT_##thermostat, bond_steps, text},
#include "engine/system/integrators.def"
};

static void list(unsigned thermostats, struct buf *out)
{
    enum { COUNT = sizeof integrators / sizeof *integrators };
    const char *words[COUNT];
    int n = 0;
    for (int i = 0; i < COUNT; i++)
        if (thermostats & 1u << integrators[i].thermostat)
            words[n++] = integrators[i].word;
    buf_words(out, words, n, "or");
}

void integrators_with(enum thermostat thermostat, struct buf *out)
{
    list(1u << thermostat, out);
}

void integrators_with_thermostat(bool any, struct buf *out)
{
    list(any ? ~(1u << THERMOSTAT_NONE) : 1u << THERMOSTAT_NONE, out);
}
