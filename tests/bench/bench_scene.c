/* bench_scene.c - what opening a run and laying out a frame of its Gantt chart costs.
 *
 *     bench_scene write DIR SPANS GPUS     a made-up run with so many spans of GPUs
 *     bench_scene read DIR NAME            NAME VALUE UNIT goal GOAL, for scene.sh
 *     bench_scene views DIR NAME           ditto: a frame of each view
 *     bench_scene grow DIR SPANS GPUS NAME ditto: a look at such a run while it grows
 *
 * Nodes have 8 GPUs. Jobs of 1 to 16 nodes come one after another on each; each pulls an image, starts, agrees, works, in one of seven cases stalls and
 * works again, and is freed. A frame is 1920 x 1080: as many rows as pixels, or as GPUs. One core; the least of ROUNDS.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "viz/draw/pixels.h"
#include "viz/model/curves.h"
#include "viz/model/lod.h"
#include "viz/ui/view.h"

enum { NODE_GPUS = 8, WIDTH = 1920, HEIGHT = 1080, ROUNDS = 15 };

/* ---- writing ---- */

struct making {
    struct run_writer *w;
    struct recorder *r;
    uint64_t spans, want;
    int32_t jobs;
    uint64_t x; /* of the draw */
};

/* What happens next: jobs in a heap of moments would be a simulator; here all of a job is known, and records are sorted at the end. */
struct records { struct record *v; size_t n, cap; };

static uint64_t draw(struct making *m, uint64_t n)
{
    m->x = m->x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (m->x >> 33) % n;
}

static void put(struct records *t, struct record r)
{
    if (t->n == t->cap) {
        t->cap = t->cap * 2 + 64;
        t->v = xreallocarray(t->v, t->cap, sizeof *t->v);
    }
    r.spare = (uint32_t)t->n; /* keeps equal moments in order; 0 in the file */
    t->v[t->n++] = r;
}

static int by_time(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
    return x->spare < y->spare ? -1 : 1;
}

static void state(struct records *t, int64_t ns, int32_t job, enum activity a, int64_t shares)
{
    put(t, (struct record){.time_ns = ns, .type = REC_GROUP_STATE, .code = (uint16_t)a, .job = job, .a = shares});
}

/* A job on nodes [first, first + n) from `at` on; gives its end. */
static int64_t job(struct making *m, struct records *t, uint32_t first, uint32_t n, int64_t at)
{
    int32_t j = m->jobs++;
    int64_t shares = (int64_t)n * NODE_GPUS * 1000, submit = at;
    put(t, (struct record){.time_ns = at, .type = REC_JOB_SUBMITTED, .job = j, .subject = (uint32_t)shares});
    at += (int64_t)draw(m, 3600) * NS_PER_S + 1;
    put(t, (struct record){.time_ns = at, .type = REC_JOB_ADMITTED, .job = j, .subject = 1});
    put(t, (struct record){.time_ns = at, .type = REC_GROUP_NODES, .job = j, .a = (int64_t)n << 32 | first, .b = 0xff});
    put(t, (struct record){.time_ns = at, .type = REC_JOB_ALLOCATED, .job = j});
    int64_t admitted = at;
    state(t, at, j, ACT_IMAGE_PULL, shares);
    state(t, at += (int64_t)(20 + draw(m, 60)) * NS_PER_S, j, ACT_CONTAINER_START, shares);
    state(t, at += (int64_t)(1 + draw(m, 5)) * NS_PER_S, j, ACT_RENDEZVOUS, shares);
    at += (int64_t)(1 + draw(m, 10)) * NS_PER_S;
    int64_t started = at;
    put(t, (struct record){.time_ns = at, .type = REC_JOB_STARTED, .job = j, .subject = 1});
    at += (int64_t)(60 + draw(m, 7200)) * NS_PER_S;
    bool stalls = draw(m, 7) == 0;
    if (stalls) {
        state(t, at, j, ACT_STALLED, shares);
        state(t, at += (int64_t)(1 + draw(m, 30)) * NS_PER_S, j, ACT_RENDEZVOUS, shares);
        put(t, (struct record){.time_ns = at, .type = REC_JOB_STARTED, .code = CAUSE_FAILURE, .job = j, .subject = 1});
        at += (int64_t)(60 + draw(m, 3600)) * NS_PER_S;
    }
    put(t, (struct record){.time_ns = at, .type = REC_GROUP_FREED, .job = j, .a = shares});
    put(t, (struct record){.time_ns = at, .type = REC_JOB_FINISHED, .job = j, .code = JOB_SUCCEEDED});
    run_job(m->w, &(struct job_row){.number = (uint64_t)j + 1, .state = JOB_SUCCEEDED, .gpu_shares = shares, .submit_ns = submit,
                                    .admitted_ns = admitted, .allocated_ns = admitted, .started_ns = started, .finished_ns = at,
                                    .team = "", .queue = "", .kind = "train"});
    m->spans += (uint64_t)n * NODE_GPUS * (stalls ? 6 : 4);
    return at;
}

