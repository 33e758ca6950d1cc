"""driver.py - one training job on a Ray cluster: trainyard-worker in the workers of a Ray Train v2 group.

Submitted by real/ray/ray.c through Ray's REST API; what it is to do stands in the environment variable TRAINYARD_JOB as JSON:

    {"name": "a", "command": ["trainyard-worker", ...], "workers": 4, "min": 4, "gpus": 1, "max_failures": 3,
     "resize_check_s": 60, "faults": [{"at_s": 1700000000.5, "rank": 1, "action": "crash"}]}

It says on its standard output, in lines "trainyard {...}" with the seconds since the epoch, what the controller of Ray Train
does and what the ranks' programs say:

    {"time_s": ..., "state": "SCHEDULING", "workers": 4}                  a state of the controller; how many workers it asks for
    {"time_s": ..., "placed": 2, "world": 4, "nodes": ["10.0.0.1", ...]}  the placement group of worker group 2: address a bundle
    {"time_s": ..., "group": 2, "world": 4, "nodes": ["10.0.0.1", ...]}   the worker group is there: number, address a rank
    {"time_s": ..., "fault": "crash", "rank": 1}                          a fault of the scenario
    {"group": 2, "rank": 0, "line": {...}}                               a line of a rank's log (real/worker/steplog.h), but for steps
    {"time_s": ..., "group": 2, "first": 4, "next": 9, "compute_s": ...}  steps 4 to 8, the last of which ended then: sums of their parts

Ray serves a job's output whole, at each look, so it must stay small however many steps there are: see Printer.

All Python of Trainyard is here. Needs ray[train] 2.50 or later, and the worker program under the same path on all nodes.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import ray
import ray.train
from ray.train.v2._internal.execution.callback import ControllerCallback, WorkerGroupCallback
from ray.train.v2._internal.execution.worker_group.placement_group_handle import DefaultPlacementGroupHandle
from ray.train.v2.api.config import FailureConfig, RunConfig, ScalingConfig
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

PR_SET_PDEATHSIG = 1
STEPS_SHARE = 1e-4  # sums of steps are printed so far apart at the least: a share of the job's age
PARTS = ("data_s", "compute_s", "communication_s", "checkpoint_s")


@ray.remote(num_cpus=0)
class Desk:
    """Where all processes of the job leave what they have to say, and where ranks find each other."""

    def __init__(self):
        self.lines, self.group, self.meetings, self.done = [], 0, {}, set()

    def say(self, line):
        self.lines.append(line)

    def take(self):
        lines, self.lines = self.lines, []
        return lines

    def next_group(self):
        self.group += 1
        return self.group

    def present_group(self):
        return self.group

    def call_meeting(self, group, address, port):
        self.meetings[group] = (address, port)

    def meeting(self, group):
        return self.meetings.get(group)

    def fault_is_new(self, number):
        """Each fault happens once, however often its group begins anew."""
        new = number not in self.done
        self.done.add(number)
        return new


def tell_placed(desk):
    """Has the controller, in whose process this runs, say when the bundles of a group are there: no callback is told."""
    waits = DefaultPlacementGroupHandle.wait

    def wait(handle, *timeout):
        placed = waits(handle, *timeout)
        if placed:
            at, addresses = time.time(), {n["NodeID"]: n["NodeManagerAddress"] for n in ray.nodes()}
            bundles = ray.util.placement_group_table(handle.placement_group)["bundles_to_node_id"]
            desk.say.remote({"time_s": at, "placed": ray.get(desk.present_group.remote()), "world": len(bundles),
                             "nodes": [addresses.get(node, "") for _, node in sorted(bundles.items())]})
        return placed

    DefaultPlacementGroupHandle.wait = wait


class Watch(ControllerCallback, WorkerGroupCallback):
    """Runs in the controller's process."""

    def __init__(self, desk):
        self.desk = desk

    def after_controller_start(self, train_run_context):
        tell_placed(self.desk)

    def after_controller_state_update(self, previous_state, current_state):
        if previous_state._state_type == current_state._state_type:
            return
        line = {"time_s": time.time(), "state": current_state._state_type.state_name}
        decision = getattr(current_state, "scaling_decision", None)
        if decision:
            line["workers"] = decision.num_workers
        self.desk.say.remote(line)

    def before_worker_group_start(self, worker_group_context):
        ray.get(self.desk.next_group.remote())

    def after_worker_group_start(self, worker_group):
        workers = sorted(worker_group.get_workers(), key=lambda w: w.distributed_context.world_rank)
        group = ray.get(self.desk.present_group.remote())
        self.desk.say.remote({"time_s": time.time(), "group": group, "world": len(workers),
                              "nodes": [w.metadata.node_ip for w in workers]})


def free_port():
    with socket.socket() as s:
        s.bind(("", 0))
        return s.getsockname()[1]


