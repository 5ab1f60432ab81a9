/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "engine/estimate/estimate.h"
#include "tests/lib/oscillators.h"
#include "tests/lib/switch_works.h"

char works_forward_file[64], works_backward_file[64];

void works_put(const char *path, const double *w, int n, double unit)
{
    FILE *f = fopen(path, "w");
    assert(f);
    for (int i = 0; i < n; i++)
        fprintf(f, "%.12g\n", w[i] * unit);
    assert(!fclose(f));
}

/* An autoregressive Gaussian series. */
static void draw(double *w, int n, double mean, double sigma, double memory, uint64_t *seed)
{
    double y = random_normal(seed);
    for (int i = 0; i < n; i++) {
        w[i] = mean + sigma * y;
        y = memory * y + sqrt(1 - memory * memory) * random_normal(seed);
    }
}

json_t *works_estimate(const char *forward, const char *backward, double unit, struct err *e)
{
    char *f[] = {(char *)forward}, *b[] = {(char *)backward};
    const struct estimate_switches q = {
        .paths = {f, b}, .n = {forward != NULL, backward != NULL}, .temperature = WORKS_TEMPERATURE, .unit = unit};
    struct buf text = {0};
    bool answered;
    if (estimate_switches(&q, &text, &answered, e))
        return NULL;
    json_t *r = json_loadb(text.data, text.len, 0, NULL);
    assert_non_null(r);
    assert_int_equal(answered, json_is_object(json_object_get(r, "estimate")));
    buf_free(&text);
    return r;
}

json_t *works_from_files(void)
{
    struct err e = {0};
    json_t *r = works_estimate(works_forward_file, works_backward_file, 1, &e);
    assert_string_equal(e.msg, "");
    return r;
}

json_t *works_from_two(const double *f, int nf, const double *b, int nb)
{
    works_put(works_forward_file, f, nf, WORKS_KT);
    works_put(works_backward_file, b, nb, WORKS_KT);
    return works_from_files();
}

const json_t *works_at(const json_t *j, const char *path)
{
    char text[200], *rest = NULL;
    snprintf(text, sizeof text, "%s", path);
    for (char *key = strtok_r(text, ".", &rest); key; key = strtok_r(NULL, ".", &rest))
        j = json_is_array(j) ? json_array_get(j, (size_t)atoi(key)) : json_object_get(j, key);
    return j;
}

double works_number(const json_t *j, const char *path)
{
    const json_t *value = works_at(j, path);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

double works_total(const json_t *r, int which, const char *what)
{
    char path[100];
    snprintf(path, sizeof path, "estimators.%d.total.kT.%s", which, what);
    return works_number(r, path);
}

const char *works_verdict(const json_t *r, int which)
{
    char path[100];
    snprintf(path, sizeof path, "estimators.%d.verdict.verdict", which);
    return json_string_value(works_at(r, path));
}

bool works_reason(const json_t *r, int which, const char *code)
{
    char path[100];
    const json_t *reason;
    size_t i;
    bool has = false;
    snprintf(path, sizeof path, "estimators.%d.verdict.reasons", which);
    json_array_foreach (works_at(r, path), i, reason)
        has |= !strcmp(json_string_value(json_object_get(reason, "code")), code);
    return has;
}

void works_draw(double *f, int nf, double *b, int nb, double dg, double sigma, double memory, uint64_t seed)
{
    draw(f, nf, dg + 0.5 * sigma * sigma, sigma, memory, &seed);
    draw(b, nb, -dg + 0.5 * sigma * sigma, sigma, memory, &seed);
}

int works_begin(void **state)
{
    snprintf(works_forward_file, sizeof works_forward_file, "/tmp/switching-forward-%d", (int)getpid());
    snprintf(works_backward_file, sizeof works_backward_file, "/tmp/switching-backward-%d", (int)getpid());
    return 0;
}

int works_end(void **state)
{
    unlink(works_forward_file);
    unlink(works_backward_file);
    return 0;
}
