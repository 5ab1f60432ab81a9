/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/api/facts.h"

#include <stdlib.h>
#include <string.h>

const char *facts_text(const json_t *facts, const char *key)
{
    return json_string_value(json_object_get(facts, key));
}

int64_t facts_number(const json_t *facts, const char *key)
{
    return json_integer_value(json_object_get(facts, key));
}

void facts_sizes(struct device_sizes *out, const json_t *facts)
{
    char *text = json_dumps(json_object_get(facts, "sizes"), JSON_COMPACT);
    device_sizes_read(out, text);
    free(text);
}

bool facts_texts(const json_t *facts, const char *texts, size_t len, struct submission *sub)
{
    const json_t *files = json_object_get(facts, "files");
    size_t at = (size_t)facts_number(facts, "spec_bytes") + 1;
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
    struct ensemble *en = ensemble_of_facts(facts, service_next_replica(sv));
    en->owner = owner;
    ensemble_string(&en->key, facts_text(facts, "key"));
    ensemble_string(&en->name, facts_text(facts, "name"));
    ensemble_string(&en->spec_name, facts_text(facts, "spec_name"));
    snprintf(en->hash, sizeof en->hash, "%s", facts_text(facts, "hash"));
    en->atoms = facts_number(facts, "atoms");
    facts_sizes(&en->sizes, facts);
    add_labels(en, json_object_get(facts, "labels"));
    return en;
}

int64_t facts_row_bytes(const json_t *facts)
{
    return facts_number(facts, "spec_bytes") + (int64_t)json_dumpb(facts, NULL, 0, JSON_COMPACT);
}
