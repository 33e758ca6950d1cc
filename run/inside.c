/* inside.c - the structure that writer and reader share.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/parts.h"

const char *const run_state_names[] = {"running", "complete", "interrupted", "failed"};
const char *const record_level_names[] = {"none", "jobs", "full"};
const char *const run_part_names[N_RUN_PARTS] = {"timeline.bin", "jobs.csv", "ledger.csv"};

struct run_inside *inside_create(void)
{
    struct run_inside *in = xcalloc(1, sizeof *in);
    arena_init(&in->arena);
    in->run.owner = in;
    in->run.fingerprint = "";
    in->run.end_ns = -1;
    return in;
}

void inside_destroy(struct run_inside *in)
{
    if (!in) return;
    metrics_destroy(in->metrics);
    array_free(&in->jobs);
    array_free(&in->ledger);
    intern_free(&in->names);
    arena_free(&in->arena);
    free(in);
}

const char *inside_name(struct run_inside *in, const char *text)
{
    return intern_text(&in->names, intern_id(&in->names, text ? text : ""));
}

static const char *id_text(struct run_inside *in, const struct job_row *row)
{
    if (row->id) return arena_strdup(&in->arena, row->id);
    return arena_printf(&in->arena, "%llu", (unsigned long long)row->number);
}

void inside_keep_job(struct run_inside *in, const struct job_row *row)
{
    struct run_job_view view = {.row = *row, .waits = arena_array(&in->arena, N_WAIT_REASONS, int64_t)};
    struct node_interval *nodes = arena_array(&in->arena, row->n_nodes, struct node_interval);
    if (row->n_nodes) memcpy(nodes, row->nodes, row->n_nodes * sizeof *nodes);
    if (row->wait_ns) memcpy(view.waits, row->wait_ns, N_WAIT_REASONS * sizeof *view.waits);
    view.row.id = id_text(in, row);
    view.row.nodes = nodes;
    view.row.wait_ns = view.waits;
    if (row->work_by) {
        share_ns *parts = arena_array(&in->arena, N_WORK_ACTIVITIES, share_ns);
        memcpy(parts, row->work_by, N_WORK_ACTIVITIES * sizeof *parts);
        view.row.work_by = parts;
    }
    view.row.team = inside_name(in, row->team);
    view.row.queue = inside_name(in, row->queue);
    view.row.kind = inside_name(in, row->kind);
    array_push(&in->jobs, view);
}

void inside_finish(struct run_inside *in)
{
    struct run *r = &in->run;
    r->jobs = in->jobs.v;
    r->n_jobs = in->jobs.n;
    r->ledger = in->ledger.v;
    r->n_ledger = in->ledger.n;
    for (size_t i = 0; i < r->n_ledger; i++)
        metrics_cell(in->metrics, r->ledger[i].activity, r->ledger[i].redone, r->ledger[i].sum);
    metrics_end(in->metrics, r->end_ns);
}

struct metric_value metric_of(const struct run *run, size_t index)
{
    const struct run_inside *in = run->owner;
    return metrics_value(in->metrics, index);
}

void run_close(struct run *run)
{
    if (run) inside_destroy(run->owner);
}
