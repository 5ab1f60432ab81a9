/* SPDX-License-Identifier: Apache-2.0
 *
 * What the first replica of a model needs for X-ray scattering, by the CUDA program run on the CPU (tests/lib/emulate):
 * wherever it fails nothing is left of it, lack of memory is that, and the device that is lost says so; nobody waits
 * for the device.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/run/sim_parts.h"
#include "tests/lib/dev_fault.h"
#include "tests/lib/emulate/emulate.h"
#include "tests/lib/toy.h"

enum { ATOMS = 4 };

struct saxs_test {
    struct dev *inner, *dev;
    struct system *sys;
    struct settings set;
    struct model *model;
};

static void observe_all(struct system *s)
{
    struct observable *o = s->observables = xcalloc(1, sizeof *o);
    s->nobservables = 1;
    *o = (struct observable){.kind = OBSERVE_SAXS, .name = xstrdup("saxs"), .every = 1, .ngroups = 1};
    o->saxs = (struct saxs_choice){.spacing = 0.1, .supersampling = 1, .max = 10, .bin = 1, .padding = 1, .order = 4};
    o->group[0] = (struct atom_group){.label = xstrdup("all"), .atom = xcalloc(ATOMS, sizeof(int)), .n = ATOMS};
    for (int i = 0; i < ATOMS; i++)
        o->group[0].atom[i] = i;
}

static struct saxs_test opened(void)
{
    struct saxs_test t = {.sys = toy_system(ATOMS, 2.5), .set = toy_settings()};
    struct err e = {0};
    observe_all(t.sys);
    if (emulate_open(&t.inner, "cpu:1", NULL, *cuda_program.kernels, &e))
        fail_msg("%s", e.msg);
    t.dev = dev_fault_new(t.inner);
    if (model_new(&t.model, t.dev, t.sys, &t.set, &e))
        fail_msg("%s", e.msg);
    return t;
}

static void closed(struct saxs_test *t)
{
    model_free(t->model);
    assert_int_equal(dev_fault_alive(t->dev), 0);
    dev_close(t->dev);
    dev_close(t->inner);
    toy_system_free(t->sys);
}

static struct dev_ops own;
static int allocations; /* that there is memory for */

static int alloc_some(struct dev *d, struct lane *lane, enum dev_memory kind, size_t bytes, void **device, void **host,
                      struct err *e)
{
    if (allocations-- > 0)
        return own.alloc(d, lane, kind, bytes, device, host, e);
    err_set(e, ERR_MEMORY, "0 of 9 are free");
    return DEV_FULL;
}

static void test_no_memory(void **state)
{
    struct saxs_test t = opened();
    const struct dev_ops *before = t.dev->ops;
    const uint32_t alive = dev_fault_alive(t.dev);
    struct dev_ops ops = own = *before;
    struct sim *s = NULL;
    ops.alloc = alloc_some;
    t.dev->ops = &ops;
    int lacking = 0;
    for (int n = 0; !s; n++) {
        struct err e = {0};
        allocations = n;
        int rc = sim_new(&s, t.model, 0, 0, &e);
        lacking += rc && strstr(e.msg, "for a transform: 0 of 9 are free");
        if (rc && (rc != -ERR_MEMORY || dev_fault_alive(t.dev) != alive))
            fail_msg("%d allocations: %d, %s; %u alive", n, rc, e.msg, dev_fault_alive(t.dev));
    }
    t.dev->ops = before;
    assert_int_equal(lacking, 1);
    sim_free(s);
    closed(&t);
}

/* Call by call, until one comes through. */
static void test_lost(void **state)
{
    struct sim *s = NULL;
    for (uint64_t call = 0; !s; call++) {
        struct saxs_test t = opened();
        struct err e = {0};
        dev_fault_lose(t.dev, call);
        int rc = sim_new(&s, t.model, 0, 0, &e);
        assert_int_equal(rc ? 1 : 0, dev_lost(t.dev));
        if (rc && (rc != -ERR_DEVICE || !strstr(e.msg, t.dev->lost.msg)))
            fail_msg("call %d: %d, %s", (int)call, rc, e.msg);
        sim_free(s);
        closed(&t);
    }
}

/* Of the device's calls those that are there for whoever does not wait. */
static void test_nobody_waits(void **state)
{
    struct saxs_test t = opened();
    const struct dev_ops *all = t.dev->ops;
    const struct dev_ops few = {.alloc = all->alloc, .free = all->free, .run = all->run};
    struct lane *lane;
    struct err e = {0};
    assert_int_equal(all->lane_new(t.dev, &lane, &e), 0);
    t.dev->ops = &few;
    if (cuda_program.observe_open(t.model, lane, &e))
        fail_msg("%s", e.msg);
    t.dev->ops = all;
    all->lane_free(t.dev, lane);
    closed(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_memory), cmocka_unit_test(test_lost),
                                       cmocka_unit_test(test_nobody_waits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
