/* SPDX-License-Identifier: Apache-2.0
 *
 * Removing an ensemble for good: its rows go in one transaction, which leaves its id among the removals; then its
 * folder goes, on the thread pool; then the id. A start finds the ids whose folders were not finished with.
 */
#include "daemon/service/service.h"

#include <inttypes.h>
#include <stdlib.h>

#include "daemon/host/folder.h"
#include "daemon/service/stored.h"
#include "engine/base/log.h"

struct removal {
    struct service *sv;
    struct ensemble *ensemble; /* NULL: its rows went before this start */
    char *id, *path;
    char *inputs; /* shared, and written before users shared none */
    char *own;    /* those of its owner; NULL: not known whose it was */
    int64_t bytes;
    struct err err;
    service_removed_fn *done; /* NULL: nobody asks */
    void *arg;
};

/* en NULL: its rows went before this start, so its owner is not known. */
static struct removal *removal_new(struct service *sv, const char *id, struct ensemble *en)
{
    struct removal *r = xcalloc(1, sizeof *r);
    struct buf path = {0}, inputs = {0}, own = {0};
    buf_printf(&path, "%s/ensembles/%s", sv->config.state, id);
    buf_printf(&inputs, "%s/inputs", sv->config.state);
    if (en)
        buf_printf(&own, "%s/%" PRIu32, inputs.data, en->owner);
    *r = (struct removal){
        .sv = sv, .ensemble = en, .id = xstrdup(id), .path = path.data, .inputs = inputs.data, .own = own.data};
    return r;
}

static void work(void *arg)
{
    struct removal *r = arg;
    folder_remove(r->path, &r->bytes, &r->err);
    folder_remove_lone(r->inputs, !r->own);
    if (r->own)
        folder_remove_lone(r->own, false);
}

static void removal_free(struct removal *r)
{
    free(r->id);
    free(r->path);
    free(r->inputs);
    free(r->own);
    free(r);
}

static void done(void *arg)
{
    struct removal *r = arg;
    if (r->err.code)
        log_line(LOG_WARNING, "ensemble %s is removed, its folder is not; the next start tries again: %s", r->id,
                 r->err.msg);
    else
        store_end_removal(r->sv->store, r->id);
    if (r->done)
        r->done(r->arg, r->bytes);
    removal_free(r);
}

static void committed(void *arg)
{
    struct removal *r = arg;
    ensemble_free(r->ensemble);
    service_offload(r->sv, work, done, r);
}

static void forget_removed(void *arg)
{
    struct removal *r = arg;
    ensemble_free(r->ensemble);
    removal_free(r);
}

int service_remove(struct service *sv, struct ensemble *en, service_removed_fn *done_fn, void *arg, struct err *e)
{
    service_save_energy(sv);
    int rc = sched_remove(&sv->sched, en, e);
    if (rc)
        return rc;
    service_unregister(sv, en);
    struct removal *r = removal_new(sv, en->id, en);
    r->done = done_fn;
    r->arg = arg;
    r->bytes = stored_rows(en);
    quota_return(&en->counted);
    quota_return(&en->peopled);
    quota_return(&en->stored);
    stored_changed(sv, en);
    store_remove_ensemble(sv->store, en);
    store_after_commit(sv->store, committed, forget_removed, r);
    return 0;
}

static void go_on(void *arg, const char *id)
{
    service_offload(arg, work, done, removal_new(arg, id, NULL));
}

int service_go_on_removing(struct service *sv, struct err *e)
{
    return store_load_removals(sv->store, go_on, sv, e);
}
