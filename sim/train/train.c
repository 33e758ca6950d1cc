/* train.c - see train.h.
 *
 * A run of ranks is one segment of constant rate from `since_ns`. Its position is a whole step and the real ns into it;
 * everything else (parts, redone work, faults) is derived from the segment when it ends.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/train/train.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "models/traffic.h"
#include "sim/cluster/calendar.h"
#include "sim/cluster/network.h"
#include "sim/train/data_wait.h"
#include "sim/train/save.h"
#include "sim/train/step_parts.h"

typedef __int128 wide;

enum segment { IDLE, STEPPING, SAVING, STALLED };
enum stop_kind { AT_END, AT_SAVE, AT_CRASH, AT_HANG, AT_JOB_CRASH, N_STOPS };
enum clock_kind { CLOCK_CRASH, CLOCK_HANG, CLOCK_JOB_CRASH, N_CLOCKS }; /* as the stops from AT_CRASH on */

static const int64_t STEP_NEVER = INT64_MAX / 4; /* a step of which nothing passes the network: 73 years */

struct fault_clock { /* process faults of one kind, on accumulated time of the ranks, or of the job */
    struct stream stream;
    wide at;             /* ns of that time at the next one; < 0: never */
    int64_t mtbf_ns;
};

struct train {
    const struct train_hooks *hooks;
    struct job *job;
    int64_t step_ns, total_steps, tail_ns; /* nominal; the tail is a last, shorter step */
    int64_t save_every;                    /* steps; 0: no checkpoints */
    int64_t step, into_ns;                 /* position at since_ns: real ns into the step, at length_ns */
    int64_t length_ns;                     /* of a step, real */
    int64_t high_step, high_into;          /* furthest position ever, into in nominal ns */
    struct saves saves;
    bool save_waits;                       /* SAVING: for the one before, which is in the background still */
    int64_t since_ns;
    struct step_parts parts;
    struct net_pace pace, reads;           /* its traffic between nodes, and from the store of its data, while ranks step */
    int64_t alone_ns;                      /* length of a step undisturbed */
    int64_t pace_bytes_per_s, reads_bytes_per_s; /* what an edge of the ring, and a node, then carries */
    enum step_part extra_part;             /* whose time what it takes longer is */
    struct train_shares who[TRAIN_MAX_ACCOUNTS];
    uint32_t n_who, ranks, nodes_room;
    uint32_t *nodes; /* of each rank */
    wide rank_ns, job_ns; /* trained, by all ranks together and by the job */
    struct fault_clock clocks[N_CLOCKS];
    struct event_id timer;
    enum stop_kind next;
    enum segment segment;
};

/* ---- creation ---- */

static void on_written(struct sim *s, struct saves *v);

static void fault_draw(struct fault_clock *f)
{
    int64_t gap = stream_exponential_ns(&f->stream, f->mtbf_ns);
    f->at += gap;
}

/* Keys of the streams: two a job in the lower half, faults of the job as a whole in the upper half. */
static uint64_t clock_entity(const struct job *j, enum clock_kind kind)
{
    return kind == CLOCK_JOB_CRASH ? UINT64_C(1) << 63 | (uint64_t)j->index : (uint64_t)j->index << 1 | kind;
}

static struct fault_clock fault_clock(struct sim *s, const struct job *j, int64_t mtbf_ns, enum clock_kind kind)
{
    struct fault_clock f = {.mtbf_ns = mtbf_ns, .at = mtbf_ns > 0 ? 0 : -1};
    if (mtbf_ns <= 0) return f;
    f.stream = stream_make(s->scenario->run.seed, s->replication, STREAM_PROCESS_FAULT, clock_entity(j, kind));
    fault_draw(&f);
    return f;
}

/* Length of a step as the job's work counts it. */
static int64_t nominal_step(const struct sim *s, const struct job *j)
{
    const struct step_spec *p = &job_detail_of(s, j)->step;
    int64_t ns = p->model ? step_nominal_of(s, j) : step_nominal_ns(p), work_ns = j->spec->work_ns;
    if (ns > 0) return ns;
    return work_ns < NS_PER_S ? (work_ns > 0 ? work_ns : 1) : NS_PER_S; /* given as a duration: steps of 1 s */
}

