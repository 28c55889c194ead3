#!/usr/bin/env python3
"""--inquest-seed gives replicas that differ by their seeds alone equal weights, and two runs of one program the same ones."""

import pathlib
import re
import sys
import tempfile

import harness

sys.path.insert(0, str(harness.HERE.parent / "lab"))
from labkit import cluster as lab_cluster, draw, launchers, programs, workdir  # noqa: E402

DIGESTS = """
import hashlib, pathlib, torch
for path in sorted(pathlib.Path(".").glob("model-*.pt")):
    state = hashlib.sha256()
    for name, tensor in torch.load(path).items():
        state.update(name.encode() + tensor.numpy().tobytes())
    print(state.hexdigest())
"""


def run(running, name, seed):
    """Runs a program of the lab, which seeds nothing itself, and returns a digest of each rank's final weights."""
    program = programs.load([name])[0]
    values = draw.draw(program.truth, name, launchers.TASKS)
    parent = pathlib.Path(tempfile.mkdtemp(dir=running.state / "home"))
    placed = workdir.place(program, values, parent)
    lab_cluster.Cluster(running.name).give_to_user(parent)
    options = [f"--inquest-seed={seed}"] if seed else []
    running.output("env", f"--chdir={placed.folder}", "srun", "--nodes=2", f"--ntasks={values.tasks}", "--inquest",
                   *options, "python", *placed.arguments, timeout=240)
    digests = running.output("env", f"--chdir={placed.folder}", "python", "-c", DIGESTS).split()
    harness.expect(len(digests) == values.tasks and all(re.fullmatch("[0-9a-f]{64}", text) for text in digests), f"{digests}")
    return digests


def check_replicas(running):
    unseeded, seeded = run(running, "drawn_weights", None), run(running, "drawn_weights", 7)
    harness.expect(len(set(unseeded)) == len(unseeded), f"equal weights without a seed: {unseeded}")
    harness.expect(len(set(seeded)) == 1, f"weights differ under --inquest-seed: {seeded}")


def check_runs(running):
    unseeded = run(running, "uneven_accumulation", None)
    first, second = run(running, "uneven_accumulation", 11), run(running, "uneven_accumulation", 11)
    harness.expect(first == second, f"two runs differ under one --inquest-seed: {first} and {second}")
    harness.expect(unseeded != first, "a run without a seed has the same weights")
    harness.expect(len(set(first)) == 2, f"one rank alone sums other micro-batches: {first}")


def test():
    harness.require_inquest()
    with harness.cluster("seed") as running:
        check_replicas(running)
        check_runs(running)
    return "one seed: equal weights on all ranks, and in two runs of one program"


harness.main(test)