static void attach(struct run_writer *w, uint32_t nodes)
{
    struct str s = {0};
    str_printf(&s,
               "{ \"trainyard\": 1, \"name\": \"made-up\", \"cluster\": { \"nodes\": [ { \"group\": \"n\", \"count\": %u, \"gpus\": %d } ],"
               " \"topology\": { \"nodes_per_rack\": 8, \"racks_per_block\": 4 } },"
               " \"workload\": { \"jobs\": [ { \"kind\": \"train\", \"replicas\": 1, \"gpus\": 8, \"submit\": 0, \"duration\": 1 } ] },"
               " \"approaches\": { \"a\": { \"lifecycle\": \"none\", \"admission\": \"fifo\" } } }",
               nodes, NODE_GPUS);
    run_attach(w, "scenario.json", str_text(&s), s.n, NULL);
    str_free(&s);
}

/* The records of so many spans in order of time; their jobs' rows are in the writer. */
static struct records draw_records(struct making *m, uint32_t nodes, int64_t *end)
{
    struct records t = {0};
    int64_t *free_ns = xcalloc(nodes, sizeof *free_ns);
    *end = 0;
    for (uint32_t at = 0; m->spans < m->want; at %= nodes) {
        uint32_t n = UINT32_C(1) << draw(m, 5);
        if (n > nodes - at) n = nodes - at;
        int64_t from = 0;
        for (uint32_t i = at; i < at + n; i++)
            if (free_ns[i] > from) from = free_ns[i];
        int64_t to = job(m, &t, at, n, from);
        for (uint32_t i = at; i < at + n; i++) free_ns[i] = to;
        if (to > *end) *end = to;
        at += n;
    }
    free(free_ns);
    qsort(t.v, t.n, sizeof *t.v, by_time);
    for (size_t i = 0; i < t.n; i++) t.v[i].spare = 0;
    return t;
}

static struct making begin_run(const char *dir, uint64_t spans, uint32_t gpus)
{
    struct making m = {.want = spans, .x = 1};
    struct run_meta meta = {.scenario_name = "made-up", .scenario_hash = "", .approach = "a", .back_end = "sim", .record_level = RECORD_FULL,
                            .force = true, .horizon_ns = -1};
    m.w = run_create(dir, &meta, NULL);
    m.r = run_recorder(m.w);
    attach(m.w, gpus / NODE_GPUS);
    return m;
}

static void write_run(const char *dir, uint64_t spans, uint32_t gpus)
{
    struct making m = begin_run(dir, spans, gpus);
    int64_t end;
    struct records t = draw_records(&m, gpus / NODE_GPUS, &end);
    for (size_t i = 0; i < t.n; i++) recorder_put(m.r, &t.v[i]);
    run_finish(m.w, RUN_INTERRUPTED, NULL, end, NULL);
    free(t.v);
}

/* ---- reading ---- */

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double peak_bytes(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_maxrss * 1024;
}

