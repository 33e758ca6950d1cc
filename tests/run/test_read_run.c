/* test_read_run.c - docs/read_run.py reads what is written, and notices what was changed.
 *
 * A second reader that shares no code with the writer. Skipped where there is no python3. Runs in the root of the
 * checkout.
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

#include "base/diag.h"
#include "base/file.h"
#include "base/str.h"
#include "tests/run/some_run.h"

static char dir[] = "/tmp/trainyard-python-XXXXXX";

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    struct diag d = {0};
    (void)state;
    bool ok = file_remove_tree(dir, &d);
    diag_free(&d);
    return ok ? 0 : -1;
}

static char *write_some(void)
{
    struct run_meta meta = some_meta();
    char *err = NULL;
    meta.force = true;
    struct ledger *l = some_ledger();
    struct run_writer *w = run_create(dir, &meta, &err);
    put_some(w);
    char *fingerprint = calloc(1, 33);
    recorder_fingerprint(run_recorder(w), fingerprint);
    assert_true(run_finish(w, RUN_COMPLETE, l, 100000000000, &err));
    ledger_destroy(l);
    return fingerprint;
}

/* What the reader prints, to free, and its exit status. */
static char *python(int *status)
{
    char command[200], text[4096];
    if (system("python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null") != 0) {
        print_message("no python3 from 3.8 on: skipped\n");
        skip();
    }
    snprintf(command, sizeof command, "python3 docs/read_run.py %s 2>&1", dir);
    FILE *f = popen(command, "r");
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = 0;
    *status = pclose(f);
    return strdup(text);
}

static void it_reads_a_run(void **state)
{
    (void)state;
    int status;
    struct str expected = {0};
    char *fingerprint = write_some(), *got = python(&status);
    str_printf(&expected,
               "some \"run\", operator, replication 3: complete\n"
               "5 jobs: 4 succeeded, 1 pending\n"
               /* by hand from some_ledger: 1600 + 360 in all; big: 8 GPUs held 4.999999999 s before and 1 s after */
               "GPU-seconds: held 47.999999992, work 240, redone 160, idle 1462.000000008, down 50\n"
               "2500 of 2500 records kept, fingerprint %s\n"
               "checksums and ledger are right\n",
               fingerprint);
    assert_string_equal(got, str_text(&expected));
    assert_int_equal(status, 0);
    str_free(&expected);
    free(fingerprint);
    free(got);
}

static void it_notices_changes(void **state)
{
    (void)state;
    static const struct {
        const char *file, *says;
        long at;
    } rows[] = {
        {"jobs.csv",     "jobs.csv is not as the run left it",   500  },
        {"ledger.csv",   "ledger.csv is not as the run left it", -2   },
        {"ledger.csv",   "GPU-s, 360 existed",                   -2   },
        {"timeline.bin", "damaged behind the last whole block",  70000}
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status;
        char path[100];
        free(write_some());
        snprintf(path, sizeof path, "%s/%s", dir, rows[i].file);
        FILE *f = fopen(path, "r+");
        fseek(f, rows[i].at, rows[i].at < 0 ? SEEK_END : SEEK_SET);
        fputc('7', f);
        fclose(f);
        char *got = python(&status);
        if (!strstr(got, rows[i].says)) fail_msg("no \"%s\" in: %s", rows[i].says, got);
        assert_int_not_equal(status, 0);
        free(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_reads_a_run), cmocka_unit_test(it_notices_changes)};
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
