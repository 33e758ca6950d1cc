/* step_table.c - see step_table.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "input/step_table.h"

#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/str.h"
#include "base/units.h"
#include "input/step_guess.h"
#include "input/step_shape.h"

#define GPUS_PER_NODE  8.0
#define USUAL_SEQUENCE 2048.0

enum column {
    C_GPU, C_SECTION, C_GPUS, C_MODEL, C_PARAMS, C_SEQLEN, C_MICROBATCH, C_ACCUM, C_BATCH, C_TOKENS, C_PRECISION, C_SHARDING,
    C_CHECKPOINTING, C_OFFLOAD, C_OUTCOME, N_COLUMNS
};
static const char *const columns[N_COLUMNS] = {
    "gpu", "section", "n_gpus", "model", "n_params", "seqlen", "microbatch", "grad_accum", "global_batch_seq",
    "global_batch_tokens", "precision", "sharding", "act_ckpt", "act_offload", "derived_step_time_s",
};

/* Columns that hold numbers, and what they may be. */
static const struct { enum column column; double least, most; } numeric[] = {
    {C_GPUS,       1,    1e7 }, {C_PARAMS, 1e6,  1e14}, {C_SEQLEN, 1, 1e8 }, {C_MICROBATCH, 1e-3, 1e9},
    {C_ACCUM,      1,    1e9 }, {C_BATCH,  1e-3, 1e12}, {C_TOKENS, 1, 1e15}, {C_OUTCOME,    1e-6, 1e7},
};

const char *const step_guess_words[N_STEP_GUESSES] = {
    "seqlen (2,048 is taken)", "microbatch (the largest that fits is taken)", "act_ckpt (taken where activations would not fit)"};

struct reading {
    enum step_table_use use;
    struct step_table *table;
    struct diag *d;
    const struct csv_row *in;
    double x[N_COLUMNS]; /* the row's numbers, 0 where there is none */
    bool ok;             /* of the row */
};

/* The field, NULL when the file or the row has none. */
static const char *field(const struct reading *r, enum column c)
{
    const char *text = csv_field(r->in, c);
    return text && *text ? text : NULL;
}

static void wrong(struct reading *r, enum column c, const char *what, const char *help)
{
    diag_error(r->d, r->in->file, r->in->line, columns[c], "%s", what);
    if (help) diag_help(r->d, "%s", help);
    r->ok = false;
}

static double number(struct reading *r, enum column c, double least, double most)
{
    const char *text = field(r, c);
    double x;
    if (text == NULL) return 0;
    if (units_parse_double(text, &x)) {
        diag_error(r->d, r->in->file, r->in->line, columns[c], "\"%s\" is no number", text);
    } else if (!(x >= least && x <= most)) {
        diag_error(r->d, r->in->file, r->in->line, columns[c], "%s is out of range", text);
    } else {
        return x;
    }
    diag_help(r->d, "give a number from %g to %g, or leave the field empty", least, most);
    r->ok = false;
    return 0;
}

/* All but the outcome where it is not to be looked at. */
static void read_numbers(struct reading *r)
{
    for (size_t i = 0; i < sizeof numeric / sizeof *numeric; i++) {
        enum column c = numeric[i].column;
        bool seen = c != C_OUTCOME || r->use == STEP_TABLE_MEASURED;
        r->x[c] = seen ? number(r, c, numeric[i].least, numeric[i].most) : 0;
    }
}

static bool truth(struct reading *r, enum column c)
{
    static const struct { const char *word; bool means; } words[] = {
        {"true", true}, {"false", false}, {"1", true}, {"0", false}, {"yes", true}, {"no", false}, {"none", false},
    };
    const char *text = field(r, c);
    if (text == NULL) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcasecmp(words[i].word, text)) return words[i].means;
    diag_error(r->d, r->in->file, r->in->line, columns[c], "\"%s\" is neither True nor False", text);
    r->ok = false;
    return false;
}

static enum step_sharding sharding(struct reading *r)
{
    static const struct { const char *word; enum step_sharding means; } words[] = {
        {"FULL_SHARD", SHARD_FULL}, {"HYBRID_SHARD", SHARD_FULL}, {"SHARD_GRAD_OP", SHARD_GRADIENTS},
        {"_HYBRID_SHARD_ZERO2", SHARD_GRADIENTS}, {"NO_SHARD", SHARD_NONE},
    };
    const char *text = field(r, C_SHARDING);
    if (text == NULL) return SHARD_FULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcasecmp(words[i].word, text)) return words[i].means;
    diag_error(r->d, r->in->file, r->in->line, columns[C_SHARDING], "\"%s\" is no sharding", text);
    diag_help(r->d, "allowed here: FULL_SHARD, HYBRID_SHARD, SHARD_GRAD_OP, NO_SHARD");
    r->ok = false;
    return SHARD_FULL;
}

/* The longest of the known names that stands in a text such as "A100 80GB with 1600 Gbps": its first two words decide. */
static const struct gpu_spec *gpu_in(const char *text)
{
    char words[64];
    for (size_t n = 0, blanks = 0; n < sizeof words && text[n]; n++) {
        words[n] = text[n];
        bool ends = text[n] == ' ' || text[n + 1] == '\0';
        if (!ends || n + 1 >= sizeof words || ++blanks < 2) continue;
        words[n + 1] = '\0';
        return gpu_spec_find(words);
    }
    return gpu_spec_find(text);
}

