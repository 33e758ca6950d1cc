/* profile_hazard.c - see profile_hazard.h. The profile is read by the scenario's own reader, in a scenario of one job.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/profile_hazard.h"

#include <string.h>

#include "base/json_write.h"
#include "base/str.h"
#include "input/scenario.h"

static double per_s(int64_t mtbf_ns) { return mtbf_ns > 0 ? 1e9 / (double)mtbf_ns : 0; }

static void add(struct failure_hazard *h, const struct fault_component *f, uint32_t gpus)
{
    double rate = per_s(f->mtbf_ns) * (1 + f->lemon_share * (f->lemon_times - 1));
    if (f->nodes == 0) h->per_job_per_s += rate;
    else h->per_node_per_s += rate / f->nodes * (f->per_node ? f->per_node : gpus);
}

static void profile_scenario(const char *profile, uint32_t gpus, struct str *s)
{
    str_printf(s, "{\"trainyard\": 1, \"cluster\": {\"nodes\": [{\"group\": \"n\", \"count\": 1000, \"gpus\": %u}], "
                  "\"topology\": {\"nodes_per_rack\": 4}}, \"workload\": {\"jobs\": [{\"id\": \"j\", \"gpus\": %u, \"duration\": 1}]}, "
                  "\"faults\": {\"profile\": ", gpus, gpus);
    json_escape(s, profile, strlen(profile));
    str_append(s, "}}");
}

bool profile_hazard(const char *profile, uint32_t gpus_per_node, struct failure_hazard *hardware, struct failure_hazard *processes,
                    struct diag *d)
{
    struct str text = {0};
    profile_scenario(profile, gpus_per_node, &text);
    struct scenario *s = scenario_parse(profile, text.s, text.n, NULL, d);
    str_free(&text);
    if (!s) return false;
    *hardware = (struct failure_hazard){0};
    for (uint32_t i = 0; i < s->faults.n_components; i++) add(hardware, &s->faults.components[i], gpus_per_node);
    const struct job_detail *job = &s->details[0];
    *processes = (struct failure_hazard){per_s(job->job_crash_mtbf_ns), per_s(job->crash_mtbf_ns) + per_s(job->hang_mtbf_ns)};
    scenario_free(s);
    return true;
}