struct train *train_create(struct sim *s, struct job *j, const struct train_hooks *hooks)
{
    const struct job_detail *d = job_detail_of(s, j);
    struct train *t = xcalloc(1, sizeof *t);
    t->hooks = hooks;
    t->job = j;
    t->step_ns = nominal_step(s, j);
    t->total_steps = j->spec->work_ns / t->step_ns;
    t->tail_ns = j->spec->work_ns % t->step_ns;
    t->length_ns = t->step_ns;
    saves_init(s, &t->saves, j, on_written);
    if (d->checkpoint.interval_ns > 0)
        t->save_every = d->checkpoint.interval_ns < t->step_ns ? 1 : d->checkpoint.interval_ns / t->step_ns;
    t->clocks[CLOCK_CRASH] = fault_clock(s, j, d->crash_mtbf_ns, CLOCK_CRASH);
    t->clocks[CLOCK_HANG] = fault_clock(s, j, d->hang_mtbf_ns, CLOCK_HANG);
    t->clocks[CLOCK_JOB_CRASH] = fault_clock(s, j, d->job_crash_mtbf_ns, CLOCK_JOB_CRASH);
    return t;
}

void train_destroy(struct sim *s, struct train *t)
{
    if (!t) return;
    event_cancel(s->events, t->timer);
    net_pace_stop(s, &t->pace);
    net_pace_stop(s, &t->reads);
    saves_free(s, &t->saves);
    free(t->nodes);
    free(t);
}

/* ---- rate ---- */

/* The current step is rescaled, so the work done in it stays the same fraction. */
static void set_length(struct train *t, int64_t length)
{
    wide into = (wide)t->into_ns * length / t->length_ns;
    t->into_ns = (int64_t)into;
    t->length_ns = length;
}

/* The length of a step at this size and place, undisturbed by others. */
static void set_rate(const struct sim *s, struct train *t, uint32_t ppm)
{
    step_parts_at(s, t->job, t->nodes, t->ranks, ppm, t->step_ns, &t->parts);
    t->job->live->together = t->parts.together;
    t->alone_ns = t->parts.length_ns;
    set_length(t, t->alone_ns);
}

/* Real ns from the position to the beginning of a step; the tail counts as part of a step. */
static wide far_to(const struct train *t, int64_t step) { return (wide)(step - t->step) * t->length_ns - t->into_ns; }

static int64_t within_time(wide ns) { return ns > INT64_MAX ? INT64_MAX : (int64_t)ns; }

static int64_t time_to(const struct train *t, int64_t step) { return within_time(far_to(t, step)); }

static int64_t time_to_end(const struct train *t)
{
    wide tail = (wide)t->tail_ns * t->length_ns / t->step_ns;
    return within_time(far_to(t, t->total_steps) + tail);
}

/* ---- what comes next ---- */

static void on_timer(void *ctx, void *arg);

static int64_t time_to_fault(const struct train *t, enum clock_kind kind)
{
    const struct fault_clock *f = &t->clocks[kind];
    bool of_job = kind == CLOCK_JOB_CRASH;
    if (f->at < 0) return INT64_MAX;
    wide left = f->at - (of_job ? t->job_ns : t->rank_ns);
    if (left < 0) left = 0;
    if (!of_job) left = (left + t->ranks - 1) / t->ranks;
    return left > INT64_MAX ? INT64_MAX : (int64_t)left;
}

/* What it moves is wanted while ranks step. */
static void want(struct sim *s, struct train *t, bool steps)
{
    net_pace_want(s, &t->pace, steps ? t->pace_bytes_per_s : 0);
    net_pace_want(s, &t->reads, steps ? t->reads_bytes_per_s : 0);
}

static void arm(struct sim *s, struct train *t)
{
    int64_t in[N_STOPS] = {time_to_end(t), INT64_MAX};
    for (int k = 0; k < N_CLOCKS; k++) in[AT_CRASH + k] = time_to_fault(t, (enum clock_kind)k);
    if (t->save_every) {
        int64_t at = (t->step / t->save_every + 1) * t->save_every;
        if (at < t->total_steps || (at == t->total_steps && t->tail_ns)) in[AT_SAVE] = time_to(t, at);
    }
    t->next = AT_END;
    for (int k = AT_SAVE; k < N_STOPS; k++)
        if (in[k] < in[t->next]) t->next = (enum stop_kind)k;
    t->since_ns = sim_now(s);
    t->segment = STEPPING;
    want(s, t, true);
    t->timer = event_after(s->events, in[t->next] < 0 ? 0 : in[t->next], t->next == AT_END ? EVENT_RELEASE : EVENT_FAULT,
                           on_timer, t);
}

/* ---- booking ---- */

static share_ns times(int64_t shares, int64_t ns)
{
    share_ns a = (uint64_t)shares, b = (uint64_t)ns;
    return a * b;
}

