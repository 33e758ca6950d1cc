/* test_job_pods.c - the pods and actors that a job's page shows.
 *
 * Expected values: the records of the run, read again here one by one; the tracks of pods that real controllers were recorded
 * with (../shared/recorded/conditions); and what a script does to a job of a thousand pods.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <math.h>

#include "base/hmap.h"
#include "input/kinds.h"
#include "tests/support/condition_play.h"
#include "tests/support/shared.h"
#include "tests/viz/views/views.h"
#include "viz/views/job_members.h"

static struct scene *opened(const char *dir)
{
    char *err = NULL;
    struct scene *s = scene_open(dir, &err);
    if (!s) fail_msg("%s", err);
    return s;
}

/* ---- against the records ---- */

/* State of each pod or rank of each job at a moment, from the file: job << 32 | number -> state. */
static struct hmap states_at(const struct scene *s, bool actors, int64_t ns)
{
    char *err = NULL;
    struct hmap at = {0};
    struct record r;
    struct timeline_reader *t = timeline_open(s->run->dir, &err);
    assert_non_null(t);
    while (timeline_next(t, &r) && r.time_ns <= ns)
        for (int64_t k = 0; r.type == (actors ? REC_ACTOR_STATE : REC_POD_STATE) && k < r.a; k++)
            hmap_put_u64(&at, (uint64_t)(uint32_t)r.job << 32 | (uint32_t)(r.subject + k), r.code & 0xff);
    timeline_close(t);
    return at;
}

static void check_groups(const struct job_members *m, const struct scene_job *j, int64_t ns)
{
    struct member_groups g;
    uint32_t all = 0;
    double time = 0, told = 0;
    int64_t from = j->submit_ns, to = from + 1000000007;
    member_groups_make(&g, m, ns, from, to);
    for (size_t k = 0; k < g.v.n; k++) {
        all += g.v.v[k].n;
        for (int i = 0; i < MEMBER_BINS * N_MEMBER_STATES; i++) time += g.v.v[k].bins[i];
    }
    assert_int_equal(all, m->n);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct member_group *mine = &g.v.v[g.of[i]];
        struct member_now now = job_member_at(m, &m->v[i], ns);
        assert_true(now.state == mine->now.state && now.restarts == mine->now.restarts && m->v[mine->first].role == m->v[i].role);
        int64_t begins = m->v[i].n ? m->states[m->v[i].first].from_ns : to;
        if (begins < to) told += (double)(to - (begins > from ? begins : from)) / (double)(to - from) * MEMBER_BINS;
    }
    if (fabs(time - told) > 1e-3 * (told + 1)) fail_msg("bins hold %g, the members were there for %g", time, told);
    member_groups_free(&g);
}

static void check_scene(const struct scene *s, bool actors, double *known)
{
    for (int k = 1; k <= 9; k++) {
        int64_t ns = s->end_ns / 9 * k;
        struct hmap at = states_at(s, actors, ns);
        for (uint32_t j = 0; j < s->n_jobs; j++) {
            struct job_members m;
            uint64_t state;
            job_members_make(&m, s, (int32_t)j, actors);
            for (uint32_t i = 0; i < m.n; i++) {
                unsigned now = job_member_at(&m, &m.v[i], ns).state;
                bool there = hmap_get_u64(&at, (uint64_t)j << 32 | m.v[i].number, &state);
                assert_int_equal(now, there ? state : N_MEMBER_STATES);
                *known += there;
            }
            check_groups(&m, &s->jobs[j], ns);
            job_members_free(&m);
        }
        hmap_free(&at);
    }
}

static void members_are_what_the_records_say(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        double pods = 0, actors = 0;
        assert_true(run_file("scenarios/two-teams.json", i ? "actor" : "operator", below(top, "members"), RECORD_FULL));
        struct scene *s = opened(below(top, "members"));
        check_scene(s, false, &pods);
        check_scene(s, true, &actors);
        assert_true(pods > 50 && (actors > 50) == (i == 1));
        scene_close(s);
    }
}

/* ---- against real controllers ---- */

/* As a watch shows it; -1: no other phase than before. */
static int phase_of(unsigned state, int before)
{
    switch (state) {
    case POD_IS_RUNNING:
    case POD_IS_READY: return POD_IS_RUNNING;
    case POD_IS_SUCCEEDED: return POD_IS_SUCCEEDED;
    case POD_IS_FAILED:
    case POD_IS_EVICTED: return POD_IS_FAILED;
    case POD_IS_TERMINATING:
    case POD_IS_DELETED: return before;
    default: return before < 0 ? POD_IS_PENDING : before;
    }
}

