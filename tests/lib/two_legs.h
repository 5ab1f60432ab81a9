/* SPDX-License-Identifier: Apache-2.0
 *
 * An ensemble of harmonic oscillators as files, coulomb first, then vdw, and its results.json read by paths. For cmocka
 * tests.
 */
#ifndef SHOAL_TESTS_LIB_TWO_LEGS_H
#define SHOAL_TESTS_LIB_TWO_LEGS_H

#include <jansson.h>

#include "engine/estimate/result/result.h"
#include "tests/lib/near.h"
#include "tests/lib/oscillators.h"

#define STATES 6
#define TEMPERATURE 298.15

/* coulomb and vdw of each state */
extern const double path[STATES * 2];
extern const struct ladder_of_oscillators legs;

struct ensemble {
    char folder[64];
    double lambda[STATES][LAMBDA_COUNT];
    struct settings set;
    struct estimate_replica states[STATES];
};

/* DIRECTORY/lambda_KK/name. */
void write_file(const struct ensemble *x, int window, const char *name, const struct buf *text);
/* In a folder of its own: so many samples of each window. */
void make(struct ensemble *x, int samples);
/* Removes the folder. */
void drop(struct ensemble *x);
/* Its results, a new reference; *text (may be NULL) as text. */
json_t *estimate(const struct ensemble *x, struct buf *text);
/* A value by a path of keys and indices: "estimators>0>total>kT>value". */
json_t *at(json_t *r, const char *where);
double number(json_t *r, const char *where);
const char *words(json_t *r, const char *where);
/* Warnings that hold this text. */
int count_warnings(json_t *r, const char *part);
/* How often a code is among the reasons of a verdict. */
int count_reasons(json_t *verdict, const char *code);

#endif
