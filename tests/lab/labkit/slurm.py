"""Runs a placed program under Slurm with Inquest, and ends it where it would not end by itself."""

import dataclasses
import os
import pathlib
import re
import subprocess
import time

from labkit import launchers, workdir

STALL_S = 8
LIMIT_S = 240
AFTER_NOTICE_S = 2
AFTER_NOTICE_OF_EITHER_S = 12
RECORD_WAIT_S = 20
ARMED = ["--inquest", f"--inquest-stall={STALL_S}"]
LAUNCHES = ("srun", "srun --chdir", "sbatch", "sbatch+srun")
NOTICE = re.compile(r"^inquest: ", re.MULTILINE)


@dataclasses.dataclass
class SlurmEnd:
    """What a run left: its accounting record, its output and whether it had to be cancelled."""

    job_id: str
    state: str
    exit_code: str
    comment: str
    output: str
    cancelled: str
    told_live: bool
    has_srun: bool
    seconds: float


class Run:
    """One job, from its start to its accounting record."""

    def __init__(self, cluster, placed):
        self.cluster = cluster
        self.placed = placed
        self.launch = placed.values.random.choice(LAUNCHES)
        self.by_torchrun = placed.values.launcher == launchers.TORCHRUN
        self.job_name = placed.folder.name
        self.output_file = placed.folder.parent / (self.job_name + ".out")
        self.due = workdir.outside_signal(placed.program, placed.values)
        self.notice_at = None
        self.told_live = False

    @property
    def queued(self):
        """sbatch returns as soon as the job is queued, srun when it has ended."""
        return self.launch.startswith("sbatch")

    @property
    def started_by(self):
        return self.launch + (" torchrun" if self.by_torchrun else "")

    @property
    def has_srun(self):
        """srun prints the notice; torchrun on one node may run right in the batch script."""
        return self.launch != "sbatch" or not self.by_torchrun or self.placed.values.nodes > 1

    def is_told(self, output, job_id):
        report = self.placed.folder / f"inquest-{job_id}" / "report.txt"
        return bool(NOTICE.search(output)) if self.has_srun else report.exists()

    def options(self):
        values = self.placed.values
        layout = self.placed.program.truth.get("layout")
        return [f"--nodes={values.nodes}", f"--ntasks={values.tasks}", f"--cpus-per-task={values.ranks_per_task}",
                *(["--ntasks-per-node=1"] if self.by_torchrun else []),
                *([f"--distribution=plane={layout[0]}"] if layout else [])]

    def command(self):
        common = [f"--job-name={self.job_name}", *self.options()]
        folder = f"--chdir={self.placed.folder}"
        ranks = launchers.command(self.placed)
        if self.launch == "srun":
            return ["env", folder, "srun", *common, *ARMED, *ranks]
        if self.launch == "srun --chdir":
            return ["srun", *common, folder, *ARMED, *ranks]
        script = self.placed.folder / "job.sh"
        script.write_text("#!/bin/bash\n" + " ".join([*self.step(), *ranks]) + "\n")
        outer = ARMED if self.launch == "sbatch" else []
        return ["sbatch", f"--output={self.output_file}", folder, *common, *outer, str(script)]

    def step(self):
        """How a batch script starts the ranks. torchrun on one node needs no step of its own."""
        if self.launch == "sbatch+srun":
            return ["srun", *ARMED]
        return ["srun"] if self.has_srun else []

    def start(self):
        command = self.cluster.command(*self.command())
        target = self.output_file.with_suffix(".submit") if self.queued else self.output_file
        self.cluster.give_to_user(self.placed.folder)
        with open(target, "wb") as output:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def output(self):
        return self.output_file.read_text(errors="replace") if self.output_file.exists() else ""

    def signal_when_due(self, output):
        if self.due and self.due[1] in output:
            name = "RANK" if self.by_torchrun else "SLURM_PROCID"
            pid = rank_pid(self.placed.folder, name, self.placed.values.culprits[0])
            os.kill(pid, self.due[0])
            self.due = None

    def reason_to_cancel(self, output, job_id, started):
        """A hang is cancelled once it was told; anything else only at the limit."""
        now = time.monotonic()
        if now - started > LIMIT_S:
            return "limit"
        if "hang" not in self.placed.program.ends or not self.is_told(output, job_id):
            return ""
        self.notice_at = self.notice_at or now
        either = len(self.placed.program.ends) > 1
        patience = AFTER_NOTICE_OF_EITHER_S if either else AFTER_NOTICE_S
        return "notice" if now - self.notice_at > patience else ""

    def look_into_record(self, output, job_id):
        """After the notice of a job that ends by itself: whether its record line is there while it still runs."""
        if self.placed.program.drifts and job_id and not self.told_live and self.is_told(output, job_id):
            self.told_live = self.cluster.has_live_line(job_id)

    def running(self, client, job_id):
        if client.poll() is None:
            return True
        return self.queued and client.returncode == 0 and not self.cluster.ended(job_id)

    def wait(self, client, started):
        """Returns the job's id and why it was cancelled, if it was."""
        job_id, cancelled = None, ""
        if self.queued:
            client.wait()
        while self.running(client, job_id := job_id or self.cluster.job_id(self.job_name)):
            output = self.output()
            self.signal_when_due(output)
            self.look_into_record(output, job_id)
            reason = "" if cancelled else self.reason_to_cancel(output, job_id, started)
            if reason and job_id:
                self.cluster.cancel(job_id)
                cancelled = reason
            time.sleep(0.5)
        return job_id, cancelled

    def record(self, job_id):
        """Waits for the end of the epilogs and, where a line is expected, for it."""
        limit = time.monotonic() + RECORD_WAIT_S
        while not self.cluster.ended(job_id) and time.monotonic() < limit:
            time.sleep(0.3)
        record = self.cluster.record(job_id)
        while self.placed.program.fails and not record[2] and time.monotonic() < limit:
            time.sleep(0.5)
            record = self.cluster.record(job_id)
        return record

    def __call__(self):
        started = time.monotonic()
        client = self.start()
        job_id, cancelled = self.wait(client, started)
        record = self.record(job_id) if job_id else ("", "", "")
        for core in self.placed.folder.glob("core*"):
            core.unlink()
        return SlurmEnd(job_id, *record, self.output(), cancelled, self.told_live, self.has_srun,
                        time.monotonic() - started)


def _read_list(process, name):
    return (process / name).read_bytes().split(b"\0")


def _parent(process):
    return int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])


def _is_rank(process, folder, name, rank):
    """A Python process of the rank; batch scripts and srun also carry SLURM_PROCID=0."""
    return os.readlink(process / "cwd") == str(folder) \
        and os.path.basename(_read_list(process, "cmdline")[0]).startswith(b"python") \
        and b"%s=%d" % (name.encode(), rank) in _read_list(process, "environ")


def rank_pid(folder, name, rank):
    """The first process of a rank, which the variable `name` numbers: it works in `folder`, and its parent is not one of them."""
    parents = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if _is_rank(process, folder, name, rank):
                parents[int(process.name)] = _parent(process)
        except OSError:
            continue
    return next(pid for pid, parent in parents.items() if parent not in parents)
