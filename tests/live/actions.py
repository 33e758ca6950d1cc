"""actions.py - what a scenario's script does, done to real objects as a kubelet or a user would do it.

    hearts = Heartbeats(api, ["n-0", "n-1"]) if loses_nodes(script) else None; hearts.begin(); ...; hearts.stop()
    act(api, watches, hearts, {"at": 5, "target": "pod/j-worker-0", "action": "container-exit", "code": 1})

SPDX-License-Identifier: GPL-3.0-or-later
"""
import re
import threading
import time
from datetime import datetime, timezone

from cluster import Refused
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


# ---- nodes

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
RENEW_S = 2


def loses_nodes(script):
    return any(a["action"] == "node-lost" for a in script)


class Heartbeats:
    """Renews the leases of nodes, as their kubelets would, from begin() on at whole multiples of RENEW_S; not of those in `lost`."""

    def __init__(self, api, nodes):
        self.api, self.nodes, self.lost = api, nodes, set()
        self.origin, self.halt, self.trouble = time.monotonic(), threading.Event(), []
        for name in nodes:
            api.create(LEASES, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name},
                                "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": self.now()}})
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    @staticmethod
    def now():
        return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def begin(self, at):
        self.origin = at

    def run(self):
        while not self.halt.wait(RENEW_S - (time.monotonic() - self.origin) % RENEW_S):
            for name in self.nodes:
                if name not in self.lost:
                    self.renew(name)

    def renew(self, name):
        try:
            self.api.patch(f"{LEASES}/{name}", {"spec": {"renewTime": self.now()}})
        except (Refused, OSError) as e:
            self.trouble.append(f"renewing the lease of {name}: {e!r}")

    def stop(self):
        self.halt.set()
        self.thread.join()
        for name in self.nodes:
            self.api.delete(f"{LEASES}/{name}")


def pods_on(watches, node):
    names = dict.fromkeys(o["metadata"]["name"] for _, _, o in watches.events["pods"])
    there = [p for p in (watches.latest("pods", n) for n in names) if p]
    return [p for p in there if p["spec"].get("nodeName") == node]


def mark_lost(api, pods, node, value):
    """The annotation by which kwok leaves a node and its pods alone (stages.yaml)."""
    change = {"metadata": {"annotations": {"trainyard/lost": value}}}
    for p in pods:
        api.patch(f"{PATHS['pods']}/{p['metadata']['name']}", change)
    api.patch(f"/api/v1/nodes/{node}", change)


def node_lost(api, watches, hearts, node):
    hearts.lost.add(node)
    mark_lost(api, pods_on(watches, node), node, "")


def node_back(api, watches, hearts, node):
    """The machine is there again, empty: its kubelet lets go what is to go (kwok does), and restarts what ran as its policy says."""
    pods = pods_on(watches, node)
    hearts.lost.discard(node)
    hearts.renew(node)
    mark_lost(api, pods, node, None)
    for p in pods:
        if "deletionTimestamp" not in p["metadata"] and p["status"].get("phase") == "Running":
            put_status(api, p, {"conditions": pod_conditions(p, "True")})
            container_exit(api, p, {"code": 137})


NODE = {"node-lost": node_lost, "node-back": node_back}


def act(api, watches, hearts, a):
    kind, name = a["target"].split("/", 1)
    if kind == "queue":
        act_on_queue(api, name, a)
    elif kind == "node":
        NODE[a["action"]](api, watches, hearts, name)
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
