# shellcheck shell=bash
# The unprivileged user of a cluster: one account per cluster, with the cluster's shared home.

# The lock keeps clusters that start at the same moment from meeting in /etc/passwd.
user_create() {
  if ! id "$CLUSTER_USER" >/dev/null 2>&1; then
    flock /etc/login.defs useradd --no-create-home --home-dir "$STATE/home" --shell /bin/bash --user-group "$CLUSTER_USER"
  fi
  install -d -o "$CLUSTER_USER" -g "$CLUSTER_USER" -m 0755 "$STATE/home"
}

# Whatever the account owns in the directories that all users share was left there by the cluster's jobs.
user_delete() {
  if id "$CLUSTER_USER" >/dev/null 2>&1; then
    find /tmp /var/tmp -xdev -mindepth 1 -maxdepth 1 -user "$CLUSTER_USER" -exec rm -rf {} +
    flock /etc/login.defs userdel "$CLUSTER_USER"
  fi
}
