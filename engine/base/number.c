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

enum { DECIMALS_MOST = 9 };
#define NO_ERROR 5e-10 /* a smaller one has no digit in so many decimals: it is what sums of doubles leave of 0 */

/* Decimals that show two significant digits of the error. */
static int decimals_of(double error)
{
    int decimals = 1 - (int)floor(log10(error));
    if (error * pow(10, decimals) >= 99.5) /* rounds up to three digits */
        decimals--;
    return decimals < 0 ? 0 : decimals > DECIMALS_MOST ? DECIMALS_MOST : decimals;
}

void number_with_error(struct buf *out, double value, double error)
{
    if (!isfinite(value)) {
        buf_printf(out, "-");
    } else if (!isfinite(error) || error < NO_ERROR) {
        buf_printf(out, "%.3f", value);
    } else {
        int decimals = decimals_of(error);
        buf_printf(out, "%.*f +- %.*f", decimals, value, decimals, error);
    }
}

/* All that a double holds exactly. */
static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { TEN_MAX = sizeof ten / sizeof *ten - 1 };

/* The decimal exponent of a value above 0, and its digits as one whole number. One rounding of its product by a power
 * of ten may bring that to the middle between two, but not beyond. false: not known, since it is there, or the power is
 * not exact. */
static bool round_to(double value, int count, int *exponent, uint64_t *digits)
{
    int e = (int)floor(ilogb(value) * 0.30102999566398); /* or one more, also since 9.9996 is 1.000e1 */
    for (int turn = 0; turn < 2; turn++, e++) {
        const int k = count - 1 - e;
        if (k > TEN_MAX || k < -TEN_MAX)
            return false;
        const double scaled = k < 0 ? value / ten[-k] : value * ten[k], whole = floor(scaled);
        if (scaled - whole == 0.5)
            return false;
        *digits = (uint64_t)whole + (scaled - whole > 0.5);
        *exponent = e;
        if (*digits < (uint64_t)ten[count])
            return true;
    }
    return false;
}

/* With a point. Returns how many characters. */
static size_t write_digits(char *to, uint64_t digits, int count, int exponent, bool zeros)
{
    const int before = exponent < 0 ? 1 : exponent + 1, all = exponent < 0 ? count - exponent : count;
    for (int i = all; i > 0; i--, digits /= 10)
        to[i - (i <= before)] = (char)('0' + digits % 10);
    to[before] = '.';
    size_t len = (size_t)all + 1;
    while (!zeros && to[len - 1] == '0')
        len--;
    return len - (!zeros && to[len - 1] == '.');
}

void number_significant(struct buf *out, double value, int digits, bool zeros)
{
    char text[32]; /* "-0.000" and 15 digits are the most */
    uint64_t whole = 0;
    int exponent = 0;
    const bool simple = isfinite(value) && (value == 0 || round_to(fabs(value), digits, &exponent, &whole));
    if (!simple || exponent < -4 || exponent >= digits) {
        buf_printf(out, zeros ? "%#.*g" : "%.*g", digits, value);
        return;
    }
    *text = '-';
    const size_t sign = signbit(value) != 0;
    buf_add(out, text, sign + write_digits(text + sign, whole, digits, exponent, zeros));
}

void number_bytes(struct buf *out, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    int unit = 0;
    for (; bytes >= 999.5 && unit < 4; unit++)
        bytes /= 1000;
    buf_printf(out, unit && bytes < 9.95 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}
