# shellcheck shell=bash
# Says what is being done and how long it took; the output of a step is shown only when it fails.

INQUEST_TEST_PREFIX=${INQUEST_TEST_PREFIX:-/opt/inquest-test}

# step TITLE COMMAND...
step() {
  local title=$1 started log status=0
  shift
  started=$(date +%s%N)
  log=$(mktemp)
  printf '%-52s' "$title ..."
  "$@" > "$log" 2>&1 < /dev/null || status=$?
  if [ "$status" = 0 ]; then echo "done in $(seconds_since "$started") s"; else
    echo "FAILED after $(seconds_since "$started") s (status $status)"
    tail -n 60 "$log"
  fi
  rm -f "$log"
  return "$status"
}

# seconds_since NANOSECONDS: with one digit.
seconds_since() {
  local tenths=$((($(date +%s%N) - $1) / 100000000))
  echo "$((tenths / 10)).$((tenths % 10))"
}
