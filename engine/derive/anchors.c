/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/derive/anchors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/buf.h"
#include "engine/base/units.h"
#include "engine/math/potentials/bonded.h"
#include "engine/math/box.h"
#include "engine/system/rare_kinds.h"

#define HEAVY 3.5        /* u: hydrogens are lighter; those with much repartitioned mass are known by name */
#define FARTHEST 1.2     /* nm, of a-A in the first frame */
#define CONTACT 0.35     /* nm, of donor and acceptor */
#define CONTACT_PART 0.5 /* of the frames, from which on it counts */
#define DEGREE (M_PI / 180)
#define OUTER_LEAST (45 * DEGREE) /* of the angles at a and A, from 0 and from 180 degrees */
#define INNER_LEAST (30 * DEGREE) /* of those at b and B */
#define TURNS (60 * DEGREE)       /* width of a dihedral that does */
#define STRAIGHT 10               /* RT that bending a restrained angle straight takes at the least */
#define LENGTH_FLOOR 0.005        /* nm and rad: widths below say more of the number of frames than of the complex */
#define ANGLE_FLOOR DEGREE

enum { PAIRS = 60, BONDS = 8, ROUNDS = 64 };

static const double least_k[ANCHOR_COORDINATES] = {10 * UNIT_KCAL * 100, 10 * UNIT_KCAL, 10 * UNIT_KCAL,
                                                   10 * UNIT_KCAL,       10 * UNIT_KCAL, 10 * UNIT_KCAL};
static const double most_k[ANCHOR_COORDINATES] = {100 * UNIT_KCAL * 100, 100 * UNIT_KCAL, 100 * UNIT_KCAL,
                                                  100 * UNIT_KCAL,       100 * UNIT_KCAL, 100 * UNIT_KCAL};
const struct anchor_place anchor_places[ANCHOR_COORDINATES] = {{2, 2}, {1, 3}, {2, 3}, {0, 4}, {1, 4}, {2, 4}};

/* One of the two molecules: its atoms, counted from its first one, and their bonds. */
struct side {
    int first, n;
    int *nbonds, (*bonds)[BONDS];
    bool *heavy, *polar, *replaced;
};

struct anchor_search {
    const struct system *sys;
    struct side side[2]; /* receptor, ligand */
    int room, n;
    int seen, stride; /* frames that came; every how many of them are kept */
    float (*x)[3];    /* [room][atoms of both] */
    double (*box)[BOX_SIZE];
};

struct pair {
    int a, b;
    double score, contact;
};

/* ---- the molecules ---- */

static int inside(const struct side *s, int atom)
{
    return atom >= s->first && atom < s->first + s->n ? atom - s->first : -1;
}

static void add_side_bond(struct side *s, const int atom[2])
{
    const int i = inside(s, atom[0]), j = inside(s, atom[1]);
    if (i < 0 || j < 0 || s->nbonds[i] == BONDS || s->nbonds[j] == BONDS)
        return;
    s->bonds[i][s->nbonds[i]++] = j;
    s->bonds[j][s->nbonds[j]++] = i;
}

static void add_bonds(struct side *s, const struct system *sys)
{
    for (int i = 0; i < sys->nbonds; i++)
        add_side_bond(s, sys->bonds[i].atom);
    for (int i = 0; i < sys->nconstraints; i++)
        if (sys->constraints[i].bonded)
            add_side_bond(s, sys->constraints[i].atom);
    for (int i = 0; i < sys->nconnections; i++)
        add_side_bond(s, sys->connections[i].atom);
    for (int i = 0; i < sys->nrare; i++)
        if (rare_is_bond(sys->rare[i].kind))
            add_side_bond(s, sys->rare[i].atom);
}

/* A name from its first letter on, which is that of the element. */
static const char *letter(const char *name)
{
    return name + strspn(name, "0123456789");
}

