"""observed.py - what a watch shows of real controllers, as decisions.

    watches = Watches(api, ["workloads", "pods", ...]); ...; watches.stop()
    decisions(watches, begin, ids), pods(watches, begin, ids), environment(watches)

SPDX-License-Identifier: GPL-3.0-or-later
"""
import re
import threading

PATHS = {"workloads": "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads", "jobs": "/apis/batch/v1/namespaces/default/jobs",
         "pods": "/api/v1/namespaces/default/pods", "pytorchjobs": "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs",
         "rayclusters": "/apis/ray.io/v1/namespaces/default/rayclusters", "rayjobs": "/apis/ray.io/v1/namespaces/default/rayjobs"}
EVICTED_WITHOUT_PREEMPTOR = {"ClusterQueueStopped": "ClusterQueueStopped"}


class Watches:
    """Follows some resources from now on; events[resource] are (monotonic time, what, object) as they arrive."""

    def __init__(self, api, resources):
        self.halt = threading.Event()
        self.events = {r: [] for r in resources}
        self.trouble = []
        listed = {r: threading.Event() for r in resources}
        self.threads = [threading.Thread(target=self.follow, args=(api, r, listed[r]), daemon=True) for r in resources]
        for t in self.threads:
            t.start()
        if not all(e.wait(30) for e in listed.values()):
            raise TimeoutError(f"not all of {', '.join(resources)} can be listed; {'; '.join(self.trouble)}")

    def follow(self, api, resource, listed):
        try:
            for event in api.watch(PATHS[resource], self.halt, listed):
                self.events[resource].append(event)
        except Exception as e:
            self.trouble.append(f"watching {resource}: {e!r}")

    def stop(self):
        self.halt.set()
        for t in self.threads:
            t.join()

    def latest(self, resource, name):
        """The newest state of a named object that is there, or None."""
        for _, what, o in reversed(self.events[resource]):
            if o["metadata"]["name"] == name:
                return None if what == "DELETED" else o
        return None


def conditions_of(o):
    return {c["type"]: c for c in o.get("status", {}).get("conditions") or []}


def owner(o):
    return next((r["name"] for r in o["metadata"].get("ownerReferences", [])), "")


def of_workloads(events):
    """Admissions and evictions, in the order of arrival."""
    before, by_uid = {}, {}
    for t, what, o in events:
        job, now = owner(o), conditions_of(o)
        by_uid[o["metadata"]["uid"]] = job
        then = before.get(o["metadata"]["uid"], {})
        for kind in ("Evicted", "QuotaReserved"):
            c, old = now.get(kind), then.get(kind, {})
            if not c or c["status"] != "True":
                continue
            if old.get("status") == "True" and old["lastTransitionTime"] == c["lastTransitionTime"]:
                continue
            if kind == "Evicted":
                yield t, job, "evicted", evicted_by(c, now.get("Preempted"), by_uid)
            else:
                yield t, job, "admitted", flavors(o)
        before[o["metadata"]["uid"]] = now


def flavors(o):
    sets = o["status"].get("admission", {}).get("podSetAssignments", [])
    return " ".join(sorted({f for s in sets for f in s.get("flavors", {}).values()}))


def evicted_by(evicted, preempted, by_uid):
    if evicted["reason"] != "Preempted" or not preempted:
        return EVICTED_WITHOUT_PREEMPTOR.get(evicted["reason"], evicted["reason"])
    uid = re.search(r"\(UID: ([^,)]+)", preempted["message"])
    return f"{preempted['reason']} by {by_uid.get(uid.group(1), '?') if uid else '?'}"


def of_conditions(events, told):
    """Conditions that changed, by object (a RayJob's cluster counts as the job); `told` gives the text of one."""
    before = {}
    for t, what, o in events:
        name, uid = owner(o) or o["metadata"]["name"], o["metadata"]["uid"]
        then, now = before.get(uid, {}), conditions_of(o)
        # In the order in which the controller lists them; what it took away comes last.
        for kind, c in now.items():
            if then.get(kind, {}).get("status") != c["status"] or then[kind].get("reason") != c.get("reason"):
                yield t, name, "condition", told(c)
        for kind in then:
            if kind not in now and what != "DELETED":
                yield t, name, "condition", f"{kind}=removed"
        before[uid] = now


def of_ray_jobs(events):
    before = {}
    for t, what, o in events:
        status = o.get("status", {})
        now = status.get("jobDeploymentStatus", "")
        if now != before.get(o["metadata"]["uid"], ""):
            before[o["metadata"]["uid"]] = now
            yield t, o["metadata"]["name"], "condition", f"JobDeploymentStatus={now} {status.get('reason', '')}"


