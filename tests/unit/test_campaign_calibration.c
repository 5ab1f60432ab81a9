/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether what a campaign gathers is what it says: networks of known free energies, drawn many times, each from rows of
 * repeats to verdicts. Arguments: repeats, parts, contradictions or intervals.
 */
#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "client/gather/gather.h"
#include "tests/lib/oscillators.h"

enum { NODES = 12, EDGES = 22, NETWORKS = 300, REPEATS = 10 };

/* ---- networks ---- */

/* Free energies in kJ/mol of systems, the first `separate` of which have no edge to the others, and edges between them.
 */
struct truth {
    double value[NODES];
    int ends[EDGES][2], nedges;
    double error[EDGES]; /* of one repeat */
};

static int number_below(int n, uint64_t *seed)
{
    return (int)(n * random_uniform(seed));
}

static bool has_edge(const struct truth *t, int i, int j)
{
    for (int k = 0; k < t->nedges; k++)
        if ((t->ends[k][0] == i && t->ends[k][1] == j) || (t->ends[k][0] == j && t->ends[k][1] == i))
            return true;
    return false;
}

static void add_edge(struct truth *t, int i, int j, uint64_t *seed)
{
    t->error[t->nedges] = 0.4 + 3.2 * random_uniform(seed);
    t->ends[t->nedges][0] = i;
    t->ends[t->nedges++][1] = j;
}

/* A tree of nodes first to end - 1, then edges at random until there are `edges` in all. */
static void connect(struct truth *t, int first, int end, int edges, uint64_t *seed)
{
    for (int i = first + 1; i < end; i++)
        add_edge(t, first + number_below(i - first, seed), i, seed);
    while (t->nedges < edges) {
        int i = first + number_below(end - first, seed), j = first + number_below(end - first, seed);
        if (i != j && !has_edge(t, i, j))
            add_edge(t, i, j, seed);
    }
}

static void draw_values(struct truth *t, uint64_t *seed)
{
    *t = (struct truth){0};
    for (int i = 0; i < NODES; i++)
        t->value[i] = 6 * random_normal(seed);
}

/* ---- what is gathered of them ---- */

struct trial {
    struct campaign_view campaign;
    struct gathered g;
};

static json_t *plan_of(const struct truth *t, const double *experiment)
{
    json_t *systems = json_array(), *edges = json_array();
    char name[24], a[8], b[8];
    for (int i = 0; i < NODES; i++) {
        snprintf(name, sizeof name, "s%d", i);
        json_array_append_new(systems, json_pack("{s:s}", "name", name));
        if (experiment && !isnan(experiment[i]))
            json_object_set_new(json_array_get(systems, (size_t)i), "experiment", json_real(experiment[i]));
    }
    for (int k = 0; k < t->nedges; k++) {
        snprintf(a, sizeof a, "s%d", t->ends[k][0]);
        snprintf(b, sizeof b, "s%d", t->ends[k][1]);
        snprintf(name, sizeof name, "%s_%s", a, b);
        json_array_append_new(edges, json_pack("{s:s,s:s,s:s}", "name", name, "ligand_i", a, "ligand_j", b));
    }
    return json_pack("{s:o,s:o,s:[{s:s,s:s,s:i}]}", "systems", systems, "edges", edges, "legs", "name", "leg", "of",
                     "edge", "sign", 1);
}

/* Repeats of every edge, whose estimated errors are `told` times the true ones and known to 20 degrees of freedom. */
static void draw_rows(struct trial *x, const struct truth *t, int repeats, double told, uint64_t *seed)
{
    json_t *ensembles = json_array();
    x->g.rows = xcalloc((size_t)(t->nedges * repeats), sizeof *x->g.rows);
    for (int k = 0; k < t->nedges; k++)
        for (int r = 0; r < repeats; r++) {
            const int *e = t->ends[k];
            double square = 0;
            for (int i = 0; i < 20; i++)
                square += pow(random_normal(seed), 2) / 20;
            json_t *edge = json_array_get(json_object_get(x->campaign.plan, "edges"), (size_t)k);
            json_t *planned = json_pack("{s:O,s:s,s:s,s:i}", "item", json_object_get(edge, "name"), "leg", "leg", "of",
                                        "edge", "repeat", r + 1);
            json_array_append_new(ensembles, planned);
            x->g.rows[x->g.nrows++] = (struct gathered_ensemble){
                .planned = planned,
                .estimate = {t->value[e[1]] - t->value[e[0]] + t->error[k] * random_normal(seed),
                             told * t->error[k] * sqrt(square)},
                .standard_state = NAN,
                .finite_size = NAN,
                .verdict = VERDICT_CONVERGED};
        }
    json_object_set_new(x->campaign.plan, "ensembles", ensembles);
}

