/* page.c - see page.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/version.h"
#include "run/decimal.h"
#include "study/compare.h"
#include "study/compare_words.h"
#include "study/report.h"
#include "study/words.h"
#include "viz/report/html.h"
#include "viz/report/pictures.h"
#include "viz/report/tables.h"

struct page {
    struct approach_source *sources; /* each lends its first run, where that is pictured */
    size_t n, n_pictured;
    struct scene *scenes[REPORT_PICTURED]; /* of those first runs */
    const struct text_engine *text;
    const char *warnings; /* of the readers; NULL */
    struct report report;
    struct compare compare; /* with two or more */
    struct album album;
    struct str *out;
};

/* ---- what it is, and what it says ---- */

static void names_of(const struct page *p, struct str *s)
{
    str_printf(s, "%s: ", p->report.approaches[0].runs.scenario);
    for (size_t i = 0; i < p->n; i++) str_printf(s, "%s%s", i == 0 ? "" : i + 1 < p->n ? ", " : " and ", p->sources[i].name);
}

static void header(struct page *p)
{
    const struct approach_runs *a = &p->report.approaches[0].runs;
    struct str s = {0};
    str_append(p->out, "<header>\n<h1>");
    names_of(p, &s);
    html_text(p->out, str_text(&s));
    str_clear(&s);
    str_printf(&s, "%zu replication%s%s, seed %llu; ", a->n, a->n == 1 ? "" : "s", p->n > 1 ? " each" : "", (unsigned long long)a->seed);
    words_number(&s, round(a->gpus * 1000) / 1000);
    str_append(&s, " GPUs, ");
    words_number(&s, round(a->jobs));
    str_printf(&s, " jobs%s; %s", a->n > 1 ? " on average" : "", strcmp(a->back_end, "sim") ? "measured" : "simulated");
    str_append(p->out, "</h1>\n");
    html_element(p->out, "p class=\"sub\"", str_text(&s));
    str_append(p->out, "</header>\n");
    str_free(&s);
}

static void navigation(struct page *p)
{
    static const struct { const char *id, *title; bool pair; } links[] = {
        {"answer", "What it says", false}, {"metrics", "Metrics", false}, {"differences", "Differences", true},
        {"time", "Over time", false},      {"ledgers", "Ledgers", false}, {"who", "Queues and teams", false}, {"jobs", "Jobs", false}};
    str_append(p->out, "<nav aria-label=\"Sections\"><div>\n");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (!links[i].pair || p->n > 1) str_printf(p->out, "<a href=\"#%s\">%s</a>\n", links[i].id, links[i].title);
    str_append(p->out, "</div></nav>\n");
}

static void lines_as_list(struct str *out, const char *lines)
{
    str_append(out, "<ul class=\"words\">\n");
    for (const char *end; (end = strchr(lines, '\n')) != NULL; lines = end + 1) {
        char *line = xstrndup(lines, (size_t)(end - lines));
        html_element(out, "li", line);
        free(line);
    }
    str_append(out, "</ul>\n");
}

static void lines_as_notes(struct str *out, const char *lines)
{
    for (const char *end; lines && (end = strchr(lines, '\n')) != NULL; lines = end + 1) {
        char *line = xstrndup(lines, (size_t)(end - lines));
        html_element(out, "p class=\"note\"", line);
        free(line);
    }
}

static void put_amount(struct str *s, const struct report_approach *a, const char *metric)
{
    size_t m = (size_t)metric_find(metric);
    if (a->runs.bound[m]) str_append(s, "at least ");
    words_amount(s, metric_at(m)->unit, a->metrics[m].mean);
}

static bool is_known(const struct report_approach *a, const char *metric)
{
    return isfinite(a->metrics[metric_find(metric)].mean);
}

