/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker suggest-restraint: anchors that hold a ligand to its receptor, from trajectories or from the start
 * coordinates, as a piece of topology.
 */
#include <limits.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/worker/command/commands.h"
#include "daemon/worker/command/line.h"
#include "daemon/worker/offline/input.h"
#include "engine/base/number.h"
#include "engine/base/printable.h"
#include "engine/base/units.h"
#include "engine/io/trajectory.h"
#include "engine/derive/anchors.h"

enum { FRAMES = 1000 };
#define DEGREE (M_PI / 180)

struct restraint_request {
    const char *spec, *ligand, *receptor;
    struct args_list includes;
    int ntrajectories;
    char **trajectories;
    bool json;
};

/* ---- which molecules ---- */

static const char *molecule_name(const struct system *sys, int molecule)
{
    return sys->kinds[sys->molecules[molecule].kind].name;
}

/* The only molecule of a type. */
static int find_molecule(const struct system *sys, const char *what, const char *name, int *out, struct err *e)
{
    int n = 0;
    for (int i = 0; i < sys->nmolecules; i++)
        if (!strcmp(molecule_name(sys, i), name) && !n++)
            *out = i;
    return n == 1
               ? 0
               : err_set(e, ERR_SPEC, "%s %s: the system has %d molecules of this type; expected one", what, name, n);
}

static int find_ligand(const struct restraint_request *q, const struct spec *spec, const struct system *sys, int *out,
                       struct err *e)
{
    const struct alchemy_settings *al = &spec->settings.alchemy;
    const char *name = q->ligand;
    if (!name && al->kind == ALCHEMY_DECOUPLE && al->ndecouple == 1)
        name = al->decouple[0].molecule;
    if (!name)
        return err_set(e, ERR_USAGE, "expected --ligand NAME: alchemy.decouple of %s names no one molecule type",
                       q->spec);
    return find_molecule(sys, "ligand", name, out, e);
}

static int find_receptor(const struct restraint_request *q, const struct system *sys, int ligand, int *out,
                         struct err *e)
{
    *out = -1;
    if (q->receptor)
        return find_molecule(sys, "receptor", q->receptor, out, e);
    for (int i = 0; i < sys->nmolecules; i++)
        if (i != ligand && (*out < 0 || sys->molecules[i].count > sys->molecules[*out].count))
            *out = i;
    return *out >= 0 ? 0 : err_set(e, ERR_SPEC, "%s is the only molecule", molecule_name(sys, ligand));
}

/* ---- frames ---- */

/* A last frame that is not whole is left out: trajectories grow. */
static int read_trajectory(struct anchor_search *s, const struct system *sys, const char *path, struct err *e)
{
    struct trajectory *t;
    struct trajectory_frame f = {0};
    int rc = trajectory_open(&t, path, sys, e);
    if (rc)
        return rc;
    while (!(rc = trajectory_next(t, &f, e)))
        anchors_frame(s, (const double(*)[3])f.x, f.box);
    const bool ends = rc == TRAJECTORY_END || (f.number > 1 && trajectory_is_cut(t));
    trajectory_close(t);
    return ends ? 0 : rc;
}

static int read_frames(const struct restraint_request *q, struct anchor_search *s, const struct system *sys,
                       struct err *e)
{
    int rc = 0;
    for (int i = 0; i < q->ntrajectories && !rc; i++)
        rc = read_trajectory(s, sys, q->trajectories[i], e);
    if (!q->ntrajectories) {
        const struct start start = system_start(sys, 0);
        anchors_frame(s, (const double(*)[3])start.x, start.box);
    }
    return rc;
}

/* ---- what is printed ---- */

static const char *const what[ANCHOR_COORDINATES] = {"distance", "angle", "angle", "dihedral", "dihedral", "dihedral"};

/* From nm and radians to the units of a topology. */
static double shown(int coordinate, double value)
{
    return coordinate ? value / DEGREE : value;
}

static void add_line(struct buf *b, const struct system *sys, const struct anchors *a, int k)
{
    static const char *const section[ANCHOR_COORDINATES] = {"bonds", "angles", NULL, "dihedrals", NULL, NULL};
    static const int function[ANCHOR_COORDINATES] = {6, 1, 1, 2, 2, 2};
    const struct anchor_place *p = &anchor_places[k];
    if (section[k])
        buf_printf(b, "[ %s ]\n", section[k]);
    buf_printf(b, ";");
    for (int i = 0; i < p->natoms; i++) {
        const struct atom *atom = &sys->atoms[a->atom[p->first + i]];
        buf_printf(b, " %s-%d:%s", atom->resname, atom->residue, atom->name);
    }
    buf_printf(b, ": %.*f +- %.*f %s\n", k ? 1 : 3, shown(k, a->mean[k]), k ? 1 : 3, shown(k, a->width[k]),
               k ? "degrees" : "nm");
    for (int i = 0; i < p->natoms; i++)
        buf_printf(b, "%d ", a->atom[p->first + i] + 1);
    buf_printf(b, "%d %.4f 0 %.4f %.4g\n", function[k], shown(k, a->mean[k]), shown(k, a->mean[k]), a->k[k]);
}

