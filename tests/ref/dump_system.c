/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a topology (and coordinates) and prints the system as JSON, parameters in the order in which `gmx dump` prints
 * them: dump_system FOLDER TOPOLOGY [COORDINATES] [-I FOLDER]... [-D NAME[=VALUE]]...
 */
#undef NDEBUG
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/io/io.h"
#include "engine/math/bodies/sites.h"
#include "engine/system/rare_kinds.h"

static double degrees(double radians)
{
    return radians * (180 / M_PI);
}

static void print_numbers(const double *v, int n)
{
    for (int i = 0; i < n; i++)
        printf("%s%.17g", i ? "," : "", v[i]);
}

/* One term: [[atoms], [parameters]], with a comma before all but the first of its kind. */
static void print_term(bool *first, const int *atoms, int natoms, const double *params, int nparams)
{
    printf("%s[[", *first ? "" : ",\n");
    for (int i = 0; i < natoms; i++)
        printf("%s%d", i ? "," : "", atoms[i]);
    printf("],[");
    print_numbers(params, nparams);
    printf("]]");
    *first = false;
}

static void begin(const char *name, bool *first)
{
    printf("],\n\"%s\":[", name);
    *first = true;
}

static void print_two_body(const struct system *s)
{
    bool first;
    begin("BONDS", &first);
    for (int i = 0; i < s->nbonds; i++) {
        const struct bond *b = &s->bonds[i];
        print_term(&first, b->atom, 2, (double[]){b->r0[0], b->k[0], b->r0[1], b->k[1]}, 4);
    }
    begin("CONNBONDS", &first);
    for (int i = 0; i < s->nconnections; i++)
        print_term(&first, s->connections[i].atom, 2, NULL, 0);
    for (int bonded = 1; bonded >= 0; bonded--) {
        begin(bonded ? "CONSTR" : "CONSTRNC", &first);
        for (int i = 0; i < s->nconstraints; i++)
            if (s->constraints[i].bonded == bonded)
                print_term(&first, s->constraints[i].atom, 2, s->constraints[i].r0, 2);
    }
    for (int fixed = 0; fixed < 2; fixed++) {
        begin(fixed ? "LJC14_Q" : "LJ14", &first);
        for (int i = 0; i < s->npairs14; i++) {
            const struct pair14 *p = &s->pairs14[i];
            if (p->fixed == fixed)
                print_term(&first, p->atom, 2,
                           (double[]){p->lj[0].c6, p->lj[0].c12, p->lj[1].c6, p->lj[1].c12, p->qq[0], p->qq[1]}, 6);
        }
    }
    begin("LJC_NB", &first);
    for (int i = 0; i < s->npairs_nb; i++)
        print_term(&first, s->pairs_nb[i].atom, 2,
                   (double[]){s->pairs_nb[i].qq, s->pairs_nb[i].lj.c6, s->pairs_nb[i].lj.c12}, 3);
}

static void print_angles(const struct system *s)
{
    bool first;
    for (int ub = 0; ub < 2; ub++) {
        begin(ub ? "UREY_BRADLEY" : "ANGLES", &first);
        for (int i = 0; i < s->nangles; i++) {
            const struct angle *a = &s->angles[i];
            double p[8] = {degrees(a->theta0[0]), a->k[0], degrees(a->theta0[1]), a->k[1]};
            double q[8] = {p[0], p[1], a->ub_r0[0], a->ub_k[0], p[2], p[3], a->ub_r0[1], a->ub_k[1]};
            if (a->urey_bradley == ub)
                print_term(&first, a->atom, 3, ub ? q : p, ub ? 8 : 4);
        }
    }
}

static void print_dihedrals(const struct system *s)
{
    bool first;
    for (int improper = 0; improper < 2; improper++) {
        begin(improper ? "PIDIHS" : "PDIHS", &first);
        for (int i = 0; i < s->ndihedrals; i++) {
            const struct dihedral *d = &s->dihedrals[i];
            if (d->improper == improper)
                print_term(&first, d->atom, 4,
                           (double[]){degrees(d->phi0[0]), d->k[0], degrees(d->phi0[1]), d->k[1], d->multiplicity}, 5);
        }
    }
    begin("RBDIHS", &first);
    for (int i = 0; i < s->nrb_dihedrals; i++)
        print_term(&first, s->rb_dihedrals[i].atom, 4, s->rb_dihedrals[i].c[0], 12);
    begin("IDIHS", &first);
    for (int i = 0; i < s->nimpropers; i++) {
        const struct improper *d = &s->impropers[i];
        print_term(&first, d->atom, 4, (double[]){degrees(d->xi0[0]), d->k[0], degrees(d->xi0[1]), d->k[1]}, 4);
    }
}

