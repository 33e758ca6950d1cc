/* job_dump.c - the job page as JSON.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "base/str.h"
#include "run/decimal.h"
#include "study/explain.h"
#include "viz/views/job_page.h"

static void put_time(struct json_writer *w, const char *key, int64_t ns)
{
    json_write_key(w, key);
    if (ns < 0) json_write_null(w);
    else json_write_seconds(w, ns);
}

static void put_count(struct json_writer *w, const char *key, uint64_t n)
{
    json_write_key(w, key);
    json_write_uint64(w, n);
}

static void put_text(struct json_writer *w, const char *key, const char *text)
{
    json_write_key(w, key);
    json_write_string(w, text);
}

static void put_gpu_s(struct json_writer *w, const char *key, share_ns sum)
{
    char text[DECIMAL_GPU_S_BYTES + 1];
    text[decimal_put_gpu_s(text, sum)] = '\0';
    json_write_key(w, key);
    json_write_raw(w, text);
}

static void put_job(struct json_writer *w, const char *key, const struct scene *s, int32_t job)
{
    put_text(w, key, job >= 0 && (uint32_t)job < s->n_jobs ? s->jobs[job].id : NULL);
}

static void dump_head(const struct job_facts *f, struct json_writer *w)
{
    const struct scene_job *j = f->job;
    char gpus[DECIMAL_GPU_S_BYTES + 1];
    gpus[decimal_put(gpus, (share_ns)j->gpu_shares, SHARE_DIGITS)] = '\0';
    put_text(w, "job", j->id);
    put_text(w, "state", job_state_names[j->state]);
    json_write_key(w, "gpus");
    json_write_raw(w, gpus);
    put_text(w, "team", j->team);
    put_text(w, "queue", j->queue);
    put_text(w, "kind", j->kind);
    put_time(w, "submitted_s", j->submit_ns);
    put_time(w, "admitted_s", j->admitted_ns);
    put_time(w, "allocated_s", j->allocated_ns);
    put_time(w, "started_s", j->started_ns);
    put_time(w, "finished_s", j->finished_ns);
    put_time(w, "waited_s", job_waited_ns(f->scene, j));
    put_time(w, "ran_s", job_ran_ns(f->scene, j));
    put_count(w, "restarts", j->restarts);
    put_count(w, "preemptions", j->preemptions);
    put_count(w, "failures", j->failures);
    put_count(w, "checkpoints", j->checkpoints);
    put_count(w, "rollbacks", j->rollbacks);
    if (!j->row) return;
    put_gpu_s(w, "work_gpu_s", j->row->work);
    put_gpu_s(w, "redone_gpu_s", j->row->redone);
    put_gpu_s(w, "held_gpu_s", j->row->held);
}

static void dump_waits(const struct job_facts *f, struct json_writer *w)
{
    const struct job_wait *longest[JOB_WAITS_SHOWN];
    size_t n = job_longest_waits(f, longest);
    json_write_key(w, "waited_for_s");
    json_write_object(w);
    for (unsigned r = 0; r < N_WAIT_REASONS; r++)
        if (f->wait_ns[r]) put_time(w, wait_table[r].name, f->wait_ns[r]);
    json_write_end(w);
    put_count(w, "waits", f->waits.n);
    json_write_key(w, "longest_waits");
    json_write_array(w);
    for (size_t i = 0; i < n; i++) {
        json_write_object_inline(w);
        put_text(w, "reason", wait_table[longest[i]->reason].name);
        put_time(w, "from_s", longest[i]->from_ns);
        put_time(w, "s", longest[i]->to_ns - longest[i]->from_ns);
        put_job(w, "blocker", f->scene, longest[i]->blocker);
        json_write_end(w);
    }
    json_write_end(w);
}

static void dump_attempt(const struct job_facts *f, size_t k, struct json_writer *w)
{
    const struct job_attempt *a = &f->attempts.v[k];
    json_write_object_inline(w);
    put_count(w, "attempt", k + 1);
    put_text(w, "cause", a->cause < N_CAUSES ? cause_table[a->cause].name : "?");
    put_time(w, "admitted_s", a->admitted_ns);
    put_time(w, "allocated_s", a->allocated_ns);
    put_time(w, "started_s", a->started_ns);
    put_time(w, "stopped_s", a->stopped_ns);
    if (a->to_step >= 0) {
        put_count(w, "from_step", (uint64_t)(a->from_step > 0 ? a->from_step : 0));
        put_count(w, "to_step", (uint64_t)a->to_step);
        if (a->kept_step >= 0) put_count(w, "kept_step", (uint64_t)a->kept_step);
    }
    put_text(w, "ended", a->ended < N_RECORD_TYPES ? record_table[a->ended].name : NULL);
    if (a->ended == REC_JOB_EVICTED) put_text(w, "reason", explain_stop_reason(a->code));
    if (a->by >= 0) put_job(w, "by", f->scene, a->by);
    json_write_end(w);
}

static void dump_marks(const struct job_facts *f, struct json_writer *w)
{
    json_write_key(w, "marks");
    json_write_array(w);
    for (size_t i = 0; i < f->marks.n; i++) {
        struct str text = {0};
        const struct job_mark *m = &f->marks.v[i];
        if (m->kind == MARK_CHECKPOINT) continue; /* many, and counted above */
        scene_event_text(f->scene, &f->scene->events[m->event], &text);
        json_write_object_inline(w);
        put_time(w, "s", m->at_ns);
        put_text(w, "kind", job_mark_names[m->kind]);
        put_text(w, "text", str_text(&text));
        json_write_end(w);
        str_free(&text);
    }
    json_write_end(w);
}