/* All GPUs in as many rows as there are pixels, at most. */
static double frame(const struct lod *l, const struct scene *s, int64_t from, int64_t to, uint32_t rows, unsigned *sum)
{
    static struct lod_cell cells[WIDTH];
    uint32_t tracks = s->n_tracks[SCENE_GPUS];
    double best = 1e9;
    for (int k = 0; k < ROUNDS; k++) {
        double began = now_ms();
        for (uint32_t r = 0; r < rows; r++) {
            uint32_t first = (uint32_t)((uint64_t)r * tracks / rows), end = (uint32_t)((uint64_t)(r + 1) * tracks / rows);
            lod_row(l, first, end - first, from, to, WIDTH, cells);
            *sum += cells[WIDTH / 2].taken;
        }
        double ms = now_ms() - began;
        if (ms < best) best = ms;
    }
    return best;
}

/* The whole window, laid out and painted; it moves by a little each time, as when it is dragged, so that nothing of the last
 * frame can be kept. */
static double window_ms(struct ui *u, struct draw_list *d, struct pixels *p, int64_t from, int64_t to)
{
    double best = 1e9;
    for (int k = 0; k < ROUNDS; k++) {
        u->from_ns = from + (to - from) / 1000 * (k % 5);
        u->to_ns = u->from_ns + (to - from);
        double began = now_ms();
        ui_draw(u, d);
        pixels_paint(p, d);
        double ms = now_ms() - began;
        if (ms < best) best = ms;
    }
    return best;
}

struct looking {
    struct text_engine *text;
    struct ui *u;
    struct draw_list *d;
    struct pixels *p;
};

static bool look(struct looking *l, struct scene *s)
{
    char *err = NULL;
    l->text = text_create(&err);
    if (!l->text) {
        fprintf(stderr, "%s\n", err);
        free(err);
        return false;
    }
    l->u = ui_create(&s, 1, l->text, &(struct ui_options){.font_scale = 1});
    l->d = draw_create(l->text);
    l->p = pixels_create(WIDTH, HEIGHT);
    ui_event(l->u, &(struct ui_event){.kind = UI_RESIZE, .x = WIDTH, .y = HEIGHT});
    return true;
}

static void look_away(struct looking *l)
{
    pixels_destroy(l->p);
    draw_destroy(l->d);
    ui_destroy(l->u);
    text_destroy(l->text);
}

static int read_views(const char *dir, const char *name)
{
    char *err = NULL;
    struct looking l;
    double began = now_ms();
    struct scene *s = scene_open(dir, &err);
    if (!s) fprintf(stderr, "%s\n", err);
    printf("scene_open_%s %.3f s goal 1\n", name, (now_ms() - began) / 1e3);
    if (!s || !look(&l, s)) return 1;
    ui_select(l.u, &(struct ui_selection){.kind = SELECTED_JOB, .job = (int32_t)(s->n_jobs / 2), .at_ns = -1});
    for (unsigned i = 0; i < n_view_kinds; i++) {
        ui_view(l.u, view_kinds[i]->name);
        ui_draw(l.u, l.d); /* what a view keeps is made */
        printf("frame_%s_%s %.2f ms goal 40\n", view_kinds[i]->name, name, window_ms(l.u, l.d, l.p, 0, s->end_ns - s->end_ns / 100));
    }
    look_away(&l);
    scene_close(s);
    return 0;
}

static int windows(struct scene *s, const char *name, bool large)
{
    struct looking l;
    if (!look(&l, s)) return 1;
    struct ui *u = l.u;
    struct draw_list *d = l.d;
    struct pixels *p = l.p;
    ui_view(u, "gantt");
    printf("frame_full_%s %.2f ms goal %d\n", name, window_ms(u, d, p, 0, s->end_ns), large ? 40 : 16);
    printf("frame_zoom_%s %.2f ms goal %d\n", name, window_ms(u, d, p, s->end_ns / 2, s->end_ns / 2 + s->end_ns / 50), large ? 40 : 8);
    u->by_job = true;
    printf("frame_by_job_%s %.2f ms goal %d\n", name, window_ms(u, d, p, 0, s->end_ns), large ? 40 : 16);
    look_away(&l);
    return 0;
}

