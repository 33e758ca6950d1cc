/* pictures.c - see pictures.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/report/pictures.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "viz/draw/vector.h"
#include "viz/report/html.h"
#include "viz/ui/time_axis.h"
#include "viz/ui/view.h"
#include "viz/views/plot.h"
#include "viz/views/widgets.h"

enum { WIDTH = 1180 };
static const float margin = 4;

enum { LIGHT, DARK, N_SIDES }; /* as theme_names */

struct studio {
    struct scene *scenes[UI_ALL_RUNS];
    unsigned n;
    struct album *album;
    const struct text_engine *text;
    struct theme themes[N_SIDES];
    struct ui *ui; /* NULL: not needed yet */
    struct draw_list *sides[N_SIDES], *list; /* list: that is drawn into */
    struct compare_page page;
    bool compared;
};

/* What is drawn, once a theme. */
struct shot {
    void (*draw)(struct studio *, const struct shot *);
    float height;
    const struct view_kind *kind;
    unsigned run;
    const struct waterfall *waterfall;
};

extern const struct view_kind view_gantt, view_map, view_curves, view_ledger;

struct studio *studio_open(struct scene *const *scenes, unsigned n, const struct text_engine *text, struct album *album)
{
    struct studio *s = xcalloc(1, sizeof *s);
    s->text = text;
    s->album = album;
    s->n = n;
    for (unsigned i = 0; i < n; i++) s->scenes[i] = scenes[i];
    for (unsigned i = 0; i < N_SIDES; i++) {
        s->themes[i] = theme_make(i, 1);
        s->sides[i] = draw_create(text);
    }
    return s;
}

void studio_compare(struct studio *s, struct comparison *c)
{
    const struct scene *scenes[UI_MAX_RUNS] = {s->scenes[0], s->scenes[1]};
    if (!s->compared) compare_page_make(&s->page, scenes, s->n, NULL, c);
    s->compared = true;
}

static struct ui *need_ui(struct studio *s)
{
    struct ui_options options = {.font_scale = 1};
    if (!s->ui) s->ui = ui_create(s->scenes, s->n, s->text, &options);
    return s->ui;
}

void studio_close(struct studio *s)
{
    compare_page_free(&s->page);
    for (unsigned i = 0; i < N_SIDES; i++) draw_destroy(s->sides[i]);
    ui_destroy(s->ui);
    free(s);
}

/* ---- a figure around a picture ---- */

static struct box canvas(float height)
{
    return (struct box){margin, margin, WIDTH - 2 * margin, height};
}

/* Both sides; true when they differ in colours only, and the light one holds inks then. */
static bool draw_sides(struct studio *s, const struct shot *shot)
{
    for (unsigned i = 0; i < N_SIDES; i++) {
        s->list = s->sides[i];
        if (s->ui) ui_theme_set(s->ui, i, 1);
        draw_begin(s->list, WIDTH, shot->height + 2 * margin, &s->themes[i]);
        shot->draw(s, shot);
    }
    return inks_take(&s->album->inks, s->sides[LIGHT], s->sides[DARK]);
}

/* The <svg> with a role, a title and a description. */
static void put_picture(struct str *out, const struct str *svg, unsigned number, const char *title, const char *description)
{
    const char *text = str_text(svg), *element = strstr(text, "<svg"), *end = element ? strchr(element, '>') : NULL;
    if (!end) return;
    str_append(out, "<svg");
    str_printf(out, " role=\"img\" aria-labelledby=\"t%u d%u\"", number, number);
    str_append_n(out, element + 4, (size_t)(end - element - 4));
    str_printf(out, ">\n<title id=\"t%u\">", number);
    html_text(out, title);
    str_printf(out, "</title><desc id=\"d%u\">", number);
    html_text(out, description);
    str_append(out, "</desc>");
    str_append(out, end + 1);
}

static void picture(struct studio *s, const struct shot *shot, struct str *out, const char *title, const char *description)
{
    struct str svg = {0};
    char prefix[16];
    unsigned number = ++s->album->pictures;
    bool inks = draw_sides(s, shot);
    s->album->plain += !inks;
    snprintf(prefix, sizeof prefix, "p%u-", number);
    vector_svg(s->sides[LIGHT], inks ? &s->album->inks : NULL, prefix, &svg);
    str_append(out, "<figure><div class=\"picture\">\n");
    put_picture(out, &svg, number, title, description);
    str_append(out, "</div>\n<figcaption><strong>");
    html_text(out, title);
    str_append(out, "</strong> ");
    html_text(out, description);
    str_append(out, "</figcaption></figure>\n");
    str_free(&svg);
}

static void note(struct str *out, const char *text)
{
    html_element(out, "p class=\"note\"", text);
}

/* ---- views ---- */