static void book_one(struct sim *s, struct train *t, enum activity activity, bool redone, int64_t ns)
{
    struct job_live *l = t->job->live;
    if (ns == 0) return;
    for (uint32_t i = 0; i < t->n_who; i++) {
        share_ns sum = times(t->who[i].shares, ns);
        ledger_book(s->ledger, t->who[i].account, activity, redone, sum);
        job_live_worked(l, activity, redone, sum);
    }
}

/* Part of the first x ns of the segment, by cumulative floor. Most steps are all one part, and need no 128-bit division. */
static int64_t upto(int64_t x, int64_t parts, int64_t length)
{
    return parts == length ? x : (int64_t)((wide)x * parts / length);
}

/* The parts of the ns from `from` to `to` of the segment; what rounding leaves is the last part's. */
static void book_steps(struct sim *s, struct train *t, int64_t from, int64_t to, bool redone)
{
    static const enum activity of[N_STEP_PARTS] = {[STEP_COMPUTE] = ACT_COMPUTE, [STEP_COMMUNICATION] = ACT_COMMUNICATION,
                                                   [STEP_DATA] = ACT_DATA_WAIT, [STEP_BUBBLE] = ACT_BUBBLE,
                                                   [STEP_STRAGGLER] = ACT_STRAGGLER};
    int64_t sum = 0, booked = 0;
    for (int k = 0; k < N_STEP_PARTS; k++) {
        sum += t->parts.ns[k];
        int64_t so_far = upto(to, sum, t->length_ns) - upto(from, sum, t->length_ns);
        book_one(s, t, of[k], redone, so_far - booked);
        booked = so_far;
    }
}

/* Ends a stepping segment: books it (below the high-water mark as redone) and moves the position. */
static void end_stepping(struct sim *s, struct train *t)
{
    int64_t spent = sim_now(s) - t->since_ns;
    wide high = (wide)(t->high_step - t->step) * t->length_ns + upto(t->high_into, t->length_ns, t->step_ns) - t->into_ns;
    int64_t redo = high < 0 ? 0 : high > spent ? spent : (int64_t)high;
    book_steps(s, t, 0, redo, true);
    book_steps(s, t, redo, spent, false);
    int64_t into = t->into_ns + spent;
    sim_record(s, REC_STEPS, t->job, 0, redo > 0 ? STEPS_REDONE : STEPS_NEW, t->step, t->step + into / t->length_ns);
    t->step += into / t->length_ns;
    t->into_ns = into % t->length_ns;
    t->rank_ns += (wide)spent * t->ranks;
    t->job_ns += spent;
    int64_t nominal = upto(t->into_ns, t->step_ns, t->length_ns);
    if (t->step > t->high_step || (t->step == t->high_step && nominal > t->high_into)) {
        t->high_step = t->step;
        t->high_into = nominal;
        s->restarts_in_vain = 0;
    }
    if (s->last_progress_ns < sim_now(s)) s->last_progress_ns = sim_now(s);
}

/* ---- checkpoints ---- */

static void begin_save(struct sim *s, struct train *t)
{
    sim_record(s, REC_CHECKPOINT, t->job, 0, SAVE_BEGINS, t->step, 0);
    t->since_ns = sim_now(s);
    t->segment = SAVING;
    want(s, t, false);
}

/* A save below the high-water mark is made again, as the steps before it were. */
static void book_save(struct sim *s, struct train *t)
{
    book_one(s, t, ACT_CHECKPOINT, t->step < t->high_step, sim_now(s) - t->since_ns);
}

static void end_save(struct sim *s, struct train *t)
{
    book_save(s, t);
    int64_t bytes = saves_written(s, &t->saves, t->step, t->nodes, t->ranks);
    sim_record(s, REC_CHECKPOINT, t->job, 0, SAVE_LEAVES, t->step, bytes);
}

/* ---- links ---- */

/* The ranks wait for a link that is down. */
static void begin_stall(struct sim *s, struct train *t)
{
    t->since_ns = sim_now(s);
    t->segment = STALLED;
    t->timer = EVENT_NONE;
    want(s, t, false);
}

static void book_stall(struct sim *s, struct train *t)
{
    int64_t ns = sim_now(s) - t->since_ns;
    sim_record(s, REC_STEPS, t->job, 0, STEPS_NONE, t->step, t->step);
    for (uint32_t i = 0; i < t->n_who; i++) {
        share_ns sum = times(t->who[i].shares, ns);
        ledger_book(s->ledger, t->who[i].account, ACT_STALLED, false, sum);
        job_live_held(t->job->live, ACT_STALLED, t->job->cause, sum);
    }
}

