"""ray_rows.py - tests/live/ray_compare.py judges a job's first restart and its second by themselves. Run by test_ray.c.

Two restarts of 92 and 7 s live, of 60 and 39 s simulated: the medians over all of them are both 49.5 s.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/live"))
from ray_compare import tell_all

none = {"driver": {}, "start": {}, "detection": {}}
live = [{**none, "restart": {1: [92.0], 2: [7.0]}} for _ in range(3)]
assert tell_all({**none, "restart": {1: [60.0], 2: [39.0]}}, live) == 2
assert tell_all({**none, "restart": {1: [90.0], 2: [7.1]}}, live) == 0
assert tell_all({**none, "restart": {1: [92.0]}}, live) == 2  # the second is missing, and the median over all is off
one = [{**none, "restart": {1: [7.0]}}]
assert tell_all(one[0], one) == 0
