/* fuzz_fail_if.c - any text as a condition: no crash, and either a rule with a finite number or a text that says why not.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "run/metrics.h"
#include "study/fail_if.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const double base[] = {1, 2, 4}, other[] = {2, 3, 9};
    const struct fail_sample s = {base, other, 3, false, true};
    struct fail_rule r;
    char *text = malloc(n + 1);
    memcpy(text, data, n);
    text[n] = '\0';
    char *wrong = fail_rule_parse(text, &r);
    if (!wrong) {
        if (r.metric >= metric_count() || !isfinite(r.number)) abort();
        fail_rule_judge(&r, &s, NULL);
    } else if (!*wrong)
        abort();
    free(wrong);
    free(text);
    return 0;
}
