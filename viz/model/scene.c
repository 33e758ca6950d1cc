/* scene.c - opens a run for looking at, and follows it while it grows.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "viz/model/scene.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/units.h"
#include "viz/model/scene_parts.h"

/* ---- files ---- */

static struct file_mark mark_of(struct builder *b, const char *name)
{
    struct stat st;
    struct file_mark m = {0};
    struct arena a = {0};
    if (stat(path_join(&a, b->dir, name), &st) == 0)
        m = (struct file_mark){(int64_t)st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec, (int64_t)st.st_size, st.st_ino};
    arena_free(&a);
    return m;
}

static bool same_mark(struct file_mark a, struct file_mark b)
{
    return a.mtime_ns == b.mtime_ns && a.bytes == b.bytes && a.inode == b.inode;
}

/* Manifest and rows, if they are new. The old ones stay where the new cannot be read. */
static bool read_run(struct builder *b, char **err)
{
    struct file_mark manifest = mark_of(b, "run.json"), rows = mark_of(b, "jobs.csv");
    char *notes = NULL;
    if (b->scene.run && same_mark(manifest, b->manifest) && same_mark(rows, b->rows)) return false;
    b->manifest = manifest;
    b->rows = rows;
    struct run *run = run_open(b->dir, &notes, err);
    if (!run) return false;
    if (b->scene.run) run_close(b->scene.run);
    free(b->run_notes);
    b->scene.run = run;
    b->run_notes = notes;
    b->scene.growing = run->state == RUN_RUNNING;
    return true;
}

static void open_timeline(struct builder *b)
{
    char *err = NULL;
    if (b->timeline || b->scene.run->record_level == RECORD_NONE) return;
    b->timeline = timeline_open(b->dir, &err);
    free(b->timeline_note);
    b->timeline_note = err;
}

/* ---- records ---- */

static bool is_event(const struct record *r)
{
    return r->type != REC_GROUP_NODES && r->type != REC_GROUP_STATE && r->type != REC_GROUP_FREED && r->type != REC_STEPS &&
           r->type != REC_CLASS_WAIT;
}

static void take(struct builder *b, const struct record *x)
{
    struct record r = *x;
    b->n_records++;
    if (r.time_ns < b->now_ns || r.time_ns > LATEST_NS) {
        b->n_back++;
        r.time_ns = r.time_ns < b->now_ns ? b->now_ns : LATEST_NS;
    }
    b->now_ns = r.time_ns;
    jobs_record(b, &r);
    tracks_record(b, &r);
    int32_t by = builder_has_job(b, r.job) ? blockers_take(&b->blockers, &r).job : NO_JOB;
    if (!is_event(&r)) return;
    array_push(&b->events, r);
    array_push(&b->blocker_of, by);
}

/* Once a version, before the first change of it. */
static void mark_unchanged(struct builder *b)
{
    struct scene *s = &b->scene;
    if (b->marks_of == s->version + 1) return;
    b->marks_of = s->version + 1;
    for (int set = 0; set < N_SCENE_SETS; set++)
        for (uint32_t t = 0; t < s->n_tracks[set]; t++) s->tracks[set][t].changed_ns = INT64_MAX;
}

/* False: nothing new. True and *again: a guessed cluster was too small. */
static bool read_records(struct builder *b, bool *again)
{
    struct record r;
    *again = false;
    if (!b->timeline || !timeline_next(b->timeline, &r)) return false;
    mark_unchanged(b);
    tracks_shut(b);
    jobs_shut(b);
    do {
        *again |= cluster_lacks(b, &r);
        take(b, &r);
    } while (timeline_next(b->timeline, &r));
    return true;
}

/* ---- the end of a reading ---- */

static void index_events(struct builder *b)
{
    struct scene *s = &b->scene;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_jobs; i++) s->jobs[i].n_events = 0;
    for (uint32_t i = 0; i < s->n_events; i++)
        if (builder_has_job(b, s->events[i].job)) s->jobs[s->events[i].job].n_events++, n++;
    s->by_job = xreallocarray(s->by_job, (size_t)n + 1, sizeof *s->by_job);
    n = 0;
    for (uint32_t i = 0; i < s->n_jobs; i++) {
        s->jobs[i].first_event = n;
        n += s->jobs[i].n_events;
        s->jobs[i].n_events = 0;
    }
    for (uint32_t i = 0; i < s->n_events; i++) {
        if (!builder_has_job(b, s->events[i].job)) continue;
        struct scene_job *j = &s->jobs[s->events[i].job];
        s->by_job[j->first_event + j->n_events++] = i;
    }
}

static void line(struct str *s, const char *text)
{
    if (text && *text) str_printf(s, "%s%s", text, text[strlen(text) - 1] == '\n' ? "" : "\n");
}