/* Of one approach by itself. */
static void own_words(const struct report_approach *a, struct str *lines)
{
    if (is_known(a, "p50_wait")) {
        str_append(lines, "Half of the jobs start within ");
        put_amount(lines, a, "p50_wait");
        str_append(lines, " of their submission, 95 of 100 within ");
        put_amount(lines, a, "p95_wait");
        str_append(lines, ".\n");
    }
    if (is_known(a, "goodput")) {
        str_append(lines, "Of the GPU time ");
        put_amount(lines, a, "goodput");
        str_append(lines, " is work that is kept (goodput); ");
        put_amount(lines, a, "waste");
        str_append(lines, " is wasted: held without working, done twice, or of failed jobs.\n");
    }
    const struct account *c = &a->account;
    if (c->waits.all > 0) {
        int top = wait_sums_top(&c->waits);
        str_append(lines, "Most of what jobs wait for is ");
        words_name(lines, wait_table[top].name);
        str_printf(lines, " (%s): %.1f %% of all waiting.\n", wait_table[top].help, 100 * (double)c->waits.reason[top] / (double)c->waits.all);
    }
    if (a->runs.n == 1) str_append(lines, "This is one replication: how much of it is chance only more can tell.\n");
}

static void answer(struct page *p)
{
    html_section(p->out, "answer", "What it says");
    lines_as_notes(p->out, p->warnings);
    for (size_t i = 0; i + 1 < p->n; i++) {
        const struct compare_pair *pair = &p->compare.pairs[i];
        struct str lines = {0};
        str_append(p->out, "<h3>");
        html_printf(p->out, "%s against %s", p->sources[pair->other].name, p->sources[0].name);
        str_append(p->out, "</h3>\n");
        compare_sentences(&p->compare, pair, &lines);
        lines_as_list(p->out, str_text(&lines));
        str_free(&lines);
    }
    for (size_t i = 0; i < p->n; i++) {
        struct str lines = {0};
        if (p->n > 1) html_element(p->out, "h3", p->sources[i].name);
        own_words(&p->report.approaches[i], &lines);
        lines_as_list(p->out, str_text(&lines));
        str_free(&lines);
    }
    html_section_end(p->out);
}

/* ---- pictures ---- */

static struct studio *studio_of(struct page *p, size_t a, size_t b)
{
    struct scene *scenes[2] = {p->scenes[a], p->scenes[b]};
    return studio_open(scenes, a == b ? 1 : 2, p->text, &p->album);
}

static void difference(struct page *p, const struct compare_pair *pair)
{
    char *err = NULL;
    struct studio *s = studio_of(p, 0, pair->other);
    if (p->n > 2) {
        str_append(p->out, "<h3>");
        html_printf(p->out, "%s against %s", p->sources[pair->other].name, p->sources[0].name);
        str_append(p->out, "</h3>\n");
    }
    studio_compare(s, comparison_of(&p->compare, pair, &err));
    studio_waterfalls(s, p->out);
    studio_waits(s, p->out);
    studio_close(s);
    free(err);
}

static void not_pictured(const struct page *p)
{
    if (p->n_pictured == p->n) return;
    str_append(p->out, "<p class=\"note\">");
    html_printf(p->out, "Pictures of %zu of %zu approaches: the first ones. The tables have all; report --approach NAME chooses.", p->n_pictured, p->n);
    str_append(p->out, "</p>\n");
}

static void differences(struct page *p)
{
    if (p->n < 2) return;
    html_section(p->out, "differences", "Differences");
    not_pictured(p);
    for (size_t i = 0; i + 1 < p->n_pictured; i++) difference(p, &p->compare.pairs[i]);
    table_teams(&p->compare, p->out);
    html_section_end(p->out);
}

static void many_over_time(struct page *p)
{
    struct studio *s = studio_open(p->scenes, (unsigned)p->n_pictured, p->text, &p->album);
    studio_at(s, studio_moment(s, 0));
    studio_gantts(s, p->out);
    studio_maps(s, p->out);
    studio_all_curves(s, p->out);
    for (unsigned i = 0; i < p->n_pictured; i++) studio_ledger_of(s, i, p->out);
    studio_close(s);
}

/* Two share their scales. */
static void few_over_time(struct page *p)
{
    struct studio *s = studio_of(p, 0, p->n - 1);
    studio_at(s, studio_moment(s, 0));
    for (unsigned run = 0; run < p->n; run++) studio_gantt(s, run, p->out);
    for (unsigned run = 0; run < p->n; run++) studio_map(s, run, p->out);
    for (unsigned run = 0; run < p->n; run++) studio_curves(s, run, p->out);
    studio_ledger(s, p->out);
    if (p->n == 1) studio_waits(s, p->out);
    studio_close(s);
}

