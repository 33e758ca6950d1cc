/* comparison.c - see comparison.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/model/comparison.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/mem.h"

struct reader {
    struct comparison *c;
    struct json_doc *doc;
};

/* ---- pieces ---- */

static const char *text_of(const struct reader *r, const cJSON *object, const char *key)
{
    const char *text = "";
    json_get_string(r->doc, object, key, &text);
    return arena_strdup(&r->c->arena, text);
}

/* A number that is written exactly, as its own text. */
static const char *exact_of(const struct reader *r, const cJSON *object, const char *key)
{
    const cJSON *node = json_member(object, key);
    const char *text = node ? json_number_text(r->doc, node) : NULL;
    return arena_strdup(&r->c->arena, text ? text : "0");
}

static double number_of(const cJSON *object, const char *key)
{
    const cJSON *node = json_member(object, key);
    return cJSON_IsNumber(node) ? node->valuedouble : NAN;
}

static size_t count_of(const cJSON *object, const char *key)
{
    double x = number_of(object, key);
    return x >= 0 && x < 1e15 ? (size_t)x : 0;
}

static bool bool_of(const cJSON *object, const char *key)
{
    return cJSON_IsTrue(json_member(object, key));
}

static const cJSON *list_of(const cJSON *object, const char *key, size_t *n)
{
    const cJSON *list = json_member(object, key);
    *n = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
    return list;
}

static int word_of(const cJSON *object, const char *key, const char *const *words, int n, int otherwise)
{
    const cJSON *node = json_member(object, key);
    for (int i = 0; cJSON_IsString(node) && i < n; i++)
        if (str_equal(node->valuestring, words[i])) return i;
    return otherwise;
}

static struct comparison_figure figure_of(const cJSON *object, const char *name, const char *unit)
{
    static const char *const better[] = {"less", "more", "neither"};
    const cJSON *interval = json_member(object, "interval");
    struct comparison_figure f = {.name = name, .unit = unit, .low = NAN, .high = NAN};
    f.base = number_of(object, "base");
    f.other = number_of(object, "other");
    f.difference = number_of(object, "difference");
    f.ratio = number_of(object, "ratio");
    f.verdict = (enum verdict)word_of(object, "verdict", verdict_names, N_VERDICTS, VERDICT_UNKNOWN);
    f.better = (enum metric_better)word_of(object, "better", better, 3, BETTER_LESS);
    f.base_bound = bool_of(object, "base_bound");
    f.other_bound = bool_of(object, "other_bound");
    if (cJSON_IsArray(interval) && interval->child && interval->child->next) {
        f.low = interval->child->valuedouble;
        f.high = interval->child->next->valuedouble;
        f.interval = true;
    }
    return f;
}

/* ---- sections ---- */

static void read_metrics(struct reader *r, const cJSON *pair)
{
    struct comparison *c = r->c;
    const cJSON *node, *list = list_of(pair, "metrics", &c->n_metrics);
    c->metrics = arena_array(&c->arena, c->n_metrics, struct comparison_figure);
    size_t i = 0;
    cJSON_ArrayForEach(node, list) c->metrics[i++] = figure_of(node, text_of(r, node, "name"), text_of(r, node, "unit"));
}

static struct comparison_gpu gpu_of(struct reader *r, const cJSON *node)
{
    const char *names[N_ACTIVITIES];
    struct comparison_gpu g = {.redone = bool_of(node, "redone")};
    for (int a = 0; a < N_ACTIVITIES; a++) names[a] = activity_table[a].name;
    g.activity = word_of(node, "activity", names, N_ACTIVITIES, -1);
    g.class = (enum gpu_class)word_of(node, "class", gpu_class_names, N_GPU_CLASSES, N_GPU_CLASSES);
    g.base_gpu_s = exact_of(r, node, "base_gpu_s");
    g.other_gpu_s = exact_of(r, node, "other_gpu_s");
    const char *name = g.activity >= 0 ? activity_table[g.activity].name : g.class < N_GPU_CLASSES ? gpu_class_names[g.class] : "all";
    g.f = figure_of(node, name, "GPU-h");
    return g;
}

static void read_gpu(struct reader *r, const cJSON *pair)
{
    struct comparison *c = r->c;
    const cJSON *node, *time = json_member(pair, "gpu_time"), *list = list_of(time, "parts", &c->n_gpu);
    size_t i = 0, n;
    c->gpu = arena_array(&c->arena, c->n_gpu, struct comparison_gpu);
    cJSON_ArrayForEach(node, list) c->gpu[i++] = gpu_of(r, node);
    list = list_of(time, "classes", &n);
    cJSON_ArrayForEach(node, list)
    {
        struct comparison_gpu g = gpu_of(r, node);
        if (g.class < N_GPU_CLASSES) c->classes[g.class] = g;
    }
    c->gpu_whole = gpu_of(r, json_member(time, "whole"));
}

