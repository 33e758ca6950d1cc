#!/usr/bin/env python3
"""Reads one run directory of Trainyard, checks it, prints a summary. See run-format.md.   read_run.py DIR"""
import csv, json, struct, sys, zlib
from collections import Counter
from decimal import Decimal, getcontext
from pathlib import Path

getcontext().prec = 60  # sums of GPU-seconds are exact


def records(path):
    """Yields (time_ns, type, code, job, subject, a, b); stops at the last whole block."""
    with open(path, "rb") as f:
        head = f.read(64)
        if len(head) < 64 or head[:8] != b"\x89TYR\r\n\x1a\n" or zlib.crc32(head[:60]) != struct.unpack("<I", head[60:])[0]:
            raise ValueError(f"{path}: no timeline")
        order, version, _, size = struct.unpack_from("<IHHI", head, 8)
        if (order, size) != (0x01020304, 40) or version not in (1, 2):
            raise ValueError(f"{path}: another version of the format")
        while len(block := f.read(24)) == 24:
            magic, count, _, crc, head_crc = struct.unpack("<4sIQII", block)
            body = f.read(40 * count) if zlib.crc32(block[:20]) == head_crc else b""
            if magic != b"TYBL" or len(body) < 40 * count or zlib.crc32(body) != crc:
                print(f"{path}: damaged behind the last whole block", file=sys.stderr)
                return
            for time, kind, code, job, subject, _, a, b in struct.iter_unpack("<qHHiIIqq", body):
                yield time, kind, code, job, subject, a, b


def rows(path):
    return list(csv.DictReader(open(path, newline="", encoding="utf-8"))) if path.exists() else []


def main(directory):
    wrong = []
    run = json.loads((directory / "run.json").read_text(encoding="utf-8"), parse_float=Decimal)
    for name, told in run["files"].items():
        data = (directory / name).read_bytes()
        if len(data) != told["bytes"] or zlib.crc32(data) != told["crc32"]:
            wrong.append(f"{name} is not as the run left it")
    jobs, cells = rows(directory / "jobs.csv"), rows(directory / "ledger.csv")
    for group in run["groups"]:
        total = sum((Decimal(c["gpu_s"]) for c in cells if c["group"] == group["name"]), Decimal(0))
        if total != group["existing_gpu_s"]:
            wrong.append(f"{group['name']}: the cells hold {total} GPU-s, {group['existing_gpu_s']} existed")
    timeline = directory / "timeline.bin"
    kinds = Counter(r[1] for r in records(timeline)) if timeline.exists() else Counter()
    classes = Counter()
    for c in cells:
        classes["redone" if c["redone"] == "1" else c["class"]] += Decimal(c["gpu_s"])
    print(f"{run['scenario']}, {run['approach']}, replication {run['replication']}: {run['state']}")
    print(f"{len(jobs)} jobs:", ", ".join(f"{n} {s}" for s, n in Counter(j["state"] for j in jobs).items()))
    print("GPU-seconds:", ", ".join(f"{s} {n}" for s, n in classes.items()))
    print(f"{sum(kinds.values())} of {run['records']} records kept, fingerprint {run['fingerprint']}")
    print("\n".join(wrong) or "checksums and ledger are right")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
