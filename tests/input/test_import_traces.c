/* test_import_traces.c - the public traces through the importers, against counts made with awk and peers' job tables.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/units.h"
#include "input/import.h"
#include "tests/support/shared.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void read_trace(struct import_result *r, const char *format, const char *const *files, size_t n, uint32_t gpus)
{
    struct diag d = {0};
    struct import_options o = {.gpus_per_node = gpus};
    bool ok = import_read(import_format_find(format), files, n, &o, r, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    assert_true(ok);
}

static uint64_t note_count(const struct import_result *r, const char *part)
{
    for (size_t i = 0; i < r->notes.n; i++)
        if (strstr(r->notes.v[i].text, part)) return r->notes.v[i].count;
    return 0;
}

struct trace_row {
    const char *format, *file;
    size_t jobs;
    int64_t gpu_s; /* sum of GPUs x duration, in whole seconds */
    int64_t first_s, last_s;
    uint32_t largest, machines;
    int64_t week_offset_s; /* -1: not known */
    uint64_t zero;         /* jobs of zero duration */
};

/* All by awk over the unpacked file, such as for swf
 *     awk '!/^;/ { n++; s += $4 * $5; if ($4 == 0) z++; if ($5 > m) m = $5; l = $2 } END { print n, s, m, l, z }'
 * and for philly  awk -F, 'NR > 1 && NF == 5 { n++; s += $2 * $3 } END { printf "%d %.0f", n, s }'.
 * Weeks: 2017-09-04 10:30:41 was a Monday; UnixStartTime + TimeZone of the SWF headers: NASA 749458803 - 28800 is
 * Thursday 1993-09-30 23:00:03, LCG 1132444805 Sunday 00:00:05 (date -u -d @...). Machines: MaxProcs, nb_res. */
static const struct trace_row traces[] = {
  /* format    file                                jobs    GPU-s       first    last     largest machines week zero */
    {"philly",   "philly/philly.csv.gz",              82247,  3521082502, 0,      9408690, 128, 0,     37841,  0  },
    {"tiresias", "tiresias/60_job.csv",               60,     26624,      0,      1779,    8,   0,     -1,     0  },
    {"batsim",   "batsim/medium_late.json",           801,    256450,     0,      16000,   16,  32,    -1,     0  },
    {"swf",      "swf/NASA-iPSC-1993-3.1-cln.swf.gz", 18239,  474238015,  0,      7948936, 128, 128,   342003, 173},
    {"swf",      "swf/LCG.swf.gz",                    188041, 1502530759, 0,      950392,  1,   24515, 518405, 521},
    {"swf",      "swf/accasim-test-workload.swf",     25,     6851022,    561553, 3891447, 36,  0,     -1,     0  },
};

static void public_traces(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++) {
        const struct trace_row *t = &traces[i];
        char path[SHARED_PATH_MAX], name[256];
        snprintf(name, sizeof name, "traces/%s", t->file);
        shared_path(path, name);
        struct import_result r;
        read_trace(&r, t->format, (const char *const[]){path}, 1, 0);
        struct import_totals totals = import_totals(&r);
        assert_int_equal(r.n_jobs, t->jobs);
        assert_int_equal((int64_t)(totals.share_ns / SHARES_PER_GPU / NS_PER_S), t->gpu_s);
        assert_int_equal(totals.first_ns, t->first_s * NS_PER_S);
        assert_int_equal(totals.last_ns, t->last_s * NS_PER_S);
        assert_int_equal(totals.largest_gpus, t->largest);
        assert_int_equal(r.machines, t->machines);
        assert_int_equal(r.week_offset_ns, t->week_offset_s < 0 ? -1 : t->week_offset_s * NS_PER_S);
        assert_int_equal(note_count(&r, "zero duration"), t->zero);
        for (size_t j = 1; j < r.n_jobs; j++) assert_true(r.jobs[j - 1].submit_ns <= r.jobs[j].submit_ns);
        assert_ptr_equal(import_format_probe(path), import_format_find(t->format));
        import_free(&r);
    }
}

