/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads topologies that are fine, and topologies that are not. For cmocka tests.
 */
#ifndef SHOAL_TESTS_LIB_TOP_TEXT_H
#define SHOAL_TESTS_LIB_TOP_TEXT_H

#include "engine/io/io.h"

/* Lines 1 to 8 of most texts. */
#define FORCE_FIELD                                                                                                    \
    "[ defaults ]\n1 2 yes 0.5 0.8\n[ atomtypes ]\nA CA 6 12.0 0.1 A 0.3 0.5\nB CB 6 14.0 0.2 A 0.2 0.4\n"             \
    "V V 0 0.0 0.0 V 0.0 0.0\nS S 0 1.0 0.0 S 0.0 0.0\n\n"
/* Lines 9 to 16. */
#define MOLECULE                                                                                                       \
    "[ moleculetype ]\nM 3\n[ atoms ]\n1 A 1 RES C1 1\n2 A 1 RES C2 1\n3 A 1 RES C3 1\n4 B 1 RES C4 1\n5 A 1 RES C5 "  \
    "1\n"
#define TAIL "[ system ]\nt\n[ molecules ]\nM 1\n"

#define T ERR_TOPOLOGY
#define U ERR_UNSUPPORTED

/* The text is x.top; the source may have files that it includes. Returns as top_read. */
int top_read_with(struct source *src, const char *text, const struct define *d, int n, struct system *s, struct err *e);
/* Must be fine. Closed by the caller. */
struct system top_read_ok(const char *text);
/* Must not be: this is what is said of it. */
void top_refused(const char *text, enum err_code code, const char *message);
/* To a relative 1e-12. */
void top_near(double a, double b);

struct top_bad {
    const char *text;
    enum err_code code;
    const char *message;
};
/* Each as top_refused. */
void top_refuse_all(const struct top_bad *bad, size_t n);

#endif
