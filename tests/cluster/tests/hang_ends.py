#!/usr/bin/env python3
"""A training job that hangs has its line in the job record whether it is cancelled or runs into its time limit, with inquestd and without."""

import pathlib
import shutil
import time

import harness

PROGRAM = harness.HERE / "demo/train.py"
LIMIT_S = 240
WITH_DAEMON, WITHOUT_DAEMON = "n[1-2]", "n[3-4]"
KINDS = ("cancelled", "time limit")


class Job:
    """One batch job of two ranks, of which the first saves a checkpoint and waits for the second at a barrier alone."""

    def __init__(self, running, number, nodes, kind):
        self.running, self.kind = running, kind
        self.name = f"{kind}, {'with' if nodes == WITH_DAEMON else 'without'} inquestd"
        self.output = running.state / f"home/hang{number}.out"
        script = (f"export MASTER_PORT={29500 + number} MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\n"
                  "srun --inquest --inquest-stall=5 python train.py --save-every=20 --checkpoint=best$SLURM_JOB_ID.pt")
        self.id = running.output("sbatch", "--parsable", f"--nodelist={nodes}", "--nodes=2", "--ntasks-per-node=1", "--time=1",
                                 "--overcommit", "--oversubscribe", f"--output=hang{number}.out", "--wrap", script).strip()

    def hangs(self):
        return self.output.exists() and "step 20 " in self.output.read_text(errors="replace")

    def has_notice(self):
        notice = self.running.state / f"home/inquest-{self.id}/notice-0.txt"
        return notice.exists() and notice.stat().st_size > 0

    def record(self):
        text = self.running.output("sacct", "--jobs", self.id, "--allocations", "--noheader", "--parsable2",
                                   "--format=state,admincomment", root=True)
        return text.strip().split("|", 1)


def cancel(running, job, has_daemon):
    harness.wait_until(job.has_notice if has_daemon else job.hangs, f"{job.name}: hang of job {job.id}", LIMIT_S)
    time.sleep(2)
    running.output("scancel", job.id)


def check(job):
    harness.wait_until(lambda: len(job.record()) == 2 and job.record()[1], f"{job.name}: line of job {job.id}", LIMIT_S)
    state, line = job.record()
    harness.expect(state.startswith("CANCELLED" if job.kind == "cancelled" else "TIMEOUT"), f"{job.name}: {state}")
    harness.expect(line.startswith("inquest 1: all-reduce-deadlock/"), f"{job.name}: {line!r}")
    harness.expect("first rank 0 " in line, f"{job.name}: {line!r}")


def test():
    harness.require_inquest()
    with harness.cluster("hang") as running:
        shutil.copy(PROGRAM, pathlib.Path(running.state / "home/train.py"))
        for node in ("n3", "n4"):
            running.output("bash", "-c", "kill -KILL $(cat /run/inquestd.pid)", root=True, node=node)
        jobs = {(nodes, kind): Job(running, number, nodes, kind)
                for number, (nodes, kind) in enumerate((nodes, kind) for nodes in (WITH_DAEMON, WITHOUT_DAEMON) for kind in KINDS)}
        for nodes in (WITH_DAEMON, WITHOUT_DAEMON):
            cancel(running, jobs[nodes, "cancelled"], nodes == WITH_DAEMON)
        for job in jobs.values():
            check(job)
        harness.expect(not running.drained(), f"drained: {running.drained()}")
    return "a hang has its line: " + "; ".join(job.name for job in jobs.values())


harness.main(test)
