/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/metrics/metrics.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BOUNDS_MOST 16

enum kind { KIND_COUNTER, KIND_GAUGE, KIND_INFO, KIND_HISTOGRAM };

static const struct family_row {
    enum kind kind;
    const char *name, *labels, *help;
    double bounds[BOUNDS_MOST]; /* of a histogram, ascending; 0 ends them */
} families[] = {
#define FAMILY(symbol, kind, name, labels, help) {KIND_##kind, name, labels, help, {0}},
#define HISTOGRAM(symbol, name, help, ...) {KIND_HISTOGRAM, name, "", help, {__VA_ARGS__}},
#include "daemon/metrics/families.def"
#undef FAMILY
#undef HISTOGRAM
};

/* What a kind is called in each form, and what its samples have behind the family's name. */
static const struct {
    const char *type[2], *suffix;
} kinds[] = {
    [KIND_COUNTER] = {{"counter", "counter"}, "_total"},
    [KIND_GAUGE] = {{"gauge", "gauge"}, ""},
    [KIND_INFO] = {{"info", "gauge"}, "_info"},
    [KIND_HISTOGRAM] = {{"histogram", "histogram"}, ""},
};

struct labelled {
    char *labels; /* as they are written: device="cpu"; owned */
    double value;
};

struct metrics {
    struct {
        struct labelled *samples; /* [n] */
        size_t n;
        uint64_t buckets[BOUNDS_MOST + 1]; /* of a histogram: up to each bound and above the one before; above all */
        double sum;
    } of[METRICS_FAMILIES];
};

struct metrics *metrics_new(void)
{
    return xcalloc(1, sizeof(struct metrics));
}

static void forget(struct metrics *m, size_t family)
{
    for (size_t i = 0; i < m->of[family].n; i++)
        free(m->of[family].samples[i].labels);
    free(m->of[family].samples);
    m->of[family].samples = NULL;
    m->of[family].n = 0;
}

void metrics_forget(struct metrics *m)
{
    for (size_t f = 0; f < METRICS_FAMILIES; f++)
        if (families[f].kind == KIND_GAUGE || families[f].kind == KIND_INFO)
            forget(m, f);
}

void metrics_free(struct metrics *m)
{
    for (size_t f = 0; f < METRICS_FAMILIES; f++)
        forget(m, f);
    free(m);
}

/* A label's value: backslash, quote and line end are escaped. */
static void put_value(struct buf *out, const char *value)
{
    for (; *value; value++) {
        if (*value == '"' || *value == '\\' || *value == '\n')
            buf_add(out, "\\", 1);
        buf_add(out, *value == '\n' ? "n" : value, 1);
    }
}

/* device="cpu",model="cpu avx2" */
static void put_labels(struct buf *out, const char *names, const char *const *values)
{
    buf_add(out, "", 0);
    for (int i = 0; *names; i++) {
        const size_t n = strcspn(names, ",");
        buf_printf(out, "%s%.*s=\"", i ? "," : "", (int)n, names);
        put_value(out, values[i]);
        buf_printf(out, "\"");
        names += n + (names[n] == ',');
    }
}

static struct labelled *sample_of(struct metrics *m, enum metrics_family f, const char *const *values)
{
    struct buf labels = {0};
    put_labels(&labels, families[f].labels, values);
    for (size_t i = 0; i < m->of[f].n; i++)
        if (!strcmp(m->of[f].samples[i].labels, labels.data)) {
            buf_free(&labels);
            return &m->of[f].samples[i];
        }
    m->of[f].samples = xrealloc(m->of[f].samples, m->of[f].n + 1, sizeof *m->of[f].samples);
    struct labelled *s = &m->of[f].samples[m->of[f].n++];
    *s = (struct labelled){.labels = labels.data};
    return s;
}

void metrics_add(struct metrics *m, enum metrics_family f, const char *value, double more)
{
    sample_of(m, f, &value)->value += more;
}

void metrics_set(struct metrics *m, enum metrics_family f, const char *const *values, double x)
{
    sample_of(m, f, values)->value = x;
}

void metrics_observe(struct metrics *m, enum metrics_family f, double x)
{
    const double *bounds = families[f].bounds;
    int i = 0;
    while (bounds[i] > 0 && x > bounds[i])
        i++;
    m->of[f].buckets[i]++;
    m->of[f].sum += x;
}

/* ---- as text ---- */

/* OpenMetrics wants 1.0, not 1. */
static void put_bound(struct buf *out, double bound)
{
    const size_t begin = out->len;
    buf_printf(out, "%.15g", bound);
    if (!strpbrk(out->data + begin, ".e"))
        buf_printf(out, ".0");
}

static void put_histogram(const struct metrics *m, size_t f, struct buf *out)
{
    const struct family_row *about = &families[f];
    unsigned long long n = 0;
    int i = 0;
    for (; about->bounds[i] > 0; i++) {
        n += m->of[f].buckets[i];
        buf_printf(out, "%s_bucket{le=\"", about->name);
        put_bound(out, about->bounds[i]);
        buf_printf(out, "\"} %llu\n", n);
    }
    n += m->of[f].buckets[i];
    buf_printf(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.15g\n%s_count %llu\n", about->name, n, about->name,
               m->of[f].sum, about->name, n);
}

static void put_samples(const struct metrics *m, size_t f, struct buf *out)
{
    for (size_t i = 0; i < m->of[f].n; i++) {
        const struct labelled *s = &m->of[f].samples[i];
        buf_printf(out, "%s%s", families[f].name, kinds[families[f].kind].suffix);
        if (*s->labels)
            buf_printf(out, "{%s}", s->labels);
        buf_printf(out, " %.15g\n", s->value);
    }
}

void metrics_put(const struct metrics *m, enum metrics_form form, struct buf *out)
{
    for (size_t f = 0; f < METRICS_FAMILIES; f++) {
        const struct family_row *about = &families[f];
        const char *suffix = form == METRICS_TEXT ? kinds[about->kind].suffix : ""; /* of a family, not of a sample */
        buf_printf(out, "# TYPE %s%s %s\n# HELP %s%s %s\n", about->name, suffix, kinds[about->kind].type[form],
                   about->name, suffix, about->help);
        if (about->kind == KIND_HISTOGRAM)
            put_histogram(m, f, out);
        else
            put_samples(m, f, out);
    }
    if (form == METRICS_OPEN)
        buf_printf(out, "# EOF\n");
}
