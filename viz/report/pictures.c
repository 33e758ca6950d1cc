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

enum { WIDTH = 1180 };
static const float margin = 4;

struct studio {
    struct scene *scenes[UI_MAX_RUNS];
    unsigned n, *count;
    const struct text_engine *text;
    struct theme theme;
    struct ui *ui; /* NULL: not needed yet */
    struct draw_list *list;
    struct compare_page page;
    bool compared;
};

extern const struct view_kind view_curves, view_ledger;

struct studio *studio_open(struct scene *const *scenes, unsigned n, const struct text_engine *text, unsigned *count)
{
    struct studio *s = xcalloc(1, sizeof *s);
    s->text = text;
    s->count = count;
    s->n = n;
    for (unsigned i = 0; i < n; i++) s->scenes[i] = scenes[i];
    s->theme = theme_make(0, 1);
    s->list = draw_create(text);
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
    draw_destroy(s->list);
    ui_destroy(s->ui);
    free(s);
}

/* ---- a figure around a picture ---- */

static void begin(struct studio *s, float height)
{
    draw_begin(s->list, WIDTH, height + 2 * margin, &s->theme);
}

static struct box canvas(float height)
{
    return (struct box){margin, margin, WIDTH - 2 * margin, height};
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

static void finish(struct studio *s, struct str *out, const char *title, const char *description)
{
    struct str svg = {0};
    char prefix[16];
    unsigned number = ++*s->count;
    snprintf(prefix, sizeof prefix, "p%u-", number);
    vector_svg(s->list, prefix, &svg);
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

/* ---- pictures ---- */

/* A view over the whole time, with its axis below. */
static void draw_view(struct studio *s, const struct view_kind *kind, unsigned run, float height)
{
    struct ui *u = need_ui(s);
    struct box body = canvas(height - u->theme.line - u->theme.pad), axis = {body.x, body.y + body.h, body.w, u->theme.line + u->theme.pad};
    struct pane pane = {body, run};
    u->view = 0;
    u->focus = UINT_MAX; /* nothing is chosen on paper */
    memset(u->scroll, 0, sizeof u->scroll);
    begin(s, height);
    time_axis_grid(u, s->list, view_plot(u, kind, body));
    kind->draw(u, &pane, s->list);
    time_axis_draw(u, s->list, axis, view_plot(u, kind, axis));
}

void studio_curves(struct studio *s, unsigned run, struct str *out)
{
    const struct scene *scene = s->scenes[run];
    struct str title = {0};
    if (!scene->has_timeline) {
        note(out, "This run keeps no records (--record none), so nothing can be shown over time.");
        return;
    }
    draw_view(s, &view_curves, run, scene->has_gpus ? 620 : 420);
    str_printf(&title, "%s over time.", scene->title);
    finish(s, out, str_text(&title),
           scene->has_gpus ? "Jobs waiting and running, GPUs by state, goodput. Bands: least and most within a pixel; lines: means."
                           : "Jobs waiting and running. --record full would show GPUs too.");
    str_free(&title);
}

void studio_ledger(struct studio *s, struct str *out)
{
    struct str title = {0};
    draw_view(s, &view_ledger, 0, s->n > 1 ? 860 : 720);
    if (s->n > 1) str_printf(&title, "Both ledgers; A: %s, B: %s, on one scale.", s->scenes[0]->title, s->scenes[1]->title);
    else str_printf(&title, "Both ledgers of %s.", s->scenes[0]->title);
    finish(s, out, str_text(&title),
           "Left: exact sums of GPU time by state, and of what jobs waited for. Right: the same over time, where it is recorded; there all of a job's waiting in its queue shows the reason that took most of it.");
    str_free(&title);
}

static void waterfall(struct studio *s, const struct waterfall *w, struct str *out, const char *title, const char *description)
{
    float height = compare_waterfall_height(w, &s->theme);
    if (!w->rows.n) return;
    begin(s, height);
    compare_waterfall_draw(w, s->page.c->base, s->page.c->other, s->list, canvas(height));
    finish(s, out, title, description);
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

void studio_waits(struct studio *s, struct str *out)
{
    float height = 17 * s->theme.line;
    studio_compare(s, NULL);
    if (!s->page.waits[0].n && !s->page.waits[1].n) return;
    begin(s, height);
    compare_waits_draw(&s->page, s->list, canvas(height));
    finish(s, out, "How long jobs wait.", "The part of the jobs that started within a time after their submission, in the first replication; marks at p50, p95 and p99.");
}
