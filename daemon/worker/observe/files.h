/* SPDX-License-Identifier: Apache-2.0
 *
 * The files that `observe` writes of each observable.
 */
#ifndef SHOAL_DAEMON_WORKER_OBSERVE_FILES_H
#define SHOAL_DAEMON_WORKER_OBSERVE_FILES_H

#include <stdbool.h>

#include "daemon/worker/observe/series.h"
#include "engine/plot/plot.h"

struct observe_files {
    const char *output; /* the folder of NAME.xvg and NAME.csv, which is there */
    bool csv;
    const char
        *plot; /* FILE.svg, which all figures are in, or a folder, made if need be, for NAME.svg; NULL: no figures */
    struct plot_sheet figures;
};

/* The folders that are not there yet. ERR_IO. */
int observe_files_begin(const struct observe_files *f, struct err *e);
/* Its file, and where the series is not empty NAME_time.xvg with it. */
int observe_files_add(struct observe_files *f, const struct observe_result *r, const struct observe_series *series,
                      struct err *e);
/* What is written last. ERR_IO. */
int observe_files_end(struct observe_files *f, struct err *e);
void observe_files_close(struct observe_files *f);

#endif