static void over_time(struct page *p)
{
    html_section(p->out, "time", "Over time");
    not_pictured(p);
    if (p->n > 2) many_over_time(p);
    else few_over_time(p);
    html_section_end(p->out);
}

/* ---- all ---- */

static void footer(struct page *p)
{
    str_append(p->out, "<footer>\n<p>");
    html_printf(p->out, "Made by trainyard %s report. Figures are means over replications; intervals are at 95 %%.", TRAINYARD_VERSION);
    for (size_t i = 0; i < p->n; i++) {
        const struct approach_runs *a = &p->report.approaches[i].runs;
        str_append(p->out, "<br/>\n");
        html_printf(p->out, "%s: %zu run%s from %s, scenario hash %s, trainyard %s on %s", a->name, a->n, a->n == 1 ? "" : "s", p->sources[i].dirs[0], a->hash, a->version, a->back_end);
    }
    str_append(p->out, "</p>\n</footer>\n");
}

static void write_page(struct page *p)
{
    header(p);
    navigation(p);
    str_append(p->out, "<main>\n");
    answer(p);
    html_section(p->out, "metrics", "Metrics");
    table_metrics(&p->report, p->n > 1 ? &p->compare : NULL, p->out);
    html_section_end(p->out);
    differences(p);
    over_time(p);
    html_section(p->out, "ledgers", "Ledgers");
    table_gpu(&p->report, p->out);
    table_waits(&p->report, p->out);
    html_section_end(p->out);
    html_section(p->out, "who", "Queues and teams");
    for (size_t i = 0; i < p->n; i++) table_uses(&p->report, i, p->out);
    html_section_end(p->out);
    html_section(p->out, "jobs", "Jobs");
    for (size_t i = 0; i < p->n_pictured; i++) table_jobs(p->scenes[i]->run, p->sources[i].name, i, REPORT_JOBS_LISTED, p->out);
    html_section_end(p->out);
    str_append(p->out, "</main>\n");
    footer(p);
}

/* The body comes first, for the head has the colours of its pictures. */
static void put_page(struct page *p, struct str *out)
{
    struct str title = {0}, inks = {0}, body = {0};
    p->out = &body;
    write_page(p);
    names_of(p, &title);
    inks_css(&p->album.inks, &inks);
    html_begin(out, str_text(&title), str_text(&inks));
    str_append_n(out, str_text(&body), body.n);
    html_end(out);
    inks_free(&p->album.inks);
    str_free(&title);
    str_free(&inks);
    str_free(&body);
}

/* The first runs of those that are pictured: the tables read them from there, too. */
static bool open_scenes(struct page *p, struct str *warnings, char **err)
{
    while (p->n_pictured < p->n && p->n_pictured < REPORT_PICTURED) {
        struct approach_source *s = &p->sources[p->n_pictured];
        char *said;
        s->first = run_open(s->dirs[0], &said, err);
        if (!s->first) return false;
        if (said) str_append(warnings, said);
        p->scenes[p->n_pictured++] = scene_of_run(s->first, said);
    }
    return true;
}

static bool read_runs(struct page *p, struct str *warnings, char **err)
{
    bool ok = open_scenes(p, warnings, err);
    if (ok && p->n > 1) ok = compare_and_report(p->sources, p->n, &p->compare, &p->report, err);
    else if (ok) ok = report_runs(p->sources, p->n, &p->report, err);
    if (ok && p->report.warnings) str_append(warnings, p->report.warnings);
    return ok;
}

bool report_page(const struct approach_source *sources, size_t n, const struct text_engine *text, struct str *out, char **warnings, char **err)
{
    struct page p = {.n = n, .text = text};
    struct str said = {0};
    *err = NULL;
    p.sources = xcalloc(n + 1, sizeof *p.sources);
    for (size_t i = 0; i < n; i++) p.sources[i] = sources[i];
    bool ok = read_runs(&p, &said, err);
    *warnings = said.n ? str_take(&said) : NULL;
    p.warnings = *warnings;
    if (ok) put_page(&p, out);
    if (ok && n > 1) compare_free(&p.compare);
    if (ok) report_free(&p.report);
    for (size_t i = 0; i < p.n_pictured; i++) scene_close(p.scenes[i]);
    free(p.sources);
    return ok;
}