def plain(c):
    return f"{c['type']}={c['status']}"


def with_reason(c):
    return f"{c['type']}={c['status']} {c.get('reason', '')}"


def decisions(watches, begin, ids):
    """(seconds since begin, job, what, detail), in order; ids: the scenario's names of jobs by those of their objects."""
    e = watches.events
    found = [*of_workloads(e.get("workloads", [])), *of_conditions(e.get("jobs", []), plain),
             *of_conditions(e.get("pytorchjobs", []), plain), *of_conditions(e.get("rayclusters", []), with_reason),
             *of_ray_jobs(e.get("rayjobs", []))]
    return sorted(((t - begin, ids[job], *rest) for t, job, *rest in found), key=lambda d: d[0])


def place_of(o, ids, of_job):
    """(job, role, index) of a pod; KubeRay's and a Job's have no index that counts. `of_job`: the role of a Job's pods."""
    labels = o["metadata"].get("labels", {})
    if "training.kubeflow.org/job-name" in labels:
        return ids[labels["training.kubeflow.org/job-name"]], labels["training.kubeflow.org/replica-type"], int(labels["training.kubeflow.org/replica-index"])
    if "ray.io/node-type" in labels:
        cluster = labels["ray.io/cluster"]
        return ids.get(cluster) or ids[cluster.rsplit("-", 1)[0]], labels["ray.io/node-type"], 0
    return ids[labels["job-name"]], of_job, 0


def mark(o, what):
    """What of a pod's state is no passing one, as simulated.mark says it."""
    status = o.get("status", {})
    containers = status.get("containerStatuses") or []
    if status.get("phase") == "Succeeded":
        return "succeeded"
    if status.get("phase") == "Failed":
        ended = [c["state"]["terminated"]["exitCode"] for c in containers if "terminated" in c.get("state", {})]
        return f"failed {ended[0]}" if ended else "evicted"
    if what == "DELETED":
        return "deleted"
    if conditions_of(o).get("Ready", {}).get("status") == "True":
        return f"ready {sum(c['restartCount'] for c in containers)}"
    return None


def pods(watches, begin, ids):
    """The lives of all pods, as simulated.pods tells them, and when each was created."""
    lives, of_job = {}, "submitter" if "rayjobs" in watches.events else "pod"
    for t, what, o in watches.events["pods"]:
        life = lives.setdefault(o["metadata"]["uid"], (*place_of(o, ids, of_job), [], t - begin))[3]
        m = mark(o, what)
        if m and (not life or life[-1][1] != m):
            life.append((t - begin, m))
    return list(lives.values())


def environment(watches, ids):
    """By pod: (name as `explain --env` says it, what it shows of such a pod). Random letters are written xxxxx, as there."""
    out = {}
    for _, _, o in watches.events["pods"]:
        labels, name = o["metadata"].get("labels", {}), o["metadata"]["name"]
        if "ray.io/node-type" in labels:
            out[name] = ray_pod(o, labels, labels["ray.io/cluster"] not in ids)
        elif "training.kubeflow.org/job-name" in labels:
            out[name] = (name, torch_pod(o))
    return out


def variables(container):
    for v in container.get("env", []):
        field = v.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        yield f"  {v['name']}=" + (f"(field {field})" if field else v.get("value", ""))


def torch_pod(o):
    lines = list(variables(o["spec"]["containers"][0]))
    for c in o["spec"].get("initContainers", []):
        shell, option, script = c["command"]
        lines += [f" init container {c['name']} ({c['image']})", f"  {shell} {option} '{script}'"]
    return "\n".join(lines)


def ray_pod(o, labels, drawn):
    cluster, group = labels["ray.io/cluster"], labels["ray.io/group"]
    told = re.sub(r"-[a-z0-9]{5}$", "-xxxxx", cluster) if drawn else cluster
    c = o["spec"]["containers"][0]
    lines = [*variables(c), " command", f"  {' '.join(c['command'])} '{c['args'][0]}'"]
    for i in o["spec"].get("initContainers", []):
        lines += [f" init container {i['name']}", *variables(i), " command", f"  {i['args'][0]}"]
    name = f"{told}-head" if labels["ray.io/node-type"] == "head" else f"{told}-{group}-worker-xxxxx"
    return name, "\n".join(lines).replace(cluster, told).rstrip()
