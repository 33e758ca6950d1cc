/* curves.c - quantities over time: small plots below each other that share the time axis.
 *
 * Each has its title, the value at the cursor and the scale at its left. With two runs a plot has the same scale in both, unless N
 * gives each its own. Up and down choose a plot, Enter shows it alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/decimal.h"
#include "viz/ui/view.h"
#include "viz/views/measured.h"
#include "viz/views/plot.h"

extern const struct view_kind view_curves;

struct row {
    const char *name, *title;
    unsigned id; /* curve; of the stack: what its top is */
    const char *unit;
    double factor; /* from the curve's unit */
    bool stack, shares;
    float weight; /* of its height */
};

static const struct row rows[] = {
    {"queued_jobs", "Jobs waiting", CURVE_QUEUED_JOBS, "jobs", 1, false, false, 1},
    {"queued_gpus", "GPUs they ask for", CURVE_QUEUED_SHARES, "GPUs", 1e-3, false, true, 1},
    {"running_jobs", "Jobs running", CURVE_RUNNING_JOBS, "jobs", 1, false, false, 1},
    {"gpus", "GPUs by state", CURVE_EXISTING_SHARES, "GPUs", 1e-3, true, true, 2},
    {"goodput", "Goodput", CURVE_GOODPUT, "ratio", 1, false, false, 1},
    {"network", "Between nodes", CURVE_NETWORK_BYTES, "bytes/s", 1, false, false, 1},
    {"stores", "Stores", CURVE_STORE_BYTES, "bytes/s", 1, false, false, 1},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* ---- which plots, and where ---- */

static bool is_known(const struct ui_run *r, unsigned row)
{
    return r->curves && curve_known(r->curves, rows[row].id);
}

static bool is_shown(const struct ui *u, unsigned row)
{
    bool known = false;
    for (unsigned i = 0; i < ui_n_scaled(u); i++) known |= is_known(ui_scaled(u, i), row);
    return known && (!u->large || u->focus == row);
}

/* The report chooses none. */
static bool on_paper(const struct ui *u)
{
    return u->focus == UINT_MAX;
}

/* The chosen one, or the first that is there; N_ROWS on paper. */
static unsigned chosen(const struct ui *u)
{
    if (on_paper(u)) return N_ROWS;
    unsigned row = u->focus < N_ROWS ? u->focus : 0;
    for (unsigned i = 0; i < N_ROWS && !is_shown(u, row); i++) row = (row + 1) % N_ROWS;
    return row;
}

/* Rows are never cut: as many as have room, from the first one that is scrolled to, share the height. */
struct rows_shown {
    unsigned first, end; /* rows; those between that are not shown at all have no height */
    float unit;          /* height of weight 1 */
};

static unsigned next_shown(const struct ui *u, unsigned row)
{
    while (row < N_ROWS && !is_shown(u, row)) row++;
    return row;
}

static struct rows_shown rows_from(const struct ui *u, float height, unsigned scrolled)
{
    struct rows_shown r = {next_shown(u, 0), 0, 0};
    float least = (u->grid ? 3.2f : 2.6f) * u->theme.line, weights = 0;
    while (scrolled-- > 0 && next_shown(u, r.first + 1) < N_ROWS) r.first = next_shown(u, r.first + 1);
    for (r.end = r.first; r.end < N_ROWS; r.end++) {
        float more = is_shown(u, r.end) ? rows[r.end].weight : 0;
        if (weights > 0 && (weights + more) * least > height) break;
        weights += more;
    }
    r.unit = weights > 0 ? floorf(height / weights) : height;
    return r;
}

/* How many rows can be scrolled away until the last one is in sight. */
static unsigned scroll_most(const struct ui *u, float height)
{
    unsigned n = 0;
    while (n < N_ROWS && rows_from(u, height, n).end < N_ROWS) n++;
    return n;
}

static struct rows_shown rows_in(const struct ui *u, const struct pane *pane)
{
    unsigned scrolled = (unsigned)fmaxf(0, u->scroll[u->view]), most = scroll_most(u, pane->box.h);
    return rows_from(u, pane->box.h, scrolled < most ? scrolled : most);
}

/* The box of a row within the pane, labels included. Height 0: not in sight. */
static struct box row_box(const struct ui *u, const struct pane *pane, unsigned row)
{
    struct rows_shown r = rows_in(u, pane);
    float y = pane->box.y;
    for (unsigned i = r.first; i < row && i < r.end; i++)
        if (is_shown(u, i)) y += r.unit * rows[i].weight;
    bool in_sight = row >= r.first && row < r.end && is_shown(u, row);
    return (struct box){pane->box.x, y, pane->box.w, in_sight ? r.unit * rows[row].weight : 0};
}

static float labels(const struct ui *u)
{
    return roundf(17 * u->theme.font_size);
}

static struct box plot_of(const struct ui *u, struct box row)
{
    struct box p = view_plot(u, &view_curves, row);
    float pad = roundf(u->theme.pad * 0.75f), above = view_narrow(u, &view_curves, row.w) ? u->theme.line : pad;
    return (struct box){p.x, row.y + above, p.w, fmaxf(row.h - above - pad, 1)};
}

/* ---- values ---- */

static double most_of(const struct ui_run *r, unsigned row)
{
    if (!is_known(r, row)) return 0;
    return curve_most(r->curves, rows[row].id) * rows[row].factor;
}

static struct plot_scale scale_of(const struct ui *u, unsigned run, unsigned row, float height)
{
    double most = most_of(&u->runs[run], row);
    for (unsigned i = 0; i < ui_n_scaled(u) && !u->normalise; i++) most = fmax(most, most_of(ui_scaled(u, i), row));
    unsigned ticks = (unsigned)fmaxf(1, fminf(8, floorf(height / (2.6f * u->theme.line))));
    return plot_scale_of(rows[row].unit, most, ticks);
}

static double value_at(const struct ui *u, unsigned run, unsigned id, double factor, int64_t ns)
{
    return curve_at(u->runs[run].curves, id, ns) * factor;
}

/* ---- drawing ---- */

static double mean_of(const struct ui *u, unsigned run, unsigned id, double factor)
{
    struct curve_column window;
    curve_columns(u->runs[run].curves, id, u->from_ns, u->to_ns, 1, &window);
    return window.mean * factor;
}

/* At the cursor; on paper, which has none, the mean over what is in sight. */
static double shown_value(const struct ui *u, unsigned run, unsigned id, double factor)
{
    return on_paper(u) ? mean_of(u, run, id, factor) : value_at(u, run, id, factor, u->cursor_ns);
}

static void value_text(const struct ui *u, unsigned run, const struct row *r, struct str *s)
{
    if (on_paper(u)) str_append(s, "mean ");
    if (!r->stack) {
        plot_amount(s, r->unit, shown_value(u, run, r->id, r->factor));
        return;
    }
    double existing = shown_value(u, run, CURVE_EXISTING_SHARES, 1e-3);
    plot_amount_short(s, r->unit, existing - shown_value(u, run, CURVE_IDLE_SHARES, 1e-3));
    str_append(s, " of ");
    plot_amount_short(s, r->unit, existing);
    str_append(s, " held");
}

/* Above the plot, where there is no room beside it. */
static void draw_value_above(struct ui *u, unsigned run, unsigned row, struct box at, struct draw_list *d)
{
    struct box plot = plot_of(u, at);
    struct str s = {0};
    float x = plot.x, y = roundf(plot.y - 0.25f * u->theme.line), room = plot.w;
    float w = draw_text(d, x, y, &(struct text_style){.face = row == chosen(u) ? FACE_BOLD : FACE_SANS, .max_width = room}, rows[row].title) + u->theme.pad;
    value_text(u, run, &rows[row], &s);
    if (room > w + 3 * u->theme.font_size) draw_text(d, x + w, y, &(struct text_style){.role = ROLE_ACCENT, .max_width = room - w}, str_text(&s));
    str_free(&s);
}

static void draw_value(struct ui *u, unsigned run, unsigned row, struct box at, struct draw_list *d)
{
    struct str s = {0};
    if (view_narrow(u, &view_curves, at.w)) {
        draw_value_above(u, run, row, at, d);
        return;
    }
    float x = at.x + u->theme.pad, y = at.y + u->theme.pad + 0.8f * u->theme.line, room = labels(u) - 5.2f * u->theme.font_size;
    draw_text(d, x, y, &(struct text_style){.face = row == chosen(u) ? FACE_BOLD : FACE_SANS, .max_width = room}, rows[row].title);
    value_text(u, run, &rows[row], &s);
    if (at.h >= 2.4f * u->theme.line) draw_text(d, x, y + u->theme.line, &(struct text_style){.role = ROLE_ACCENT, .max_width = room}, str_text(&s));
    str_free(&s);
}

static void draw_stack(struct ui *u, unsigned run, struct box plot, const struct plot_scale *s, struct curve_column *col, unsigned n, struct draw_list *d)
{
    double *below = xcalloc(n, sizeof *below);
    unsigned shows[N_SHOWS], n_shows = plot_stack_order(shows);
    for (unsigned i = 0; i < n_shows; i++) {
        struct look look = plot_look(u, shows[i]);
        curve_columns(u->runs[run].curves, CURVE_SHOW + shows[i], u->from_ns, u->to_ns, n, col);
        plot_layer(d, plot, s, col, n, below, 1e-3, look.argb, look.pattern);
    }
    free(below);
}

/* ---- what was measured, over it ---- */

static void draw_measured_line(struct ui *u, const struct ui_run *m, unsigned row, struct box plot, const struct plot_scale *s, struct draw_list *d)
{
    struct measured_point p[MEASURED_MOST];
    unsigned n = measured_count(plot.w);
    if (!measured_points(u, m, rows[row].id, rows[row].factor, n, p)) return;
    for (unsigned i = 0; i < n; i++)
        if (p[i].known) measured_dot(d, ui_x_of(u, plot, p[i].ns), plot_y(plot, s, p[i].value), measured_colour(u));
}

/* A dot where each state's layer would end, in the state's colour. */
static void draw_measured_stack(struct ui *u, const struct ui_run *m, struct box plot, const struct plot_scale *s, struct draw_list *d)
{
    struct measured_point p[MEASURED_MOST];
    double below[MEASURED_MOST] = {0};
    unsigned shows[N_SHOWS], n_shows = plot_stack_order(shows), n = measured_count(plot.w);
    for (unsigned k = 0; k < n_shows; k++) {
        uint32_t argb = plot_look(u, shows[k]).argb;
        if (!measured_points(u, m, CURVE_SHOW + shows[k], 1e-3, n, p)) continue;
        for (unsigned i = 0; i < n; i++) {
            if (!p[i].known || p[i].value <= 0) continue;
            below[i] += p[i].value;
            measured_dot(d, ui_x_of(u, plot, p[i].ns), plot_y(plot, s, below[i]), argb);
        }
    }
}

static void draw_measured(struct ui *u, unsigned run, unsigned row, struct box plot, const struct plot_scale *s, struct draw_list *d)
{
    const struct ui_run *m = measured_over(u, run);
    if (!m || !is_known(m, row)) return;
    if (rows[row].stack) draw_measured_stack(u, m, plot, s, d);
    else draw_measured_line(u, m, row, plot, s, d);
}

/* The states that there are at the cursor, from the top of the stack down; beside the stack when it is shown alone. */
static void draw_states(struct ui *u, unsigned run, struct box at, struct draw_list *d)
{
    unsigned shows[N_SHOWS], n = plot_stack_order(shows);
    float x = at.x + u->theme.pad, y = at.y + 4 * u->theme.line, right = at.x + labels(u) - 4.8f * u->theme.font_size;
    for (unsigned i = n; i-- > 0 && y + u->theme.line < at.y + at.h;) {
        double gpus = value_at(u, run, CURVE_SHOW + shows[i], 1e-3, u->cursor_ns);
        struct str name = {0}, value = {0};
        if (gpus <= 0) continue;
        plot_name(&name, show_name(shows[i]));
        plot_amount_short(&value, "GPUs", gpus);
        plot_swatch(d, x, y, plot_look(u, shows[i]));
        float w = plot_text(d, right, y, ALIGN_RIGHT, ROLE_TEXT, "%s", str_text(&value)), from = x + 1.4f * u->theme.font_size;
        plot_text_within(d, from, y, right - w - from - u->theme.pad, ROLE_TEXT_DIM, str_text(&name));
        y += u->theme.line;
        str_free(&name);
        str_free(&value);
    }
}

static void draw_row(struct ui *u, const struct pane *pane, unsigned row, struct box at, struct draw_list *d)
{
    struct box plot = plot_of(u, at);
    struct plot_scale s = scale_of(u, pane->run, row, plot.h);
    unsigned n = (unsigned)fmaxf(plot.w, 1);
    struct curve_column *col = xcalloc(n, sizeof *col);
    if (row == chosen(u) && !u->large) draw_rect(d, (struct box){at.x, at.y, 3, at.h}, ROLE_ACCENT);
    draw_rect(d, plot, ROLE_PANEL);
    plot_axis(d, plot, &s);
    draw_clip(d, plot);
    if (rows[row].stack)
        draw_stack(u, pane->run, plot, &s, col, n, d);
    else {
        curve_columns(u->runs[pane->run].curves, rows[row].id, u->from_ns, u->to_ns, n, col);
        for (unsigned i = 0; i < n; i++)
            col[i] = (struct curve_column){col[i].least * rows[row].factor, col[i].most * rows[row].factor, col[i].mean * rows[row].factor};
        plot_line(d, plot, &s, col, n, u->theme.role[ROLE_ACCENT]);
    }
    draw_measured(u, pane->run, row, plot, &s, d);
    draw_unclip(d);
    if (row == rows_in(u, pane).first && measured_over(u, pane->run)) measured_legend(u, d, plot);
    draw_value(u, pane->run, row, at, d);
    if (rows[row].stack && u->large && !view_narrow(u, &view_curves, at.w)) draw_states(u, pane->run, at, d);
    free(col);
}

static bool is_empty(const struct ui *u, unsigned run)
{
    for (unsigned i = 0; i < N_ROWS; i++)
        if (is_known(&u->runs[run], i)) return false;
    return true;
}

static void draw(struct ui *u, const struct pane *pane, struct draw_list *d)
{
    if (is_empty(u, pane->run)) {
        view_empty(u, d, pane->box, "This run keeps no records, so nothing is known over time.",
                   "Run it again with trainyard run SCENARIO --record full -o DIR");
        return;
    }
    draw_clip(d, pane->box);
    for (unsigned row = 0; row < N_ROWS; row++) {
        struct box at = row_box(u, pane, row);
        if (at.h <= 0) continue;
        if (is_known(&u->runs[pane->run], row)) draw_row(u, pane, row, at, d);
        else plot_text(d, at.x + u->theme.pad, at.y + u->theme.pad + 0.8f * u->theme.line, ALIGN_LEFT, ROLE_TEXT_DIM, "%s: not known of this run", rows[row].title);
    }
    draw_unclip(d);
}

/* ---- keys and pointer ---- */

static void scroll_to(struct ui *u, const struct pane *pane, float n)
{
    u->scroll[u->view] = fmaxf(0, fminf(roundf(n), (float)scroll_most(u, pane->box.h)));
    u->dirty = true;
}

/* In the large form each is shown when it is chosen, so all that are known can be. */
static void choose(struct ui *u, const struct pane *pane, int step)
{
    unsigned row = chosen(u);
    bool large = u->large;
    u->large = false;
    for (int i = (int)row + step; i >= 0 && i < N_ROWS; i += step)
        if (is_shown(u, (unsigned)i)) {
            row = (unsigned)i;
            break;
        }
    u->focus = row;
    for (unsigned n = 0; n < N_ROWS && row_box(u, pane, row).h <= 0; n++) scroll_to(u, pane, row < rows_in(u, pane).first ? u->scroll[u->view] - 1 : u->scroll[u->view] + 1);
    u->large = large;
    u->dirty = true;
}

static bool key(struct ui *u, const struct pane *pane, int key, unsigned mods)
{
    if (key == 'n' && mods == UI_SHIFT && u->n_runs > 1) {
        u->normalise = !u->normalise;
        ui_say(u, u->normalise ? "Each run has its own scales" : "Both runs have the same scales");
    } else if (mods) return false;
    else if (key == UI_UP) choose(u, pane, -1);
    else if (key == UI_DOWN) choose(u, pane, 1);
    else if (key == UI_ENTER) {
        u->focus = chosen(u);
        u->large = !u->large;
        u->scroll[u->view] = 0;
    } else if (key == UI_ESC && u->large) u->large = false;
    else return false;
    u->dirty = true;
    return true;
}

static void wheel(struct ui *u, const struct pane *pane, float n)
{
    scroll_to(u, pane, u->scroll[u->view] + (n > 0 ? 1.f : -1.f));
}

static unsigned row_under(const struct ui *u, const struct pane *pane, float y)
{
    for (unsigned row = 0; row < N_ROWS; row++) {
        struct box at = row_box(u, pane, row);
        if (at.h > 0 && y >= at.y && y < at.y + at.h) return row;
    }
    return N_ROWS;
}

/* The layers of the stack at a moment, from the top down as they are painted. */
static void stack_text(const struct ui *u, unsigned run, int64_t ns, struct str *s)
{
    unsigned shows[N_SHOWS], n = plot_stack_order(shows);
    str_append(s, "idle: ");
    plot_amount(s, "GPUs", value_at(u, run, CURVE_IDLE_SHARES, 1e-3, ns));
    for (unsigned i = n; i-- > 0;) {
        double x = value_at(u, run, CURVE_SHOW + shows[i], 1e-3, ns);
        if (x <= 0) continue;
        str_append(s, "\n");
        plot_name(s, show_name(shows[i]));
        str_append(s, ": ");
        plot_amount(s, "GPUs", x);
    }
}

static bool hover(struct ui *u, const struct pane *pane, float x, float y, struct hover *h)
{
    unsigned row = row_under(u, pane, y);
    struct box plot = view_plot(u, &view_curves, pane->box);
    if (row == N_ROWS || !is_known(&u->runs[pane->run], row) || x < plot.x) return false;
    int64_t ns = ui_time_of(u, plot, x);
    if (rows[row].stack) stack_text(u, pane->run, ns, h->text);
    else {
        str_printf(h->text, "%s: ", rows[row].title);
        plot_amount(h->text, rows[row].unit, value_at(u, pane->run, rows[row].id, rows[row].factor, ns));
    }
    return true;
}

static bool click(struct ui *u, const struct pane *pane, float x, float y, unsigned mods)
{
    unsigned row = row_under(u, pane, y);
    if (mods || row == N_ROWS || x >= view_plot(u, &view_curves, pane->box).x) return false;
    u->focus = row;
    u->dirty = true;
    return true;
}

/* ---- as text ---- */

static void dump_number(struct json_writer *w, const char *key, double x)
{
    json_write_key(w, key);
    json_write_double(w, x);
}

static void dump_integral(struct json_writer *w, const struct ui *u, unsigned run, unsigned id)
{
    char text[DECIMAL_GPU_S_BYTES + 1];
    text[decimal_put_gpu_s(text, curve_integral(u->runs[run].curves, id, u->from_ns, u->to_ns))] = '\0';
    json_write_key(w, "gpu_s");
    json_write_raw(w, text);
}

static void dump_curve(struct json_writer *w, const struct ui *u, unsigned run, unsigned id, double factor, bool shares)
{
    struct curve_column window;
    curve_columns(u->runs[run].curves, id, u->from_ns, u->to_ns, 1, &window);
    dump_number(w, "at_cursor", value_at(u, run, id, factor, u->cursor_ns));
    dump_number(w, "least", window.least * factor);
    dump_number(w, "mean", window.mean * factor);
    dump_number(w, "most", window.most * factor);
    if (shares) dump_integral(w, u, run, id);
}

static void dump_states(struct json_writer *w, const struct ui *u, unsigned run)
{
    unsigned shows[N_SHOWS + 1], n = plot_stack_order(shows);
    json_write_key(w, "states");
    json_write_array(w);
    for (unsigned i = 0; i <= n; i++) {
        unsigned id = i < n ? CURVE_SHOW + shows[i] : CURVE_IDLE_SHARES;
        if (i < n && !curve_known(u->runs[run].curves, id)) continue;
        json_write_object_inline(w);
        json_write_key(w, "state");
        json_write_string(w, i < n ? show_name(shows[i]) : "idle");
        dump_curve(w, u, run, id, 1e-3, true);
        json_write_end(w);
    }
    json_write_end(w);
}

/* Of the stack: GPUs that somebody holds. */
static void dump_measured(struct json_writer *w, const struct ui *u, const struct pane *pane, unsigned row)
{
    const struct ui_run *m = measured_over(u, pane->run);
    struct measured_point p[MEASURED_MOST], idle[MEASURED_MOST];
    unsigned n = measured_count(view_plot(u, &view_curves, pane->box).w);
    if (!m || !is_known(m, row) || !measured_points(u, m, rows[row].id, rows[row].factor, n, p)) return;
    bool held = rows[row].stack && measured_points(u, m, CURVE_IDLE_SHARES, 1e-3, n, idle);
    json_write_key(w, "measured");
    json_write_array(w);
    for (unsigned i = 0; i < n; i++) {
        if (!p[i].known) continue;
        json_write_array_inline(w);
        json_write_seconds(w, p[i].ns);
        json_write_double(w, p[i].value - (held ? idle[i].value : 0));
        json_write_end(w);
    }
    json_write_end(w);
}

static void dump_row(struct json_writer *w, struct ui *u, const struct pane *pane, unsigned row)
{
    bool known = is_known(&u->runs[pane->run], row);
    json_write_object(w);
    json_write_key(w, "curve");
    json_write_string(w, rows[row].name);
    json_write_key(w, "title");
    json_write_string(w, rows[row].title);
    json_write_key(w, "unit");
    json_write_string(w, rows[row].unit);
    json_write_key(w, "known");
    json_write_bool(w, known);
    json_write_key(w, "shown");
    json_write_bool(w, is_shown(u, row));
    if (known) {
        dump_curve(w, u, pane->run, rows[row].id, rows[row].factor, rows[row].shares);
        dump_number(w, "scale_top", scale_of(u, pane->run, row, plot_of(u, row_box(u, pane, row)).h).top);
        if (rows[row].stack) dump_states(w, u, pane->run);
        dump_measured(w, u, pane, row);
    }
    json_write_end(w);
}

static void dump(struct ui *u, const struct pane *pane, struct json_writer *w)
{
    json_write_key(w, "chosen");
    json_write_string(w, chosen(u) < N_ROWS ? rows[chosen(u)].name : NULL);
    json_write_key(w, "large");
    json_write_bool(w, u->large);
    json_write_key(w, "same_scales");
    json_write_bool(w, !u->normalise);
    json_write_key(w, "curves");
    json_write_array(w);
    for (unsigned row = 0; row < N_ROWS; row++) dump_row(w, u, pane, row);
    json_write_end(w);
}

static const struct view_key keys[] = {
    {"Up, Down", "choose a plot"},
    {"Enter", "show it alone, or all; Esc: all"},
    {"Shift+N", "the same scales in A and B, or own ones"},
    {NULL, NULL},
};

const struct view_kind view_curves = {
    .name = "curves",
    .title = "Curves",
    .axis = AXIS_TIME,
    .labels = labels,
    .draw = draw,
    .key = key,
    .hover = hover,
    .click = click,
    .wheel = wheel,
    .keys = keys,
    .dump = dump,
    .legend = LEGEND_GPUS,
};
