#!/usr/bin/env python3
"""What a live run on hosts says of the machine it ran on, as constants of a stack and of jobs.

    host_constants.py RUN...                 one line a constant: its name, the median in seconds, the number of measurements
    host_constants.py RUN... SCENARIO.json   the same as options of `trainyard run`, for all jobs of that scenario that say them

RUNs are of scenarios/live/host-measure.json with --record full. A median each, over all of them:
    container start   waits for the start of containers before a job first steps
    rendezvous        waits for the meeting of the ranks
    load              waits for a checkpoint, after a failure
    reset-detect      from a killed rank until its peers have ended and all wait for starts: what a restart takes beyond the other three
    monitor           waits while a group that has grown leaves its steps
    save              from the begin of a checkpoint until it is durable
    communication     of a step of several ranks: what it takes beyond its compute time (data and the worker's own work with it)
"""
import csv, json, statistics, sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
from read_run import records

# Numbers of record types and wait reasons: docs/run-format.md.
SUBMITTED, STARTED, STOPPED, FINISHED, WAIT, STEPS, CHECKPOINT = 0, 3, 4, 5, 6, 13, 14
AFTER_FAILURE, AFTER_RESIZE = 1, 3
START, RENDEZVOUS, LOAD, RESIZE = 14, 17, 18, 23


def measure(run):
    values = {k: [] for k in ("start", "rendezvous", "load", "restart", "resize", "save", "step")}
    spent, last, waits, stopped, begun, cause = {}, {}, {}, {}, {}, {}
    for time, kind, code, job, _, a, b in records(Path(run) / "timeline.bin"):
        if kind in (WAIT, STARTED, FINISHED):
            reason, since = last.get(job, (None, 0))
            if reason is not None:
                spent.setdefault(job, {}).setdefault(reason, 0)
                spent[job][reason] += time - since
            last[job] = (code, time) if kind == WAIT else (None, 0)
        if kind == STARTED:
            s, why = spent.pop(job, {}), cause.pop(job, None)
            if why is None and job not in stopped:
                values["start"].append(s.get(START, 0))
            values["rendezvous"].append(s.get(RENDEZVOUS, 0))
            if why == AFTER_FAILURE:
                values["load"].append(s.get(LOAD, 0))
                values["restart"].append(time - stopped[job])
            if why == AFTER_RESIZE:
                values["resize"].append(s.get(RESIZE, 0))
            begun.pop(("step", job), None)
        elif kind == STOPPED:
            spent.pop(job, None)
            stopped[job], cause[job] = time, code
        elif kind == CHECKPOINT and code == 0:
            begun[job] = time
        elif kind == CHECKPOINT and code == 1 and job in begun:
            values["save"].append(time - begun.pop(job))
        elif kind == STEPS:
            before = begun.get(("step", job))
            if before is not None and job not in stopped:
                values["step"].append(time - before)
            begun[("step", job)] = time
    return {k: [x / 1e9 for x in v] for k, v in values.items()}


def main(*arguments):
    compute = 0.08  # of the scenario's steps
    scenario = arguments[-1] if arguments[-1].endswith(".json") else None
    v = {}
    for run in arguments[: -1 if scenario else None]:
        for k, x in measure(run).items():
            v.setdefault(k, []).extend(x)
    middle = {k: statistics.median(x) for k, x in v.items()}
    detect = middle["restart"] - middle["start"] - middle["rendezvous"] - middle["load"]
    stack = {
        "kubelet.container-start": (middle["start"], len(v["start"])),
        "torchrun.rendezvous": (middle["rendezvous"], len(v["rendezvous"])),
        "torchrun.monitor": (middle["resize"], len(v["resize"])),
        "nccl.reset-detect": (max(detect, 0.001), len(v["restart"])),
    }
    # A step without a save: those below the median and a half; what is above has one in it.
    plain = [x for x in v["step"] if x < 1.5 * middle["step"]]
    jobs = {"save": middle["save"], "load": middle["load"], "communication": max(statistics.median(plain) - compute, 0)}
    if not scenario:
        for name, (value, n) in stack.items():
            print(f"{name} {value:.6f} s of {n}")
        for name, value in jobs.items():
            print(f"{name} {value:.6f} s")
        return
    text = "\n".join(line for line in open(scenario) if not line.lstrip().startswith("//"))
    s = json.loads(text)
    for approach, how in s["approaches"].items():
        if how["lifecycle"].startswith("ray"):  # pods that are there before: the start of a worker is part of its meeting
            stack["torchrun.rendezvous"] = (middle["start"] + middle["rendezvous"], 0)
            stack["kubelet.container-start"] = (0, 0)
        for name, (value, _) in stack.items():
            print(f"--set=/approaches/{approach}/stack/{name}={value:.9f}")
    for i, job in enumerate(s["workload"]["jobs"]):
        if "checkpoint" in job:
            print(f"--set=/workload/jobs/{i}/checkpoint/save={jobs['save']:.9f}")
            print(f"--set=/workload/jobs/{i}/checkpoint/load={jobs['load']:.9f}")
        if "communication" in job.get("step", {}):
            print(f"--set=/workload/jobs/{i}/step/communication={jobs['communication']:.9f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
