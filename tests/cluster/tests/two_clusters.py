#!/usr/bin/env python3
"""Two clusters that start at the same moment run side by side and know nothing of each other."""

import concurrent.futures
import contextlib

import harness

NAMES = ("left", "right")


def start(stack, name):
    return stack.enter_context(harness.cluster(name, "--without-inquest", "--nodes", "2"))


def use(running):
    words = running.output("srun", "--nodes=2", "bash", "-c", "echo $(hostname) $USER").split()
    harness.expect(sorted(words) == sorted(["n1", "n2"] + 2 * [f"iq-{running.name}"]), f"{running.name}: {words}")
    return running.output("sacct", "--noheader", "--allusers", "--parsable2", "--format=cluster,user", "-X").split()


def test():
    with contextlib.ExitStack() as left, contextlib.ExitStack() as right, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        clusters = list(pool.map(start, (left, right), NAMES))
        for running, jobs in zip(clusters, pool.map(use, clusters)):
            expected = [f"{running.name}|iq-{running.name}"]
            harness.expect(jobs in ([], expected), f"{running.name} has these jobs: {jobs}")
    return "two clusters of two nodes, each with its own jobs"


harness.main(test)
