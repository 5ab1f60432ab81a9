/* SPDX-License-Identifier: Apache-2.0
 *
 * What administrators decide is stored.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/lib/store_play.h"

static void list_hold(void *arg, const char *what, const struct hold *hold)
{
    buf_printf(arg, "%s by %s, %s, %lld; ", what, hold->by, hold->reason ? hold->reason : "-", (long long)hold->since);
}

static void assert_holds(struct running *r, const char *expected)
{
    struct buf list = {0};
    buf_add(&list, "", 0);
    assert_int_equal(store_load_holds(r->store, list_hold, &list, &err), 0);
    assert_string_equal(list.data, expected);
    buf_free(&list);
}

static void holds_are_stored_until_they_end(void **state)
{
    struct running r;
    run_store(&r);
    store_put_hold(r.store, "cuda:1", &(struct hold){.by = "ann", .since = 7});
    store_put_hold(r.store, STORE_ADMISSION, &(struct hold){.by = "bob", .reason = "noon", .since = 8});
    store_put_hold(r.store, "cuda:1", &(struct hold){.by = "ann", .reason = "the fan", .since = 9});
    commit(&r);
    end_store(&r);
    run_store(&r);
    assert_holds(&r, "admission by bob, noon, 8; cuda:1 by ann, the fan, 9; ");
    store_end_hold(r.store, STORE_ADMISSION);
    store_end_hold(r.store, "cuda:7"); /* there is none */
    commit(&r);
    assert_holds(&r, "cuda:1 by ann, the fan, 9; ");
    end_store(&r);
}

static void who_paused_what_is_urgent_and_where_it_was_moved_is_stored(void **state)
{
    struct running r;
    struct ensemble *e = make_ensemble(1, "abcd", NULL);
    run_store(&r);
    e->priority = PRIORITY_URGENT;
    put_ensemble(r.store, e);
    commit(&r);
    end_store(&r);
    load_again(&r);
    assert_int_equal(loaded[0]->priority, PRIORITY_URGENT);
    assert_null(loaded[0]->moved_to);
    ensemble_free(loaded[0]);
    e->priority = -1;
    ensemble_string(&e->paused_by, "ann");
    ensemble_string(&e->moved_to, "cuda:1");
    store_save_ensemble(r.store, e);
    commit(&r);
    end_store(&r);
    load_again(&r);
    assert_int_equal(nloaded, 1);
    assert_string_equal(loaded[0]->paused_by, "ann");
    assert_int_equal(loaded[0]->priority, -1);
    assert_string_equal(loaded[0]->moved_to, "cuda:1");
    end_store(&r);
    ensemble_free(loaded[0]);
    ensemble_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(holds_are_stored_until_they_end, setup, teardown),
        cmocka_unit_test_setup_teardown(who_paused_what_is_urgent_and_where_it_was_moved_is_stored, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