/* zcat philly.csv.gz | awk -F, 'NR > 1 && NF == 5 { g[$3]++; c[$5]++ } END { for (i in g) print i, g[i] }' */
static void philly_by_gpus_and_team(void **state)
{
    (void)state;
    static const struct {
        uint32_t gpus, jobs, replicas;
    } sizes[] = {
        {1,   76627, 1 },
        {2,   1818,  1 },
        {4,   1870,  1 },
        {8,   1643,  1 },
        {12,  7,     2 },
        {16,  199,   2 },
        {24,  7,     3 },
        {32,  67,    4 },
        {64,  6,     8 },
        {128, 3,     16},
    };
    static const struct {
        const char *team;
        uint32_t jobs;
    } teams[] = {
        {"6214e9", 41226},
        {"11cb48", 16091},
        {"795a4c", 3    }
    };
    char path[SHARED_PATH_MAX];
    shared_path(path, "traces/philly/philly.csv.gz");
    struct import_result r;
    read_trace(&r, "philly", (const char *const[]){path}, 1, 8);
    size_t all = 0;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        uint32_t n = 0;
        for (size_t i = 0; i < r.n_jobs; i++)
            n += r.jobs[i].replicas == sizes[s].replicas &&
                 r.jobs[i].replicas * r.jobs[i].gpu_shares == sizes[s].gpus * SHARES_PER_GPU;
        assert_int_equal(n, sizes[s].jobs);
        all += n;
    }
    assert_int_equal(all, r.n_jobs);
    assert_int_equal(intern_count(&r.teams), 16); /* 15 and "" */
    for (size_t t = 0; t < COUNT(teams); t++) {
        uint32_t n = 0, id = intern_find(&r.teams, teams[t].team);
        for (size_t i = 0; i < r.n_jobs; i++) n += r.jobs[i].team == id;
        assert_int_equal(n, teams[t].jobs);
    }
    assert_int_equal(note_count(&r, "do not fill whole nodes"), 7); /* the 12s; 24 = 3 x 8 does */
    import_free(&r);
}

/* Each file by awk -F, 'NR > 1 { n++; s += $3 * $4 }', the sums added (the files end without a line end, so they cannot
 * simply be joined). */
static void itp_clusters_together(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t jobs;
    } clusters[] = {
        {"cluster01", 1595 },
        {"cluster02", 5778 },
        {"cluster04", 15802},
        {"cluster06", 2396 },
        {"cluster07", 12699},
        {"cluster08", 13047},
        {"cluster10", 260  },
    };
    char path[COUNT(clusters)][SHARED_PATH_MAX], name[64];
    const char *files[COUNT(clusters)];
    for (size_t i = 0; i < COUNT(clusters); i++) {
        snprintf(name, sizeof name, "traces/microsoft-itp/%s.csv.gz", clusters[i].name);
        shared_path(path[i], name);
        files[i] = path[i];
    }
    struct import_result r;
    read_trace(&r, "itp", files, COUNT(files), 8);
    struct import_totals totals = import_totals(&r);
    assert_int_equal((int64_t)(totals.share_ns / SHARES_PER_GPU / NS_PER_S), 5090303940);
    assert_int_equal(totals.first_ns, 1999 * NS_PER_S);
    assert_int_equal(totals.last_ns, 5168464 * NS_PER_S);
    for (size_t c = 0; c < COUNT(clusters); c++) {
        uint32_t n = 0, id = intern_find(&r.teams, clusters[c].name);
        for (size_t i = 0; i < r.n_jobs; i++) n += r.jobs[i].team == id;
        assert_int_equal(n, clusters[c].jobs);
    }
    import_free(&r);
}

/* ---- job tables of peers, row by row ---- */

struct peer_check {
    const struct import_result *r;
    size_t at;
    uint64_t last;
};

static const struct job_spec *job_of(struct peer_check *c, const char *id)
{
    char buf[24];
    for (size_t i = 0; i < c->r->n_jobs; i++) {
        const struct job_spec *j = &c->r->jobs[(c->at + i) % c->r->n_jobs];
        if (strcmp(import_job_id(c->r, j, buf), id) == 0) return c->at = (c->at + i + 1) % c->r->n_jobs, j;
    }
    fail_msg("job %s is missing", id);
    return NULL;
}

