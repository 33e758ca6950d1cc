/* fault.c - faults to play.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "real/worker/fault.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"

/* The one thing that the signal handler touches. */
static volatile sig_atomic_t told_to_be_slow;

static const struct {
    const char *name;
    enum { NO_VALUE, CODE, DURATION, FACTOR } value;
    bool needs_value;
} kinds[] = {
    [FAULT_CRASH] = {"crash", NO_VALUE, false},       [FAULT_EXIT] = {"exit", CODE, false},
    [FAULT_HANG] = {"hang", DURATION, false},         [FAULT_SLOW] = {"slow", FACTOR, true},
    [FAULT_STORE_DOWN] = {"store-down", DURATION, true},
};

static const char *read_value(const char *text, struct fault *f)
{
    int64_t code;
    switch (kinds[f->kind].value) {
    case NO_VALUE: return "this fault takes no value";
    case CODE:
        if (units_parse_int64(text, &code) || code < 0 || code > 255) return "a code is 0 to 255";
        f->code = (int)code;
        return NULL;
    case DURATION: return units_parse_duration(text, &f->duration_ns) || f->duration_ns <= 0 ? "a duration is one such as 30s" : NULL;
    case FACTOR: return units_parse_double(text, &f->factor) || f->factor < 1 || f->factor > 1e6 ? "a factor is a number from 1 on" : NULL;
    }
    return NULL;
}

/* Cuts the part behind `mark` off. */
static char *cut(char *text, char mark)
{
    char *at = strchr(text, mark);
    if (at) *at++ = 0;
    return at;
}

static const char *read_parts(char *text, struct fault *f)
{
    char *rank = cut(text, '/'), *value = cut(text, ':'), *step = cut(text, '@');
    int64_t r = -1;
    size_t k = 0;
    while (k < sizeof kinds / sizeof *kinds && strcmp(text, kinds[k].name) != 0) k++;
    if (k == sizeof kinds / sizeof *kinds) return "faults are crash, exit, hang, slow, store-down";
    *f = (struct fault){.kind = (enum fault_kind)k, .code = 1, .factor = 1};
    if (!step || units_parse_int64(step, &f->step) || f->step < 0) return "needs @STEP, a whole number from 0 on";
    if (rank && (units_parse_int64(rank, &r) || r < 0 || r > INT32_MAX)) return "a rank is a whole number from 0 on";
    f->rank = (int)r;
    if (!value) return kinds[k].needs_value ? "needs a value after a colon" : NULL;
    return read_value(value, f);
}

const char *fault_parse(const char *text, struct fault *f)
{
    char copy[128];
    if (strlen(text) >= sizeof copy) return "is too long";
    return read_parts(strcpy(copy, text), f);
}

static void hang(int64_t duration_ns)
{
    if (duration_ns == 0)
        for (;;) pause();
    struct timespec left = {duration_ns / NS_PER_S, duration_ns % NS_PER_S};
    while (nanosleep(&left, &left) != 0) {}
}

void fault_play(const struct fault *f)
{
    if (f->kind == FAULT_CRASH) raise(SIGKILL);
    if (f->kind == FAULT_EXIT) _exit(f->code);
    if (f->kind == FAULT_HANG) hang(f->duration_ns);
}

static void on_signal(int signal)
{
    if (signal == SIGUSR1) hang(0);
    told_to_be_slow = !told_to_be_slow;
}

void fault_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
}

double fault_told_factor(void)
{
    return told_to_be_slow ? 2 : 1;
}
