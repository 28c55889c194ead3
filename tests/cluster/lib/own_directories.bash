# shellcheck shell=bash
# What every host has for itself: name, /run, and the cluster's /etc/slurm and /etc/hosts in the usual places.

own_directories() {
  hostname "$1"
  mount -t tmpfs -o mode=0755,size=64m tmpfs /run
  mkdir -p /run/lock /run/munge /run/mysqld
  mount --bind "$STATE/munge" /run/munge
  mount --bind "$STATE/etc/slurm" /etc/slurm
  mount --bind "$STATE/etc/hosts" /etc/hosts
}
