/* test_import_formats.c - each format's rules on small traces written for them, and the table read back as written.
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
#include <unistd.h>

#include "base/file.h"
#include "base/units.h"
#include "input/import.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const char *const trace_file = "test_import_formats.tmp";
static const char *const json_file = "test_import_formats.json";
static const char *const jobs_file = "test_import_formats.jobs.csv";

static int remove_files(void **state)
{
    (void)state;
    unlink(trace_file);
    unlink(json_file);
    unlink(jobs_file);
    return 0;
}

static void write_trace(const char *text)
{
    FILE *f = fopen(trace_file, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static struct import_result read_with(const char *format, const char *text, const struct import_options *o)
{
    struct import_result r;
    struct diag d = {0};
    write_trace(text);
    bool ok = import_read(import_format_find(format), (const char *const[]){trace_file}, 1, o, &r, &d);
    diag_print(&d, stderr);
    diag_free(&d);
    assert_true(ok);
    return r;
}

static struct import_result read_text(const char *format, const char *text)
{
    return read_with(format, text, NULL);
}

/* One line a job: id submit work limit replicas x gpus queue team, times in seconds, "-" for none. */
static void describe(const struct import_result *r, struct str *s)
{
    char buf[24];
    str_clear(s);
    for (size_t i = 0; i < r->n_jobs; i++) {
        const struct job_spec *j = &r->jobs[i];
        str_printf(s, "%s ", import_job_id(r, j, buf));
        str_append_seconds(s, j->submit_ns);
        str_append_char(s, ' ');
        str_append_seconds(s, j->work_ns);
        str_append_char(s, ' ');
        if (j->limit_ns == TIME_NEVER)
            str_append_char(s, '-');
        else
            str_append_seconds(s, j->limit_ns);
        str_printf(s, " %ux", j->replicas);
        str_append_seconds(s, (int64_t)j->gpu_shares * 1000000);
        str_printf(s, " %s %s\n", j->queue ? intern_text(&r->queues, j->queue) : "-",
                   j->team ? intern_text(&r->teams, j->team) : "-");
    }
}

static const struct import_note *find_note(const struct import_result *r, const char *part)
{
    for (size_t i = 0; i < r->notes.n; i++)
        if (strstr(r->notes.v[i].text, part)) return &r->notes.v[i];
    return NULL;
}

static void assert_note(const struct import_result *r, const char *part, uint64_t count, int line)
{
    const struct import_note *n = find_note(r, part);
    if (n == NULL) fail_msg("no note \"%s\"", part);
    assert_int_equal(n->count, count);
    assert_int_equal(n->line, line);
}

struct case_row {
    const char *format, *text, *jobs;
};

