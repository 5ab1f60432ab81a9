/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/schedule/memory/device_sizes.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"

static char *text_of(const json_t *size, const char *key)
{
    const char *text = json_string_value(json_object_get(size, key));
    return xstrdup(text ? text : "");
}

void device_sizes_read(struct device_sizes *s, const char *text)
{
    json_t *list = text ? json_loads(text, 0, NULL) : NULL, *size;
    size_t i;
    device_sizes_free(s);
    s->text = text ? xstrdup(text) : NULL;
    s->item = xcalloc(json_array_size(list) + 1, sizeof *s->item);
    json_array_foreach (list, i, size)
        s->item[s->n++] = (struct device_size){.kind = text_of(size, "kind"),
                                               .limits = text_of(size, "limits"),
                                               .tables = json_integer_value(json_object_get(size, "tables")),
                                               .replica = json_integer_value(json_object_get(size, "replica"))};
    json_decref(list);
}

void device_sizes_free(struct device_sizes *s)
{
    for (int i = 0; i < s->n; i++) {
        free(s->item[i].kind);
        free(s->item[i].limits);
    }
    free(s->item);
    free(s->text);
    *s = (struct device_sizes){0};
}

const struct device_size *device_sizes_on(const struct device_sizes *s, const char *device, const char *limits)
{
    const size_t kind = device ? strcspn(device, ":+") : 0;
    for (int i = 0; i < s->n && device && limits; i++)
        if (!strcmp(s->item[i].limits, limits) && strlen(s->item[i].kind) == kind &&
            !strncmp(s->item[i].kind, device, kind))
            return &s->item[i];
    return NULL;
}

int64_t device_size_taken(const struct device_size *size, const struct room *room, int64_t replicas)
{
    return size && replicas > 0 ? size->tables + room_taken(room, size->replica, replicas) : 0;
}
