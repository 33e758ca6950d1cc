#!/usr/bin/env python3
"""By how much the same event differs among live runs of one scenario: the largest difference of two, in ms, rounded up.

    host_jitter.py RUN RUN...

Events: a job is admitted, steps, stops, ends; the k-th of its kind in that job. Times are from the run's first submission.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
from read_run import records, rows

SUBMITTED, ADMITTED, STARTED, STOPPED, FINISHED = 0, 1, 3, 4, 5


def events(run):
    begin, counts, at = None, {}, {}
    for time, kind, _, job, *_ in records(Path(run) / "timeline.bin"):
        begin = time if begin is None and kind == SUBMITTED else begin
        if kind in (ADMITTED, STARTED, STOPPED, FINISHED):
            k = counts[job, kind] = counts.get((job, kind), 0) + 1
            at[job, kind, k] = time - begin
    return at


runs = [events(run) for run in sys.argv[1:]]
shared = set.intersection(*(set(r) for r in runs))
print(max(1, -(-max(max(r[k] for r in runs) - min(r[k] for r in runs) for k in shared) // 1000000)))