/* What each text means is worked out by hand from the format's definition. */
static const struct case_row cases[] = {
  /* dates count from the first; equal times keep their order; CRLF, blank lines, a byte order mark */
    {"philly",
     "\xef\xbb\xbftimestamp,duration,num_gpus,gpu_time,cluster\r\n2017-03-01 00:00:01,66.5,1,66,a\r\n\r\n"
     "2017-02-28 23:59:59,10,4,40,b\r\n2017-03-01 00:00:01,7,2,14,a\r\n",                                           "2 0 10 - 1x4 - b\n1 2 66.5 - 1x1 - a\n3 2 7 - 1x2 - a\n"             },
 /* a leap day */
    {"philly",   "duration,timestamp,num_gpus,cluster\n1,2016-02-28 00:00:00,1,\n1,2016-03-01 00:00:00,1,x\n",
     "1 0 1 - 1x1 - -\n2 172800 1 - 1x1 - x\n"                                                                                                                                            },
    {"itp",      "job_id,submission_time,duration,num_gpu\nb-1,20,5,8\na-1,10,6,1\n",
     "a-1 10 6 - 1x1 - -\nb-1 20 5 - 1x8 - -\n"                                                                                                                                           },
    {"tiresias", "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,1,0,606,vgg19,164,30\n",
     "0 0 164 - 1x1 - -\n"                                                                                                                                                                },
 /* ids: 007 is a text, 7 a number, and both may stand */
    {"jobs",     "job,submit_s,work_s,gpus\n007,0,1,1\n7,0,1,0.125\n\"a,b\",1e1,1.5e-3,2\n",
     "007 0 1 - 1x1 - -\n7 0 1 - 1x0.125 - -\na,b 10 0.0015 - 1x2 - -\n"                                                                                                                  },
    {"jobs",
     "job,submit_s,work_s,limit_s,gpus,replicas,priority,queue,team,class\n1,0,1,2,16,2,-5,q,t,c\n2,0,1,,3,,,,,\n", "1 0 1 2 2x8 q t\n2 0 1 - 1x3 - -\n"                                  },
 /* halves of a nanosecond go away from zero */
    {"jobs",     "job,submit_s,work_s,gpus\n1,0.0000000005,4.709164021244639,1\n2,1,0.00000000049,1\n",
     "1 0.000000001 4.709164021 - 1x1 - -\n2 1 0 - 1x1 - -\n"                                                                                                                             },
    {"batsim",
     "{\"nb_res\":4,\"jobs\":[{\"id\":\"w!2\",\"subtime\":1e1,\"res\":2,\"walltime\":-1,\"profile\":\"p\"},"
     "{\"id\":1,\"subtime\":0.1,\"res\":1,\"walltime\":9.5,\"profile\":\"p\"},{\"id\":3,\"subtime\":11,\"res\":1,"
     "\"profile\":\"p\"}],"
     "\"profiles\":{\"p\":{\"type\":\"delay\",\"delay\":5.25}}}",                                                   "1 0.1 5.25 9.5 1x1 - -\nw!2 10 5.25 - 1x2 - -\n3 11 5.25 - 1x1 - -\n"},
 /* user 7 group 3 queue 2; requested time, else the run time; allocated processors, else the requested */
    {"swf",
     "; MaxProcs: 8\n1 0 -1 60 4 -1 -1 4 100 -1 1 7 3 -1 2 -1 -1 -1\n2 5 -1 30 -1 -1 -1 2 -1 -1 1 7 -1 -1 -1 -1 -1 "
     "-1\n",                                                                                                        "1 0 60 100 1x4 2 3\n2 5 30 30 1x2 - -\n"                             },
 /* failed stays; cancelled before start, parts of jobs and unknown run times go */
    {"swf",
     "1 0 -1 60 4 -1 -1 4 100 -1 0 7 3 -1 2 -1 -1 -1\n2 1 -1 -1 -1 -1 -1 4 100 -1 5 7 3 -1 2 -1 -1 -1\n"
     "3 2 -1 20 4 -1 -1 4 100 -1 3 7 3 -1 2 -1 -1 -1\n4 3 -1 -1 4 -1 -1 4 100 -1 1 7 3 -1 2 -1 -1 -1\n"
     "5 4 -1 20 4 -1 -1 4 100 -1 5 7 3 -1 2 -1 -1 -1\n",                                                            "1 0 60 100 1x4 2 3\n5 4 20 100 1x4 2 3\n"                            },
 /* typed and untyped gres/gpu are the same GPUs; days; nodes give replicas */
    {"sacct",
     "JobID|Submit|Start|End|Elapsed|Timelimit|State|ReqTRES|AllocTRES|Partition|Account|NNodes\n"
     "10|2024-03-01T00:00:00|2024-03-01T00:10:00|2024-03-02T01:10:05|1-01:00:05|2-00:00:00|COMPLETED|"
     "billing=8,cpu=32,gres/gpu:h100=16,gres/gpu=16,mem=500G,node=2|billing=8,cpu=32,gres/gpu:h100=16,gres/"
     "gpu=16,node=2|"
     "gpu|lab|2\n",                                                                                                 "10 0 90005 172800 2x8 gpu lab\n"                                     },
 /* columns in any order, typed entries only: their sum; MM:SS; no limit; arrays keep their id */
    {"sacct",
     "State|AllocTRES|Elapsed|Timelimit|Submit|JobID\nTIMEOUT|gres/gpu:a100=2,gres/gpu:v100=1|10:30|UNLIMITED|"
     "2024-02-29T23:59:50|7_3\nFAILED|gres/gpu=1|00:00:07|Partition_Limit|2024-03-01T00:00:00|8\n",                 "7_3 0 630 - 1x3 - -\n8 10 7 - 1x1 - -\n"                             },
 /* left out: pending, cancelled before start, steps, without a GPU; gres/gpumem is no GPU */
    {"sacct",
     "JobID|Submit|Start|End|Elapsed|State|ReqTRES|AllocTRES\n"
     "1|2024-01-01T00:00:00|Unknown|Unknown|00:00:00|PENDING|gres/gpu=1|\n"
     "2|2024-01-01T00:00:01|Unknown|2024-01-01T01:00:00|00:00:00|CANCELLED by 1001|gres/gpu=1|\n"
     "3|2024-01-01T00:00:02|2024-01-01T00:00:03|2024-01-01T00:00:13|00:00:10|CANCELLED by 1001|gres/gpu=4|gres/gpu=2\n"
     "3.batch|2024-01-01T00:00:02|2024-01-01T00:00:03|2024-01-01T00:00:13|00:00:10|COMPLETED||\n"
     "4|2024-01-01T00:00:04|2024-01-01T00:00:05|2024-01-01T00:00:08|00:00:03|COMPLETED|cpu=1|cpu=1,gres/gpumem=3\n"
     "5|2024-01-01T00:00:05|2024-01-01T00:00:06|Unknown|01:00:00|RUNNING|gres/gpu=1|gres/gpu=1\n",                  "3 0 10 - 1x2 - -\n5 3 3600 - 1x1 - -\n"                              },
 /* without Elapsed: End - Start; without AllocTRES: ReqTRES; a trailing "|" as sacct -p writes it; epoch seconds */
    {"sacct",    "JobIDRaw|Submit|Start|End|ReqTRES|\n1|1700000000|1700000010|1700000025|gres/gpu=2|\n",
     "1 0 15 - 1x2 - -\n"                                                                                                                                                                 },
};