static void make_block(struct buf *b, const struct system *sys, const struct anchors *a, int receptor, int ligand)
{
    buf_printf(
        b,
        "; Restraints that hold %s to %s, chosen from %d %s: off in state A, on in state B (bonded-lambdas).\n"
        "; Boresch et al., doi 10.1021/jp0217839; force constants RT / variance, doi 10.1021/acs.jctc.3c00139, within "
        "10\n"
        "; to 100 kcal/mol per A^2 or rad^2. From there to 1 mol/l is %.2f kcal/mol (%.2f kJ/mol).\n",
        molecule_name(sys, ligand), molecule_name(sys, receptor), a->nframes,
        number_word(a->nframes, "frame", "frames"), a->state.release / UNIT_KCAL, a->state.release);
    buf_printf(b, "[ intermolecular_interactions ]\n");
    for (int k = 0; k < ANCHOR_COORDINATES; k++)
        add_line(b, sys, a, k);
}

static json_t *coordinate_json(const struct anchors *a, int k)
{
    json_t *atoms = json_array();
    for (int i = 0; i < anchor_places[k].natoms; i++)
        json_array_append_new(atoms, json_integer(a->atom[anchor_places[k].first + i] + 1));
    return json_pack("{s:s, s:o, s:f, s:f, s:f, s:s}", "kind", what[k], "atoms", atoms, "mean", shown(k, a->mean[k]),
                     "width", shown(k, a->width[k]), "force_constant", a->k[k], "unit",
                     k ? "degrees, kJ/mol/rad^2" : "nm, kJ/mol/nm^2");
}

static void print_suggestion_json(const struct system *sys, const struct anchors *a, int receptor, int ligand,
                                  const char *block)
{
    json_t *coordinates = json_array();
    for (int k = 0; k < ANCHOR_COORDINATES; k++)
        json_array_append_new(coordinates, coordinate_json(a, k));
    json_t *out =
        json_pack("{s:s, s:s, s:i, s:f, s:b, s:o, s:{s:f, s:f}, s:s}", "receptor", molecule_name(sys, receptor),
                  "ligand", molecule_name(sys, ligand), "frames", a->nframes, "contact", a->contact, "replaced",
                  a->replaced, "coordinates", coordinates, "standard_state", "volume_nm3", a->state.volume,
                  "release_kcal_per_mol", a->state.release / UNIT_KCAL, "topology", block);
    json_dumpf(out, stdout, JSON_COMPACT | JSON_REAL_PRECISION(8));
    putchar('\n');
    json_decref(out);
}

static void print(const struct restraint_request *q, const struct system *sys, const struct anchors *a, int receptor,
                  int ligand)
{
    struct buf block = {0};
    make_block(&block, sys, a, receptor, ligand);
    if (a->nframes == 1)
        fprintf(stderr,
                "shoal suggest-restraint: warning: one frame says nothing of what moves; expected a trajectory\n");
    if (a->replaced)
        printable_line(
            stderr,
            "shoal suggest-restraint: warning: an anchor of %s has the same surroundings as another of its atoms: "
            "where the two can change places the free energy lacks RT ln of the number of ways",
            molecule_name(sys, ligand));
    if (q->json)
        print_suggestion_json(sys, a, receptor, ligand, block.data);
    else
        printable_text(stdout, block.data);
    buf_free(&block);
}

static int suggest(const struct restraint_request *q, const struct spec *spec, const struct system *sys, struct err *e)
{
    struct anchors a;
    int receptor = 0, ligand = 0, rc = find_ligand(q, spec, sys, &ligand, e);
    if (!rc)
        rc = find_receptor(q, sys, ligand, &receptor, e);
    if (!rc && receptor == ligand)
        rc = err_set(e, ERR_USAGE, "--receptor %s is the ligand", q->receptor);
    if (rc)
        return rc;
    struct anchor_search *s = anchors_new(sys, receptor, ligand, FRAMES);
    rc = read_frames(q, s, sys, e);
    if (!rc)
        rc = anchors_choose(s, spec->settings.integrator.temperature, &a, e);
    if (!rc)
        print(q, sys, &a, receptor, ligand);
    anchors_free(s);
    return rc;
}

int suggest_restraint_main(int argc, char **argv)
{
    static const struct arg rows[] = {
        ARG(LIST, "include", "DIR", struct restraint_request, includes),
        ARG(TEXT, "ligand", "NAME", struct restraint_request, ligand),
        ARG(TEXT, "receptor", "NAME", struct restraint_request, receptor),
        ARG(FLAG, "json", NULL, struct restraint_request, json),
    };
    static const struct command_line line = {
        "suggest-restraint", "SPEC TRAJECTORY...", 1, INT_MAX, rows, sizeof rows / sizeof *rows, NULL};
    struct restraint_request q = {0};
    struct err e = {0};
    struct spec *spec = NULL;
    struct system sys = {0};
    int words, code;
    if (!command_line_read(&line, &q, argc, argv, &words, &code))
        return code;
    q.spec = argv[1];
    q.trajectories = argv + 2;
    q.ntrajectories = words - 1;
    int rc = input_read(q.spec, q.includes.items, q.includes.n, &spec, &sys, &e);
    if (!rc)
        rc = suggest(&q, spec, &sys, &e);
    system_close(&sys);
    spec_free(spec);
    return rc ? exit_with("suggest-restraint", &e) : EXIT_OK;
}
