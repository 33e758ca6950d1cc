/* test_peers.c - same trace, same policy: the same schedule as the peers, job by job.
 *
 * Expected schedules are the peers' own (facts of their runs): Tiresias' simulator (SymbioticLab/Tiresias, count scheme),
 * Batsim's published EASY run (oar-team/evalys), AccaSim's FIFO. They lie below the shared traces; more can be dropped in
 * under the same names, or stand in a folder of the same layout that TRAINYARD_PEERS names:
 *     tiresias/NAME_job.csv or NAME.csv   expected/tiresias/NAME-nNODESgGPUS-count-POLICY.csv
 *     batsim/NAME.json                    expected/batsim/NAME-mMACHINES-POLICY.csv   (easy, conservative)
 *     swf/NAME.swf.gz                     expected/accasim/...
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/units.h"
#include "run/metrics.h"
#include "tests/support/peer_run.h"
#include "tests/support/shared.h"

enum { MAX_PATH = SHARED_PATH_MAX + 600 };

static void traces_path(char path[SHARED_PATH_MAX], const char *relative)
{
    const char *peers = getenv("TRAINYARD_PEERS");
    char name[512];
    if (peers) {
        snprintf(path, SHARED_PATH_MAX, "%s/%s", peers, relative);
        return;
    }
    snprintf(name, sizeof name, "traces/%s", relative);
    shared_path(path, name);
}

static int64_t ns_of(const char *seconds)
{
    int64_t ns = -1;
    const char *why = units_parse_duration(seconds, &ns);
    if (why) fail_msg("%s: %s", seconds, why);
    return ns;
}

static double metric(const struct run *r, const char *name) { return metric_of(r, (size_t)metric_find(name)).value; }

/* ---- comparing a table of expected jobs ---- */

struct expected {
    struct run *run;
    size_t rows, equal;
    bool starts, machines; /* what is compared; else ends */
    int64_t digit_ns;      /* the last digit that the peer prints: it computes in binary and rounds */
    char first_difference[1400];
};

static void intervals_text(const struct run_job_view *j, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (unsigned i = 0; i < j->row.n_nodes && n < size; i++) {
        const struct node_interval *v = &j->row.nodes[i];
        n += (size_t)snprintf(out + n, size - n, v->first == v->last ? "%s%u" : "%s%u-%u", i ? " " : "", v->first, v->last);
    }
}

/* Columns: job, start, end, machines; those not compared may be absent. */
static bool on_row(void *arg, const struct csv_row *row)
{
    struct expected *e = arg;
    char machines[512];
    const struct run_job_view *j = peer_job(e->run, strtoull(csv_field(row, 0), NULL, 10));
    int64_t is = e->starts ? j->row.started_ns : j->row.finished_ns, want = ns_of(csv_field(row, 1));
    bool same = llabs(is - want) <= e->digit_ns;
    intervals_text(j, machines, sizeof machines);
    if (e->machines && strcmp(machines, csv_field(row, 2)) != 0) same = false;
    e->rows++;
    e->equal += same;
    if (!same && !e->first_difference[0])
        snprintf(e->first_difference, sizeof e->first_difference, "job %s: %lld ns on %s, the peer has %lld ns on %s",
                 csv_field(row, 0), (long long)is, machines, (long long)want, e->machines ? csv_field(row, 2) : "-");
    return true;
}