static void formats(void **state)
{
    (void)state;
    struct str got = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct import_result r = read_text(cases[i].format, cases[i].text);
        describe(&r, &got);
        assert_string_equal(str_text(&got), cases[i].jobs);
        import_free(&r);
    }
    str_free(&got);
}

static void what_is_left_out_is_said(void **state)
{
    (void)state;
    struct import_result r = read_text("swf", cases[9].text);
    assert_note(&r, "cancelled before they started", 1, 2);
    assert_note(&r, "part of a job", 1, 3);
    assert_note(&r, "unknown run time", 1, 4);
    assert_note(&r, "failed in the trace", 1, 1);
    assert_int_equal(r.rows, 5);
    import_free(&r);
    r = read_text("sacct", cases[12].text);
    assert_note(&r, "still pending", 1, 2);
    assert_note(&r, "cancelled before they started", 1, 3);
    assert_note(&r, "steps of jobs", 1, 5);
    assert_note(&r, "without a GPU", 1, 6);
    assert_note(&r, "lower bound", 1, 7);
    assert_note(&r, "cancelled while they ran", 1, 4);
    import_free(&r);
    r = read_text("jobs", "job,submit_s,work_s,limit_s,gpus\n1,0,5,4,1\n2,0,0,1,1\n3,0,1,1,0\n");
    assert_note(&r, "longer than their time limit", 1, 2);
    assert_note(&r, "zero duration", 1, 3);
    assert_note(&r, "without a GPU", 1, 4);
    assert_int_equal(r.n_jobs, 2);
    import_free(&r);
}

/* 2024-03-01 was a Friday: day 4 from Monday. */
static void weeks_begin_on_monday(void **state)
{
    (void)state;
    struct import_result r = read_text("philly", "timestamp,duration,num_gpus\n2024-03-01 06:00:00,1,1\n");
    assert_int_equal(r.week_offset_ns, 4 * NS_PER_DAY + 6 * NS_PER_HOUR);
    import_free(&r);
    r = read_text("itp", "job_id,submission_time,duration,num_gpu\na,5,1,1\n");
    assert_int_equal(r.week_offset_ns, -1);
    assert_int_equal(r.jobs[0].submit_ns, 5 * NS_PER_S);
    import_free(&r);
}

