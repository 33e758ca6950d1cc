/* fuzz_failure_log.c - a failure log of any text; what is read is calibrated, and the profile is JSON that is read.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "study/calibrate_failures.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_log(const struct failure_log *log)
{
    for (size_t i = 0; i < log->events.n; i++) {
        const struct failure_event *e = &log->events.v[i];
        assert(i == 0 || e[-1].at_ns <= e->at_ns);
        assert(e->back_ns < 0 || e->back_ns >= e->at_ns);
        assert(e->node < intern_count(&log->nodes) && e->component < intern_count(&log->components));
    }
}

static void check_profile(const struct failure_calibration *c)
{
    struct str json = {0}, text = {0}, scenario = {0};
    struct diag d = {0};
    failure_calibration_profile(c, "fuzz", "fuzz", &json);
    failure_calibration_text(c, &text);
    failure_calibration_csv(c, &text);
    failure_calibration_json(c, &text);
    int fd = memfd_create("profile", 0);
    if (fd < 0 || write(fd, json.s, json.n) != (ssize_t)json.n) abort();
    str_printf(&scenario, "{\"trainyard\": 1, \"cluster\": {\"nodes\": [{\"group\": \"a\", \"count\": 2, \"gpus\": 8}]}, "
                          "\"faults\": {\"profile\": \"/proc/self/fd/%d\"}}", fd);
    struct scenario *s = scenario_parse("fuzz.json", scenario.s, scenario.n, NULL, &d);
    if (!s) diag_print(&d, stderr);
    assert(s);
    scenario_free(s);
    diag_free(&d);
    str_free(&json);
    str_free(&text);
    str_free(&scenario);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[40];
    struct failure_log log;
    struct failure_calibration c = {0};
    struct failure_options o = {.begin_ns = -1, .end_ns = -1, .level = 0.95, .burst_ns = seconds(60)};
    struct diag d = {0};
    int fd = memfd_create("log", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool ok = failure_log_read(path, &log, &d);
    assert(ok == (diag_errors(&d) == 0));
    if (ok) {
        check_log(&log);
        if (log.n_nodes < 5000 && calibrate_failures(&log, &o, &c, &d)) check_profile(&c);
    }
    failure_calibration_free(&c);
    failure_log_free(&log);
    diag_free(&d);
    close(fd);
    return 0;
}
