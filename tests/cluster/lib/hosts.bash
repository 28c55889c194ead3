# shellcheck shell=bash
# Hosts are namespaces. The first process of a host is process 1 of its PID namespace: when it dies, the kernel kills
# everything in the host, and its mounts and its network go with it.

# host_start NAME CGROUP INIT UNSHARE_OPTION...: starts a host; its files are log/NAME.log and pids/NAME.
# The pid is written before the namespaces exist, so that there is no moment at which `down` could miss the host.
host_start() {
  local name=$1 cgroup=$2 init=$3
  shift 3
  (
    if [ "$cgroup" = cgroup ]; then
      cgroup_enter "$name"
      set -- "$@" --cgroup
    fi
    echo "$BASHPID" > "$STATE/pids/$name"
    exec env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TZ="${TZ:-}" \
      setsid unshare --mount --uts --pid --fork --kill-child --mount-proc "$@" \
      "$LIB/$init" "$CLUSTER" "$name" < /dev/null >> "$STATE/log/$name.log" 2>&1 9>&-
  ) &
  disown
}

# host_pid NAME: the process to enter, as seen from the machine; waits for it to exist.
host_pid() {
  local outer child attempt
  for attempt in $(seq 100); do
    outer=$(cat "$STATE/pids/$1" 2>/dev/null || true)
    child=$(cat "/proc/${outer:-0}/task/${outer:-0}/children" 2>/dev/null || true)
    if [ -n "$child" ] && [ "$(readlink "/proc/${child%% *}/ns/pid")" != "$(readlink /proc/self/ns/pid)" ]; then
      echo "${child%% *}"
      return
    fi
    [ "$attempt" = 100 ] || sleep 0.05
  done
  return 1
}

# host_stop_all: kills every host of the cluster and waits until the last of their processes is gone.
host_stop_all() {
  local file outer child pids=()
  for file in "$STATE"/pids/*; do
    [ -e "$file" ] || continue
    outer=$(cat "$file")
    host_is_ours "$outer" || continue
    child=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null || true)
    pids+=("$outer")
    if [ -n "$child" ]; then pids+=("${child%% *}"); fi
  done
  [ ${#pids[@]} = 0 ] && return
  kill -KILL "${pids[@]}" 2>/dev/null || true
  for child in "${pids[@]}"; do
    timeout 20 tail --pid="$child" -s 0.05 -f /dev/null || return 1
  done
}

# A pid file can outlive its process, and the pid can belong to somebody else by then.
host_is_ours() {
  { tr '\0' ' ' < "/proc/$1/cmdline"; } 2>/dev/null | grep -q "_init $CLUSTER "
}

# host_enter NAME COMMAND...: runs a command as root in a host.
host_enter() {
  local pid options=(--mount --uts --pid)
  pid=$(host_pid "$1") || die "host $1 of cluster $CLUSTER is not running"
  if [ "$1" != "$HEAD_NAME" ]; then
    options+=(--net)
    if [ "$(cat "$STATE/proctrack")" = cgroup ]; then options+=(--cgroup); fi
  fi
  shift
  nsenter --target "$pid" "${options[@]}" -- "$@"
}
