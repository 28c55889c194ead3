#!/usr/bin/env python3
"""What the Python hook costs, beside the same calls without it. Prints; judges nothing.

    hook_cost.py LIBINQUEST HOOK_FOLDER      (with a Python that has torch)

Start-up of an interpreter (`-c pass`), then per call on one rank: all_reduce of 16 numbers over gloo, backward of a small
graph, optimizer step. Bare and recorded processes take turns; each figure is the median over all rounds' medians.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5
START_UPS = 40


def environment(directory, library, hook, armed):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("INQUEST_")}
    variables.pop("PYTHONPATH", None)
    variables["OMP_NUM_THREADS"] = "1"
    if armed:
        variables.update(PYTHONPATH=hook, INQUEST_ARMED="1", INQUEST_BOX_DIR=directory, INQUEST_LIBRARY=library)
    return variables


def start_up_ms(variables):
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], env=variables, check=True)
    return (time.perf_counter() - begin) * 1e3


def per_call_us(call, count):
    samples = []
    for _ in range(count):
        begin = time.perf_counter_ns()
        call()
        samples.append(time.perf_counter_ns() - begin)
    return statistics.median(samples) / 1e3


def measure_calls():
    import torch
    import torch.distributed as dist

    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        dist.init_process_group("gloo", init_method="file://" + directory + "/store", rank=0, world_size=1)
        numbers = torch.ones(16)
        weight = torch.ones(16, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.0)

        def reduce():
            dist.all_reduce(numbers)

        def backward():
            (weight * 2.0).sum().backward()

        result = {}
        for name, call, count in (("all_reduce", reduce, 3000), ("backward", backward, 3000), ("step", optimizer.step, 3000)):
            per_call_us(call, 300)
            result[name] = per_call_us(call, count)
        dist.destroy_process_group()
    result["seconds"] = time.perf_counter() - begin
    print(json.dumps(result))


def run_calls(variables):
    output = subprocess.run(
        [sys.executable, __file__, "--calls"], env=variables, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output)


def report(name, unit, bare, recorded):
    bare, recorded = statistics.median(bare), statistics.median(recorded)
    print("%-22s bare %9.2f %s   recorded %9.2f %s   added %8.2f %s" % (
        name, bare, unit, recorded, unit, recorded - bare, unit))


def main():
    library, hook = map(os.path.abspath, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as directory:
        bare, armed = (environment(directory, library, hook, armed) for armed in (False, True))
        pairs = [(start_up_ms(bare), start_up_ms(armed)) for _ in range(START_UPS)]
        report("python -c pass", "ms", *zip(*pairs))
        rounds = [(run_calls(bare), run_calls(armed)) for _ in range(ROUNDS)]
        for name in ("all_reduce", "backward", "step"):
            report(name, "us", [one[name] for one, _ in rounds], [other[name] for _, other in rounds])


if __name__ == "__main__":
    measure_calls() if sys.argv[1:] == ["--calls"] else main()