static struct comparison_part part_of(struct reader *r, const cJSON *node)
{
    const char *names[N_JCT_PARTS];
    for (int i = 0; i < N_JCT_PARTS; i++) names[i] = jct_part_name(i);
    struct comparison_part p = {.part = word_of(node, "part", names, N_JCT_PARTS, -1)};
    p.base_s = exact_of(r, node, "base_s");
    p.other_s = exact_of(r, node, "other_s");
    p.f = figure_of(node, p.part >= 0 ? names[p.part] : "all", "s");
    return p;
}

static void read_parts(struct reader *r, const cJSON *pair)
{
    struct comparison *c = r->c;
    const cJSON *node, *time = json_member(pair, "completion_time"), *list = list_of(time, "parts", &c->n_parts);
    const cJSON *jobs = json_member(time, "jobs");
    size_t i = 0;
    c->parts = arena_array(&c->arena, c->n_parts, struct comparison_part);
    cJSON_ArrayForEach(node, list) c->parts[i++] = part_of(r, node);
    c->whole = part_of(r, json_member(time, "whole"));
    c->ended_in_both = count_of(jobs, "ended_in_both");
    c->ended_in_base_only = count_of(jobs, "ended_in_base_only");
    c->ended_in_other_only = count_of(jobs, "ended_in_other_only");
    c->ended_in_neither = count_of(jobs, "ended_in_neither");
}

static void read_teams(struct reader *r, const cJSON *pair)
{
    struct comparison *c = r->c;
    const cJSON *node, *list = list_of(pair, "teams", &c->n_teams);
    size_t i = 0;
    c->teams = arena_array(&c->arena, c->n_teams, struct comparison_team);
    cJSON_ArrayForEach(node, list)
    {
        struct comparison_team *t = &c->teams[i++];
        t->team = text_of(r, node, "team");
        t->jobs = count_of(node, "jobs");
        t->wait = figure_of(json_member(node, "wait"), "wait", "s");
        t->jct = figure_of(json_member(node, "jct"), "jct", "s");
    }
}

static struct comparison_job *jobs_of(struct reader *r, const cJSON *pair, const char *key, size_t *n)
{
    const cJSON *node, *list = list_of(pair, key, n);
    struct comparison_job *jobs = arena_array(&r->c->arena, *n, struct comparison_job), *j = jobs;
    cJSON_ArrayForEach(node, list)
    {
        *j++ = (struct comparison_job){.id = text_of(r, node, "job"),
                                       .team = text_of(r, node, "team"),
                                       .queue = text_of(r, node, "queue"),
                                       .replication = (uint32_t)count_of(node, "replication"),
                                       .gpus = number_of(node, "gpus"),
                                       .base_s = number_of(node, "base_s"),
                                       .other_s = number_of(node, "other_s"),
                                       .most_of_it = text_of(r, node, "most_of_it")};
    }
    return jobs;
}

static void read_words(struct reader *r, const cJSON *pair)
{
    const cJSON *node, *list = list_of(pair, "words", &r->c->n_words);
    const char **words = arena_array(&r->c->arena, r->c->n_words, const char *);
    size_t i = 0;
    cJSON_ArrayForEach(node, list) words[i++] = arena_strdup(&r->c->arena, cJSON_IsString(node) ? node->valuestring : "");
    r->c->words = words;
}

