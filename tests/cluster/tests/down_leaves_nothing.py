#!/usr/bin/env python3
"""up and down leave no process, namespace, mount, link, cgroup, user or file; also when jobs still run, and also when up
was interrupted or killed half way."""

import signal
import subprocess
import time

import harness
import residue

NAME = "gone"
INTERRUPTED_AFTER_S = (0.05, 0.3, 1.0, 2.0)


def index_of(state):
    file = state / "index"
    return file.read_text().strip() if file.exists() else None


def after_a_whole_run():
    with harness.cluster(NAME, "--without-inquest") as running:
        running.output("sbatch", "--nodes=4", "--wrap", "srun sleep 300")
        running.output("srun", "--overlap", "true")
        index = index_of(running.state)
        namespaces = residue.namespaces_of_cluster(running.state)
    harness.expect(len(namespaces) >= 4 * 4, f"only {len(namespaces)} namespaces for four nodes")
    left = residue.residue(NAME, index, namespaces)
    harness.expect(not left, "left after down: " + "; ".join(left))


def after_an_interrupted_up(seconds, number):
    process = subprocess.Popen([harness.HERE / "up", "--name", NAME, "--without-inquest"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    time.sleep(seconds)
    index = index_of(harness.STATES / NAME)
    process.send_signal(number)
    process.wait(timeout=60)
    if number == signal.SIGKILL:
        subprocess.run([harness.HERE / "down", "--name", NAME], check=True, stdin=subprocess.DEVNULL)
    else:
        harness.expect(process.returncode != 0, f"up succeeded although interrupted after {seconds} s")
    left = residue.residue(NAME, index, set())
    harness.expect(not left, f"left after {number.name} at {seconds} s: " + "; ".join(left))


def test():
    after_a_whole_run()
    for seconds in INTERRUPTED_AFTER_S:
        after_an_interrupted_up(seconds, signal.SIGTERM)
        after_an_interrupted_up(seconds, signal.SIGKILL)
    return f"nothing left after a whole run and after {2 * len(INTERRUPTED_AFTER_S)} interrupted ones"


harness.main(test)
