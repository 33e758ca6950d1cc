/* ledger_page.h - what the files of the ledger view share; for viz/views only.
 *
 * ledger.c has the layout, keys and pointer, ledger_time.c what is drawn over time and where it comes from, ledger_table.c the sums
 * with their bars, ledger_dump.c both as text.
 *
 * Two halves stand one above the other, GPU time and waits; each has its table at the left and a plot a run at the right.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_LEDGER_PAGE_H
#define TRAINYARD_VIZ_VIEWS_LEDGER_PAGE_H

#include "base/json_write.h"
#include "viz/model/wait_series.h"
#include "viz/ui/view.h"
#include "viz/views/ledger_sums.h"

extern const struct view_kind view_ledger;

/* Of all runs, in the order A, B; made when the runs or what they are told apart by have changed. The ui's. */
struct ledger_tables {
    bool made;
    struct ledger_table gpu, wait;
    struct wait_series *series[UI_MAX_RUNS]; /* NULL: not known */
};
const struct ledger_tables *ledger_tables_of(struct ui *);

struct ledger_half {
    const struct ledger_table *t;
    const char *title;
    struct box box;       /* all of it */
    unsigned rows, first; /* lines that fit; the first of them */
};
void ledger_lay_out(struct ui *, struct box body, struct ledger_half half[2]);
unsigned ledger_runs_shown(const struct ui *, unsigned runs[UI_MAX_RUNS]); /* how many, and which */
float ledger_gutter(const struct ui *);                                    /* of the plots' ticks */

/* ledger_table.c */
void ledger_draw_table(struct ui *, const struct ledger_half *, struct draw_list *);
double ledger_share_of(const struct ledger_table *, unsigned run, share_ns); /* of the run's whole */

/* ledger_time.c: GPUs in a state, or jobs that wait for a reason. */
extern const char ledger_queue_note[];
bool ledger_is_known(struct ui *, const struct ledger_table *, unsigned run);
double ledger_value_at(struct ui *, const struct ledger_table *, unsigned run, unsigned show, int64_t ns);
unsigned ledger_layers(const struct ledger_table *, unsigned shows[N_SHOWS]); /* from the lowest */
struct box ledger_plot(const struct ui *, const struct ledger_half *, unsigned i, unsigned n); /* of the i-th run shown of n */
void ledger_draw_plots(struct ui *, const struct ledger_half *, struct draw_list *);

/* ledger_dump.c */
void ledger_dump(struct ui *, const struct pane *, struct json_writer *);

#endif