static void step_or_stall(struct sim *s, struct train *t)
{
    if (calendar_link_down(s, t->nodes, t->ranks)) begin_stall(s, t);
    else arm(s, t);
}

void train_links(struct sim *s, struct train *t)
{
    bool stalls = calendar_link_down(s, t->nodes, t->ranks);
    if (t->segment == STEPPING && stalls) {
        event_cancel(s->events, t->timer);
        end_stepping(s, t);
        begin_stall(s, t);
    } else if (t->segment == STALLED && !stalls) {
        book_stall(s, t);
        arm(s, t);
    }
}

/* ---- the fabric ---- */

/* What reading takes longer than alone: all of the step's pace when it is loaded ahead, else the wait alone. */
static int64_t longer_reads(const struct train *t)
{
    int64_t ns = t->parts.reads_ahead ? t->alone_ns : t->parts.wait_ns;
    return net_pace_stretch(&t->reads, ns) - ns;
}

/* The network grants another share: what a step takes longer than alone is communication or data, as either is behind. */
static void share(struct sim *s, struct train *t)
{
    if (t->segment != STEPPING) return;
    int64_t traffic = net_pace_stretch(&t->pace, t->alone_ns) - t->alone_ns, reads = longer_reads(t);
    enum step_part part = reads > traffic ? STEP_DATA : STEP_COMMUNICATION;
    int64_t more = reads > traffic ? reads : traffic;
    if (more > STEP_NEVER - t->alone_ns) more = STEP_NEVER - t->alone_ns;
    if (t->alone_ns + more == t->length_ns && part == t->extra_part) return;
    event_cancel(s->events, t->timer);
    if (sim_now(s) > t->since_ns) end_stepping(s, t);
    t->parts.ns[t->extra_part] -= t->length_ns - t->alone_ns;
    t->parts.ns[part] += more;
    t->extra_part = part;
    set_length(t, t->alone_ns + more);
    arm(s, t);
}

static void on_share(struct sim *s, struct net_pace *pace)
{
    share(s, (struct train *)((char *)pace - offsetof(struct train, pace)));
}

static void on_reads_share(struct sim *s, struct net_pace *reads)
{
    share(s, (struct train *)((char *)reads - offsetof(struct train, reads)));
}

static void read_store(struct sim *s, struct train *t)
{
    struct net_path path = {0};
    t->reads_bytes_per_s = traffic_rate(t->parts.read_bytes, t->alone_ns);
    if (!s->network || t->reads_bytes_per_s == 0) return;
    net_path_store(s, &path, t->nodes, t->ranks, job_detail_of(s, t->job)->data->store, NET_DOWN);
    net_pace_start(s, &t->reads, &path, t->reads_bytes_per_s, on_reads_share);
    net_path_free(&path);
}

static void cross_fabric(struct sim *s, struct train *t)
{
    struct net_path path = {0};
    t->pace_bytes_per_s = traffic_rate(t->parts.edge_bytes, t->alone_ns);
    t->extra_part = STEP_COMMUNICATION;
    read_store(s, t);
    if (!s->network || t->pace_bytes_per_s == 0) return;
    net_path_ring(s, &path, t->nodes, t->ranks);
    net_pace_start(s, &t->pace, &path, t->pace_bytes_per_s, on_share);
    net_path_free(&path);
}

/* ---- running ---- */

static void stop(struct sim *s, struct train *t)
{
    t->segment = IDLE;
    t->timer = EVENT_NONE;
    net_pace_stop(s, &t->pace);
    net_pace_stop(s, &t->reads);
}

static uint32_t victim(const struct train *t, struct fault_clock *f)
{
    uint64_t rank = stream_uniform_int(&f->stream, t->ranks);
    fault_draw(f);
    return (uint32_t)rank;
}

static void on_fault(struct sim *s, struct train *t, enum clock_kind kind)
{
    bool hang = kind == CLOCK_HANG;
    uint32_t rank = victim(t, &t->clocks[kind]);
    stop(s, t);
    sim_record(s, REC_FAULT, t->job, rank, hang ? DO_HANG : DO_CRASH, hang ? 0 : 1, 1);
    if (hang) t->hooks->hang(s, t->job, rank);
    else t->hooks->crash(s, t->job, rank);
}

