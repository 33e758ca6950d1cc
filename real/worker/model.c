/* model.c - forward, backward, update.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/model.h"

#include <assert.h>
#include <stdlib.h>

#include "base/detmath.h"
#include "base/mem.h"
#include "base/philox.h"

void model_make(struct model *m, int features, const int *hidden, int n_hidden, int classes)
{
    assert(n_hidden >= 0 && n_hidden < MODEL_LAYERS_MAX);
    *m = (struct model){.depth = n_hidden + 1};
    m->width[0] = features;
    for (int i = 0; i < n_hidden; i++) m->width[i + 1] = hidden[i];
    m->width[m->depth] = classes;
    for (int l = 0; l < m->depth; l++) m->parameters += ((size_t)m->width[l] + 1) * (size_t)m->width[l + 1];
}

void model_start(const struct model *m, uint64_t seed, float *parameters)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    size_t at = 0;
    for (int l = 0; l < m->depth; l++) {
        size_t weights = (size_t)m->width[l] * (size_t)m->width[l + 1];
        double scale = 1 / det_sqrt(m->width[l]);
        for (size_t i = 0; i < weights; i++, at++) {
            uint32_t draw[4];
            philox4x32_10((uint32_t[4]){(uint32_t)at, (uint32_t)(at >> 32), 0, 0}, key, draw);
            parameters[at] = (float)(scale * (draw[0] * 0x1p-31 - 1));
        }
        for (int i = 0; i < m->width[l + 1]; i++) parameters[at++] = 0;
    }
}

/* From (1 - e) / (1 + e) with e = exp(-2 |x|): no overflow. */
static double tanh_of(double x)
{
    double e = det_exp(x < 0 ? 2 * x : -2 * x), t = (1 - e) / (1 + e);
    return x < 0 ? -t : t;
}

static void layer_forward(const float *w, int inputs, int outputs, const double *in, double *out)
{
    const float *b = w + (size_t)inputs * (size_t)outputs;
    for (int j = 0; j < outputs; j++) out[j] = (double)b[j];
    for (int i = 0; i < inputs; i++) {
        const float *row = w + (size_t)i * (size_t)outputs;
        for (int j = 0; j < outputs; j++) out[j] += in[i] * (double)row[j];
    }
}

/* Softmax in place; gives the loss -log p[label], as log(sum exp) - x[label] with the largest taken off. */
static double softmax_loss(double *x, int n, uint32_t label)
{
    double most = x[0], sum = 0, of_label = x[label];
    for (int j = 1; j < n; j++) most = x[j] > most ? x[j] : most;
    for (int j = 0; j < n; j++) sum += x[j] = det_exp(x[j] - most);
    for (int j = 0; j < n; j++) x[j] /= sum;
    return det_log(sum) - (of_label - most);
}

static void layer_backward(const float *w, int inputs, int outputs, const double *in, const double *delta,
                           double *gradient, double *delta_in)
{
    for (int i = 0; i < inputs; i++) {
        double *g = gradient + (size_t)i * (size_t)outputs;
        for (int j = 0; j < outputs; j++) g[j] += in[i] * delta[j];
    }
    double *gb = gradient + (size_t)inputs * (size_t)outputs;
    for (int j = 0; j < outputs; j++) gb[j] += delta[j];
    if (!delta_in) return;
    for (int i = 0; i < inputs; i++) {
        const float *row = w + (size_t)i * (size_t)outputs;
        double sum = 0;
        for (int j = 0; j < outputs; j++) sum += (double)row[j] * delta[j];
        delta_in[i] = sum * (1 - in[i] * in[i]);
    }
}

/* Where a sample's values lie: activations of each layer one behind the other, and two rows for deltas. */
struct scratch {
    double *activation[MODEL_LAYERS_MAX + 1], *delta[2], *all;
};

static void scratch_make(const struct model *m, struct scratch *s)
{
    size_t sum = 0, most = 0, at = 0;
    for (int l = 0; l <= m->depth; l++) {
        sum += (size_t)m->width[l];
        if ((size_t)m->width[l] > most) most = (size_t)m->width[l];
    }
    s->all = xcalloc(sum + 2 * most, sizeof *s->all);
    for (int l = 0; l <= m->depth; at += (size_t)m->width[l++]) s->activation[l] = s->all + at;
    s->delta[0] = s->all + sum;
    s->delta[1] = s->delta[0] + most;
}

static double sample(const struct model *m, const float *parameters, const float *x, uint32_t label, double *gradient,
                     struct scratch *s)
{
    size_t at[MODEL_LAYERS_MAX + 1] = {0};
    for (int i = 0; i < m->width[0]; i++) s->activation[0][i] = (double)x[i];
    for (int l = 0; l < m->depth; l++) {
        layer_forward(parameters + at[l], m->width[l], m->width[l + 1], s->activation[l], s->activation[l + 1]);
        at[l + 1] = at[l] + ((size_t)m->width[l] + 1) * (size_t)m->width[l + 1];
        for (int j = 0; l + 1 < m->depth && j < m->width[l + 1]; j++)
            s->activation[l + 1][j] = tanh_of(s->activation[l + 1][j]);
    }
    double *delta = s->activation[m->depth], loss = softmax_loss(delta, m->width[m->depth], label);
    delta[label] -= 1;
    for (int l = m->depth - 1; l >= 0; l--) {
        double *before = l > 0 ? s->delta[l % 2] : NULL;
        layer_backward(parameters + at[l], m->width[l], m->width[l + 1], s->activation[l], delta, gradient + at[l],
                       before);
        delta = before;
    }
    return loss;
}

double model_gradient(const struct model *m, const float *parameters, const float *x, const uint32_t *label, size_t n,
                      double *gradient)
{
    struct scratch s;
    double loss = 0;
    scratch_make(m, &s);
    for (size_t i = 0; i < n; i++) loss += sample(m, parameters, x + i * (size_t)m->width[0], label[i], gradient, &s);
    free(s.all);
    return loss;
}

void model_update(const struct model *m, float *parameters, float *momenta, const float *mean_gradient, double rate,
                  double momentum)
{
    for (size_t i = 0; i < m->parameters; i++) {
        momenta[i] = (float)(momentum * (double)momenta[i] + (double)mean_gradient[i]);
        parameters[i] = (float)((double)parameters[i] - rate * (double)momenta[i]);
    }
}