static void trial_open(struct trial *x, const struct truth *t, const double *experiment, int repeats, double told,
                       uint64_t *seed)
{
    *x = (struct trial){.campaign = {.plan = plan_of(t, experiment)}};
    x->g.campaign = &x->campaign;
    draw_rows(x, t, repeats, told, seed);
}

static void trial_close(struct trial *x)
{
    gather_free(&x->g);
    json_decref(x->campaign.plan);
}

/* ---- errors ---- */

struct tally {
    double squares;
    int n, one, two, beyond;
};

static void count(struct tally *t, double z)
{
    t->squares += z * z;
    t->n++;
    t->one += fabs(z) < 1;
    t->two += fabs(z) < 2;
    t->beyond += fabs(z) > 4;
}

static void assert_right(const struct tally *t, const char *what, int repeats, double told)
{
    double rms = sqrt(t->squares / t->n);
    printf(
        "%s, %d repeats, errors told %.2g times: %d numbers, deviation over error %.2f, within one %.2f, within two "
        "%.2f, "
        "beyond four %d\n",
        what, repeats, told, t->n, rms, (double)t->one / t->n, (double)t->two / t->n, t->beyond);
    assert(rms > 0.8 && rms < 1.2);
    assert(t->beyond <= 0.02 * t->n);
}

/* Values of systems less the truth, whose mean is 0 as theirs is. Returns how many networks have converged values. */
static int check_values(int repeats, double told)
{
    struct tally values = {0}, edges = {0};
    int converged = 0;
    for (uint64_t network = 1; network <= NETWORKS; network++) {
        uint64_t seed = network * 1000 + (uint64_t)repeats;
        struct truth t;
        struct trial x;
        double mean = 0;
        draw_values(&t, &seed);
        connect(&t, 0, NODES, EDGES, &seed);
        trial_open(&x, &t, NULL, repeats, told, &seed);
        gather_sum(&x.g);
        for (int i = 0; i < NODES; i++)
            mean += t.value[i] / NODES;
        for (int i = 0; i < NODES && x.g.verdicts[i] == VERDICT_CONVERGED; i++) {
            struct number v = gather_value(&x.g, i);
            count(&values, (v.value - (t.value[i] - mean)) / v.error);
            converged += i == 0;
        }
        for (int k = 0; k < t.nedges; k++) {
            const struct gathered_item *edge = &x.g.items[k];
            if (edge->verdict == VERDICT_CONVERGED)
                count(&edges, (edge->sum.value - t.value[t.ends[k][1]] + t.value[t.ends[k][0]]) / edge->sum.error);
        }
        trial_close(&x);
    }
    if (told == 1) {
        assert_right(&edges, "edges", repeats, told);
        assert_right(&values, "values", repeats, told);
        assert(converged > 0.9 * NETWORKS);
    }
    return converged;
}

static void test_repeats(void)
{
    static const int repeats[] = {1, 2, 3, REPEATS};
    for (size_t i = 0; i < sizeof repeats / sizeof *repeats; i++)
        check_values(repeats[i], 1);
    /* Errors that are too small show, in the loops and between repeats. */
    assert(check_values(1, 0.4) < 0.1 * NETWORKS);
    assert(check_values(3, 0.5) == 0);
}

/* ---- what contradicts the rest ---- */

/* One edge that is off by ten of its errors: it is named, alone or among those that are in the same loops. */
static void test_contradictions(void)
{
    int named = 0, alone = 0, possible = 0;
    for (uint64_t network = 1; network <= NETWORKS; network++) {
        uint64_t seed = network * 1000;
        struct truth t;
        struct trial x;
        draw_values(&t, &seed);
        connect(&t, 0, NODES, EDGES, &seed);
        for (int k = 0; k < EDGES; k++)
            t.error[k] = 1;
        trial_open(&x, &t, NULL, 1, 1, &seed);
        int bad = number_below(EDGES, &seed);
        x.g.rows[bad].estimate.value += 10;
        gather_sum(&x.g);
        bool in_loop = false;
        for (int i = 0; i < x.g.nloops; i++)
            for (int k = 0; k < x.g.loops[i].length; k++)
                in_loop |= x.g.loops[i].edges[k] == bad;
        possible += in_loop;
        for (int i = 0; in_loop && i < x.g.ncontradictions; i++)
            for (int k = 0; k < x.g.contradictions[i].length; k++) {
                named += x.g.contradictions[i].edges[k] == bad;
                alone += x.g.contradictions[i].edges[k] == bad && x.g.contradictions[i].length == 1;
            }
        assert(!in_loop || x.g.verdicts[0] != VERDICT_CONVERGED);
        trial_close(&x);
    }
    printf("edges that are off by ten errors: of %d in loops %d are named, %d of them alone\n", possible, named, alone);
    assert(possible > 0.8 * NETWORKS && named > 0.95 * possible && alone > 0.7 * possible);
}

