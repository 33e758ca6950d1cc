/* diagnose_save.c - see diagnose_save.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "study/diagnose_save.h"

#include <stdio.h>

struct save_remedy save_remedy(const struct scenario *s, const struct job_detail *d, uint32_t gpus, uint32_t nodes)
{
    struct save_remedy r = {.spared = 1, .bound = true};
    struct checkpoint_spec other = d->checkpoint;
    if (other.save_ns != FROM_SIZE) return r;
    const char *how = other.async ? "sharded over all ranks" : "asynchronously";
    if (other.async) other.sharded = other.node_limits = true;
    else other.async = true;
    double now_s = checkpoint_times_of(s, &d->checkpoint, gpus, nodes).stall_s;
    double then_s = checkpoint_times_of(s, &other, gpus, nodes).stall_s;
    r = (struct save_remedy){.spared = now_s > then_s ? 1 - then_s / now_s : 0};
    if (r.spared > 0) snprintf(r.remedy, sizeof r.remedy, "%s: it stops for %.3g s instead of %.3g s", how, then_s, now_s);
    return r;
}
