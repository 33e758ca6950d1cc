/* test_suspend.c - a job that is suspended, resumed and preempted while it is still being stopped.
 *
 * Each row is worked out by hand on one node of 8 GPUs under training-operator-v1: pods take kubelet.pod-delete (1 s) to
 * go, so what comes within that second meets a job that is stopping.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "sim/queue/ranked.h"
#include "tests/support/small_sim.h"

static struct sim_result result_of(const char *life, const char *admission, const char *script)
{
    struct str text = {0};
    str_printf(&text,
               "{\"trainyard\": 1, \"cluster\": {\"nodes\": [{\"group\": \"g\", \"gpus\": 8}]}, \"workload\": {\"jobs\": "
               "[{\"id\": \"j\", \"gpus\": 8, \"duration\": \"600s\"}]}, \"faults\": {\"script\": [%s]}, \"approaches\": "
               "{\"x\": {\"lifecycle\": \"%s\", \"admission\": \"%s\"}}, \"run\": {\"horizon\": \"2h\"}}",
               script, life, admission);
    struct small_sim s = {.text = str_text(&text)};
    small_sim_run(&s);
    struct sim_result r = s.result;
    small_sim_free(&s);
    str_free(&text);
    return r;
}

#define ACT(at, what) "{\"at\": \"" at "\", \"target\": \"job/j\", \"action\": \"" what "\"}"
#define NODE(at, what) "{\"at\": \"" at "\", \"target\": \"node/g-0\", \"action\": \"" what "\"}"

static void what_meets_a_stopping_job(void **state)
{
    (void)state;
    static const struct { const char *life, *admission; } layers[] = {
        {"training-operator-v1", "fifo"}, {"training-operator-v1", "fifo-skip"}, {"none", "fifo"}, {"none", "fifo-skip"},
        {"none", "fewest-gpus"}, {"none", "srpt"}, {"none", "las"}};
    static const struct { const char *script; size_t succeeded; } rows[] = {
        {ACT("100s", "suspend"), 0},
        {ACT("100s", "suspend") "," ACT("100.1s", "suspend"), 0},
        {ACT("100s", "suspend") "," ACT("200s", "resume"), 1},
        {ACT("100s", "suspend") "," ACT("100.1s", "resume"), 1}, /* while its pods leave: it asks again when they are gone */
        {ACT("100s", "suspend") "," ACT("100.1s", "suspend") "," ACT("100.2s", "resume"), 1},
        {ACT("100s", "suspend") "," NODE("100.1s", "node-lost") "," NODE("1000s", "node-back"), 0},
        {NODE("100s", "node-lost") "," ACT("100.1s", "suspend") "," NODE("1000s", "node-back"), 0},
        {NODE("100s", "node-lost") "," ACT("100.1s", "suspend") "," NODE("1000s", "node-back") "," ACT("1500s", "resume"), 1},
    };
    for (size_t a = 0; a < sizeof layers / sizeof *layers; a++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct sim_result r = result_of(layers[a].life, layers[a].admission, rows[i].script);
            if (r.succeeded != rows[i].succeeded) print_error("%s, %s: %s\n", layers[a].life, layers[a].admission, rows[i].script);
            assert_int_equal(r.succeeded, rows[i].succeeded);
            assert_int_equal(r.failed, 0);
        }
}

/* More may be leaving than is up, so the total that jobs may hold can be below 0: then the first of them is over. */
static void a_total_below_zero(void **state)
{
    (void)state;
    struct ranked set = {0};
    struct ranked_node n[3] = {{.key = {1, 0, 0}, .amount = 5}, {.key = {2, 0, 1}, .amount = 5}, {.key = {3, 0, 2}, .amount = 5}};
    for (int i = 0; i < 3; i++) ranked_insert(&set, &n[i]);
    assert_ptr_equal(ranked_over(&set, -1), &n[0]);
    assert_ptr_equal(ranked_over(&set, 4), &n[0]);
    assert_ptr_equal(ranked_over(&set, 5), &n[1]);
    assert_null(ranked_over(&set, 15));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_meets_a_stopping_job), cmocka_unit_test(a_total_below_zero)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
