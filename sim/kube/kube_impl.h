/* kube_impl.h - the inside of kube, shared by its files; owners of pods use kube.h.
 *
 * Who writes what: kube.c the life of the objects and the telling of owners; scheduler.c and gang.c everything before a
 * pod is bound; kubelet.c what happens to its container; node.c what happens to its node.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_SIM_KUBE_KUBE_IMPL_H
#define TRAINYARD_SIM_KUBE_KUBE_IMPL_H

#include "base/hmap.h"
#include "sim/cluster/network.h"
#include "sim/kube/kube.h"

/* Where a bound pod's container is. The kubelet's event of a pod belongs to its stage. */
enum stage { STAGE_NONE, STAGE_PULL, STAGE_START, STAGE_INIT, STAGE_INIT_BACKOFF, STAGE_RUN, STAGE_BACKOFF, STAGE_DONE,
             STAGE_INIT_RESTART, STAGE_RESTART /* started once more, after the back-off */ };

/* A node's serial puller of images. Its position is ns of pulling at full speed; a pod waits for one of them. */
struct puller {
    struct net_pace pace;   /* while it pulls */
    int64_t done, total;    /* at since_ns; when all that is asked for is there */
    int64_t since_ns;
    struct net_share share; /* of full speed, since then */
    int32_t job;            /* whose image came last, or comes last */
    struct event_id idle;
};

struct kube_node {
    struct pod *pods;
    struct puller puller;
    bool lost;              /* dead */
    bool unreachable;       /* and noticed */
    bool tainted;           /* NoExecute */
    struct event_id watch;  /* the next thing that happens to it: noticed, then tainted */
};

/* Parked classes that need the same (a pod of one shape, or so many for a gang): when something is released only the
 * first is looked at; when it has found its place, the next. */
struct sched_bucket {
    struct place_request need;
    int32_t priority;
    uint8_t reason;          /* enum wait_reason: why the first does not fit */
    struct sched_class *first, *last; /* by age */
    struct sched_bucket *same_hash;
    struct sched_bucket *next, *prev; /* those that are not empty */
};

/* All waiting pods of one shape, priority and gang: if the first does not fit, none does. */
struct sched_class {
    struct place_request request; /* of a pod; a gang's: of the first */
    int32_t priority;
    uint32_t gang;
    struct pod *first, *last, *untold; /* by creation; first that has not heard of a refusal */
    enum { CLASS_EMPTY, CLASS_ACTIVE, CLASS_BACKOFF, CLASS_PARKED } state;
    uint32_t heap_at;       /* while active */
    uint32_t attempts;      /* refusals in a row */
    int64_t last_try_ns;
    uint8_t reason;         /* enum wait_reason of the last refusal */
    struct event_id retry;
    struct sched_class *same_hash; /* next of one hash */
    struct sched_bucket *bucket; /* while parked and worth a look */
    struct sched_class *park_next, *park_prev;
};

struct gang {
    struct job *job;        /* NULL: free */
    uint32_t min_member;
    uint32_t order;         /* pod id at its creation: its place in the queue */
    uint32_t members;       /* pods that exist */
    uint32_t assigned;      /* reserved or bound */
    struct pod *waiting, *waiting_last; /* reserved, not permitted yet; by reservation */
    struct sched_class *class;
    struct event_id timeout;
    uint32_t next_free;
};

struct scheduler {
    struct hmap classes;        /* hash -> struct sched_class, chained by same_hash */
    struct sched_class *recent; /* of the last pod: its siblings follow */
    struct sched_class **heap;
    uint32_t n_heap, cap_heap;
    struct hmap buckets;        /* hash -> struct sched_bucket */
    struct sched_bucket *parked;
    struct bucket bind;
    int64_t busy_until_ns;
    struct event_id cycle, wake;
    enum placement_name placement;
};

struct kube {
    struct sim *sim;
    const struct stack *stack;
    struct event_queue *events;
    struct kube_node *nodes;
    struct pod *first, *last;       /* all pods, by creation */
    struct pod *spare, *grave;      /* free; gone in this event */
    struct arena arena;
    unsigned depth;                 /* of telling owners */
    uint32_t next_id;
    struct scheduler sched;
    struct gang *gangs;             /* 0 is none */
    uint32_t n_gangs, cap_gangs, free_gang;
    struct bucket taints;
    struct kube_client evictions;
    int64_t pull_ns;                /* of the scenario's image; 0: none */
    const struct kube_observer *observer;
    struct pod_tally *partial_first, *partial_last;
    uint32_t jobless_made;          /* numbers of pods of no job */
};

static inline int64_t kube_now(const struct kube *k) { return event_clock(k->events); }

/* base x 2^n, at most `most`: the back-offs of kubelet and scheduler. */
static inline int64_t kube_doubled(int64_t base_ns, uint32_t n, int64_t most_ns)
{
    int64_t t = base_ns;
    for (; n && t < most_ns && t > 0; n--) t = t > INT64_MAX / 2 ? INT64_MAX : 2 * t;
    return t < most_ns ? t : most_ns;
}

/* kube.c */
void pod_tell(struct kube *, struct pod *, enum pod_change);
void pod_state(struct kube *, struct pod *, enum pod_state, int64_t b); /* recorded when it is another; b: run/record.h */
void pod_pending(struct kube *, struct pod *);
void pod_gone(struct kube *, struct pod *);
void pod_hold(struct kube *, struct pod *, struct alloc *, enum activity);
void pod_drop(struct kube *, struct pod *); /* gives its shares back and wakes the scheduler */
void pod_enter(struct kube *, struct pod *, enum activity);
void pod_on_node(struct kube *, struct pod *, bool on);
void tally_refused(struct kube *, struct pod *, bool on);

/* scheduler.c */
void sched_init(struct kube *);
void sched_free(struct kube *);
void sched_enqueue(struct kube *, struct pod *);
void sched_forget(struct kube *, struct pod *); /* waiting or reserved: no longer */
void sched_bind(struct kube *, struct pod *);   /* through the binding bucket */
void sched_wake(struct kube *);                 /* capacity may be there */
void sched_activate(struct kube *, struct sched_class *);
void sched_refuse(struct kube *, struct sched_class *, unsigned reason);
void sched_return(struct kube *, struct pod *); /* a reserved pod goes back into its class */
void sched_drop_class(struct kube *, struct sched_class *);

/* gang.c */
struct gang *gang_of(struct kube *, uint32_t id);
void gang_joined(struct kube *, struct pod *);
void gang_left(struct kube *, struct pod *);
bool gang_may_try(struct kube *, const struct pod *);
void gang_reserved(struct kube *, struct pod *);
void gang_refused(struct kube *, uint32_t id);
void gang_unreserve(struct kube *, struct pod *);
uint32_t gang_missing(const struct gang *);

/* puller.c */
void puller_reset(struct kube *, struct puller *);
/* Sets p->pull_at and returns when the image is on the pod's node, as things stand. Pods of one job share a pull. */
int64_t puller_ask(struct kube *, struct pod *);

/* kubelet.c */
void kubelet_pull_until(struct kube *, struct pod *, int64_t t_ns); /* a pod that waits for its image */
void kubelet_bound(struct kube *, struct pod *);
void kubelet_lost(struct kube *, struct pod *);
void kubelet_found(struct kube *, struct pod *);
void kubelet_stop(struct kube *, struct pod *, int64_t grace_ns); /* deletion of a bound pod */

/* node.c */
void node_init(struct kube *);
bool node_evicts(struct kube *, struct pod *); /* a pod that was bound to a node that is going or gone */

#endif
