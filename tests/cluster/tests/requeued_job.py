#!/usr/bin/env python3
"""Requeued jobs: replicas drift apart in the first run of one, whose second is healthy and on other nodes; another fails twice, for two
reasons. The record and the report of each run are about that run alone, while it runs and afterwards."""

import shutil
import time

import harness

LIMIT_S = 120
SETTLE_S = 3  # epilogs may go on after a job has its final state
ENDS = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT")


class Job:
    """A batch job of two ranks on two nodes, whose script runs one command in its first run and another in its second."""

    def __init__(self, running, number, nodes, first, second):
        self.running = running
        self.home = running.state / "home"
        script = (f"export MASTER_PORT={29800 + number} MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\n"
                  f"echo run ${{SLURM_RESTART_COUNT:-0}}\n"
                  f"if [ -z \"$SLURM_RESTART_COUNT\" ]; then srun --inquest python {first}; else srun --inquest python {second}; fi")
        self.id = running.output("sbatch", "--parsable", "--requeue", f"--nodelist={nodes}", "--nodes=2", "--ntasks-per-node=1",
                                 "--time=5", "--overcommit", "--oversubscribe", "--open-mode=append",
                                 f"--output=requeued{number}.out", "--wrap", script).strip()
        self.output = self.home / f"requeued{number}.out"
        self.reports = [self.home / f"inquest-{self.id}", self.home / f"inquest-{self.id}-restart1"]

    def text(self):
        return self.output.read_text(errors="replace") if self.output.exists() else ""

    def text_of_second(self):
        return self.text().partition("run 1\n")[2]

    def controller(self):
        """State and AdminComment as slurmctld has them."""
        words = self.running.output("scontrol", "--oneliner", "show", "job", self.id, root=True)
        return words.partition("JobState=")[2].partition(" ")[0], words.partition("AdminComment=")[2].partition("StdErr=")[0].strip()

    def runs(self):
        """State and AdminComment of each run, by its submission."""
        text = self.running.output("sacct", "--jobs", self.id, "--duplicates", "--allocations", "--noheader", "--parsable2",
                                   "--format=submit,state,admincomment", root=True)
        return [line.split("|", 2)[1:] for line in sorted(text.splitlines())]

    def wait_for_run(self, number):
        harness.wait_until(lambda: len(self.runs()) == number and self.runs()[-1][0] in ENDS, f"end of run {number} of job {self.id}", LIMIT_S)

    def requeue(self, nodes):
        """Slurm would wait two minutes before it starts the job again."""
        self.running.output("scontrol", "requeue", self.id, root=True)
        harness.wait_until(lambda: self.controller()[0] == "PENDING", f"job {self.id} to be pending", LIMIT_S)
        self.running.output("scontrol", "update", f"jobid={self.id}", f"reqnodelist={nodes}", "starttime=now", root=True)


def check_line(line, cause, report):
    harness.expect(line.startswith(f"inquest 1: {cause}"), f"not about {cause}: {line!r}")
    harness.expect(line.endswith(f"; report {report}"), f"not in {report}: {line!r}")


def requeue_drifting(job):
    """While it runs, when the record has its line already."""
    harness.wait_until(lambda: "inquest 1: " in job.controller()[1], f"record of job {job.id}", LIMIT_S)
    check_line(job.controller()[1], "weight-divergence/", job.reports[0])
    job.requeue("n[3-4]")


def requeue_failed(job):
    job.wait_for_run(1)
    harness.wait_until(lambda: job.runs()[0][1] != "", f"record line of job {job.id}", LIMIT_S)
    check_line(job.runs()[0][1], "rank-died/rank-exception", job.reports[0])
    job.requeue("n[1-2]")


def check_healthy(job):
    harness.wait_until(lambda: "step 10 " in job.text_of_second(), f"second run of job {job.id}", LIMIT_S)
    harness.wait_until(lambda: job.controller()[1] == "", f"the line of the first run to leave the running job {job.id}", LIMIT_S)
    job.wait_for_run(2)
    time.sleep(SETTLE_S)
    (first_state, first_line), second = job.runs()
    harness.expect(second == ["COMPLETED", ""], f"second run: {second}")
    harness.expect(first_state in ("REQUEUED", "CANCELLED"), f"first run: {first_state}")
    check_line(first_line, "weight-divergence/", job.reports[0])
    harness.expect("inquest: " not in job.text_of_second(), f"healthy second run:\n{job.text_of_second()}")
    harness.expect((job.reports[0] / "report.txt").is_file(), "the report of the first run is gone")
    harness.expect(not job.reports[1].exists(), f"left by the healthy run: {list(job.reports[1].rglob('*'))}")


def check_failed_again(job):
    job.wait_for_run(2)
    harness.wait_until(lambda: job.runs()[1][1] != "", f"record line of the second run of job {job.id}", LIMIT_S)
    first, second = job.runs()
    check_line(first[1], "rank-died/rank-exception", job.reports[0])
    check_line(second[1], "rank-died/segmentation-fault", job.reports[1])
    for report, cause in zip(job.reports, ("rank-exception", "segmentation-fault")):
        harness.expect(f'"{cause}"' in (report / "diagnosis.json").read_text(), f"{report} does not say {cause}")
    harness.expect("rank-exception" not in job.text_of_second(), f"second run:\n{job.text_of_second()}")
    shown = job.running.output("inquest", "show", job.id)
    harness.expect(shown == (job.reports[1] / "report.txt").read_text(), f"inquest show:\n{shown}")


def test():
    harness.require_inquest()
    with harness.cluster("requeue") as running:
        for program in ("cluster/programs/drift.py", "cluster/programs/broken.py", "support/gloo_threads.py"):
            shutil.copy(harness.HERE.parent / program, running.state / "home")
        drifting = Job(running, 1, "n[1-2]", "drift.py --odd-rank=1 --odd-step=4 --steps=2000", "drift.py --steps=100")
        failing = Job(running, 2, "n[3-4]", "broken.py --raise-on=1", "broken.py --kill=1")
        requeue_failed(failing)
        requeue_drifting(drifting)
        check_failed_again(failing)
        check_healthy(drifting)
        harness.expect(not running.drained(), f"drained: {running.drained()}")
    return "requeued jobs: record and report of each run are about that run alone; a healthy second run leaves nothing"


harness.main(test)
