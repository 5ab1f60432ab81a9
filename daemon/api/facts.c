/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/api/facts.h"

#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *facts, const char *key)
{
    return json_string_value(json_object_get(facts, key));
}

static int64_t number_of(const json_t *facts, const char *key)
{
    return json_integer_value(json_object_get(facts, key));
}

char *facts_sizes(const json_t *facts)
{
    return json_dumps(json_object_get(facts, "sizes"), JSON_COMPACT);
}

bool facts_texts(const json_t *facts, const char *texts, size_t len, struct submission *sub)
{
    const json_t *files = json_object_get(facts, "files");
    size_t at = (size_t)number_of(facts, "spec_bytes") + 1;
    sub->spec = texts;
    sub->nfiles = (int)json_array_size(files);
    sub->file_names = xcalloc((size_t)sub->nfiles, sizeof(char *));
    sub->file_texts = xcalloc((size_t)sub->nfiles, sizeof(char *));
    sub->file_hashes = xcalloc((size_t)sub->nfiles, sizeof(char *));
    for (int i = 0; i < sub->nfiles && at < len; i++) {
        const json_t *file = json_array_get(files, (size_t)i);
        sub->file_names[i] = json_string_value(json_array_get(file, 0));
        sub->file_texts[i] = texts + at;
        sub->file_hashes[i] = json_string_value(json_array_get(file, 2));
        at += (size_t)json_integer_value(json_array_get(file, 1)) + 1;
    }
    return at == len && len && texts[len - 1] == '\0';
}

void facts_texts_free(struct submission *sub)
{
    free(sub->file_names);
    free(sub->file_texts);
    free(sub->file_hashes);
}

static void add_labels(struct ensemble *en, const json_t *labels)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)labels, key, value)
        ensemble_add_label(en, key, json_string_value(value));
}

struct ensemble *facts_ensemble(struct service *sv, uint32_t owner, const json_t *facts)
{
    struct ensemble *en =
        ensemble_of_windows((int)number_of(facts, "windows"), (int)number_of(facts, "repeats"),
                            number_of(facts, "exchange") != 0, service_next_replica(sv), number_of(facts, "steps"));
    en->owner = owner;
    ensemble_string(&en->key, text_of(facts, "key"));
    ensemble_string(&en->name, text_of(facts, "name"));
    ensemble_string(&en->spec_name, text_of(facts, "spec_name"));
    snprintf(en->hash, sizeof en->hash, "%s", text_of(facts, "hash"));
    en->atoms = number_of(facts, "atoms");
    en->stages = (int)number_of(facts, "stages");
    en->retries = (int)number_of(facts, "retries");
    const json_t *stop = json_object_get(facts, "stop");
    en->stop = (struct stop_rule){.error = json_number_value(json_object_get(stop, "error")),
                                  .converged = number_of(stop, "converged") != 0,
                                  .after = number_of(stop, "after")};
    const json_t *allocation = json_object_get(facts, "allocation");
    en->allocation = (struct allocation){.share = number_of(allocation, "share"),
                                         .before = number_of(allocation, "before"),
                                         .every = number_of(allocation, "every")};
    en->sizes = facts_sizes(facts);
    add_labels(en, json_object_get(facts, "labels"));
    return en;
}

int64_t facts_row_bytes(const json_t *facts)
{
    return number_of(facts, "spec_bytes") + (int64_t)json_dumpb(facts, NULL, 0, JSON_COMPACT);
}