/* Of a run that ended well and whose files are whole. */
static void check_sums(struct builder *b, struct str *notes)
{
    struct str differ = {0};
    bool whole = b->scene.run->state == RUN_COMPLETE && !notes->n;
    if (whole && !scene_check(&b->scene, &differ))
        str_printf(notes, "%s: what is shown does not add up to its tables; are all files of one run?\n%s", b->dir, str_text(&differ));
    str_free(&differ);
}

static void write_notes(struct builder *b)
{
    struct str s = {0};
    const char *why;
    line(&s, b->run_notes);
    line(&s, b->timeline_note);
    if (b->timeline && timeline_damaged(b->timeline, &why) && !b->scene.growing)
        str_printf(&s, "%s/%s; what is before it is shown\n", b->dir, why);
    line(&s, b->cluster_note);
    if (b->n_strange)
        str_printf(&s, "%s/timeline.bin: %llu records name jobs, nodes, GPUs or states that cannot be, and are left out\n", b->dir,
                   (unsigned long long)b->n_strange);
    if (b->n_back)
        str_printf(&s, "%s/timeline.bin: %llu records go back in time, or beyond all time; they are shown at the latest moment before\n",
                   b->dir, (unsigned long long)b->n_back);
    if (b->n_untold) str_printf(&s, "%s: more than %u spans; the rest is not shown\n", b->dir, (unsigned)MAX_SPANS);
    check_sums(b, &s);
    free(b->scene.notes);
    b->scene.notes = s.n ? str_take(&s) : NULL;
}

static void write_title(struct builder *b)
{
    const struct run *r = b->scene.run;
    str_clear(&b->title);
    str_printf(&b->title, "%s - %s, replication %u", *r->scenario_name ? r->scenario_name : "run", *r->approach ? r->approach : "?",
               r->replication);
    b->scene.title = str_text(&b->title);
}

static void find_end(struct builder *b)
{
    struct scene *s = &b->scene;
    int64_t end = s->run->end_ns > LATEST_NS ? LATEST_NS : s->run->end_ns;
    if (end < b->now_ns) end = b->now_ns;
    s->end_ns = end > 0 ? end : 1;
}

static void count_spans(struct scene *s)
{
    s->n_spans = 0;
    for (int set = 0; set < N_SCENE_SETS; set++)
        for (uint32_t t = 0; t < s->n_tracks[set]; t++) s->n_spans += s->tracks[set][t].n;
}

/* Its names are copied. */
static void drop_scenario(struct builder *b)
{
    if (b->specs_owned) free(b->specs);
    if (b->scenario) scenario_free(b->scenario);
    b->specs = NULL;
    b->scenario = NULL;
    b->specs_owned = false;
    b->n_specs = 0;
}

static void finish(struct builder *b)
{
    struct scene *s = &b->scene;
    find_end(b);
    bool of_rows = b->jobs.n == 0 && (!b->timeline || !s->growing);
    s->has_timeline = b->timeline && (b->n_records || !timeline_damaged(b->timeline, NULL));
    s->has_gpus = s->has_timeline && s->run->record_level == RECORD_FULL;
    mark_unchanged(b);
    tracks_shut(b);
    jobs_shut(b);
    if (of_rows) jobs_of_rows(b);
    tracks_open(b);
    jobs_open(b);
    s->events = b->events.v;
    s->blockers = b->blocker_of.v;
    s->n_events = (uint32_t)b->events.n;
    s->jobs = b->jobs.v;
    s->n_jobs = (uint32_t)b->jobs.n;
    if (!of_rows) jobs_match(b);
    index_events(b);
    count_spans(s);
    write_notes(b);
    write_title(b);
    s->version++;
    if (!s->growing) drop_scenario(b);
}

/* ---- open and close ---- */

static void free_tracks(struct builder *b)
{
    struct scene *s = &b->scene;
    for (int set = 0; set < N_SCENE_SETS; set++) {
        for (uint32_t t = 0; t < s->n_tracks[set]; t++) free(s->tracks[set][t].v);
        free(s->tracks[set]);
        s->tracks[set] = NULL;
        s->n_tracks[set] = 0;
    }
}

/* All that came from records and scenario. */
static void forget(struct builder *b)
{
    struct scene *s = &b->scene;
    free_tracks(b);
    for (size_t i = 0; i < b->holds.n; i++) array_free(&b->holds.v[i].gpus);
    array_free(&b->holds);
    array_free(&b->spare);
    array_free(&b->opened);
    class_waits_free(&b->classes);
    array_free(&b->show_changes);
    array_free(&b->job_changes);
    array_free(&b->events);
    array_free(&b->blocker_of);
    blockers_free(&b->blockers);
    array_free(&b->jobs);
    array_free(&b->job_now);
    hmap_free(&b->hold_of);
    hmap_free(&b->by_id);
    intern_free(&b->names);
    drop_scenario(b);
    timeline_close(b->timeline);
    free(b->timeline_note);
    free(s->by_job);
    arena_free(&b->arena);
    struct builder kept = {.scene = {.run = s->run, .notes = s->notes, .growing = s->growing, .version = s->version,
                                     .generation = s->generation + 1},
                           .dir = b->dir, .run_notes = b->run_notes, .title = b->title, .manifest = b->manifest, .rows = b->rows};
    *b = kept;
}

