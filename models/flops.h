/* flops.h - what a model is: its parameters, its shape, and the floating-point operations of a training step.
 *
 *     const struct model_shape *m = model_known("llama2-70b");
 *     double per_sample = model_flops(m);              // forward and backward of one sequence
 *     double with_recompute = hardware_flops(m, RECOMPUTE_FULL);
 *
 * A sample is a sequence of `sequence` tokens for a transformer (layers > 0), else an image, a row of clicks ...: then
 * `sample_flops` says what its forward pass costs and the backward pass costs twice that.
 *
 * Formulas, a token of a transformer of N trained parameters, L layers, width h, sequence s, vocabulary V:
 *   6 N' + 12 L h s     forward 2 and backward 4 operations a parameter, and attention's two s x s products a layer; N' are
 *                       the parameters that multiply (the input embedding is looked up unless it is the output layer as
 *                       well). Kaplan et al. (arXiv 2001.08361), section 2.1; PaLM (arXiv 2204.02311), appendix B, which
 *                       counts the whole square of attention, causal or not.
 *   recompute full      one more forward pass of the layers (not of the output layer);
 *   recompute selective one more forward pass of attention's products (FlashAttention does so by itself).
 *   What is no transformer says beside its operations how many bytes a sample moves through memory: convolutions, norms and
 *   embeddings are bound by it. For residual networks it is 31 bytes an activation (Radosavovic et al., arXiv 2003.13678,
 *   count activations: 11.1, 16.2, 22.6 million), which MLPerf's ResNet-50 on 8 A100 gives, and 50 us a layer for launches,
 *   which its run on 64 H100 gives; docs/models.md has what these two numbers predict elsewhere.
 *   megatron_flops      96 B s L h^2 (1 + s/(6h) + V/(16 L h)) an iteration of B sequences, full recompute included:
 *                       Narayanan et al., SC21 (arXiv 2104.04473), equation 3; 12 L h^2 parameters of layers are meant.
 *
 * Pure; floating point in a fixed order, no function of libm.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_FLOPS_H
#define TRAINYARD_MODELS_FLOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum recompute { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL, N_RECOMPUTES };
extern const char *const recompute_names[N_RECOMPUTES];

struct model_shape {
    const char *name;
    double parameters;         /* trained, in all */
    double active_parameters;  /* that one token meets; equal to `parameters` without experts */
    double expert_parameters;  /* of `parameters`, those that expert parallelism divides; 0 without experts */
    uint32_t layers, hidden, heads, kv_heads, vocabulary, sequence, top_k; /* layers 0: no transformer */
    bool tied;                 /* the input embedding is the output layer, too */
    double sample_flops;       /* forward of one sample; of what is no transformer */
    double sample_activations; /* bytes kept of one sample for the backward pass; of what is no transformer, 0: unknown */
    double sample_exchange;    /* bytes of one sample that all ranks exchange forward, and again backward (embeddings that
                                  are spread over the ranks); of what is no transformer */
    double sample_traffic;     /* bytes that one sample moves through the GPU's memory, forward and backward; of what is no
                                  transformer */
    double launch_s;           /* of a step, whatever its samples: kernels that last as long as their launch; of what is no
                                  transformer (those have step_efficiency.h's) */
    const char *source;
};

/* The shipped models; NULL when none is called so. */
const struct model_shape *model_known(const char *name);
const struct model_shape *model_at(size_t i); /* NULL behind the last */

/* Operations of one sample, forward and backward, that the mathematics needs (the numerator of MFU). */
double model_flops(const struct model_shape *);
/* The same with what is computed twice (the numerator of hardware utilisation). */
double hardware_flops(const struct model_shape *, enum recompute);
/* Of `model_flops`, the forward pass: a third. */
double forward_flops(const struct model_shape *);

/* 6 N D: all of a training of D tokens. */
double training_flops(double parameters, double tokens);
double megatron_flops(double batch, double sequence, double layers, double hidden, double vocabulary);
/* 12 L h^2 (1 + 13/(12 h) + (V + s)/(12 L h)): parameters of a GPT; the same paper, equation 2. */
double gpt_parameters(double sequence, double layers, double hidden, double vocabulary);

#endif
