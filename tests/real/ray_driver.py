"""ray_driver.py - what the driver of a job on Ray (real/ray/driver.py) prints of steps; there need be no Ray. Read by test_ray.c.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import sys
from pathlib import Path
from unittest.mock import MagicMock

driver = {"__name__": "driver"}
for name in ("ray", "ray.train", "ray.train.v2._internal.execution.worker_group.placement_group_handle", "ray.train.v2.api.config",
             "ray.train.v2.api.data_parallel_trainer", "ray.util.scheduling_strategies"):
    sys.modules[name] = MagicMock()
sys.modules["ray.train.v2._internal.execution.callback"] = MagicMock(ControllerCallback=type("C", (), {}), WorkerGroupCallback=type("W", (), {}))
exec(compile((Path(__file__).resolve().parents[2] / "real/ray/driver.py").read_text(), "driver.py", "exec"), driver)

now = 0.0
printer = driver["Printer"](clock=lambda: now)


def step(group, number, at_s):
    printer.take({"group": group, "rank": 0, "line": {"event": "step", "time_s": at_s, "rank": 0, "step": number, "loss": 1.0, "data_s": 0.002,
                                                      "compute_s": 0.04, "communication_s": 0.007, "checkpoint_s": 0.001, "step_s": 0.05}})


for i in range(3):
    step(1, i, 1.05 + 0.05 * i)
printer.take({"group": 1, "rank": 0, "line": {"event": "save", "time_s": 1.2, "rank": 0, "step": 3}})
step(1, 3, 1.25)
step(1, 4, 1.3)
printer.take({"time_s": 2.0, "state": "RESTARTING"})
step(2, 3, 3.0)
for i in range(400000):  # the desk is looked at five times a second
    step(3, i, round(0.05 * (i + 1), 6))
    if i % 4 == 3:
        now = 0.05 * (i + 1)
        printer.tell_in_time()
printer.tell_steps()
