/* job_members.h - the pods of a job, or the workers (Ray actors) of its group, and what each went through.
 *
 *     struct job_members m;
 *     job_members_make(&m, scene, job, false);            // true: actors
 *     struct member_now now = job_member_at(&m, i, cursor_ns);
 *     struct member_groups g;
 *     member_groups_make(&g, &m, cursor_ns, from_ns, to_ns); // who is alike at the cursor
 *     member_groups_free(&g);  job_members_free(&m);
 *
 * From the records of pods and actors (run/record.h), which a run has with --record full. Members are in order of role, index and
 * number; a pod that was replaced under its index is another member than the one before. States are in order of time and last until
 * the next. A group holds those that have one role, state, count of restarts and exit code at a moment; groups are in order of their
 * first members. What a group went through is told in `bins` of equal length: how much of a bin's time its members were in each
 * state, in parts of a bin and member; a member that did not exist counts for nothing.
 *
 * Records are not trusted: beyond MOST_MEMBERS and MOST_STATES nothing is kept. Cost: O(states); groups O(members + states).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_VIZ_VIEWS_JOB_MEMBERS_H
#define TRAINYARD_VIZ_VIEWS_JOB_MEMBERS_H

#include "base/array.h"
#include "viz/model/scene.h"

enum { MOST_MEMBERS = 1 << 20, MOST_MEMBER_STATES = 1 << 22, NO_MEMBER_NODE = UINT32_MAX, MEMBER_BINS = 1024, N_MEMBER_STATES = 16 };

struct member_state {
    int64_t from_ns, b; /* b: as the record has it */
    uint8_t state;      /* enum pod_state or actor_state */
};

struct job_member {
    uint32_t number, index; /* of the pod in its job, in its role; both the rank of an actor */
    uint32_t first, n;      /* of states */
    uint8_t role;           /* enum pod_role; an actor: ROLE_WORKER */
};

struct job_members {
    bool actors;
    struct job_member *v;
    uint32_t n;
    struct member_state *states;
};

void job_members_make(struct job_members *, const struct scene *, int32_t job, bool actors);
void job_members_free(struct job_members *);

/* At a moment: N_MEMBER_STATES before it was created. The exit code is that of backoff and failed, else -1. */
struct member_now {
    unsigned state;
    uint32_t node;
    int64_t restarts, exit_code, since_ns;
};
struct member_now job_member_at(const struct job_members *, const struct job_member *, int64_t ns);

/* Names of what is told, and the show that it looks like; SHOW_NOTHING: it is gone. */
const char *member_state_name(bool actors, unsigned state);
unsigned member_show(bool actors, unsigned state);
/* Failures and what is like them, which must be seen however few they are. */
bool member_is_ill(bool actors, unsigned state);

struct member_group {
    uint32_t first, n, n_nodes; /* first member; members; nodes that they lie on */
    struct member_now now;      /* of the first */
    float *bins;                /* MEMBER_BINS x N_MEMBER_STATES */
};
struct member_groups {
    ARRAY(struct member_group) v;
    uint32_t *of;               /* group of each member */
    int64_t from_ns, to_ns;     /* of the bins */
};
void member_groups_make(struct member_groups *, const struct job_members *, int64_t ns, int64_t from_ns, int64_t to_ns);
void member_groups_free(struct member_groups *);

/* "0-6, 8-511": the indices of a group, `most` intervals and then how many more. */
struct str;
void member_indices(const struct job_members *, const struct member_groups *, uint32_t group, unsigned most, struct str *);

#endif
