/* SPDX-License-Identifier: Apache-2.0
 *
 * A batch: what one turn of the loop wrote. write.c fills it, commit.c commits it.
 */
#ifndef SHOAL_DAEMON_STORE_BATCH_H
#define SHOAL_DAEMON_STORE_BATCH_H

#include "daemon/store/internal.h"

enum value_kind { VALUE_NULL, VALUE_INT, VALUE_REAL, VALUE_TEXT, VALUE_BLOB };

struct value {
    enum value_kind kind;
    int64_t i;
    double d;
    char *data; /* owned */
    size_t len;
};

struct op {
    enum statement statement;
    int first, n; /* its values in the batch */
};

struct callback {
    store_done_fn *fn, *forget;
    void *arg;
};

struct batch {
    struct op *ops;
    int nops, cops;
    struct value *values;
    int nvalues, cvalues;
    struct callback *callbacks;
    int ncallbacks, ccallbacks;
    double seconds; /* that it took to be committed */
};

#endif
