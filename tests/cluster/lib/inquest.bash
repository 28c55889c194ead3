# shellcheck shell=bash
# Enables an installed Inquest in the cluster with the lines of configs/samples.

# inquest_enable PREFIX: before the daemons start.
inquest_enable() {
  [ -n "$(find "$1" -name spank_inquest.so -print -quit 2>/dev/null)" ] ||
    die "no Inquest is installed below $1; tests/setup/build and tests/setup/install do that, --without-inquest does without"
  install -m 0644 "$1/share/inquest/samples/plugstack.conf" "$STATE/etc/slurm/plugstack.conf"
  install -m 0755 "$1/share/inquest/samples/epilog" "$STATE/etc/slurm/epilog"
  echo "Epilog=/etc/slurm/epilog" >> "$STATE/etc/slurm/slurm.conf"
  echo "$1/sbin/inquestd" > "$STATE/inquestd"
  echo "$1/bin" > "$STATE/inquest_bin"
}