static void dump_places(const struct job_facts *f, struct json_writer *w)
{
    json_write_key(w, "places");
    json_write_array(w);
    for (size_t i = 0; i < f->places.n; i++) {
        json_write_object_inline(w);
        put_text(w, "node", f->scene->nodes[f->places.v[i].node].name);
        put_count(w, "gpus", f->places.v[i].gpus);
        put_time(w, "from_s", f->places.v[i].from_ns);
        put_time(w, "to_s", f->places.v[i].to_ns);
        json_write_end(w);
    }
    json_write_end(w);
}

static void dump_use(const struct job_facts *f, struct json_writer *w)
{
    struct job_use uses[JOB_MOST_USES];
    size_t n = job_uses(f, uses);
    json_write_key(w, "gpu_s");
    json_write_object(w);
    for (size_t i = 0; i < n; i++) put_gpu_s(w, uses[i].name, uses[i].sum);
    json_write_end(w);
}

static void dump_diagnosis(struct job_page *p, unsigned run, const struct job_facts *f, struct json_writer *w)
{
    const struct diagnosis *d = job_diagnosis(p->ui, run, f);
    json_write_key(w, "diagnosis");
    if (d) diagnosis_json(d, w);
    else json_write_null(w);
}

static void dump_series(struct job_page *p, unsigned run, const struct job_facts *f, struct json_writer *w)
{
    enum { SHOWN = 12 };
    const job_points *points = job_series_points(&p->ui->memos, run, f->scene, f->number);
    json_write_key(w, "training");
    json_write_array(w);
    for (size_t i = 0; i < points->n; i += points->n > SHOWN ? points->n / SHOWN : 1) {
        const struct job_point *at = &points->v[i];
        json_write_object_inline(w);
        put_time(w, "s", at->time_ns);
        json_write_key(w, "loss");
        json_write_double(w, at->loss);
        json_write_key(w, "samples_per_s");
        json_write_double(w, at->samples_per_s);
        json_write_key(w, "tokens_per_s");
        json_write_double(w, at->tokens_per_s);
        json_write_key(w, "step_s");
        json_write_double(w, at->step_s);
        json_write_end(w);
    }
    json_write_end(w);
    const job_points *measured = job_measured(p, run, f);
    json_write_key(w, "measured"); /* dots over it: moment, time of a step */
    json_write_array(w);
    for (size_t i = 0; measured && i < measured->n; i++) {
        json_write_array_inline(w);
        json_write_seconds(w, measured->v[i].time_ns);
        json_write_double(w, measured->v[i].step_s);
        json_write_end(w);
    }
    json_write_end(w);
}

static void dump_column(struct job_page *p, unsigned i, struct json_writer *w)
{
    const struct job_facts *f = p->facts[i];
    json_write_object(w);
    put_text(w, "run", p->runs[i] ? "B" : "A");
    if (!f) {
        put_text(w, "empty", "The selected job is not in this run.");
        json_write_end(w);
        return;
    }
    dump_head(f, w);
    dump_waits(f, w);
    json_write_key(w, "attempts");
    json_write_array(w);
    for (size_t k = 0; k < f->attempts.n; k++) dump_attempt(f, k, w);
    json_write_end(w);
    dump_marks(f, w);
    dump_places(f, w);
    job_dump_members(p, i, w);
    dump_use(f, w);
    dump_diagnosis(p, p->runs[i], f, w);
    dump_series(p, p->runs[i], f, w);
    json_write_end(w);
}

void job_dump(struct job_page *p, struct json_writer *w)
{
    put_count(w, "links", p->links.n);
    put_count(w, "focus", p->ui->focus <= p->links.n ? p->ui->focus : 0);
    json_write_key(w, "columns");
    json_write_array(w);
    for (unsigned i = 0; i < p->n_columns; i++) dump_column(p, i, w);
    json_write_end(w);
}
