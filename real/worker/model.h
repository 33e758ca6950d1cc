/* model.h - classifiers that learn: softmax (logistic) regression and the multi-layer perceptron.
 *
 * A model is a chain of layers of `width[0]` inputs to `width[depth]` classes; between layers stands tanh, at the end
 * softmax with cross-entropy. With no hidden layer it is logistic regression. Parameters are one array of floats, layer by
 * layer, W[in][out] and then b[out]; so are gradients and momenta.
 *
 *     struct model m;
 *     model_make(&m, features, (int[]){ 64 }, 1, classes);
 *     float *p = xcalloc(m.parameters, sizeof *p);
 *     model_start(&m, seed, p);                                    // uniform in +- 1 / sqrt(inputs of the layer)
 *     loss += model_gradient(&m, p, x, label, n, gradient);        // adds the sums over n samples
 *
 * Gradient (p: softmax output, e: one-hot label, a: activations, d: delta): d_last = p - e; dW = a d^T, db = d;
 * d_before = (W d) (1 - a^2). Checked against central differences in tests/real/test_model.c.
 *
 * Rounding. Parameters are floats; arithmetic, and the sums over samples, are in double (u_d = 2^-53), which each rank
 * rounds once to float (u = 2^-24) for the all-reduce. With q ranks, g_i the gradient of sample i and g(k) = k u / (1 - k u),
 * what comes out differs from the sum of the g_i by at most
 *
 *     g(q) sum_i |g_i|        (one rounding a rank, q - 1 additions: comm.h)
 *
 * for each element, sums in double being exact beside that (samples x u_d < u / 1000 up to 500,000 samples a rank). So two
 * numbers of ranks q and s differ at most by (g(q) + g(s)) sum_i |g_i|; the loss, which is summed alike, by the same with
 * |loss_i|. At fixed ranks all is done in one order: the same bits each time, and with base/detmath's functions on each CPU.
 *
 * Cost: about 6 parameters multiply-adds a sample; one scratch of 2 x the widths, allocated in the call.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_MODEL_H
#define TRAINYARD_REAL_WORKER_MODEL_H

#include <stddef.h>
#include <stdint.h>

#define MODEL_LAYERS_MAX 16
#define MODEL_WIDTH_MAX  65536

struct model {
    int depth;                       /* layers of weights */
    int width[MODEL_LAYERS_MAX + 1]; /* inputs, hidden ..., classes */
    size_t parameters;
};

/* Widths from 1 to MODEL_WIDTH_MAX, fewer than MODEL_LAYERS_MAX hidden ones. */
void model_make(struct model *, int features, const int *hidden, int n_hidden, int classes);

void model_start(const struct model *, uint64_t seed, float *parameters);

/* x: n rows of width[0]; label < width[depth]. Adds to gradient[parameters]; gives the sum of the losses. */
double model_gradient(const struct model *, const float *parameters, const float *x, const uint32_t *label, size_t n,
                      double *gradient);

/* Of stochastic gradient descent with momentum: m = momentum m + g, p = p - rate m. */
void model_update(const struct model *, float *parameters, float *momenta, const float *mean_gradient, double rate,
                  double momentum);

#endif
