/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads specs that are fine, and specs that are not. For cmocka tests.
 */
#ifndef SHOAL_TESTS_LIB_SPEC_READ_H
#define SHOAL_TESTS_LIB_SPEC_READ_H

#include "daemon/spec/spec.h"

/* What every spec begins with: two lines. */
#define HEAD "name: x\nsystem: {topology: a.top, coordinates: a.gro}\n"

/* For refused(): SPEC("3: key: ...") */
#define SPEC(...) ERR_SPEC, "s.yaml:" __VA_ARGS__

/* One of 12 windows and 4 stages, of which the last produces 1 ns. */
extern const char whole[];

/* Must be fine. Freed with spec_free. */
struct spec *parsed(const char *text);
/* Must not be: this is what is said of it. */
void refused(const char *text, enum err_code code, const char *message);
/* What is said of a spec, s.yaml, with the texts of a.top, a.gro and a.ndx; the system that it makes is the caller's.
 */
struct err system_made(const char *text, const char *top, const char *gro, const char *ndx, struct system *sys);
/* To the last bit. */
void assert_is(double a, double b);

#endif
