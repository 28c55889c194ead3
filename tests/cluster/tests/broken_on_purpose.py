#!/usr/bin/env python3
"""With Inquest broken in five ways every job runs as if it were not there: same output, same status, no node drained."""

import pathlib
import shlex

import harness

JOBS_OF_A_BREAK = 100 if harness.FULL else 6
HELPERS = harness.PREFIX / "libexec/inquest"
LIMIT_S = 60


class Hosts:
    """Commands as root in all hosts of the cluster, or in its nodes."""

    def __init__(self, running):
        self.running = running

    def everywhere(self, script):
        for host in ["login", *self.running.nodes()]:
            self.running.output("bash", "-c", script, root=True, node=host)

    def on_nodes(self, script):
        for node in self.running.nodes():
            self.running.output("bash", "-c", script, root=True, node=node)


def missing_helpers(hosts):
    hosts.everywhere(f"mount -t tmpfs tmpfs {shlex.quote(str(HELPERS))}")


def hanging_helpers(hosts):
    hosts.everywhere(f"mount -t tmpfs tmpfs {HELPERS} && for name in inquest-launch inquest-notice; do "
                     f"printf '#!/bin/sh\\nexec sleep 600\\n' > {HELPERS}/$name; chmod 755 {HELPERS}/$name; done")


def helpers_back(hosts):
    hosts.everywhere(f"umount {HELPERS}")


def unreadable_configuration(hosts):
    etc = pathlib.Path(hosts.running.state / "etc/inquest")
    etc.mkdir()
    (etc / "inquest.yaml").write_bytes(b"\0\xff: [}\n")
    (etc / "inquest.yaml").chmod(0)


def configuration_back(hosts):
    hosts.running.output("rm", "-r", "/etc/inquest", root=True)


def full_run(hosts):
    hosts.on_nodes("dd if=/dev/zero of=/run/ballast bs=1M 2>/dev/null || true")


def run_back(hosts):
    hosts.on_nodes("rm /run/ballast")


def dead_daemon(hosts):
    hosts.on_nodes("kill -KILL $(cat /run/inquestd.pid)")


def stopped_daemon(hosts):
    hosts.on_nodes(f"{harness.PREFIX}/sbin/inquestd --foreground >/dev/null 2>&1 & sleep 1; kill -STOP $!")


def nothing(_):
    pass


# The daemon comes last: a dead one is not started again.
BREAKS = {
    "missing helpers": (missing_helpers, helpers_back),
    "unreadable configuration": (unreadable_configuration, configuration_back),
    "full /run": (full_run, run_back),
    "hanging helpers": (hanging_helpers, helpers_back),
    "dead inquestd": (dead_daemon, nothing),
    "stopped inquestd": (stopped_daemon, nothing),
}


def well(running):
    result = running.shell("srun", "--inquest", "--nodes=4", "bash", "-c", "echo $SLURM_PROCID", timeout=LIMIT_S)
    return result.returncode == 0 and sorted(result.stdout.split()) == list("0123"), result


def failing(running):
    result = running.shell("srun", "--inquest", "--nodes=4", "bash", "-c", "exit $SLURM_PROCID", timeout=LIMIT_S)
    return result.returncode == 3, result


def batch(running):
    command = 'srun bash -c "echo step $SLURM_JOB_NUM_NODES" && echo script'
    result = running.shell("sbatch", "--wait", "--inquest", "--nodes=2", "--output=batch.out", "--wrap", command,
                           timeout=LIMIT_S)
    lines = (running.state / "home/batch.out").read_text().split("\n")
    return result.returncode == 0 and lines.count("step 2") == 2 and "script" in lines, result


KINDS = (well, failing, batch)


def run_jobs(running, name):
    for number in range(JOBS_OF_A_BREAK):
        kind = KINDS[number % len(KINDS)]
        normal, result = kind(running)
        harness.expect(normal, f"{name}: {kind.__name__} job: status {result.returncode}: {result.stdout} {result.stderr}")


def test():
    harness.require_inquest()
    with harness.cluster("broken") as running:
        hosts = Hosts(running)
        for name, (break_it, mend_it) in BREAKS.items():
            break_it(hosts)
            run_jobs(running, name)
            harness.expect(not running.drained(), f"{name}: drained: {running.drained()}")
            mend_it(hosts)
    return f"{len(BREAKS) * JOBS_OF_A_BREAK} jobs ran normally with {', '.join(BREAKS)}; no node drained"


harness.main(test)
