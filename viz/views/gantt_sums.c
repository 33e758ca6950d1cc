/* gantt_sums.c - what the Gantt shows, as numbers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "run/decimal.h"
#include "viz/ui/memo.h"
#include "viz/views/gantt.h"

bool gantt_is_failure(unsigned show)
{
    return show == SHOW_REDONE || show == ACT_STALLED || show == ACT_HUNG || show == ACT_BACKOFF || show == SHOW_WAIT + WAIT_DETECTION ||
           show == SHOW_WAIT + WAIT_CONTAINER_BACKOFF || (show < N_ACTIVITIES && show_class(show) == CLASS_DOWN);
}

static void add_span(struct gantt_sums *out, const struct scene *s, const struct scene_span *p, unsigned shares, int64_t from, int64_t to)
{
    int64_t a = p->from_ns > from ? p->from_ns : from, end = scene_to(s, p), b = end < to ? end : to;
    if (b <= a || p->show >= N_SHOWS) return;
    out->spans++;
    out->failures += gantt_is_failure(p->show);
    out->by_show[p->show] += (share_ns)(b - a) * shares;
}

void gantt_sum(const struct scene *s, enum scene_set set, uint32_t first, uint32_t n, int64_t from, int64_t to, struct gantt_sums *out)
{
    for (uint32_t k = first; k < first + n; k++) {
        const struct scene_track *t = &s->tracks[set][k];
        for (uint32_t i = from <= s->begin_ns ? 0 : scene_reach(s, set, k, from); i < t->n && t->v[i].from_ns < to; i++)
            add_span(out, s, &t->v[i], set == SCENE_JOBS ? 1000 : t->v[i].shares, from, to);
    }
}

/* ---- failures ---- */

static void release(void *p)
{
    free(((struct gantt_failures *)p)->events);
}

const struct gantt_failures *gantt_failures(struct ui *u, unsigned run)
{
    static const char *const names[UI_MAX_RUNS] = {"failures of A", "failures of B"};
    const struct scene *s = u->runs[run].scene;
    struct gantt_failures *f = memo_get(&u->memos, names[run], s->version + 1, sizeof *f, release);
    if (f->version == s->version + 1) return f;
    ARRAY(uint32_t) found = {0};
    for (uint32_t i = 0; i < s->n_events; i++)
        if (scene_event_is_failure(&s->events[i])) array_push(&found, i);
    *f = (struct gantt_failures){found.v, found.n, s->version + 1};
    return f;
}

/* ---- dump ---- */

static void dump_sums(struct json_writer *w, const struct gantt_sums *s, bool jobs)
{
    json_write_key(w, "spans");
    json_write_uint64(w, s->spans);
    json_write_key(w, "failures");
    json_write_uint64(w, s->failures);
    json_write_key(w, jobs ? "s" : "gpu_s");
    json_write_object(w);
    for (unsigned k = 0; k < N_SHOWS; k++) {
        char text[DECIMAL_GPU_S_BYTES + 1];
        if (s->by_show[k] == 0) continue;
        text[decimal_put_gpu_s(text, s->by_show[k])] = '\0';
        json_write_key(w, show_name(k));
        json_write_raw(w, text);
    }
    json_write_end(w);
}

static void sum_row(const struct gantt_sight *g, const struct gantt_row *r, struct gantt_sums *sums)
{
    const struct scene *s = g->run->scene;
    gantt_sum(s, g->rows.set, r->first, r->n, g->ui->from_ns, g->ui->to_ns, sums);
}

static void dump_row(const struct gantt_sight *g, const struct gantt_row *r, struct json_writer *w)
{
    struct gantt_sums sums = {0};
    struct str name = {0};
    sum_row(g, r, &sums);
    gantt_row_name(&g->rows, r, &name);
    json_write_object_inline(w);
    json_write_key(w, "name");
    json_write_string(w, str_text(&name));
    json_write_key(w, "y");
    json_write_double(w, (double)(r->y - g->scroll));
    json_write_key(w, "height");
    json_write_double(w, (double)r->h);
    json_write_key(w, "tracks");
    json_write_uint64(w, r->n);
    json_write_key(w, "focus");
    json_write_bool(w, r->item.level != GANTT_NONE && g->ui->focus == gantt_focus(r->item));
    dump_sums(w, &sums, g->rows.set == SCENE_JOBS);
    json_write_end(w);
    str_free(&name);
}

static void dump_rows(const struct gantt_sight *g, struct json_writer *w)
{
    json_write_key(w, "rows");
    json_write_array(w);
    for (struct gantt_row r = {0}; gantt_row_next(&g->rows, g->scroll, g->scroll + g->area.h, &r);) dump_row(g, &r, w);
    json_write_end(w);
}

static void dump_pins(const struct gantt_sight *g, struct json_writer *w)
{
    json_write_key(w, "pinned");
    json_write_array(w);
    for (unsigned k = 0; k < g->n_pins; k++) {
        struct gantt_sight pin;
        gantt_pin_sight(g, k, &pin);
        for (struct gantt_row r = {0}; gantt_row_next(&pin.rows, 0, pin.area.h, &r);) dump_row(&pin, &r, w);
        gantt_sight_end(&pin);
    }
    json_write_end(w);
}

static void dump_failures(const struct gantt_sight *g, struct json_writer *w)
{
    const struct scene *s = g->run->scene;
    const struct gantt_failures *f = gantt_failures(g->ui, g->pane->run);
    struct str text = {0};
    json_write_key(w, "failure_events");
    json_write_array(w);
    for (size_t i = 0; i < f->n; i++) {
        const struct record *e = &s->events[f->events[i]];
        if (e->time_ns < g->ui->from_ns || e->time_ns >= g->ui->to_ns) continue;
        str_clear(&text);
        scene_event_text(s, e, &text);
        json_write_object_inline(w);
        json_write_key(w, "s");
        json_write_seconds(w, e->time_ns);
        json_write_key(w, "text");
        json_write_string(w, str_text(&text));
        json_write_end(w);
    }
    json_write_end(w);
    str_free(&text);
}

void gantt_dump(struct gantt_sight *g, struct json_writer *w)
{
    const struct scene *s = g->run->scene;
    struct gantt_sums all = {0};
    struct str focus = {0};
    gantt_item_name(s, gantt_unfocus(s, g->ui->focus), &focus);
    json_write_key(w, "rows_are");
    json_write_string(w, g->rows.set == SCENE_JOBS ? "jobs" : "gpus");
    json_write_key(w, "focus");
    json_write_string(w, str_text(&focus));
    json_write_key(w, "row_height");
    json_write_double(w, (double)g->rows.row);
    json_write_key(w, "height");
    json_write_double(w, (double)g->rows.height);
    json_write_key(w, "filtered_away");
    json_write_uint64(w, g->rows.others);
    gantt_sum(s, g->rows.set, 0, s->n_tracks[g->rows.set], g->ui->from_ns, g->ui->to_ns, &all);
    json_write_key(w, "all");
    json_write_object(w);
    json_write_key(w, "tracks");
    json_write_uint64(w, s->n_tracks[g->rows.set]);
    dump_sums(w, &all, g->rows.set == SCENE_JOBS);
    json_write_end(w);
    dump_failures(g, w);
    dump_pins(g, w);
    dump_rows(g, w);
    str_free(&focus);
}
