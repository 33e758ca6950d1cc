"""manifests.py - the objects that a resolved scenario stands for, and when jobs are created.

    for o in setup(scenario): ...
    for at_s, o in jobs(scenario): ...

Objects that the scenario gives as manifests are taken as they are; short forms of queues become Kueue's objects, jobs of kind Job
batch/v1 Jobs whose pods carry their work as the annotation trainyard/duration, which stages.yaml plays.

SPDX-License-Identifier: GPL-3.0-or-later
"""
KUEUE = "kueue.x-k8s.io/v1beta2"
GPU = "nvidia.com/gpu"
NAMESPACE = "default"
PLURAL = {"Job": "jobs", "PyTorchJob": "pytorchjobs", "RayCluster": "rayclusters", "RayJob": "rayjobs", "Node": "nodes",
          "ResourceFlavor": "resourceflavors", "Cohort": "cohorts", "ClusterQueue": "clusterqueues", "LocalQueue": "localqueues",
          "WorkloadPriorityClass": "workloadpriorityclasses", "PriorityClass": "priorityclasses"}
WITHOUT_NAMESPACE = {"Node", "ResourceFlavor", "Cohort", "ClusterQueue", "WorkloadPriorityClass", "PriorityClass"}


def path_of(o):
    """Where objects of this kind are created."""
    version = o["apiVersion"]
    base = "/api/" if "/" not in version else "/apis/"
    space = "" if o["kind"] in WITHOUT_NAMESPACE else f"/namespaces/{o['metadata'].get('namespace', NAMESPACE)}"
    return f"{base}{version}{space}/{PLURAL[o['kind']]}"


def made(version, kind, name, spec=None, **rest):
    o = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **rest}
    return o if spec is None else {**o, "spec": spec}


def nodes(scenario):
    for g in scenario["cluster"]["nodes"]:
        room = {GPU: str(g.get("gpus", 0)), "cpu": str(g.get("cpu", 1000)), "memory": str(g.get("memory", "10Ti")), "pods": "1000"}
        for i in range(g["count"]):
            n = made("v1", "Node", f"{g['group']}-{i}", {"taints": g.get("taints", [])}, status={"capacity": room, "allocatable": room})
            n["metadata"]["labels"] = {"kubernetes.io/hostname": f"{g['group']}-{i}", "trainyard/group": g["group"], **g.get("labels", {})}
            yield n


def resources(owner):
    """The resource group of a queue or cohort in short form, as Kueue writes it."""
    groups = []
    for flavor, amounts in owner.get("quota", {}).items():
        lines = []
        for resource, nominal in amounts.items():
            line = {"name": resource, "nominalQuota": nominal}
            for key, name in (("borrowing", "borrowingLimit"), ("lending", "lendingLimit")):
                limit = owner.get(key, {}).get(flavor, {})
                if resource in limit:
                    line[name] = limit[resource]
            lines.append(line)
        groups.append({"name": flavor, "resources": lines})
    covered = [line["name"] for line in groups[0]["resources"]] if groups else []
    return [{"coveredResources": covered, "flavors": groups}] if groups else []


def fungibility(f):
    """In the words of v1beta2, which allows a preference only where both searches go on."""
    f = {k: {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}.get(v, v) for k, v in f.items()}
    if f["whenCanBorrow"] != "TryNextFlavor" or f["whenCanPreempt"] != "TryNextFlavor":
        del f["preference"]
    return f


def queue_objects(scenario):
    flavors = {f for q in scenario.get("queues", []) + scenario.get("cohorts", []) for f in q.get("quota", {})}
    for f in sorted(flavors):
        yield made(KUEUE, "ResourceFlavor", f, {"nodeLabels": {"trainyard/group": f}})
    for c in scenario.get("cohorts", []):
        spec = {"resourceGroups": resources(c)}
        if "parent" in c:
            spec["parentName"] = c["parent"]
        yield made(KUEUE, "Cohort", c["name"], spec)
    for q in scenario.get("queues", []):
        spec = {"namespaceSelector": {}, "resourceGroups": resources(q), "queueingStrategy": q["strategy"], "stopPolicy": q["stopPolicy"],
                "preemption": q["preemption"], "flavorFungibility": fungibility(q["flavorFungibility"])}
        if "cohort" in q:
            spec["cohortName"] = q["cohort"]
        yield made(KUEUE, "ClusterQueue", q["name"], spec)
        yield made(KUEUE, "LocalQueue", q["name"], {"clusterQueue": q["name"]})


def batch_job(j):
    need = {GPU: str(j.get("gpus", 1))}
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "played", "resources": {"requests": need, "limits": need}}]}
    if "gpu" in j:
        pod["nodeSelector"] = {"trainyard/group": j["gpu"]}
    template = {"metadata": {"annotations": {"trainyard/duration": f"{j['duration']}s"}}, "spec": pod}
    o = made("batch/v1", "Job", j["id"], {"parallelism": j["replicas"], "completions": j["replicas"], "completionMode": "Indexed",
                                          "backoffLimit": 0, "suspend": True, "template": template})
    o["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": j["queue"], "kueue.x-k8s.io/priority-class": f"priority-{j.get('priority', 0)}"}
    return o


def setup(scenario):
    """What is there before the first job: nodes apart, in the order of creation."""
    for p in sorted({j.get("priority", 0) for j in written_jobs(scenario)}):
        yield made(KUEUE, "WorkloadPriorityClass", f"priority-{p}", value=p)
    yield from queue_objects(scenario)
    yield from (o for o in scenario.get("objects", []) if not is_job(o))


def jobs(scenario):
    """(seconds, object) of each job, in the order of submission."""
    timed = [(float(j["submit"]), batch_job(j)) for j in written_jobs(scenario)]
    timed += [(seconds(o["metadata"].get("annotations", {}).get("trainyard/submit", "0s")), o) for o in scenario.get("objects", []) if is_job(o)]
    return sorted(timed, key=lambda x: x[0])


def written_jobs(scenario):
    return [j for j in scenario["workload"].get("jobs", []) if "object" not in j]


def is_job(o):
    return o["kind"] in ("Job", "PyTorchJob", "RayCluster", "RayJob")


def seconds(text):
    """Of an annotation: plain seconds, with or without the unit."""
    return float(text.removesuffix("s"))
