/* SPDX-License-Identifier: Apache-2.0
 *
 * What was used is added up in the database, and outlives ensembles.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/store_play.h"

/* "UID ID CAMPAIGN DEVICE DAY DEVICE_MS STEPS; " for each row, - what is null. */
static void assert_accounts(struct running *r, enum account_by by, int64_t since, int64_t uid, const char *expected)
{
    json_t *rows, *row;
    size_t i;
    struct buf text = {0};
    buf_add(&text, "", 0);
    assert_int_equal(store_read_accounts(r->store, by, since, uid, &rows, &err), 0);
    json_array_foreach (rows, i, row) {
        static const char *const keys[] = {"uid", "id", "campaign", "device", "day", "device_ms", "steps"};
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const json_t *value = json_object_get(row, keys[k]);
            if (json_is_string(value))
                buf_printf(&text, "%s", json_string_value(value));
            else if (json_is_number(value))
                buf_printf(&text, "%g", json_number_value(value));
            else
                buf_printf(&text, "-");
            buf_printf(&text, "%s", k + 1 < sizeof keys / sizeof *keys ? " " : "; ");
        }
    }
    assert_string_equal(text.data, expected);
    buf_free(&text);
    json_decref(rows);
}

static void put(struct running *r, const struct ensemble *e, const char *device, int64_t day, double ms, int64_t steps)
{
    store_add_account(r->store, e, device, day, &(struct sched_use){.device_ms = ms, .steps = steps, .ps = 0.5});
}

static void use_is_summed_up(void **state)
{
    struct running r;
    struct ensemble *a = make_ensemble(1, "aaaa", NULL), *b = make_ensemble(2, "bbbb", NULL);
    a->owner = 1000;
    b->owner = 1001;
    ensemble_add_label(a, "campaign", "net");
    ensemble_add_label(b, "pilot", "net");
    run_store(&r);
    put_ensemble(r.store, a);
    put_ensemble(r.store, b);
    put(&r, a, "cuda:0", 10, 3, 100);
    put(&r, a, "cuda:0", 10, 4, 50);
    put(&r, a, "cuda:1", 11, 5, 7);
    put(&r, b, "cuda:0", 11, 20, 1);
    commit(&r);
    assert_accounts(&r, ACCOUNT_USER, 0, -1, "1001 - - - - 20 1; 1000 - - - - 12 157; ");
    assert_accounts(&r, ACCOUNT_USER, 0, 1000, "1000 - - - - 12 157; ");
    assert_accounts(&r, ACCOUNT_USER, 11, 1000, "1000 - - - - 5 7; ");
    assert_accounts(&r, ACCOUNT_ENSEMBLE, 0, -1, "1001 bbbb net - - 20 1; 1000 aaaa net - - 12 157; ");
    assert_accounts(&r, ACCOUNT_CAMPAIGN, 0, -1, "1001 - net - - 20 1; 1000 - net - - 12 157; ");
    assert_accounts(&r, ACCOUNT_DEVICE, 0, -1, "- - - cuda:0 - 27 151; - - - cuda:1 - 5 7; ");
    assert_accounts(&r, ACCOUNT_DAY, 0, -1, "- - - - 10 7 150; - - - - 11 25 8; ");
    assert_accounts(&r, ACCOUNT_DAY, 0, 77, "");
    end_store(&r);
    load_again(&r);
    assert_true(loaded[0]->device_ms == 12 && loaded[1]->device_ms == 20);
    store_remove_ensemble(r.store, a);
    store_trim_accounts(r.store, 11);
    commit(&r);
    wait_swept(r.store);
    assert_accounts(&r, ACCOUNT_ENSEMBLE, 0, -1, "1001 bbbb net - - 20 1; 1000 aaaa net - - 5 7; ");
    end_store(&r);
    for (int i = 0; i < nloaded; i++)
        ensemble_free(loaded[i]);
    ensemble_free(a);
    ensemble_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(use_is_summed_up, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
