# shellcheck shell=bash
# One cgroup per node and hierarchy, so that every node sees a tree of its own through a cgroup namespace.
# Slurm's plugin uses these version 1 controllers; a machine may mount some of them together (cpu,cpuacct).

readonly CGROUP_CONTROLLERS='freezer memory cpuset devices cpuacct'

cgroup_version() {
  if [ "$(stat -fc %T /sys/fs/cgroup)" = cgroup2fs ]; then echo 2; else echo 1; fi
}

# cgroup_mounts: the directories in which a node needs a cgroup.
cgroup_mounts() {
  if [ "$(cgroup_version)" = 2 ]; then
    echo /sys/fs/cgroup
    return
  fi
  local controller
  for controller in $CGROUP_CONTROLLERS; do
    findmnt --noheadings --output TARGET --types cgroup --options "$controller" | head -1
  done | sort -u
}

# cgroup_usable: can a directory be made in each hierarchy, with every controller that enforces memory there?
cgroup_usable() {
  local mount probe
  [ -n "$(cgroup_mounts)" ] || return 1
  if [ "$(cgroup_version)" = 1 ] && [ ! -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then return 1; fi
  for mount in $(cgroup_mounts); do
    probe=$mount/inquest-$CLUSTER-probe
    mkdir "$probe" 2>/dev/null || return 1
    if [ "$(cgroup_version)" = 2 ] && ! grep -qw memory "$probe/cgroup.controllers"; then
      rmdir "$probe"
      return 1
    fi
    rmdir "$probe"
  done
}

# cgroup_enter NODE: makes the node's cgroups and moves the calling shell into them.
cgroup_enter() {
  local mount directory
  for mount in $(cgroup_mounts); do
    directory=$mount/inquest-$CLUSTER-$1
    mkdir -p "$directory"
    if [ -e "$directory/cpuset.cpus" ] && [ "$(cgroup_version)" = 1 ]; then
      cat "$mount/cpuset.cpus" > "$directory/cpuset.cpus"
      cat "$mount/cpuset.mems" > "$directory/cpuset.mems"
    fi
    echo "$BASHPID" > "$directory/cgroup.procs"
  done
}

# cgroup_delete: removes the cgroups of all nodes; their processes must be gone.
cgroup_delete() {
  local mount directory
  for mount in $(cgroup_mounts); do
    for directory in "$mount/inquest-$CLUSTER-"*; do
      [ -d "$directory" ] || continue
      find "$directory" -depth -type d -exec rmdir {} + || return 1
    done
  done
}
