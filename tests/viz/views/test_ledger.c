/* test_ledger.c - what the ledger view shows are the sums of ledger.csv and jobs.csv, exactly; and what curves and series integrate to.
 *
 * Expected sums are read from the two files by a reader of their own.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/csv.h"
#include "run/decimal.h"
#include "tests/viz/views/shown.h"
#include "viz/model/wait_series.h"
#include "viz/views/ledger_sums.h"

/* ---- the files, read again ---- */

struct sums {
    share_ns gpu, by_class[N_GPU_CLASSES], wait[N_WAIT_REASONS];
};

static bool on_cell(void *arg, const struct csv_row *row)
{
    struct sums *s = arg;
    share_ns x = 0;
    assert_true(decimal_get(csv_field(row, 2), GPU_S_DIGITS, &x));
    s->gpu += x;
    for (int c = 0; c < N_GPU_CLASSES; c++) {
        bool redone = !strcmp(csv_field(row, 1), "1");
        if (!strcmp(gpu_class_names[c], redone ? "redone" : csv_field(row, 0))) s->by_class[c] += x;
    }
    return true;
}

static bool on_job(void *arg, const struct csv_row *row)
{
    struct sums *s = arg;
    for (int r = 0; r < N_WAIT_REASONS; r++) {
        share_ns x = 0;
        assert_true(decimal_get(csv_field(row, (size_t)r), NS_DIGITS, &x));
        s->wait[r] += x;
    }
    return true;
}

static struct sums read_files(const char *dir)
{
    static const char *const cell[] = {"class", "redone", "gpu_s"};
    const char *columns[N_WAIT_REASONS];
    char names[N_WAIT_REASONS][64], path[128];
    struct sums s = {0};
    struct diag d = {0};
    for (int r = 0; r < N_WAIT_REASONS; r++) {
        snprintf(names[r], sizeof names[r], "wait_%s_s", wait_table[r].name);
        columns[r] = names[r];
    }
    snprintf(path, sizeof path, "%s/ledger.csv", dir);
    assert_true(csv_read(path, &(struct csv_spec){cell, 3, NULL, 0, on_cell, &s}, &d));
    snprintf(path, sizeof path, "%s/jobs.csv", dir);
    assert_true(csv_read(path, &(struct csv_spec){columns, N_WAIT_REASONS, NULL, 0, on_job, &s}, &d));
    assert_true(s.gpu > 0);
    return s;
}

/* ---- tables ---- */

static void assert_table(struct shown *s, const struct sums *want, enum ledger_by by)
{
    struct ledger_source from[2] = {{s->scenes[0], s->ui->runs[0].curves}, {s->scenes[1], s->ui->runs[1].curves}};
    struct ledger_table gpu = {0}, wait = {0};
    ledger_gpu_table(&gpu, from, 2, by);
    ledger_wait_table(&wait, from, 2, by);
    for (unsigned run = 0; run < 2; run++) {
        share_ns lines = 0, parts = 0, waits = 0, all = 0;
        for (size_t i = 0; i < gpu.lines.n; i++) lines += gpu.lines.v[i].depth ? 0 : gpu.lines.v[i].sum[run];
        for (size_t i = 0; i < gpu.lines.n; i++)
            for (unsigned p = 0; p < gpu.n_parts && !gpu.lines.v[i].depth; p++) parts += gpu.lines.v[i].part[run][p];
        for (size_t i = 0; i < wait.lines.n; i++) waits += wait.lines.v[i].sum[run];
        for (int r = 0; r < N_WAIT_REASONS; r++) all += want[run].wait[r];
        assert_true(gpu.whole[run] == want[run].gpu && lines == want[run].gpu && parts == want[run].gpu);
        assert_true(wait.whole[run] == all && waits == all);
    }
    for (size_t i = 0; i < gpu.lines.n && by == LEDGER_BY_STATE; i++)
        for (int c = 0; c < N_GPU_CLASSES && !gpu.lines.v[i].depth; c++)
            if (!strcmp(gpu.lines.v[i].name, gpu_class_names[c])) assert_true(gpu.lines.v[i].sum[1] == want[1].by_class[c]);
    ledger_table_free(&gpu);
    ledger_table_free(&wait);
}