static void note(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(struct str *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    str_vprintf(s, fmt, args);
    va_end(args);
    str_append_char(s, '\n');
}

static const cJSON *approach_named(const cJSON *root, const char *name)
{
    const cJSON *a;
    cJSON_ArrayForEach(a, json_member(root, "approaches"))
    {
        const cJSON *its = json_member(a, "name");
        if (cJSON_IsString(its) && str_equal(its->valuestring, name)) return a;
    }
    return NULL;
}

/* What one must know before believing the figures. */
static const char *notes_of(struct reader *r, const cJSON *a, const cJSON *b)
{
    struct comparison *c = r->c;
    struct str s = {0};
    const char *one = text_of(r, a, "scenario"), *two = text_of(r, b, "scenario");
    double gpus_a = number_of(a, "gpus"), gpus_b = number_of(b, "gpus");
    if (!str_equal(one, two)) note(&s, "Different scenarios, %s and %s: jobs and clusters need not be the same.", one, two);
    if (c->replications == 1) note(&s, "One replication: no interval can be given. More of them tell what is chance: trainyard compare -n 20.");
    if (!c->paired) note(&s, "Seeds or replications differ: differences hold chance that pairing would have cancelled.");
    if (c->left_out) note(&s, "%zu runs left out: the other approach lacks their replication.", c->left_out);
    if (count_of(a, "not_complete")) note(&s, "%zu runs of %s did not come to their end.", count_of(a, "not_complete"), c->base);
    if (count_of(b, "not_complete")) note(&s, "%zu runs of %s did not come to their end.", count_of(b, "not_complete"), c->other);
    if (fabs(gpus_a - gpus_b) > 1e-6 * gpus_a) note(&s, "%s has %.6g GPUs, %s %.6g: not the same cluster.", c->base, gpus_a, c->other, gpus_b);
    const char *kept = arena_strdup(&c->arena, str_text(&s));
    str_free(&s);
    return kept;
}

static void read_pair(struct reader *r, const cJSON *pair)
{
    struct comparison *c = r->c;
    c->base = text_of(r, pair, "base");
    c->other = text_of(r, pair, "other");
    c->replications = count_of(r->doc->root, "replications");
    c->left_out = count_of(r->doc->root, "left_out");
    c->paired = bool_of(r->doc->root, "paired");
    c->source = "";
    c->notes = notes_of(r, approach_named(r->doc->root, c->base), approach_named(r->doc->root, c->other));
    read_words(r, pair);
    read_metrics(r, pair);
    read_gpu(r, pair);
    read_parts(r, pair);
    read_teams(r, pair);
    c->sooner = jobs_of(r, pair, "sooner", &c->n_sooner);
    c->later = jobs_of(r, pair, "later", &c->n_later);
}

/* ---- whole texts ---- */

static const cJSON *pair_named(const cJSON *root, const char *base, const char *other)
{
    const cJSON *pair;
    cJSON_ArrayForEach(pair, json_member(root, "pairs"))
    {
        const cJSON *a = json_member(pair, "base"), *b = json_member(pair, "other");
        if (!cJSON_IsString(a) || !cJSON_IsString(b)) continue;
        if (!base || (str_equal(a->valuestring, base) && str_equal(b->valuestring, other))) return pair;
    }
    return NULL;
}

/* The first thing that is wrong, in one line. */
static char *told(struct diag *d, const char *file, const char *otherwise)
{
    struct str s = {0};
    if (d->entries.n) str_printf(&s, "%s:%d: %s", d->entries.v[0].file, d->entries.v[0].line, d->entries.v[0].text);
    else str_printf(&s, "%s: %s", file, otherwise);
    diag_free(d);
    return str_take(&s);
}

struct comparison *comparison_parse(const char *file, const char *text, size_t n, const char *base, const char *other, char **err)
{
    struct diag d = {0};
    struct reader r = {.doc = json_parse(file, text, n, &d)};
    const cJSON *pair = r.doc ? pair_named(r.doc->root, base, other) : NULL;
    if (pair && !diag_errors(&d)) {
        r.c = xcalloc(1, sizeof *r.c);
        read_pair(&r, pair);
        if (diag_errors(&d)) {
            comparison_free(r.c);
            r.c = NULL;
        }
    }
    if (r.doc) json_free(r.doc);
    if (r.c) diag_free(&d);
    else *err = told(&d, file, "it holds no comparison of these two");
    return r.c;
}

struct comparison *comparison_of(const struct compare *c, const struct compare_pair *p, char **err)
{
    struct str text = {0};
    compare_json(c, &text);
    struct comparison *made = comparison_parse("the comparison", str_text(&text), text.n, c->approaches[0].name,
                                               c->approaches[p->other].name, err);
    if (made && c->warnings) made->notes = arena_printf(&made->arena, "%s%s", made->notes, c->warnings);
    str_free(&text);
    return made;
}

void comparison_free(struct comparison *c)
{
    if (!c) return;
    struct arena arena = c->arena;
    arena_free(&arena);
    free(c);
}

const struct comparison_figure *comparison_metric(const struct comparison *c, const char *name)
{
    for (size_t i = 0; i < c->n_metrics; i++)
        if (str_equal(c->metrics[i].name, name)) return &c->metrics[i];
    return NULL;
}

/* ---- waits ---- */

static int by_seconds(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

struct wait_curve wait_curve_of(const struct run *run)
{
    struct wait_curve w = {.seconds = xcalloc(run->n_jobs + 1, sizeof *w.seconds)};
    for (size_t i = 0; i < run->n_jobs; i++) {
        const struct job_row *j = &run->jobs[i].row;
        if (!run_counts(run, j->submit_ns) || j->state == JOB_REJECTED) continue;
        w.jobs++;
        if (j->started_ns >= 0) w.seconds[w.n++] = (double)(j->started_ns - j->submit_ns) / 1e9;
    }
    qsort(w.seconds, w.n, sizeof *w.seconds, by_seconds);
    return w;
}

double wait_curve_at(const struct wait_curve *w, double seconds)
{
    size_t low = 0, high = w->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (w->seconds[mid] <= seconds) low = mid + 1;
        else high = mid;
    }
    return w->jobs ? (double)low / (double)w->jobs : 0;
}

void wait_curve_free(struct wait_curve *w)
{
    free(w->seconds);
    *w = (struct wait_curve){0};
}
