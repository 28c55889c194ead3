#!/usr/bin/env python3
"""Replicas on two nodes (3+1 ranks) that drift apart: notice and job record while the job runs, a report at its end although it succeeds; with
--inquest-on-divergence=cancel the job is cancelled; replicas that agree leave nothing."""

import shutil
import time

import harness

PROGRAM = harness.HERE / "programs/drift.py"
MODULE = harness.HERE.parent / "support/gloo_threads.py"
LIMIT_S = 240
SETTLE_S = 5  # epilogs may go on after a job has its final state
ODD = "--odd-rank=3"


class Job:
    """A batch job of four ranks, three on the first node and one on the second."""

    def __init__(self, running, number, nodes, options="", arguments=""):
        self.running, self.nodes = running, nodes
        self.home = running.state / "home"
        script = (f"export MASTER_PORT={29700 + number} MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\n"
                  f"srun --distribution=plane=3 --inquest {options} python drift.py {arguments}")
        self.id = running.output("sbatch", "--parsable", f"--nodelist={nodes}", "--nodes=2", "--ntasks=4", "--time=5", "--overcommit",
                                 "--oversubscribe", f"--output=drift{number}.out", "--wrap", script).strip()
        self.output = self.home / f"drift{number}.out"
        self.directory = self.home / f"inquest-{self.id}"

    def text(self):
        return self.output.read_text(errors="replace") if self.output.exists() else ""

    def controller(self):
        """State and AdminComment as slurmctld has them."""
        words = self.running.output("scontrol", "--oneliner", "show", "job", self.id, root=True)
        state = words.partition("JobState=")[2].partition(" ")[0]
        return state, words.partition("AdminComment=")[2].partition(" StdErr=")[0].strip()

    def record(self):
        text = self.running.output("sacct", "--jobs", self.id, "--allocations", "--noheader", "--parsable2",
                                   "--format=state,exitcode,admincomment", root=True)
        return text.strip().split("|", 2)

    def wait_for_end(self):
        harness.wait_until(lambda: self.record()[0].split(" ")[0] in ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT"), f"end of job {self.id}", LIMIT_S)


def check_line(line, where):
    harness.expect(line.startswith("inquest 1: weight-divergence/"), f"{where}: {line!r}")
    harness.expect("first rank 3 " in line, f"{where}: {line!r}")


def check_running(job):
    """Notice and record are there before the job ends."""
    harness.wait_until(lambda: "inquest: " in job.text(), f"notice of job {job.id}", LIMIT_S)
    harness.wait_until(lambda: "inquest 1: " in job.controller()[1], f"record of job {job.id}", LIMIT_S)
    state, line = job.controller()
    harness.expect(state == "RUNNING", f"the job is {state} when it has its record")
    check_line(line, "scontrol")


def check_reported(job):
    job.wait_for_end()
    state, exit_code, line = job.record()
    harness.expect((state, exit_code) == ("COMPLETED", "0:0"), f"drifting job: {state} {exit_code}")
    check_line(line, "sacct")
    harness.expect((job.directory / "report.txt").is_file(), "no report of the drifting job")
    harness.expect(not (job.directory / "digests").exists(), "digests of the drifting job are left")
    notices = job.text().count("inquest: job ")
    harness.expect(1 <= notices <= 2, f"{notices} notices:\n{job.text()}")


def check_cancelled(job):
    job.wait_for_end()
    state = job.record()[0]
    harness.expect(state.startswith("CANCELLED"), f"job to be cancelled: {state}")
    harness.wait_until(lambda: not (job.directory / "digests").exists(), f"end of the epilogs of job {job.id}", LIMIT_S)
    time.sleep(SETTLE_S)
    check_line(job.record()[2], "sacct of the cancelled job")
    harness.expect("inquest: " in job.text(), f"no notice:\n{job.text()}")
    harness.expect("inquest: updated" not in job.text(), f"another diagnosis after the cancelling:\n{job.text()}")


def check_healthy(job):
    harness.wait_until(lambda: "step 50 " in job.text(), f"healthy job {job.id}", LIMIT_S)
    harness.expect((job.directory / "digests").is_dir(), "the nodes of the healthy job tell each other nothing")
    job.wait_for_end()
    time.sleep(SETTLE_S)
    state, exit_code, line = job.record()
    harness.expect((state, exit_code, line) == ("COMPLETED", "0:0", ""), f"healthy job: {state} {exit_code} {line!r}")
    harness.expect(not job.directory.exists(), f"left by the healthy job: {list(job.directory.rglob('*'))}")
    harness.expect("inquest: " not in job.text(), f"healthy job:\n{job.text()}")


def test():
    harness.require_inquest()
    with harness.cluster("drift") as running:
        shutil.copy(PROGRAM, running.state / "home/drift.py")
        shutil.copy(MODULE, running.state / "home")
        healthy = Job(running, 1, "n[1-2]")
        drifting = Job(running, 2, "n[3-4]", arguments=ODD)
        check_running(drifting)
        check_healthy(healthy)
        cancelled = Job(running, 3, "n[1-2]", "--inquest-on-divergence=cancel", f"{ODD} --steps=5000")
        check_cancelled(cancelled)
        check_reported(drifting)
        harness.expect(not running.drained(), f"drained: {running.drained()}")
    return "replicas that drift apart: notice and record while the job runs, report after exit code 0, cancelled on request; healthy: nothing"


harness.main(test)
