"""A cluster of tests/cluster, used as its user does and, to look and to clean up, as root."""

import os
import pathlib
import subprocess

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "cluster"


class Cluster:
    """A running cluster; ended by `stop` only where `start` started it."""

    def __init__(self, name):
        self.name = name
        self.home = pathlib.Path(self.output("pwd").strip())

    def command(self, *arguments):
        return [str(TOOLS / "shell"), "--name", self.name, "--", *arguments]

    def output(self, *arguments):
        done = subprocess.run(self.command(*arguments), stdout=subprocess.PIPE, check=True,
                              stdin=subprocess.DEVNULL, text=True, timeout=60)
        return done.stdout

    def give_to_user(self, folder):
        """The user's shared home is the one place where all nodes see the same files."""
        owner = os.stat(self.home)
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, owner.st_uid, owner.st_gid)

    def job_id(self, job_name):
        found = self.output("squeue", "--noheader", "--format=%i", "--states=all", f"--name={job_name}").split()
        return found[0] if found else None

    def ended(self, job_id):
        """True once the job has ended on all its nodes, their epilogs included."""
        text = self.output("squeue", "--noheader", "--format=%i %T", "--states=all")
        states = dict(line.split() for line in text.splitlines())
        return states.get(job_id) not in ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING")

    def cancel(self, job_id):
        self.output("scancel", job_id)

    def has_live_line(self, job_id):
        """Whether slurmctld knows an AdminComment of a job that still runs; slurmdbd hears of it at the end."""
        text = self.output("scontrol", "--oneliner", "show", "job", job_id)
        return "JobState=RUNNING" in text and "AdminComment=inquest" in text

    def record(self, job_id):
        """(state, exit code, AdminComment) of the job's accounting record."""
        text = self.output("sacct", "-X", "-n", "-P", "-j", job_id, "-o", "state,exitcode,admincomment")
        return tuple(text.rstrip("\n").split("|", 2)) if text.strip() else ("", "", "")


def start():
    name = f"lab{os.getpid()}"
    subprocess.run([str(TOOLS / "up"), "--name", name], check=True, stdout=subprocess.DEVNULL)
    return Cluster(name)


def stop(cluster):
    subprocess.run([str(TOOLS / "down"), "--name", cluster.name], check=True, stdout=subprocess.DEVNULL)
