/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP API (schemas/api/openapi.yaml). A command is declared once, in the table of api.c: method, path, parameters,
 * handler. Parameters are parsed and checked, and the ensemble is found, before its handler is called.
 */
#ifndef SHOAL_DAEMON_API_API_H
#define SHOAL_DAEMON_API_API_H

#include "daemon/api/check.h"
#include "daemon/http/server.h"
#include "daemon/service/service.h"

/* Ensembles that come from other nodes. */
struct imports {
    struct import *all; /* that are on their way */
    int n;
    long long count; /* of all that were begun: a name for each one's folder */
    bool stopping;   /* no more are taken */
};

struct api {
    struct service *service;
    struct quota *quota;
    struct checks checks;
    struct imports imports;
};

enum api_param_kind { API_NUMBER, API_FLAG, API_STATES, API_TEXT, API_LABEL };

struct api_param {
    const char *name; /* of the query argument; NULL ends the list */
    enum api_param_kind kind;
};

#define API_PARAMS 9
#define API_LABELS 8

/* Where the parameters of api_list are. */
enum {
    API_LIST_STATE,
    API_LIST_LIMIT,
    API_LIST_AFTER,
    API_LIST_OWNER,
    API_LIST_NAME,
    API_LIST_KEY,
    API_LIST_OLDER,
    API_LIST_LABEL,
    API_LIST_ALL
};

/* Where the parameters of api_accounting are. */
enum { API_ACCOUNTING_BY, API_ACCOUNTING_SINCE, API_ACCOUNTING_OWNER, API_ACCOUNTING_ALL };

struct api_call {
    const struct api_command *command;
    struct api *api;
    struct service *service;
    struct request *request;
    struct ensemble *ensemble;    /* of {id} in the path */
    const char *tail;             /* of the path, where it ends with '*' */
    int64_t value[API_PARAMS];    /* of the parameters, of states a bit each; -1 where absent */
    const char *text[API_PARAMS]; /* NULL where absent; lives as long as the request */
    struct {
        char key[64];
        const char *value; /* NULL: any */
    } labels[API_LABELS];
    int nlabels;
};

struct api_command {
    const char *method, *path;
    struct reply (*handler)(struct api_call *c);
    struct api_param params[API_PARAMS + 1];
};

/* The handler for server_new; arg is a struct api. */
struct reply api_handle(void *arg, struct request *r);
bool api_uploads(const char *method, const char *path);

/* An error with a list, "files"; NULL: without. Steals it. */
struct reply reply_missing(struct request *r, const struct err *e, json_t *files);

/* act.c: the log has one line for each command that changed something: who asked for what, of which ensemble. */
/* Before the handler is called: keeps that with the request. */
void act_begin(const struct api_call *c);
/* Writes the line. A handler calls it when its change is committed, before it answers. `made`: the ensemble that it
 * made; NULL: none. */
void act_done(const struct request *r, const struct ensemble *made);

/* submit.c */
struct reply api_submit(struct api_call *c);
struct reply api_validate(struct api_call *c);
/* Whether the service takes a new ensemble of the user now. ERR_BUSY. */
int api_may_admit(const struct service *sv, uint32_t uid, struct err *e);
/* about.c */
struct reply api_version(struct api_call *c);
struct reply api_live(struct api_call *c);
struct reply api_ready(struct api_call *c);
struct reply api_metrics(struct api_call *c);
/* owner.c */
struct reply api_cancel(struct api_call *c);
struct reply api_pause(struct api_call *c);
struct reply api_resume(struct api_call *c);
struct reply api_retry(struct api_call *c);
struct reply api_priority(struct api_call *c);
/* ERR_USAGE: it is none; ERR_FORBIDDEN: it is not the caller's to give. `text` may be NULL. */
int api_priority_of(const struct api_call *c, const char *text, int *out, struct err *e);
struct reply api_move(struct api_call *c);
struct reply api_reestimate(struct api_call *c);
struct reply api_remove(struct api_call *c);
/* Its owner, or an administrator, has moved it ("paused"): answers with the ensemble once that is committed. */
void api_moved(struct service *sv, struct request *r, struct ensemble *en, const char *what);
/* administrators.c */
struct reply api_drain(struct api_call *c);
struct reply api_undrain(struct api_call *c);
/* ERR_NOT_FOUND, with those that there are. */
int api_find_device(const struct service *sv, const char *device, int *worker, struct err *e);
struct reply api_hold(struct api_call *c);
struct reply api_release(struct api_call *c);
/* Whose things a call is about: of the user `owner`, or of all; when neither is said the caller's, of root and the
 * service's own user all. *uid: -1: all. ERR_NOT_FOUND, ERR_FORBIDDEN. */
int api_whose(const struct api_call *c, const char *owner, bool all, int64_t *uid, struct err *e);
/* status.c */
struct reply api_status(struct api_call *c);
/* An answer with the ensemble, `more` members (NULL: none; borrowed), and all its replicas. */
struct reply api_reply_ensemble(struct request *r, int status, struct ensemble *en, json_t *more);
/* What those who follow an ensemble are told each second, as a line: it and its replicas that run. The ensemble keeps
 * it. */
const char *api_progress_line(struct ensemble *en);
/* extend.c */
struct reply api_extend(struct api_call *c);
/* events.c */
struct reply api_events(struct api_call *c);
/* results.c */
struct reply api_results(struct api_call *c);
/* list.c */
struct reply api_list(struct api_call *c);
struct reply api_usage(struct api_call *c);
/* accounting.c */
struct reply api_accounting(struct api_call *c);
/* transfer/ */
struct reply api_files(struct api_call *c);
struct reply api_file(struct api_call *c);
struct reply api_export(struct api_call *c);
struct reply api_import(struct api_call *c);
/* Ends all imports that are not stored yet; each is answered with ERR_BUSY. */
void api_stop_imports(struct api *api);

/* How things look in answers (json.c). New references. An ensemble is without its replicas. */
json_t *api_ensemble_json(const struct ensemble *en);
json_t *api_time_json(int64_t ms);
json_t *api_hold_json(const struct hold *h);
/* As the user sees them. */
json_t *api_devices_json(const struct service *sv, uint32_t uid);
/* The same as text, which the ensemble keeps: it may be a little late of one that has not ended. */
const char *api_ensemble_text(struct ensemble *en);
/* Appends the object with one more member, whose value is a text. Steals it. */
void api_add_object(struct buf *out, json_t *object, const char *key, const char *value);
/* Of devices whose memory is known, how many replicas of an ensemble of such sizes (NULL: not known) each holds: an
 * array of Fit. */
json_t *api_fits_json(const struct sched *s, const struct device_sizes *sizes);
/* ERR_TOO_LARGE, with the numbers, where all devices are known and none holds one. */
int api_fits_any(const struct sched *s, const struct device_sizes *sizes, struct err *e);
/* Replicas that a worker's device has memory for, as the user sees them. */
json_t *api_replicas_on(const struct service *sv, int worker, uint32_t uid);

#endif
