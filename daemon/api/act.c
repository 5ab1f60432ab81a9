/* SPDX-License-Identifier: Apache-2.0
 *
 * The log's line for an act of a user or an administrator. Users are numbers: names may change.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/api/api.h"
#include "engine/base/log.h"

static void add_ensemble(struct log_fields *f, const struct ensemble *en)
{
    log_add(f, "ensemble", en->id);
    log_add_number(f, "owner", en->owner);
    log_add(f, "name", en->name);
    log_add(f, "key", en->key);
}

static const char *name_of(const struct api_command *command)
{
    if (!strcmp(command->method, "DELETE"))
        return "remove";
    return strcmp(command->path, "/v1/ensembles") ? strrchr(command->path, '/') + 1 : "submit";
}

/* What was asked for with it. */
static void add_params(struct log_fields *f, const struct api_call *c)
{
    for (int i = 0; i < API_PARAMS && c->command->params[i].name; i++)
        if (c->text[i])
            log_add(f, c->command->params[i].name, c->text[i]);
        else if (c->value[i] >= 0)
            log_add_number(f, c->command->params[i].name, c->value[i]);
}

static void fields_free(void *fields)
{
    log_fields_free(fields);
    free(fields);
}

void act_begin(const struct api_call *c)
{
    struct log_fields *f = xcalloc(1, sizeof *f);
    log_add(f, "act", name_of(c->command));
    log_add_number(f, "uid", request_uid(c->request));
    if (c->ensemble)
        add_ensemble(f, c->ensemble);
    add_params(f, c);
    request_keep(c->request, f, fields_free);
}

void act_done(const struct request *r, const struct ensemble *made)
{
    struct log_fields *f = request_kept(r);
    if (made)
        add_ensemble(f, made);
    log_put(LOG_INFO, f);
}
