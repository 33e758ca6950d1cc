/* chrome_trace.c - see chrome_trace.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/model/chrome_trace.h"

#include "base/json_write.h"
#include "base/version.h"
#include "run/decimal.h"

enum { US_DIGITS = 3, PID_RUN = 0, PID_JOBS, PID_NODES };

struct trace {
    struct json_writer w;
    const struct scene *s;
    const struct curves *c;
    const char *name;
    uint32_t pid;   /* of the run's first process */
    int64_t from, to;
    uint64_t async; /* ids given so far */
};

/* ---- members ---- */

static void text(struct trace *t, const char *key, const char *value)
{
    if (!value || !*value) return;
    json_write_key(&t->w, key);
    json_write_string(&t->w, value);
}

static void number(struct trace *t, const char *key, uint64_t value)
{
    json_write_key(&t->w, key);
    json_write_uint64(&t->w, value);
}

static void us(struct trace *t, const char *key, int64_t ns)
{
    char digits[DECIMAL_GPU_S_BYTES + 1];
    digits[decimal_put(digits, (share_ns)ns, US_DIGITS)] = '\0';
    json_write_key(&t->w, key);
    json_write_raw(&t->w, digits);
}

static void event(struct trace *t, const char *phase, uint32_t pid, uint32_t tid, int64_t ns)
{
    json_write_object_inline(&t->w);
    text(t, "ph", phase);
    number(t, "pid", t->pid + pid);
    number(t, "tid", tid);
    us(t, "ts", ns);
}

/* ---- names of processes and threads ---- */

static void named(struct trace *t, const char *what, uint32_t pid, uint32_t tid, const char *name, const char *prefix)
{
    struct str full = {0};
    if (prefix && *prefix) str_printf(&full, "%s ", prefix);
    str_append(&full, name);
    event(t, "M", pid, tid, 0);
    text(t, "name", what);
    json_write_key(&t->w, "args");
    json_write_object(&t->w);
    text(t, "name", str_text(&full));
    json_write_end(&t->w);
    json_write_end(&t->w);
    str_free(&full);
}

static void names(struct trace *t)
{
    struct str gpu = {0};
    named(t, "process_name", PID_RUN, 0, "run", t->name);
    named(t, "process_name", PID_JOBS, 0, "jobs", t->name);
    for (uint32_t n = 0; n < t->s->n_nodes && t->s->has_gpus; n++) {
        named(t, "process_name", PID_NODES + n, 0, t->s->nodes[n].name, t->name);
        for (uint32_t g = 0; g < t->s->nodes[n].n_gpus; g++) {
            str_clear(&gpu);
            str_printf(&gpu, "gpu %u", g);
            named(t, "thread_name", PID_NODES + n, g, str_text(&gpu), "");
        }
    }
    str_free(&gpu);
}

/* ---- spans ---- */

static void about(struct trace *t, const struct scene_span *p, bool gpu)
{
    json_write_key(&t->w, "args");
    json_write_object(&t->w);
    text(t, "state", show_name(p->show));
    if (p->cause < N_CAUSES && p->cause != CAUSE_FIRST) text(t, "cause", cause_table[p->cause].name);
    if (gpu && p->shares < 1000) number(t, "shares", p->shares);
    if (p->job >= 0) {
        const struct scene_job *j = &t->s->jobs[p->job];
        text(t, "job", j->id);
        text(t, "queue", j->queue);
        text(t, "team", j->team);
        text(t, "kind", j->kind);
    }
    json_write_end(&t->w);
}

/* One event, or the begin and end of an asynchronous one. */
static void span(struct trace *t, const struct scene_span *p, uint32_t pid, uint32_t tid, const char *name, bool gpu)
{
    int64_t from = p->from_ns > t->from ? p->from_ns : t->from, end = scene_to(t->s, p), to = end < t->to ? end : t->to;
    bool shared = gpu && p->shares < 1000;
    if (to <= from || t->w.out->n > CHROME_TRACE_MOST) return;
    t->async += shared;
    for (unsigned k = 0; k < 1u + shared; k++) {
        event(t, shared ? k ? "e" : "b" : "X", pid, tid, k ? to : from);
        if (shared) number(t, "id", t->async);
        else us(t, "dur", to - from);
        text(t, "name", name);
        text(t, "cat", show_name(p->show));
        if (k == 0) about(t, p, gpu);
        json_write_end(&t->w);
    }
}

static void track(struct trace *t, enum scene_set set, uint32_t k, uint32_t pid, uint32_t tid)
{
    const struct scene_track *all = &t->s->tracks[set][k];
    for (uint32_t i = scene_reach(t->s, set, k, t->from); i < all->n && all->v[i].from_ns < t->to; i++) {
        const struct scene_span *p = &all->v[i];
        bool gpu = set == SCENE_GPUS;
        span(t, p, pid, tid, gpu && p->job >= 0 ? t->s->jobs[p->job].id : show_name(p->show), gpu);
    }
}

static void gpus(struct trace *t)
{
    for (uint32_t n = 0; n < t->s->n_nodes && t->s->has_gpus; n++)
        for (uint32_t g = 0; g < t->s->nodes[n].n_gpus; g++) track(t, SCENE_GPUS, t->s->nodes[n].first_gpu + g, PID_NODES + n, g);
}

