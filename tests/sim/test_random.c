/* test_random.c - what must hold in every run, over scenarios drawn at random (any_scenario.h, run_check.h).
 *
 * For each seed and both approaches: the run's own files agree with each other (run_check); the fingerprint is equal with
 * nothing recorded, with jobs recorded, with all recorded, from the resolved scenario that the run keeps, and when both
 * simulations advance event by event in turn in one process; and the two approaches see the same world
 * (run_check_paired). TRAINYARD_RANDOM=FIRST:LAST picks other seeds.
 *
 * A failure prints its seed, and which parts of the scenario and how many of its jobs it needs.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/record.h"
#include "sim/simulate.h"
#include "tests/support/any_scenario.h"
#include "tests/support/run_check.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SEEDS = 200 }; /* ten times slower */
#else
enum { SEEDS = 1000 };
#endif
enum { FIRST_SEED = 1, LAST_SEED = SEEDS, MOST_EVENTS = 3000000, SECONDS = 60 };
static const char *const approaches[2] = {"one", "two"};

struct tried {
    struct scenario *s[2];
    char dir[2][64];
    char print[2][33];
    uint64_t events[2];
};

static char top[] = "/tmp/trainyard-random-XXXXXX";

static void remove_files(const char *dir)
{
    static const char *const files[] = {"run.json", "scenario.json", "scenario.jobs.csv", "timeline.bin", "jobs.csv", "ledger.csv"};
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        remove(path);
    }
}

static bool load(struct tried *t, const struct str *json, char why[RUN_WHY])
{
    for (int i = 0; i < 2; i++) {
        struct diag d = {0};
        t->s[i] = scenario_parse("any.json", json->s, json->n, approaches[i], &d);
        if (!t->s[i]) {
            snprintf(why, RUN_WHY, "not a scenario");
            diag_print(&d, stderr);
        }
        diag_free(&d);
        if (!t->s[i]) return false;
        snprintf(t->dir[i], sizeof t->dir[i], "%s/%s", top, approaches[i]);
        remove_files(t->dir[i]);
    }
    return true;
}

/* Runs it; a run that does not end is told. */
static bool run(const struct scenario *s, const char *dir, int level, char print[33], uint64_t *events, char why[RUN_WHY])
{
    struct sim_result r = {0};
    struct sim_options o = {.dir = dir, .record_level = level, .force = true};
    struct sim *sim = sim_create(s, &o, &r.error);
    if (!sim) {
        snprintf(why, RUN_WHY, "%s: %s", s->approach.name, r.error);
        return false;
    }
    uint64_t n = 0;
    while (n < MOST_EVENTS && sim_step(sim)) n++;
    bool ended = n < MOST_EVENTS, ok = sim_close(sim, &r);
    if (!ended) snprintf(why, RUN_WHY, "%s: no end after %d events, at %.3f s", s->approach.name, MOST_EVENTS, (double)r.end_ns / 1e9);
    else if (!ok) snprintf(why, RUN_WHY, "%s: %s", s->approach.name, r.error);
    memcpy(print, r.fingerprint, 33);
    *events = r.events;
    sim_result_free(&r);
    return ended && ok;
}

static bool same(const char *print, const char *want, const char *name, const char *how, char why[RUN_WHY])
{
    if (strcmp(print, want) == 0) return true;
    snprintf(why, RUN_WHY, "%s: fingerprint %s, but %s %s", name, want, print, how);
    return false;
}

/* Both in turn, an event each. */
static bool interleaved(struct tried *t, char why[RUN_WHY])
{
    struct sim *sim[2];
    struct sim_result r[2] = {0};
    bool ok = true, more[2] = {true, true};
    for (int i = 0; i < 2; i++) sim[i] = sim_create(t->s[i], &(struct sim_options){0}, &r[i].error);
    while (more[0] || more[1])
        for (int i = 0; i < 2; i++)
            if (more[i]) more[i] = sim_step(sim[i]);
    for (int i = 0; i < 2; i++) {
        sim_close(sim[i], &r[i]);
        ok = ok && same(r[i].fingerprint, t->print[i], approaches[i], "beside another simulation", why);
        sim_result_free(&r[i]);
    }
    return ok;
}

/* The resolved scenario that the run keeps, run again. */
static bool again(const char *dir, const char *name, const char *want, char why[RUN_WHY])
{
    char path[96], print[33];
    struct diag d = {0};
    uint64_t events;
    snprintf(path, sizeof path, "%s/scenario.json", dir);
    struct scenario *s = scenario_load(path, NULL, NULL, &d);
    if (!s) {
        snprintf(why, RUN_WHY, "%s: its resolved scenario is none", name);
        diag_print(&d, stderr);
    }
    diag_free(&d);
    bool ok = s && run(s, NULL, RECORD_NONE, print, &events, why) && same(print, want, name, "when its resolved scenario is run", why);
    if (s) scenario_free(s);
    return ok;
}

