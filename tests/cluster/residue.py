"""Finds what a cluster left behind on the machine."""

import pathlib
import pwd
import subprocess

NAMESPACES = ("mnt", "uts", "net", "pid", "cgroup")


def namespaces_of(pid):
    """Namespaces of a process that are not this process's own."""
    found = set()
    for kind in NAMESPACES:
        try:
            link = pathlib.Path(f"/proc/{pid}/ns/{kind}").readlink()
        except OSError:
            continue
        if link != pathlib.Path(f"/proc/self/ns/{kind}").readlink():
            found.add(str(link))
    return found


def namespaces_of_cluster(state):
    """Namespaces of all hosts of a running cluster. The pid files name the process outside; its child is inside."""
    found = set()
    for file in (state / "pids").glob("*"):
        text = file.read_text().strip()
        if text:
            children = pathlib.Path(f"/proc/{text}/task/{text}/children").read_text().split()
            found |= set().union(namespaces_of(text), *(namespaces_of(child) for child in children))
    return found


def processes_in(namespaces):
    pids = [path.name for path in pathlib.Path("/proc").glob("[0-9]*")]
    return [f"process {pid} in a namespace of the cluster" for pid in pids if namespaces_of(pid) & namespaces]


def processes_named(name):
    """Programs that were started for the cluster, by their command line."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(word.endswith("_init") for word in words) and name in words:
            found.append(f"process {path.parent.name}: {' '.join(words)}")
    return found


def links(index):
    text = subprocess.run(["ip", "-oneline", "link"], capture_output=True, text=True, check=True).stdout
    wanted = (f" iqb{index}:", f" iq{index}n")
    return [f"link {line.split()[1]}" for line in text.splitlines() if any(word in line for word in wanted)]


def user(name):
    try:
        return [f"user {pwd.getpwnam('iq-' + name).pw_name}"]
    except KeyError:
        return []


def residue(name, index, namespaces):
    """One line for everything that is left of the cluster; empty when it is gone. `index` may be None."""
    left = processes_in(namespaces) + processes_named(name) + user(name)
    left += links(index) if index else []
    state = pathlib.Path("/tmp/inquest-clusters") / name
    left += [f"directory {state}"] if state.exists() else []
    left += [f"cgroup {path}" for path in pathlib.Path("/sys/fs/cgroup").glob(f"**/inquest-{name}-*")]
    mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    left += [f"mount {line}" for line in mounts if str(state) + "/" in line]
    return left
