#!/usr/bin/env python3
"""A scancel that fails at first is tried again: the job whose replicas differ is cancelled all the same, and its record says why."""

import shutil

import batch_job
import harness

LIMIT_S = batch_job.LIMIT_S
PROGRAMS = (harness.HERE / "programs/drift.py", harness.HERE.parent / "support/gloo_threads.py")
# Fails as scancel does when slurmctld does not answer. What it ran is counted in the home of the job's user.
WRAPPER = """#!/bin/sh
echo try >> {state}/home/tries
[ $(wc -l < {state}/home/tries) -gt 1 ] || exit 1
exec {state}/real_scancel "$@"
"""


def wrap_scancel(running):
    """In the node's own mounts the wrapper takes the place of the scancel that inquestd runs."""
    scancel = shutil.which("scancel")
    shutil.copy(scancel, running.state / "real_scancel")
    wrapper = running.state / "scancel"
    wrapper.write_text(WRAPPER.format(state=running.state))
    wrapper.chmod(0o755)
    running.output("mount", "--bind", str(wrapper), scancel, root=True, node="n1")


def tries(running):
    file = running.state / "home/tries"
    return file.read_text().count("try") if file.exists() else 0


def test():
    harness.require_inquest()
    with harness.cluster("cancel", "--nodes", "1") as running:
        for file in PROGRAMS:
            shutil.copy(file, running.state / "home")
        wrap_scancel(running)
        job = batch_job.BatchJob(running, 29811, ("--nodes=1", "--ntasks=3"), "--inquest-on-divergence=cancel",
                                 "drift.py --odd-rank=2 --steps=5000")
        harness.wait_until(lambda: tries(running) == 1, f"the first try to cancel job {job.id}", LIMIT_S)
        job.wait_for_end()
        harness.expect(tries(running) == 2, f"{tries(running)} tries")
        harness.wait_until(lambda: job.record()[1], f"line of job {job.id}", LIMIT_S)
        state, line = job.record()
        harness.expect(state.startswith("CANCELLED"), f"job {job.id}: {state}")
        harness.expect(line.startswith("inquest 1: weight-divergence/") and "first rank 2 (n1)" in line, f"{line!r}")
        harness.expect("could not be" not in (job.directory / "report.txt").read_text(), "the report says that the job was not cancelled")
        harness.expect(not running.drained(), f"drained: {running.drained()}")
    return "a scancel that failed once was tried again: the job is cancelled, and its record says why"


harness.main(test)
