/* details_range.c - the second cursor, and what lies between it and the first, or in a range that was dragged: lines and dump.
 *
 * There is one range: V sets a second cursor where the first stands, and the range follows the first as it moves; V again leaves the range as it is.
 * Sums are exact (range_sums.h) and kept until the range or the run changes.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "run/decimal.h"
#include "viz/model/range_sums.h"
#include "viz/ui/details_lines.h"
#include "viz/ui/memo.h"

enum { MOST_ROWS = N_SHOWS + 2 };

/* ---- the second cursor ---- */

void range_set(struct ui *u, int64_t a, int64_t b)
{
    int64_t begin = ui_begin(u), end = ui_end(u), from = a < b ? a : b, to = a < b ? b : a;
    if (from < begin) from = begin;
    if (to > end) to = end;
    u->mark_from_ns = from < to ? from : -1;
    u->mark_to_ns = from < to ? to : -1;
    u->dirty = true;
}

void range_clear(struct ui *u)
{
    u->mark_from_ns = u->mark_to_ns = u->anchor_ns = -1;
    u->dirty = true;
}

void range_follow(struct ui *u)
{
    if (u->anchor_ns >= 0) range_set(u, u->anchor_ns, u->cursor_ns);
}

void act_anchor(struct ui *u, int unused)
{
    (void)unused;
    if (u->anchor_ns >= 0) {
        u->anchor_ns = -1;
        ui_say(u, "%s", u->mark_from_ns >= 0 ? "the range stays: F shows it, E exports it, K keeps it as a bookmark" : "no second cursor");
        return;
    }
    range_clear(u);
    u->anchor_ns = u->cursor_ns;
    ui_say(u, "second cursor: move the first to measure; V again leaves the range");
}

/* ---- sums ---- */

struct kept_sums { /* of each run */
    uint64_t version[UI_MAX_RUNS]; /* + 1; 0: not made */
    struct range_sums sums[UI_MAX_RUNS];
};

static const struct range_sums *sums_of(struct ui *u, unsigned run)
{
    const struct ui_run *r = &u->runs[run];
    struct kept_sums *k = memo_get(&u->memos, "range", 0, sizeof *k, NULL);
    struct range_sums *s = &k->sums[run];
    if (k->version[run] != r->scene->version + 1 || s->from_ns != u->mark_from_ns || s->to_ns != u->mark_to_ns)
        range_sums_make(s, r->scene, r->curves, u->mark_from_ns, u->mark_to_ns);
    k->version[run] = r->scene->version + 1;
    return s;
}

/* ---- lines ---- */

/* A line of sums, of each run; by size. */
struct sum_row {
    const char *name;
    unsigned show; /* SHOW_NOTHING: no swatch */
    __int128 sum[UI_MAX_RUNS];
};
struct sum_rows {
    struct sum_row v[MOST_ROWS];
    unsigned n;
};

static __int128 all_of(const struct sum_row *r)
{
    __int128 all = 0;
    for (unsigned i = 0; i < UI_MAX_RUNS; i++) all += r->sum[i];
    return all;
}

static int by_size(const void *left, const void *right)
{
    __int128 a = all_of(left), b = all_of(right);
    return a < b ? 1 : a > b ? -1 : 0;
}

static const char *job_time(struct details *d, __int128 ns)
{
    return length(d, (int64_t)ns);
}

static const char *counted(struct details *d, __int128 n)
{
    return count(d, (int64_t)n);
}

static const char *gpu_hours(struct details *d, __int128 sum)
{
    struct str s = {0};
    words_number(&s, (double)sum / MILLI_PER_UNIT / NS_PER_HOUR);
    return kept(d, &s);
}

typedef const char *put_sum(struct details *, __int128);

static void sum_line(const struct ui *u, struct details *d, const struct sum_row *r, put_sum *put)
{
    struct detail *l = line(d, DETAIL_ROW, words(d, r->name));
    if (r->show != SHOW_NOTHING) swatch(u, l, r->show);
    l->value = put(d, r->sum[0]);
    if (u->n_runs > 1) l->other = put(d, r->sum[1]);
}

static void sum_lines(const struct ui *u, struct details *d, const char *heading, struct sum_rows *rows, put_sum *put)
{
    if (rows->n == 0) return;
    qsort(rows->v, rows->n, sizeof *rows->v, by_size);
    line(d, DETAIL_HEADING, heading);
    for (unsigned i = 0; i < rows->n; i++) sum_line(u, d, &rows->v[i], put);
}

static void add(struct sum_rows *rows, struct sum_row r)
{
    if (all_of(&r) > 0) rows->v[rows->n++] = r;
}

static void gpu_lines(struct ui *u, struct details *d, const struct range_sums *const *s)
{
    struct sum_rows rows = {0};
    struct sum_row idle = {"nobody holds it", SHOW_NOTHING, {0}}, all = {"in all", SHOW_NOTHING, {0}};
    bool any = false;
    for (unsigned i = 0; i < u->n_runs; i++) {
        idle.sum[i] = (__int128)s[i]->idle;
        all.sum[i] = (__int128)s[i]->existing;
        any |= s[i]->gpus;
    }
    if (!any) {
        line(d, DETAIL_TEXT, "GPU time is known of runs with --record full");
        return;
    }
    for (unsigned show = 0; show < SHOW_WAIT; show++) {
        struct sum_row r = {show_name(show), show, {0}};
        for (unsigned i = 0; i < u->n_runs; i++) r.sum[i] = (__int128)s[i]->by_show[show];
        add(&rows, r);
    }
    add(&rows, idle);
    sum_lines(u, d, "GPU hours in it", &rows, gpu_hours);
    sum_line(u, d, &all, gpu_hours);
}

