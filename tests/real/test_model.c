/* test_model.c - gradients against finite differences; the same on 1, 2, 4 and 8 ranks within the bound of model.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/philox.h"
#include "base/units.h"
#include "real/worker/model.h"
#include "tests/support/mesh_threads.h"

enum { FEATURES = 7, CLASSES = 4, SAMPLES = 64, MODELS = 3 };

static const struct {
    int hidden[2], n_hidden;
} shapes[MODELS] = {
    {{0},    0},
    {{9},    1},
    {{8, 5}, 2}
};

static float x[SAMPLES * FEATURES];
static uint32_t label[SAMPLES];

static double draw(uint32_t i)
{
    uint32_t out[4];
    philox4x32_10((uint32_t[4]){i, 1, 2, 3}, (uint32_t[2]){1, 2}, out);
    return (double)out[0] * 0x1p-31 - 1;
}

static void make(struct model *m, int shape, float **parameters)
{
    model_make(m, FEATURES, shapes[shape].hidden, shapes[shape].n_hidden, CLASSES);
    *parameters = xcalloc(m->parameters, sizeof **parameters);
    model_start(m, 3, *parameters);
    for (uint32_t i = 0; i < SAMPLES * FEATURES; i++) x[i] = (float)(2 * draw(i));
    for (uint32_t i = 0; i < SAMPLES; i++) label[i] = (uint32_t)((draw(1000 + i) + 1) * CLASSES / 2);
}

/* Glorot-like start: within 1 / sqrt(inputs), biases 0; the number of parameters by hand. */
static void models_have_their_size_and_start(void **state)
{
    (void)state;
    static const size_t parameters[MODELS] = {7 * 4 + 4, 7 * 9 + 9 + 9 * 4 + 4, 7 * 8 + 8 + 8 * 5 + 5 + 5 * 4 + 4};
    for (int k = 0; k < MODELS; k++) {
        struct model m;
        float *p;
        make(&m, k, &p);
        assert_int_equal(m.parameters, parameters[k]);
        int first = 7 * m.width[1];
        for (int i = 0; i < first; i++) assert_true(fabs((double)p[i]) <= 1 / sqrt(7.0) && p[i] != 0);
        for (int i = 0; i < m.width[1]; i++) assert_true(p[first + i] == 0);
        free(p);
    }
}

/* (f(p + h) - f(p - h)) / 2h, error h^2 f''' / 6: with h = 2^-10 and third derivatives of a few units here about 1e-6 a
 * sample; held to 1e-5 a sample. The steps are exact in float as parameters below 1 are multiples of 2^-32 or so. */
static void gradients_are_those_of_finite_differences(void **state)
{
    (void)state;
    for (int k = 0; k < MODELS; k++) {
        struct model m;
        float *p;
        make(&m, k, &p);
        double *g = xcalloc(m.parameters, sizeof *g), *unused = xcalloc(m.parameters, sizeof *unused), largest = 0;
        model_gradient(&m, p, x, label, SAMPLES, g);
        for (size_t i = 0; i < m.parameters; i++) {
            float keep = p[i], up = keep + 0x1p-10f, down = keep - 0x1p-10f;
            p[i] = up;
            double above = model_gradient(&m, p, x, label, SAMPLES, unused);
            p[i] = down;
            double below = model_gradient(&m, p, x, label, SAMPLES, unused);
            p[i] = keep;
            double difference = (above - below) / ((double)up - (double)down);
            if (fabs(difference - g[i]) > 1e-5 * SAMPLES)
                fail_msg("model %d, parameter %zu: %.9g, differences %.9g", k, i, g[i], difference);
            if (fabs(g[i]) > largest) largest = fabs(g[i]);
        }
        assert_true(largest > 1); /* there was something to compare */
        free(p);
        free(g);
        free(unused);
    }
}

/* With all weights 0 each class has 1 / CLASSES: the loss is log 4 a sample. */
static void the_loss_of_no_knowledge_is_the_entropy(void **state)
{
    (void)state;
    struct model m;
    float *p;
    make(&m, 1, &p);
    memset(p, 0, m.parameters * sizeof *p);
    double *g = xcalloc(m.parameters, sizeof *g);
    assert_true(fabs(model_gradient(&m, p, x, label, SAMPLES, g) - SAMPLES * log(4)) < 1e-10);
    free(p);
    free(g);
}

