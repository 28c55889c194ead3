# shellcheck shell=bash
# One bridge per cluster with the machine's own address on it, one veth pair per node. Nothing is routed or forwarded.

# network_create: takes the first free index; creating its bridge is what makes it ours.
network_create() {
  local index
  for index in $(seq 1 250); do
    state_use_index "$index"
    network_is_free || continue
    ip link add "$BRIDGE" type bridge 2>/dev/null || continue
    echo "$index" > "$STATE/index"
    ip link set "$BRIDGE" up
    ip addr add "$HEAD_ADDRESS/24" dev "$BRIDGE"
    return
  done
  die "no free network among 10.213.1.0/24 ... 10.213.250.0/24"
}

network_is_free() {
  [ -z "$(ip -o route show to match "$HEAD_ADDRESS" table all scope link)" ] &&
    [ -z "$(ss -Hltn "( sport = :$SLURMCTLD_PORT or sport = :$SLURMDBD_PORT )")" ]
}

# network_attach NODE_NUMBER PID: gives the network namespace of PID its eth0.
network_attach() {
  local veth=iq${INDEX}n$1
  ip link add "$veth" type veth peer name eth0 netns "$2"
  ip link set "$veth" master "$BRIDGE" up
  nsenter --target "$2" --net ip addr add "$SUBNET.$1/24" dev eth0
  nsenter --target "$2" --net ip link set lo up
  nsenter --target "$2" --net ip link set eth0 up
}

# A namespace that dies takes its veth with it only some time later; deleting our end is immediate.
network_delete() {
  local link
  [ -n "${INDEX:-}" ] || return 0
  for link in $(ip -o link show type veth | grep -o "iq${INDEX}n[0-9]*"); do
    ip link del "$link" 2>/dev/null || true
  done
  if ip link show "$BRIDGE" >/dev/null 2>&1; then ip link del "$BRIDGE"; fi
}
