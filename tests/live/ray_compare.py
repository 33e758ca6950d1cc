#!/usr/bin/env python3
"""A simulated run beside repeats of a live one on Ray: the order of events, and medians of start, detection and restart.

    ray_compare.py SIM LIVE...        RAY_TIMES=told: only the order decides

Order: each job's own events (admitted, started, stopped, finished) are the same in every run. Of two events of different jobs the
order must be the live one where it is one: in all repeats the same, and the two further apart than either's repeats differ by (of a
single run nobody knows by what, so only the order within jobs decides).
Medians: over the events of all jobs and repeats,
    start       placement group to the first step of all ranks     detection   ranks stand still to the controller's notice
    restart     ranks stand still to all step again                driver      submission to the program's asking for workers (told)
and must be within 15 % of the live one. Where a job has several of a kind in a run the first, second ... of each job are laid beside each
other as well: what follows a loss and what follows a node that is back take different times, and one median over both says of neither
whether it is right. A live run in which nothing stepped yet when the first fault came cannot be compared with anything:
where times are only told the machine is too busy, 77; else it has failed.
"""
import json, os, statistics, sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
from read_run import records, rows

# Numbers of record types and wait reasons: docs/run-format.md.
SUBMITTED, ADMITTED, ALLOCATED, STARTED, STOPPED, FINISHED, WAIT = range(7)
CONTROL_PLANE, DETECTION = 11, 20
NAMES = {ADMITTED: "admitted", STARTED: "started", STOPPED: "stopped", FINISHED: "finished"}
JUDGED = ("start", "detection", "restart")
TOLERANCE = 0.15


def read(directory):
    names = [r["job"] for r in rows(Path(directory) / "jobs.csv")]
    events, times, last, count = [], {what: {} for what in ("driver",) + JUDGED}, {}, {}

    def took(what, seconds):
        """The job's k-th of its kind in this run."""
        k = count[job, what] = count.get((job, what), 0) + 1
        times[what].setdefault(k, []).append(seconds)

    for time, kind, code, job, *_ in records(Path(directory) / "timeline.bin"):
        now = time / 1e9
        if kind in NAMES:
            k = count[job, kind] = count.get((job, kind), 0) + 1
            events.append(((names[job], NAMES[kind], k), now))
        if kind in (WAIT, STARTED, FINISHED):
            why, since = last.get((job, "wait"), (None, now))
            if why == DETECTION:
                took("detection", now - since)
            if why == CONTROL_PLANE and (job, "asked") not in last and now > since:
                took("driver", now - since)
                last[job, "asked"] = now
            if kind != WAIT or code != why:
                last[job, "wait"] = (code if kind == WAIT else None, now)
        if kind == ALLOCATED:
            last[job, "placed"] = now
        elif kind == STOPPED:
            last[job, "stopped"] = now
        elif kind == STARTED:
            if (job, "stopped") in last:
                took("restart", now - last.pop((job, "stopped")))
            elif (job, "placed") in last:
                took("start", now - last[job, "placed"])
    return events, times


def by_job(events):
    jobs = {}
    for (job, what, _), _ in events:
        jobs.setdefault(job, []).append(what)
    return jobs


def order_within(sim, lives):
    wrong = 0
    for i, live in enumerate(lives):
        for job, seen in by_job(live).items():
            expected = by_job(sim).get(job, [])
            if seen != expected:
                print(f"  {job}: live {i + 1}: {' '.join(seen)}\n  {'':{len(job)}}  simulated: {' '.join(expected)}")
                wrong += 1
    return wrong


def order_between(sim, lives):
    simulated, live = dict(sim), [dict(e) for e in lives]
    wrong = pairs = 0
    if len(lives) < 2:
        return wrong, pairs
    common = [e for e in simulated if all(e in run for run in live)]
    spread = {e: max(run[e] for run in live) - min(run[e] for run in live) for e in common}
    for a in common:
        for b in common:
            if a[0] == b[0] or min(run[b] - run[a] for run in live) <= max(spread[a], spread[b]):
                continue
            pairs += 1
            if simulated[a] > simulated[b]:
                print(f"  {' '.join(map(str, a))} comes before {' '.join(map(str, b))} live, and after it simulated")
                wrong += 1
    return wrong, pairs


def values(times, what, k):
    """k 0: all of them."""
    return sorted(x for one in times for number, seconds in one[what].items() if k in (0, number) for x in seconds)


def tell(what, k, simulated, measured):
    """A row; whether it is too far."""
    name, judged = f"{what} {k}" if k else what, what in JUDGED
    if not simulated or not measured:
        print(f"  {name:12}in one of them only")
        return judged
    a, b = statistics.median(simulated), statistics.median(measured)
    off = judged and abs(a - b) > TOLERANCE * b
    verdict = "" if not judged else "  too far" if off else "  ok"
    print(f"  {name:12}{a:8.2f}s{b:8.2f}s{(a - b) / b * 100:+11.1f} %   {' '.join(f'{x:.2f}' for x in measured)}{verdict}")
    return off


def tell_all(sim, lives):
    """How many rows are too far."""
    late = 0
    print(f"  {'':12}{'simulated':>9}{'live':>9}   difference   live values")
    for what in ("driver",) + JUDGED:
        most = max((k for one in [sim] + lives for k in one[what]), default=0)
        for k in range(most + 1 if most > 1 else most):
            late += tell(what, k, values([sim], what, k), values(lives, what, k))
    return late


def main(sim_dir, *live_dirs):
    (sim, sim_times), lives = read(sim_dir), [read(d) for d in live_dirs]
    events = [e for e, _ in lives]
    first = json.loads((Path(sim_dir) / "scenario.json").read_text())["faults"]["script"][0]["at"]
    if any(min(at for (_, what, _), at in e if what == "started") >= first for e in events):
        told = os.environ.get("RAY_TIMES") == "told"
        print(f"ray: {'skipped: ' if told else ''}{Path(sim_dir).name}: no group was there when the first fault came: this machine is too busy")
        return 77 if told else 1
    print(f"{Path(sim_dir).name.removesuffix('-sim')}: {len(lives)} live runs")
    wrong = order_within(sim, events)
    between, pairs = order_between(sim, events)
    print(f"  {len(sim)} events in {len(by_job(sim))} jobs, {pairs} pairs of different jobs: {wrong + between} out of order")
    late = tell_all(sim_times, [times for _, times in lives])
    return bool(wrong + between) or (late > 0 and os.environ.get("RAY_TIMES") != "told")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
