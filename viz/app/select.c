/* select.c - --select: what it names.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "viz/app/app.h"

static bool find_job(const struct ui *u, const char *id, struct ui_selection *to)
{
    for (unsigned run = 0; run < u->n_runs; run++) {
        int32_t job = scene_find_job(u->runs[run].scene, id);
        if (job < 0) continue;
        *to = (struct ui_selection){.kind = SELECTED_JOB, .run = run, .job = job, .at_ns = -1};
        return true;
    }
    return false;
}

static bool find_node_n(const struct ui *u, const char *name, size_t n, struct ui_selection *to)
{
    for (unsigned run = 0; run < u->n_runs; run++)
        for (uint32_t k = 0; k < u->runs[run].scene->n_nodes; k++) {
            const char *is = u->runs[run].scene->nodes[k].name;
            if (strncmp(is, name, n) != 0 || is[n]) continue;
            *to = (struct ui_selection){.kind = SELECTED_NODE, .run = run, .job = -1, .node = k, .at_ns = -1};
            return true;
        }
    return false;
}

static bool find_node(const struct ui *u, const char *name, struct ui_selection *to)
{
    return find_node_n(u, name, strlen(name), to);
}

/* "h100-17/3": the GPUs of a node count from 0. */
static bool find_gpu(const struct ui *u, const char *name, struct ui_selection *to)
{
    const char *slash = strrchr(name, '/');
    int64_t k;
    if (!slash || units_parse_int64(slash + 1, &k) || !find_node_n(u, name, (size_t)(slash - name), to)) return false;
    const struct scene *s = u->runs[to->run].scene;
    const struct scene_node *node = &s->nodes[to->node];
    if (k < 0 || k >= node->n_gpus || node->first_gpu + (uint32_t)k >= s->n_tracks[SCENE_GPUS]) return false;
    to->kind = SELECTED_GPU;
    to->gpu = node->first_gpu + (uint32_t)k;
    return true;
}

static bool find_event(const struct ui *u, const char *text, struct ui_selection *to)
{
    int64_t n;
    if (units_parse_int64(text, &n) || n < 0 || n >= u->runs[0].scene->n_events) return false;
    *to = (struct ui_selection){.kind = SELECTED_EVENT, .job = -1, .event = (uint32_t)n, .at_ns = u->runs[0].scene->events[n].time_ns};
    return true;
}

static const struct {
    const char *begin;
    bool (*find)(const struct ui *, const char *, struct ui_selection *);
} kinds[] = {{"job:", find_job}, {"node:", find_node}, {"gpu:", find_gpu}, {"event:", find_event}};

int app_select(struct ui *u, const char *what, char **err)
{
    struct ui_selection to;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].begin);
        if (strncmp(what, kinds[i].begin, n) != 0) continue;
        if (kinds[i].find(u, what + n, &to)) {
            ui_select(u, &to);
            return EXIT_OK;
        }
        *err = xstrdup("there is no such thing in these runs");
        return EXIT_INPUT;
    }
    *err = xstrdup("job:ID, node:NAME, gpu:NODE/NUMBER or event:NUMBER is needed");
    return EXIT_USAGE;
}