/* Twice at most: a cluster that was guessed from all records lacks nothing but what was written meanwhile. */
static void read_all(struct builder *b)
{
    bool again;
    forget(b);
    cluster_build(b);
    open_timeline(b);
    read_records(b, &again);
    finish(b);
}

struct scene *scene_open(const char *dir, char **err)
{
    struct builder *b = xcalloc(1, sizeof *b);
    b->dir = xstrdup(dir);
    if (!read_run(b, err)) {
        scene_close(&b->scene);
        return NULL;
    }
    read_all(b);
    return &b->scene;
}

struct scene *scene_of_run(struct run *run, char *notes)
{
    struct builder *b = xcalloc(1, sizeof *b);
    b->dir = xstrdup(run->dir);
    b->scene.run = run;
    b->scene.growing = run->state == RUN_RUNNING;
    b->run_notes = notes;
    read_all(b);
    return &b->scene;
}

bool scene_poll(struct scene *s)
{
    struct builder *b = builder_of(s);
    bool again = false;
    if (!s->growing) return false;
    bool news = read_run(b, NULL), opened = !b->timeline;
    open_timeline(b);
    opened &= b->timeline != NULL;
    if (b->timeline) news |= read_records(b, &again);
    if (again || opened || (news && !b->timeline)) read_all(b);
    else if (news) finish(b);
    return news || opened;
}

void scene_close(struct scene *s)
{
    if (!s) return;
    struct builder *b = builder_of(s);
    forget(b);
    run_close(b->scene.run);
    free(b->scene.notes);
    free(b->run_notes);
    free(b->dir);
    str_free(&b->title);
    free(b);
}

/* ---- looking things up ---- */

int64_t scene_to(const struct scene *s, const struct scene_span *span)
{
    return span->to_ns == OPEN_END ? s->end_ns : span->to_ns;
}

uint32_t scene_seek(const struct scene *s, enum scene_set set, uint32_t track, int64_t ns)
{
    const struct scene_track *t = &s->tracks[set][track];
    uint32_t low = 0, high = t->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (t->v[mid].from_ns < ns) low = mid + 1;
        else high = mid;
    }
    return low;
}

uint32_t scene_reach(const struct scene *s, enum scene_set set, uint32_t track, int64_t ns)
{
    const struct scene_span *v = s->tracks[set][track].v;
    uint32_t i = scene_seek(s, set, track, ns);
    unsigned seen = 0;
    while (i > 0 && (seen < 1000 || scene_to(s, &v[i - 1]) > ns)) {
        i--;
        seen += set == SCENE_GPUS && v[i].shares ? v[i].shares : 1000u;
    }
    return i;
}

/* Behind a whole GPU's span that ended lies nothing; where jobs share one, an older span may go on. */
const struct scene_span *scene_at(const struct scene *s, enum scene_set set, uint32_t track, int64_t ns)
{
    if (track >= s->n_tracks[set]) return NULL;
    const struct scene_track *t = &s->tracks[set][track];
    uint32_t i = ns == INT64_MAX ? t->n : scene_seek(s, set, track, ns + 1);
    while (i-- > 0) {
        if (scene_to(s, &t->v[i]) > ns) return &t->v[i];
        if (set == SCENE_JOBS || t->v[i].shares == 1000) return NULL;
    }
    return NULL;
}

uint32_t scene_event_seek(const struct scene *s, int64_t ns)
{
    uint32_t low = 0, high = s->n_events;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (s->events[mid].time_ns < ns) low = mid + 1;
        else high = mid;
    }
    return low;
}

static uint64_t id_key(const char *id) { return hash64(id, strlen(id)); }

static void index_ids(struct builder *b)
{
    if (b->by_id.n && b->by_id_version == b->scene.version) return;
    hmap_free(&b->by_id);
    for (uint32_t i = b->scene.n_jobs; i-- > 0;) hmap_put_u64(&b->by_id, id_key(b->scene.jobs[i].id), i);
    b->by_id_version = b->scene.version;
}

int32_t scene_find_job(const struct scene *s, const char *id)
{
    struct builder *b = builder_of(s);
    uint64_t i;
    index_ids(b);
    return hmap_get_u64(&b->by_id, id_key(id), &i) && !strcmp(s->jobs[i].id, id) ? (int32_t)i : -1;
}

uint32_t scene_node_of(const struct scene *s, uint32_t gpu)
{
    return gpu < s->n_tracks[SCENE_GPUS] ? builder_of(s)->gpu_now[gpu].node : 0;
}
