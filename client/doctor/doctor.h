/* SPDX-License-Identifier: Apache-2.0
 *
 * What `shoal doctor` has found. Checks change nothing.
 */
#ifndef SHOAL_CLIENT_DOCTOR_DOCTOR_H
#define SHOAL_CLIENT_DOCTOR_DOCTOR_H

#include "client/command/client.h"

struct doctor {
    const struct client *c;
    json_t *lines; /* an object each */
    bool warned;
};

/* say.c: a line: what was looked at, in a word, and what was found. `todo`: what to do about it, NULL: it is well. */
void doctor_say(struct doctor *d, const char *check, const char *todo, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* programs.c */
void doctor_programs(struct doctor *d);
/* gpus.c */
void doctor_gpus(struct doctor *d);
/* driver.c */
/* Runs nvidia-smi; what it says on either output is appended. Its exit code, or one of timeout(1). */
int doctor_ask_driver(char *const *words, struct buf *text);
/* A line like "0, NVIDIA H200, 580.65.06", in place; false: it has fewer fields. */
bool doctor_split(char *line, char **fields, int count);
/* clocks.c */
void doctor_clocks(struct doctor *d);
/* folders.c: the folders that services keep their state in, and one with specs. */
void doctor_folders(struct doctor *d, const char *specs);

#endif
