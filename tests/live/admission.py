#!/usr/bin/env python3
"""admission.py - how long real Kueue takes to admit, and how well the simulator tells it after a calibration.

    tests/live/admission.py [--trainyard BIN] [--keep DIR] [--repeats N] [--until SECONDS] [--strict] [SCENARIO.json ...]

Plays scenarios (default: tests/live/kueue) by `trainyard run --on kubernetes` on a stack of its own, each under all of its approaches.
Every other scenario, in order of name, is for `trainyard calibrate`; the rest is held out: simulated once with the calibrated
constants, and compared. All are played N times (3), in passes. Time to admission, on both sides: the job's object is there (the moment of the answer to its
creation, or of its first event, whichever comes first) until its workload is Admitted; of a job that was evicted, from then on. Live moments are those at
which the client has the event, a millisecond or two after the API server has written it; conditions themselves tell whole seconds.

A table by kind (at once, after a wait, after a preemption for it, after its own eviction) and by scenario. A live time is the median of its plays. The verdict: the
medians over all admissions differ by at most 10 %. Without --strict the table is printed and only what could not be played fails, for machines on which others work. --keep: what is
there is not played again; with --until no play begins later, and a second call goes on. Ends with 0, 1, 75 (plays are left), 77 (no stack).

SPDX-License-Identifier: GPL-3.0-or-later
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import manifests
import play
import simulated
from cluster import Cluster

HERE = Path(__file__).resolve().parent
TOLERANCE = 0.10
WAITED_S = 0.5  # longer than any admission at once
SHORTEST_S = 0.002 # an event's way to the client
EDGE_S = 1.0    # what happens so close to the horizon may be seen on one side only
# What the kubelets take is KWOK's, and known (profile kwok).
CONSTANTS = [f"--constant=kueue.{c}" for c in ("workload-create", "cycle", "admission", "eviction", "message", "reserve", "release", "finish")]
CONSTANTS += ["--constant=controller-manager.api-call", "--constant=scheduler.cycle"]
KINDS = ["at once", "after a wait", "after a preemption", "after its own eviction"]


def approaches_of(path):
    return [(path, a) for a in json.loads(path.read_text())["approaches"]]


def stack_of(path, approach):
    all_of = json.loads(path.read_text())["approaches"]
    return all_of[approach].get("stack") or all_of[all_of[approach]["like"]]["stack"]


# ---- plays

def live(api, options, path, approach, to):
    """One play on the cluster, with its nodes; nothing where it is there already."""
    if (to / "run.json").exists() and json.loads((to / "run.json").read_text())["state"] == "complete":
        return
    m = manifests.Manifests(options.trainyard, options.stack / "kubectl", path, approach, to.with_suffix(".objects"))
    for n in m.nodes:
        api.create(manifests.path_of(n), n)
    try:
        for n in m.nodes:
            play.wait_until(lambda: play.ready(api.get(f"/api/v1/nodes/{n['metadata']['name']}")), "a node to be ready")
        run(options, path, approach, to, "--on", "kubernetes", "--context", "trainyard-live", "--kubeconfig", options.stack / "admin.kubeconfig")
    finally:
        for n in m.nodes:
            api.delete(f"/api/v1/nodes/{n['metadata']['name']}")


def run(options, path, approach, to, *how):
    subprocess.run([options.trainyard, "run", path, "--approach", approach, "--record", "full", "--force", "-q", "-o", to, *how],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


# ---- times

def admissions(directory):
    """{(job, k): (seconds, who was evicted for it meanwhile)}: of its k-th admission since the submission, or the eviction before."""
    scenario = json.loads((directory / "scenario.json").read_text())
    since = {j["job"]: float(j["submit_s"]) for j in simulated.read_run.rows(directory / "jobs.csv")}
    times, made, evicted_for = {}, {}, {}
    for t, job, what, detail in simulated.decisions(directory, simulated.flavors(scenario)):
        if what == "evicted":
            since[job] = t
            evicted_for.setdefault(detail.rpartition(" by ")[2], []).append(job)
        elif what == "admitted":
            k = made[job] = made.get(job, -1) + 1
            times[job, k] = (t - since[job], evicted_for.pop(job, []), t)
    return times


def kind_of(k, seconds, evicted):
    return KINDS[3] if k else KINDS[2] if evicted else KINDS[1] if seconds > WAITED_S else KINDS[0]


def pairs(name, sim, lives, until):
    """Rows (scenario, kind, simulated, live: the median of the plays) of what both sides have; and what only one has."""
    rows, alone = [], []
    for key in sorted(set(sim).union(*lives)):
        real = [x[key] for x in lives if key in x]
        if key in sim and real:
            rows.append((name, kind_of(key[1], *sim[key][:2]), sim[key][0], statistics.median(x[0] for x in real)))
        if (key not in sim or len(real) < len(lives)) and min(x[2] for x in [*real, sim.get(key, (0, [], until))]) < until - EDGE_S:
            alone.append(f"{name}: admission {key[1] + 1} of {key[0]} is in {len(real)} of {len(lives)} plays{'' if key in sim else ', and not simulated'}")
    return rows, alone


def error(rows):
    sim, real = statistics.median(r[2] for r in rows), statistics.median(r[3] for r in rows)
    return sim / real - 1


def line(label, rows):
    sim, real = ([r[i] for r in rows] for i in (2, 3))
    each = statistics.median(abs(a - b) / b for a, b in zip(sim, real))
    print(f"{label:<32} {len(rows):>4} {statistics.median(real):>9.4f} {statistics.median(sim):>9.4f} {100 * error(rows):>+8.1f} % {100 * each:>7.1f} %")


def table(rows):
    print(f"{'admissions':<32} {'n':>4} {'live s':>9} {'sim s':>9} {'medians':>10} {'each':>9}")
    for kind in [k for k in KINDS if any(r[1] == k for r in rows)]:
        line(kind, [r for r in rows if r[1] == kind])
    for name in sorted({r[0] for r in rows}):
        line(name, [r for r in rows if r[0] == name])
    line("all", rows)


# ---- all

def plays_of(options):
    """(role, scenario, approach, folder) in the order in which they are played: passes over all of them, for a machine grows quicker and slower
    by the minute, and what is fitted must have seen the same minutes as what is held out. The first play of a new stack is nobody's."""
    scenarios = sorted(options.scenarios)
    plays = [("warm", *approaches_of(scenarios[0])[0], options.keep / "warm")]
    for n in range(options.repeats):
        for i, f in enumerate(scenarios):
            role = "held" if i % 2 else "fit"
            plays += [(role, p, a, options.keep / f"{role}-{p.stem}-{a}-{n}") for p, a in approaches_of(f)]
    return plays


