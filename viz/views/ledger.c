/* ledger.c - both ledgers: where the GPU time went, and what jobs waited for; sums at the left, over time at the right.
 *
 * The sums are those of ledger.csv and jobs.csv, exactly; those of two runs stand side by side on one scale, with their differences.
 * M tells them apart by state, team, queue, kind or node group; N shows each run's as parts of its own whole.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/ledger_page.h"

#include <math.h>

#include "viz/views/plot.h"

/* ---- layout: two halves, each with its table and plots ---- */

unsigned ledger_runs_shown(const struct ui *u, unsigned runs[UI_MAX_RUNS])
{
    unsigned n = 0;
    for (unsigned i = 0; i < u->n_runs; i++)
        if (u->show == UI_BOTH || u->show == (i ? UI_ONLY_B : UI_ONLY_A)) runs[n++] = i;
    return n;
}

static float labels(const struct ui *u)
{
    unsigned runs[UI_MAX_RUNS];
    return roundf((ledger_runs_shown(u, runs) > 1 ? 43.5f : 40) * u->theme.font_size);
}

float ledger_gutter(const struct ui *u)
{
    return roundf(4.6f * u->theme.font_size); /* of the ticks */
}

static unsigned rows_that_fit(const struct ui *u, float height)
{
    return (unsigned)fmaxf(0, floorf((height - 2.6f * u->theme.line) / u->theme.line));
}

void ledger_lay_out(struct ui *u, struct box body, struct ledger_half half[2])
{
    const struct ledger_tables *t = ledger_tables_of(u);
    float a = (float)t->gpu.lines.n + 3, b = (float)t->wait.lines.n + 3, part = fmaxf(0.38f, fminf(0.62f, a / (a + b)));
    float h = floorf(body.h * part);
    half[0] = (struct ledger_half){&t->gpu, "GPU time", {body.x, body.y, body.w, h}, 0, 0};
    half[1] = (struct ledger_half){&t->wait, "What jobs waited for", {body.x, body.y + h, body.w, body.h - h}, 0, 0};
    unsigned scroll = (unsigned)fmaxf(0, u->scroll[u->view]);
    for (unsigned i = 0; i < 2; i++) {
        half[i].rows = rows_that_fit(u, half[i].box.h);
        unsigned n = (unsigned)half[i].t->lines.n, most = n > half[i].rows ? n - half[i].rows : 0;
        half[i].first = scroll < most ? scroll : most;
        scroll -= half[i].first;
    }
}

static unsigned scroll_most(struct ui *u, struct box body)
{
    struct ledger_half half[2];
    unsigned most = 0;
    ledger_lay_out(u, body, half);
    for (unsigned i = 0; i < 2; i++)
        if (half[i].t->lines.n > half[i].rows) most += (unsigned)half[i].t->lines.n - half[i].rows;
    return most;
}

/* ---- drawing ---- */

static bool has_nothing(struct ui *u)
{
    const struct ledger_tables *t = ledger_tables_of(u);
    for (unsigned i = 0; i < u->n_runs; i++)
        if (ledger_is_known(u, &t->gpu, i) || ledger_is_known(u, &t->wait, i)) return false;
    return !t->gpu.lines.n && !t->wait.lines.n;
}

static void draw(struct ui *u, const struct pane *pane, struct draw_list *d)
{
    struct ledger_half half[2];
    if (has_nothing(u)) {
        view_empty(u, d, pane->box, "There is no ledger yet.", "ledger.csv is written when the run ends; with --record full its states show while it runs");
        return;
    }
    ledger_lay_out(u, pane->box, half);
    draw_clip(d, pane->box);
    for (unsigned i = 0; i < 2; i++) {
        ledger_draw_table(u, &half[i], d);
        ledger_draw_plots(u, &half[i], d);
    }
    draw_unclip(d);
}

/* ---- keys and pointer ---- */

static void scroll_by(struct ui *u, struct box body, float rows)
{
    u->scroll[u->view] = fmaxf(0, fminf(roundf(u->scroll[u->view] + rows), (float)scroll_most(u, body)));
    u->dirty = true;
}

static bool key(struct ui *u, const struct pane *pane, int key, unsigned mods)
{
    if (key == 'n' && mods == UI_SHIFT && u->n_runs > 1) {
        u->normalise = !u->normalise;
        ui_say(u, u->normalise ? "Each run as parts of its own whole" : "Both runs on one scale");
    } else if (mods) return false;
    else if (key == 'm') {
        u->ledger_by = (u->ledger_by + 1) % N_LEDGER_BY;
        u->scroll[u->view] = 0;
        ui_say(u, "Sums by %s", ledger_by_names[u->ledger_by]);
    } else if (key == UI_UP) scroll_by(u, pane->box, -1);
    else if (key == UI_DOWN) scroll_by(u, pane->box, 1);
    else return false;
    u->dirty = true;
    return true;
}

