/* ledger_dump.c - the ledger view as text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/views/ledger_page.h"

static void dump_sums(struct json_writer *w, const struct ui *u, const struct ledger_table *t, const share_ns *sum)
{
    struct str s = {0};
    json_write_key(w, t->waits ? "s" : "gpu_s");
    json_write_array_inline(w);
    for (unsigned run = 0; run < u->n_runs; run++) {
        str_clear(&s);
        ledger_exact(t, sum[run], &s);
        json_write_raw(w, str_text(&s));
    }
    json_write_end(w);
    if (u->n_runs > 1) {
        bool less = sum[1] < sum[0];
        str_clear(&s);
        if (less) str_append(&s, "-");
        ledger_exact(t, less ? sum[0] - sum[1] : sum[1] - sum[0], &s);
        json_write_key(w, "difference");
        json_write_raw(w, str_text(&s));
    }
    str_free(&s);
}

static void dump_table(struct json_writer *w, const struct ui *u, const struct ledger_half *h, const char *name)
{
    json_write_key(w, name);
    json_write_object(w);
    json_write_key(w, "lines");
    json_write_array(w);
    for (size_t i = 0; i < h->t->lines.n; i++) {
        const struct ledger_line *line = &h->t->lines.v[i];
        json_write_object_inline(w);
        json_write_key(w, "name");
        json_write_string(w, line->name);
        json_write_key(w, "depth");
        json_write_uint64(w, line->depth);
        json_write_key(w, "in_sight");
        json_write_bool(w, i >= h->first && i < h->first + h->rows);
        dump_sums(w, u, h->t, line->sum);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_key(w, "all");
    json_write_object_inline(w);
    dump_sums(w, u, h->t, h->t->whole);
    json_write_end(w);
    json_write_end(w);
}

static void dump_moment(struct json_writer *w, struct ui *u, const struct ledger_table *t, unsigned run)
{
    unsigned shows[N_SHOWS], n = ledger_layers(t, shows);
    json_write_key(w, t->waits ? "waiting_jobs" : "gpus");
    json_write_object_inline(w);
    for (unsigned i = 0; i < n && ledger_is_known(u, t, run); i++) {
        double x = ledger_value_at(u, t, run, shows[i], u->cursor_ns);
        if (x <= 0) continue;
        json_write_key(w, show_name(shows[i]));
        json_write_double(w, x);
    }
    json_write_end(w);
}

void ledger_dump(struct ui *u, const struct pane *pane, struct json_writer *w)
{
    struct ledger_half half[2];
    ledger_lay_out(u, pane->box, half);
    json_write_key(w, "by");
    json_write_string(w, ledger_by_names[u->ledger_by]);
    json_write_key(w, "parts_of_own_whole");
    json_write_bool(w, u->normalise);
    dump_table(w, u, &half[0], "gpu_time");
    dump_table(w, u, &half[1], "waits");
    json_write_key(w, "of_waits_over_time");
    json_write_string(w, ledger_queue_note);
    json_write_key(w, "at_cursor");
    json_write_array(w);
    for (unsigned run = 0; run < u->n_runs; run++) {
        json_write_object(w);
        dump_moment(w, u, half[0].t, run);
        dump_moment(w, u, half[1].t, run);
        json_write_end(w);
    }
    json_write_end(w);
}
