#!/usr/bin/env python3
"""What the Python hook costs, beside the same calls without it. Prints; judges nothing.

    hook_cost.py LIBINQUEST HOOK_FOLDER...      (with a Python that has torch; several folders: hooks to compare)

Start-up of an interpreter (`-c pass`) with the hook compiled as the installation does it, and as a Python finds it that the
installation did not compile for. Then per call on one rank: all_reduce of 16 numbers over gloo, backward of a small graph, with
and without DistributedDataParallel, optimizer step. It is processor time, so that others on the machine count little: of the
whole process, of the calling thread. All take turns; each figure is the median over all rounds' medians.
"""
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5
START_UPS = 40
CALLS = ("all_reduce", "backward", "backward of DDP", "step")


def environment(directory, library, hook):
    """Of a bare process when `hook` is None."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("INQUEST_", "PYTHON"))}
    variables.update(OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    if hook is not None:
        variables.update(PYTHONPATH=hook, INQUEST_ARMED="1", INQUEST_BOX_DIR=directory, INQUEST_LIBRARY=library)
    return variables


def installed(hook, directory, compiled):
    """A copy of the hook, compiled as spank/hooks/python/compile_hook.cmake does it."""
    copy = tempfile.mkdtemp(dir=directory)
    shutil.copytree(hook, copy, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    if compiled:
        subprocess.run(
            [sys.executable, "-I", "-m", "compileall", "-q", "-f", "--invalidation-mode", "checked-hash", copy], check=True)
    return copy


def start_up_ms(variables):
    def spent_seconds():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    begin = spent_seconds()
    subprocess.run([sys.executable, "-c", "pass"], env=variables, check=True)
    return (spent_seconds() - begin) * 1e3


def per_call_us(call, count):
    samples = []
    for _ in range(count):
        begin = time.thread_time_ns()
        call()
        samples.append(time.thread_time_ns() - begin)
    return statistics.median(samples) / 1e3


def measure_calls():
    import torch
    import torch.distributed as dist

    with tempfile.TemporaryDirectory() as directory:
        dist.init_process_group("gloo", init_method="file://" + directory + "/store", rank=0, world_size=1)
        numbers = torch.ones(16)
        weight = torch.ones(16, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.0)
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
        data = torch.ones(2, 4)
        calls = (
            lambda: dist.all_reduce(numbers), lambda: (weight * 2.0).sum().backward(),
            lambda: model(data).sum().backward(), optimizer.step)
        result = {}
        for name, call in zip(CALLS, calls):
            per_call_us(call, 300)
            result[name] = per_call_us(call, 3000)
        dist.destroy_process_group()
    print(json.dumps(result))


def run_calls(variables):
    output = subprocess.run(
        [sys.executable, __file__, "--calls"], env=variables, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output)


def report(name, unit, hooks, rows):
    """`rows`: one for each round, the bare figure first."""
    bare, *recorded = (statistics.median(column) for column in zip(*rows))
    for hook, figure in zip(hooks, recorded):
        print("%-30s bare %8.2f %s   recorded %8.2f %s   added %6.2f %s (%+5.1f %%)   %s" % (
            name, bare, unit, figure, unit, figure - bare, unit, 100 * (figure / bare - 1), hook))


def main():
    library, *hooks = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as directory:
        for name, compiled in (("python -c pass, not compiled", False), ("python -c pass", True)):
            folders = [None] + [installed(hook, directory, compiled) for hook in hooks]
            variables = [environment(directory, library, folder) for folder in folders]
            report(name, "ms", hooks, [[start_up_ms(one) for one in variables] for _ in range(START_UPS)])
        rounds = [[run_calls(one) for one in variables] for _ in range(ROUNDS)]
        for name in CALLS:
            report(name, "us", hooks, [[one[name] for one in row] for row in rounds])


if __name__ == "__main__":
    measure_calls() if sys.argv[1:] == ["--calls"] else main()