static void jobs(struct trace *t)
{
    for (uint32_t j = 0; j < t->s->n_jobs && j < t->s->n_tracks[SCENE_JOBS]; j++) {
        const struct scene_job *job = &t->s->jobs[j];
        int64_t end = job->finished_ns >= 0 ? job->finished_ns : t->s->end_ns;
        if (job->submit_ns < 0 || job->submit_ns >= t->to || end < t->from) continue;
        named(t, "thread_name", PID_JOBS, j, job->id, "");
        track(t, SCENE_JOBS, j, PID_JOBS, j);
    }
}

/* ---- events and counters ---- */

static void instants(struct trace *t)
{
    struct str words = {0};
    for (uint32_t i = scene_event_seek(t->s, t->from); i < t->s->n_events && t->s->events[i].time_ns < t->to; i++) {
        const struct record *r = &t->s->events[i];
        bool node = r->type == REC_NODE_STATE && r->subject < t->s->n_nodes, job = r->job >= 0;
        str_clear(&words);
        scene_event_text(t->s, r, &words);
        event(t, "i", node ? PID_NODES + r->subject : job ? PID_JOBS : PID_RUN, job ? (uint32_t)r->job : 0, r->time_ns);
        text(t, "s", node ? "p" : "t");
        text(t, "name", str_text(&words));
        text(t, "cat", r->type < N_RECORD_TYPES ? record_table[r->type].name : NULL);
        json_write_end(&t->w);
    }
    str_free(&words);
}

static void counter(struct trace *t, int64_t ns, const char *name, const unsigned *ids, unsigned n)
{
    event(t, "C", PID_RUN, 0, ns);
    text(t, "name", name);
    json_write_key(&t->w, "args");
    json_write_object(&t->w);
    for (unsigned i = 0; i < n; i++) {
        struct curve_info info = curve_info(ids[i]);
        bool shares = info.unit[0] == 's';
        json_write_key(&t->w, info.name);
        json_write_double(&t->w, curve_at(t->c, ids[i], ns) / (shares ? 1000 : 1));
    }
    json_write_end(&t->w);
    json_write_end(&t->w);
}

static void counters(struct trace *t)
{
    static const unsigned waiting[] = {CURVE_QUEUED_JOBS, CURVE_RUNNING_JOBS}, wanted[] = {CURVE_QUEUED_SHARES};
    static const unsigned held[] = {CURVE_SHOW + SHOW_WORK, CURVE_SHOW + SHOW_REDONE, CURVE_IDLE_SHARES};
    for (int64_t k = 0; k < CHROME_TRACE_SAMPLES; k++) {
        int64_t width = t->to - t->from, ns = t->from + width / CHROME_TRACE_SAMPLES * k + width % CHROME_TRACE_SAMPLES * k / CHROME_TRACE_SAMPLES;
        counter(t, ns, "jobs", waiting, 2);
        counter(t, ns, "GPUs that are waited for", wanted, 1);
        if (curve_known(t->c, CURVE_IDLE_SHARES)) counter(t, ns, "GPUs", held, 3);
    }
}

/* ---- all ---- */

static void about_all(struct trace *t, const struct chrome_trace_source *from, unsigned n)
{
    json_write_key(&t->w, "otherData");
    json_write_object(&t->w);
    text(t, "program", "trainyard " TRAINYARD_VERSION);
    us(t, "from_us", t->from);
    us(t, "to_us", t->to);
    json_write_key(&t->w, "runs");
    json_write_array(&t->w);
    for (unsigned i = 0; i < n; i++) json_write_string(&t->w, from[i].scene->title);
    json_write_end(&t->w);
    json_write_end(&t->w);
}

static bool fits(const struct str *out, char **err)
{
    struct str s = {0};
    if (out->n <= CHROME_TRACE_MOST) return true;
    str_printf(&s, "the trace would be larger than %zu MB, which no viewer opens: choose a shorter range", CHROME_TRACE_MOST >> 20);
    *err = str_take(&s);
    return false;
}

bool chrome_trace(const struct chrome_trace_source *from, unsigned n, int64_t from_ns, int64_t to_ns, struct str *out, char **err)
{
    struct trace t = {.pid = 1, .from = from_ns, .to = to_ns};
    bool ok = true;
    json_write_begin(&t.w, out);
    json_write_object(&t.w);
    text(&t, "displayTimeUnit", "ms");
    about_all(&t, from, n);
    json_write_key(&t.w, "traceEvents");
    json_write_array(&t.w);
    for (unsigned i = 0; i < n && ok; i++) {
        static void (*const parts[])(struct trace *) = {names, gpus, jobs, instants, counters};
        t.s = from[i].scene;
        t.c = from[i].curves;
        t.name = from[i].name;
        for (unsigned k = 0; k < sizeof parts / sizeof *parts && ok; k++) {
            parts[k](&t);
            ok = fits(out, err);
        }
        t.pid += PID_NODES + t.s->n_nodes;
    }
    json_write_end(&t.w);
    json_write_end(&t.w);
    json_write_finish(&t.w);
    return ok;
}