struct parallel {
    const struct model *model;
    const float *parameters;
    float *sum[MESH_THREADS_MAX]; /* the gradient, and the loss behind it */
};

static void one_rank(struct comm *c, void *arg)
{
    struct parallel *a = arg;
    size_t from = (size_t)(SAMPLES / c->size * c->rank), n = (size_t)(SAMPLES / c->size),
           parameters = a->model->parameters;
    double *g = xcalloc(parameters, sizeof *g);
    double loss = model_gradient(a->model, a->parameters, x + from * FEATURES, label + from, n, g);
    for (size_t i = 0; i < parameters; i++) a->sum[c->rank][i] = (float)g[i];
    a->sum[c->rank][parameters] = (float)loss;
    if (!comm_all_reduce(c, a->sum[c->rank], parameters + 1)) a->sum[c->rank][0] = NAN;
    free(g);
}

static void run_parallel(struct parallel *a, int ranks, enum comm_transport transport, enum comm_algorithm algorithm)
{
    for (int r = 0; r < ranks; r++) a->sum[r] = xcalloc(a->model->parameters + 1, sizeof(float));
    mesh_threads(ranks, transport, algorithm, seconds(60), one_rank, a);
}

static void parallel_free(struct parallel *a)
{
    for (int r = 0; r < MESH_THREADS_MAX; r++) free(a->sum[r]), a->sum[r] = NULL;
}

/* The exact sum of an element and the sum of the absolute values, sample by sample. */
static void exact(const struct model *m, const float *p, double *sum, double *absolute)
{
    double *one = xcalloc(m->parameters, sizeof *one);
    memset(sum, 0, (m->parameters + 1) * sizeof *sum);
    memset(absolute, 0, (m->parameters + 1) * sizeof *absolute);
    for (size_t s = 0; s < SAMPLES; s++) {
        memset(one, 0, m->parameters * sizeof *one);
        double loss = model_gradient(m, p, x + s * FEATURES, label + s, 1, one);
        for (size_t i = 0; i < m->parameters; i++) sum[i] += one[i], absolute[i] += fabs(one[i]);
        sum[m->parameters] += loss;
        absolute[m->parameters] += loss;
    }
    free(one);
}

static void ranks_give_the_same_within_the_bound(void **state)
{
    (void)state;
    static const struct {
        enum comm_transport t;
        enum comm_algorithm a;
    } ways[] = {
        {COMM_SHM, COMM_ANY },
        {COMM_TCP, COMM_RING},
        {COMM_TCP, COMM_TREE}
    };
    for (int k = 0; k < MODELS; k++)
        for (size_t w = 0; w < 3; w++)
            for (int ranks = 1; ranks <= 8; ranks *= 2) {
                struct model m;
                float *p;
                make(&m, k, &p);
                struct parallel a = {.model = &m, .parameters = p}, b = a;
                double *sum = xcalloc(m.parameters + 1, sizeof *sum),
                       *absolute = xcalloc(m.parameters + 1, sizeof *absolute);
                exact(&m, p, sum, absolute);
                run_parallel(&a, ranks, ways[w].t, ways[w].a);
                run_parallel(&b, ranks, ways[w].t, ways[w].a);
                double gamma = ranks * 0x1p-24 / (1 - ranks * 0x1p-24);
                for (size_t i = 0; i <= m.parameters; i++)
                    if (!(fabs((double)a.sum[0][i] - sum[i]) <= gamma * absolute[i] * (1 + 1e-3)))
                        fail_msg("model %d, %d ranks, element %zu: %.9g, not %.9g", k, ranks, i, (double)a.sum[0][i],
                                 sum[i]);
                for (int r = 0; r < ranks; r++)
                    assert_memory_equal(a.sum[0], a.sum[r], (m.parameters + 1) * sizeof(float));
                assert_memory_equal(a.sum[0], b.sum[0], (m.parameters + 1) * sizeof(float));
                parallel_free(&a);
                parallel_free(&b);
                free(p);
                free(sum);
                free(absolute);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_have_their_size_and_start),
        cmocka_unit_test(gradients_are_those_of_finite_differences),
        cmocka_unit_test(the_loss_of_no_knowledge_is_the_entropy),
        cmocka_unit_test(ranks_give_the_same_within_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
