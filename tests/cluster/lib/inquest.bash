# shellcheck shell=bash
# Enables an installed Inquest in the cluster with the lines of configs/samples.

# inquest_enable PREFIX: before the daemons start.
inquest_enable() {
  local plugin
  plugin=$(find "$1" -name spank_inquest.so -print -quit 2>/dev/null)
  [ -n "$plugin" ] || die "no Inquest is installed below $1; --without-inquest starts a cluster without it"
  echo "optional $plugin" > "$STATE/etc/slurm/plugstack.conf"
  install -m 0755 "$1/share/inquest/samples/epilog" "$STATE/etc/slurm/epilog"
  echo "Epilog=/etc/slurm/epilog" >> "$STATE/etc/slurm/slurm.conf"
  echo "$1/sbin/inquestd" > "$STATE/inquestd"
  echo "$1/bin" > "$STATE/inquest_bin"
}
