/* compare_words.c - a comparison in plain words, each derived from an interval; where that holds 0, no difference is shown.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <string.h>

#include "study/compare_jobs.h"
#include "study/compare_words.h"
#include "study/words.h"

enum { WIDTH = 100, PARTS_NAMED = 4 };

static const char *other_name(const struct compare *c, const struct compare_pair *p)
{
    return c->approaches[p->other].name;
}

/* What is said of a metric, in this order; %s is the amount. */
/* clang-format off */
static const struct claim {
    const char *metric, *more, *less, *topic;
} claims[] = {
    {"p50_wait", "starts jobs %s later at the median", "starts jobs %s sooner at the median", "the median wait"},
    {"p95_wait", "makes the longest waits (95th percentile) %s longer", "makes the longest waits (95th percentile) %s shorter",
     "the 95th percentile of the wait"},
    {"mean_jct", "brings jobs to their end %s later on average", "brings jobs to their end %s sooner on average",
     "the mean time to completion"},
    {"goodput", "turns %s more of the GPU time into work that is kept (goodput)",
     "turns %s less of the GPU time into work that is kept (goodput)", "goodput"},
    {"gpu_hours_held", "holds GPUs without working for %s more", "holds GPUs without working for %s less",
     "GPU time held without working"},
    {"gpu_hours_redone", "does %s more work a second time after failures and preemptions",
     "does %s less work a second time after failures and preemptions", "work done a second time"},
    {"finished", "completes %s more jobs", "completes %s fewer jobs", "jobs completed"},
    {"failed", "lets %s more jobs fail", "lets %s fewer jobs fail", "jobs failed"},
    {"preemptions", "preempts %s more times", "preempts %s fewer times", "preemptions"},
};
/* clang-format on */
enum { N_CLAIMS = sizeof claims / sizeof *claims };

static void range_text(struct str *s, const struct interval *i, const struct scale *u, bool minus)
{
    double sign = minus ? -1 : 1;
    words_number(s, sign * (minus ? i->high : i->low) * u->factor);
    str_append(s, " to ");
    words_number(s, sign * (minus ? i->low : i->high) * u->factor);
    str_append(s, u->unit);
}

/* What the amount is a part of, so that a sure but small difference is seen to be small. */
static void perspective(struct str *s, const struct compare_pair *p, size_t m)
{
    const struct paired *d = &p->metrics[m];
    double all = p->gpu_sum.hours.mean_a, percent = 100 * fabs(d->ratio_mean - 1);
    bool hours = !strcmp(metric_at(m)->unit, "GPU-h");
    if (hours && all > 0) percent = 100 * fabs(d->mean) / all;
    if (!isfinite(percent) || (!hours && strcmp(metric_at(m)->unit, "s") != 0)) return;
    str_append(s, "; ");
    words_number(s, percent);
    str_append(s, hours ? " % of all GPU time" : " %");
}

static void sentence(struct str *out, const struct compare *c, const struct compare_pair *p, const struct claim *claim,
                     size_t m, const char *about)
{
    struct str s = {0}, amount = {0};
    const struct paired *d = &p->metrics[m];
    bool less = d->mean < 0;
    struct scale u = words_difference_scale(metric_at(m)->unit, d->mean);
    words_number(&amount, fabs(d->mean) * u.factor);
    str_append(&amount, u.unit);
    str_printf(&s, "%s ", other_name(c, p));
    const char *words = less ? claim->less : claim->more, *hole = strstr(words, "%s");
    str_append_n(&s, words, (size_t)(hole - words));
    str_append(&s, str_text(&amount));
    str_append(&s, hole + 2);
    if (d->difference.known) {
        str_append(&s, " (95 % interval ");
        range_text(&s, &d->difference, &u, less);
        perspective(&s, p, m);
        str_append(&s, ")");
    }
    str_append(&s, about);
    str_printf(out, "%s\n", str_text(&s));
    str_free(&s);
    str_free(&amount);
}

/* A difference whose sign the lower bounds could turn. */
static bool unsure(const struct compare *c, const struct compare_pair *p, size_t m)
{
    if (p->metrics[m].mean > 0) return c->approaches[0].bound[m];
    return c->approaches[p->other].bound[m];
}

static const char *about_bounds(const struct compare *c, const struct compare_pair *p, size_t m)
{
    if (unsure(c, p, m)) return "; jobs that had not ended count with their time so far, so it may yet turn";
    bool any = c->approaches[0].bound[m] || c->approaches[p->other].bound[m];
    return any ? "; at least, since some jobs had not ended" : "";
}

static void append_topic(struct str *list, const char *topic)
{
    str_printf(list, "%s%s", list->n ? ", " : "", topic);
}

static void topics_line(struct str *out, const char *lead, struct str *list)
{
    struct str s = {0};
    if (!list->n) return;
    str_printf(&s, "%s %s.", lead, str_text(list));
    str_printf(out, "%s\n", str_text(&s));
    str_free(&s);
    str_free(list);
}

/* `between`: "from", or "more for" and "less for". */
static void append_part(struct str *s, int part, double amount, const char *between)
{
    words_amount(s, "s", amount);
    str_printf(s, " %s ", between);
    words_name(s, jct_part_name(part));
    if (part < N_WAIT_REASONS) str_printf(s, " (%s)", wait_table[part].help);
}

