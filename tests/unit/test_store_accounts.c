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

/* "UID ID CAMPAIGN DEVICE DAY DEVICE_MS STEPS JOULES; " for each row, - what is null. */
static void assert_accounts(struct running *r, enum account_by by, int64_t since, int64_t uid, const char *expected)
{
    json_t *rows, *row;
    size_t i;
    struct buf text = {0};
    buf_add(&text, "", 0);
    assert_int_equal(store_read_accounts(r->store, by, since, uid, &rows, &err), 0);
    json_array_foreach (rows, i, row) {
        static const char *const keys[] = {"uid", "id", "campaign", "device", "day", "device_ms", "steps", "joules"};
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

/* joules 0: none are known. */
static void put(struct running *r, const struct ensemble *e, const char *device, int64_t day, double ms, int64_t steps,
                double joules)
{
    const struct sched_use use = {.device_ms = ms, .steps = steps, .ps = 0.5, .joules = joules};
    store_add_account(r->store, e, device, day, &use);
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
    put(&r, a, "cuda:0", 10, 3, 100, 2.5);
    put(&r, a, "cuda:0", 10, 4, 50, 0);
    put(&r, a, "cuda:1", 11, 5, 7, 0);
    put(&r, b, "cuda:0", 11, 20, 1, 4);
    put(&r, b, "cuda:0", 11, 0, 0, 8);
    commit(&r);
    assert_accounts(&r, ACCOUNT_USER, 0, -1, "1001 - - - - 20 1 12; 1000 - - - - 12 157 2.5; ");
    assert_accounts(&r, ACCOUNT_USER, 0, 1000, "1000 - - - - 12 157 2.5; ");
    assert_accounts(&r, ACCOUNT_USER, 11, 1000, "1000 - - - - 5 7 -; ");
    assert_accounts(&r, ACCOUNT_ENSEMBLE, 0, -1, "1001 bbbb net - - 20 1 12; 1000 aaaa net - - 12 157 2.5; ");
    assert_accounts(&r, ACCOUNT_CAMPAIGN, 0, -1, "1001 - net - - 20 1 12; 1000 - net - - 12 157 2.5; ");
    assert_accounts(&r, ACCOUNT_DEVICE, 0, -1, "- - - cuda:0 - 27 151 14.5; - - - cuda:1 - 5 7 -; ");
    assert_accounts(&r, ACCOUNT_DAY, 0, -1, "- - - - 10 7 150 2.5; - - - - 11 25 8 12; ");
    assert_accounts(&r, ACCOUNT_DAY, 0, 77, "");
    end_store(&r);
    load_again(&r);
    assert_true(loaded[0]->device_ms == 12 && loaded[1]->device_ms == 20);
    store_remove_ensemble(r.store, a);
    store_trim_accounts(r.store, 11);
    commit(&r);
    wait_swept(r.store);
    assert_accounts(&r, ACCOUNT_ENSEMBLE, 0, -1, "1001 bbbb net - - 20 1 12; 1000 aaaa net - - 5 7 -; ");
    end_store(&r);
    for (int i = 0; i < nloaded; i++)
        ensemble_free(loaded[i]);
    ensemble_free(a);
    ensemble_free(b);
}

/* What an older program counted has no energy, and may have more of it from now on. */
static void older_accounts_go_on(void **state)
{
    struct running r;
    struct ensemble *a = make_ensemble(1, "aaaa", NULL);
    a->owner = 1000;
    run_store(&r);
    put_ensemble(r.store, a);
    put(&r, a, "cuda:0", 10, 3, 100, 0);
    put(&r, a, "cuda:0", 11, 3, 100, 0);
    commit(&r);
    end_store(&r);
    make_database(
        "ALTER TABLE account DROP COLUMN joules; ALTER TABLE ensemble DROP COLUMN walkers; "
        "ALTER TABLE ensemble DROP COLUMN switching; ALTER TABLE ensemble DROP COLUMN pilot; "
        "ALTER TABLE ensemble DROP COLUMN placed; ALTER TABLE replica DROP COLUMN retired; "
        "ALTER TABLE ensemble DROP COLUMN doublings; PRAGMA user_version = 19");
    run_store(&r);
    assert_accounts(&r, ACCOUNT_DAY, 0, -1, "- - - - 10 3 100 -; - - - - 11 3 100 -; ");
    put(&r, a, "cuda:0", 11, 1, 10, 1.5);
    commit(&r);
    assert_accounts(&r, ACCOUNT_DAY, 0, -1, "- - - - 10 3 100 -; - - - - 11 4 110 1.5; ");
    end_store(&r);
    ensemble_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(use_is_summed_up, setup, teardown),
        cmocka_unit_test_setup_teardown(older_accounts_go_on, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