static void jobs_are_split_over_nodes(void **state)
{
    (void)state;
    static const struct {
        uint32_t gpus, node, replicas;
    } rows[] = {
        {1,  8, 1 },
        {8,  8, 1 },
        {9,  8, 3 },
        {12, 8, 2 },
        {16, 8, 2 },
        {17, 8, 17},
        {64, 8, 8 },
        {10, 4, 5 },
        {5,  1, 5 },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(import_replicas(rows[i].gpus, rows[i].node), rows[i].replicas);
    struct import_options o = {.gpus_per_node = 8};
    struct str got = {0};
    struct import_result r =
        read_with("jobs", "job,submit_s,work_s,gpus,replicas\n1,0,1,16,\n2,0,1,12,\n3,0,1,12,3\n4,0,1,0.5,\n", &o);
    describe(&r, &got);
    assert_string_equal(str_text(&got), "1 0 1 - 2x8 - -\n2 0 1 - 2x6 - -\n3 0 1 - 3x4 - -\n4 0 1 - 1x0.5 - -\n");
    assert_note(&r, "do not fill whole nodes", 1, 3);
    str_free(&got);
    import_free(&r);
}

static void columns_can_be_mapped(void **state)
{
    (void)state;
    struct import_options o = {
        .column = {[FIELD_LIMIT] = "duration", [FIELD_TEAM] = "user", [FIELD_QUEUE] = "vc"}
    };
    struct str got = {0};
    struct import_result r = read_with(
        "philly", "timestamp,duration,num_gpus,user,vc\n2024-03-01 06:00:00,9,1,ann,a\n2024-03-01 06:00:01,8,1,bob,b\n",
        &o);
    describe(&r, &got);
    assert_string_equal(str_text(&got), "1 0 9 9 1x1 a ann\n2 1 8 8 1x1 b bob\n");
    import_free(&r);
    o = (struct import_options){
        .column = {[FIELD_TEAM] = "user", [FIELD_GPUS] = "requested_processors"}
    };
    r = read_with("swf", "1 0 -1 60 8 -1 -1 4 100 -1 1 7 3 -1 2 -1 -1 -1\n", &o);
    describe(&r, &got);
    assert_string_equal(str_text(&got), "1 0 60 100 1x4 2 7\n");
    import_free(&r);
    str_free(&got);
}

/* 40 GPUs x 100 s = 4,000 GPU-s over 10 s of submissions, at 80 % load: 500 GPUs, 63 nodes of 8; or as large as asked. */
static void the_cluster_is_the_smallest_that_does(void **state)
{
    (void)state;
    struct import_result r = read_text("jobs", "job,submit_s,work_s,gpus\n1,0,100,8\n2,5,100,16\n3,10,100,16\n");
    struct import_cluster c = {.gpus = 8};
    const char *why;
    import_cluster_choose(&r, &c, &why);
    assert_int_equal(c.nodes, 63);
    assert_non_null(why);
    c = (struct import_cluster){3, 4};
    import_cluster_choose(&r, &c, &why);
    assert_int_equal(c.nodes, 3);
    assert_null(why);
    import_free(&r);
    r = read_text("jobs",
                  "job,submit_s,work_s,gpus\n1,0,1,20\n2,100,1,1\n"); /* the largest job decides: 3 nodes of 8 */
    c = (struct import_cluster){.gpus = 8};
    import_cluster_choose(&r, &c, &why);
    assert_int_equal(c.nodes, 3);
    import_free(&r);
    r = read_text("swf", cases[8].text); /* MaxProcs: 8 */
    c = (struct import_cluster){.gpus = 2};
    import_cluster_choose(&r, &c, &why);
    assert_int_equal(c.nodes, 4);
    import_free(&r);
}

/* The table written and read again is the same table, for each case above. */
static void written_is_read_back(void **state)
{
    (void)state;
    struct str first = {0}, second = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct import_result r = read_text(cases[i].format, cases[i].text), again;
        struct diag d = {0};
        describe(&r, &first);
        assert_true(import_write(&r, (struct import_cluster){1, 8}, NULL, "a\nb.csv", json_file, &d));
        import_free(&r);
        assert_true(import_read(import_format_find("jobs"), (const char *const[]){jobs_file}, 1, NULL, &again, &d));
        describe(&again, &second);
        assert_string_equal(str_text(&second), str_text(&first));
        import_free(&again);
        diag_free(&d);
    }
    str_free(&first);
    str_free(&second);
}

static void formats_are_recognised(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        write_trace(cases[i].text);
        const struct import_format *f = import_format_probe(trace_file);
        assert_non_null(f);
        assert_string_equal(f->name, cases[i].format);
    }
    write_trace("a,b,c\n1,2,3\n");
    assert_null(import_format_probe(trace_file));
    assert_null(import_format_probe("no such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),
        cmocka_unit_test(what_is_left_out_is_said),
        cmocka_unit_test(weeks_begin_on_monday),
        cmocka_unit_test(jobs_are_split_over_nodes),
        cmocka_unit_test(columns_can_be_mapped),
        cmocka_unit_test(the_cluster_is_the_smallest_that_does),
        cmocka_unit_test(written_is_read_back),
        cmocka_unit_test(formats_are_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
