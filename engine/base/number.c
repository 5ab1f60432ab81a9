/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/number.h"

#include <inttypes.h>
#include <math.h>

bool number_parse(const char *text, int64_t *out)
{
    bool minus = *text == '-';
    int64_t n = 0;
    text += minus || *text == '+';
    if (!*text)
        return false;
    for (; *text; text++) {
        int digit = *text - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_sub_overflow(n, digit, &n)) /* downwards: there is one more negative number */
            return false;
    }
    *out = n;
    return minus || !__builtin_sub_overflow(0, n, out);
}

int number_whole(int64_t *out, const char *what, const char *text, int64_t lo, int64_t hi, struct err *e)
{
    int64_t n;
    if (!text || !number_parse(text, &n) || n < lo || n > hi)
        return err_set(e, ERR_USAGE, "%s%.100s: expected a whole number from %" PRId64 " to %" PRId64, what,
                       text ? text : "", lo, hi);
    *out = n;
    return 0;
}

const char *number_word(int64_t n, const char *one, const char *others)
{
    return n == 1 ? one : others;
}

/* Decimals that show two significant digits of the error. */
static int decimals_of(double error)
{
    int decimals = 1 - (int)floor(log10(error));
    if (error * pow(10, decimals) >= 99.5) /* rounds up to three digits */
        decimals--;
    return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

void number_with_error(struct buf *out, double value, double error)
{
    if (!isfinite(value)) {
        buf_printf(out, "-");
    } else if (!isfinite(error) || error <= 0) {
        buf_printf(out, "%.3f", value);
    } else {
        int decimals = decimals_of(error);
        buf_printf(out, "%.*f +- %.*f", decimals, value, decimals, error);
    }
}