def meet(desk, group, rank):
    """Rank 0 says where; the others ask until it has."""
    if rank == 0:
        place = (ray.util.get_node_ip_address(), free_port())
        ray.get(desk.call_meeting.remote(group, *place))
        return place
    while True:
        place = ray.get(desk.meeting.remote(group))
        if place:
            return place
        time.sleep(0.05)


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def play_faults(desk, faults, rank, program):
    """In a thread of its own: at its time, once, to the worker (as a lost process is) or to the program in it."""
    for number, fault in enumerate(faults):
        if fault["rank"] != rank:
            continue
        time.sleep(max(0.0, fault["at_s"] - time.time()))
        if program.poll() is not None or not ray.get(desk.fault_is_new.remote(number)):
            continue
        ray.get(desk.say.remote({"time_s": time.time(), "fault": fault["action"], "rank": rank}))
        if fault["action"] == "hang":
            program.send_signal(signal.SIGUSR1)
        else:
            os.kill(os.getpid(), signal.SIGKILL)


def train(job):
    """A worker of the group: runs the program as one rank and passes on what it says."""
    desk = ray.get_actor(job["desk"])
    context = ray.train.get_context()
    rank, world = context.get_world_rank(), context.get_world_size()
    group = ray.get(desk.present_group.remote())
    address, port = meet(desk, group, rank)
    env = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(context.get_local_rank()),
               MASTER_ADDR=address, MASTER_PORT=str(port))
    program = subprocess.Popen(job["command"], env=env, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                               preexec_fn=die_with_parent)
    threading.Thread(target=play_faults, args=(desk, job["faults"], rank, program), daemon=True).start()
    for text in program.stdout:
        line = json.loads(text)
        if rank == 0 or line.get("event") != "step":
            desk.say.remote({"group": group, "rank": rank, "line": line})
    code = program.wait()
    if code != 0:
        raise RuntimeError("rank %d of %d: %s ended with %d" % (rank, world, job["command"][0], code))


class Printer:
    """Prints the job's lines in their order; of steps that follow each other, with no other line between, one line with their sums.

    Sums that only time ends are a ten-thousandth of the job's age apart, or the pause between two looks at the desk where that is more.
    So steps print 10,000 lines until the job is 2,000 s old, and as many again each time it is e times older.
    """

    def __init__(self, clock=time.monotonic):
        self.clock, self.begin, self.steps, self.told = clock, clock(), None, clock()

    def take(self, line):
        said = line.get("line", {})
        if said.get("event") != "step":
            self.tell_steps()
            self.print(line)
            return
        if self.steps and (self.steps["group"], self.steps["next"]) != (line["group"], said["step"]):
            self.tell_steps()
        if not self.steps:
            self.steps = {"group": line["group"], "first": said["step"], **dict.fromkeys(PARTS, 0.0)}
        self.steps.update(time_s=said["time_s"], next=said["step"] + 1)
        for part in PARTS:
            self.steps[part] = round(self.steps[part] + said.get(part, 0.0), 9)

    def tell_in_time(self):
        now = self.clock()
        if self.steps and now - self.told >= STEPS_SHARE * (now - self.begin):
            self.tell_steps()
            self.told = now

    def tell_steps(self):
        if self.steps:
            self.print(self.steps)
        self.steps = None

    def print(self, line):
        print("trainyard " + json.dumps(line), flush=True)


def pass_on(desk, stop):
    """Prints what is left at the desk, a few times a second, and what came last."""
    printer, last = Printer(), False
    while not last:
        last = stop.wait(0.2)
        for line in ray.get(desk.take.remote()):
            printer.take(line)
        printer.tell_in_time()
    printer.tell_steps()


def main():
    job = json.loads(os.environ["TRAINYARD_JOB"])
    ray.init(log_to_driver=False)
    job["desk"] = "trainyard-desk-" + job["name"] + "-" + ray.get_runtime_context().get_job_id()
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    desk = Desk.options(name=job["desk"], scheduling_strategy=here).remote()  # beside the controller: nodes may be lost
    ray.get(desk.say.remote({"time_s": time.time(), "state": "DRIVER"}))
    stop = threading.Event()
    printer = threading.Thread(target=pass_on, args=(desk, stop))
    printer.start()
    elastic = job["min"] != job["workers"]
    try:
        DataParallelTrainer(
            train,
            train_loop_config=job,
            scaling_config=ScalingConfig(
                num_workers=(job["min"], job["workers"]) if elastic else job["workers"],
                resources_per_worker={"GPU": job["gpus"], "CPU": 0} if job["gpus"] else {"CPU": 1},
                use_gpu=job["gpus"] > 0,
                placement_strategy="PACK",
                elastic_resize_monitor_interval_s=job["resize_check_s"],
            ),
            run_config=RunConfig(name=job["name"], storage_path=job["storage"], callbacks=[Watch(desk)],
                                 failure_config=FailureConfig(max_failures=job["max_failures"])),
        ).fit()
    except ray.train.TrainingFailedError as error:
        sys.exit("the training has failed: %s" % error)
    finally:
        stop.set()
        printer.join()


if __name__ == "__main__":
    main()