static bool holds_here(const struct str *json, char why[RUN_WHY])
{
    struct tried t = {0};
    char print[33], text[RUN_WHY];
    uint64_t events;
    bool ok = load(&t, json, why);
    for (int i = 0; i < 2 && ok; i++) {
        ok = run(t.s[i], t.dir[i], RECORD_FULL, t.print[i], &t.events[i], why);
        if (ok && !run_check(t.dir[i], t.s[i], text)) {
            snprintf(why, RUN_WHY, "%s: %.480s", approaches[i], text);
            ok = false;
        }
        ok = ok && run(t.s[i], NULL, RECORD_NONE, print, &events, why) && same(print, t.print[i], approaches[i], "with no record", why);
        ok = ok && again(t.dir[i], approaches[i], t.print[i], why);
    }
    ok = ok && run_check_paired(t.dir[0], t.dir[1], why) && interleaved(&t, why);
    if (ok) { /* level jobs: last, since it replaces the files */
        ok = run(t.s[0], t.dir[0], RECORD_JOBS, print, &events, why) && same(print, t.print[0], approaches[0], "with jobs recorded", why);
    }
    for (int i = 0; i < 2; i++)
        if (t.s[i]) scenario_free(t.s[i]);
    return ok;
}

/* In a process of its own, so that a failed assert or an endless run is a failure of its seed and not the end of the test. */
static bool holds(const struct str *json, char why[RUN_WHY])
{
    int status = 0;
    char *told = mmap(NULL, RUN_WHY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(told != MAP_FAILED);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* not cmocka's */
        alarm(SECONDS);
        _exit(holds_here(json, told) ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) snprintf(told, RUN_WHY, "ended by %s", strsignal(WTERMSIG(status)));
    memcpy(why, told, RUN_WHY);
    munmap(told, RUN_WHY);
    return status == 0;
}

/* Whether two messages say the same, numbers aside. */
static bool alike(const char *a, const char *b)
{
    for (;;) {
        a += strcspn(a, " "), b += strcspn(b, " ");
        a += strspn(a, " "), b += strspn(b, " ");
        size_t n = strcspn(a, " 0123456789");
        if (strncmp(a, b, n) != 0) return false;
        if (!*a || !*b) return *a == *b;
    }
}

/* Whether what is left of the scenario fails in the same way. */
static bool fails(uint64_t seed, unsigned parts, unsigned jobs, const char *how)
{
    struct str json = {0};
    char why[RUN_WHY];
    any_scenario_part(seed, parts, jobs, &json);
    bool ok = holds(&json, why);
    str_free(&json);
    return !ok && alike(why, how);
}

/* Leaves out what the failure does not need, part by part, then job by job. */
static void shrink(uint64_t seed, struct str *json, char why[RUN_WHY])
{
    unsigned parts = ANY_ALL, jobs = 14;
    for (unsigned bit = 1; bit <= ANY_CONSTANTS; bit <<= 1)
        if (fails(seed, parts & ~bit, jobs, why)) parts &= ~bit;
    while (jobs > 1 && fails(seed, parts, jobs - 1, why)) jobs--;
    json->n = 0;
    any_scenario_part(seed, parts, jobs, json);
    holds(json, why);
    fprintf(stderr, "seed %llu needs parts %u and %u jobs:\n%s%s\n", (unsigned long long)seed, parts, jobs, json->s, why);
}

static void what_always_holds(void **state)
{
    unsigned long first = FIRST_SEED, last = LAST_SEED, bad = 0;
    const char *range = getenv("TRAINYARD_RANDOM");
    (void)state;
    if (range && sscanf(range, "%lu:%lu", &first, &last) != 2) fail_msg("TRAINYARD_RANDOM=FIRST:LAST");
    assert_non_null(mkdtemp(top));
    for (unsigned long seed = first; seed <= last; seed++) {
        struct str json = {0};
        char why[RUN_WHY];
        any_scenario(seed, &json);
        if (!holds(&json, why)) {
            fprintf(stderr, "seed %lu: %s\n", seed, why);
            if (bad++ == 0) shrink(seed, &json, why);
        }
        str_free(&json);
    }
    for (int i = 0; i < 2; i++) {
        char dir[64];
        snprintf(dir, sizeof dir, "%s/%s", top, approaches[i]);
        remove_files(dir);
        remove(dir);
    }
    remove(top);
    if (bad) fail_msg("%lu of %lu seeds fail", bad, last - first + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_always_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
