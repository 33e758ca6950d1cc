/* case_run.h - acceptance cases as rows of data: a scenario, an approach, what must come out.
 *
 * A file of tests/cases holds one case:
 *
 *     { "case": "20", "about": "...", "scenario": { ... with one approach a row ... },
 *       "rows": [ { "name": "ExitCode 137", "approach": "exit-code", "endless": ["j"],
 *                   "exits": [ { "pod": "j-worker-1", "after": "10s", "code": 137 } ],
 *                   "expect": { "succeeded": 0, "failed": 0, "no_progress": true, "says": ["job j"],
 *                               "conditions": { "j": { "Failed": [10, 13], "Succeeded": null } },
 *                               "created": { "j-worker-1": [270, 330] }, "changes": { "j-worker-1 TERMINATING": [340, 345] },
 *                               "restarts": { "j-worker-1": [4, 4] },
 *                               "at": [ { "t": 300, "held": { "j": 24 }, "partial": { "j": [8, 8] }, "waits": { "j": "peers" } } ],
 *                               "evictions": 1, "jobs": { "j": { "admitted": [0, 1], "finished": null, "evictions": 1, "state": "pending" } } } } ] }
 *
 * `endless`: jobs whose pods do not train but run until somebody ends them. `exits`: the program of a pod ends so long after
 * each of its starts. Conditions: when one was first True (or a state such as "JobDeploymentStatus Failed" was entered, also with its reason
 * behind it), null: never. Jobs: their rows
 * in jobs.csv (admitted: the first time). Changes: when a pod first changed so. Intervals are
 * [least, most]; GPUs are whole ones.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_TESTS_SUPPORT_CASE_RUN_H
#define TRAINYARD_TESTS_SUPPORT_CASE_RUN_H

/* Runs all rows of a file and prints a line each. Returns how many were wrong. */
int case_run_file(const char *path, int *rows);

#endif
