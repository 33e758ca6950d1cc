/* schema_manual.c - walks the tables of the scenario and writes its manual: Markdown for docs/scenario.md, roff for
 * trainyard-scenario(5).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <string.h>

#include "base/roff.h"
#include "base/version.h"
#include "input/raw.h"
#include "input/schema.h"
#include "input/schema_types.h"

struct markup { /* how a key or word, and a reference to another table, is written */
    void (*code)(struct str *, const char *);
    void (*type)(struct str *, const struct object_type *);
};

static const char *const type_names[N_TYPES] = {
    [TYPE_STRING] = "string",       [TYPE_ANY] = "any",         [TYPE_BOOL] = "true, false", [TYPE_INT] = "whole number",
    [TYPE_DURATION] = "duration",   [TYPE_BYTES] = "size",      [TYPE_BANDWIDTH] = "bandwidth",
    [TYPE_QUANTITY] = "quantity",   [TYPE_GPUS] = "GPUs",       [TYPE_GPU_TIME] = "GPU-time", [TYPE_NUMBER] = "number",
    [TYPE_FRACTION] = "fraction",   [TYPE_STRINGS] = "strings", [TYPE_TEXTS] = "strings by key",
    [TYPE_QUOTA] = "amounts by flavor", [TYPE_STACK] = "name, constants",
};

static void value_text(const struct markup *m, const struct field *f, struct str *out)
{
    for (size_t i = 0; f->type == TYPE_WORD && i < f->n_words; i++) {
        str_append(out, i ? ", " : "");
        m->code(out, f->words[i]);
    }
    if (f->type == TYPE_LIST) str_append(out, "list of ");
    if (f->sub) m->type(out, f->sub);
    if (f->type == TYPE_MAP) str_append(out, " by name");
    if (!f->sub && f->type != TYPE_WORD) str_append(out, type_names[f->type]);
    if (f->special) {
        str_append(out, " or ");
        m->code(out, f->special);
    }
}

/* ---- Markdown ---- */

static void markdown_code(struct str *out, const char *text)
{
    str_printf(out, "`%s`", text);
}

static void markdown_type(struct str *out, const struct object_type *type)
{
    char name[64];
    str_printf(out, "[%s](#%s)", type->name, schema_slug(type, name));
}

static const struct markup markdown = { markdown_code, markdown_type };

static void table(const struct object_type *type, struct str *out)
{
    const struct field *short_form = schema_shorthand(type);
    str_printf(out, "\n### %s\n\n%s", type->name, type->help);
    if (short_form) str_printf(out, " A bare value stands for `%s`.", short_form->name);
    str_append(out, "\n\n| key | value | default | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct field *f = &type->fields[i];
        str_printf(out, "| `%s` | ", f->name);
        value_text(&markdown, f, out);
        str_append(out, " | ");
        if (f->required)
            str_append(out, "required");
        else if (f->fallback)
            str_printf(out, "`%s`", f->fallback);
        str_printf(out, " | %s |\n", f->help);
    }
}

void scenario_reference(struct str *out)
{
    struct schema_types all = { .n = 0 };
    schema_collect(&all, &scenario_type);
    for (size_t i = 0; i < all.n; i++) table(all.v[i], out);
    str_append(out, "\n### stack constants\n\n| constant | default | source |\n|---|---|---|\n");
    for (size_t i = 0; i < stack_constant_count(); i++) {
        const struct stack_constant *c = stack_constant_at(i);
        str_printf(out, "| `%s` | `%s` | %s |\n", c->name, c->fallback, c->source);
    }
}

/* ---- roff ---- */

static void roff_code(struct str *out, const char *text)
{
    str_append(out, "\\fB");
    roff_text(out, text);
    str_append(out, "\\fR");
}

static void roff_type(struct str *out, const struct object_type *type)
{
    str_append(out, "\\fI");
    roff_text(out, type->name);
    str_append(out, "\\fR");
}

static const struct markup roff = { roff_code, roff_type };

static void roff_field(const struct field *f, struct str *out)
{
    str_append(out, ".TP\n");
    roff_code(out, f->name);
    str_append(out, " (");
    value_text(&roff, f, out);
    if (f->required)
        str_append(out, "; required");
    else if (f->fallback) {
        str_append(out, "; default ");
        roff_code(out, f->fallback);
    }
    str_append(out, ")\n");
    roff_text(out, f->help);
    str_append(out, "\n");
}

static void roff_object(const struct object_type *type, struct str *out)
{
    const struct field *short_form = schema_shorthand(type);
    str_append(out, ".SS ");
    roff_text(out, type->name);
    str_append(out, "\n");
    roff_text(out, type->help);
    str_append(out, "\n");
    if (short_form) {
        str_append(out, "A bare value stands for ");
        roff_code(out, short_form->name);
        str_append(out, ".\n");
    }
    for (size_t i = 0; i < type->n_fields; i++) roff_field(&type->fields[i], out);
}

static void roff_constants(struct str *out)
{
    str_append(out, ".SH STACK CONSTANTS\nRates, periods and time\\-outs of the controllers, in ");
    roff_code(out, "stack");
    str_append(out, " of an approach by name, each with its default and source.\n");
    for (size_t i = 0; i < stack_constant_count(); i++) {
        const struct stack_constant *c = stack_constant_at(i);
        str_append(out, ".TP\n");
        roff_code(out, c->name);
        str_append(out, " (default ");
        roff_code(out, c->fallback);
        str_append(out, ")\n");
        roff_text(out, c->source);
        str_append(out, "\n");
    }
}

void scenario_manual(struct str *out)
{
    static const struct { const char *value, *examples; } values[] = {
        { "duration", "\"30m\", \"7d\", \"1h30m\", \"5.3s\", \"250us\"; a bare number is in seconds" },
        { "size", "\"80GB\", \"16Gi\", \"1.5TB\"; a bare number is in bytes" },
        { "bandwidth", "\"400Gbps\" (bits), \"20GB/s\" (bytes); a bare number is in bytes a second" },
        { "quantity", "\"500m\", 2, \"16Gi\", as Kubernetes writes them" },
        { "GPUs", "8, 0.5, \"250m\"; above 1 whole numbers only" },
        { "GPU-time", "\"3250s\"; in GPU-seconds" },
        { "fraction", "0.8, \"80%\"" },
    };
    struct schema_types all = { .n = 0 };
    str_printf(out, ".TH TRAINYARD\\-SCENARIO 5 \"\" \"trainyard %s\" \"File Formats\"\n", TRAINYARD_VERSION);
    str_append(out, ".SH NAME\ntrainyard\\-scenario \\- what there is, what is to be done, what goes wrong, and under which "
                    "approaches\n.SH DESCRIPTION\nA scenario is JSON with // and /* */ comments. Every key is checked; all "
                    "errors of a file are reported with line and JSON pointer. The first approach is the base of "
                    "comparisons.\n.SH VALUES\n");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        str_append(out, ".TP\n");
        roff_text(out, values[i].value);
        str_append(out, "\n");
        roff_text(out, values[i].examples);
        str_append(out, "\n");
    }
    str_append(out, ".SH KEYS\n");
    schema_collect(&all, &scenario_type);
    for (size_t i = 0; i < all.n; i++) roff_object(all.v[i], out);
    roff_constants(out);
    str_append(out, ".SH SEE ALSO\n\\fBtrainyard\\fR(1)\n");
}
