/* SPDX-License-Identifier: Apache-2.0
 *
 * What another program prints.
 */
#ifndef SHOAL_CLIENT_PROGRAMS_OUTPUT_H
#define SHOAL_CLIENT_PROGRAMS_OUTPUT_H

#include "engine/base/buf.h"

/* Runs a program with these words, NULL at the end, and waits for its end; what it prints is appended to `text`.
 * `become` becomes that program in a child, and does not return. Returns the exit code, EXIT_INTERNAL where a signal
 * ended it; ERR_INTERNAL: there is no child. */
int program_output(void (*become)(char **words), char **words, struct buf *text, struct err *e);

#endif
