/* stack.h - the constants of the stacks: rates, periods, time-outs, back-offs of the real controllers.
 *
 * One table row each: field, name in files, unit, default, source. A profile in scenarios/profiles/stacks/NAME.json and
 * the scenario's "stack" object override by name; `trainyard profiles` lists them. A test perturbs each and demands
 * another fingerprint from some scenario, so a constant that nobody reads cannot stay.
 *
 * Types: TIME_ fields are ns (unit strings in files), RATE_ fields are per 1,000 s (milli-QPS; numbers in files are per
 * second), COUNT_ fields are plain integers, SWITCH_ fields are 0/1 (booleans in files).
 * Sources: TO training-operator 1.9.3, KQ Kueue 0.17/0.18, KR KubeRay 1.6, RAY, TORCH, K8S 1.35: see docs/models.md;
 * `rec` means measured from a recording of the real controller.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TRAINYARD_INPUT_STACK_H
#define TRAINYARD_INPUT_STACK_H

#include <stddef.h>
#include <stdint.h>

enum constant_type { CONST_TIME, CONST_RATE, CONST_COUNT, CONST_SWITCH };

/* X(field, "name", type, default as text, "source") */
#define STACK_CONSTANTS(X)                                                                                             \
    /* training operator v1 */                                                                                         \
    X(to_qps, "training-operator.qps", CONST_RATE, "20", "controller-runtime GetConfig")                               \
    X(to_burst, "training-operator.burst", CONST_COUNT, "30", "controller-runtime GetConfig")                          \
    X(to_workers, "training-operator.workers", CONST_COUNT, "1", "TO --controller-threads")                            \
    X(to_event_burst, "training-operator.event-burst", CONST_COUNT, "25", "client-go spam filter; rec rates/")         \
    X(to_call, "training-operator.api-call", CONST_TIME, "12ms", "rec rates/: create latency")                         \
    X(to_reconcile, "training-operator.reconcile", CONST_TIME, "5ms", "rec conditions/")                               \
    X(to_resync, "training-operator.resync", CONST_TIME, "10h", "controller-runtime SyncPeriod")                       \
    X(to_init_retry, "training-operator.init-retry", CONST_TIME, "2s", "TO pkg/config/config.go")                      \
    X(to_init_tries, "training-operator.init-tries", CONST_COUNT, "100", "TO pkg/config/config.go")                    \
    /* batch/v1 Job in kube-controller-manager */                                                                      \
    X(kcm_qps, "controller-manager.qps", CONST_RATE, "20", "K8S SetDefaults_KubeControllerManagerConfiguration")       \
    X(kcm_burst, "controller-manager.burst", CONST_COUNT, "30", "K8S same")                                            \
    X(kcm_event_burst, "controller-manager.event-burst", CONST_COUNT, "25", "client-go spam filter; rec rates/")       \
    X(kcm_call, "controller-manager.api-call", CONST_TIME, "12ms", "rec rates/: create latency")                       \
    X(job_workers, "job.workers", CONST_COUNT, "5", "K8S ConcurrentJobSyncs")                                          \
    X(job_backoff, "job.backoff", CONST_TIME, "10s", "K8S pkg/controller/job")                                         \
    X(job_sync, "job.sync-batch", CONST_TIME, "1s", "K8S syncJobBatchPeriod; rec kuberay/rayjob-submitter-fails")     \
    X(job_backoff_max, "job.backoff-max", CONST_TIME, "10m", "K8S pkg/controller/job")                                 \
    /* kube-scheduler */                                                                                               \
    X(sched_qps, "scheduler.qps", CONST_RATE, "50", "K8S scheduler SetDefaults")                                       \
    X(sched_burst, "scheduler.burst", CONST_COUNT, "100", "K8S same")                                                  \
    X(sched_cycle, "scheduler.cycle", CONST_TIME, "1500us", "K8S scheduler_perf 680 pods/s")                           \
    X(sched_backoff, "scheduler.backoff", CONST_TIME, "1s", "K8S podInitialBackoffSeconds")                            \
    X(sched_backoff_max, "scheduler.backoff-max", CONST_TIME, "10s", "K8S podMaxBackoffSeconds")                       \
    X(sched_flush, "scheduler.flush", CONST_TIME, "5m", "K8S unschedulable flush")                                     \
    X(permit_wait, "coscheduling.permit-wait", CONST_TIME, "60s", "scheduler-plugins defaults.go")                     \
    X(permit_reject_pct, "coscheduling.reject-percent", CONST_COUNT, "10", "scheduler-plugins defaults.go")            \
    /* kubelet and node life cycle */                                                                                  \
    X(pod_start, "kubelet.container-start", CONST_TIME, "1s", "kops p50 1.86 s at 5k nodes less scheduling")           \
    X(crash_backoff, "kubelet.crash-backoff", CONST_TIME, "10s", "K8S kubelet")                                        \
    X(crash_backoff_max, "kubelet.crash-backoff-max", CONST_TIME, "300s", "K8S kubelet")                               \
    X(crash_reset, "kubelet.crash-reset", CONST_TIME, "10m", "K8S kubelet")                                            \
    X(pod_delete, "kubelet.pod-delete", CONST_TIME, "1s", "K8S: container stops at once on SIGTERM; rec kwok 0.3 s")   \
    X(node_grace, "node.monitor-grace", CONST_TIME, "50s", "K8S >= 1.32; 40 s before")                                 \
    X(node_lease, "node.lease-renew", CONST_TIME, "10s", "K8S kubelet: a quarter of the 40 s lease")                      \
    X(node_monitor, "node.monitor-period", CONST_TIME, "5s", "K8S nodelifecycle")                                      \
    X(node_toleration, "node.toleration", CONST_TIME, "300s", "K8S defaulttolerationseconds")                          \
    X(node_taint_rate, "node.taint-rate", CONST_RATE, "0.1", "K8S node-eviction-rate; rec nodeloss/")                  \
    /* torchrun and NCCL */                                                                                            \
    X(rdzv_time, "torchrun.rendezvous", CONST_TIME, "1s", "TORCH static store handshake")                              \
    X(rdzv_last_call, "torchrun.last-call", CONST_TIME, "30s", "TORCH dynamic_rendezvous")                             \
    X(rdzv_join, "torchrun.join-timeout", CONST_TIME, "600s", "TORCH dynamic_rendezvous")                              \
    X(rdzv_monitor, "torchrun.monitor", CONST_TIME, "100ms", "TORCH run.py")                                           \
    X(rdzv_worker, "torchrun.worker-start", CONST_TIME, "0s", "an elastic group's processes, once agents have met again (the first: kubelet.container-start): of the machine and what is imported") \
    X(nccl_timeout, "nccl.timeout", CONST_TIME, "600s", "TORCH ProcessGroupNCCL.hpp (1800 s before 2.2)")              \
    X(ib_timeout, "nccl.ib-timeout", CONST_TIME, "30s", "NCCL_IB_TIMEOUT 20, RETRY_CNT 7: 4.096 us x 2^20 x 7")         \
    X(nccl_reset, "nccl.reset-detect", CONST_TIME, "1s", "TCP reset of a crashed peer")                                \
    /* Kueue */                                                                                                        \
    X(kq_create, "kueue.workload-create", CONST_TIME, "60ms", "rec kueue/: job created to Workload evaluated")          \
    X(kq_cycle, "kueue.cycle", CONST_TIME, "10ms", "rec case 3: a pass that writes nothing")                           \
    X(kq_admission, "kueue.admission", CONST_TIME, "10600us", "rec drain-qps1000: 94/s")                               \
    X(kq_eviction, "kueue.eviction", CONST_TIME, "20ms", "rec measure.json")                                           \
    X(kq_message, "kueue.message", CONST_TIME, "20ms", "rec case 3: 100 new messages in 3.1 s")                        \
    X(kq_reserve, "kueue.reserve", CONST_TIME, "30ms", "rec kueue/: decision to unsuspended job")                      \
    X(kq_release, "kueue.release", CONST_TIME, "140ms", "nothing active to quota free; rec 175 ms from eviction")      \
    X(kq_finish, "kueue.finish", CONST_TIME, "30ms", "rec measure.json: job complete to Workload Finished")            \
    X(kq_batch, "kueue.requeue-batch", CONST_TIME, "1s", "KQ inadmissible_workloads.go")                               \
    X(kq_qps, "kueue.qps", CONST_RATE, "50", "rec: shipped configuration")                                             \
    X(kq_burst, "kueue.burst", CONST_COUNT, "100", "rec: shipped configuration")                                       \
    X(kq_hashing, "kueue.equivalence-hashing", CONST_SWITCH, "false", "KQ: on since 0.18")                             \
    X(kq_priority_sorting, "kueue.priority-sorting-within-cohort", CONST_SWITCH, "true", "KQ feature gate")            \
    /* KubeRay and Ray */                                                                                              \
    X(kr_create, "kuberay.create", CONST_TIME, "28ms", "rec rates/: one pod at a time")                                \
    X(kr_requeue, "kuberay.requeue", CONST_TIME, "2s", "KR raycluster_controller.go")                                  \
    X(kr_job_requeue, "kuberay.job-requeue", CONST_TIME, "3s", "KR rayjob_controller.go")                              \
    X(kr_probe_initial, "kuberay.readiness-initial", CONST_TIME, "10s", "KR utils/constant.go")                        \
    X(kr_probe_period, "kuberay.readiness-period", CONST_TIME, "5s", "KR utils/constant.go")                           \
    X(kr_gcs_poll, "kuberay.wait-gcs-poll", CONST_TIME, "5s", "KR common/pod.go")                                      \
    X(kr_submitter_backoff, "kuberay.submitter-backoff-limit", CONST_COUNT, "2", "KR submitter Job")                   \
    X(kr_submitter_grace, "kuberay.submitter-grace", CONST_TIME, "62s", "rec: nominal 30 s took 62 s")                 \
    X(kr_qps, "kuberay.qps", CONST_RATE, "100", "KR ray-operator/apis/config/v1alpha1/defaults.go")                    \
    X(kr_burst, "kuberay.burst", CONST_COUNT, "200", "KR same")                                                        \
    X(kr_cache_lag, "kuberay.cache-lag", CONST_TIME, "10ms", "rec kuberay/; 0.3 s and more on a loaded host")          \
    X(kr_dashboard, "kuberay.dashboard-reachable", CONST_SWITCH, "true", "false: rec kuberay/rayjob-*, no Ray inside") \
    X(kr_head_loss, "kuberay.notices-head-loss", CONST_SWITCH, "true", "KR >= 1.5; false: kuberay#2161")               \
    X(kr_submitter_exit, "kuberay.submitter-exit-on-head-loss", CONST_COUNT, "1", "either way is legal: case 23")      \
    X(ray_start, "ray.start", CONST_TIME, "3s", "RAY ray start until GCS or raylet answers; an estimate")              \
    X(ray_health_detect, "ray.health-detect", CONST_TIME, "15s", "RAY 5 misses x 3 s (refused)")                       \
    X(ray_health_dropped, "ray.health-detect-dropped", CONST_TIME, "65s", "RAY 5 misses x (3 s + 10 s), packets lost") \
    X(ray_gcs_reconnect, "ray.gcs-reconnect", CONST_TIME, "600s", "KR sets; Ray default 60 s")                         \
    X(ray_gcs_reconnect_plain, "ray.gcs-reconnect-plain", CONST_TIME, "60s", "RAY default, without fault tolerance")   \
    X(ray_driver, "ray.driver-start", CONST_TIME, "0s", "a job's program until it asks for workers: of the machine and what is imported")    \
    X(ray_pg, "ray.placement-group", CONST_TIME, "55ms", "RAY many_pgs 18/s")                                          \
    X(ray_pg_retry, "ray.pg-retry", CONST_TIME, "1s", "RAY 100 ms to 1 s")                                             \
    X(ray_actor_rate, "ray.actors", CONST_RATE, "550", "RAY many_actors")                                              \
    X(ray_start_timeout, "ray-train.start-timeout", CONST_TIME, "60s", "RAY PR 60376; 30 s before 2026-01")            \
    X(ray_worker, "ray-train.worker-start", CONST_TIME, "0s", "processes of a group until they train: of the machine and what is imported") \
    X(ray_poll, "ray-train.poll", CONST_TIME, "2s", "RAY train/v2 constants.py")                                       \
    X(ray_hang, "ray-train.worker-hang", CONST_TIME, "600s", "RAY train/v2 constants.py")                              \
    X(ray_resize, "ray-train.resize-check", CONST_TIME, "60s", "RAY train/v2 constants.py")                            \
    X(ray_look, "ray-train.node-look", CONST_TIME, "20s", "RAY data/_internal/cluster_autoscaler/default_autoscaling_coordinator.py") \
    X(ray_as_loop, "ray-autoscaler.loop", CONST_TIME, "5s", "RAY _private/constants.py")                               \
    X(ray_as_idle, "ray-autoscaler.idle", CONST_TIME, "60s", "KR raycluster_types.go")                                 \
    X(ray_as_batch, "ray-autoscaler.batch", CONST_COUNT, "5", "RAY _private/constants.py")

#define X_FIELD(field, ...) int64_t field;
struct stack { STACK_CONSTANTS(X_FIELD) };
#undef X_FIELD

struct stack_constant {
    const char *name, *fallback, *source;
    enum constant_type type;
    size_t offset; /* of the int64_t in struct stack */
};
size_t stack_constant_count(void);
const struct stack_constant *stack_constant_at(size_t);
int stack_constant_find(const char *name); /* -1: none */
/* Sets one constant from text; NULL on success, else what is wrong (static text). */
const char *stack_set(struct stack *, size_t index, const char *text);
int64_t stack_get(const struct stack *, size_t index);
void stack_put(struct stack *, size_t index, int64_t value);
void stack_defaults(struct stack *);
/* The value as stack_set takes it ("0.025", "20", "true"), in the arena. */
struct arena;
const char *stack_text(struct arena *, const struct stack *, size_t index);

#endif
