"""simulated.py - what the simulator decided, read from a run directory (docs/run-format.md).

SPDX-License-Identifier: GPL-3.0-or-later
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "docs"))
import read_run

ADMITTED, EVICTED, CONDITION, POD = 1, 7, 8, 12  # record types
KUBEFLOW = ["Created", "Running", "Restarting", "Succeeded", "Failed", "Suspended"]
BATCH = ["Suspended", "SuccessCriteriaMet", "Complete", "FailureTarget", "Failed"]
RAY_CLUSTER = ["HeadPodReady", "RayClusterProvisioned", "RayClusterSuspended", "RayClusterSuspending"]
RAY_REASON = ["", "Unknown", "HeadPodRunningAndReady", "HeadPodNotFound", "RayClusterPodsProvisioning",
              "AllPodRunningAndReadyFirstTime", "RayClusterSuspended", "RayClusterSuspending"]
RAY_JOB = ["", "Initializing", "Running", "Complete", "Failed", "Retrying", "Suspending", "Suspended", "ValidationFailed"]
RAY_JOB_REASON = ["", "SubmissionFailed", "DeadlineExceeded", "AppFailed", "JobDeploymentStatusTransitionGracePeriodExceeded",
                  "ValidationFailed"]
ROLE = ["master", "worker", "head", "submitter", "pod"]
STATUS = ["False", "True", "removed"]
RULE = {0: "", 1: "InClusterQueue", 2: "InCohortReclamation", 3: "InCohortReclaimWhileBorrowing", 4: "ClusterQueueStopped"}


def condition(number, code, reason):
    """A condition as "Type=status" with the reason where the simulator tells one; None: not of an object."""
    if number < 16:
        return f"{KUBEFLOW[number]}={STATUS[code]}"
    if number < 32:
        return f"{BATCH[number - 16]}={STATUS[code]}"
    if number < 36:
        return f"{RAY_CLUSTER[number - 32]}={['none', 'False', 'True'][code]} {RAY_REASON[reason]}"
    return f"JobDeploymentStatus={RAY_JOB[code]} {RAY_JOB_REASON[reason]}" if number == 36 else None


def jobs_of(run):
    """Ids by number: by submission, those of one moment in the order of the file."""
    listed = [j.get("id") or j["object"] for j in json.loads((run / "scenario.json").read_text())["workload"].get("jobs", [])]
    order = {name: i for i, name in enumerate(listed)}
    return [j["job"] for j in sorted(read_run.rows(run / "jobs.csv"), key=lambda j: (float(j["submit_s"]), order.get(j["job"], 0)))]


def decisions(run, flavors):
    """The decisions in order: (seconds, job, what, detail); flavors by number."""
    jobs, out = jobs_of(run), []
    for t, kind, code, job, subject, a, b in read_run.records(run / "timeline.bin"):
        t /= 1e9
        if kind == ADMITTED:
            out.append((t, jobs[job], "admitted", " ".join(flavors[x - 1] for x in a.to_bytes(8, "little") if x)))
        elif kind == EVICTED:
            out.append((t, jobs[job], "evicted", f"{RULE.get(b, b)} by {jobs[a]}" if b in (1, 2, 3) else RULE.get(b, str(b))))
        elif kind == CONDITION and (text := condition(subject, code, a)):
            out.append((t, jobs[job], "condition", text))
    return out


def mark(state, b):
    """What of a pod's state can be seen from outside and is no passing one."""
    return {6: f"ready {b}", 11: "succeeded", 12: f"failed {b}", 13: "evicted", 14: "deleted"}.get(state)


def pods(run):
    """The lives of all pods: (job, role, index, [(seconds, mark)]), in the order of creation."""
    jobs, lives = jobs_of(run), {}
    for t, kind, code, job, subject, a, b in read_run.records(run / "timeline.bin"):
        if kind != POD:
            continue
        for n in range(subject, subject + a):
            life = lives.setdefault((job, n), (jobs[job], ROLE[code >> 8], n + b if code & 255 == 0 else 0, []))
            if (m := mark(code & 255, b)):
                life[3].append((t / 1e9, m))
    return list(lives.values())


def flavors(scenario):
    """Names by number: flavors in the order in which queues and manifests name them first."""
    names = [o["metadata"]["name"] for o in scenario.get("objects", []) if o["kind"] == "ResourceFlavor"]
    for owner in scenario.get("cohorts", []) + scenario.get("queues", []):
        names += [f for f in owner.get("quota", {}) if f not in names]
    return names