/* What gmx dump calls a rare term. */
static const char *const rare_names[RARE_KINDS] = {
    [RARE_G96_BOND] = "G96BONDS",
    [RARE_MORSE] = "MORSE",
    [RARE_CUBIC_BOND] = "CUBICBONDS",
    [RARE_FENE] = "FENEBONDS",
    [RARE_DISTANCE_RESTRAINT] = "RESTRAINTPOT",
    [RARE_G96_ANGLE] = "G96ANGLES",
    [RARE_QUARTIC_ANGLE] = "QANGLES",
    [RARE_RESTRICTED_ANGLE] = "RESTRANGLES",
    [RARE_BOND_BOND] = "CROSS_BOND_BOND",
    [RARE_BOND_ANGLE] = "CROSS_BOND_ANGLE",
    [RARE_LINEAR_ANGLE] = "LINEAR_ANGLES",
    [RARE_RESTRICTED_DIHEDRAL] = "RESTRDIHS",
    [RARE_DIHEDRAL_RESTRAINT] = "DIHRES",
    [RARE_BENDING_TORSION] = "CBTDIHS",
    [RARE_ANGLE_RESTRAINT] = "ANGRES",
    [RARE_ANGLE_RESTRAINT_Z] = "ANGRESZ",
    [RARE_FLAT_POSITION] = "FBPOSRES",
};

/* Parameters of states A and B on a line of a topology. */
static const int rare_nparams[RARE_KINDS][2] = {
#define RARE(name, section, text, function, atoms, a, b, ...) [RARE_##name] = {a, b},
#include "engine/math/bonded_kinds.def"
};

static int rare_params(const struct rare_term *r, double *out)
{
    const int kind = r->kind, *nparams = rare_nparams[kind];
    const bool vectors = kind == RARE_ANGLE_RESTRAINT || kind == RARE_ANGLE_RESTRAINT_Z; /* one multiplicity, last */
    int n = 0;
    if (kind == RARE_FLAT_POSITION) {
        memcpy(out, (double[]){r->c[0][5], r->c[0][3], r->c[0][4]}, 3 * sizeof *out);
        return 3;
    }
    for (int state = 0; state <= (nparams[1] > 0); state++) {
        const double *c = r->c[state];
        double *to = out + n;
        memcpy(to, c, (size_t)(nparams[0] - vectors) * sizeof *c);
        if (rare_kinds[kind].first == RARE_FIRST_RADIANS)
            to[0] = degrees(c[0]);
        if (kind == RARE_DIHEDRAL_RESTRAINT)
            to[1] = degrees(c[1]);
        if (kind == RARE_G96_BOND)
            to[0] = c[0] * c[0];
        if (kind == RARE_LINEAR_ANGLE)
            to[0] = c[1], to[1] = c[0];
        n += nparams[0] - vectors;
    }
    if (vectors)
        out[n++] = r->c[0][2];
    return n;
}

static void print_rare(const struct system *s)
{
    bool first;
    begin("HARMONIC", &first);
    for (int i = 0; i < s->nharmonics; i++) {
        const struct bond *b = &s->harmonics[i];
        print_term(&first, b->atom, 2, (double[]){b->r0[0], b->k[0], b->r0[1], b->k[1]}, 4);
    }
    begin("CMAP", &first);
    for (int i = 0; i < s->ncmaps; i++)
        print_term(&first, s->cmaps[i].atom, 5, NULL, 0);
    for (int kind = 0; kind < RARE_KINDS; kind++) {
        begin(rare_names[kind], &first);
        for (int i = 0; i < s->nrare; i++) {
            const struct rare_term *r = &s->rare[i];
            double params[12];
            if (r->kind == kind)
                print_term(&first, r->atom, rare_kinds[kind].natoms, params, rare_params(r, params));
        }
    }
}

