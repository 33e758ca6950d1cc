/* compare.c - what differs between two runs' approaches: one page that scrolls, in sections that Tab goes through.
 *
 * In plain words; metrics with intervals; where GPU time and completion time differ, as waterfalls; the distribution of waits; jobs that
 * win and lose most (Enter selects one, Enter again opens its page); teams. With one run: its metrics and waits, and what to do.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "viz/ui/memo.h"
#include "viz/ui/view.h"
#include "viz/views/compare_page.h"
#include "viz/views/compare_tables.h"
#include "viz/views/plot.h"

enum section { SECTION_WORDS, SECTION_METRICS, SECTION_GPU, SECTION_COMPLETION, SECTION_WAITS, SECTION_JOBS, SECTION_TEAMS, N_SECTIONS };

static const char *const titles[N_SECTIONS] = {
    [SECTION_WORDS] = "In plain words", [SECTION_METRICS] = "Metrics", [SECTION_GPU] = "Where GPU time differs",
    [SECTION_COMPLETION] = "Where a job's time differs, from submission to end", [SECTION_WAITS] = "How long jobs wait",
    [SECTION_JOBS] = "Jobs that gain and lose most", [SECTION_TEAMS] = "Teams",
};
static const char *const names[N_SECTIONS] = {"words", "metrics", "gpu_time", "completion_time", "waits", "jobs", "teams"};

/* ---- what is shown ---- */

struct kept {
    bool made;
    struct compare_page page;
};

static void release(void *piece)
{
    struct kept *k = piece;
    compare_page_free(&k->page);
}

static const struct compare_page *page_of(struct ui *u)
{
    const struct scene *scenes[UI_MAX_RUNS] = {NULL};
    uint64_t state = 0;
    for (unsigned i = 0; i < u->n_runs; i++) {
        scenes[i] = u->runs[i].scene;
        state = state * 1000003 + scenes[i]->version * 31 + (uint64_t)(uintptr_t)scenes[i];
    }
    struct kept *k = memo_get(&u->memos, "compare", state, sizeof *k, release);
    if (!k->made) compare_page_make(&k->page, scenes, u->n_runs, u->n_runs > 1 ? u->runs[0].twin : NULL, NULL);
    k->made = true;
    return &k->page;
}

static bool is_shown(const struct compare_page *p, enum section s)
{
    switch (s) {
    case SECTION_GPU: return p->c && p->c->n_gpu;
    case SECTION_COMPLETION: return p->c && p->c->ended_in_both;
    case SECTION_WAITS: return p->waits[0].n || (p->n > 1 && p->waits[1].n);
    case SECTION_JOBS: return compare_job_rows(p) > 0;
    case SECTION_TEAMS: return p->c && p->c->n_teams > 1;
    default: return true;
    }
}

/* ---- layout: one column or two, each section in the shorter one ---- */

struct layout {
    struct box box[N_SECTIONS]; /* of the content, below the title; height 0: not shown */
    float height;
};

static float title_height(const struct ui *u)
{
    return 1.6f * u->theme.line;
}

static float content_height(const struct ui *u, const struct compare_page *p, enum section s, float width)
{
    if (!is_shown(p, s)) return 0;
    switch (s) {
    case SECTION_WORDS: return compare_words_height(u, p, width);
    case SECTION_METRICS: return compare_metrics_height(u, p);
    case SECTION_GPU: return compare_waterfall_height(&p->gpu, &u->theme);
    case SECTION_COMPLETION: return compare_waterfall_height(&p->completion, &u->theme);
    case SECTION_WAITS: return 15 * u->theme.line;
    case SECTION_JOBS: return compare_jobs_height(u, p);
    default: return compare_teams_height(u, p);
    }
}

static void lay_out(const struct ui *u, const struct compare_page *p, struct box body, struct layout *l)
{
    float pad = 1.5f * u->theme.pad, f = u->theme.font_size;
    unsigned columns = body.w >= 2 * 72 * f + 3 * pad ? 2 : 1;
    float width = fminf((body.w - (float)(columns + 1) * pad) / (float)columns, 110 * f), y[2] = {0, 0};
    memset(l, 0, sizeof *l);
    for (enum section s = 0; s < N_SECTIONS; s++) {
        float h = content_height(u, p, s, width);
        unsigned c = columns > 1 && y[1] < y[0];
        if (h <= 0) continue;
        l->box[s] = (struct box){body.x + pad + (float)c * (width + pad), body.y + y[c] + title_height(u) - u->scroll[u->view], width, h};
        y[c] += title_height(u) + h + u->theme.line;
    }
    l->height = fmaxf(y[0], y[1]);
}

/* ---- what has the focus: a section's title, or a row of its jobs ---- */

struct item {
    enum section section;
    int row; /* -1: the title */
};

