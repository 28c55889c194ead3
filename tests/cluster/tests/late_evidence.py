#!/usr/bin/env python3
"""A node whose step worker does not run while the others are diagnosed: what is told without it is made anew when it goes on, or taken back, in the
output, in the report and in the job record."""

import shutil

import batch_job
import harness

LIMIT_S = batch_job.LIMIT_S
PROGRAMS = (harness.HERE / "demo/train.py", harness.HERE / "programs/probe.py", harness.HERE / "programs/drift.py",
            harness.HERE.parent / "support/gloo_threads.py")


def signal_worker(running, node, signal):
    """Sends a signal to the step workers of a node, of which every process belongs to this cluster."""
    running.output("pkill", f"-{signal}", "-x", "inquest-step", root=True, node=node)


def start_hanging(running):
    return batch_job.BatchJob(running, 29801, ("--nodelist=n[1-2]", "--nodes=2", "--ntasks-per-node=1"), "--inquest-stall=5",
                              "train.py --save-every=20")


def start_parting(running):
    return batch_job.BatchJob(running, 29802, ("--nodelist=n[3-4]", "--nodes=2", "--ntasks-per-node=2"), "", "probe.py")


def stop_late_nodes(running, hanging, parting):
    """Before their evidence is asked for, and before the fourth rank has told of its probe."""
    hanging.wait_for_text("step 20 ")
    signal_worker(running, "n2", "STOP")
    for rank in range(4):
        parting.wait_for_text(f"ready {rank}")
    signal_worker(running, "n4", "STOP")
    (running.state / "home/go").touch()


def await_first_diagnosis(running, hanging, parting):
    """Each late node goes on once its job was diagnosed without it: a lead waits for it for a minute."""
    harness.wait_until((hanging.directory / "report.txt").exists, f"report of job {hanging.id}", LIMIT_S)
    harness.expect("Not established" in (hanging.directory / "report.txt").read_text(), "the hang was decided without the late node")
    signal_worker(running, "n2", "CONT")
    parting.wait_for_text(f"inquest: job {parting.id} ")
    harness.wait_until(lambda: "inquest 1: weight-divergence/" in parting.live_record(), f"record of job {parting.id}", LIMIT_S)
    signal_worker(running, "n4", "CONT")


def check_made_anew(running, job):
    job.wait_for_text(f"inquest: job {job.id} ")
    report = (job.directory / "report.txt").read_text()
    harness.expect("all-reduce-deadlock/" in report and "rank 0 on n1" in report, f"report of job {job.id}:\n{report}")
    running.output("scancel", job.id)
    job.wait_for_end()
    harness.wait_until(lambda: job.record()[1], f"line of job {job.id}", LIMIT_S)
    line = job.record()[1]
    harness.expect(line.startswith("inquest 1: all-reduce-deadlock/") and "; first rank 0 (n1)" in line, f"job {job.id}: {line!r}")


def check_taken_back(running, job):
    job.wait_for_text("inquest: taken back")
    harness.expect("Healthy" in (job.directory / "report.txt").read_text(), f"the report of job {job.id} still tells of a difference")
    harness.wait_until(lambda: job.live_record() == "", f"record of job {job.id}", LIMIT_S)
    (running.state / "home/stop").touch()
    job.wait_for_end()
    harness.wait_until(lambda: not job.directory.exists(), f"end of the report of job {job.id}", LIMIT_S)
    harness.expect(job.record() == ["COMPLETED", ""], f"job {job.id}: {job.record()}")


def test():
    harness.require_inquest()
    with harness.cluster("late") as running:
        for file in PROGRAMS:
            shutil.copy(file, running.state / "home")
        hanging, parting = start_hanging(running), start_parting(running)
        stop_late_nodes(running, hanging, parting)
        await_first_diagnosis(running, hanging, parting)
        check_made_anew(running, hanging)
        check_taken_back(running, parting)
        harness.expect(not running.drained(), f"drained: {running.drained()}")
    return "evidence of a late node: a hang is named when it comes, and a divergence that it refutes is taken back"


harness.main(test)
