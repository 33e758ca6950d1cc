"""actions.py - what a scenario's script does, done to real objects as a kubelet or a user would do it.

    act(api, watches, {"at": 5, "target": "pod/j-worker-0", "action": "container-exit", "code": 1})

SPDX-License-Identifier: GPL-3.0-or-later
"""
import re
from datetime import datetime, timezone

from observed import PATHS

READY = ("Ready", "ContainersReady")


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def pod_conditions(pod, status):
    return [{**c, "status": status, "lastTransitionTime": now()} if c["type"] in READY else c for c in pod["status"].get("conditions", [])]


def containers(pod, state, restarts=0, last=None):
    """The pod's container statuses with another state."""
    running = "running" in state
    out = []
    for c in pod["status"]["containerStatuses"]:
        c = {**c, "state": state, "ready": running, "started": running, "restartCount": c["restartCount"] + restarts}
        out.append({**c, "lastState": last} if last else c)
    return out


def ended(pod, code):
    began = pod["status"].get("startTime", now())
    return {"terminated": {"exitCode": code, "reason": "Error" if code else "Completed", "startedAt": began, "finishedAt": now()}}


def put_status(api, pod, change):
    api.patch(f"{PATHS['pods']}/{pod['metadata']['name']}/status", {"status": change})


def finish(api, pod, code):
    put_status(api, pod, {"phase": "Failed" if code else "Succeeded", "conditions": pod_conditions(pod, "False"),
                          "containerStatuses": containers(pod, ended(pod, code))})


def container_exit(api, pod, a):
    """As the kubelet: restarted in place at once (the first time), or the end of the pod, by its restartPolicy."""
    code = a.get("code", 1)
    if pod["spec"]["restartPolicy"] == "Never" or (pod["spec"]["restartPolicy"] == "OnFailure" and code == 0):
        finish(api, pod, code)
    else:
        put_status(api, pod, {"containerStatuses": containers(pod, {"running": {"startedAt": now()}}, 1, ended(pod, code))})


def evict(api, pod, _):
    put_status(api, pod, {"phase": "Failed", "reason": "Evicted", "message": "played"})


POD = {
    "container-exit": container_exit,
    "pod-failed": lambda api, pod, a: finish(api, pod, a.get("code", 1)),
    "pod-succeeded": lambda api, pod, _: finish(api, pod, 0),
    "pod-evicted": evict,
    "pod-deleted": lambda api, pod, _: api.delete(f"{PATHS['pods']}/{pod['metadata']['name']}"),
}


def suspend(value):
    def change(resource, o, _):
        return {"runPolicy": {"suspend": value}} if resource == "pytorchjobs" else {"suspend": value}
    return change


def scale(resource, o, a):
    if resource == "rayclusters":
        groups = o["spec"]["workerGroupSpecs"]
        return {"workerGroupSpecs": [{**groups[0], "replicas": a["replicas"], "minReplicas": min(a["replicas"], groups[0].get("minReplicas", 0)),
                                      "maxReplicas": max(a["replicas"], groups[0].get("maxReplicas", a["replicas"]))}, *groups[1:]]}
    return {"pytorchReplicaSpecs": {"Worker": {"replicas": a["replicas"]}}}


JOB = {"suspend": suspend(True), "resume": suspend(False), "scale": scale}


def act_on_queue(api, name, a):
    path = f"/apis/kueue.x-k8s.io/v1beta2/clusterqueues/{name}"
    if a["action"] == "hold":
        return api.patch(path, {"spec": {"stopPolicy": ["None", "Hold", "HoldAndDrain"][[0, 1, 2].index(int(a["value"]))]}})
    queue = api.get(path)
    groups = queue["spec"]["resourceGroups"]
    groups[0]["flavors"][0]["resources"][0]["nominalQuota"] = a["value"]
    return api.patch(path, {"spec": {"resourceGroups": groups}})


def act(api, watches, a):
    kind, name = a["target"].split("/", 1)
    if kind == "queue":
        act_on_queue(api, name, a)
    elif kind == "pod":
        pod = watches.latest("pods", live_name(watches, name))
        if pod is None:
            raise LookupError(f"{a['action']} at {a['at']} s: no pod {name}")
        POD[a["action"]](api, pod, a)
    else:
        resource = next(r for r in ("pytorchjobs", "rayjobs", "rayclusters", "jobs") if r in watches.events and watches.latest(r, name))
        if a["action"] == "delete-job":
            api.delete(f"{PATHS[resource]}/{name}")
        else:
            o = watches.latest(resource, name)
            api.patch(f"{PATHS[resource]}/{name}", {"spec": JOB[a["action"]](resource, o, a)})


def live_name(watches, name):
    """KubeRay draws names at random: JOB-ROLE-N of the simulator is the Nth such pod there is, in the order of creation."""
    m = re.fullmatch(r"(.+)-(head|worker|submitter)-(\d+)", name)
    if watches.latest("pods", name) or not m:
        return name
    job, role, number = m.groups()
    there = {}
    for _, what, o in watches.events["pods"]:
        labels = o["metadata"].get("labels", {})
        if what == "DELETED":
            there.pop(o["metadata"]["name"], None)
        elif labels.get("job-name") == job if role == "submitter" else labels.get("ray.io/node-type") == role:
            there[o["metadata"]["name"]] = True
    return list(there)[int(number)] if int(number) < len(there) else name
