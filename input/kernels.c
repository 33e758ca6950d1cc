/* kernels.c - "kernels" of a cluster: what a program's kernels reach, as `trainyard calibrate step -o` measures it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "input/raw.h"

static bool positive(struct diag *d, const struct value *at, const char *const *keys, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i]) || (x[i] > 0 && x[i] < 1e9)) continue;
        value_error(d, place_of(at, keys[i]), "must be above 0");
        return false;
    }
    return true;
}

static bool check_family(struct diag *d, void *object)
{
    static const char *const keys[] = {"gemm", "attention", "fp8"};
    const struct raw_kernel_family *f = object;
    const char *names[64];
    size_t n = 0;
    for (size_t i = 0; gpu_spec_at(i) && n < 64; i++) {
        if (f->family && !strcmp(gpu_spec_at(i)->family, f->family))
            return positive(d, f->at, keys, (double[]){f->gemm, f->attention, f->fp8}, 3);
        if (n == 0 || strcmp(names[n - 1], gpu_spec_at(i)->family)) names[n++] = gpu_spec_at(i)->family;
    }
    if (f->family) name_error(d, place_of(f->at, "family"), "family of GPUs", f->family, names, n);
    return false;
}

static bool check_common(struct diag *d, void *object)
{
    static const char *const keys[] = {"activation_bytes", "forward"};
    const struct raw_kernels *k = object;
    return positive(d, k->at, keys, (double[]){k->activation_bytes, k->forward}, 2);
}

#define ROWS                                                                                                           \
    FIELD(raw_kernel_family, rows, "rows", TYPE_INT, .min = 0, .max = INT64_MAX - 1, .hidden = true,                    \
          .help = "that it was calibrated with; for people")

static const struct field family_fields[] = {
    FIELD(raw_kernel_family, family, "family", TYPE_STRING, .required = true, .help = "of GPUs with the same cores: a100, h100, ..."),
    ROWS,
    FIELD(raw_kernel_family, gemm, "gemm", TYPE_NUMBER, .help = "of what the largest matrix products reach"),
    FIELD(raw_kernel_family, attention, "attention", TYPE_NUMBER, .help = "of the same, by the instructions of FlashAttention-2"),
    FIELD(raw_kernel_family, fp8, "fp8", TYPE_NUMBER, .help = "layers' matrix products in 8 bits: times the speed of 16"),
};
static const struct object_type family_type =
    OBJECT(raw_kernel_family, family_fields, "kernels of a GPU", "What kernels reach on a family of GPUs.", .check = check_family);

#define COMMON                                                                                                         \
    FIELD(raw_kernels, activation_bytes, "activation_bytes", TYPE_NUMBER,                                              \
          .help = "moved a token, layer and unit of width, forward and backward"),                                     \
    FIELD(raw_kernels, forward, "forward", TYPE_NUMBER,                                                                \
          .help = "time of a forward pass that is done again, over a third of forward and backward"),                  \
    FIELD(raw_kernels, step, "step", TYPE_DURATION, .help = "that each step takes besides, whatever its size"),        \
    FIELD(raw_kernels, gpus, "gpus", TYPE_LIST, .sub = &family_type, .help = "by family; default: those of docs/models.md")

static const struct field kernel_fields[] = {
    FIELD(raw_kernels, profile, "profile", TYPE_STRING, .hidden = true,
          .help = "a profile of `trainyard calibrate step -o`, which gives what is not said here"),
    COMMON,
};
const struct object_type kernels_type =
    OBJECT(raw_kernels, kernel_fields, "kernels", "What the program's kernels reach, for steps that are computed from a model.",
           .shorthand = "profile", .check = check_common);

static const struct field profile_fields[] = {
    FIELD(raw_kernels, name, "name", TYPE_STRING, .required = true, .help = "as scenarios name it"),
    FIELD(raw_kernels, source, "source", TYPE_STRING, .required = true, .help = "where the figures are from"),
    FIELD(raw_kernels, rows, "rows", TYPE_INT, .min = 0, .max = INT64_MAX - 1, .help = "that were fitted"),
    FIELD(raw_kernels, exposed, "exposed", TYPE_NUMBER, .help = "for predictions without a model of the fabric"),
    FIELD(raw_kernels, hop, "hop", TYPE_DURATION, .help = "as exposed"),
    COMMON,
};
static const struct object_type profile_type =
    OBJECT(raw_kernels, profile_fields, "kernel profile", "What a program's kernels reach.", .check = check_common);

void expand_kernels(struct build *b, struct raw_kernels *k)
{
    if (!k || !k->profile) return;
    const struct value *v = profile_load(b, "kernels", k->profile, place_of(k->at, "profile"));
    if (!v) return;
    struct raw_kernels *p = object_read(&b->reader, &profile_type, v);
    if (isnan(k->activation_bytes)) k->activation_bytes = p->activation_bytes;
    if (isnan(k->forward)) k->forward = p->forward;
    if (k->step == ABSENT) k->step = p->step;
    if (k->gpus.n == 0) k->gpus = p->gpus;
    k->profile = NULL;
}

static void take(double *to, double from)
{
    if (!isnan(from)) *to = from;
}

void apply_kernels(const struct raw_kernels *k, struct step_hardware *h)
{
    if (!k) return;
    take(&h->common.activation_bytes, k->activation_bytes);
    take(&h->common.forward, k->forward);
    if (k->step != ABSENT) h->common.step_s = (double)k->step / 1e9;
    for (size_t i = 0; i < k->gpus.n; i++) {
        const struct raw_kernel_family *f = &LIST_AT(k->gpus, struct raw_kernel_family, i);
        if (!f->family || strcmp(f->family, h->gpu.family)) continue;
        take(&h->kernels.gemm, f->gemm);
        take(&h->kernels.attention, f->attention);
        take(&h->kernels.fp8, f->fp8);
    }
}