static void compare(struct expected *e, const char *file, const char *const *columns)
{
    struct diag d = {0};
    bool ok = csv_read(file, &(struct csv_spec){columns, e->machines ? 3 : 2, NULL, 0, on_row, e}, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    assert_true(ok);
    print_message("%s: %zu of %zu equal\n", file, e->equal, e->rows);
    if (e->equal != e->rows) fail_msg("%s", e->first_difference);
    assert_int_equal(e->rows, e->run->n_jobs);
}

/* ---- Tiresias ---- */

static const struct { const char *peer, *ours; double mean_jct; } tiresias_policies[] = {
    /* mean JCT of the 60 jobs on 2 x 4 GPUs: own runs of the peer, facts/peers.md */
    {"fifo",     "fifo",        1556.4833},
    {"fjf",      "fifo-skip",   715.2667 },
    {"sjf",      "fewest-gpus", 725.7000 },
    {"shortest", "srpt",        519.8667 },
    {"dlas-gpu", "las",         715.2667 },
};
enum { TIRESIAS_POLICIES = sizeof tiresias_policies / sizeof *tiresias_policies };

static void one_tiresias(const char *dir, const char *trace, unsigned nodes, unsigned gpus, int policy, const char *file)
{
    static const char *const columns[] = {"job_id", "end_time"};
    char path[MAX_PATH];
    struct peer_case c = {trace, "tiresias", nodes, gpus, tiresias_policies[policy].ours, "none"};
    struct expected e = {.run = peer_run(&c)};
    snprintf(path, sizeof path, "%s/%s", dir, file);
    compare(&e, path, columns);
    if (strncmp(file, "60-n2g4-", 8) == 0)
        assert_float_equal(metric(e.run, "mean_jct"), tiresias_policies[policy].mean_jct, 0.00005);
    temp_run_close(e.run);
}

/* NAME-n2g4-count-POLICY.csv: false for other names. */
static bool split_name(const char *file, char name[64], unsigned *nodes, unsigned *gpus, int *policy)
{
    char rest[64];
    if (sscanf(file, "%63[^-]-n%ug%u-count-%63[^.].csv", name, nodes, gpus, rest) != 4) return false;
    for (*policy = 0; *policy < TIRESIAS_POLICIES; ++*policy)
        if (strcmp(rest, tiresias_policies[*policy].peer) == 0) return true;
    return false;
}

static void tiresias(void **state)
{
    char traces[SHARED_PATH_MAX], dir[SHARED_PATH_MAX], trace[MAX_PATH], name[64];
    unsigned nodes, gpus, compared = 0;
    int policy;
    (void)state;
    traces_path(traces, "tiresias");
    traces_path(dir, "expected/tiresias");
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *f; (f = readdir(d));) {
        if (!split_name(f->d_name, name, &nodes, &gpus, &policy)) continue;
        snprintf(trace, sizeof trace, "%s/%s_job.csv", traces, name);
        if (access(trace, R_OK) != 0) snprintf(trace, sizeof trace, "%s/%s.csv", traces, name);
        one_tiresias(dir, trace, nodes, gpus, policy, f->d_name);
        compared++;
    }
    closedir(d);
    assert_true(compared >= TIRESIAS_POLICIES);
}

/* ---- Batsim: named machines ---- */

static const char *const batsim_columns[] = {"job_id", "starting_time", "allocated_resources"};

/* Further runs of Batsim that the folder holds, each in the manner of expected/batsim/TRACE-mMACHINES-POLICY.csv. */
static void compare_batsim_others(void)
{
    char traces[SHARED_PATH_MAX], dir[SHARED_PATH_MAX + 32], trace[MAX_PATH], file[MAX_PATH], name[64], policy[64];
    unsigned machines;
    traces_path(traces, "batsim");
    snprintf(dir, sizeof dir, "%s/../expected/batsim", traces);
    DIR *d = opendir(dir);
    for (struct dirent *f; d && (f = readdir(d));) {
        if (sscanf(f->d_name, "%63[^-]-m%u-%63[^.].csv", name, &machines, policy) != 3) continue;
        snprintf(trace, sizeof trace, "%s/%s.json", traces, name);
        snprintf(file, sizeof file, "%s/%s", dir, f->d_name);
        struct expected e = {.run = peer_run(&(struct peer_case){trace, "batsim", machines, 1, policy, "first"}),
                             .starts = true,
                             .machines = true,
                             .digit_ns = 1000};
        compare(&e, file, batsim_columns);
        temp_run_close(e.run);
    }
    if (d) closedir(d);
}

static void batsim_easy(void **state)
{
    char trace[SHARED_PATH_MAX], file[SHARED_PATH_MAX];
    (void)state;
    traces_path(trace, "batsim/medium_late.json");
    traces_path(file, "batsim/easy_out_jobs.csv");
    struct expected e = {.run = peer_run(&(struct peer_case){trace, "batsim", 32, 1, "easy", "first"}),
                         .starts = true,
                         .machines = true,
                         .digit_ns = 1000};
    compare(&e, file, batsim_columns);
    /* batsim/easy_out_schedule.csv */
    assert_float_equal(metric(e.run, "mean_wait"), 9.516326, 0.0000005);
    assert_float_equal(metric(e.run, "mean_jct"), 160.927071, 0.0000005);
    assert_float_equal(metric(e.run, "max_wait"), 316.742718, 0.0000005);
    assert_float_equal(metric(e.run, "makespan"), 16088.51, 0.0000005);
    temp_run_close(e.run);
    compare_batsim_others();
}

/* ---- AccaSim ---- */

static void nasa_fifo(void **state)
{
    static const char *const columns[] = {"job_id", "accasim_start"};
    char trace[SHARED_PATH_MAX], file[SHARED_PATH_MAX];
    (void)state;
    traces_path(trace, "swf/NASA-iPSC-1993-3.1-cln.swf.gz");
    traces_path(file, "expected/accasim/NASA-fifo-per-job.csv.gz");
    struct expected e = {.run = peer_run(&(struct peer_case){trace, "swf", 128, 1, "fifo", "none"}), .starts = true};
    compare(&e, file, columns);
    assert_float_equal(metric(e.run, "mean_wait"), 8.005, 0.0005); /* facts/peers.md */
    temp_run_close(e.run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiresias),
        cmocka_unit_test(batsim_easy),
        cmocka_unit_test(nasa_fifo),
    };
    return cmocka_run_group_tests_name("peers", tests, NULL, NULL);
}