static void turn_to(struct ui *u, const struct view_kind *kind)
{
    for (unsigned i = 0; i < n_view_kinds; i++)
        if (view_kinds[i] == kind) u->view = i;
    u->focus = UINT_MAX; /* nothing is chosen on paper */
    memset(u->scroll, 0, sizeof u->scroll);
}

/* A view over the whole time: its legend above, its axis below. */
static void draw_view(struct studio *s, const struct shot *shot)
{
    struct ui *u = s->ui;
    const struct view_kind *kind = shot->kind;
    struct box all = canvas(shot->height), body = all, *legend = &u->layout.legend;
    *legend = (struct box){all.x, all.y, all.w, legend_height(u, all.w)};
    body.y += legend->h;
    body.h -= legend->h;
    if (legend->h > 0) legend_draw(u, s->list, *legend);
    if (kind->axis == AXIS_TIME) body.h -= u->theme.line + u->theme.pad;
    struct box plot = view_plot(u, kind, body), axis = {body.x, body.y + body.h, body.w, u->theme.line + u->theme.pad};
    if (kind->axis == AXIS_TIME) time_axis_grid(u, s->list, plot);
    draw_clip(s->list, body);
    kind->draw(u, &(struct pane){body, shot->run}, s->list);
    draw_unclip(s->list);
    if (kind->axis == AXIS_TIME) time_axis_draw(u, s->list, axis, plot);
}

static void view_picture(struct studio *s, const struct view_kind *kind, unsigned run, float height, struct str *out, const char *title, const char *description)
{
    turn_to(need_ui(s), kind);
    struct shot shot = {.draw = draw_view, .height = height + legend_height(s->ui, WIDTH - 2 * margin), .kind = kind, .run = run};
    picture(s, &shot, out, title, description);
}

/* ---- many runs ---- */

static bool any_has(const struct studio *s, bool gpus)
{
    bool any = false;
    for (unsigned i = 0; i < s->n; i++) any |= gpus ? s->scenes[i]->has_gpus : s->scenes[i]->has_timeline;
    return any;
}

/* The legend once, above all. */
static void draw_grid(struct studio *s, const struct shot *shot)
{
    struct ui *u = s->ui;
    struct box all = canvas(shot->height), body = all, *legend = &u->layout.legend;
    *legend = (struct box){all.x, all.y, all.w, legend_height(u, all.w)};
    body.y += legend->h;
    body.h -= legend->h;
    if (legend->h > 0) legend_draw(u, s->list, *legend);
    if (shot->kind->axis == AXIS_TIME) body.h -= u->theme.line + u->theme.pad;
    grid_picture(u, s->list, body, (struct box){body.x, body.y + body.h, body.w, u->theme.line + u->theme.pad});
}

static void grid_of(struct studio *s, const struct view_kind *kind, float tile, struct str *out, const char *title, const char *description)
{
    struct ui *u = need_ui(s);
    turn_to(u, kind);
    u->grid = true;
    u->grid_columns = s->n <= 4 ? 2 : s->n <= 9 ? 3 : 4;
    float rows = (float)((s->n + u->grid_columns - 1) / u->grid_columns);
    struct shot shot = {.draw = draw_grid, .height = rows * tile + legend_height(u, WIDTH - 2 * margin) + u->theme.line + u->theme.pad, .kind = kind};
    picture(s, &shot, out, title, description);
    u->grid = false;
}

void studio_gantts(struct studio *s, struct str *out)
{
    if (any_has(s, true))
        grid_of(s, &view_gantt, 210, out, "Who held which GPU, under each approach.",
                "On one axis of time. A row a GPU, or several where there are more than rows; failures stand in the lane above.");
}

void studio_maps(struct studio *s, struct str *out)
{
    struct str title = {0};
    if (!any_has(s, true)) return;
    str_append(&title, "The cluster after ");
    widget_moment(&title, need_ui(s)->cursor_ns);
    str_append(&title, ", under each approach.");
    grid_of(s, &view_map, 280, out, str_text(&title),
            "Every GPU is a cell, in its node and rack. This is the moment in which most GPUs are waited for under the first approach; time axes mark it.");
    str_free(&title);
}

void studio_all_curves(struct studio *s, struct str *out)
{
    if (any_has(s, false))
        grid_of(s, &view_curves, any_has(s, true) ? 490 : 220, out, "All approaches over time, on the same scales.",
                "Jobs waiting and running, GPUs by state, goodput. Bands: least and most within a pixel; lines: means.");
    else note(out, "These runs keep no records (--record none), so nothing can be shown over time.");
}

void studio_ledger_of(struct studio *s, unsigned run, struct str *out)
{
    struct str title = {0};
    ui_alone(need_ui(s), run);
    str_printf(&title, "Both ledgers of %s.", s->scenes[run]->title);
    view_picture(s, &view_ledger, 0, 720, out, str_text(&title), "Left: exact sums. Right: over time, where it is recorded.");
    str_free(&title);
}