/* The text of a number in the dump, which is exact. */
static share_ns exact(struct json_doc *doc, const cJSON *list, int i, unsigned digits)
{
    share_ns x = 0;
    const char *text = json_number_text(doc, cJSON_GetArrayItem(list, i));
    assert_non_null(text);
    assert_true(decimal_get(text, digits, &x));
    return x;
}

static void assert_dump(struct shown *s, const struct sums *want)
{
    struct diag d = {0};
    struct json_doc *doc = shown_dump(s, "ledger", &d);
    const cJSON *gpu = json_member(shown_pane(doc, 0), "gpu_time"), *line, *waits = json_member(shown_pane(doc, 0), "waits");
    for (int run = 0; run < 2; run++) {
        share_ns sum = 0;
        cJSON_ArrayForEach(line, json_member(gpu, "lines"))
            if (json_member(line, "depth")->valuedouble == 0) sum += exact(doc, json_member(line, "gpu_s"), run, GPU_S_DIGITS);
        assert_true(sum == want[run].gpu);
        assert_true(exact(doc, json_member(json_member(gpu, "all"), "gpu_s"), run, GPU_S_DIGITS) == want[run].gpu);
        for (int r = 0; r < N_WAIT_REASONS; r++) {
            if (!want[run].wait[r]) continue;
            line = shown_item(json_member(waits, "lines"), "name", wait_table[r].name);
            assert_true(exact(doc, json_member(line, "s"), run, NS_DIGITS) == want[run].wait[r]);
        }
    }
    json_free(doc);
    diag_free(&d);
}

static void assert_series(struct shown *s, const struct sums *want)
{
    for (unsigned run = 0; run < 2; run++) {
        const struct scene *scene = s->scenes[run];
        struct wait_series *w = wait_series_create(scene);
        double length = (double)(scene->end_ns - scene->begin_ns);
        for (unsigned r = 0; r < N_WAIT_REASONS; r++) {
            struct curve_column col[7], whole;
            double sum = 0, told = (double)want[run].wait[r];
            wait_series_columns(w, r, scene->begin_ns, scene->end_ns, 1, &whole);
            double all = whole.mean * length;
            assert_true(fabs(all - told) <= 1e-12 * told); /* a double's */
            wait_series_columns(w, r, scene->begin_ns, scene->end_ns, 7, col);
            for (int i = 0; i < 7; i++) sum += col[i].mean * length / 7;
            assert_true(sum >= all * (1 - 1e-6) - 100 && sum <= all * (1 + 1e-6) + 100); /* columns are cut at whole ns */
        }
        wait_series_destroy(w);
    }
}

static void test_sums_are_those_of_the_files(void **state)
{
    static const struct { const char *scenario, *approaches[2]; } of[] = {
        {"scenarios/two-teams.json", {"operator", "actor"}}, {"scenarios/llm-training.json", {"packed", "spread"}}};
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct shown s;
        struct sums want[2];
        char dir[96];
        shown_run(&s, of[i].scenario, of[i].approaches, 2, RECORD_FULL);
        shown_open(&s, of[i].approaches, 2, 1280, 800, 0);
        for (int run = 0; run < 2; run++) {
            snprintf(dir, sizeof dir, "%s/%s", s.top, of[i].approaches[run]);
            want[run] = read_files(dir);
        }
        for (enum ledger_by by = 0; by < N_LEDGER_BY; by++) assert_table(&s, want, by);
        assert_dump(&s, want);
        assert_series(&s, want);
        shown_key(&s, 'm', 0);
        assert_int_equal(s.ui->ledger_by, LEDGER_BY_TEAM);
        struct diag d = {0};
        struct json_doc *doc = shown_dump(&s, "ledger", &d);
        const cJSON *gpu = json_member(shown_pane(doc, 0), "gpu_time");
        assert_true(exact(doc, json_member(json_member(gpu, "all"), "gpu_s"), 1, GPU_S_DIGITS) == want[1].gpu);
        json_free(doc);
        shown_close(&s);
        shown_remove(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_those_of_the_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
