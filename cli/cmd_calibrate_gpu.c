/* cmd_calibrate_gpu.c - trainyard calibrate gpu: what this machine's GPUs reach.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/units.h"
#include "cli/calibrate.h"
#include "study/calibrate_gpu.h"

struct options {
    const char *out, *name;
    int64_t budget_ns;
};

static const struct argp_option options[] = {
    {"output", 'o', "DIR",      0, "Write hardware.json, kernels.json (of a GPU that is known by name), residuals.csv and, with several GPUs, nccl.csv there", 0},
    {"name",   'n', "NAME",     0, "Of the profiles, as scenarios will name them (default: measured)", 0},
    {"time",   't', "DURATION", 0, "How long to measure at the most (default: 90s)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'o': o->out = command_text(arg, "--output", state); return 0;
    case 'n': o->name = command_text(arg, "--name", state); return 0;
    case 't':
        if (units_parse_duration(arg, &o->budget_ns) || o->budget_ns <= 0)
            argp_error(state, "--time takes a duration such as 90s, not \"%s\"", arg);
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "\"%s\" is too much: what is measured is this machine", arg); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp argp_calibrate_gpu = {
    options, parse, "",
    "Measure this machine's GPUs: matrix products and whole steps of them in bfloat16, memory, copies to and from the host, NCCL's "
    "all-reduce between several, power. Fit a line to each, and write profiles with what the lines leave."
    "\v"
    "CUDA's runtime, cuBLAS and NCCL are loaded from where the loader finds them, from TRAINYARD_CUDA_LIB, from NVIDIA's Python wheels or "
    "from /usr/local/cuda/lib64. Without a GPU it says why, and exits 4. The curve of NCCL: trainyard calibrate collective --train DIR/nccl.csv.\n"
    "Example: trainyard calibrate gpu -o measured --name our-h100",
    NULL, NULL, NULL};

static const struct {
    double scale;
    const char *unit;
} units[N_GPU_QUANTITIES] = {{1e-12, "TFLOP/s"}, {1e-9, "GB/s"}, {1e-9, "GB/s"}, {1e-9, "GB/s"}, {1e-12, "TFLOP/s"}, {1e-9, "GB/s"}};

static void print(const struct gpu_facts *facts, int gpus, const struct gpu_rows *rows, const struct gpu_fit *fits)
{
    printf("%d x %s, CUDA %d.%d%s%s\n", gpus, facts->name, facts->runtime / 1000, facts->runtime % 1000 / 10,
           facts->driver[0] ? ", driver " : "", facts->driver);
    printf("%-11s %5s %10s %10s %-8s %7s %9s %9s %9s\n", "quantity", "rows", "rate", "best", "", "+/-", "start", "residual", "9 of 10");
    for (int q = 0; q < N_GPU_QUANTITIES; q++) {
        const struct gpu_fit *f = &fits[q];
        if (!f->rows) {
            printf("%-11s not measured%s\n", gpu_quantity_names[q], q == GPU_ALL_REDUCE && gpus < 2 ? ": one GPU" : "");
            continue;
        }
        printf("%-11s %5zu %10.1f %10.1f %-8s %5.1f %% %6.1f us %7.1f %% %7.1f %%\n", gpu_quantity_names[q], f->rows,
               f->rate * units[q].scale, f->best_rate * units[q].scale, units[q].unit, f->rate_error * 100, f->start_s * 1e6,
               f->median * 100, f->p90 * 100);
    }
    if (rows->power.samples)
        printf("%-11s %.0f W at %.0f %% utilisation while steps ran\n", "power", rows->power.mean_w, rows->power.utilisation * 100);
}

/* Where the figures are from, as each profile says it. */
static void source_of(const struct gpu_facts *facts, int gpus, const struct gpu_fit *f, const char *what, struct str *out)
{
    str_printf(out, "trainyard calibrate gpu: %d x %s, CUDA %d.%d%s%s; %s", gpus, facts->name, facts->runtime / 1000,
               facts->runtime % 1000 / 10, facts->driver[0] ? ", driver " : "", facts->driver, what);
    if (f->rows) str_printf(out, ", fitted within %.1f %% (median), %.1f %% (9 of 10)", f->median * 100, f->p90 * 100);
}