static unsigned items_of(const struct compare_page *p, enum section s)
{
    if (!is_shown(p, s)) return 0;
    return 1 + (s == SECTION_JOBS ? compare_job_rows(p) : 0);
}

static unsigned all_items(const struct compare_page *p)
{
    unsigned n = 0;
    for (enum section s = 0; s < N_SECTIONS; s++) n += items_of(p, s);
    return n;
}

static struct item item_at(const struct compare_page *p, unsigned focus)
{
    for (enum section s = 0; s < N_SECTIONS; s++) {
        unsigned n = items_of(p, s);
        if (focus < n) return (struct item){s, (int)focus - 1};
        focus -= n;
    }
    return (struct item){SECTION_WORDS, -1};
}

static unsigned index_of(const struct compare_page *p, struct item item)
{
    unsigned at = (unsigned)(item.row + 1);
    for (enum section s = 0; s < item.section; s++) at += items_of(p, s);
    return at;
}

/* ---- drawing ---- */

static void draw_content(struct ui *u, const struct compare_page *p, enum section s, struct box box, struct draw_list *d)
{
    struct item focus = item_at(p, u->focus);
    switch (s) {
    case SECTION_WORDS: compare_words_draw(u, p, d, box); break;
    case SECTION_METRICS: compare_metrics_draw(u, p, d, box); break;
    case SECTION_GPU: compare_waterfall_draw(&p->gpu, "A", "B", d, box); break;
    case SECTION_COMPLETION: compare_waterfall_draw(&p->completion, "A", "B", d, box); break;
    case SECTION_WAITS: compare_waits_draw(p, d, box); break;
    case SECTION_JOBS: compare_jobs_draw(u, p, d, box, focus.section == s && focus.row >= 0 ? (unsigned)focus.row : UINT32_MAX); break;
    default: compare_teams_draw(u, p, d, box); break;
    }
}

static void draw_title(struct ui *u, const struct compare_page *p, enum section s, struct box box, struct draw_list *d)
{
    float y = box.y - 0.45f * u->theme.line;
    bool here = item_at(p, u->focus).section == s;
    draw_text(d, box.x, y, &(struct text_style){.face = FACE_BOLD, .role = here ? ROLE_ACCENT : ROLE_TEXT, .max_width = box.w}, titles[s]);
    draw_line(d, (struct point){box.x, y + 0.35f * u->theme.line}, (struct point){box.x + box.w, y + 0.35f * u->theme.line},
              u->theme.role[here ? ROLE_ACCENT : ROLE_GRID], here ? 2 : 1);
}

static void draw_scrollbar(struct ui *u, struct box body, float height, struct draw_list *d)
{
    if (height <= body.h) return;
    float h = fmaxf(body.h * body.h / height, 2 * u->theme.line), y = body.y + (body.h - h) * u->scroll[u->view] / (height - body.h);
    draw_rect(d, (struct box){body.x + body.w - 5, y, 4, h}, ROLE_BORDER);
}

static void clamp_scroll(struct ui *u, const struct layout *l, struct box body)
{
    u->scroll[u->view] = fmaxf(0, fminf(u->scroll[u->view], l->height - body.h));
}

static void draw(struct ui *u, const struct pane *pane, struct draw_list *d)
{
    const struct compare_page *p = page_of(u);
    struct layout l;
    lay_out(u, p, pane->box, &l);
    clamp_scroll(u, &l, pane->box);
    lay_out(u, p, pane->box, &l);
    draw_clip(d, pane->box);
    for (enum section s = 0; s < N_SECTIONS; s++) {
        struct box b = l.box[s];
        if (b.h <= 0 || b.y - title_height(u) > pane->box.y + pane->box.h || b.y + b.h < pane->box.y) continue;
        draw_title(u, p, s, b, d);
        draw_content(u, p, s, b, d);
    }
    draw_scrollbar(u, pane->box, l.height, d);
    draw_unclip(d);
}

/* ---- keys and pointer ---- */

/* Brings what has the focus into sight: a title with as much of its section as there is room for. */
static void show_focus(struct ui *u, const struct compare_page *p, struct box body)
{
    struct layout l;
    struct item item = item_at(p, u->focus);
    lay_out(u, p, body, &l);
    struct box b = l.box[item.section];
    float top = b.y - title_height(u), bottom = b.y + b.h;
    if (item.row >= 0) {
        top = b.y + compare_row_y(u, p, (unsigned)item.row) - 3 * u->theme.line;
        bottom = b.y + compare_row_y(u, p, (unsigned)item.row) + u->theme.line;
    }
    if (bottom > body.y + body.h) u->scroll[u->view] += bottom - body.y - body.h;
    if (bottom - top > body.h || top < body.y) u->scroll[u->view] += fminf(top - body.y, bottom > body.y + body.h ? top - body.y - (bottom - body.y - body.h) : top - body.y);
    clamp_scroll(u, &l, body);
}

