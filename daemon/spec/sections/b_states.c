/* SPDX-License-Identifier: Apache-2.0
 *
 * State B of atoms and of their 1-4 pairs beside alchemy.decouple. The latter makes states of the molecules that it
 * names from state A, and leaves all others in state A. GROMACS perturbs both, so a state B that would be left out is
 * an error here.
 */
#include <string.h>

#include "daemon/spec/sections/reader.h"
#include "engine/prepare/alchemy.h"
#include "engine/system/lines.h"

static bool has_lj(const struct system *sys, int type)
{
    for (int other = 0; other < sys->ntypes; other++) {
        const struct lj *lj = &sys->lj[(size_t)type * (size_t)sys->ntypes + (size_t)other];
        if (lj->c6 != 0 || lj->c12 != 0)
            return true;
    }
    return false;
}

/* Whether an atom's state B is its state A with what `on` lacks taken away. */
static bool is_rest(const struct system *sys, const struct atom *a, unsigned on)
{
    const double charge = on & COUPLED_CHARGE ? a->charge[0] : 0;
    return a->charge[1] == charge && (on & COUPLED_VDW ? a->type[1] == a->type[0] : !has_lj(sys, a->type[1]));
}

/* Whether a 1-4 pair of a molecule has something that `on` lacks: an entry leaves 1-4 pairs as they are, states B do
 * not. */
static bool changes_pairs(const struct system *sys, const struct molecule *m, unsigned on)
{
    for (int i = 0; i < sys->npairs14; i++) {
        const struct pair14 *p = &sys->pairs14[i];
        const bool inside = p->atom[0] >= m->first && p->atom[0] < m->first + m->count && !p->fixed;
        if (inside && ((!(on & COUPLED_CHARGE) && p->qq[0] != p->qq[1]) ||
                       (!(on & COUPLED_VDW) && memcmp(&p->lj[0], &p->lj[1], sizeof p->lj[0]) != 0)))
            return true;
    }
    return false;
}

static bool all_rest(const struct system *sys, const struct molecule *m, unsigned on)
{
    for (int i = m->first; i < m->first + m->count; i++)
        if (!is_rest(sys, &sys->atoms[i], on))
            return false;
    return !changes_pairs(sys, m, on);
}

/* An entry for a molecule that is the same as its states B, into text; false: there is none. */
static bool write_entry(const struct system *sys, const struct atom *a, char *text, size_t size)
{
    static const char *const words[] = {"none", "vdw", "q"}; /* in the order of the bits */
    const struct molecule *m = &sys->molecules[a->molecule];
    for (unsigned on = 0; on < COUPLED_ALL; on++)
        if (all_rest(sys, m, on)) {
            snprintf(text, size, "one more entry, {molecule: %s, from: vdw-q, to: %s%s}, which is the same",
                     sys->kinds[m->kind].name, words[on], m->count > 1 ? ", intramolecular: decouple" : "");
            return true;
        }
    return false;
}

static int refuse(const struct spec *s, const struct system *sys, int atom, bool decoupled, struct err *e)
{
    const struct atom *a = &sys->atoms[atom];
    char entry[160];
    const char *expected = "a topology without it, or perturb: b-states with all states B in the topology";
    if (decoupled)
        expected = "a topology without it: grompp, too, takes couple-moltype or states B of a molecule, not both";
    else if (write_entry(sys, a, entry, sizeof entry))
        expected = entry;
    struct buf place = {0};
    system_line(sys, &atom, 1, &place);
    err_set(e, ERR_SPEC,
            "%s:%d: alchemy.decouple: atom %d (%s %s, %s) has a state B of its own (charge %g e and type %s become %g "
            "e and %s), which decouple would leave out; expected %s",
            s->file, s->alchemy_line, atom + 1, a->resname, a->name, place.data, a->charge[0],
            sys->type_names[a->type[0]], a->charge[1], sys->type_names[a->type[1]], expected);
    buf_free(&place);
    return -(int)e->code;
}

static bool atom_differs(const struct atom *a)
{
    return a->charge[0] != a->charge[1] || a->type[0] != a->type[1];
}

/* Of pairs whose own lines have parameters of state B; those of atoms that an entry changes are as its word
 * intramolecular says. */
static int check_pairs(const struct spec *s, const struct system *sys, struct err *e)
{
    for (int i = 0; i < sys->npairs14; i++) {
        const struct pair14 *p = &sys->pairs14[i];
        const struct lj *lj = p->lj;
        if ((lj[0].c6 != lj[1].c6 || lj[0].c12 != lj[1].c12) && !atom_differs(&sys->atoms[p->atom[0]]) &&
            !atom_differs(&sys->atoms[p->atom[1]]))
            return err_set(
                e, ERR_SPEC,
                "%s:%d: alchemy.decouple: the 1-4 pair of atoms %d and %d of %s has other parameters in state B, "
                "which decouple would leave out; expected a topology without them, or perturb: b-states",
                s->file, s->alchemy_line, p->atom[0] + 1, p->atom[1] + 1, s->topology);
    }
    return 0;
}

int spec_check_b_states(const struct spec *s, const struct system *sys, struct err *e)
{
    const struct alchemy_settings *al = &s->settings.alchemy;
    if (al->kind != ALCHEMY_DECOUPLE)
        return 0;
    for (int i = 0; i < sys->natoms; i++) {
        const struct atom *a = &sys->atoms[i];
        const struct decoupled *gone = alchemy_decoupled(sys, al, i);
        if (atom_differs(a) && !(gone && gone->on[0] == COUPLED_ALL && is_rest(sys, a, gone->on[1])))
            return refuse(s, sys, i, gone, e);
    }
    return check_pairs(s, sys, e);
}
