/* fuzz_scene.c - a run directory with any records in timeline.bin, or any text as run.json, looked at as the viewer does, while it grows and after.
 *
 * The first byte says which file the rest is, whether there is a scenario, and whether the run has ended. Records are packed into 20 bytes so that
 * the fuzzer meets sums and bounds soon: time since the last, type, code, job, group or node, a and b by halves.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "run/timeline.h"
#include "viz/model/curves.h"
#include "viz/model/lod.h"
#include "viz/model/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { RECORD_BYTES = 20, WITH_SCENARIO = 2, RUNNING = 4, JOBS_ONLY = 8 };

static const char scenario[] =
    "{ \"trainyard\": 1, \"cluster\": { \"nodes\": [ { \"group\": \"a\", \"count\": 5, \"gpus\": 4 }, { \"group\": \"b\", \"count\": 2, \"gpus\": 8 } ],"
    " \"topology\": { \"nodes_per_rack\": 2, \"racks_per_block\": 2 } },"
    " \"workload\": { \"jobs\": [ { \"id\": \"j\", \"kind\": \"train\", \"replicas\": 1, \"gpus\": 8, \"submit\": 0, \"duration\": 9 } ] },"
    " \"approaches\": { \"a\": { \"lifecycle\": \"none\", \"admission\": \"fifo\" } } }";

static void write_file(const char *dir, const char *name, const void *data, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, n, f) != n || fclose(f)) abort();
}

static void write_manifest(const char *dir, bool running, bool jobs_only)
{
    struct str s = {0};
    str_printf(&s,
               "{ \"trainyard_run\": 1, \"version\": \"0\", \"state\": \"%s\", \"scenario\": \"s\", \"scenario_hash\": \"\", \"approach\": \"a\","
               " \"approach_index\": 0, \"replication\": 0, \"seed\": 1, \"back_end\": \"sim\", \"record\": \"%s\", \"fingerprint\": null, \"records\": 0,"
               " \"warmup_s\": 0, \"horizon_s\": null, \"end_s\": %s, \"groups\": [ { \"name\": \"a\", \"existing_gpu_s\": 720 } ], \"files\": {} }",
               running ? "running" : "complete", jobs_only ? "jobs" : "full", running ? "null" : "20");
    write_file(dir, "run.json", s.s, s.n);
    str_free(&s);
}

static int64_t pair(const uint8_t *p)
{
    int16_t low, high;
    memcpy(&low, p, 2);
    memcpy(&high, p + 2, 2);
    return (int64_t)((uint64_t)(int64_t)high << 32 ^ (uint64_t)(int64_t)low);
}

static void write_records(const char *dir, const uint8_t *p, size_t n)
{
    char path[128];
    struct timeline_written written;
    int64_t now = 0;
    snprintf(path, sizeof path, "%s/timeline.bin", dir);
    struct timeline_writer *t = timeline_begin(path, 2, NULL);
    for (size_t i = 0; i + RECORD_BYTES <= n; i += RECORD_BYTES, p += RECORD_BYTES) {
        int8_t later = (int8_t)p[0], job = (int8_t)p[4];
        int16_t subject;
        memcpy(&subject, p + 6, 2);
        now = p[1] & 0x80 ? pair(p + 16) : now + later * INT64_C(100000000);
        timeline_put(t, &(struct record){.time_ns = now, .type = (uint16_t)((p[1] & 0x7f) % N_RECORD_TYPES), .code = (uint16_t)(p[2] | p[3] << 8), .job = job,
                                         .subject = (uint32_t)subject, .a = pair(p + 8), .b = pair(p + 12)});
    }
    timeline_end(t, &written, NULL);
}

static void look(struct scene *s)
{
    struct lod_cell cells[37];
    struct curve_column columns[11];
    struct str out = {0};
    struct curves *c = curves_create(s);
    for (enum scene_set set = 0; set < N_SCENE_SETS; set++) {
        struct lod *l = lod_create(s, set);
        for (uint32_t first = 0; first < s->n_tracks[set] && first < 20; first += 3) {
            lod_row(l, first, 1 + first % 5, s->begin_ns, s->end_ns, 37, cells);
            scene_at(s, set, first, s->end_ns / 2);
        }
        lod_destroy(l);
    }
    for (unsigned id = 0; id < N_CURVES; id++) curve_columns(c, id, s->begin_ns, s->end_ns, 11, columns);
    for (uint32_t i = 0; i < s->n_events; i++) {
        scene_event_text(s, &s->events[i], &out);
        scene_blocker(s, s->events[i].job, s->events[i].time_ns);
    }
    scene_check(s, &out);
    for (uint32_t j = 0; j < s->n_jobs; j++) assert(s->jobs[j].id && scene_find_job(s, s->jobs[j].id) >= 0);
    for (enum scene_set set = 0; set < N_SCENE_SETS; set++)
        for (uint32_t t = 0; t < s->n_tracks[set]; t++)
            for (uint32_t i = 0; i < s->tracks[set][t].n; i++) {
                const struct scene_span *v = &s->tracks[set][t].v[i];
                assert(v->from_ns < scene_to(s, v) && v->show < N_SHOWS && (i == 0 || v[-1].from_ns <= v->from_ns));
                if (set == SCENE_JOBS) assert(v->shares == 0 || v->show >= SHOW_WAIT);
                else assert(v->shares >= 1 && v->shares <= 1000);
            }
    curves_destroy(c);
    str_free(&out);
}

static const char *folder(void)
{
    static char dir[] = "/tmp/trainyard-fuzz-XXXXXX";
    static bool made;
    if (!made && !mkdtemp(dir)) abort();
    made = true;
    return dir;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *dir = folder();
    char path[128], *err = NULL;
    if (n == 0) return 0;
    bool records = data[0] & 1, running = data[0] & RUNNING;
    snprintf(path, sizeof path, "%s/scenario.json", dir);
    if (data[0] & WITH_SCENARIO) write_file(dir, "scenario.json", scenario, sizeof scenario - 1);
    else unlink(path);
    if (records) write_manifest(dir, running, data[0] & JOBS_ONLY);
    else write_file(dir, "run.json", data + 1, n - 1);
    write_records(dir, data + 1, running ? n / 2 : n - 1);
    struct scene *s = scene_open(dir, &err);
    if (s) {
        look(s);
        if (running) write_records(dir, data + 1, n - 1);
        if (scene_poll(s)) look(s);
        if (records && running) write_manifest(dir, false, data[0] & JOBS_ONLY);
        if (scene_poll(s)) look(s);
    }
    scene_close(s);
    free(err);
    return 0;
}
