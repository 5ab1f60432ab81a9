/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in the place of libnvidia-ml.so.1. The card at SHOAL_TEST_CARD_PLACE has taken as many millijoules as the file
 * SHOAL_TEST_ENERGY says; without the file it does not answer. SHOAL_TEST_MIG: it is divided. Built with
 * -DWITHOUT_COUNTER it is the library of an older driver.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, UNINITIALIZED = 1, NOT_SUPPORTED = 3, NOT_FOUND = 6, UNKNOWN = 999 };

static int users, card;

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *place, int **out);
int nvmlDeviceGetMigMode(const int *which, unsigned *now, unsigned *after_reset);
int nvmlDeviceGetTotalEnergyConsumption(const int *which, unsigned long long *millijoules);

int nvmlInit_v2(void)
{
    users++;
    return getenv("SHOAL_TEST_ENERGY") ? SUCCESS : UNKNOWN;
}

int nvmlShutdown(void)
{
    users--;
    return SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *place, int **out)
{
    const char *there = getenv("SHOAL_TEST_CARD_PLACE");
    *out = &card;
    return !users ? UNINITIALIZED : there && !strcmp(place, there) ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetMigMode(const int *which, unsigned *now, unsigned *after_reset)
{
    if (which != &card || !getenv("SHOAL_TEST_MIG"))
        return NOT_SUPPORTED;
    *now = *after_reset = (unsigned)atoi(getenv("SHOAL_TEST_MIG"));
    return SUCCESS;
}

#ifndef WITHOUT_COUNTER
int nvmlDeviceGetTotalEnergyConsumption(const int *which, unsigned long long *millijoules)
{
    FILE *f = users && which == &card ? fopen(getenv("SHOAL_TEST_ENERGY"), "r") : NULL;
    const int found = f ? fscanf(f, "%llu", millijoules) : 0;
    if (f)
        fclose(f);
    return found == 1 ? SUCCESS : NOT_SUPPORTED;
}
#endif
