/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the database and its log are still the files that were opened: what is written to a file that has no name any
 * more, or that was cut short, is lost with the process. Looked at every second, for there may be nothing to write;
 * every commit looks too (store/write.c). The file may come back (moved away by mistake). If it does not, the service
 * drains, while replicas make their checkpoints, and ends with the exit code of a database error.
 */
#include "daemon/service/service.h"

#include "engine/base/log.h"

#define LOOK_MS 1000
#define BACK_MS 5000 /* to come back in */

static void on_watch(uv_timer_t *t)
{
    struct service *sv = t->data;
    int64_t now = service_clock();
    if (store_in_place(sv->store)) {
        if (sv->missed_since)
            log_line(LOG_INFO, "the database is back in its place");
        sv->missed_since = 0;
        return;
    }
    if (!sv->missed_since) {
        sv->missed_since = now;
        log_line(
            LOG_ERROR,
            "the database was removed or replaced: nothing more can be stored; stopping in %d s unless it comes back",
            BACK_MS / 1000);
        if (sv->on_status)
            sv->on_status(sv->on_stopped_arg, "the database was removed or replaced");
    }
    if (now - sv->missed_since >= BACK_MS && !sv->lost) {
        log_line(LOG_ERROR, "the database did not come back: draining");
        sv->lost = true;
        service_drain(sv);
    }
}

void service_watch_database(struct service *sv)
{
    uv_timer_start(&sv->presence, on_watch, LOOK_MS, LOOK_MS);
}
