/* compare_page.c - what the comparison shows, worked out; and how its figures are said.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/compare_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/compare_jobs.h"
#include "study/words.h"

/* ---- waterfalls ---- */

static void add_row(struct waterfall *w, const char *name, unsigned show, const struct comparison_figure *f)
{
    double begin = w->rows.n ? array_last(&w->rows).begin + array_last(&w->rows).f->difference : 0;
    if (!isfinite(f->difference) || f->difference == 0) {
        w->left_out++;
        return;
    }
    array_push(&w->rows, (struct waterfall_row){name, show, f, begin});
    w->low = fmin(w->low, begin + f->difference);
    w->high = fmax(w->high, begin + f->difference);
}

static unsigned part_show(int part)
{
    return part == JCT_WORK ? SHOW_WORK : part == JCT_REDONE ? SHOW_REDONE : SHOW_WAIT + (unsigned)part;
}

static void make_waterfalls(struct compare_page *p)
{
    const struct comparison *c = p->c;
    p->gpu.whole = &c->gpu_whole.f;
    p->gpu.unit = "GPU-h";
    for (size_t i = 0; i < c->n_gpu; i++)
        add_row(&p->gpu, c->gpu[i].f.name, c->gpu[i].redone ? SHOW_REDONE : (unsigned)c->gpu[i].activity, &c->gpu[i].f);
    p->completion.whole = &c->whole.f;
    p->completion.unit = "s";
    for (size_t i = 0; i < c->n_parts; i++) add_row(&p->completion, c->parts[i].f.name, part_show(c->parts[i].part), &c->parts[i].f);
}

/* ---- jobs ---- */

static int64_t change_of(const struct job_pair *p)
{
    return p->other_ns - p->base_ns;
}

static int by_change(const void *left, const void *right)
{
    const struct job_pair *a = left, *b = right;
    int64_t x = change_of(a), y = change_of(b);
    return x != y ? (x < y ? -1 : 1) : a->a - b->a;
}

static int most_changed(const struct job_row *a, const struct job_row *b, int64_t change)
{
    int64_t base[N_JCT_PARTS], other[N_JCT_PARTS], most = -1;
    int best = JCT_WORK;
    jct_split(a, base);
    jct_split(b, other);
    for (int i = 0; i < N_JCT_PARTS; i++) {
        int64_t x = change < 0 ? base[i] - other[i] : other[i] - base[i];
        if (x <= most) continue;
        most = x;
        best = i;
    }
    return best;
}

static bool has_ended(const struct scene_job *j)
{
    return j->row && j->finished_ns >= 0;
}

static void pair_jobs(struct compare_page *p, const int32_t *twin)
{
    for (uint32_t i = 0; i < p->scenes[0]->n_jobs; i++) {
        if (twin[i] < 0) continue;
        const struct scene_job *a = &p->scenes[0]->jobs[i], *b = &p->scenes[1]->jobs[twin[i]];
        if (!has_ended(a) || !has_ended(b) || !run_counts(p->scenes[0]->run, a->submit_ns)) continue;
        struct job_pair pair = {(int32_t)i, twin[i], a->finished_ns - a->submit_ns, b->finished_ns - b->submit_ns, 0};
        if (change_of(&pair) == 0) continue;
        pair.part = most_changed(a->row, b->row, change_of(&pair));
        array_push(&p->pairs, pair);
    }
    array_sort(&p->pairs, by_change);
}

size_t compare_page_jobs(const struct compare_page *p, int direction)
{
    size_t low = 0, high = p->pairs.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (change_of(&p->pairs.v[mid]) < 0) low = mid + 1;
        else high = mid;
    }
    return direction < 0 ? low : p->pairs.n - low;
}

const struct job_pair *compare_page_job(const struct compare_page *p, int direction, size_t i)
{
    return direction < 0 ? &p->pairs.v[i] : &p->pairs.v[p->pairs.n - 1 - i];
}

/* ---- all of it ---- */

static bool still_growing(const struct compare_page *p)
{
    bool growing = false;
    for (unsigned i = 0; i < p->n; i++) growing |= p->scenes[i]->growing;
    return growing;
}

void compare_page_make(struct compare_page *p, const struct scene *const *scenes, unsigned n, const int32_t *twin, struct comparison *made)
{
    p->n = n;
    for (unsigned i = 0; i < n; i++) {
        p->scenes[i] = scenes[i];
        p->waits[i] = wait_curve_of(scenes[i]->run);
    }
    if (n < 2) p->why = xstrdup("One run only: there is nothing to compare it with.");
    else if (still_growing(p)) p->why = xstrdup("The comparison is made when both runs have ended; until then the metrics are those of A, of the jobs that have ended so far.");
    else if (made) p->c = made;
    else p->c = comparison_between(scenes[0]->run, scenes[1]->run, &p->why);
    if (made && p->c != made) comparison_free(made);
    if (p->c) make_waterfalls(p);
    if (n > 1 && twin) pair_jobs(p, twin);
}

void compare_page_free(struct compare_page *p)
{
    comparison_free(p->c);
    free(p->why);
    array_free(&p->gpu.rows);
    array_free(&p->completion.rows);
    for (unsigned i = 0; i < 2; i++) wait_curve_free(&p->waits[i]);
    array_free(&p->pairs);
    *p = (struct compare_page){0};
}

/* ---- in words ---- */

/* The unit in which a difference and both ends of its interval are said. */
static struct scale scale_of(const struct comparison_figure *f)
{
    double size = fabs(f->difference);
    if (f->interval) size = fmax(size, fmax(fabs(f->low), fabs(f->high)));
    return words_difference_scale(f->unit, size);
}

void compare_difference(struct str *s, const struct comparison_figure *f)
{
    struct scale u = scale_of(f);
    words_signed_number(s, f->difference * u.factor);
    if (f->difference != 0 && isfinite(f->difference)) str_append(s, u.unit);
}

void compare_interval(struct str *s, const struct comparison_figure *f)
{
    struct scale u = scale_of(f);
    if (!f->interval) return;
    words_signed_number(s, f->low * u.factor);
    str_append(s, " to ");
    words_signed_number(s, f->high * u.factor);
    str_append(s, u.unit);
}

void compare_change(struct str *s, const struct comparison_figure *f)
{
    double percent = (f->ratio - 1) * 100;
    if (f->difference == 0) str_append(s, "same");
    else if (!isfinite(percent)) str_append(s, "-");
    else if (percent >= 1000) str_printf(s, "\xc3\x97%.3g", f->ratio);
    else str_printf(s, fabs(percent) < 0.05 ? "0.0 %%" : "%+.1f %%", percent);
}

static bool is_better(const struct comparison_figure *f)
{
    return f->better == BETTER_MORE ? f->difference > 0 : f->difference < 0;
}

static bool is_shown(const struct comparison_figure *f)
{
    return f->verdict == VERDICT_MORE || f->verdict == VERDICT_LESS;
}

const char *compare_verdict(const struct comparison_figure *f)
{
    if (f->verdict == VERDICT_NONE) return "no difference shown";
    if (f->verdict == VERDICT_SAME || f->difference == 0) return "same";
    if (!is_shown(f)) return "one run, no interval";
    if (f->better == BETTER_NEITHER) return f->difference > 0 ? "more" : "less";
    return is_better(f) ? "better" : "worse";
}

enum role compare_role(const struct comparison_figure *f)
{
    if (!is_shown(f)) return ROLE_TEXT_DIM;
    if (f->better == BETTER_NEITHER) return ROLE_TEXT;
    return is_better(f) ? ROLE_EARLIER : ROLE_LATER;
}
