#!/usr/bin/env python3
"""A loop of jobs of all kinds: every failed one has exactly one clean line in its accounting record, no healthy one has any."""

import re
import time

import harness

JOBS = 300 if harness.FULL else 50
CLEAN = re.compile(r"inquest 1: [a-z0-9-]+(/[a-z0-9-]+)? \((certain|likely|possible|unknown)\)[ -~]*")
FORBIDDEN = set("'\"|\\")
FAIL = "import sys; sys.exit(3 if __import__('os').environ['SLURM_PROCID'] == '1' else 0)"
RAISE = "import os; {}[os.environ['SLURM_PROCID']] if os.environ['SLURM_PROCID'] == '0' else 0"
WELL = "print('done')"
WAIT_S = 60


def submit(running, number):
    """Submits one job and returns its id and whether it fails."""
    program, fails = ((FAIL, True), (WELL, False), (RAISE, True), (WELL, False), (FAIL, True))[number % 5]
    common = ["--nodes=2", "--ntasks=2", "--output=/dev/null", "--error=/dev/null", f"--job-name=loop{number}"]
    if number % 2:
        running.shell("srun", "--inquest", *common, "python3", "-c", program)
    else:
        script = f'srun --inquest python3 -c "{program}"'
        running.shell("sbatch", *common, "--wrap", script, check=True)
    return f"loop{number}", fails


def records(running):
    """Accounting of all jobs: {name: [(state, comment)]}, duplicates included."""
    text = running.output("sacct", "--duplicates", "--allocations", "--noheader", "--parsable2", "--allusers",
                          "--format=jobname,state,admincomment", root=True)
    found = {}
    for line in text.splitlines():
        name, state, comment = line.split("|", 2)
        found.setdefault(name, []).append((state, comment))
    return found


def times_written(running):
    """How often each line was written, by the database's own journal of modifications."""
    query = "SELECT COUNT(*) FROM slurm_acct_db.txn_table WHERE info LIKE '%inquest 1:%'"
    return int(running.output("mariadb", "--no-defaults", "--socket=/run/mysqld/mysqld.sock", "-N", "-e", query, root=True))


def missing(found, expected):
    return [name for name, fails in expected.items() if name not in found or (fails and not found[name][0][1])]


def wait_for_lines(running, expected):
    deadline = time.monotonic() + WAIT_S
    found = records(running)
    while missing(found, expected) and time.monotonic() < deadline:
        time.sleep(1)
        found = records(running)
    return found


def check(name, entries, fails):
    harness.expect(len(entries) == 1, f"{name}: {len(entries)} records")
    comment = entries[0][1]
    if not fails:
        harness.expect(comment == "", f"{name} was healthy ({entries[0][0]}) and has {comment!r}")
        return
    harness.expect(CLEAN.fullmatch(comment), f"{name} ({entries[0][0]}) has {comment!r}")
    harness.expect(not FORBIDDEN & set(comment) and len(comment) <= 1000, f"{name}: not clean: {comment!r}")


def test():
    harness.require_inquest()
    with harness.cluster("loop") as running:
        expected = dict(submit(running, number) for number in range(JOBS))
        found = wait_for_lines(running, expected)
        harness.expect(not missing(found, expected), f"no line or record: {missing(found, expected)}")
        for name, fails in expected.items():
            check(name, found[name], fails)
        failed = sum(expected.values())
        harness.expect(times_written(running) == failed, f"{times_written(running)} lines written for {failed} jobs")
        harness.expect(not running.drained(), f"drained: {running.drained()}")
    return f"{JOBS} jobs: one clean line for each of the {failed} that failed, none for the others"


harness.main(test)