/* Nitrogen, oxygen, fluorine or sulfur with a lone pair or a hydrogen to share. */
static bool is_polar(const char *name)
{
    name = letter(name);
    return *name && strchr("NOFS", *name) && strcmp(name, "NA") != 0 && strcmp(name, "Na") != 0;
}

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t mixed_hash(uint64_t h, const void *data, size_t len)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * 0x100000001b3;
    return h ^ h >> 29;
}

/* Atoms that look alike from all sides: of one kind, with neighbours that look alike (Morgan's refinement of the
 * graph). */
static void find_replaced(struct side *s, const struct system *sys)
{
    uint64_t *look = xcalloc(2 * (size_t)s->n, sizeof *look), *next = look + s->n;
    for (int i = 0; i < s->n; i++) {
        const struct atom *a = &sys->atoms[s->first + i];
        look[i] = mixed_hash(0xcbf29ce484222325, &a->type[0], sizeof a->type[0]);
        look[i] = mixed_hash(look[i], &a->mass[0], sizeof a->mass[0]);
    }
    for (int round = 0; round < ROUNDS && round < s->n; round++) {
        for (int i = 0; i < s->n; i++) {
            uint64_t around[BONDS];
            for (int k = 0; k < s->nbonds[i]; k++)
                around[k] = look[s->bonds[i][k]];
            qsort(around, (size_t)s->nbonds[i], sizeof *around, compare_hashes);
            next[i] = mixed_hash(mixed_hash(0xcbf29ce484222325, &look[i], sizeof look[i]), around,
                                 (size_t)s->nbonds[i] * sizeof *around);
        }
        memcpy(look, next, (size_t)s->n * sizeof *look);
    }
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n && !s->replaced[i]; j++)
            s->replaced[i] = i != j && look[i] == look[j];
    free(look);
}

static void open_side(struct side *s, const struct system *sys, int molecule)
{
    const struct molecule *m = &sys->molecules[molecule];
    const size_t n = (size_t)m->count;
    *s = (struct side){.first = m->first,
                       .n = m->count,
                       .nbonds = xcalloc(n, sizeof *s->nbonds),
                       .bonds = xcalloc(n, sizeof *s->bonds),
                       .heavy = xcalloc(n, sizeof *s->heavy),
                       .polar = xcalloc(n, sizeof *s->polar),
                       .replaced = xcalloc(n, sizeof *s->replaced)};
    add_bonds(s, sys);
    for (int i = 0; i < s->n; i++) {
        const struct atom *a = &sys->atoms[s->first + i];
        s->heavy[i] = a->mass[0] > HEAVY && *letter(a->name) != 'H';
        s->polar[i] = s->heavy[i] && is_polar(a->name);
    }
}

struct anchor_search *anchors_new(const struct system *sys, int receptor, int ligand, int frames)
{
    struct anchor_search *s = xcalloc(1, sizeof *s);
    s->sys = sys;
    s->room = frames;
    s->stride = 1;
    open_side(&s->side[0], sys, receptor);
    open_side(&s->side[1], sys, ligand);
    find_replaced(&s->side[1], sys);
    s->x = xcalloc((size_t)frames * (size_t)(s->side[0].n + s->side[1].n), sizeof *s->x);
    s->box = xcalloc((size_t)frames, sizeof *s->box);
    return s;
}

void anchors_free(struct anchor_search *s)
{
    for (int k = 0; s && k < 2; k++) {
        free(s->side[k].nbonds);
        free(s->side[k].bonds);
        free(s->side[k].heavy);
        free(s->side[k].polar);
        free(s->side[k].replaced);
    }
    if (s) {
        free(s->x);
        free(s->box);
    }
    free(s);
}

/* ---- frames ---- */

static const float *place_at(const struct anchor_search *s, int frame, int side, int i)
{
    const size_t all = (size_t)(s->side[0].n + s->side[1].n), within = (size_t)(side ? s->side[0].n + i : i);
    return s->x[(size_t)frame * all + within];
}

