/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "tests/lib/two_legs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

const double path[STATES * 2] = {0, 0, 0.5, 0, 1, 0, 1, 0.3, 1, 0.6, 1, 1};
const struct ladder_of_oscillators legs = {.nstates = STATES,
                                           .ncomponents = 2,
                                           .lambda = path,
                                           .a0 = 1,
                                           .c0 = 0,
                                           .da = {2, 6},
                                           .dc = {0.5, -1},
                                           .component = {LAMBDA_COULOMB, LAMBDA_VDW},
                                           .memory = 0.6};

void write_file(const struct ensemble *x, int window, const char *name, const struct buf *text)
{
    char file[128];
    struct err e;
    snprintf(file, sizeof file, "%s/lambda_%02d", x->folder, window);
    mkdir(file, 0755);
    snprintf(file, sizeof file, "%s/lambda_%02d/%s", x->folder, window, name);
    if (buf_write_file(file, text->data, text->len, &e))
        fail_msg("%s", e.msg);
}

void make(struct ensemble *x, int samples)
{
    *x = (struct ensemble){.folder = "/tmp/shoal-test-XXXXXX"};
    assert_non_null(mkdtemp(x->folder));
    for (int k = 0; k < STATES; k++) {
        struct buf b = {0};
        x->lambda[k][LAMBDA_COULOMB] = path[2 * k];
        x->lambda[k][LAMBDA_VDW] = path[2 * k + 1];
        oscillators_file(&b, &legs, k, samples, TEMPERATURE, 100 + (uint64_t)k);
        write_file(x, k, "dhdl.xvg", &b);
        b.len = 0;
        buf_printf(&b, "@ s0 legend \"Potential\"\n");
        for (int i = -5; i < 20; i++) /* the rows before time 0 are of earlier stages */
            buf_printf(&b, "%.4f %.4f\n", 10.0 * i, i < 0 ? 1e6 : k + 0.01 * ((i * 7) % 5 - 2));
        write_file(x, k, "energy.xvg", &b);
        buf_free(&b);
    }
    x->set.alchemy = (struct alchemy_settings){.kind = ALCHEMY_DECOUPLE,
                                               .decouple = {{.molecule = "OSC", .on = {COUPLED_ALL}}},
                                               .ndecouple = 1,
                                               .nwindows = STATES,
                                               .lambda = x->lambda,
                                               .given = {[LAMBDA_COULOMB] = true, [LAMBDA_VDW] = true}};
    x->set.integrator.temperature = TEMPERATURE;
}

void drop(struct ensemble *x)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", x->folder);
    assert_int_equal(system(command), 0);
}

json_t *estimate(const struct ensemble *x, struct buf *text)
{
    struct buf b = {0};
    json_error_t why;
    struct estimate_ensemble q = {.directory = x->folder,
                                  .set = &x->set,
                                  .repeats = 1,
                                  .replicas = x->states,
                                  .about = {.id = "0123", .name = "oscillators", .ns_per_day = 2.5}};
    estimate_ensemble(&q, &b);
    json_t *r = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, &why);
    if (!r)
        fail_msg("line %d: %s", why.line, why.text);
    if (text)
        *text = b;
    else
        buf_free(&b);
    return r;
}

json_t *at(json_t *r, const char *where)
{
    char *copy = strdup(where), *save = NULL;
    for (char *key = strtok_r(copy, ">", &save); key; key = strtok_r(NULL, ">", &save))
        r = json_is_array(r) ? json_array_get(r, (size_t)atoi(key)) : json_object_get(r, key);
    free(copy);
    if (!r)
        fail_msg("no %s", where);
    return r;
}

double number(json_t *r, const char *where)
{
    assert_true(json_is_number(at(r, where)));
    return json_number_value(at(r, where));
}

const char *words(json_t *r, const char *where)
{
    return json_string_value(at(r, where));
}

int count_warnings(json_t *r, const char *part)
{
    int n = 0;
    size_t i;
    json_t *w;
    json_array_foreach (at(r, "warnings"), i, w)
        n += strstr(json_string_value(w), part) != NULL;
    return n;
}

int count_reasons(json_t *verdict, const char *code)
{
    int n = 0;
    size_t i;
    json_t *reason;
    json_array_foreach (at(verdict, "reasons"), i, reason)
        n += !strcmp(words(reason, "code"), code);
    return n;
}
