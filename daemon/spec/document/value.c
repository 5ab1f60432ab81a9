/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/document/value.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/number.h"

/* value in base = number * mul / div: both exact, so that 3 fs is the double nearest to 0.003 ps. */
static const struct unit_name {
    const char *base, *name;
    double mul, div;
} units[] = {
    {"nm", "nm", 1, 1},
    {"nm", "A", 1, 10},
    {"nm", "angstrom", 1, 10},
    {"ps", "fs", 1, 1000},
    {"ps", "ps", 1, 1},
    {"ps", "ns", 1000, 1},
    {"ps", "us", 1e6, 1},
    {"K", "K", 1, 1},
    {"bar", "bar", 1, 1},
    {"bar", "atm", 1.01325, 1},
    {"1/ps", "/ps", 1, 1},
    {"1/ps", "1/ps", 1, 1},
    {"1/ps", "ps^-1", 1, 1},
    {"1/nm", "/nm", 1, 1},
    {"1/nm", "1/nm", 1, 1},
    {"1/nm", "nm^-1", 1, 1},
    {"1/nm", "/A", 10, 1},
    {"1/nm", "1/A", 10, 1},
    {"1/nm", "A^-1", 10, 1},
    {"1/nm^3", "/nm^3", 1, 1},
    {"1/nm^3", "1/nm^3", 1, 1},
    {"1/nm^3", "nm^-3", 1, 1},
    {"1/nm^3", "/A^3", 1000, 1},
    {"1/nm^3", "1/A^3", 1000, 1},
    {"1/nm^3", "A^-3", 1000, 1},
    {"kJ/mol/nm", "kJ/mol/nm", 1, 1},
    {"kJ/mol", "kJ/mol", 1, 1},
    {"kJ/mol", "kcal/mol", 4.184, 1},
    {"kJ/mol/nm^2", "kJ/mol/nm^2", 1, 1},
    {"kJ/mol/nm^2", "kcal/mol/nm^2", 4.184, 1},
    {"kJ/mol/nm^2", "kcal/mol/A^2", 418.4, 1},
    {"s", "s", 1, 1},
    {"s", "min", 60, 1},
    {"s", "h", 3600, 1},
    {"mPa s", "mPa s", 1, 1},
    {"mPa s", "Pa s", 1000, 1},
    {"mPa s", "cP", 1, 1},
};
enum { UNITS = sizeof units / sizeof *units };

const char *value_units(const char *base)
{
    static const char *const lists[][2] = {
        {"nm", "nm, A, angstrom"},
        {"ps", "fs, ps, ns, us"},
        {"K", "K"},
        {"bar", "bar, atm"},
        {"1/ps", "/ps"},
        {"1/nm", "/nm, /A"},
        {"1/nm^3", "/nm^3, /A^3"},
        {"kJ/mol/nm", "kJ/mol/nm"},
        {"kJ/mol", "kJ/mol, kcal/mol"},
        {"kJ/mol/nm^2", "kJ/mol/nm^2, kcal/mol/nm^2, kcal/mol/A^2"},
        {"s", "s, min, h"},
        {"mPa s", "mPa s, Pa s, cP"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!strcmp(lists[i][0], base))
            return lists[i][1];
    return base;
}

/* Length of the decimal number at the start of text, 0 when there is none. */
static size_t number_length(const char *text)
{
    const char *p = text;
    p += *p == '+' || *p == '-';
    const char *digits = p;
    while (isdigit((unsigned char)*p))
        p++;
    size_t n = (size_t)(p - digits);
    if (*p == '.') {
        const char *fraction = ++p;
        while (isdigit((unsigned char)*p))
            p++;
        n += (size_t)(p - fraction);
    }
    if (!n)
        return 0;
    if (*p == 'e' || *p == 'E') {
        const char *q = p + 1;
        q += *q == '+' || *q == '-';
        if (isdigit((unsigned char)*q)) {
            while (isdigit((unsigned char)*q))
                q++;
            p = q;
        }
    }
    return (size_t)(p - text);
}

/* The number at the start of text; *rest is what follows it. */
static bool take_number(const char *text, double *out, const char **rest)
{
    size_t n = number_length(text);
    char copy[64];
    if (!n || n >= sizeof copy)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    *out = strtod(copy, NULL);
    *rest = text + n;
    return isfinite(*out);
}

bool value_number(const char *text, double *out)
{
    const char *rest;
    return take_number(text, out, &rest) && !*rest;
}

bool value_integer(const char *text, int64_t *out)
{
    const char *digits = text + (*text == '+' || *text == '-');
    if (!isdigit((unsigned char)*digits) || (*digits == '0' && digits[1]))
        return false;
    return number_parse(text, out);
}

bool value_boolean(const char *text, bool *out)
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcasecmp(text, words[i])) {
            *out = i & 1;
            return true;
        }
    return false;
}

enum quantity_fault value_quantity(const char *text, const char *base, bool steps_too, struct quantity *out)
{
    const char *unit;
    double number;
    if (!take_number(text, &number, &unit))
        return QUANTITY_NO_NUMBER;
    unit += strspn(unit, " \t");
    if (!*unit)
        return QUANTITY_NO_UNIT;
    if (steps_too && (!strcmp(unit, "steps") || !strcmp(unit, "step"))) {
        *out = (struct quantity){.value = number, .steps = true};
        return QUANTITY_OK;
    }
    for (int i = 0; i < UNITS; i++)
        if (!strcmp(units[i].base, base) && !strcmp(units[i].name, unit)) {
            *out = (struct quantity){.value = number * units[i].mul / units[i].div};
            return isfinite(out->value) ? QUANTITY_OK : QUANTITY_NO_NUMBER;
        }
    return QUANTITY_WRONG_UNIT;
}