/* Every second one goes. */
static void halve(struct anchor_search *s)
{
    const size_t frame = (size_t)(s->side[0].n + s->side[1].n);
    s->n = (s->n + 1) / 2;
    s->stride *= 2;
    for (size_t f = 1; f < (size_t)s->n; f++) {
        memcpy(s->x[f * frame], s->x[2 * f * frame], frame * sizeof *s->x);
        memcpy(s->box[f], s->box[2 * f], sizeof *s->box);
    }
}

void anchors_frame(struct anchor_search *s, const double (*x)[3], const double box[BOX_SIZE])
{
    if (s->seen++ % s->stride)
        return;
    if (s->n == s->room) {
        halve(s);
        if ((s->seen - 1) % s->stride)
            return;
    }
    memcpy(s->box[s->n], box, sizeof s->box[s->n]);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < s->side[side].n; i++) {
            float *to = (float *)(uintptr_t)place_at(s, s->n, side, i);
            for (int d = 0; d < 3; d++)
                to[d] = (float)x[s->side[side].first + i][d];
        }
    s->n++;
}

/* From one atom to another, shortest image. */
static void apart(const struct anchor_search *s, int frame, const float *from, const float *to, double out[3])
{
    for (int d = 0; d < 3; d++)
        out[d] = (double)to[d] - (double)from[d];
    box_shortest(s->box[frame], out);
}

/* Mean and width of a coordinate over the frames. */
struct anchor_spread {
    double mean, width;
};

static struct anchor_spread spread_of(const double *value, int n, bool turns)
{
    double sum = 0, sine = 0, square = 0;
    for (int i = 0; i < n; i++) {
        sum += turns ? cos(value[i]) : value[i];
        sine += sin(value[i]);
    }
    struct anchor_spread s = {.mean = turns ? atan2(sine, sum) : sum / n};
    for (int i = 0; i < n; i++) {
        double d = turns ? remainder(value[i] - s.mean, 2 * M_PI) : value[i] - s.mean;
        square += d * d;
    }
    s.width = sqrt(square / n);
    return s;
}

/* ---- pairs ---- */

static double distance_in(const struct anchor_search *s, int frame, int a, int b)
{
    double d[3];
    apart(s, frame, place_at(s, frame, 0, a), place_at(s, frame, 1, b), d);
    return sqrt(vec_dot(d, d));
}

/* The more its distance fluctuates the worse; of one frame, the farther it is from that of a contact. */
static void rate(const struct anchor_search *s, struct pair *p, double *value)
{
    int near = 0;
    for (int f = 0; f < s->n; f++) {
        value[f] = distance_in(s, f, p->a, p->b);
        near += value[f] < CONTACT;
    }
    const struct anchor_spread r = spread_of(value, s->n, false);
    const bool polar = s->side[0].polar[p->a] && s->side[1].polar[p->b];
    p->contact = polar ? (double)near / s->n : 0;
    p->score = s->n > 1 ? log(fmax(r.width, LENGTH_FLOOR)) : fabs(r.mean - CONTACT);
    p->score -= p->contact > CONTACT_PART;
}

/* Keeps the PAIRS best, in order. */
static void keep(struct pair *best, int *n, const struct pair *p)
{
    int at = *n;
    if (at == PAIRS && best[at - 1].score <= p->score)
        return;
    if (at == PAIRS)
        at--;
    else
        (*n)++;
    for (; at > 0 && best[at - 1].score > p->score; at--)
        best[at] = best[at - 1];
    best[at] = *p;
}

