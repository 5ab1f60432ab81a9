/* SPDX-License-Identifier: Apache-2.0
 *
 * Works of switches as files, and the JSON of their estimate taken apart, for tests with cmocka.
 */
#ifndef SHOAL_TESTS_LIB_SWITCH_WORKS_H
#define SHOAL_TESTS_LIB_SWITCH_WORKS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "engine/base/err.h"
#include "engine/base/units.h"

#define WORKS_TEMPERATURE 298.15 /* K, of all estimates of files of works */
#define WORKS_KT (UNIT_R * WORKS_TEMPERATURE)

/* Names of two files of this process, from the first call on and to the last: setup and teardown of a group. */
extern char works_forward_file[64], works_backward_file[64];
int works_begin(void **state);
int works_end(void **state);

/* Gaussian works in kT that obey Crooks' relation, each way an autoregressive series: into f[nf] and b[nb]. */
void works_draw(double *f, int nf, double *b, int nb, double dg, double sigma, double memory, uint64_t seed);
/* A line for each of n works, times `unit`. */
void works_put(const char *path, const double *w, int n, double unit);
/* results.json of two files, NULL: none of that way; NULL where there is an error. */
json_t *works_estimate(const char *forward, const char *backward, double unit, struct err *e);
/* Of the two files in kJ/mol, without an error; the second writes works in kT into them first. */
json_t *works_from_files(void);
json_t *works_from_two(const double *f, int nf, const double *b, int nb);

/* A value by keys and indices with dots between them, and one that is a number. */
const json_t *works_at(const json_t *j, const char *path);
double works_number(const json_t *j, const char *path);
/* Of an estimator, 0 BAR, 1 and 2 Jarzynski forward and backward, 3 the Gaussian intersection: "value" or "error" of
 * its total in kT, its verdict, whether the verdict has a reason. */
double works_total(const json_t *r, int which, const char *what);
const char *works_verdict(const json_t *r, int which);
bool works_reason(const json_t *r, int which, const char *code);

#endif
