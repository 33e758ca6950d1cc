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
#include "input/step_shape.h"

#define GPUS_PER_NODE 8.0

enum column {
    C_GPU, C_SECTION, C_GPUS, C_MODEL, C_PARAMS, C_SEQLEN, C_MICROBATCH, C_ACCUM, C_BATCH, C_TOKENS, C_PRECISION, C_SHARDING,
    C_CHECKPOINTING, C_OFFLOAD, C_OUTCOME, N_COLUMNS
};
static const char *const columns[N_COLUMNS] = {
    "gpu", "section", "n_gpus", "model", "n_params", "seqlen", "microbatch", "grad_accum", "global_batch_seq",
    "global_batch_tokens", "precision", "sharding", "act_ckpt", "act_offload", "derived_step_time_s",
};

struct reading {
    enum step_table_use use;
    struct step_table *table;
    struct diag *d;
    const struct csv_row *in;
    bool ok; /* of the row */
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

/* A number in [least, most]; `absent` where there is none. */
static double number(struct reading *r, enum column c, double least, double most, double absent)
{
    const char *text = field(r, c);
    double x;
    if (text == NULL) return absent;
    if (units_parse_double(text, &x)) {
        diag_error(r->d, r->in->file, r->in->line, columns[c], "\"%s\" is no number", text);
    } else if (!(x >= least && x <= most)) {
        diag_error(r->d, r->in->file, r->in->line, columns[c], "%s is out of range", text);
    } else {
        return x;
    }
    diag_help(r->d, "give a number from %g to %g, or leave the field empty", least, most);
    r->ok = false;
    return absent;
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
    const char *name = field(r, C_MODEL);
    double parameters = number(r, C_PARAMS, 1e6, 1e14, 0);
    struct step_shape shape;
    w->sequence = number(r, C_SEQLEN, 1, 1e8, 2048);
    if (!r->ok) return;
    if (!step_shape_find(name, parameters, w->sequence, &shape)) {
        wrong(r, C_PARAMS, "neither parameters nor a model that is known", "give n_params, or a model such as 7b");
        return;
    }
    w->parameters = shape.parameters;
    w->layers = shape.layers;
    w->hidden = shape.hidden;
    w->vocabulary = shape.vocabulary;
}

/* Micro-batch and their number from whichever of the batch's columns are there. */
static void read_batch(struct reading *r, struct step_work *w)
{
    double micro = number(r, C_MICROBATCH, 1e-3, 1e9, 0), often = number(r, C_ACCUM, 1, 1e9, 0);
    double batch = number(r, C_BATCH, 1e-3, 1e12, 0), tokens = number(r, C_TOKENS, 1, 1e15, 0);
    if (!r->ok) return;
    if (batch <= 0) batch = tokens / w->sequence;
    double own = batch / w->ranks; /* sequences a rank, a step */
    if (micro <= 0 && often <= 0) often = 1;
    if (micro <= 0) micro = own / often;
    if (often <= 0) often = own > micro ? own / micro : 1;
    if (!(micro > 0)) wrong(r, C_MICROBATCH, "no batch", "give microbatch and grad_accum, or global_batch_seq");
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
    r->in = in;
    r->ok = true;
    if (r->use == STEP_TABLE_MEASURED) row.step_s = number(r, C_OUTCOME, 1e-6, 1e7, NAN);
    if (r->ok && r->use == STEP_TABLE_MEASURED && isnan(row.step_s)) {
        r->table->n_unmeasured++;
        return true;
    }
    row.gpu = gpu(r);
    row.work.ranks = number(r, C_GPUS, 1, 1e7, 0);
    if (r->ok && row.work.ranks <= 0) wrong(r, C_GPUS, "the number of GPUs is missing", "give it in the column n_gpus");
    row.work.ranks_per_node = GPUS_PER_NODE;
    row.work.tensor = 1;
    row.work.sharding = sharding(r);
    row.work.recompute = truth(r, C_CHECKPOINTING);
    row.work.offload = truth(r, C_OFFLOAD);
    row.work.fp8 = in_8_bits(r);
    read_shape(r, &row.work);
    if (r->ok) read_batch(r, &row.work);
    if (r->ok) array_push(&r->table->rows, row);
    return true;
}

bool step_table_read(const char *file, enum step_table_use use, struct step_table *table, struct diag *d)
{
    struct reading r = {.use = use, .table = table, .d = d};
    size_t n = use == STEP_TABLE_TO_PREDICT ? C_OUTCOME : N_COLUMNS;
    bool ok = csv_read(file, &(struct csv_spec){NULL, 0, columns, n, on_row, &r}, d) && diag_errors(d) == 0;
    if (ok && table->rows.n == 0) {
        diag_error(d, file, 0, NULL, use == STEP_TABLE_MEASURED ? "no row has an outcome" : "there are no rows");
        if (use == STEP_TABLE_MEASURED) diag_help(d, "give the seconds of a step in the column derived_step_time_s");
        ok = false;
    }
    return ok;
}

void step_table_free(struct step_table *table)
{
    array_free(&table->rows);
    table->n_read = table->n_unmeasured = 0;
}