static bool next_section(struct ui *u, const struct compare_page *p, int step)
{
    struct item item = item_at(p, u->focus);
    for (int s = (int)item.section + step; s >= 0 && s < N_SECTIONS; s += step)
        if (is_shown(p, (enum section)s)) {
            u->focus = index_of(p, (struct item){(enum section)s, -1});
            return true;
        }
    u->focus = 0;
    return false; /* the frame goes on to its next part */
}

static void enter(struct ui *u, const struct compare_page *p)
{
    struct item item = item_at(p, u->focus);
    const struct job_pair *j = item.section == SECTION_JOBS && item.row >= 0 ? compare_row_job(p, (unsigned)item.row) : NULL;
    if (!j) return;
    if (ui_selected_job(u, 0) == j->a) ui_view(u, "job");
    else ui_select(u, &(struct ui_selection){.kind = SELECTED_JOB, .run = 0, .job = j->a, .at_ns = -1});
}

static bool key(struct ui *u, const struct pane *pane, int key, unsigned mods)
{
    const struct compare_page *p = page_of(u);
    unsigned n = all_items(p);
    if (u->focus >= n) u->focus = 0;
    if (key == UI_TAB && !(mods & ~(unsigned)UI_SHIFT)) {
        if (!next_section(u, p, mods ? -1 : 1)) return false;
    } else if (mods) return false;
    else if (key == UI_DOWN) u->focus = u->focus + 1 < n ? u->focus + 1 : u->focus;
    else if (key == UI_UP) u->focus -= u->focus > 0;
    else if (key == UI_ENTER) enter(u, p);
    else return false;
    if (u->view < n_view_kinds && !strcmp(view_kinds[u->view]->name, "compare")) show_focus(u, p, pane->box);
    u->dirty = true;
    return true;
}

static void wheel(struct ui *u, const struct pane *pane, float rows)
{
    struct layout l;
    lay_out(u, page_of(u), pane->box, &l);
    u->scroll[u->view] += rows * u->theme.line;
    clamp_scroll(u, &l, pane->box);
    u->dirty = true;
}

static bool hover(struct ui *u, const struct pane *pane, float x, float y, struct hover *h)
{
    const struct compare_page *p = page_of(u);
    struct layout l;
    lay_out(u, p, pane->box, &l);
    struct box b = l.box[SECTION_JOBS];
    if (b.h <= 0 || x < b.x || x >= b.x + b.w) return false;
    for (unsigned row = 0; row < compare_job_rows(p); row++) {
        float base = b.y + compare_row_y(u, p, row);
        if (y < base - 0.8f * u->theme.line || y >= base + 0.2f * u->theme.line) continue;
        const struct job_pair *j = compare_row_job(p, row);
        str_printf(h->text, "job %s: select it", p->scenes[0]->jobs[j->a].id);
        h->selection = (struct ui_selection){.kind = SELECTED_JOB, .run = 0, .job = j->a, .at_ns = -1};
        return true;
    }
    return false;
}

/* ---- as text ---- */

static void text_member(struct json_writer *w, const char *key, const char *text)
{
    json_write_key(w, key);
    json_write_string(w, text);
}

static void number_member(struct json_writer *w, const char *key, double x)
{
    json_write_key(w, key);
    json_write_double(w, x);
}

static void dump_figure(struct json_writer *w, const struct comparison_figure *f)
{
    text_member(w, "name", f->name);
    text_member(w, "unit", f->unit);
    number_member(w, "a", f->base);
    number_member(w, "b", f->other);
    number_member(w, "difference", f->difference);
    number_member(w, "change", f->ratio - 1);
    json_write_key(w, "interval");
    if (f->interval) {
        json_write_array_inline(w);
        json_write_double(w, f->low);
        json_write_double(w, f->high);
        json_write_end(w);
    } else
        json_write_null(w);
    text_member(w, "verdict", compare_verdict(f));
}

static void begin_list(struct json_writer *w, const char *key)
{
    json_write_key(w, key);
    json_write_array(w);
}

static void dump_metrics(struct json_writer *w, const struct compare_page *p)
{
    size_t metric[64];
    unsigned n = compare_metrics(p, metric);
    begin_list(w, "metrics");
    for (unsigned i = 0; i < n; i++) {
        json_write_object_inline(w);
        if (p->c) dump_figure(w, comparison_metric(p->c, metric_at(metric[i])->name));
        else {
            text_member(w, "name", metric_at(metric[i])->name);
            text_member(w, "unit", metric_at(metric[i])->unit);
            number_member(w, "a", metric_of(p->scenes[0]->run, metric[i]).value);
        }
        json_write_end(w);
    }
    json_write_end(w);
}

