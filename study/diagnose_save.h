/* diagnose_save.h - what another way to save would spare of the time that training stands still for it.
 *
 *     struct save_remedy r = save_remedy(scenario, detail, gpus, nodes);
 *     saved_gpu_s = r.spared * checkpoint_gpu_s;      // r.remedy: "asynchronously: stops for 0.32 s instead of 48 s"
 *
 * Of checkpoints with a size and a store the stall is computed anew (models/checkpoint.h): in the background, unless
 * they are, else sharded over all ranks, unless they are; nobody else saving at the time. Of checkpoints that only
 * declare how long they take, nothing is known of the copy that would be left: `bound` says that all of the stall is
 * the most that can be spared.
 *
 * Restarts. Of a job that failed at least 3 times, so that the time between failures is known to some 60 %, the
 * interval is held against the best for it (Young, CACM 17, 1974: models/checkpoint.h):
 *
 *     restart_remedy(scenario, detail, row, text);    // "save every 12.2 min instead of 1.00 h", where it is 1.5 times too long
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_STUDY_DIAGNOSE_SAVE_H
#define TRAINYARD_STUDY_DIAGNOSE_SAVE_H

#include "input/scenario.h"
#include "study/diagnose_step.h"

struct save_remedy {
    double spared; /* of the stall, 0 .. 1 */
    bool bound;
    char remedy[REMEDY_TEXT];
};
struct save_remedy save_remedy(const struct scenario *, const struct job_detail *, uint32_t gpus, uint32_t nodes);
void restart_remedy(const struct scenario *, const struct job_detail *, const struct job_row *, char text[REMEDY_TEXT]);

uint32_t row_gpus(const struct job_row *);  /* at least 1 */
uint32_t row_nodes(const struct job_row *); /* of the last allocation, at least 1 */

#endif
