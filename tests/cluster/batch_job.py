"""A batch job of a cluster test that runs one Python program under srun --inquest, and what can be seen of it."""

import harness

LIMIT_S = 240
ENDED = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT")


class BatchJob:
    """Submitted when made. `port` is the meeting place of its ranks, `options` are srun's, `program` a file in the home with its arguments."""

    def __init__(self, running, port, sbatch, options, program):
        self.running = running
        script = (f"export MASTER_PORT={port} MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\n"
                  f"srun --inquest {options} python {program}")
        self.output = running.state / f"home/job{port}.out"
        self.id = running.output("sbatch", "--parsable", *sbatch, "--time=5", "--overcommit", "--oversubscribe", f"--output={self.output.name}",
                                 "--wrap", script).strip()
        self.directory = running.state / f"home/inquest-{self.id}"

    def text(self):
        """The job's output."""
        return self.output.read_text(errors="replace") if self.output.exists() else ""

    def live_record(self):
        """AdminComment as slurmctld has it."""
        words = self.running.output("scontrol", "--oneliner", "show", "job", self.id, root=True)
        return words.partition("AdminComment=")[2].partition(" StdErr=")[0].strip()

    def record(self):
        """State and AdminComment of the accounting."""
        text = self.running.output("sacct", "--jobs", self.id, "--allocations", "--noheader", "--parsable2", "--format=state,admincomment", root=True)
        return text.strip().split("|", 1)

    def wait_for_text(self, text):
        harness.wait_until(lambda: text in self.text(), f"{text!r} in the output of job {self.id}", LIMIT_S)

    def wait_for_end(self):
        harness.wait_until(lambda: self.record()[0].split(" ")[0] in ENDED, f"end of job {self.id}", LIMIT_S)
