/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal import: a spec from a .mdp file, and a list of what in it has no place there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/command.h"
#include "client/command/handlers.h"
#include "client/import/internal.h"
#include "client/programs/worker.h"
#include "client/specs/spec_file.h"
#include "engine/base/path.h"
#include "engine/base/printable.h"

/* What GROMACS calls its files when it is not told. */
static const char topology_name[] = "topol.top", coordinates_name[] = "conf.gro", index_name[] = "index.ndx";

/* ---- names ---- */

/* A name for the ensemble from the file's: "runs/prod 1.mdp" is prod-1. */
static void add_name(struct buf *out, const char *path)
{
    const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path, *dot = strrchr(from, '.');
    char *word = xstrdup(from);
    if (dot && dot > from)
        word[dot - from] = '\0';
    buf_printf(out, "name: ");
    spec_name(out, word, "imported");
    buf_printf(out, "\n");
    free(word);
}

/* ---- the spec ---- */

/* -DNAME -DNAME=value */
static void add_defines(struct mdp *m, struct buf *out)
{
    const char *value = mdp_value(m, "define");
    char *list = xstrdup(value ? value : ""), *rest = list;
    int n = 0;
    for (char *word; (word = strsep(&rest, " \t"));) {
        if (!*word)
            continue;
        if (strncmp(word, "-D", 2) || !word[2]) {
            mdp_say(m, "define", MDP_REFUSED, "expected -DNAME or -DNAME=value, read %s", word);
            break;
        }
        buf_printf(out, n++ ? ", " : "  defines: [");
        spec_text(out, word + 2);
    }
    buf_printf(out, n ? "]\n" : "");
    free(list);
}

/* [ distance_restraints ] of a topology act as GROMACS computes them with disre = simple and its defaults. */
static void check_distances(struct mdp *m)
{
    if (mdp_is(m, "disre", "no", "no"))
        return;
    if (!mdp_is(m, "disre", "no", "simple"))
        mdp_say(m, "disre", MDP_REFUSED, "expected no or simple: there is no ensemble of systems to average over");
    if (mdp_number(m, "disre-fc", 1000) != 1000)
        mdp_say(m, "disre-fc", MDP_REFUSED,
                "expected 1000: factors on the lines of the topology can be as many times "
                "larger");
    if (mdp_number(m, "disre-tau", 0) != 0)
        mdp_say(m, "disre-tau", MDP_REFUSED,
                "expected 0: restraints are of distances, not of their averages over time");
    if (!mdp_is(m, "disre-weighting", "conservative", "conservative"))
        mdp_say(m, "disre-weighting", MDP_REFUSED,
                "expected conservative: forces that all pairs of a restraint share equally belong to no energy");
}

static int write_spec(const struct client *c, struct mdp *m, struct buf *out, struct err *e)
{
    const bool pulls = import_pulls(m);
    const struct {
        const char *key, *path;
    } files[] = {{"topology", c->topology ? c->topology : topology_name},
                 {"coordinates", c->coordinates ? c->coordinates : coordinates_name},
                 {"reference", c->reference},
                 {"index", pulls ? c->index : NULL}};
    add_name(out, m->file);
    buf_printf(out, "system:\n");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct buf name = {0};
        int rc = files[i].path ? spec_path(files[i].path, c->output, &name, e) : 0;
        if (rc)
            return rc;
        if (files[i].path) {
            buf_printf(out, "  %s: ", files[i].key);
            spec_text(out, name.data);
            buf_printf(out, "\n");
        }
        buf_free(&name);
    }
    if (pulls && !c->index)
        buf_printf(out, "  index: %s\n", index_name);
    add_defines(m, out);
    import_nonbonded(m, out);
    import_alchemy(m, out);
    import_pull(m, out);
    if (pulls && !c->index)
        mdp_say(m, "pull-ngroups", MDP_CHANGED, "groups are those of %s beside the spec; --index names another file",
                index_name);
    import_dynamics(m, out);
    check_distances(m);
    return 0;
}

/* ---- the list ---- */

static bool is_told(const struct mdp_option *o)
{
    return o->fate != MDP_KEPT && o->fate != MDP_IDLE;
}

static bool is_bad(const struct mdp_option *o)
{
    return o->fate == MDP_REFUSED || o->fate == MDP_UNKNOWN;
}

/* On standard error what is not taken over as it is; with `bad`, only what keeps a spec from being written. */
static void say_options(const struct client *c, const struct mdp *m, bool bad)
{
    for (int i = 0; i < m->n; i++) {
        struct buf line = {0};
        if (!(bad ? is_bad(&m->options[i]) : is_told(&m->options[i])))
            continue;
        mdp_line(m, &m->options[i], &line);
        if (bad)
            printable_line(stderr, "shoal %s: %s", c->command->name, line.data);
        else
            client_say(c, "%s", line.data);
        buf_free(&line);
    }
}

/* The same as comments of the spec. */
static void add_comments(const struct mdp *m, struct buf *out)
{
    buf_printf(out, "# Made from %s. What of it has no place here, or means something else:\n", m->file);
    for (int i = 0; i < m->n; i++) {
        struct buf line = {0};
        if (!is_told(&m->options[i]))
            continue;
        mdp_line(m, &m->options[i], &line);
        buf_printf(out, "#   ");
        printable_add(out, line.data, "");
        buf_printf(out, "\n");
        buf_free(&line);
    }
}

/* What became of every option; spec: NULL where none was made. */
static void print_json(const struct mdp *m, const char *spec)
{
    json_t *list = json_array();
    for (int i = 0; i < m->n; i++) {
        const struct mdp_option *o = &m->options[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:s, s:s?}", "name", o->name, "value", o->value, "line",
                                              o->line, "fate", mdp_fate_names[o->fate], "why", o->why));
    }
    json_t *answer = json_pack("{s:s?, s:o}", "spec", spec, "options", list);
    client_print(answer);
    json_decref(answer);
}

/* The topology tells whether the molecule that goes is all that changes. The worker reads it and says what is
 * wrong. An energy is what takes it least time. */
static void check_topology(const struct client *c)
{
    char *words[] = {"shoal-worker", "energy", (char *)c->output, NULL};
    struct buf energies = {0};
    ask_worker(c, words, &energies);
    buf_free(&energies);
}

static int finish(const struct client *c, const struct mdp *m, const struct buf *spec, struct err *e)
{
    int rc = spec_file_write(c, spec, e);
    if (rc)
        return rc;
    if (c->json)
        print_json(m, spec->data);
    say_options(c, m, false);
    if (c->output)
        client_say(c, "%s is written; `shoal validate %s` checks it", c->output, c->output);
    if (c->output && import_perturbs(m) && mdp_value(m, "couple-moltype"))
        check_topology(c);
    return 0;
}

int import_main(struct client *c, int argc, char **argv)
{
    struct mdp m = {0};
    struct err e = {0};
    struct buf body = {0}, spec = {0};
    int rc = mdp_read(&m, argv[0], &e);
    if (!rc)
        rc = write_spec(c, &m, &body, &e);
    bool refused = !rc && mdp_refused(&m);
    if (refused && c->json)
        print_json(&m, NULL);
    if (refused)
        say_options(c, &m, true);
    if (!rc && !refused) {
        add_comments(&m, &spec);
        buf_add(&spec, body.data, body.len);
        rc = finish(c, &m, &spec, &e);
    }
    buf_free(&body);
    buf_free(&spec);
    mdp_close(&m);
    return rc ? client_fail(c, &e) : refused ? EXIT_BAD_SPEC : EXIT_OK;
}
