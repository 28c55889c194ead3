# shellcheck shell=bash
# What makes a namespace a host of its own: its name, its /run, and the cluster's /etc.

own_directories() {
  hostname "$1"
  mount -t tmpfs -o mode=0755,size=64m tmpfs /run
  mkdir -p /run/lock /run/munge /run/mysqld
  mount --bind "$STATE/munge" /run/munge
  mount --bind "$STATE/etc" /etc
}
