/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of a spec as numbers and quantities. Numbers are decimal: no hexadecimal, no octal, no infinities.
 */
#ifndef SHOAL_DAEMON_SPEC_DOCUMENT_VALUE_H
#define SHOAL_DAEMON_SPEC_DOCUMENT_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* The whole text as a number; false when it is none. */
bool value_number(const char *text, double *out);
/* The whole text as a whole number without leading zeros; false when it is none or does not fit. */
bool value_integer(const char *text, int64_t *out);
/* yes, no, true, false, on, off in any case. */
bool value_boolean(const char *text, bool *out);

struct quantity {
    double value; /* in the base unit asked for, or a number of steps */
    bool steps;
};
enum quantity_fault { QUANTITY_OK, QUANTITY_NO_NUMBER, QUANTITY_NO_UNIT, QUANTITY_WRONG_UNIT };
/* "0.9 nm" in the unit `base` (nm, ps, K, bar, 1/ps, kJ/mol, kJ/mol/nm, kJ/mol/nm^2, s, mPa s, 1/nm, 1/nm^3) or, where
 * steps_too, "25 steps". */
enum quantity_fault value_quantity(const char *text, const char *base, bool steps_too, struct quantity *out);
/* The accepted spellings of a base unit: "nm, A, angstrom". */
const char *value_units(const char *base);

#endif
