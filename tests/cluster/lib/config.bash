# shellcheck shell=bash
# The cluster's /etc, which all its hosts share: the machine's, with the configuration files of the cluster.

# config_write NODE_COUNT PROCTRACK: everything but what belongs to Inquest.
config_write() {
  install -d "$STATE/etc" "$STATE/log" "$STATE/pids"
  # The lock of user_create: files of an account that is being made come and go.
  flock /etc/login.defs cp --archive /etc/. "$STATE/etc"
  rm -rf "$STATE/etc/slurm" "$STATE/etc/inquest"
  install -d "$STATE/etc/slurm"
  install -d -o slurm -g slurm "$STATE/slurm" "$STATE/slurm/state"
  chown slurm: "$STATE/log"
  echo "$1" > "$STATE/node_count"
  echo "$2" > "$STATE/proctrack"
  config_hosts > "$STATE/etc/hosts"
  config_slurm "$1" "$2" > "$STATE/etc/slurm/slurm.conf"
  config_cgroup > "$STATE/etc/slurm/cgroup.conf"
  config_database > "$STATE/database.sql"
  (umask 077 && config_slurmdbd > "$STATE/etc/slurm/slurmdbd.conf")
  chown slurm: "$STATE/etc/slurm/slurmdbd.conf"
}

config_hosts() {
  local number
  echo "127.0.0.1 localhost"
  echo "$HEAD_ADDRESS $HEAD_NAME"
  for number in $(seq 1 "$(cat "$STATE/node_count")"); do
    echo "$SUBNET.$number n$number"
  done
}

# More CPUs than the machine has (config_overrides), so that several small jobs fit on a node.
# CR_CPU alone would set no memory limit; a limit needs CR_CPU_Memory and a default.
config_slurm() {
  cat <<CONF
ClusterName=$CLUSTER
SlurmctldHost=$HEAD_NAME($HEAD_ADDRESS)
SlurmctldPort=$SLURMCTLD_PORT
SlurmdPort=$SLURMD_PORT
CommunicationParameters=NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket=$STATE/munge/munge.socket.2
SlurmUser=slurm
StateSaveLocation=$STATE/slurm/state
SlurmctldPidFile=$STATE/slurm/slurmctld.pid
SlurmctldLogFile=$STATE/log/slurmctld.log
SlurmdSpoolDir=$STATE/nodes/%n/slurmd
SlurmdPidFile=/run/slurmd.pid
SlurmdLogFile=$STATE/log/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/$2
TaskPlugin=$(if [ "$2" = cgroup ]; then echo task/cgroup; else echo task/none; fi)
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdTimeout=300
MessageTimeout=20
KillWait=5
MinJobAge=300
PropagateResourceLimits=NONE
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=1024
SchedulerParameters=bf_interval=5
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=$HEAD_ADDRESS
AccountingStoragePort=$SLURMDBD_PORT
AccountingStoreFlags=job_comment
NodeName=DEFAULT CPUs=4 RealMemory=8192 State=UNKNOWN
$(for number in $(seq 1 "$1"); do echo "NodeName=n$number NodeAddr=$SUBNET.$number"; done)
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=YES
CONF
}

config_cgroup() {
  echo "CgroupPlugin=cgroup/v$(cgroup_version)"
  echo "CgroupAutomount=no"
  echo "ConstrainRAMSpace=yes"
  if [ "$(cgroup_version)" = 2 ]; then echo "IgnoreSystemd=yes"; fi
}

config_slurmdbd() {
  cat <<CONF
DbdHost=$HEAD_NAME
DbdAddr=$HEAD_ADDRESS
DbdPort=$SLURMDBD_PORT
SlurmUser=slurm
AuthType=auth/munge
AuthInfo=socket=$STATE/munge/munge.socket.2
PidFile=$STATE/slurm/slurmdbd.pid
LogFile=$STATE/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc=slurm_acct_db
CONF
}

config_database() {
  cat <<SQL
CREATE DATABASE slurm_acct_db;
CREATE USER slurm@localhost IDENTIFIED VIA unix_socket;
GRANT ALL ON slurm_acct_db.* TO slurm@localhost;
SQL
}
