# shellcheck shell=bash
# Sourced by scripts that run a step beside others, such as a build beside tests that mostly wait.
#
#   beside NAME COMMAND...   starts a command or function at a lower priority and keeps what it prints
#   finish_beside NAME       waits for it and prints what it printed; its exit code
#
# What still runs when the script ends is ended.

declare -A beside_process=() beside_log=()
beside_folder=

beside() {
  local name=$1; shift
  if [ -z "$beside_folder" ]; then
    beside_folder=$(mktemp -d)
    trap end_beside EXIT
  fi
  beside_log[$name]=$beside_folder/${#beside_log[@]}
  # Job control gives it a process group of its own, so that all of it can be ended.
  set -m
  (
    trap - EXIT
    renice -n 10 -p $BASHPID >/dev/null
    "$@"
  ) >"${beside_log[$name]}" 2>&1 </dev/null &
  set +m
  beside_process[$name]=$!
}

finish_beside() {
  local name=$1 code=0
  wait "${beside_process[$name]}" || code=$?
  unset "beside_process[$name]"
  cat "${beside_log[$name]}"
  return $code
}

end_beside() {
  local process
  for process in "${beside_process[@]}"; do kill -- "-$process" 2>/dev/null || true; done
  rm -rf "$beside_folder"
}
