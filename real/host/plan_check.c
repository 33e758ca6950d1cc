/* plan_check.c - see plan.h: what can be no plan, and the folders of plans.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "real/host/plan.h"
#include "real/worker/world.h"

#define MARK ".trainyard-job"
enum { LONGEST_ID = 200 /* file names have 255 bytes, and processes add to it */ };

static bool is_folder_name(const char *id)
{
    if (!*id || !strcmp(id, ".") || !strcmp(id, "..") || !strcmp(id, "train.data") || strlen(id) > LONGEST_ID) return false;
    for (const char *c = id; *c; c++)
        if (*c == '/' || iscntrl((unsigned char)*c)) return false;
    return true;
}

/* Of the workers, one a pod or as many as "live" allows; the plan itself is not made, as it may be large. */
static uint64_t most_processes(const struct scenario *s, const struct job_spec *j)
{
    const struct job_detail *k = &s->details[j->detail];
    uint64_t n = 0, elastic = plan_is_elastic(s, k) ? k->elastic.max : 0;
    for (uint32_t r = 0; r < k->n_roles; r++) n += job_role_replicas(s, j, r);
    if (elastic > n) n = elastic;
    return s->live->processes && s->live->processes < n ? s->live->processes : n;
}

static bool trains(const struct scenario *s, const struct job_spec *j)
{
    struct arena a = {0};
    struct job_plan p;
    plan_make(&a, s, j, &p);
    arena_free(&a);
    return p.n > 0;
}

void plan_check(const struct scenario *s, const struct job_spec *j, struct diag *d)
{
    char number[24];
    const char *id = job_id(s, j, number);
    if (!is_folder_name(id)) {
        job_error(d, s, j, "job \"%s\": its files lie in a folder of that name, which cannot be", id);
        diag_help(d, "at most %d bytes, without \"/\" and control characters, and not \".\", \"..\" or \"train.data\"", LONGEST_ID);
    }
    uint64_t n = most_processes(s, j);
    if (n > WORLD_SIZE_MAX) {
        job_error(d, s, j, "job %s has %llu processes; a group may have %d", id, (unsigned long long)n, WORLD_SIZE_MAX);
        diag_help(d, "let each stand for several pods: \"live\": {\"processes\": %d}", WORLD_SIZE_MAX);
    } else if (!trains(s, j)) {
        job_error(d, s, j, "job %s has no process that trains", id);
        diag_help(d, "give its workers at least 1 replica");
    }
}

bool plan_folder(const char *dir, struct diag *d)
{
    struct str mark = {0};
    str_printf(&mark, "%s/" MARK, dir);
    bool empty = rmdir(dir) == 0 || !file_exists(dir), ok = empty || file_exists(str_text(&mark));
    if (!ok) {
        diag_error(d, dir, 0, NULL, "is not from an earlier run, so it is not emptied for this one");
        diag_help(d, "name another folder with --work, or remove it yourself");
    }
    ok = ok && (empty || file_remove_tree(dir, d)) && file_make_dirs(dir, d) && file_write_scratch(str_text(&mark), "", 0, d);
    str_free(&mark);
    return ok;
}
