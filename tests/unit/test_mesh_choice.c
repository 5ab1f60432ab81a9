/* SPDX-License-Identifier: Apache-2.0
 *
 * Which way the mesh goes, with costs that are made up.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/worker/device/mesh_choice.h"

enum {
    BEGIN = 2 * MESH_LOOKS + 2
}; /* looks until both ways are measured, and what graphs take is passed over, if the guess was new */

/* us of a step of a replica: a block's mesh is a chain, that of the card takes the card. */
struct costs {
    double block_alone, block, card_alone, card;
};
static const struct costs solvent = {79, 6.5, 40, 9};

static double cost_of(const struct costs *c, enum pme_form form, unsigned running)
{
    const double alone = (form == PME_BLOCK ? c->block_alone : c->card_alone) / running;
    const double least = form == PME_BLOCK ? c->block : c->card;
    return alone > least ? alone : least;
}

static struct mesh_view view_of(const struct costs *c, const struct mesh_choice *m, unsigned running, unsigned company)
{
    return (struct mesh_view){.running = running,
                              .company = company,
                              .us = cost_of(c, m->form, running),
                              .guess = running < 8 ? PME_CARD : PME_BLOCK};
}

/* Periods in which nothing comes or goes. Returns how many measurements ended; *changes: how often the way was another.
 */
static int play(struct mesh_choice *m, const struct costs *c, unsigned running, unsigned company, int periods,
                int *changes)
{
    int ended = 0;
    *changes = 0;
    for (int k = 0; k < periods; k++) {
        struct mesh_view v = view_of(c, m, running, company);
        v.us *= 1 + 0.01 * (k * 7 % 3 - 1) +
                (k % 4 == 1); /* clocks are never that good, and now and then all are held up */
        const enum pme_form before = m->form;
        mesh_choice_heed(m, &v);
        ended += mesh_choice_look(m, &v);
        *changes += before != PME_AUTO && before != m->form;
    }
    return ended;
}

/* Whatever is guessed, what costs less comes of it, after one try of the other way; then nothing changes any more. */
static void the_cheaper_way(void **state)
{
    static const struct {
        struct costs costs;
        unsigned running;
        enum pme_form way;
        int changes;
    } cases[] = {{{79, 6.5, 40, 9}, 24, PME_BLOCK, 2},
                 {{79, 6.5, 40, 9}, 3, PME_CARD, 2},
                 {{79, 9, 40, 6.5}, 24, PME_CARD, 1},
                 {{40, 6.5, 79, 9}, 3, PME_BLOCK, 1},
                 {{79, 6.5, 40, 6.3}, 24, PME_BLOCK, 2}}; /* three per cent are not worth it */
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct mesh_choice m = {0};
        int changes;
        assert_int_equal(play(&m, &cases[k].costs, cases[k].running, 1, BEGIN, &changes), 1);
        assert_int_equal(changes, cases[k].changes);
        assert_int_equal(m.form, cases[k].way);
        assert_true(m.us[PME_BLOCK] > 0 && m.us[PME_CARD] > 0);
        assert_int_equal(play(&m, &cases[k].costs, cases[k].running, 1, 4 * BEGIN, &changes), 0);
        assert_int_equal(changes, 0);
        assert_false(mesh_choice_open(&m));
    }
}

/* At an ensemble's end few are left: what suits them is measured once, and known when it comes to that again. */
static void many_fewer_are_measured_anew(void **state)
{
    struct mesh_choice m = {0};
    int changes;
    play(&m, &solvent, 24, 1, BEGIN, &changes);
    assert_int_equal(m.form, PME_BLOCK);
    assert_int_equal(play(&m, &solvent, 13, 2, BEGIN, &changes), 0);
    assert_int_equal(m.form, PME_BLOCK); /* not so many fewer */
    assert_int_equal(play(&m, &solvent, 4, 3, BEGIN, &changes), 1);
    assert_int_equal(m.form, PME_CARD);
    assert_int_equal(play(&m, &solvent, 20, 4, BEGIN, &changes) + changes, 1); /* one change, nothing measured */
    assert_int_equal(m.form, PME_BLOCK);
    assert_int_equal(play(&m, &solvent, 5, 5, BEGIN, &changes) + changes, 1);
    assert_int_equal(m.form, PME_CARD);
}

/* Others come in the middle of a try: back to the way before, and all from the beginning. */
static void other_company_ends_a_try(void **state)
{
    for (int period = 1; period < 2 * MESH_LOOKS + 2; period++) {
        struct mesh_choice m = {0};
        int changes;
        assert_int_equal(play(&m, &solvent, 24, 1, period, &changes), 0);
        mesh_choice_disturb(&m, 2);
        assert_int_equal(m.form, PME_BLOCK);
        assert_true(mesh_choice_open(&m));
        assert_int_equal(play(&m, &solvent, 25, 2, BEGIN, &changes), 1);
        assert_int_equal(m.form, PME_BLOCK);
        mesh_choice_disturb(&m, 3); /* nothing is tried any more */
        assert_false(mesh_choice_open(&m));
    }
}

/* What graphs cost that are built after a change is not what the way costs. */
static void building_graphs_is_passed_over(void **state)
{
    const struct costs c = {79, 9, 40, 6.5};
    struct mesh_choice m = {0};
    bool before = false;
    int ended = 0;
    for (int k = 0; k < BEGIN; k++) {
        struct mesh_view v = view_of(&c, &m, 24, 1);
        v.us = m.changed ? 1e-3 : v.us; /* however it looks */
        before |= m.changed;
        mesh_choice_heed(&m, &v);
        ended += mesh_choice_look(&m, &v);
    }
    assert_true(before && ended == 1);
    assert_int_equal(m.form, PME_CARD);
    assert_true(m.us[PME_CARD] > 6 && m.us[PME_BLOCK] > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cheaper_way),
        cmocka_unit_test(many_fewer_are_measured_anew),
        cmocka_unit_test(other_company_ends_a_try),
        cmocka_unit_test(building_graphs_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