static int recorded_phase(const char *text)
{
    static const struct { const char *text; int phase; } phases[] = {
        {"Pending", POD_IS_PENDING}, {"Running", POD_IS_RUNNING}, {"Succeeded", POD_IS_SUCCEEDED}, {"Failed", POD_IS_FAILED}};
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (!strcmp(text, phases[i].text)) return phases[i].phase;
    return -1;
}

enum { MOST_PHASES = 16 };
struct phases { int v[MOST_PHASES], n, exit; double t[MOST_PHASES]; bool deleted; };

static void add_phase(struct phases *p, int phase, double t)
{
    if (p->n == MOST_PHASES || (p->n && p->v[p->n - 1] == phase)) return;
    p->t[p->n] = t;
    p->v[p->n++] = phase;
}

static struct phases recorded_phases(const cJSON *pod)
{
    struct phases p = {.exit = -1, .deleted = cJSON_IsNumber(play_get(pod, "deleted"))};
    const cJSON *step;
    cJSON_ArrayForEach(step, play_get(pod, "track"))
    {
        const cJSON *now = cJSON_GetArrayItem(step, 1), *code = play_get(now, "exit");
        add_phase(&p, recorded_phase(play_text(now, "phase")), cJSON_GetArrayItem(step, 0)->valuedouble);
        if (cJSON_IsArray(code)) p.exit = cJSON_GetArrayItem(code, 0)->valueint;
    }
    return p;
}

static struct phases our_phases(const struct job_members *m, const struct job_member *x)
{
    struct member_now end = job_member_at(m, x, INT64_MAX);
    struct phases p = {.exit = (int)end.exit_code, .deleted = end.state == POD_IS_DELETED};
    for (uint32_t i = 0; i < x->n; i++) {
        const struct member_state *s = &m->states[x->first + i];
        add_phase(&p, phase_of(s->state, p.n ? p.v[p.n - 1] : -1), (double)s->from_ns / 1e9);
    }
    if (end.state == POD_IS_SUCCEEDED) p.exit = 0;
    return p;
}

/* Which one has that name, "j-worker-3", for the n-th time. */
static const struct job_member *named(const struct job_members *m, const char *name, unsigned n)
{
    for (uint32_t i = 0; i < m->n; i++) {
        char ours[64], role[16];
        snprintf(role, sizeof role, "%s", role_names[m->v[i].role]);
        role[0] = (char)(role[0] | 0x20);
        snprintf(ours, sizeof ours, "j-%s-%u", role, m->v[i].index);
        if (!strcmp(ours, name) && n-- == 0) return &m->v[i];
    }
    return NULL;
}

/* Phases in their order, at the times of the recording within its uncertainty (side.h; bring-up was contended), and how it ended. Pods that had
 * ended are not told of when their objects go. Restarts are not compared: the driver patched their count, which no kubelet does. */
static void compare_pod(const char *file, const char *name, const struct phases *a, const struct phases *b)
{
    const double slack_s = 2, bring_up_s = 4;
    bool over = a->n && (a->v[a->n - 1] == POD_IS_SUCCEEDED || a->v[a->n - 1] == POD_IS_FAILED);
    bool same = a->n == b->n && (!over || a->exit == b->exit) && (over || a->deleted == b->deleted);
    for (int i = 0; same && i < a->n; i++) same = a->v[i] == b->v[i] && (a->t[i] < bring_up_s || fabs(a->t[i] - b->t[i]) <= slack_s);
    if (!same)
        fail_msg("%s, %s: recorded %d phases, the last %d at %g s, exit %d, deleted %d; ours %d, %d at %g s, %d, %d", file, name, a->n, a->v[a->n - 1],
                 a->t[a->n - 1], a->exit, a->deleted, b->n, b->n ? b->v[b->n - 1] : -1, b->n ? b->t[b->n - 1] : -1, b->exit, b->deleted);
}

