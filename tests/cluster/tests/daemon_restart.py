#!/usr/bin/env python3
"""inquestd killed in the middle of two jobs and started again: both run on, the one that fails has its line, the other has none."""

import subprocess

import harness

PROGRAM = "touch running$SLURM_JOB_ID.$SLURM_PROCID; sleep 8; exit {}"
WAIT_S = 60


def start(running, status):
    return subprocess.Popen([harness.HERE / "shell", "--name", running.name, "--", "srun", "--inquest", "--nodes=2", "bash", "-c",
                             PROGRAM.format(status)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def restart_daemons(running):
    for node in running.nodes():
        running.output("bash", "-c", "kill -KILL $(cat /run/inquestd.pid)", root=True, node=node)
    for node in running.nodes():
        running.output("bash", "-c", f"{harness.PREFIX}/sbin/inquestd", root=True, node=node)


def record(running, job):
    text = running.output("sacct", f"--jobs={job}", "--allocations", "--noheader", "--parsable2", "--format=state,admincomment", root=True)
    return text.strip().split("|", 1)


def test():
    harness.require_inquest()
    with harness.cluster("restart") as running:
        failing, well = start(running, "$SLURM_PROCID"), start(running, "0")
        harness.wait_until(lambda: len(list((running.state / "home").glob("running*"))) == 4, "start of the jobs", WAIT_S)
        restart_daemons(running)
        status = [failing.wait(WAIT_S), well.wait(WAIT_S)]
        harness.expect(status == [1, 0], f"srun ended with {status}")
        records = {}

        def have_ended():
            records.update({record(running, job)[0]: record(running, job)[1] for job in (1, 2)})
            return records.keys() >= {"FAILED", "COMPLETED"} and records["FAILED"]

        harness.wait_until(have_ended, "the line of the failed job", WAIT_S)
        harness.expect(records["FAILED"].startswith("inquest 1: "), f"the failed job has {records['FAILED']!r}")
        harness.expect(records["COMPLETED"] == "", f"the other job has {records['COMPLETED']!r}")
        harness.expect(not running.drained(), f"drained: {running.drained()}")
    return "inquestd killed and started again: two jobs unharmed, one line for the one that failed"


harness.main(test)