static const struct gpu_spec *gpu(struct reading *r)
{
    const char *name = field(r, C_GPU), *section = field(r, C_SECTION);
    const struct gpu_spec *g = name ? gpu_spec_find(name) : section ? gpu_in(section) : NULL;
    if (g) return g;
    if (name || section) {
        diag_error(r->d, r->in->file, r->in->line, columns[C_GPU], "\"%s\" is no GPU that is known", name ? name : section);
        struct str known = {0};
        for (size_t i = 0; gpu_spec_at(i); i++) str_printf(&known, "%s%s", i ? ", " : "", gpu_spec_at(i)->name);
        diag_help(r->d, "known are: %s", str_text(&known));
        str_free(&known);
        r->ok = false;
    } else {
        wrong(r, C_GPU, "no GPU is named", "give its name in the column gpu");
    }
    return NULL;
}

static void read_shape(struct reading *r, struct step_work *w)
{
    double batch = r->x[C_BATCH], tokens = r->x[C_TOKENS];
    struct step_shape shape;
    r->table->n_guessed[GUESS_SEQUENCE] += r->x[C_SEQLEN] <= 0 && !(batch > 0 && tokens >= batch);
    w->sequence = r->x[C_SEQLEN] > 0 ? r->x[C_SEQLEN] : batch > 0 && tokens >= batch ? tokens / batch : USUAL_SEQUENCE;
    if (!step_shape_find(field(r, C_MODEL), r->x[C_PARAMS], w->sequence, &shape)) {
        wrong(r, C_PARAMS, "neither parameters nor a model that is known", "give n_params, or a model such as 7b");
        return;
    }
    w->parameters = shape.parameters;
    w->layer_parameters = 12 * shape.layers * shape.hidden * shape.hidden;
    w->layers = shape.layers;
    w->hidden = shape.hidden;
    w->vocabulary = shape.vocabulary;
}

/* The number of ranks; where it does not stand, what the batch takes of them. */
static void read_ranks(struct reading *r, struct step_work *w)
{
    double often = r->x[C_ACCUM] > 0 ? r->x[C_ACCUM] : 1;
    w->ranks = r->x[C_GPUS];
    if (w->ranks <= 0 && r->x[C_MICROBATCH] > 0) w->ranks = r->x[C_BATCH] / (r->x[C_MICROBATCH] * often);
    if (!(w->ranks >= 1 && w->ranks <= 1e7)) wrong(r, C_GPUS, "the number of GPUs is missing", "give it in the column n_gpus");
}

/* Micro-batch and their number from whichever of the batch's columns are there. */
static void read_batch(struct reading *r, struct step_work *w, const struct gpu_spec *g)
{
    double micro = r->x[C_MICROBATCH], often = r->x[C_ACCUM];
    double batch = r->x[C_BATCH] > 0 ? r->x[C_BATCH] : r->x[C_TOKENS] / w->sequence;
    double own = batch / w->ranks; /* sequences a rank, a step */
    if (micro <= 0 && own <= 0) {
        wrong(r, C_MICROBATCH, "no batch", "give microbatch and grad_accum, or global_batch_seq");
        return;
    }
    r->table->n_guessed[GUESS_MICROBATCH] += micro <= 0 && often <= 0;
    if (micro <= 0 && often <= 0) often = step_guess_micro_batches(w, g, own);
    if (micro <= 0) micro = own / often;
    if (often <= 0) often = own > micro ? own / micro : 1;
    w->tokens = micro * w->sequence;
    w->micro_batches = often;
}

static bool in_8_bits(const struct reading *r)
{
    const char *precision = field(r, C_PRECISION), *section = field(r, C_SECTION);
    if (precision == NULL) return section && strcasestr(section, "fp8");
    return strcasestr(precision, "fp8") != NULL;
}

static bool on_row(void *arg, const struct csv_row *in)
{
    struct reading *r = arg;
    struct step_row row = {.row = ++r->table->n_read, .line = in->line, .step_s = NAN};
    struct step_work *w = &row.work;
    r->in = in;
    r->ok = true;
    read_numbers(r);
    if (r->ok && r->use == STEP_TABLE_MEASURED && r->x[C_OUTCOME] <= 0) {
        r->table->n_unmeasured++;
        return true;
    }
    if (r->use == STEP_TABLE_MEASURED) row.step_s = r->x[C_OUTCOME];
    row.gpu = gpu(r);
    w->ranks_per_node = GPUS_PER_NODE;
    w->tensor = 1;
    w->sharding = sharding(r);
    w->recompute = truth(r, C_CHECKPOINTING);
    w->offload = truth(r, C_OFFLOAD);
    w->fp8 = in_8_bits(r);
    if (r->ok) read_shape(r, w);
    if (r->ok) read_ranks(r, w);
    if (r->ok) read_batch(r, w, row.gpu);
    if (r->ok && field(r, C_CHECKPOINTING) == NULL) {
        w->recompute = step_guess_recompute(w, row.gpu);
        r->table->n_guessed[GUESS_RECOMPUTE]++;
    }
    if (r->ok) array_push(&r->table->rows, row);
    return true;
}

bool step_table_read(const char *file, enum step_table_use use, struct step_table *table, struct diag *d)
{
    struct reading r = {.use = use, .table = table, .d = d};
    size_t n = use == STEP_TABLE_TO_PREDICT ? C_OUTCOME : N_COLUMNS;
    bool ok = csv_read(file, &(struct csv_spec){NULL, 0, columns, n, on_row, &r}, d) && diag_errors(d) == 0;
    if (ok && table->rows.n == 0) {
        bool blank = table->n_read > 0; /* rows to predict would be there */
        diag_error(d, file, 0, NULL, blank ? "no row has an outcome" : "there are no rows");
        if (blank) diag_help(d, "give the seconds of a step in the column derived_step_time_s");
        ok = false;
    }
    return ok;
}

void step_table_free(struct step_table *table)
{
    array_free(&table->rows);
    *table = (struct step_table){0};
}