static int find_pairs(const struct anchor_search *s, bool replaced, struct pair *best)
{
    const struct side *receptor = &s->side[0], *ligand = &s->side[1];
    double *value = xcalloc((size_t)s->n, sizeof *value);
    int n = 0;
    for (int a = 0; a < receptor->n; a++)
        for (int b = 0; b < ligand->n && receptor->heavy[a]; b++) {
            struct pair p = {.a = a, .b = b};
            if (!ligand->heavy[b] || (ligand->replaced[b] && !replaced) || distance_in(s, 0, a, b) > FARTHEST)
                continue;
            rate(s, &p, value);
            keep(best, &n, &p);
        }
    free(value);
    return n;
}

/* ---- sets ---- */

struct choice {
    const struct anchor_search *s;
    double rt;
    double *value[ANCHOR_COORDINATES + 2]; /* [frames]; the last two: angles at b and at B */
    int own[6];                            /* c b a A B C, counted within their molecules */
    double contact, score;
    bool found;
    struct anchors *best;
};

static void measure_fluctuations(const struct choice *c, int frame)
{
    double step[5][3], back[3], unused[2][3], slopes[4][3];
    for (int i = 0; i < 5; i++)
        apart(c->s, frame, place_at(c->s, frame, i > 2, c->own[i]), place_at(c->s, frame, i + 1 > 2, c->own[i + 1]),
              step[i]);
    c->value[0][frame] = sqrt(vec_dot(step[2], step[2]));
    static const int corner[4] = {1, 2, 0, 3}; /* between steps corner and corner + 1: at a, A, b, B */
    static const int slot[4] = {1, 2, ANCHOR_COORDINATES, ANCHOR_COORDINATES + 1};
    for (int k = 0; k < 4; k++) {
        for (int d = 0; d < 3; d++)
            back[d] = -step[corner[k]][d];
        c->value[slot[k]][frame] = bonded_angle(back, step[corner[k] + 1], unused[0], unused[1]);
    }
    for (int k = 0; k < 3; k++) { /* as bonded_dihedral takes them: i - j, k - j, k - l */
        double ij[3], kl[3];
        for (int d = 0; d < 3; d++) {
            ij[d] = -step[k][d];
            kl[d] = -step[k + 2][d];
        }
        c->value[3 + k][frame] = turn_angle(bonded_dihedral(ij, step[k + 1], kl, slopes));
    }
}

static bool far_from_straight(double angle, double least)
{
    return angle >= least && angle <= M_PI - least;
}

/* Takes the set that own[] says where it is better than the best so far. */
static void consider(struct choice *c)
{
    struct anchors a = {.contact = c->contact, .nframes = c->s->n};
    double score = c->contact > CONTACT_PART ? -1 : 0;
    for (int f = 0; f < c->s->n; f++)
        measure_fluctuations(c, f);
    for (int k = 0; k < ANCHOR_COORDINATES + 2; k++) {
        const struct anchor_spread r = spread_of(c->value[k], c->s->n, k >= 3 && k < ANCHOR_COORDINATES);
        if (k >= ANCHOR_COORDINATES) {
            if (!far_from_straight(r.mean, INNER_LEAST))
                return;
            continue;
        }
        const double width = fmax(r.width, k ? ANGLE_FLOOR : LENGTH_FLOOR);
        a.mean[k] = r.mean;
        a.width[k] = r.width;
        a.k[k] = c->s->n > 1 ? fmin(fmax(c->rt / (width * width), least_k[k]), most_k[k]) : least_k[k];
        score += log(width);
        if (k == 1 || k == 2) {
            const double bend = fmin(r.mean, M_PI - r.mean);
            if (!far_from_straight(r.mean, OUTER_LEAST) || 0.5 * a.k[k] * bend * bend < STRAIGHT * c->rt)
                return;
            score -= log(sin(r.mean));
        }
        if (k >= 3 && r.width > TURNS)
            return;
    }
    if (c->found && score >= c->score)
        return;
    for (int i = 0; i < 6; i++)
        a.atom[i] = c->s->side[i > 2].first + c->own[i];
    c->found = true;
    c->score = score;
    *c->best = a;
}

