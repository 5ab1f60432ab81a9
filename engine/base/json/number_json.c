/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/json/number_json.h"

#include <math.h>

json_t *number_json(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

double number_from_json(const json_t *v)
{
    return json_is_number(v) ? json_number_value(v) : NAN;
}