/* Sites of fixed weights have a name for each number of atoms, and all but the first weight. */
static void print_sites(const struct system *s)
{
    static const struct {
        const char *name;
        int kind, atoms, nparams;
    } forms[] = {{"VSITE1", SITE_LINEAR, 1, 0},  {"VSITE2", SITE_LINEAR, 2, 1}, {"VSITE3", SITE_LINEAR, 3, 2},
                 {"VSITE2FD", SITE_2FD, 2, 1},   {"VSITE3FD", SITE_3FD, 3, 2},  {"VSITE3FAD", SITE_3FAD, 3, 2},
                 {"VSITE3OUT", SITE_3OUT, 3, 3}, {"VSITE4FDN", SITE_4FDN, 4, 3}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        bool first;
        begin(forms[k].name, &first);
        for (int i = 0; i < s->nsites; i++) {
            const struct virtual_site *v = &s->sites[i];
            int atoms[5] = {v->atom};
            if (v->kind != forms[k].kind || (int)v->count != forms[k].atoms)
                continue;
            memcpy(atoms + 1, s->site_atoms + v->first, v->count * sizeof *atoms);
            print_term(&first, atoms, forms[k].atoms + 1,
                       v->kind == SITE_LINEAR ? s->site_weights + v->first + 1 : v->c, forms[k].nparams);
        }
    }
}

static void print_rest(const struct system *s)
{
    bool first;
    print_sites(s);
    begin("SETTLE", &first);
    for (int i = 0; i < s->nsettles; i++) {
        const struct settle *w = &s->settles[i];
        print_term(&first, (int[]){w->oxygen, w->hydrogen[0], w->hydrogen[1]}, 3, (double[]){w->r_oh, w->r_hh}, 2);
    }
    begin("POSRES", &first);
    for (int i = 0; i < s->nposition_restraints; i++)
        print_term(&first, &s->position_restraints[i].atom, 1, s->position_restraints[i].k[0], 6);
    begin("exclusions", &first);
    for (int i = 0; i < s->natoms; i++) {
        printf("%s[", i ? "," : "");
        for (int k = s->exclusion_start[i]; k < s->exclusion_start[i + 1]; k++)
            printf("%s%d", k > s->exclusion_start[i] ? "," : "", s->exclusion[k]);
        printf("]");
    }
    begin("lj", &first);
    for (int i = 0; i < s->ntypes * s->ntypes; i++)
        printf("%s[%.17g,%.17g]", i ? "," : "", s->lj[i].c6, s->lj[i].c12);
    begin("x", &first);
    for (int i = 0; i < s->natoms && s->x; i++) {
        printf("%s[", i ? "," : "");
        print_numbers(s->x[i], 3);
        printf("]");
    }
}

static void print_system(const struct system *s)
{
    printf("{\"ntypes\":%d,\"box\":[", s->ntypes);
    print_numbers(s->box, 3);
    printf("],\n\"molecules\":[");
    for (int i = 0; i < s->nmolecules; i++)
        printf("%s[\"%s\",%d,%d]", i ? "," : "", s->kinds[s->molecules[i].kind].name, s->molecules[i].first,
               s->molecules[i].count);
    printf("],\n\"atoms\":[");
    for (int i = 0; i < s->natoms; i++) {
        const struct atom *a = &s->atoms[i];
        printf("%s[\"%s\",\"%s\",%d,%d,%d,", i ? ",\n" : "", a->name, a->resname, a->residue, a->type[0], a->type[1]);
        print_numbers((double[]){a->mass[0], a->charge[0], a->mass[1], a->charge[1]}, 4);
        printf("]");
    }
    print_two_body(s);
    print_angles(s);
    print_dihedrals(s);
    print_rare(s);
    print_rest(s);
    printf("]}\n");
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: dump_system FOLDER TOPOLOGY [COORDINATES] [-I FOLDER]... [-D NAME[=VALUE]]...\n");
        return 2;
    }
    struct source *src = source_disk_new(argv[1], false);
    const char *coordinates = NULL;
    struct define defines[16];
    int ndefines = 0;
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "-I") && i + 1 < argc) {
            source_disk_include(src, argv[++i]);
        } else if (!strcmp(argv[i], "-D") && i + 1 < argc && ndefines < 16) {
            char *value = strchr(argv[++i], '=');
            if (value)
                *value++ = '\0';
            defines[ndefines++] = (struct define){argv[i], value};
        } else {
            coordinates = argv[i];
        }
    }
    struct system s = {0};
    struct err e = {0};
    int rc = top_read(&s, src, argv[2], defines, ndefines, &e);
    if (!rc && coordinates)
        rc = gro_read(&s, src, coordinates, &e);
    if (rc)
        fprintf(stderr, "%s\n", e.msg);
    else
        print_system(&s);
    system_close(&s);
    source_free(src);
    return rc ? 1 : 0;
}