static int read_run(const char *dir, const char *name)
{
    char *err = NULL;
    unsigned sum = 0;
    double bytes = peak_bytes(), began = now_ms();
    struct scene *s = scene_open(dir, &err);
    if (!s) {
        fprintf(stderr, "%s\n", err);
        return 1;
    }
    double opened = now_ms();
    struct lod *l = lod_create(s, SCENE_GPUS), *jobs = lod_create(s, SCENE_JOBS);
    double levels = now_ms();
    struct curves *c = curves_create(s);
    double curved = now_ms();
    printf("scene_open_%s %.3f s goal 1\n", name, (opened - began) / 1e3);
    printf("scene_levels_%s %.3f s goal -\n", name, (levels - opened) / 1e3);
    printf("scene_curves_%s %.3f s goal -\n", name, (curved - levels) / 1e3);
    printf("scene_bytes_span_%s %.1f bytes goal 100\n", name, (peak_bytes() - bytes) / (double)s->n_spans);
    uint32_t tracks = s->n_tracks[SCENE_GPUS], rows = tracks < HEIGHT ? tracks : HEIGHT;
    bool large = rows < tracks;
    int64_t end = s->end_ns;
    printf("lod_full_%s %.2f ms goal %d\n", name, frame(l, s, 0, end, rows, &sum), large ? 20 : 8);
    if (large) printf("lod_full_aligned_%s %.2f ms goal 20\n", name, frame(l, s, 0, end, tracks / 4, &sum));
    printf("lod_zoom_%s %.2f ms goal %d\n", name, frame(l, s, end / 2, end / 2 + end / 50, rows, &sum), large ? 20 : 4);
    printf("lod_half_%s %.2f ms goal -\n", name, frame(l, s, end / 4, end / 4 + end / 2, rows, &sum));
    curves_destroy(c);
    lod_destroy(jobs);
    lod_destroy(l);
    int failed = windows(s, name, large);
    scene_close(s);
    return failed || sum == 1;
}

/* A run that grows: nearly all of it is there, and then LOOKS times a little more, 1/10,000 of the records each. */
static int grow(const char *dir, uint64_t spans, uint32_t gpus, const char *name)
{
    enum { LOOKS = 20, PART = 10000 };
    struct making m = begin_run(dir, spans, gpus);
    int64_t end;
    struct records t = draw_records(&m, gpus / NODE_GPUS, &end);
    size_t at = 0, part = t.n / PART + 1, first = t.n * 9 / 10;
    double ms[4] = {0};
    for (; at < first; at++) recorder_put(m.r, &t.v[at]);
    recorder_flush(m.r);
    struct scene *s = scene_open(dir, NULL);
    struct lod *l = lod_create(s, SCENE_GPUS), *jobs = lod_create(s, SCENE_JOBS);
    struct curves *c = curves_create(s);
    for (int k = 0; k < LOOKS; k++) {
        for (size_t i = 0; i < part; i++) recorder_put(m.r, &t.v[at++]);
        recorder_flush(m.r);
        double moment[5] = {now_ms()};
        bool news = scene_poll(s);
        moment[1] = now_ms();
        lod_update(l);
        moment[2] = now_ms();
        lod_update(jobs);
        moment[3] = now_ms();
        curves_update(c);
        moment[4] = now_ms();
        if (!news) return 1;
        for (int i = 0; i < 4; i++) ms[i] += (moment[i + 1] - moment[i]) / LOOKS;
    }
    static const char *const what[] = {"read", "levels", "job_levels", "curves"};
    for (int i = 0; i < 4; i++) printf("look_%s_%s %.2f ms goal -\n", what[i], name, ms[i]);
    printf("look_%s %.2f ms goal 50\n", name, ms[0] + ms[1] + ms[2] + ms[3]);
    curves_destroy(c);
    lod_destroy(jobs);
    lod_destroy(l);
    scene_close(s);
    run_finish(m.w, RUN_INTERRUPTED, NULL, end, NULL);
    free(t.v);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && !strcmp(argv[1], "write")) write_run(argv[2], strtoull(argv[3], NULL, 10), (uint32_t)strtoul(argv[4], NULL, 10));
    else if (argc == 4 && !strcmp(argv[1], "read")) return read_run(argv[2], argv[3]);
    else if (argc == 4 && !strcmp(argv[1], "views")) return read_views(argv[2], argv[3]);
    else if (argc == 6 && !strcmp(argv[1], "grow")) return grow(argv[2], strtoull(argv[3], NULL, 10), (uint32_t)strtoul(argv[4], NULL, 10), argv[5]);
    return 0;
}
