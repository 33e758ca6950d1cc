#!/usr/bin/env python3
"""play.py - plays scenarios against real controllers, and compares what these decide with what the simulator says.

    tests/live/play.py --stack DIR [--trainyard BIN] [--keep DIR] [--approach NAME] SCENARIO.json ...

DIR is a stack that stack.sh started with kwok and the controllers that the scenarios need. Each scenario, under each of its
approaches and up to its horizon, is run by the simulator; then its nodes, queues and jobs are created as real objects at the scenario's times, its script is
done as a kubelet or a user would, and until the horizon watches note what the controllers do. Scale of time and of size: 1.

Compared, as far as either side has it: admissions with flavors and evictions with reason and preemptor, in order (those closer
than TIE_S may be swapped: Kueue sends them from several goroutines); the conditions of each job, in order; what becomes of each
pod: ready, how often its container was restarted, how it ended, whether it was made anew; the environment of each pod, byte for byte, with `trainyard explain --env`. A line a scenario; ends with 0, or 1 when one differs.
--keep leaves each scenario's run and both sides' decisions there.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import zip_longest
from pathlib import Path

import actions
import manifests
import observed
import simulated
from cluster import Cluster, Refused

TIE_S = 0.5   # as the recordings of Kueue are compared
WAITED_S = 1.0
EDGE_S = 1.0  # what happens so close to the horizon may be seen on one side only


# ---- the real side

def resources_of(m):
    """What is watched: the kinds of the scenario, and what their controllers make."""
    kinds = {manifests.plural(o["kind"]) for _, o in m.jobs}
    if has_queues(m):
        kinds.add("workloads")
    if "rayjobs" in kinds:
        kinds.add("rayclusters")
    return kinds | {"pods"}


def has_queues(m):
    return any(o["kind"] == "ClusterQueue" for o in m.setup)


def play(api, scenario, m):
    """Creates what the scenario has and does its script, at its times; (watches, time 0)."""
    for o in [*m.nodes, *m.setup]:
        api.create(manifests.path_of(o), o)
    script = scenario["faults"].get("script", [])
    hearts = actions.Heartbeats(api, [n["metadata"]["name"] for n in m.nodes]) if actions.loses_nodes(script) else None
    try:
        return play_on(api, scenario, m, script, hearts)
    finally:
        if hearts:
            hearts.stop()


def play_on(api, scenario, m, script, hearts):
    """The same with nodes that are there."""
    for n in m.nodes:
        wait_until(lambda: ready(api.get(f"/api/v1/nodes/{n['metadata']['name']}")), "a node to be ready")
    for o in m.setup:
        if o["kind"] == "ClusterQueue":
            wait_until(lambda: active(api.get(f"{manifests.path_of(o)}/{o['metadata']['name']}")), "a queue to be active")
    watches = observed.Watches(api, resources_of(m))
    todo = [(t, lambda o=o: api.create(manifests.path_of(o), o)) for t, o in m.jobs]
    todo += [(a["at"], lambda a=a: actions.act(api, watches, hearts, a)) for a in script]
    begin = time.monotonic()
    if hearts:
        hearts.begin(begin)
    for t, do in sorted(todo, key=lambda x: x[0]):
        time.sleep(max(0, begin + t - time.monotonic()))
        do()
    time.sleep(max(0, begin + scenario["run"]["horizon"] - time.monotonic()))
    watches.stop()
    trouble = watches.trouble + (hearts.trouble if hearts else [])
    if trouble:
        raise RuntimeError("; ".join(trouble))
    return watches, begin


def ready(node):
    return not node["spec"].get("taints", []) and any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))


def active(queue):
    """A queue on hold is inactive, and known as such."""
    c = observed.conditions_of(queue).get("Active")
    return c is not None and (c["status"] == "True" or queue["spec"].get("stopPolicy", "None") != "None")


def wait_until(done, what, limit_s=30):
    until = time.monotonic() + limit_s
    while not done():
        if time.monotonic() > until:
            raise TimeoutError(f"waited {limit_s} s for {what}")
        time.sleep(0.1)


def clear(api, m):
    """Takes away what was created, and waits until it is gone."""
    paths = [f"{manifests.path_of(o)}/{o['metadata']['name']}" for _, o in m.jobs]
    setup = [f"{manifests.path_of(o)}/{o['metadata']['name']}" for o in [*m.nodes, *m.setup]]
    for group in (paths, setup[::-1]):
        for path in group:
            try:
                api.delete(path, apiVersion="v1", kind="DeleteOptions", propagationPolicy="Background")
            except Refused as e:
                if e.code != 404:
                    raise
        for path in group:
            wait_until(lambda: gone(api, path), f"{path} to go")
        if group is paths:
            wait_until(lambda: not api.get(observed.PATHS["pods"])["items"], "pods to go")


def gone(api, path):
    try:
        api.get(path)
        return False
    except Refused as e:
        return e.code == 404


# ---- comparison

def text_of(d):
    return f"{d[0]:.2f} s {d[1]} {d[2]} {d[3]}".rstrip() if d else "nothing"


def compare_order(sim, live, until):
    """Decisions about admission: the same ones, and none swapped that are further apart than a tie on both sides."""
    def numbered(ds):
        seen, out = {}, []
        for t, job, what, detail in ds:
            n = seen[job, what] = seen.get((job, what), 0) + 1
            out.append(((job, what, n), t, detail))
        return out
    sim, live = numbered(sim), numbered(live)
    sim_at, live_at = {k: (t, d) for k, t, d in sim}, {k: (t, d) for k, t, d in live}
    for mine, other, where in ((sim, live_at, "simulated only"), (live, sim_at, "real only")):
        for key, t, detail in mine:
            if t < until - EDGE_S and key not in other:
                yield f"{where}: {t:.2f} s {key[0]} {key[1]} {detail}"
    both = [k for k, _, _ in live if k in sim_at]
    for k in both:
        if sim_at[k][1] != live_at[k][1]:
            yield f"{k[0]} {k[1]}: simulated {sim_at[k][1]}, real {live_at[k][1]}"
    for i, a in enumerate(both):
        for b in both[i + 1:]:
            if live_at[b][0] - live_at[a][0] > TIE_S and sim_at[a][0] - sim_at[b][0] > 0:
                yield f"swapped: real {a[0]} {a[1]} before {b[0]} {b[1]}, simulated after"


# What a watch may miss: the training operator's next write sometimes hides a restart (3 of 19 recorded), and a Job that its queue lets
# go at once was never seen suspended by its controller (1 of 130).
PASSING = [["Restarting=True", "Running=removed", "Running=True", "Restarting=removed"], ["Suspended=True", "Suspended=False"]]


def without(texts, passing, n):
    """Without the first n of what is passing."""
    i = 0
    while n > 0 and i < len(texts):
        if texts[i:i + len(passing)] == passing:
            texts, n = texts[:i] + texts[i + len(passing):], n - 1
        else:
            i += 1
    return texts


def settled(texts):
    """Of a head that is not ready, the last reason: those before last until KubeRay's cache has seen the pod go and come."""
    absent = "HeadPodReady=False"
    return [x for x, after in zip(texts, texts[1:] + [""]) if not (x.startswith(absent) and after.startswith(absent))]