static void saved(struct sim *s, struct train *t)
{
    end_save(s, t);
    step_or_stall(s, t);
}

/* As the last act of an event: a save during which nothing else happens needs no event of its own. */
static void write_save(struct sim *s, struct train *t)
{
    int64_t done = sim_now(s) + t->saves.save_ns;
    t->save_waits = false;
    t->timer = EVENT_NONE;
    if (saves_write(s, &t->saves, t->nodes, t->ranks)) return;
    if (event_skip_to(s->events, done)) saved(s, t);
    else t->timer = event_at(s->events, done, EVENT_CONTROL, on_timer, t);
}

static void save(struct sim *s, struct train *t)
{
    begin_save(s, t);
    t->save_waits = saves_underway(s, &t->saves);
    if (!t->save_waits) write_save(s, t);
    else if (t->saves.pending_ns < INT64_MAX)
        t->timer = event_at(s->events, t->saves.pending_ns, EVENT_CONTROL, on_timer, t);
}

static void on_written(struct sim *s, struct saves *v)
{
    struct train *t = (struct train *)(void *)((char *)v - offsetof(struct train, saves));
    if (t->segment != SAVING) return; /* one that was in the background */
    if (t->save_waits) write_save(s, t);
    else saved(s, t);
}

static void on_timer(void *ctx, void *arg)
{
    struct sim *s = ctx;
    struct train *t = arg;
    if (t->segment == SAVING) {
        bool waited = t->save_waits && !saves_underway(s, &t->saves);
        if (waited) write_save(s, t);
        else saved(s, t);
        return;
    }
    end_stepping(s, t);
    switch (t->next) {
    case AT_SAVE: save(s, t); return;
    case AT_CRASH:
    case AT_HANG:
    case AT_JOB_CRASH: on_fault(s, t, (enum clock_kind)(t->next - AT_CRASH)); return;
    default: stop(s, t); t->hooks->end(s, t->job);
    }
}

static void keep_nodes(struct train *t, const uint32_t *nodes, uint32_t ranks)
{
    if (ranks > t->nodes_room) {
        t->nodes = xrealloc(t->nodes, ranks * sizeof *t->nodes);
        t->nodes_room = ranks;
    }
    memcpy(t->nodes, nodes, ranks * sizeof *t->nodes);
    t->ranks = ranks;
}

void train_run(struct sim *s, struct train *t, const struct train_shares *who, uint32_t n, const uint32_t *nodes,
               uint32_t ranks, uint32_t speed_ppm)
{
    assert(t->segment == IDLE && n <= TRAIN_MAX_ACCOUNTS && ranks > 0 && speed_ppm > 0);
    for (uint32_t i = 0; i < n; i++) t->who[i] = who[i];
    t->n_who = n;
    keep_nodes(t, nodes, ranks);
    set_rate(s, t, speed_ppm);
    cross_fabric(s, t);
    step_or_stall(s, t);
}

void train_halt(struct sim *s, struct train *t)
{
    if (t->segment == IDLE) return;
    event_cancel(s->events, t->timer);
    if (t->segment == STEPPING) end_stepping(s, t);
    else if (t->segment == SAVING) book_save(s, t);
    else book_stall(s, t);
    if (t->segment == SAVING && !t->save_waits) saves_stop_write(s, &t->saves);
    stop(s, t);
}

static int64_t back_to(struct sim *s, struct train *t, int64_t step)
{
    int64_t lost = t->step - step;
    if (lost || t->into_ns) sim_record(s, REC_ROLLBACK, t->job, 0, 0, t->step, step);
    t->step = step;
    t->into_ns = 0;
    return lost;
}

int64_t train_roll_back(struct sim *s, struct train *t)
{
    assert(t->segment == IDLE);
    saves_drop(s, &t->saves);
    return back_to(s, t, t->saves.durable);
}

bool train_running(const struct train *t) { return t->segment != IDLE; }

bool train_done(const struct train *t)
{
    return t->step > t->total_steps || (t->step == t->total_steps && time_to_end(t) <= 0);
}

int64_t train_load(struct sim *s, struct train *t, const uint32_t *nodes, uint32_t ranks, event_fn *loaded, void *arg)
{
    bool from_durable = t->step == t->saves.durable;
    saves_look(s, &t->saves, nodes, ranks);
    if (from_durable) back_to(s, t, t->saves.durable);
    return saves_load(s, &t->saves, nodes, ranks, loaded, arg);
}

void train_load_stop(struct sim *s, struct train *t)
{
    if (t) saves_stop_load(s, &t->saves);
}
