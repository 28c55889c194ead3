"""What the cluster tests share: a cluster of their own, commands in it, and one line as the result."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
STATES = pathlib.Path("/tmp/inquest-clusters")
PREFIX = pathlib.Path(os.environ.get("INQUEST_TEST_PREFIX", "/opt/inquest-test")) / "inquest"
FULL = os.environ.get("INQUEST_FULL") == "1"
SKIPPED = 77


class Failed(Exception):
    """What was expected and what was seen."""


def expect(condition, text):
    if not condition:
        raise Failed(text)


def wait_until(condition, what, limit_s):
    """Asks twice a second; fails when the condition does not hold within `limit_s` seconds."""
    deadline = time.monotonic() + limit_s
    while not condition():
        expect(time.monotonic() < deadline, f"{what}: not within {limit_s} s")
        time.sleep(0.5)


class Cluster:
    """A running cluster; `up` and `down` are the scripts beside this file."""

    def __init__(self, name):
        self.name = name
        self.state = STATES / name

    def shell(self, *command, root=False, node=None, timeout=120, check=False):
        """Runs a command in the cluster and returns its result, with text output."""
        where = ["--name", self.name] + (["--root"] if root else []) + (["--node", node] if node else [])
        return subprocess.run([HERE / "shell", *where, "--", *command], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=timeout, check=check)

    def output(self, *command, **options):
        """Standard output of a command that must succeed."""
        result = self.shell(*command, **options)
        expect(result.returncode == 0, f"{' '.join(command)}: status {result.returncode}: {result.stderr.strip()}")
        return result.stdout

    def nodes(self):
        return [f"n{number}" for number in range(1, int((self.state / "node_count").read_text()) + 1)]

    def drained(self):
        """Names of nodes that are drained, draining, down or failing."""
        states = self.output("sinfo", "--noheader", "--Node", "--format=%N %t %E", root=True).splitlines()
        bad = ("drain", "drng", "down", "fail", "unk")
        return [line for line in states if any(word in line.split()[1] for word in bad)]


@contextlib.contextmanager
def cluster(name, *arguments):
    """A cluster that is gone afterwards, whatever happens."""
    result = subprocess.run([HERE / "up", "--name", name, *arguments], capture_output=True, text=True,
                            stdin=subprocess.DEVNULL)
    expect(result.returncode == 0, f"up: {result.stderr}")
    try:
        yield Cluster(name)
    finally:
        subprocess.run([HERE / "down", "--name", name], check=True, stdin=subprocess.DEVNULL)


def require_inquest():
    """Skips the test where no Inquest is installed for the tests."""
    if not list(PREFIX.glob("lib*/**/spank_inquest.so")):
        print(f"no Inquest below {PREFIX}")
        sys.exit(SKIPPED)


def leave(number, _):
    """A second signal must not interrupt the cleaning up that the first one starts."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(128 + number)


def main(test):
    """Runs a test, prints its one line and ends with its status. A signal ends it in order, with its clusters."""
    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    try:
        print(test() or "")
    except Failed as failure:
        print(failure)
        sys.exit(1)