def compare_conditions(sim, live, until):
    """The conditions of each job, in order; a RayJob's own status apart from its cluster's conditions."""
    def stream(d):
        return d[1], d[3].startswith("JobDeploymentStatus")
    for of in sorted({stream(d) for d in sim + live}):
        mine, other = ([d[3] for d in ds if stream(d) == of and d[0] < until - EDGE_S] for ds in (sim, live))
        mine, other = settled(mine), settled(other)
        for passing in PASSING:
            more = mine.count(passing[0]) - other.count(passing[0])
            mine, other = without(mine, passing, more), without(other, passing, -more)
        for i, (a, b) in enumerate(zip_longest(mine, other, fillvalue="nothing")):
            if a != b:
                yield f"{of[0]}, condition {i + 1}: simulated {a}, real {b}; simulated {mine}, real {other}"
                break


def compare_pods(sim, live, until, named):
    """What became of the pods of each role, and where workers have names that last, of each of these."""
    def lives(side):
        out = {}
        for job, role, index, life, *_ in side:
            marks = ", ".join(m for t, m in life if t < until - EDGE_S)
            out.setdefault((job, role, index if role == "master" or (role == "worker" and named) else 0), []).append(marks)
        return {k: sorted(x for x in v if x) for k, v in out.items()}
    mine, other = lives(sim), lives(live)
    for place in sorted(mine.keys() | other.keys()):
        if mine.get(place, []) != other.get(place, []):
            yield f"pods {place}: simulated {mine.get(place)}, real {other.get(place)}"


def made_too_late(pods, live):
    """Pods made after their job had failed: the training operator does so when its cache has not got its own last write yet, more
    often than not on a busy machine (4 of 7 with a limit of 0)."""
    failed = {d[1]: d[0] for d in live if d[3] == "Failed=True"}
    return [p for p in pods if p[4] > failed.get(p[0], float("inf"))]


def told_environment(trainyard, run, job):
    """What `explain --env` says of a job's pods, by name; nothing where the kind has none."""
    told = subprocess.run([trainyard, "explain", "--env", run, job], capture_output=True, text=True)
    blocks = re.split(r"^pod (\S+).*\n", told.stdout, flags=re.MULTILINE)[1:] if told.returncode == 0 else []
    return {name: text.rstrip() for name, text in zip(blocks[::2], blocks[1::2])}


