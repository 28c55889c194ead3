#!/usr/bin/env python3
"""What the hook costs per training step, by profile, beside the same training without it. Prints; judges nothing.

    step_cost.py LIBINQUEST HOOK_FOLDER [ROUNDS]      (with a Python that has torch)

Two ranks train a small model over gloo on one machine. For each profile's share of the run time: the microseconds per step that the hook
accounts for itself (without the once-only search for names, which is printed apart), the step's median time, and, where
`perf stat -e instructions` works, the instructions per step: the difference of a long and a short training, so that the start of the
interpreter does not count. Profiles take turns with the bare training in each round.
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 3
STEPS = (200, 1000)  # instructions per step come from the difference of the two
PROFILES = (("without the hook", None), ("no digests", "0"), ("light", "200"), ("standard", "1000"), ("deep", "50000"))


def train():
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    rank, steps = int(os.environ["RANK"]), int(os.environ["STEPS"])
    dist.init_process_group("gloo", init_method=os.environ["STORE"], rank=rank, world_size=2)
    model = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU()) for _ in range(8)])
    model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters())
    data = torch.randn(64, 256)
    times = []
    for _ in range(steps):
        begin = time.perf_counter_ns()
        model(data).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        times.append(time.perf_counter_ns() - begin)
    result = {"step_us": statistics.median(times) / 1e3}
    budget = getattr(sys.modules.get("inquest_hook.schedule"), "budget", None)
    if budget is not None:
        result.update(
            own_us=(budget.spent_ns - budget.start_up_ns) / 1e3 / steps, start_ms=budget.start_up_ns / 1e6,
            checkpoints=budget.checkpoints)
    if rank == 0:
        print(json.dumps(result))
    dist.destroy_process_group()


def environment(folder, share, library, hook):
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("INQUEST_", "SLURM_"))}
    variables.pop("PYTHONPATH", None)
    variables["OMP_NUM_THREADS"] = "1"
    if share is not None:
        variables.update(
            PYTHONPATH=hook, INQUEST_ARMED="1", INQUEST_BOX_DIR=folder, INQUEST_LIBRARY=library, INQUEST_DIGEST_SHARE=share)
    return variables


def counts_instructions():
    if shutil.which("perf") is None:
        return False
    probe = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", "true"], stderr=subprocess.PIPE, universal_newlines=True)
    return probe.returncode == 0 and probe.stderr.split(",")[0].isdigit()


def run(share, steps, library, hook, counted):
    """Result of rank 0, with the instructions of its process when they are counted."""
    with tempfile.TemporaryDirectory() as folder:
        base = dict(environment(folder, share, library, hook), STORE="file://%s/store" % folder, STEPS=str(steps))
        command = [sys.executable, os.path.abspath(__file__), "--train"]
        other = subprocess.Popen(command, env=dict(base, RANK="1"))
        perf = ["perf", "stat", "-x,", "-e", "instructions:u", "-o", folder + "/count"] if counted else []
        output = subprocess.run(perf + command, env=dict(base, RANK="0"), stdout=subprocess.PIPE, check=True).stdout
        if other.wait() != 0:
            raise SystemExit("rank 1 failed")
        result = json.loads(output)
        if counted:
            with open(folder + "/count") as file:
                result["instructions"] = int(re.search(r"^(\d+),", file.read(), re.MULTILINE).group(1))
        return result


def measure(share, library, hook, counted):
    long = run(share, STEPS[1], library, hook, counted)
    if counted:
        short = run(share, STEPS[0], library, hook, counted)
        long["instructions"] = (long["instructions"] - short["instructions"]) / (STEPS[1] - STEPS[0])
    return long


def median_of(results, key):
    values = [result[key] for result in results if key in result]
    return statistics.median(values) if values else None


def show(name, results, bare):
    columns = ["step %9.1f us (%+5.1f %%)" % (
        median_of(results, "step_us"), 100 * (median_of(results, "step_us") / median_of(bare, "step_us") - 1))]
    instructions = median_of(results, "instructions")
    if instructions is not None:
        columns.append("%11.0f instructions (%+6.2f %%)" % (instructions, 100 * (instructions / median_of(bare, "instructions") - 1)))
    if median_of(results, "own_us") is not None:
        columns.append("digests %7.1f us per step, %4.0f checkpoints, %5.1f ms at the start" % (
            median_of(results, "own_us"), median_of(results, "checkpoints"), median_of(results, "start_ms")))
    print("%-17s %s" % (name, "   ".join(columns)))


def main():
    library, hook = map(os.path.abspath, sys.argv[1:3])
    counted = counts_instructions()
    if not counted:
        print("perf stat cannot count instructions here: times only")
    results = {name: [] for name, _ in PROFILES}
    for _ in range(int(sys.argv[3]) if len(sys.argv) > 3 else ROUNDS):
        for name, share in PROFILES:
            results[name].append(measure(share, library, hook, counted))
    for name, _ in PROFILES:
        show(name, results[name], results[PROFILES[0][0]])


if __name__ == "__main__":
    train() if sys.argv[1:] == ["--train"] else main()
