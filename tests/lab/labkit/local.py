"""Runs a placed program without Slurm: each rank a process with the variables of a task."""

import dataclasses
import os
import pathlib
import random
import subprocess
import time

from labkit import weights, workdir

LIMIT_S = 240
QUIET_S = 25
WITNESS = pathlib.Path(__file__).resolve().parent / "witness"


@dataclasses.dataclass
class LocalEnd:
    """How a local run ended: the wait status of each task (None: had to be killed)."""

    statuses: list
    seconds: float


def _environment(rank, tasks, job_id):
    return os.environ | {"SLURM_PROCID": str(rank), "SLURM_NTASKS": str(tasks),
                         "SLURM_LOCALID": str(rank), "SLURM_JOB_ID": str(job_id),
                         "SLURM_JOB_NODELIST": "localhost", "GLOO_SOCKET_IFNAME": "lo",
                         "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}


def _start(placed, python):
    job_id = random.SystemRandom().randint(1, 9999)
    witness = {"PYTHONPATH": str(WITNESS)} if placed.program.group == "divergence" else {}
    tasks = []
    for rank in range(placed.values.plain_tasks):
        with open(placed.folder / f"output-{rank}.txt", "wb") as output:
            tasks.append(subprocess.Popen(
                [python, *placed.arguments], cwd=placed.folder, stdout=output, stderr=output,
                env=_environment(rank, placed.values.plain_tasks, job_id) | witness))
    return tasks


def _signal_when_due(placed, tasks, due):
    if due is None:
        return None
    rank = placed.values.culprits[0]
    if due[1] not in (placed.folder / f"output-{rank}.txt").read_text(errors="replace"):
        return due
    tasks[rank].send_signal(due[0])
    return None


class _Quiet:
    """Tells when tasks that have written something have written nothing more for a while."""

    def __init__(self, folder):
        self.folder = folder
        self.size = 0
        self.since = None

    def __call__(self):
        now = time.monotonic()
        size = sum(path.stat().st_size for path in self.folder.glob("output-*.txt"))
        if size != self.size:
            self.size, self.since = size, now
        return self.since is not None and now - self.since > QUIET_S


def run(placed, python):
    started = time.monotonic()
    tasks = _start(placed, python)
    due = workdir.outside_signal(placed.program, placed.values)
    quiet = _Quiet(placed.folder) if "hang" in placed.program.ends else lambda: False
    while any(task.poll() is None for task in tasks) and time.monotonic() - started < LIMIT_S:
        due = _signal_when_due(placed, tasks, due)
        if quiet():
            break
        time.sleep(0.2)
    statuses = [task.poll() for task in tasks]
    for task in tasks:
        task.kill()
        task.wait()
    return LocalEnd(statuses, time.monotonic() - started)


def kind_of_end(placed, statuses):
    """hang, crash, exit, or healthy or silent, from the wait statuses of the tasks."""
    if None in statuses:
        return "hang"
    if not any(statuses):
        return "silent" if placed.program.drifts else "healthy"
    return "crash" if any(statuses[rank] for rank in placed.values.culprits) else "exit"


def judge(placed, end):
    """(got, problems): the kind of end, and where the program promises equal replicas, what their weights did."""
    got = kind_of_end(placed, end.statuses)
    problems = [] if got in placed.program.ends else [f"statuses {end.statuses}"]
    if not problems and placed.program.truth.get("weights") != "free" and placed.program.group == "divergence":
        problems = weights.problems(placed)
    return got, problems