/* ---- agreement with experiment ---- */

/* Three parts, of eight, three and one system with an experiment: the last takes no part, and the root mean square of
 * the others is that of the errors that were drawn, wherever the parts' zeros lie. */
static void test_parts(void)
{
    const double off = 4;
    double squares = 0, means = 0;
    int covered = 0, apart = 0;
    for (uint64_t network = 1; network <= NETWORKS; network++) {
        uint64_t seed = network * 1000;
        struct truth t;
        struct trial x;
        double experiment[NODES];
        draw_values(&t, &seed);
        connect(&t, 0, 8, 12, &seed);
        connect(&t, 8, 11, 15, &seed);
        for (int k = 0; k < t.nedges; k++)
            t.error[k] = 0.01;
        for (int i = 0; i < NODES; i++)
            experiment[i] = t.value[i] + off * random_normal(&seed);
        for (int i = 8; i < 11; i++)
            t.value[i] += 100; /* nothing in the network knows */
        trial_open(&x, &t, experiment, 1, 1, &seed);
        gather_sum(&x.g);
        const struct comparison *c = &x.g.absolute;
        assert(x.g.network.parts == 2 && c->values == 11 && c->pairs == 8 * 7 / 2 + 3);
        squares += pow(c->rmse.value / off, 2) / NETWORKS;
        means += c->mue.value / off / NETWORKS;
        covered += c->rmse.low < off && off < c->rmse.high;
        apart += x.g.verdicts[NODES - 1] == VERDICT_NONE;
        assert(fabs(c->tau.value) <= 1 && c->tau.low <= c->tau.value && c->tau.value <= c->tau.high);
        trial_close(&x);
    }
    printf("parts: mean square %.3f, mean unsigned error %.3f of those drawn; bounds hold it in %.3f\n", squares,
           means / sqrt(2 / M_PI), (double)covered / NETWORKS);
    assert(apart == NETWORKS);
    assert(fabs(squares - 1) < 0.06 && fabs(means / sqrt(2 / M_PI) - 1) < 0.04);
    assert(covered >= 0.9 * NETWORKS);
}

/* How often the bounds of normal differences hold what they bound. */
static void check_coverage(int n, bool centered)
{
    enum { SETS = 400 };
    const double mue = sqrt(2 / M_PI), tau = 0.5; /* of two normal numbers with correlation sin(pi tau / 2) */
    struct compared x[20];
    int in[3] = {0};
    for (uint64_t set = 1; set <= SETS; set++) {
        uint64_t seed = set * 100 + (uint64_t)n;
        double mean = 0;
        for (int i = 0; i < n; i++) {
            double b = random_normal(&seed), d = random_normal(&seed);
            mean += d / n;
            x[i] = (struct compared){.a = b + d, .b = b, .centered = centered};
        }
        for (int i = 0; i < n && centered; i++)
            x[i].a -= mean;
        struct comparison c = compare_values(x, n);
        in[0] += c.rmse.low <= 1 && 1 <= c.rmse.high;
        in[1] += c.mue.low <= mue && mue <= c.mue.high;
        in[2] += c.tau.low <= tau && tau <= c.tau.high;
    }
    printf("%d values%s: bounds hold RMSE %.3f, MUE %.3f, tau %.3f\n", n, centered ? ", centered" : "",
           in[0] / (double)SETS, in[1] / (double)SETS, in[2] / (double)SETS);
    for (int k = 0; k < 3; k++)
        assert(in[k] >= 0.9 * SETS);
}

static void test_intervals(void)
{
    static const int sizes[] = {6, 8, 10, 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_coverage(sizes[i], false);
        check_coverage(sizes[i], true);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } kinds[] = {{"repeats", test_repeats},
                 {"parts", test_parts},
                 {"contradictions", test_contradictions},
                 {"intervals", test_intervals}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (argc == 2 && !strcmp(argv[1], kinds[i].name)) {
            kinds[i].run();
            return 0;
        }
    fprintf(stderr, "usage: %s repeats|parts|contradictions|intervals\n", argv[0]);
    return 64;
}