static int64_t ns_of(const char *text)
{
    int64_t ns = -1;
    assert_null(units_parse_duration(text, &ns));
    return ns;
}

/* The peers print microseconds, our times are exact: equal to within half of one. */
static bool same_time(int64_t ns, const char *text)
{
    return llabs(ns - ns_of(text)) <= 500;
}

/* Columns in the order of `need` below: id, submit, GPUs, duration, and a time limit where the peer has one. */
static bool check_row(void *arg, const struct csv_row *row)
{
    struct peer_check *c = arg;
    const struct job_spec *j = job_of(c, csv_field(row, 0));
    assert_true(same_time(j->submit_ns, csv_field(row, 1)));
    assert_int_equal(j->replicas * j->gpu_shares, strtol(csv_field(row, 2), NULL, 10) * SHARES_PER_GPU);
    assert_true(same_time(j->work_ns, csv_field(row, 3)));
    if (csv_field(row, 4)) assert_true(same_time(j->limit_ns, csv_field(row, 4)));
    c->last++;
    return true;
}

struct peer_row {
    const char *format, *trace, *table, *need[5];
    size_t n, jobs;
};
static const struct peer_row peers[] = {
    {"tiresias",
     "tiresias/60_job.csv",               "expected/tiresias/60-n2g4-count-fifo.csv",
     {"job_id", "submit_time", "num_gpu", "duration"},
     4, 60   },
    {"batsim",
     "batsim/medium_late.json",           "batsim/easy_out_jobs.csv",
     {"job_id", "submission_time", "requested_number_of_resources", "execution_time", "requested_time"},
     5, 801  },
    {"swf",
     "swf/NASA-iPSC-1993-3.1-cln.swf.gz", "expected/accasim/NASA-fifo-per-job.csv.gz",
     {"job_id", "submit", "procs", "runtime", "runtime"},
     5, 18239}, /* requested time := run time */
};

static void peers_see_the_same_jobs(void **state)
{
    (void)state;
    static const char *const none[] = {"no such column"};
    for (size_t i = 0; i < COUNT(peers); i++) {
        const struct peer_row *p = &peers[i];
        char trace[SHARED_PATH_MAX], table[SHARED_PATH_MAX], name[256];
        snprintf(name, sizeof name, "traces/%s", p->trace);
        shared_path(trace, name);
        snprintf(name, sizeof name, "traces/%s", p->table);
        shared_path(table, name);
        struct import_result r;
        struct diag d = {0};
        read_trace(&r, p->format, (const char *const[]){trace}, 1, 1);
        struct peer_check c = {.r = &r};
        assert_true(csv_read(table, &(struct csv_spec){p->need, p->n, none, 1, check_row, &c}, &d));
        assert_int_equal(c.last, p->jobs);
        assert_int_equal(r.n_jobs, p->jobs);
        import_free(&r);
        diag_free(&d);
    }
}

/* subtime 4.709164021244639 of job 1, delay 265.8 of ft.C.2, walltime 399: cut from the file by eye. */
static void batsim_times_are_exact(void **state)
{
    (void)state;
    char path[SHARED_PATH_MAX];
    shared_path(path, "traces/batsim/medium_late.json");
    struct import_result r;
    read_trace(&r, "batsim", (const char *const[]){path}, 1, 1);
    assert_int_equal(r.jobs[1].id, 1);
    assert_int_equal(r.jobs[1].submit_ns, 4709164021);
    assert_int_equal(r.jobs[1].work_ns, 265800000000);
    assert_int_equal(r.jobs[1].limit_ns, 399000000000);
    assert_int_equal(r.jobs[800].id, 424242); /* first in the file, last in time */
    import_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_traces),          cmocka_unit_test(philly_by_gpus_and_team),
        cmocka_unit_test(itp_clusters_together),  cmocka_unit_test(peers_see_the_same_jobs),
        cmocka_unit_test(batsim_times_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
