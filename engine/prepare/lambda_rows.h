/* SPDX-License-Identifier: Apache-2.0
 *
 * The lambdas of all windows, as every table of a device has them, and those on the way of a switch.
 */
#ifndef SHOAL_ENGINE_PREPARE_LAMBDA_ROWS_H
#define SHOAL_ENGINE_PREPARE_LAMBDA_ROWS_H

#include "engine/base/arena.h"
#include "engine/system/settings.h"

struct lambda_rows {
    int n;                                /* windows, at least 1 */
    const double (*lambda)[LAMBDA_COUNT]; /* [n] */
};

/* One window at lambda 0 if the settings have no windows. A component without a ladder has the lambdas of the ladder
 * that it follows (alchemy_ladder). Ends with lambda_rows_close. */
struct lambda_rows lambda_rows_of(const struct alchemy_settings *set);
/* Those that lambda takes in a switch, from the first window to the last: [(changes << doublings) + 1], the rows of all
 * windows and evenly in between. Each interval between windows has its share of the changes, to the nearest whole
 * change, and one at least: there are as many changes as intervals or more. Every second row, as often as there are
 * doublings, is the rows without doublings. Ends with lambda_rows_close. */
struct lambda_rows lambda_rows_between(const struct lambda_rows *windows, const struct switch_settings *to);
void lambda_rows_close(struct lambda_rows *rows);
/* The same rows in an arena: lambda is a device address. */
struct lambda_rows lambda_rows_put(const struct lambda_rows *rows, struct arena *a);

#endif
