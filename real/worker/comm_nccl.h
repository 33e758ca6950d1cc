/* comm_nccl.h - all-reduce by NCCL: each rank's values go to its GPU, are summed there, and come back.
 *
 * The order of additions is NCCL's own: bits may differ from those of the other transports, within the same bound. The
 * ranks' connections stay open beside: through them the ranks agree on NCCL's id, and see that a peer has ended, which NCCL by
 * itself does not notice. No call waits for a peer inside a library: NCCL is used without blocking (2.14 or later), and a copy from the
 * device, which stands until all before it is done, is begun only when the collective is. While NCCL starts or a collective runs it is
 * looked every COMM_LOOK_NS whether a peer is gone or the time is up; NCCL is aborted then.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_REAL_WORKER_COMM_NCCL_H
#define TRAINYARD_REAL_WORKER_COMM_NCCL_H

#include "real/gpu/gpu.h"
#include "real/worker/comm.h"

/* Moves c from tcp to NCCL, on the device that g uses; g must outlive it. False and a reason, in diag; where a peer is lost meanwhile
 * it is comm_error alone. */
bool comm_nccl_take(struct comm *c, struct gpu *g, struct diag *);

#endif