static int write_one(const struct options *o, const char *file, struct str *text)
{
    struct arena a = {0};
    int code = command_write(path_join(&a, o->out, file), text);
    arena_free(&a);
    str_free(text);
    return code;
}

static void nccl_table(const struct gpu_rows *rows, struct str *out)
{
    str_printf(out, "# all-reduce, %d ranks on 1 node\nsize_bytes,time_us\n", rows->all_reduce_ranks);
    for (size_t i = 0; i < rows->list.n; i++)
        if (rows->list.v[i].quantity == GPU_ALL_REDUCE)
            str_printf(out, "%.0f,%.3f\n", rows->list.v[i].work, rows->list.v[i].time_s * 1e6);
}

static int write_all(const struct options *o, const struct gpu_facts *facts, int gpus, const struct gpu_rows *rows,
                     const struct gpu_fit *fits)
{
    const struct gpu_spec *spec = gpu_spec_find(facts->name);
    struct diag d = {0};
    struct str source = {0}, kernels_source = {0}, text = {0};
    if (!file_make_dirs(o->out, &d)) {
        diag_print(&d, stderr);
        diag_free(&d);
        return EXIT_IO;
    }
    source_of(facts, gpus, &fits[GPU_ALL_REDUCE], fits[GPU_ALL_REDUCE].rows ? "all-reduce" : "one GPU", &source);
    source_of(facts, gpus, &fits[GPU_STEP], "matrix products of training steps", &kernels_source);
    calibrate_gpu_hardware(facts, gpus, fits, rows->all_reduce_ranks, o->name, str_text(&source), &text);
    int code = write_one(o, "hardware.json", &text);
    calibrate_gpu_residuals(rows, fits, &text);
    if (code == EXIT_OK) code = write_one(o, "residuals.csv", &text);
    if (code == EXIT_OK && calibrate_gpu_gemm(spec, fits) > 0) {
        calibrate_gpu_kernels(spec, fits, o->name, str_text(&kernels_source), &text);
        code = write_one(o, "kernels.json", &text);
    }
    if (code == EXIT_OK && rows->all_reduce_ranks > 1) nccl_table(rows, &text), code = write_one(o, "nccl.csv", &text);
    str_free(&text);
    str_free(&source);
    str_free(&kernels_source);
    return code;
}

static int failed(struct gpu *g, struct gpu_rows *rows, struct diag *d)
{
    diag_print(d, stderr);
    diag_free(d);
    gpu_rows_free(rows);
    gpu_close(g);
    return command_end(EXIT_IO);
}

int cmd_calibrate_gpu(int argc, char **argv)
{
    struct options o = {.name = "measured", .budget_ns = seconds(90)};
    struct gpu g;
    struct gpu_facts facts;
    struct gpu_rows rows = {0};
    struct gpu_fit fits[N_GPU_QUANTITIES];
    struct diag d = {0};
    argp_parse(&argp_calibrate_gpu, argc, argv, 0, NULL, &o);
    if (!gpu_open(&g, GPU_BLAS, &d)) return failed(&g, &rows, &d);
    if (g.count > 1) { /* their collectives, too */
        gpu_close(&g);
        if (!gpu_open(&g, GPU_BLAS | GPU_COLLECTIVES, &d)) return failed(&g, &rows, &d);
    }
    int gpus = g.count;
    if (!g.nvml) fprintf(stderr, "trainyard: power and links are not known: %s\n", g.nvml_lacks);
    if (!gpu_use(&g, 0, &d) || !gpu_facts(&g, &facts, &d) ||
        !gpu_measure(&g, &(struct gpu_measure_options){.budget_ns = o.budget_ns}, &rows, &d))
        return failed(&g, &rows, &d);
    calibrate_gpu(&rows, fits);
    print(&facts, gpus, &rows, fits);
    int code = o.out ? write_all(&o, &facts, gpus, &rows, fits) : EXIT_OK;
    gpu_rows_free(&rows);
    gpu_close(&g);
    return command_end(code);
}