static void wait_lines(struct ui *u, struct details *d, const struct range_sums *const *s)
{
    struct sum_rows rows = {0};
    for (unsigned w = 0; w < N_WAIT_REASONS; w++) {
        struct sum_row r = {wait_table[w].name, SHOW_WAIT + w, {0}};
        for (unsigned i = 0; i < u->n_runs; i++) r.sum[i] = s[i]->waits[w];
        add(&rows, r);
    }
    sum_lines(u, d, "Time of jobs that waited in it", &rows, job_time);
}

static void job_lines(struct ui *u, struct details *d, const struct range_sums *const *s)
{
    struct sum_row rows[] = {{"submitted", SHOW_NOTHING, {0}}, {"first step", SHOW_NOTHING, {0}}, {"ended", SHOW_NOTHING, {0}}};
    for (unsigned i = 0; i < u->n_runs; i++) {
        rows[0].sum[i] = s[i]->submitted;
        rows[1].sum[i] = s[i]->started;
        rows[2].sum[i] = s[i]->ended;
    }
    line(d, DETAIL_HEADING, "Jobs in it");
    for (unsigned k = 0; k < 3; k++) sum_line(u, d, &rows[k], counted);
}

static void event_lines(struct ui *u, struct details *d, const struct range_sums *const *s)
{
    struct sum_rows rows = {0};
    struct sum_row failures = {"failures among them", SHOW_NOTHING, {0}};
    for (unsigned i = 0; i < u->n_runs; i++) failures.sum[i] = s[i]->failures;
    for (unsigned t = 0; t < N_RECORD_TYPES; t++) {
        struct sum_row r = {record_table[t].name, SHOW_NOTHING, {0}};
        for (unsigned i = 0; i < u->n_runs; i++) r.sum[i] = s[i]->by_type[t];
        add(&rows, r);
    }
    sum_lines(u, d, "Events in it", &rows, counted);
    if (rows.n) sum_line(u, d, &failures, counted);
}

static const char *edge(struct details *d, const struct ui *u, int64_t ns)
{
    struct str s = {0};
    time_text_in(&s, ns, u->mark_to_ns - u->mark_from_ns);
    return kept(d, &s);
}

void details_range(struct ui *u, struct details *d)
{
    const struct range_sums *s[UI_MAX_RUNS] = {NULL};
    if (u->mark_from_ns < 0) return;
    for (unsigned i = 0; i < u->n_runs; i++) s[i] = sums_of(u, i);
    line(d, DETAIL_TITLE, u->anchor_ns >= 0 ? "Between the cursors" : "Range");
    line(d, DETAIL_ROW, "from")->value = edge(d, u, u->mark_from_ns);
    line(d, DETAIL_ROW, "to")->value = edge(d, u, u->mark_to_ns);
    int64_t between = u->mark_to_ns - u->mark_from_ns;
    line(d, DETAIL_ROW, "length")->value = length(d, between > NS_PER_MINUTE ? between - between % NS_PER_S : between); /* cut as its ends are */
    if (u->n_runs > 1) {
        struct detail *l = line(d, DETAIL_ROW, "");
        l->value = "A";
        l->other = "B";
    }
    gpu_lines(u, d, s);
    wait_lines(u, d, s);
    job_lines(u, d, s);
    event_lines(u, d, s);
}

/* ---- dump ---- */

static void exact(struct json_writer *w, const char *key, share_ns sum, unsigned digits)
{
    char text[DECIMAL_GPU_S_BYTES + 1];
    text[decimal_put(text, sum, digits)] = '\0';
    json_write_key(w, key);
    json_write_raw(w, text);
}

static void number(struct json_writer *w, const char *key, uint64_t n)
{
    json_write_key(w, key);
    json_write_uint64(w, n);
}

static void dump_sums(struct json_writer *w, const struct range_sums *s)
{
    json_write_object(w);
    if (s->gpus) { /* else they are not known */
        exact(w, "existing_gpu_s", s->existing, GPU_S_DIGITS);
        exact(w, "idle_gpu_s", s->idle, GPU_S_DIGITS);
        json_write_key(w, "gpu_s");
        json_write_object(w);
        for (unsigned show = 0; show < SHOW_WAIT; show++)
            if (s->by_show[show]) exact(w, show_name(show), s->by_show[show], GPU_S_DIGITS);
        json_write_end(w);
    }
    json_write_key(w, "wait_s");
    json_write_object(w);
    for (unsigned r = 0; r < N_WAIT_REASONS; r++)
        if (s->waits[r]) exact(w, wait_table[r].name, (share_ns)s->waits[r], NS_DIGITS);
    json_write_end(w);
    number(w, "submitted", s->submitted);
    number(w, "started", s->started);
    number(w, "ended", s->ended);
    number(w, "failures", s->failures);
    number(w, "events", s->events);
    json_write_key(w, "by_type");
    json_write_object_inline(w);
    for (unsigned t = 0; t < N_RECORD_TYPES; t++)
        if (s->by_type[t]) number(w, record_table[t].name, s->by_type[t]);
    json_write_end(w);
    json_write_end(w);
}

void range_dump(struct ui *u, struct json_writer *w)
{
    if (u->mark_from_ns < 0) return;
    json_write_key(w, "range");
    json_write_array(w); /* of each run */
    for (unsigned i = 0; i < u->n_runs; i++) dump_sums(w, sums_of(u, i));
    json_write_end(w);
}