static void exact_member(struct json_writer *w, const char *key, const char *decimal)
{
    json_write_key(w, key);
    json_write_raw(w, decimal);
}

static void dump_parts(struct json_writer *w, const struct comparison *c)
{
    begin_list(w, "gpu_time");
    for (size_t i = 0; i <= c->n_gpu; i++) {
        const struct comparison_gpu *g = i < c->n_gpu ? &c->gpu[i] : &c->gpu_whole;
        json_write_object_inline(w);
        dump_figure(w, &g->f);
        json_write_key(w, "redone");
        json_write_bool(w, g->redone);
        exact_member(w, "a_gpu_s", g->base_gpu_s);
        exact_member(w, "b_gpu_s", g->other_gpu_s);
        json_write_end(w);
    }
    json_write_end(w);
    begin_list(w, "completion_time");
    for (size_t i = 0; i <= c->n_parts; i++) {
        const struct comparison_part *part = i < c->n_parts ? &c->parts[i] : &c->whole;
        json_write_object_inline(w);
        dump_figure(w, &part->f);
        exact_member(w, "a_s", part->base_s);
        exact_member(w, "b_s", part->other_s);
        json_write_end(w);
    }
    json_write_end(w);
}

static void dump_waits(struct json_writer *w, const struct compare_page *p)
{
    static const char *const metrics[] = {"p50_wait", "p95_wait", "p99_wait"};
    begin_list(w, "waits");
    for (unsigned i = 0; i < p->n; i++) {
        json_write_object_inline(w);
        text_member(w, "approach", p->scenes[i]->run->approach);
        json_write_key(w, "jobs");
        json_write_uint64(w, p->waits[i].jobs);
        json_write_key(w, "started");
        json_write_uint64(w, p->waits[i].n);
        for (size_t m = 0; m < 3; m++) number_member(w, metrics[m], metric_of(p->scenes[i]->run, (size_t)metric_find(metrics[m])).value);
        number_member(w, "within_1m", wait_curve_at(&p->waits[i], 60));
        number_member(w, "within_1h", wait_curve_at(&p->waits[i], 3600));
        json_write_end(w);
    }
    json_write_end(w);
}

static void dump_jobs(struct json_writer *w, const struct compare_page *p)
{
    begin_list(w, "jobs");
    for (unsigned row = 0; row < compare_job_rows(p); row++) {
        const struct job_pair *j = compare_row_job(p, row);
        json_write_object_inline(w);
        text_member(w, "job", p->scenes[0]->jobs[j->a].id);
        text_member(w, "under_b", j->other_ns < j->base_ns ? "sooner" : "later");
        json_write_key(w, "a_s");
        json_write_seconds(w, j->base_ns);
        json_write_key(w, "b_s");
        json_write_seconds(w, j->other_ns);
        text_member(w, "most_of_it", jct_part_name(j->part));
        json_write_end(w);
    }
    json_write_end(w);
}

static void dump_teams(struct json_writer *w, const struct comparison *c)
{
    begin_list(w, "teams");
    for (size_t i = 0; i < c->n_teams; i++) {
        json_write_object(w);
        text_member(w, "team", c->teams[i].team);
        json_write_key(w, "wait");
        json_write_object_inline(w);
        dump_figure(w, &c->teams[i].wait);
        json_write_end(w);
        json_write_key(w, "jct");
        json_write_object_inline(w);
        dump_figure(w, &c->teams[i].jct);
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
}

static void dump(struct ui *u, const struct pane *pane, struct json_writer *w)
{
    const struct compare_page *p = page_of(u);
    struct item item = item_at(p, u->focus);
    (void)pane;
    text_member(w, "section", names[item.section]);
    json_write_key(w, "row");
    json_write_int64(w, item.row);
    text_member(w, "why_not", p->why);
    begin_list(w, "words");
    for (size_t i = 0; p->c && i < p->c->n_words; i++) json_write_string(w, p->c->words[i]);
    json_write_end(w);
    text_member(w, "source", p->c ? p->c->source : NULL);
    text_member(w, "notes", p->c ? p->c->notes : NULL);
    dump_metrics(w, p);
    if (p->c) dump_parts(w, p->c);
    dump_waits(w, p);
    dump_jobs(w, p);
    if (p->c) dump_teams(w, p->c);
}

static const struct view_key keys[] = {
    {"Tab", "next section"},
    {"Up, Down", "next section or job"},
    {"Enter", "select the job; again: open its page"},
    {NULL, NULL},
};

const struct view_kind view_compare = {
    .name = "compare",
    .title = "Comparison",
    .whole = true,
    .axis = AXIS_NONE,
    .draw = draw,
    .key = key,
    .hover = hover,
    .wheel = wheel,
    .keys = keys,
    .dump = dump,
};
