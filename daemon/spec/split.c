/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec/split.h"

#include <string.h>

#include "daemon/spec/document/node.h"
#include "daemon/spec/edit.h"
#include "engine/derive/split.h"

static const char word[] = "auto";

int spec_choose_split(struct spec *s, const struct system *sys, struct err *e)
{
    struct ewald_charges c;
    if (s->split != SPLIT_AUTO)
        return 0;
    int rc = spec_check_box(s, sys, e);
    if (rc)
        return rc;
    ewald_charges_of(&c, sys, &s->settings.alchemy);
    split_choose(&s->settings.nonbonded, &c);
    s->split = SPLIT_GIVEN;
    return 0;
}

/* ---- the text ---- */

/* Where the word is, in characters, and whether it is; at: of its first quotation mark, if it has some. */
static bool find_word(const char *file, const char *text, size_t len, size_t *at, struct err *e)
{
    struct node *root = NULL;
    if (node_parse(&root, file, text, len, e))
        return false;
    const struct node *split = node_get(node_get(root, "nonbonded"), "split");
    const bool found = split && split->kind == NODE_SCALAR;
    *at = found ? split->at : 0;
    node_free(root);
    return found;
}

static void put_split(const struct nonbonded_settings *nb, struct buf *out)
{
    buf_printf(out, "{cutoff: %.15g nm, grid: [%d, %d, %d], order: %d, tolerance: %.15g}", nb->coulomb_cutoff,
               nb->pme_grid[0], nb->pme_grid[1], nb->pme_grid[2], nb->pme_order, nb->ewald_tolerance);
}

int spec_write_split(const struct spec *s, const char *text, size_t len, struct buf *out, struct err *e)
{
    size_t at = 0;
    const bool found = find_word(s->file, text, len, &at, e);
    if (e->code)
        return -(int)e->code;
    struct buf split = {0};
    put_split(&s->settings.nonbonded, &split);
    const bool put = found && edit_word(out, text, len, at, word, split.data);
    buf_free(&split);
    return put ? 0
               : err_set(e, ERR_SPEC, "%s:%d: nonbonded.split: expected auto in one word in one place", s->file,
                         s->nonbonded_line);
}

/* ---- what is known of it ---- */

struct split_errors spec_split_errors(const struct spec *s, const struct system *sys)
{
    struct ewald_charges c;
    ewald_charges_of(&c, sys, &s->settings.alchemy);
    return (struct split_errors){ewald_error_of(&c, &s->settings.nonbonded), ewald_error_of(&c, &s->asked)};
}

json_t *spec_split_json(const struct spec *s, const struct system *sys)
{
    const struct nonbonded_settings *nb = &s->settings.nonbonded;
    if (s->split == SPLIT_NONE)
        return NULL;
    const struct split_errors errors = spec_split_errors(s, sys);
    return json_pack("{s:f, s:[i,i,i], s:i, s:f, s:f, s:f}", "cutoff_nm", nb->coulomb_cutoff, "grid", nb->pme_grid[0],
                     nb->pme_grid[1], nb->pme_grid[2], "order", nb->pme_order, "tolerance", nb->ewald_tolerance,
                     "force_error", errors.chosen.total, "force_error_asked", errors.asked.total);
}

void spec_split_sentence(const struct spec *s, const struct system *sys, struct buf *out)
{
    const struct split_errors errors = spec_split_errors(s, sys);
    buf_printf(
        out,
        "estimated error of forces %.3g kJ/mol/nm (rms); %.3g with the cut-off of %.6g nm, order %d and tolerance "
        "%.3g asked for",
        errors.chosen.total, errors.asked.total, s->asked.coulomb_cutoff, s->asked.pme_order, s->asked.ewald_tolerance);
}
