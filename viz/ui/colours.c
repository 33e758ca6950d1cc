/* colours.c - the colour of a job in a state: by state, job, queue or team, grey where the filter or the legend leaves it out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "viz/ui/private.h"

static const float grey_part = 0.82f; /* of the background in what is left out */

static const char *name_by(const struct ui *u, const struct scene_job *j)
{
    return u->colour_by == COLOUR_QUEUE ? j->queue : j->team;
}

/* The same job has the same colour in all runs. */
static uint32_t key_of(struct ui *u, const struct ui_run *r, uint32_t job)
{
    const struct scene *first = ui_scene_at(u, 0);
    const char *name;
    int32_t there;
    switch (u->colour_by) {
    case COLOUR_QUEUE:
    case COLOUR_TEAM:
        name = name_by(u, &r->scene->jobs[job]);
        return intern_id(&u->private->colours.names, *name ? name : "none");
    default:
        if (r->place == 0) return job;
        there = scene_find_job(first, r->scene->jobs[job].id);
        return there >= 0 ? (uint32_t)there : first->n_jobs + job;
    }
}

void colours_update(struct ui *u)
{
    struct colours *c = &u->private->colours;
    intern_free(&c->names);
    c->names = (struct intern){0};
    for (unsigned i = 0; i < N_SHOWS; i++) {
        c->full[i] = theme_look(&u->theme, i).argb;
        c->grey[i] = theme_mix(c->full[i], u->theme.role[ROLE_GREYED], grey_part);
    }
    for (unsigned i = 0; i < ui_n_runs(u) && u->colour_by != COLOUR_STATE; i++) { /* by state no job is asked for */
        struct ui_run *r = runs_at(u, i);
        r->key = xreallocarray(r->key, r->scene->n_jobs + 1, sizeof *r->key);
        for (uint32_t j = 0; j < r->scene->n_jobs; j++) r->key[j] = key_of(u, r, j);
    }
    u->dirty = true;
}

void colours_count(struct ui *u)
{
    struct colours *c = &u->private->colours;
    memset(c->has, 0, sizeof c->has);
    for (unsigned r = 0; r < ui_n_runs(u); r++)
        for (unsigned set = 0; set < N_SCENE_SETS; set++) {
            const struct scene *s = ui_scene_at(u, r);
            for (uint32_t t = 0; t < s->n_tracks[set]; t++)
                for (uint32_t i = 0; i < s->tracks[set][t].n; i++) c->has[set][s->tracks[set][t].v[i].show] = true;
        }
}

void colours_free(struct colours *c)
{
    intern_free(&c->names);
}

/* Waits and held time of a job stay paler than its work, so that they can be told apart. */
static uint32_t tint(const struct ui *u, uint32_t key, unsigned show)
{
    uint32_t argb = theme_colour_of(&u->theme, key);
    bool works = show == SHOW_WORK || show == SHOW_REDONE || show_class(show) == CLASS_WORK;
    return works ? argb : theme_mix(argb, u->theme.role[ROLE_BACKGROUND], show >= SHOW_WAIT ? 0.65f : 0.4f);
}

uint32_t ui_colour(const struct ui *u, unsigned run, unsigned show, int32_t job)
{
    const struct colours *c = &u->private->colours;
    if (show >= N_SHOWS) return u->theme.role[ROLE_BACKGROUND];
    bool grey = job >= 0 && !u->runs[run].passes[job];
    if (u->colour_by == COLOUR_STATE || job < 0) {
        grey |= u->isolated && u->colour_by == COLOUR_STATE && u->isolated != show + 1;
        return (grey ? c->grey : c->full)[show];
    }
    uint32_t key = u->runs[run].key[job];
    grey |= u->isolated && u->isolated != key + 1;
    uint32_t argb = tint(u, key, show);
    return grey ? theme_mix(argb, u->theme.role[ROLE_GREYED], grey_part) : argb;
}
