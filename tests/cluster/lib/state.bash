# shellcheck shell=bash
# shellcheck disable=SC2034  # read by the scripts that source this one
# One cluster's names, paths and addresses. Everything a cluster owns is derived from its name and its index.
# The index is the number of its bridge: the kernel refuses a second one, so two clusters never share a number.

readonly INQUEST_CLUSTERS=/tmp/inquest-clusters
INQUEST_TEST_PREFIX=${INQUEST_TEST_PREFIX:-/opt/inquest-test}
readonly HEAD_NAME=login
readonly SLURMD_PORT=6818

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

require_root() {
  [ "$(id -u)" = 0 ] || die "must run as root"
}

# state_use NAME: sets the variables of a cluster that may or may not exist.
state_use() {
  [[ $1 =~ ^[a-z][a-z0-9]{0,15}$ ]] || die "a cluster's name is at most 16 of a-z and 0-9: '$1'"
  CLUSTER=$1
  STATE=$INQUEST_CLUSTERS/$CLUSTER
  CLUSTER_USER=iq-$CLUSTER
  if [ -s "$STATE/index" ]; then
    state_use_index "$(cat "$STATE/index")"
  fi
}

state_use_index() {
  INDEX=$1
  BRIDGE=iqb$INDEX
  SUBNET=10.213.$INDEX
  HEAD_ADDRESS=$SUBNET.254
  SLURMCTLD_PORT=$((21000 + 2 * INDEX))
  SLURMDBD_PORT=$((21001 + 2 * INDEX))
}

# state_reserve [NAME]: takes the name (mkdir is atomic), or the first free one of c1, c2, ...
state_reserve() {
  mkdir -p "$INQUEST_CLUSTERS"
  [ "$(stat -c %u "$INQUEST_CLUSTERS")" = 0 ] || die "$INQUEST_CLUSTERS does not belong to root"
  if [ -n "$1" ]; then
    state_use "$1"
    mkdir "$STATE" 2>/dev/null || die "cluster $1 exists already; tests/cluster/down --name $1 ends it"
    return
  fi
  local number
  for number in $(seq 1 200); do
    state_use "c$number"
    if mkdir "$STATE" 2>/dev/null; then return; fi
  done
  die "no free cluster name"
}

# state_lock SECONDS: held by up and by down while they work, and by every child of an up that was killed.
state_lock() {
  exec 9>> "$STATE/lock"
  flock --wait "$1" 9
}

# state_only: the name of the one cluster that is up.
state_only() {
  local names=("$INQUEST_CLUSTERS"/*/)
  [ -d "${names[0]}" ] || die "no cluster is up; start one with tests/cluster/up"
  [ ${#names[@]} = 1 ] || die "several clusters are up; choose one with --name: $(cd "$INQUEST_CLUSTERS" && echo *)"
  basename "${names[0]}"
}

node_names() {
  seq -f 'n%.0f' 1 "$(cat "$STATE/node_count")"
}
