/* ledger_time.c - the ledgers over time: where they come from, and their plots.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/ledger_page.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "viz/ui/memo.h"
#include "viz/views/plot.h"

/* ---- what is shown ---- */

static void release(void *piece)
{
    struct ledger_tables *t = piece;
    ledger_table_free(&t->gpu);
    ledger_table_free(&t->wait);
    for (unsigned i = 0; i < UI_MAX_RUNS; i++) wait_series_destroy(t->series[i]);
}

/* Of all runs, in the order A, B. */
const struct ledger_tables *ledger_tables_of(struct ui *u)
{
    struct ledger_source s[UI_MAX_RUNS] = {{0}};
    uint64_t state = u->ledger_by;
    for (unsigned i = 0; i < u->n_runs; i++) {
        s[i] = (struct ledger_source){u->runs[i].scene, u->runs[i].curves};
        state = state * 1000003 + u->runs[i].scene->version * 31 + (uint64_t)(uintptr_t)u->runs[i].scene;
    }
    struct ledger_tables *t = memo_get(&u->memos, "ledger", state, sizeof *t, release);
    if (!t->made) {
        ledger_gpu_table(&t->gpu, s, u->n_runs, u->ledger_by);
        ledger_wait_table(&t->wait, s, u->n_runs, u->ledger_by);
        for (unsigned i = 0; i < u->n_runs; i++)
            if (s[i].scene->has_timeline) t->series[i] = wait_series_create(s[i].scene);
        t->made = true;
    }
    return t;
}

/* ---- over time ---- */

unsigned ledger_layers(const struct ledger_table *t, unsigned shows[N_SHOWS])
{
    if (!t->waits) return plot_stack_order(shows);
    for (unsigned r = 0; r < N_WAIT_REASONS; r++) shows[r] = SHOW_WAIT + r;
    return N_WAIT_REASONS;
}

const char ledger_queue_note[] = "over time, all of a job's waiting in its queue shows the reason that took most of it";

/* GPUs in a state, or jobs that wait for a reason. */
double ledger_value_at(struct ui *u, const struct ledger_table *t, unsigned run, unsigned show, int64_t ns)
{
    if (t->waits) return wait_series_at(ledger_tables_of(u)->series[run], show - SHOW_WAIT, ns);
    return curve_at(u->runs[run].curves, CURVE_SHOW + show, ns) / 1000;
}

bool ledger_is_known(struct ui *u, const struct ledger_table *t, unsigned run)
{
    if (t->waits) return ledger_tables_of(u)->series[run] != NULL;
    return u->runs[run].curves && curve_known(u->runs[run].curves, CURVE_IDLE_SHARES);
}

static double top_of(struct ui *u, const struct ledger_table *t, unsigned run)
{
    if (!ledger_is_known(u, t, run)) return 0;
    return t->waits ? wait_series_most(ledger_tables_of(u)->series[run]) : curve_most(u->runs[run].curves, CURVE_EXISTING_SHARES) / 1000;
}

static struct plot_scale scale_of(struct ui *u, const struct ledger_table *t, unsigned run, float height)
{
    double most = top_of(u, t, run);
    for (unsigned i = 0; i < u->n_runs && !u->normalise; i++) most = fmax(most, top_of(u, t, i));
    return plot_scale_of(t->waits ? "jobs" : "GPUs", most, (unsigned)fmaxf(1, fminf(8, floorf(height / (2.4f * u->theme.line)))));
}

static void draw_over_time(struct ui *u, const struct ledger_table *t, unsigned run, struct box plot, struct draw_list *d)
{
    struct plot_scale s = scale_of(u, t, run, plot.h);
    unsigned n = (unsigned)fmaxf(plot.w, 1), shows[N_SHOWS], n_shows = ledger_layers(t, shows);
    struct curve_column *col = xcalloc(n, sizeof *col);
    double *below = xcalloc(n, sizeof *below);
    draw_rect(d, plot, ROLE_PANEL);
    plot_axis(d, plot, &s);
    draw_clip(d, plot);
    for (unsigned i = 0; i < n_shows; i++) {
        struct look look = plot_look(u, shows[i]);
        if (t->waits) wait_series_columns(ledger_tables_of(u)->series[run], shows[i] - SHOW_WAIT, u->from_ns, u->to_ns, n, col);
        else curve_columns(u->runs[run].curves, CURVE_SHOW + shows[i], u->from_ns, u->to_ns, n, col);
        plot_layer(d, plot, &s, col, n, below, t->waits ? 1 : 1e-3, look.argb, look.pattern);
    }
    draw_unclip(d);
    free(below);
    free(col);
}

/* The plot of one run in a half. */
struct box ledger_plot(const struct ui *u, const struct ledger_half *h, unsigned i, unsigned n)
{
    struct box p = view_plot(u, &view_ledger, h->box);
    float head = 1.45f * u->theme.line, each = floorf(h->box.h / (float)n);
    return (struct box){p.x, h->box.y + each * (float)i + head, p.w, each - head - 0.5f * u->theme.pad};
}

void ledger_draw_plots(struct ui *u, const struct ledger_half *h, struct draw_list *d)
{
    unsigned runs[UI_MAX_RUNS], n = ledger_runs_shown(u, runs);
    for (unsigned i = 0; i < n; i++) {
        struct box plot = ledger_plot(u, h, i, n);
        const char *what = h->t->waits ? "Jobs that wait, by reason" : "GPUs by state";
        struct str head = {0};
        str_printf(&head, "%s%s", u->n_runs < 2 ? "" : runs[i] ? "B: " : "A: ", what);
        plot_text_within(d, plot.x + u->theme.pad, plot.y - 0.4f * u->theme.line, plot.w - u->theme.pad, ROLE_TEXT_DIM, str_text(&head));
        str_free(&head);
        if (ledger_is_known(u, h->t, runs[i])) draw_over_time(u, h->t, runs[i], plot, d);
        else view_empty(u, d, plot, "Nothing is recorded over time.", "trainyard run --record full -o DIR records it.");
    }
}
