/* history.c - back and forward through what was shown: view, window, selection.
 *
 * A run of equal zooms, pans or steps is one entry: what was shown before the first of them.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/ui/private.h"

enum { MOST_MOMENTS = 1000 };

static struct moment moment_now(const struct ui *u)
{
    return (struct moment){u->view, u->show, u->by_job, u->from_ns, u->to_ns, u->cursor_ns, u->grid, u->private->focus, runs_selection(u)};
}

static void moment_show(struct ui *u, const struct moment *m)
{
    u->view = m->view;
    u->show = m->show;
    u->by_job = m->by_job;
    u->cursor_ns = m->cursor_ns;
    u->grid = m->grid;
    u->private->focus = m->focus;
    runs_sync(u);
    runs_select(u, &m->selection);
    ui_window_quietly(u, m->from_ns, m->to_ns);
    range_follow(u);
}

void history_note(struct ui *u)
{
    struct ui_private *p = u->private;
    bool goes_on = p->doing >= 0 && p->doing == p->did && p->back.n > 0;
    p->did = p->doing;
    array_clear(&p->forward);
    if (goes_on) return;
    if (p->back.n == MOST_MOMENTS) {
        for (size_t i = 1; i < p->back.n; i++) p->back.v[i - 1] = p->back.v[i];
        p->back.n--;
    }
    array_push(&p->back, moment_now(u));
}

void act_history(struct ui *u, int direction)
{
    struct ui_private *p = u->private;
    moment_list *from = direction < 0 ? &p->back : &p->forward, *to = direction < 0 ? &p->forward : &p->back;
    p->did = -1;
    if (from->n == 0) {
        ui_say(u, direction < 0 ? "nothing was shown before" : "nothing to go forward to");
        return;
    }
    array_push(to, moment_now(u));
    struct moment m = array_pop(from);
    moment_show(u, &m);
}
