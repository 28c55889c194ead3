#!/usr/bin/env python3
"""With cgroups a step that takes more memory than it asked for is killed by the kernel, and others are not."""

import sys

import harness


def test():
    with harness.cluster("limit", "--without-inquest", "--nodes", "1") as running:
        if (running.state / "proctrack").read_text().strip() != "cgroup":
            print("this machine lets no cgroup be made")
            sys.exit(harness.SKIPPED)
        take = "print(len(bytearray(400 << 20)))"
        modest = running.shell("srun", "--mem=800M", "/usr/bin/python3", "-c", take)
        greedy = running.shell("srun", "--mem=200M", "/usr/bin/python3", "-c", take)
        harness.expect(modest.returncode == 0, f"within its limit: {modest.stderr}")
        harness.expect("Out Of Memory" in greedy.stderr, f"beyond its limit: {greedy.returncode} {greedy.stderr}")
        harness.expect(not running.drained(), f"drained: {running.drained()}")
    return "400 MiB: killed with --mem=200M, well with --mem=800M"


harness.main(test)
