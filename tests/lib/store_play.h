/* SPDX-License-Identifier: Apache-2.0
 *
 * A store in a folder of its own, what is put into it and what comes back. For cmocka tests.
 */
#ifndef SHOAL_TESTS_LIB_STORE_PLAY_H
#define SHOAL_TESTS_LIB_STORE_PLAY_H

#include "daemon/store/internal.h"

extern char folder[64];
/* Whether stores are opened as portable ones. */
extern bool store_portable;
extern struct err err;
/* By load_again and take. */
extern struct ensemble *loaded[4];
extern int nloaded;

/* 64 digits. */
#define TEN(digit) digit digit digit digit digit digit digit digit digit digit
#define HASH(digit) TEN(digit) TEN(digit) TEN(digit) TEN(digit) TEN(digit) TEN(digit) digit digit digit digit

/* A store with its loop and thread. */
struct running {
    uv_loop_t loop;
    struct store *store;
};

/* The path of a file in `folder`. */
void path_in(char out[128], const char *name);
/* `folder` is a new one, and err is empty; teardown removes it. */
int setup(void **state);
int teardown(void **state);
/* A database file with the given SQL in it. */
void make_database(const char *sql);
/* Of two windows. */
struct ensemble *make_ensemble(int64_t number, const char *id, const char *key);
/* With the spec "spec text" and two files. */
void put_ensemble(struct store *s, const struct ensemble *e);
/* For store_after_commit: adds 1 to an int, or 10. */
void count_up(void *arg);
void count_loss(void *arg);
/* Opens and starts the store of `folder`. */
void run_store(struct running *r);
/* Runs the loop until what was put is committed. */
void commit(struct running *r);
void end_store(struct running *r);
/* For store_load: one more of `loaded`. */
void take(void *arg, struct ensemble *e);
/* What is stored, into `loaded`. */
void load_again(struct running *r);
/* For store_read_inputs: adds "NAME:LENGTH " to a buffer. */
int take_file(void *arg, const char *name, const void *data, size_t len, struct err *e);
/* The first column of the first row. */
int64_t number(sqlite3 *db, const char *sql);
/* Until nothing is left of what was removed. */
void wait_swept(struct store *s);
/* n events of the ensemble, numbered from `from`. */
void put_events(struct store *s, const struct ensemble *e, int64_t from, int n);

#endif
