/* diagnose_save.c - see diagnose_save.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/diagnose_save.h"

#include <stdio.h>

#include "run/decimal.h"
#include "study/words.h"

struct save_remedy save_remedy(const struct scenario *s, const struct job_detail *d, uint32_t gpus, uint32_t nodes)
{
    struct save_remedy r = {.spared = 1, .bound = true};
    struct checkpoint_spec other = d->checkpoint;
    if (other.save_ns != FROM_SIZE) return r;
    const char *how = other.async ? "sharded over all ranks" : "asynchronously";
    if (other.async)
        other.sharded = other.node_limits = true;
    else
        other.async = true;
    double now_s = checkpoint_times_of(s, &d->checkpoint, gpus, nodes).stall_s;
    double then_s = checkpoint_times_of(s, &other, gpus, nodes).stall_s;
    r = (struct save_remedy){.spared = now_s > then_s ? 1 - then_s / now_s : 0};
    if (r.spared > 0)
        snprintf(r.remedy, sizeof r.remedy, "%s: it stops for %.3g s instead of %.3g s", how, then_s, now_s);
    return r;
}

uint32_t row_gpus(const struct job_row *row)
{
    int64_t gpus = row->gpu_shares / SHARES_PER_GPU;
    return gpus < 1 ? 1 : (uint32_t)gpus;
}

uint32_t row_nodes(const struct job_row *row)
{
    uint32_t nodes = 0;
    for (unsigned i = 0; i < row->n_nodes; i++) nodes += row->nodes[i].last - row->nodes[i].first + 1;
    return nodes ? nodes : 1;
}

void restart_remedy(const struct scenario *s, const struct job_detail *d, const struct job_row *row,
                    char text[REMEDY_TEXT])
{
    enum { KNOWN = 3 };
    const double too_long = 1.5;
    const struct checkpoint_spec *c = &d->checkpoint;
    if (row->restarts < KNOWN || row->gpu_shares <= 0) return;
    double trained_s = decimal_gpu_s(row->work + row->redone) * SHARES_PER_GPU / (double)row->gpu_shares;
    double stall_s = checkpoint_times_of(s, c, row_gpus(row), row_nodes(row)).stall_s;
    double best_s = checkpoint_young_s(stall_s, trained_s / row->restarts), interval_s = (double)c->interval_ns / 1e9;
    struct str t = {0};
    if (c->interval_ns == 0)
        str_append(&t, "save checkpoints");
    else if (best_s > 0 && interval_s > too_long * best_s) {
        str_append(&t, "save every ");
        words_amount(&t, "s", best_s);
        str_append(&t, " instead of ");
        words_amount(&t, "s", interval_s);
    }
    snprintf(text, REMEDY_TEXT, "%s", str_text(&t));
    str_free(&t);
}