static unsigned compare_recording(const char *path)
{
    char why[PLAY_WHY];
    unsigned compared = 0;
    const cJSON *pod, *before;
    struct job_members m;
    cJSON *json = condition_play_into(&torch_kind, path, below(top, "play"), why);
    if (!json) fail_msg("%s: %s", path, why);
    struct scene *s = opened(below(top, "play"));
    job_members_make(&m, s, 0, false);
    cJSON_ArrayForEach(pod, play_get(json, "pods"))
    {
        const char *name = play_text(pod, "name");
        unsigned n = 0;
        for (before = play_get(json, "pods")->child; before != pod; before = before->next) n += !strcmp(play_text(before, "name"), name);
        const struct job_member *x = named(&m, name, n);
        if (!x) fail_msg("%s: %s is missing", path, name);
        struct phases a = recorded_phases(pod), b = our_phases(&m, x);
        compare_pod(path, name, &a, &b);
        compared++;
    }
    assert_int_equal(compared, m.n);
    job_members_free(&m);
    scene_close(s);
    cJSON_Delete(json);
    remove_top(below(top, "play"));
    return compared;
}

static void pods_go_through_what_real_ones_did(void **state)
{
    (void)state;
    char folder[SHARED_PATH_MAX], path[SHARED_PATH_MAX + 280];
    unsigned files = 0, pods = 0;
    shared_path(folder, "recorded/conditions");
    DIR *d = opendir(folder);
    const struct dirent *e;
    assert_non_null(d);
    while ((e = readdir(d))) {
        if (strncmp(e->d_name, "pytorchjob-", 11) != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        pods += compare_recording(path);
        files++;
    }
    closedir(d);
    assert_true(files >= 30 && pods >= 60);
}

/* ---- the page ---- */

/* A master and 999 workers run; worker 17's container ends with code 1 at 10 min. The kubelet restarts a container that crashes for the
 * first time at once, which takes it a second (kubelet.container-start). */
static const char thousand[] =
    "{\"trainyard\":1,\"name\":\"thousand\",\"cluster\":{\"nodes\":[{\"group\":\"n\",\"count\":125,\"gpus\":8}]},"
    "\"workload\":{\"jobs\":[{\"id\":\"j\",\"kind\":\"train\",\"gpus\":1,\"replicas\":1000,\"duration\":\"30m\"}]},"
    "\"faults\":{\"script\":[{\"at\":\"10m\",\"target\":\"pod/j-worker-17\",\"action\":\"container-exit\",\"code\":1}]},"
    "\"approaches\":{\"operator\":{\"lifecycle\":\"training-operator-v1\",\"admission\":\"none\"}},\"run\":{\"horizon\":\"1d\"}}";

static const cJSON *group_of(struct looking *l, const char *role, const char *indices)
{
    const cJSON *g;
    cJSON_ArrayForEach(g, look_dump(l, "panes.0.columns.0.pods.groups"))
        if (!strcmp(play_text(g, "role"), role) && !strcmp(play_text(g, "indices"), indices)) return g;
    fail_msg("no group of %s %s", role, indices);
    return NULL;
}

static void look_to(struct looking *l, double s)
{
    ui_cursor(l->ui, (int64_t)(s * 1e9));
    ui_draw(l->ui, l->list);
    cJSON_Delete(l->dump);
    l->dump = NULL;
}

static void a_thousand_pods_are_few_rows(void **state)
{
    (void)state;
    struct looking l;
    assert_true(run_text(thousand, "operator", below(top, "thousand"), RECORD_FULL));
    look_at(&l, (const char *const[]){below(top, "thousand")}, 1);
    look_type(&l, '/', "job=j");
    look_key(&l, '7', 0);
    look_to(&l, 599);
    assert_true(look_number(&l, "panes.0.columns.0.pods.number") == 1000 && look_number(&l, "panes.0.columns.0.pods.at_s") == 599);
    assert_int_equal(cJSON_GetArraySize(look_dump(&l, "panes.0.columns.0.pods.groups")), 2);
    assert_string_equal(play_text(group_of(&l, "Master", "0"), "state"), "ready");
    const cJSON *workers = group_of(&l, "Worker", "0-998");
    assert_string_equal(play_text(workers, "state"), "ready");
    assert_true(play_get(workers, "number")->valuedouble == 999 && play_get(workers, "nodes")->valuedouble == 125);
    look_to(&l, 600.5);
    assert_string_equal(play_text(group_of(&l, "Worker", "0-16, 18-998"), "state"), "ready");
    assert_string_equal(play_text(group_of(&l, "Worker", "17"), "state"), "starting");
    look_to(&l, 601.5);
    assert_string_equal(play_text(group_of(&l, "Worker", "17"), "state"), "ready");
    assert_true(play_get(group_of(&l, "Worker", "17"), "restarts")->valuedouble == 1);
    assert_true(play_get(group_of(&l, "Worker", "0-16, 18-998"), "restarts")->valuedouble == 0);
    look_to(&l, 3600 * 5); /* beyond its life: as it ended, with as many groups as counts of restarts */
    const cJSON *g;
    double all = 0;
    cJSON_ArrayForEach(g, look_dump(&l, "panes.0.columns.0.pods.groups"))
    {
        assert_string_equal(play_text(g, "state"), "succeeded");
        all += play_get(g, "number")->valuedouble;
    }
    assert_true(all == 1000);
    look_away(&l);
}

static void a_group_unfolds(void **state)
{
    (void)state;
    struct looking l;
    assert_true(run_text(thousand, "operator", below(top, "unfold"), RECORD_FULL));
    look_at(&l, (const char *const[]){below(top, "unfold")}, 1);
    look_type(&l, '/', "job=j");
    look_key(&l, '7', 0);
    look_to(&l, 599);
    size_t folded = draw_count(l.list);
    look_key(&l, UI_DOWN, 0);
    look_key(&l, UI_ENTER, 0);
    assert_int_equal(cJSON_GetArraySize(play_get(group_of(&l, "Worker", "0-998"), "members")), 999);
    assert_true(draw_count(l.list) < folded + 1000); /* what is out of sight is not drawn: more than one item each would be */
    look_key(&l, UI_ENTER, 0);
    assert_null(play_get(group_of(&l, "Worker", "0-998"), "members"));
    look_away(&l);
}

/* 16 GPUs belong to two pods of a shared Ray cluster; a works on 4 of them, b's six workers on one each, the rest has nothing to do. */
static const char shared_pool[] =
    "{\"trainyard\":1,\"name\":\"pool\",\"cluster\":{\"nodes\":[{\"group\":\"n\",\"count\":2,\"gpus\":8}]},"
    "\"workload\":{\"jobs\":[{\"id\":\"a\",\"gpus\":4,\"replicas\":1,\"duration\":\"1h\"},{\"id\":\"b\",\"gpus\":1,\"replicas\":6,\"duration\":\"1h\"}]},"
    "\"approaches\":{\"shared\":{\"lifecycle\":\"ray-train-v2\",\"admission\":\"none\",\"ray_cluster\":\"shared\",\"shared_cluster\":{\"min\":2,\"max\":2}}},\"run\":{\"horizon\":\"3h\"}}";

static void a_shared_cluster_shows_who_uses_it(void **state)
{
    (void)state;
    int tracks[3] = {0}; /* a, b, nobody */
    assert_true(run_text(shared_pool, "shared", below(top, "pool"), RECORD_FULL));
    struct scene *s = opened(below(top, "pool"));
    const int64_t ns = INT64_C(1800) * 1000000000;
    for (uint32_t t = 0; t < s->n_tracks[SCENE_GPUS]; t++) {
        const struct scene_span *p = scene_at(s, SCENE_GPUS, t, ns);
        assert_non_null(p);
        assert_int_equal(p->show, p->job == NO_JOB ? ACT_IDLE_POD : SHOW_WORK);
        tracks[p->job == NO_JOB ? 2 : p->job]++;
    }
    assert_int_equal(tracks[0], 4);
    assert_int_equal(tracks[1], 6);
    assert_int_equal(tracks[2], 6);
    for (int32_t j = 0; j < 2; j++) {
        struct job_members m;
        job_members_make(&m, s, j, true);
        assert_int_equal(m.n, j ? 6 : 1);
        for (uint32_t i = 0; i < m.n; i++) assert_int_equal(job_member_at(&m, &m.v[i], ns).state, ACTOR_IS_ALIVE);
        job_members_free(&m);
    }
    scene_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_what_the_records_say),
        cmocka_unit_test(pods_go_through_what_real_ones_did),
        cmocka_unit_test(a_thousand_pods_are_few_rows),
        cmocka_unit_test(a_group_unfolds),
        cmocka_unit_test(a_shared_cluster_shows_who_uses_it),
    };
    return cmocka_run_group_tests(tests, make_top, drop_top);
}