/* The part with the greatest sign * change that is not used yet; sign 0: by size. */
static int next_part(const struct compare_pair *p, double sign, bool used[N_JCT_PARTS])
{
    int best = -1;
    double most = 0;
    for (int i = 0; i < N_JCT_PARTS; i++) {
        double x = p->jct[i].seconds.mean, size = sign != 0 ? sign * x : fabs(x);
        if (used[i] || !(size > most)) continue;
        if (sign == 0 && p->jct[i].seconds.verdict != VERDICT_MORE && p->jct[i].seconds.verdict != VERDICT_LESS)
            continue;
        best = i;
        most = size;
    }
    if (best >= 0) used[best] = true;
    return best;
}

static void whole_change(struct str *s, const struct paired *whole)
{
    str_append(s, "Of the ");
    words_amount(s, "s", fabs(whole->mean));
    str_printf(s, " by which jobs that ended under both end %s come ", whole->mean < 0 ? "sooner" : "later");
}

/* Where a change of the mean completion time comes from; or which parts changed although the whole is not shown to. */
static void where_from(struct str *out, const struct compare_pair *p)
{
    struct str s = {0};
    const struct paired *whole = &p->jct_sum.seconds;
    bool used[N_JCT_PARTS] = {false}, shown = whole->verdict == VERDICT_MORE || whole->verdict == VERDICT_LESS;
    double sign = !shown ? 0 : whole->mean < 0 ? -1 : 1;
    if (!shown && whole->verdict != VERDICT_NONE) return;
    for (int n = 0; n < PARTS_NAMED; n++) {
        int part = next_part(p, sign, used);
        if (part < 0) break;
        double x = p->jct[part].seconds.mean;
        if (shown && fabs(x) < 0.05 * fabs(whole->mean)) break;
        if (s.n)
            str_append(&s, ", ");
        else if (shown)
            whole_change(&s, whole);
        else
            str_append(&s, "No difference is shown in the mean time to completion, but in parts of it: ");
        append_part(&s, part, fabs(x), shown ? "from" : x < 0 ? "less for" : "more for");
    }
    if (s.n) str_printf(out, "%s.\n", str_text(&s));
    str_free(&s);
}

/* Teams that are shown to fare against the general direction: an average hides them. */
static void against_the_trend(struct str *out, const struct compare *c, const struct compare_pair *p)
{
    const struct paired *whole = &p->jct_sum.seconds;
    for (size_t i = 0; i < p->n_teams; i++) {
        const struct team_change *t = &p->teams[i];
        struct str s = {0};
        bool later = t->jct.verdict == VERDICT_MORE && whole->verdict != VERDICT_MORE;
        bool sooner = t->jct.verdict == VERDICT_LESS && whole->verdict != VERDICT_LESS;
        if (whole->verdict == VERDICT_UNKNOWN || (!later && !sooner)) continue;
        struct scale u = words_scale("s", t->jct.mean);
        str_printf(&s, "Not so for team %s: under %s its jobs end ", t->team, other_name(c, p));
        words_amount(&s, "s", fabs(t->jct.mean));
        str_printf(&s, " %s on average (95 %% interval ", later ? "later" : "sooner");
        range_text(&s, &t->jct.difference, &u, sooner);
        str_append(&s, ").");
        str_printf(out, "%s\n", str_text(&s));
        str_free(&s);
    }
}

/* In one run there is no interval that would weigh a difference; one that the figures do not even show is not worth a line. */
static bool reads_alike(const struct paired *d, size_t m)
{
    struct str a = {0}, b = {0};
    words_amount(&a, metric_at(m)->unit, d->mean_a);
    words_amount(&b, metric_at(m)->unit, d->mean_b);
    bool alike = str_equal(str_text(&a), str_text(&b));
    str_free(&a);
    str_free(&b);
    return alike;
}

void compare_sentences(const struct compare *c, const struct compare_pair *p, struct str *out)
{
    struct str none = {0}, same = {0}, alike = {0};
    size_t before = out->n;
    for (size_t i = 0; i < N_CLAIMS; i++) {
        size_t m = (size_t)metric_find(claims[i].metric);
        const struct paired *d = &p->metrics[m];
        bool shown = d->verdict == VERDICT_MORE || d->verdict == VERDICT_LESS;
        if (d->n == 0 || (d->mean_a == 0 && d->mean_b == 0)) continue;
        if (d->verdict == VERDICT_NONE)
            append_topic(&none, claims[i].topic);
        else if (d->verdict == VERDICT_SAME || d->mean == 0)
            append_topic(&same, claims[i].topic);
        else if (shown)
            sentence(out, c, p, &claims[i], m, about_bounds(c, p, m));
        else if (reads_alike(d, m))
            append_topic(&alike, claims[i].topic);
        else
            sentence(out, c, p, &claims[i], m, " in this one run");
        if (!strcmp(claims[i].metric, "mean_jct")) {
            where_from(out, p);
            against_the_trend(out, c, p);
        }
    }
    topics_line(out, "No difference shown in:", &none);
    topics_line(out, "Alike to three digits:", &alike);
    topics_line(out, "Exactly the same:", &same);
    if (out->n == before) str_append(out, "Nothing happened that could be compared.\n");
}

void compare_plain_words(const struct compare *c, const struct compare_pair *p, struct str *out)
{
    struct str lines = {0};
    str_printf(out, "\nIn plain words: %s against %s\n", other_name(c, p), c->approaches[0].name);
    compare_sentences(c, p, &lines);
    for (char *line = lines.s, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        str_append(out, "  * ");
        words_wrapped(out, line, 4, WIDTH);
        str_append(out, "\n");
    }
    str_free(&lines);
}
