/* test_format_doc.c - docs/run-format.md holds the program's own tables.
 *
 * With TRAINYARD_WRITE_DOCS=1 the page is written anew instead. Runs in the root of the checkout.
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

#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "input/kinds.h"
#include "run/conditions.h"
#include "run/metrics.h"
#include "run/parts.h"

static const char page[] = "docs/run-format.md";

static void columns(struct str *s, const struct csv_column *c, size_t n)
{
    str_append(s, "| column | |\n|---|---|\n");
    for (size_t i = 0; i < n; i++) str_printf(s, "| `%s` | %s |\n", c[i].name, c[i].help);
}

static void metrics(struct str *s)
{
    str_append(s, "| metric | unit | |\n|---|---|---|\n");
    for (size_t i = 0; i < metric_count(); i++)
        str_printf(s, "| `%s` | %s | %s |\n", metric_at(i)->name, metric_at(i)->unit, metric_at(i)->help);
}

static void jobs(struct str *s)
{
    columns(s, jobs_csv_columns, n_jobs_csv_columns);
}

static void ledger(struct str *s)
{
    columns(s, ledger_csv_columns, n_ledger_csv_columns);
}

static void states(struct str *s, const struct state_info *table, int n)
{
    str_append(s, "| number | name | |\n|---|---|---|\n");
    for (int i = 0; i < n; i++) str_printf(s, "| %d | `%s` | %s |\n", i, table[i].name, table[i].help);
}

static void waits(struct str *s)
{
    states(s, wait_table, N_WAIT_REASONS);
}

static void causes(struct str *s)
{
    states(s, cause_table, N_CAUSES);
}

static void job_states(struct str *s)
{
    str_append(s, "| number | name |\n|---|---|\n");
    for (int i = 0; i < N_JOB_STATES; i++) str_printf(s, "| %d | `%s` |\n", i, job_state_names[i]);
}

static void activities(struct str *s)
{
    str_append(s, "| number | name | class | |\n|---|---|---|---|\n");
    for (int i = 0; i < N_ACTIVITIES; i++)
        str_printf(s, "| %d | `%s` | %s | %s |\n", i, activity_table[i].name,
                   activity_class_names[activity_table[i].class], activity_table[i].help);
}

/* "-" in the program's table means that the field is 0. */
static const char *meaning(const char *field)
{
    return str_equal(field, "-") ? "" : field;
}

static void records(struct str *s)
{
    str_append(s, "| type | name | jobs | subject | code | a | b |\n|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < N_RECORD_TYPES; i++) {
        const struct record_info *r = &record_table[i];
        str_printf(s, "| %d | `%s` | %s | %s |", i, r->name, r->at_jobs_level ? "jobs" : "", meaning(r->subject));
        /* a bar within a cell ends it, unless it is escaped */
        const char *const field[] = {r->code, r->a, r->b};
        for (int f = 0; f < 3; f++) {
            str_append_char(s, ' ');
            for (const char *p = meaning(field[f]); *p; p++) str_printf(s, *p == '|' ? "\\%c" : "%c", *p);
            str_append(s, " |");
        }
        str_append_char(s, '\n');
    }
}

static void names(struct str *s, unsigned first, const char *of, const char *const *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++) str_printf(s, "| %u | %s | %s |\n", first + i, of, *v[i] ? v[i] : "(empty)");
}

static void conditions(struct str *s)
{
    str_append(s, "| number | of | name |\n|---|---|---|\n");
    names(s, 0, "condition of a Kubeflow job", condition_type_names, N_CONDITION_TYPES);
    names(s, JOB_CONDITION_BASE, "condition of a batch/v1 Job", job_condition_names, N_JOB_CONDITIONS);
    names(s, RAY_CONDITION_BASE, "condition of a RayCluster", raycluster_condition_names, N_RAYCLUSTER_CONDITIONS);
    names(s, RAY_CONDITION_JOB, "a RayJob", (const char *const[]){"JobDeploymentStatus"}, 1);
    names(s, RAY_CONDITION_TRAIN, "a Ray Train controller", (const char *const[]){"its state"}, 1);
    names(s, 0, "reason (a) of a RayCluster's condition", raycluster_reason_names, N_RAYCLUSTER_REASONS);
    names(s, 0, "code: JobDeploymentStatus", rayjob_status_names, N_RAYJOB_STATUSES);
    names(s, 0, "reason (a) of a JobDeploymentStatus", rayjob_reason_names, N_RAYJOB_REASONS);
    names(s, 0, "code: state of Ray Train", ray_train_state_names, N_RAY_TRAIN_STATES);
}

static void pod_states(struct str *s)
{
    states(s, pod_state_table, N_POD_STATES);
}

static void actor_states(struct str *s)
{
    states(s, actor_state_table, N_ACTOR_STATES);
}

static void roles(struct str *s)
{
    str_append(s, "| number | name |\n|---|---|\n");
    for (int i = 0; i < N_POD_ROLES; i++) str_printf(s, "| %d | `%s` |\n", i, role_names[i]);
}

static const struct {
    const char *name;
    void (*write)(struct str *);
} tables[] = {
    {"metrics",    metrics   },
    {"jobs",       jobs      },
    {"waits",      waits     },
    {"job states", job_states},
    {"ledger",     ledger    },
    {"activities", activities},
    {"causes",     causes    },
    {"records",    records   },
    {"pod states", pod_states},
    {"roles", roles},
    {"actor states", actor_states},
    {"conditions", conditions},
};

/* The page with its tables replaced; all tables must occur, in this order. */
static char *renewed(const char *text)
{
    struct str s = {0}, marker = {0};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        str_clear(&marker);
        str_printf(&marker, "<!-- table: %s -->\n", tables[i].name);
        const char *from = strstr(text, str_text(&marker)), *to = from ? strstr(from, "<!-- end -->") : NULL;
        if (!to) fail_msg("%s has no table \"%s\"", page, tables[i].name);
        str_append_n(&s, text, (size_t)(from - text) + marker.n);
        tables[i].write(&s);
        text = to;
    }
    str_append(&s, text);
    str_free(&marker);
    return str_take(&s);
}

static void page_has_the_tables(void **state)
{
    struct diag d = {0};
    size_t n;
    (void)state;
    char *text = file_read(page, FILE_READ_MAX, &n, &d);
    assert_non_null(text);
    char *right = renewed(text);
    if (getenv("TRAINYARD_WRITE_DOCS"))
        assert_true(file_write_atomic(page, right, strlen(right), &d));
    else if (strcmp(text, right) != 0)
        fail_msg("%s is behind: TRAINYARD_WRITE_DOCS=1 and this test renew it", page);
    free(right);
    free(text);
    diag_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(page_has_the_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