int64_t studio_moment(struct studio *s, unsigned run)
{
    const struct curves *c = need_ui(s)->runs[run].curves;
    const struct scene *scene = s->scenes[run];
    if (!scene->has_gpus) return -1;
    double most = curve_most(c, CURVE_QUEUED_SHARES);
    if (most > 0) return curve_above(c, CURVE_QUEUED_SHARES, most - 0.5, scene->begin_ns);
    return curve_above(c, CURVE_RUNNING_JOBS, curve_most(c, CURVE_RUNNING_JOBS) - 0.5, scene->begin_ns);
}

void studio_at(struct studio *s, int64_t ns)
{
    if (ns >= 0) need_ui(s)->cursor_ns = ns;
}

void studio_gantt(struct studio *s, unsigned run, struct str *out)
{
    struct str title = {0};
    if (!s->scenes[run]->has_gpus) return;
    str_printf(&title, "Who held which GPU: %s.", s->scenes[run]->title);
    view_picture(s, &view_gantt, run, 400, out, str_text(&title),
                 "A row a GPU, or several GPUs where there are more than rows; what is narrower than a pixel is merged by the GPU time it takes. Failures stand in the lane above.");
    str_free(&title);
}

void studio_map(struct studio *s, unsigned run, struct str *out)
{
    struct str title = {0};
    if (!s->scenes[run]->has_gpus) return;
    str_append(&title, "The cluster after ");
    widget_moment(&title, need_ui(s)->cursor_ns);
    str_printf(&title, ": %s.", s->scenes[run]->title);
    view_picture(s, &view_map, run, 400, out, str_text(&title),
                 "Every GPU is a cell, in its node and rack. This is the moment in which most GPUs are waited for under the first approach; time axes mark it.");
    str_free(&title);
}

void studio_curves(struct studio *s, unsigned run, struct str *out)
{
    const struct scene *scene = s->scenes[run];
    struct str title = {0};
    if (!scene->has_timeline) {
        note(out, "This run keeps no records (--record none), so nothing can be shown over time.");
        return;
    }
    str_printf(&title, "%s over time.", scene->title);
    view_picture(s, &view_curves, run, scene->has_gpus ? 620 : 420, out, str_text(&title),
                 scene->has_gpus ? "Jobs waiting and running, GPUs by state, goodput. Bands: least and most within a pixel; lines: means."
                                 : "Jobs waiting and running. --record full would show GPUs too, and who held which.");
    str_free(&title);
}

void studio_ledger(struct studio *s, struct str *out)
{
    struct str title = {0};
    if (s->n > 1) str_printf(&title, "Both ledgers; A: %s, B: %s, on one scale.", s->scenes[0]->title, s->scenes[1]->title);
    else str_printf(&title, "Both ledgers of %s.", s->scenes[0]->title);
    view_picture(s, &view_ledger, 0, s->n > 1 ? 860 : 720, out, str_text(&title),
                 "Left: exact sums of GPU time by state, and of what jobs waited for. Right: the same over time, where it is recorded; there all of a job's waiting in its queue shows the reason that took most of it.");
    str_free(&title);
}

/* ---- the comparison ---- */

static void draw_waterfall(struct studio *s, const struct shot *shot)
{
    compare_waterfall_draw(shot->waterfall, s->page.c->base, s->page.c->other, s->list, canvas(shot->height));
}

static void waterfall(struct studio *s, const struct waterfall *w, struct str *out, const char *title, const char *description)
{
    struct shot shot = {.draw = draw_waterfall, .height = compare_waterfall_height(w, &s->themes[LIGHT]), .waterfall = w};
    if (w->rows.n) picture(s, &shot, out, title, description);
}

void studio_waterfalls(struct studio *s, struct str *out)
{
    studio_compare(s, NULL);
    if (!s->page.c) {
        note(out, s->page.why);
        return;
    }
    waterfall(s, &s->page.gpu, out, "Where GPU time differs.",
              "Each bar is the difference of one state, and begins where the one above it ends; the last one is the whole. Grey: no difference shown.");
    waterfall(s, &s->page.completion, out, "Where a job's time differs, from submission to end.",
              "The same for the mean completion time of jobs that ended under both: what they waited for, work, and work done again.");
}

static void draw_waits(struct studio *s, const struct shot *shot)
{
    compare_waits_draw(&s->page, s->list, canvas(shot->height));
}

void studio_waits(struct studio *s, struct str *out)
{
    struct shot shot = {.draw = draw_waits, .height = 17 * s->themes[LIGHT].line};
    studio_compare(s, NULL);
    if (!s->page.waits[0].n && !s->page.waits[1].n) return;
    picture(s, &shot, out, "How long jobs wait.", "The part of the jobs that started within a time after their submission, in the first replication; marks at p50, p95 and p99.");
}