def play_all(options, plays):
    """Whether all were played."""
    api, until = Cluster(options.stack / "admin.kubeconfig"), time.monotonic() + options.until
    for n, (_, path, approach, to) in enumerate(plays):
        if time.monotonic() > until:
            print(f"{len(plays) - n} plays are left: call again with the same --keep")
            return False
        live(api, options, path, approach, to)
    return True


def jitter_of(plays):
    """What repeats of one admission differ by: the median distance from its median, of the plays that are fitted. It is the fit's unit."""
    times = {}
    for role, path, approach, to in plays:
        for key, (seconds, *_) in admissions(to).items() if role == "fit" else ():
            times.setdefault((path, approach, key), []).append(seconds)
    apart = [abs(x - statistics.median(of)) for of in times.values() if len(of) > 1 for x in of]
    return max(SHORTEST_S, statistics.median(apart)) if apart else SHORTEST_S


def compare(options, plays):
    profile, held = options.keep / "calibrated.json", [p[1:] for p in plays if p[0] == "held"]
    subprocess.run([options.trainyard, "calibrate", *[p[3] for p in plays if p[0] == "fit"], *CONSTANTS, "--jitter", f"{1000 * jitter_of(plays):.3f}ms",
                    "-q", "-o", profile], check=True)
    rows, alone = [], []
    for path, approach in dict.fromkeys((p, a) for p, a, _ in held):
        to = options.keep / f"sim-{path.stem}-{approach}"
        stack = json.dumps([*stack_of(path, approach), str(profile)])
        run(options, path, approach, to, "--set", f"/approaches/{approach}/stack={stack}")
        horizon = json.loads((to / "scenario.json").read_text())["run"]["horizon"]
        some, others = pairs(f"{path.stem} {approach}", admissions(to), [admissions(d) for p, a, d in held if (p, a) == (path, approach)], horizon)
        rows += some
        alone += others
    table(rows)
    print("\n".join(alone))
    right = not alone and abs(error(rows)) <= TOLERANCE
    print(f"{'ok' if right else 'DIFFERS'}: median time to admission {100 * error(rows):+.1f} % of {len(rows)} held-out admissions")
    return 0 if right or not options.strict else 1


def with_stack(options, do):
    options.stack = options.keep / f"stack-{os.getpid()}"
    if subprocess.run([HERE / "stack.sh", "able"], check=False).returncode:
        sys.exit(77)
    if subprocess.run([HERE / "stack.sh", "start", options.stack, "--owner", str(os.getpid()), "kwok", "kueue"], check=False).returncode:
        sys.exit(1)
    try:
        return do()
    finally:
        subprocess.run([HERE / "stack.sh", "stop", options.stack], check=False)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--trainyard", default=HERE.parent.parent / "bin" / "trainyard")
    p.add_argument("--keep", type=Path)
    p.add_argument("--repeats", type=int, default=3)
    p.add_argument("--until", type=float, default=float("inf"))
    p.add_argument("--strict", action="store_true")
    p.add_argument("scenarios", type=Path, nargs="*", default=list((HERE / "kueue").glob("*.json")))
    options = p.parse_args()
    scratch = None if options.keep else tempfile.TemporaryDirectory()
    options.keep = options.keep or Path(scratch.name)
    options.keep.mkdir(exist_ok=True, parents=True)
    plays = plays_of(options)
    left = [x for x in plays if not (x[3] / "run.json").exists()]
    if left and not with_stack(options, lambda: play_all(options, left)):
        return 75
    return compare(options, plays)


if __name__ == "__main__":
    sys.exit(main())
