/* import_formats.c - the table of trace formats: one row each.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <string.h>

#include "base/lines.h"
#include "input/import_reader.h"

#define AS_RUN                                                                                                         \
    "durations are as the jobs ran: they contain what failures, restarts and slow nodes cost there; faults simulated " \
    "on top count twice"
#define NO_LIMITS                                                                                                      \
    "the trace has no time limits; policies that need them (easy, conservative) want a \"limit\" in the map"
#define CPU_TRACE "the trace knows processors, no GPUs: one processor is taken as one GPU"
#define LOCAL_TIMES                                                                                                    \
    "dates have no zone: they are taken as one even clock, so a change of daylight saving is an hour off"

/* Sources: philly - petuum/adaptdl, branch osdi21-artifact (README of the trace); itp - microsoft/elasticflow-traces;
 * tiresias - SymbioticLab/Tiresias, 60_job.csv; batsim - batsim.readthedocs.io, "Workload"; swf - Parallel Workloads
 * Archive, Standard Workload Format 2.2; sacct - slurm.schedmd.com/sacct.html. */
const struct import_format import_formats[] = {
    {.name = "philly",
     .description = "Microsoft Philly (Pollux): timestamp,duration,num_gpus,cluster",
     .origin = "Microsoft Philly as published by petuum/adaptdl (branch osdi21-artifact), Apache-2.0",
     .unit = "GPU",
     .gpus_per_node = 8,
     .dated = true,
     .column =
         {[FIELD_SUBMIT] = "timestamp", [FIELD_WORK] = "duration", [FIELD_GPUS] = "num_gpus", [FIELD_TEAM] = "cluster"},
     .read = import_csv_read,
     .probe = import_csv_probe,
     .notes = {AS_RUN, NO_LIMITS, LOCAL_TIMES, "the virtual cluster is taken as the team; there are no users"}},
    {.name = "itp",
     .description = "Microsoft ITP: job_id,submission_time,duration,num_gpu",
     .origin = "Microsoft ITP clusters as published by microsoft/elasticflow-traces, MIT",
     .unit = "GPU",
     .gpus_per_node = 8,
     .column = {[FIELD_JOB] = "job_id",
                [FIELD_SUBMIT] = "submission_time",
                [FIELD_WORK] = "duration",
                [FIELD_GPUS] = "num_gpu"},
     .read = import_csv_read,
     .probe = import_csv_probe,
     .notes = {AS_RUN, NO_LIMITS, "the trace has no teams; with several files each file's name is the team"}},
    {.name = "tiresias",
     .description = "Tiresias: job_id,num_gpu,submit_time,duration",
     .origin = "SymbioticLab/Tiresias, Apache-2.0",
     .unit = "GPU",
     .gpus_per_node = 4,
     .column =
         {[FIELD_JOB] = "job_id", [FIELD_SUBMIT] = "submit_time", [FIELD_WORK] = "duration", [FIELD_GPUS] = "num_gpu"},
     .read = import_csv_read,
     .probe = import_csv_probe,
     .notes = {NO_LIMITS}},
    {.name = "batsim",
     .description = "Batsim workload (JSON): jobs with delay profiles",
     .unit = "processor",
     .gpus_per_node = 1,
     .column = {[FIELD_JOB] = "id",
                [FIELD_SUBMIT] = "subtime",
                [FIELD_WORK] = "delay",
                [FIELD_LIMIT] = "walltime",
                [FIELD_GPUS] = "res"},
     .fixed = 1u << FIELD_WORK | 1u << FIELD_REPLICAS | 1u << FIELD_PRIORITY,
     .read = import_batsim_read,
     .probe = import_batsim_probe,
     .notes = {CPU_TRACE}},
    {.name = "swf",
     .description = "Standard Workload Format 2.2, plain or .gz",
     .unit = "processor",
     .gpus_per_node = 1,
     .column = {[FIELD_JOB] = "job",
                [FIELD_SUBMIT] = "submit",
                [FIELD_WORK] = "run_time",
                [FIELD_LIMIT] = "requested_time",
                [FIELD_GPUS] = "processors",
                [FIELD_QUEUE] = "queue",
                [FIELD_TEAM] = "group"},
     .fixed = 1u << FIELD_REPLICAS,
     .read = import_swf_read,
     .probe = import_swf_probe,
     .notes = {CPU_TRACE, AS_RUN}},
    {.name = "sacct",
     .description = "sacct -X -P -o JobID,Submit,Elapsed,Timelimit,State,AllocTRES",
     .unit = "GPU",
     .gpus_per_node = 8,
     .dated = true,
     .column = {[FIELD_JOB] = "JobID",
                [FIELD_SUBMIT] = "Submit",
                [FIELD_WORK] = "Elapsed",
                [FIELD_LIMIT] = "Timelimit",
                [FIELD_GPUS] = "AllocTRES",
                [FIELD_REPLICAS] = "NNodes",
                [FIELD_QUEUE] = "Partition",
                [FIELD_TEAM] = "Account"},
     .read = import_sacct_read,
     .probe = import_sacct_probe,
     .notes = {AS_RUN, LOCAL_TIMES}},
    {.name = "jobs",
     .description = "Trainyard's own X.jobs.csv: job,submit_s,work_s,gpus,...",
     .unit = "GPU",
     .gpus_per_node = 8,
     .column = {[FIELD_JOB] = "job",
                [FIELD_SUBMIT] = "submit_s",
                [FIELD_WORK] = "work_s",
                [FIELD_LIMIT] = "limit_s",
                [FIELD_GPUS] = "gpus",
                [FIELD_REPLICAS] = "replicas",
                [FIELD_PRIORITY] = "priority",
                [FIELD_QUEUE] = "queue",
                [FIELD_TEAM] = "team",
                [FIELD_CLASS] = "class"},
     .read = import_csv_read,
     .probe = import_csv_probe                                                                                                },
};
enum { N_FORMATS = sizeof import_formats / sizeof *import_formats };
const size_t n_import_formats = N_FORMATS;

static const char *const names[] = {"philly", "itp", "tiresias", "batsim", "swf", "sacct", "jobs"};
_Static_assert(sizeof names / sizeof *names == N_FORMATS, "one name a format");

const char *const *import_format_names(size_t *n)
{
    *n = N_FORMATS;
    return names;
}

const struct import_format *import_format_find(const char *name)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strcmp(import_formats[i].name, name) == 0) return &import_formats[i];
    return NULL;
}

const struct import_format *import_format_probe(const char *file)
{
    struct diag quiet = {0};
    struct line_reader lines;
    const struct import_format *found = NULL;
    char *line;
    if (strcmp(file, "-") != 0 && line_open(&lines, file, &quiet)) {
        bool have = line_next(&lines, &line);
        while (have && line[strspn(line, " \t\r")] == '\0') have = line_next(&lines, &line);
        for (size_t i = 0; i < N_FORMATS && !found && have; i++)
            if (import_formats[i].probe(&import_formats[i], line)) found = &import_formats[i];
        line_close(&lines);
    }
    diag_free(&quiet);
    return found;
}
