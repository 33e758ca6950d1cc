/* checkpoint.h - what a checkpoint costs and what it is good for: size, save, load, and the run that needs it.
 *
 *     const struct checkpoint_state *adam = checkpoint_state_named("adam-mixed");      // 14 bytes a parameter
 *     struct checkpoint_layout l = {.bytes = 176e9 * checkpoint_state_bytes(adam), .gpus = 384, .nodes = 48,
 *                                   .sharded = true, .savers = 1};
 *     struct checkpoint_path p = {.store_write_bytes_per_s = 57e9, ...};
 *     struct checkpoint_times t = checkpoint_times(&l, &p);                            // save, stall, background, load
 *     double share = checkpoint_goodput(interval, (struct checkpoint_cost){t.stall_s, t.background_s}, &risk);
 *
 * Save. Bytes S leave by the narrowest of what they pass:
 *     save = fixed + S / min(processes x their rate, nodes x their rate, store's rate / savers)
 * where processes and nodes are all of them when the state is sharded, one when rank 0 writes it; `savers` jobs share the
 * store alike. A limit of 0 is none. A synchronous save stops training for all of it; an asynchronous one for the copy to
 * host memory (each GPU its share over PCIe, or all of it on rank 0, and what a node's memory takes), the rest runs in
 * the background: CheckFreq (Mohan et al., FAST 2021), section 4.
 * Load is the same with the store's read rate, and `copies` times the bytes: so many processes read the whole state and
 * do not pass it on (sharded: 1).
 *
 * Run. Failures are exponential with mean M. A segment is W of work and a stall C; after a failure there are D of
 * downtime, in which nothing fails, and a recovery R, in which something may. The expected time of a segment is
 *     E = e^((R + B)/M) (M + D) (e^((W + C)/M) - 1)
 * For B = 0 it is Daly's (Future Generation Computer Systems 22, 2006, equation 13). B is the lag of an asynchronous save:
 * it is durable B after the stall, B <= W + C. Then the first segment after a failure needs R + W + C + B without another,
 * in the mean (M + D)(e^((R + W + C + B)/M) - 1); once a save is durable the next is W + C later, which fails with
 * probability 1 - e^-((W + C)/M) and then costs D and such a first segment. The sum collapses to E: a lag counts as so
 * much more recovery, and neither moves the best interval.
 * Young (CACM 17, 1974): W = sqrt(2 C M). Daly, ibid., equation 20. The exact optimum is in input/checkpoint_optimum.h.
 *
 * Pure; seconds, bytes, bytes a second; deterministic (base/detmath), for the reader resolves scenarios with it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_MODELS_CHECKPOINT_H
#define TRAINYARD_MODELS_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is saved of one parameter, in bytes. */
struct checkpoint_state {
    const char *name;
    double weights, master, optimizer, gradients;
    const char *what, *source;
};
extern const struct checkpoint_state checkpoint_states[];
extern const size_t n_checkpoint_states;
const struct checkpoint_state *checkpoint_state_named(const char *name); /* NULL: none */
double checkpoint_state_bytes(const struct checkpoint_state *);

struct checkpoint_layout {
    double bytes;         /* of the whole checkpoint */
    uint32_t gpus, nodes; /* that hold the state, >= 1 */
    uint32_t savers;      /* jobs that use the store at once, this one counted; >= 1 */
    double copies;        /* times the bytes are read when loading; >= 1 */
    bool sharded;         /* every GPU writes its share; else rank 0 writes all */
    bool async;
};

/* Limits in bytes a second; 0: none. */
struct checkpoint_path {
    double store_write_bytes_per_s, store_read_bytes_per_s; /* of all who use it */
    double node_bytes_per_s;   /* of a node to the store, either way */
    double process_bytes_per_s; /* of one process: serialising, checksums, one stream */
    double copy_bytes_per_s;   /* of a GPU to host memory */
    double host_bytes_per_s;   /* of a node's memory, for such copies */
    double fixed_s;            /* of a save or load besides: planning, metadata, barriers */
};

enum checkpoint_limit { LIMIT_NONE, LIMIT_PROCESS, LIMIT_NODE, LIMIT_STORE, N_CHECKPOINT_LIMITS };
struct checkpoint_times {
    double save_s, stall_s, background_s, load_s;
    enum checkpoint_limit save_limit, load_limit; /* the narrowest */
};
struct checkpoint_times checkpoint_times(const struct checkpoint_layout *, const struct checkpoint_path *);

struct checkpoint_cost { double stall_s, lag_s; };            /* C, B */
struct checkpoint_risk { double mtbf_s, down_s, recovery_s; }; /* M (0: nothing fails), D, R */

/* E: infinite where it is beyond what a double holds. */
double checkpoint_segment_s(double work_s, struct checkpoint_cost, const struct checkpoint_risk *);
/* Work over time, 0 .. 1. */
double checkpoint_goodput(double work_s, struct checkpoint_cost, const struct checkpoint_risk *);
double checkpoint_young_s(double stall_s, double mtbf_s);
double checkpoint_daly_s(double stall_s, double mtbf_s);

#endif