static void wheel(struct ui *u, const struct pane *pane, float rows)
{
    scroll_by(u, pane->box, rows);
}

/* The line of a table below the pointer; NULL. */
static const struct ledger_line *line_under(const struct ui *u, const struct ledger_half *h, float y)
{
    float row = (y - h->box.y - 1.6f * u->theme.line) / u->theme.line;
    if (row < 0 || row >= (float)h->rows) return NULL;
    size_t i = h->first + (size_t)row;
    return i < h->t->lines.n ? &h->t->lines.v[i] : NULL;
}

static void line_text(const struct ui *u, const struct ledger_table *t, const struct ledger_line *line, struct str *s)
{
    plot_name(s, line->name);
    if (line->show != SHOW_NOTHING && line->depth + t->waits) str_printf(s, ": %s", show_help(line->show));
    for (unsigned run = 0; run < u->n_runs; run++) {
        str_printf(s, "\n%s", u->n_runs < 2 ? "" : run ? "B: " : "A: ");
        ledger_exact(t, line->sum[run], s);
        str_printf(s, t->waits ? " s (%.2f %%)" : " GPU-s (%.2f %%)", 100 * ledger_share_of(t, run, line->sum[run]));
    }
}

static bool hover_table(struct ui *u, const struct ledger_half *h, float y, struct hover *hover)
{
    const struct ledger_line *line = line_under(u, h, y);
    if (line) line_text(u, h->t, line, hover->text);
    return line != NULL;
}

static bool hover_plot(struct ui *u, const struct ledger_half *h, float x, float y, struct hover *hover)
{
    unsigned runs[UI_MAX_RUNS], n = ledger_runs_shown(u, runs), shows[N_SHOWS], n_shows = ledger_layers(h->t, shows);
    for (unsigned i = 0; i < n; i++) {
        struct box plot = ledger_plot(u, h, i, n);
        if (y < plot.y || y > plot.y + plot.h || !ledger_is_known(u, h->t, runs[i])) continue;
        int64_t ns = ui_time_of(u, plot, x);
        for (unsigned k = n_shows; k-- > 0;) {
            double value = ledger_value_at(u, h->t, runs[i], shows[k], ns);
            if (value <= 0) continue;
            if (hover->text->n) str_append_char(hover->text, '\n');
            plot_name(hover->text, show_name(shows[k]));
            str_append(hover->text, ": ");
            plot_amount(hover->text, h->t->waits ? "jobs" : "GPUs", value);
        }
    }
    if (hover->text->n && h->t->waits) str_printf(hover->text, "\n(%s)", ledger_queue_note);
    return hover->text->n > 0;
}

static bool hover(struct ui *u, const struct pane *pane, float x, float y, struct hover *h)
{
    struct ledger_half half[2];
    ledger_lay_out(u, pane->box, half);
    const struct ledger_half *at = &half[y >= half[1].box.y];
    return x < view_plot(u, &view_ledger, pane->box).x - ledger_gutter(u) ? hover_table(u, at, y, h) : hover_plot(u, at, x, y, h);
}

static bool click(struct ui *u, const struct pane *pane, float x, float y, unsigned mods)
{
    struct ledger_half half[2];
    ledger_lay_out(u, pane->box, half);
    if (mods || x >= view_plot(u, &view_ledger, pane->box).x) return false;
    const struct ledger_line *line = line_under(u, &half[y >= half[1].box.y], y);
    if (!line || line->show == SHOW_NOTHING || u->colour_by != COLOUR_STATE) return false;
    u->isolated = u->isolated == line->show + 1 ? 0 : line->show + 1;
    u->dirty = true;
    return true;
}

static const struct view_key keys[] = {
    {"M", "sums by state, team, queue, kind, node group"},
    {"Shift+N", "A and B on one scale, or as parts of their wholes"},
    {"Up, Down", "scroll the sums"},
    {NULL, NULL},
};

const struct view_kind view_ledger = {
    .name = "ledger",
    .title = "Ledgers",
    .whole = true,
    .axis = AXIS_TIME,
    .labels = labels,
    .draw = draw,
    .key = key,
    .hover = hover,
    .click = click,
    .wheel = wheel,
    .keys = keys,
    .dump = ledger_dump,
};