/* Along bonds from `from`, heavy atoms alone, the second no way back: fills two[0] and two[1]; the index-th way, false:
 * there are not so many. */
static bool way(const struct side *s, int from, bool replaced, int index, int two[2])
{
    for (int i = 0; i < s->nbonds[from]; i++) {
        const int next = s->bonds[from][i];
        if (!s->heavy[next] || (s->replaced[next] && !replaced))
            continue;
        for (int k = 0; k < s->nbonds[next]; k++) {
            const int last = s->bonds[next][k];
            if (last == from || !s->heavy[last] || (s->replaced[last] && !replaced) || index-- > 0)
                continue;
            two[0] = next;
            two[1] = last;
            return true;
        }
    }
    return false;
}

static void consider_pair(struct choice *c, const struct pair *p, bool replaced)
{
    int near[2], far[2];
    c->contact = p->contact;
    c->own[2] = p->a;
    c->own[3] = p->b;
    for (int i = 0; way(&c->s->side[0], p->a, true, i, near); i++)
        for (int k = 0; way(&c->s->side[1], p->b, replaced, k, far); k++) {
            c->own[1] = near[0];
            c->own[0] = near[1];
            c->own[4] = far[0];
            c->own[5] = far[1];
            consider(c);
        }
}

static bool search(struct choice *c, bool replaced)
{
    struct pair best[PAIRS];
    const int n = find_pairs(c->s, replaced, best);
    for (int i = 0; i < n; i++)
        consider_pair(c, &best[i], replaced);
    c->best->replaced = replaced;
    return c->found;
}

/* The restraints and nothing else of the system. */
static int release(const struct anchor_search *s, double temperature, struct anchors *a, struct err *e)
{
    struct bond bond = {{a->atom[2], a->atom[3]}, {a->mean[0], a->mean[0]}, {a->k[0], a->k[0]}};
    struct angle angles[2] = {0};
    struct improper dihedrals[3] = {0};
    for (int k = 0; k < 2; k++) {
        memcpy(angles[k].atom, a->atom + anchor_places[1 + k].first, sizeof angles[k].atom);
        angles[k].theta0[0] = a->mean[1 + k];
        angles[k].k[0] = a->k[1 + k];
    }
    for (int k = 0; k < 3; k++) {
        memcpy(dihedrals[k].atom, a->atom + anchor_places[3 + k].first, sizeof dihedrals[k].atom);
        dihedrals[k].xi0[0] = a->mean[3 + k];
        dihedrals[k].k[0] = a->k[3 + k];
    }
    const struct system held = {.natoms = s->sys->natoms,
                                .atoms = s->sys->atoms,
                                .nharmonics = 1,
                                .harmonics = &bond,
                                .nangles = 2,
                                .angles = angles,
                                .nimpropers = 3,
                                .impropers = dihedrals};
    const struct settings set = {.integrator = {.temperature = temperature}, .alchemy = {.nwindows = 1}};
    int rc = standard_state_of(&held, &set, 0, &a->state, e);
    return rc < 0 ? rc : 0;
}

int anchors_choose(struct anchor_search *s, double temperature, struct anchors *out, struct err *e)
{
    struct choice c = {.s = s, .rt = UNIT_R * temperature, .best = out};
    double *value = xcalloc((ANCHOR_COORDINATES + 2) * (size_t)s->n, sizeof *value);
    *out = (struct anchors){0};
    for (int k = 0; k < ANCHOR_COORDINATES + 2; k++)
        c.value[k] = value + k * s->n;
    bool found = search(&c, false) || search(&c, true);
    free(value);
    if (!found)
        return err_set(e, ERR_UNSUPPORTED,
                       "no three heavy atoms in a row of each molecule, within %g nm, keep angles away from 0 and 180 "
                       "degrees and dihedrals that do not turn; does the ligand stay where it binds?",
                       FARTHEST);
    return release(s, temperature, out, e);
}