def compare_environment(told, live):
    for pod, (name, text) in sorted(live.items()):
        if name not in told:
            yield f"environment of {pod}: explain --env has no such pod"
        elif told[name] != text:
            a, b = next((a, b) for a, b in zip_longest(told[name].split("\n"), text.split("\n"), fillvalue="nothing") if a != b)
            yield f"environment of {pod}: simulated {a!r}, real {b!r}"


def admission_times(sim, live, submitted):
    """(simulated, real) seconds from submission to each admission that both sides have."""
    at = {}
    for t, job, what, _ in sim:
        if what == "admitted":
            at.setdefault(job, []).append(t)
    return [(at[job].pop(0) - submitted[job], t - submitted[job]) for t, job, what, _ in live if what == "admitted" and at.get(job)]


def error_in_words(times):
    """Median error of simulated times to admission; relative of those that waited, since the rest takes tenths of a second."""
    waited = [abs(a - b) / b for a, b in times if max(a, b) > WAITED_S]
    words = f"admission within {statistics.median(abs(a - b) for a, b in times):.2f} s (median of {len(times)})"
    return words + (f", after waits within {100 * statistics.median(waited):.0f} % (of {len(waited)})" if waited else "")


def one(api, options, path, approach):
    """Plays a scenario under an approach; the differences, a summary, and times to admission."""
    run = options.keep / f"{path.stem}-{approach}"
    shutil.rmtree(run, ignore_errors=True)
    subprocess.run([options.trainyard, "run", path, "--approach", approach, "-o", run, "--record", "full"], check=True, stdout=subprocess.DEVNULL)
    scenario = json.loads((run / "scenario.json").read_text())
    m = manifests.Manifests(options.trainyard, options.stack / "kubectl", path, approach, run / "manifests")
    try:
        watches, begin = play(api, scenario, m)
    finally:
        clear(api, m)
    (run / "events.json").write_text(json.dumps({r: [(t - begin, what, o) for t, what, o in e] for r, e in watches.events.items()}))
    until = scenario["run"]["horizon"]
    sim, live = simulated.decisions(run, simulated.flavors(scenario)), observed.decisions(watches, begin, m.id)
    (run / "decisions.json").write_text(json.dumps({"simulated": sim, "real": live}, indent=0))
    def about(ds, condition):
        return [d for d in ds if (d[2] == "condition") == condition]
    wrong = list(compare_order(about(sim, False), about(live, False), until)) if has_queues(m) else []
    wrong += compare_conditions(about(sim, True), about(live, True), until)
    simulated_pods, real_pods = simulated.pods(run), observed.pods(watches, begin, m.id)
    late = made_too_late(real_pods, live)
    wrong += compare_pods(simulated_pods, [p for p in real_pods if p not in late], until, any(o["kind"] == "PyTorchJob" for _, o in m.jobs))
    environments = observed.environment(watches, m.id)
    told = {k: v for job in m.id.values() for k, v in told_environment(options.trainyard, run, job).items()}
    wrong += compare_environment(told, environments)
    n = {what: sum(d[2] == what for d in live) for what in ("admitted", "evicted", "condition")}
    summary = f"{n['admitted']} admissions, {n['evicted']} evictions, {n['condition']} conditions, {len(real_pods)} pods, {len(environments)} environments"
    if late:
        summary += f"; {len(late)} pod made after its job had failed"
    times = admission_times(sim, live, {m.id[o["metadata"]["name"]]: t for t, o in m.jobs}) if has_queues(m) else []
    return wrong, f"{summary}; {error_in_words(times)}" if times else summary, times


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--stack", type=Path, required=True)
    p.add_argument("--trainyard", default="bin/trainyard")
    p.add_argument("--keep", type=Path)
    p.add_argument("--approach", help="only this one")
    p.add_argument("scenarios", type=Path, nargs="+")
    options = p.parse_args()
    scratch = None if options.keep else tempfile.TemporaryDirectory()
    options.keep = options.keep or Path(scratch.name)
    options.keep.mkdir(exist_ok=True)
    api = Cluster(options.stack / "admin.kubeconfig")
    failed, all_times = 0, []
    plays = ((p, a) for p in options.scenarios for a in json.loads(p.read_text())["approaches"])
    for path, approach in ((p, a) for p, a in plays if options.approach in (None, a)):
        try:
            wrong, told, times = one(api, options, path, approach)
            all_times += times
        except (Refused, OSError, LookupError, RuntimeError, subprocess.SubprocessError) as e:
            wrong, told = [repr(e)], "could not be played"
        print("DIFFERS" if wrong else "ok", f"{path.parent.name}/{path.stem} {approach}: {told}", flush=True)
        for w in wrong:
            print(f"    {w}", flush=True)
        failed += bool(wrong)
    if all_times:
        print(error_in_words(all_times), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
