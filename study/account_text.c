/* account_text.c - the ledgers of runs for people.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <string.h>

#include "run/decimal.h"
#include "study/account.h"
#include "study/words.h"

enum { WIDTH = 100, USES_SHOWN = 8 };

/* ---- GPU time ---- */

static double percent(share_ns part, share_ns all)
{
    return all ? 100 * decimal_gpu_s(part) / decimal_gpu_s(all) : 0;
}

static double hours(const struct account *a, share_ns sum)
{
    return decimal_gpu_s(sum) / 3600 / (double)a->runs;
}

static void gpu_row(const struct account *a, struct str *out, const char *name, size_t indent, share_ns sum,
                    const char *help)
{
    str_append_repeat(out, ' ', indent);
    words_name_cell(out, name, 22 - indent);
    words_number_cell(out, hours(a, sum), 10);
    str_printf(out, " %7.2f %%%s", percent(sum, a->all), *help ? "  " : "");
    words_wrapped(out, help, 45, WIDTH);
    str_append(out, "\n");
}

void account_gpu_text(const struct account *a, struct str *out)
{
    str_printf(out, "\nWhere the GPU time went                GPU-h%s\n", a->runs > 1 ? " a replication" : "");
    for (int class = 0; class < N_GPU_CLASSES; class ++) {
        if (!a->class[class]) continue;
        gpu_row(a, out, gpu_class_names[class], 0, a->class[class], "");
        for (int c = 0; c < N_ACTIVITIES; c++)
            for (int redone = 0; redone < 2; redone++)
                if (a->cells[c][redone] && gpu_class_of((enum activity)c, redone) == (enum gpu_class) class)
                    gpu_row(a, out, activity_table[c].name, 2, a->cells[c][redone], activity_table[c].help);
    }
    gpu_row(a, out, "all", 0, a->all, "");
}

/* ---- waits ---- */

static void reasons_table(const struct account *a, struct str *out)
{
    const struct wait_sums *s = &a->waits;
    double runs = (double)a->runs;
    if (!s->all) {
        str_append(out, "\nNo job waited.\n");
        return;
    }
    str_printf(out, "\nWhy jobs did not step               job-hours       %%     jobs    longest  in job%s\n",
               a->runs > 1 ? " (a replication)" : "");
    for (int w = 0; w < N_WAIT_REASONS; w++) {
        if (!s->reason[w]) continue;
        words_name_cell(out, wait_table[w].name, 34);
        words_number_cell(out, (double)s->reason[w] / 3.6e12 / runs, 10);
        str_printf(out, " %7.2f", 100 * (double)s->reason[w] / (double)s->all);
        words_number_cell(out, (double)s->hit[w] / runs, 8);
        words_amount_cell(out, "s", (double)s->longest[w] / 1e9, 10);
        str_printf(out, "  %s\n    %s\n", s->longest_job[w], wait_table[w].help);
    }
}

static void group_row(const struct account *a, const struct wait_sums *s, struct str *out)
{
    int top = wait_sums_top(s);
    words_left(out, *s->name ? s->name : "(none)", 24);
    words_number_cell(out, (double)s->jobs / (double)a->runs, 8);
    words_amount_cell(out, "s", (double)s->all / 1e9 / (double)s->jobs, 10);
    words_amount_cell(out, "s", (double)s->longest_sum / 1e9, 10);
    str_append(out, "  ");
    if (s->all) {
        words_name(out, wait_table[top].name);
        str_printf(out, " (%.0f %%)", 100 * (double)s->reason[top] / (double)s->all);
    } else
        str_append(out, "-");
    str_append(out, "\n");
}

static void groups_table(const struct account *a, const struct wait_groups *g, const char *what, struct str *out)
{
    if (g->sums.n < 2) return;
    str_append(out, "\n");
    words_left(out, what, 24);
    str_append(out, "     jobs  mean wait    longest  most of it\n");
    for (size_t i = 0; i < g->sums.n; i++) group_row(a, &g->sums.v[i], out);
}

void account_waits_text(struct account *a, struct str *out)
{
    account_sort(a);
    reasons_table(a, out);
    groups_table(a, &a->queues, "Queue", out);
    groups_table(a, &a->teams, "Team", out);
}

/* ---- who used the most ---- */

static void use_row(const struct account *a, const struct gpu_use *u, const char *what, struct str *out)
{
    share_ns busy = gpu_use_busy(u);
    char name[64];
    snprintf(name, sizeof name, "%s %s", what, *u->name ? u->name : "(none)");
    words_left(out, name, 34);
    words_number_cell(out, hours(a, busy), 10);
    str_printf(out, " %8.2f %8.2f %8.2f %8.2f\n", percent(busy, a->all), percent(u->class[GPU_WORK], busy),
               percent(u->class[GPU_HELD], busy), percent(u->class[GPU_REDONE], busy));
}

/* Queues, teams ... that used any, the busiest first; one name alone says nothing. */
static void uses_rows(const struct account *a, enum use_by by, struct str *out)
{
    size_t n = 0;
    while (n < a->uses[by].uses.n && gpu_use_busy(&a->uses[by].uses.v[n])) n++;
    for (size_t i = 0; i < n && i < USES_SHOWN && n > 1; i++) use_row(a, &a->uses[by].uses.v[i], use_by_names[by], out);
    if (n > USES_SHOWN) str_printf(out, "  and %zu more\n", n - USES_SHOWN);
}

static void bullet(struct str *out, struct str *text)
{
    str_append(out, "  * ");
    words_wrapped(out, str_text(text), 4, WIDTH);
    str_append(out, "\n");
    str_free(text);
}

static void record_line(const struct account *a, enum record_of what, struct str *out)
{
    static const char *const leads[N_RECORDS] = {"Most GPU time", "Longest wait in all", "Most restarts",
                                                 "Most preemptions"};
    const struct record_holder *h = &a->records[what];
    struct str s = {0};
    if (!h->job) return;
    str_printf(&s, "%s: ", leads[what]);
    if (what == MOST_GPU_TIME) {
        words_number(&s, h->amount / 3600);
        str_append(&s, " GPU-h");
    } else
        words_amount(&s, what == MOST_WAIT ? "s" : "1", h->amount);
    str_printf(&s, ", job %s", h->job);
    if (*h->team) str_printf(&s, " of team %s", h->team);
    if (*h->queue) str_printf(&s, " in queue %s", h->queue);
    str_append(&s, " with ");
    words_gpus(&s, h->gpu_shares);
    str_append(&s, h->gpu_shares == 1000 ? " GPU" : " GPUs");
    if (a->runs > 1) str_printf(&s, ", replication %u", h->replication);
    bullet(out, &s);
}

void account_busiest_text(struct account *a, struct str *out)
{
    share_ns busy = a->class[GPU_WORK] + a->class[GPU_HELD] + a->class[GPU_REDONE];
    account_sort(a);
    if (!busy) return;
    str_printf(out, "\nWho used the GPUs%28s    %% all   %% work   %% held  %% again%s\n", "GPU-h",
               a->runs > 1 ? "  (a replication)" : "");
    for (int by = 0; by < N_USES; by++) uses_rows(a, (enum use_by)by, out);
    for (int i = 0; i < N_RECORDS; i++) record_line(a, (enum record_of)i, out);
}
