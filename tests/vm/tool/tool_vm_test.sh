#!/bin/sh
# hprof attach, run, check and print with real VMs.
#
#   tool_vm_test.sh HPROF PROBE_AGENT CLASSES JAVA_HOME...
#
# Run as the user of the VMs that it starts. Exit status 0 when all that was expected happened.
set -u
hprof=$1 agent=$2 classes=$3
shift 3
work=$(mktemp -d /tmp/hprof-vm-XXXXXX)
failures=0

check() {  # NAME EXPECTED ACTUAL
  if [ "$2" = "$3" ]; then
    echo "ok   $1"
  else
    echo "FAIL $1: expected '$2', got '$3'"
    failures=$((failures + 1))
  fi
}

one_jdk() {
  java=$1/bin/java
  out=$work/out
  rm -rf "$out"
  mkdir "$out"
  mkfifo "$out/input"
  "$java" -cp "$classes" Waiter <"$out/input" >"$out/said" 2>"$out/warned" &
  pid=$!
  exec 3>"$out/input"
  tries=0
  while [ ! -s "$out/said" ] && [ $tries -lt 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
  done

  "$hprof" attach --agent="$agent" $pid "$out/attached" >"$out/log" 2>&1
  check "$1: attach" 0 $?
  check "$1: the agent ran" attached "$(cat "$out/attached" 2>/dev/null)"
  "$hprof" attach --agent="$agent" $pid refuse >"$out/log" 2>&1
  check "$1: a refusing agent is status 1" 1 $?
  "$hprof" attach --agent="$work/none.so" $pid x >"$out/log" 2>&1
  check "$1: a missing library is status 2" 2 $?
  kill -0 $pid 2>/dev/null
  check "$1: the program goes on" 0 $?

  if [ -x "$1/bin/jcmd" ]; then
    "$1/bin/jcmd" $pid GC.heap_dump "$out/dump.hprof" >"$out/log" 2>&1
    "$hprof" check --allow=reference "$out/dump.hprof" >"$out/log"
    check "$1: the VM's own dump breaks no rule but dangling references" 0 $?
    "$hprof" print "$out/dump.hprof" | grep -q ' java.lang.String$'
    check "$1: print names java.lang.String" 0 $?
  fi
  exec 3>&-
  wait $pid

  "$hprof" run --agent="$agent" "$out/loaded" -- "$java" -cp "$classes" Waiter </dev/null >"$out/said" 2>&1
  check "$1: run" "0 loaded" "$? $(cat "$out/loaded" 2>/dev/null)"
  rm -f "$out/loaded"
  printf '#!/bin/sh\nexec "%s" -cp "%s" Waiter </dev/null\n' "$java" "$classes" >"$out/launcher"
  chmod +x "$out/launcher"
  "$hprof" run --agent="$agent" "$out/loaded" -- "$out/launcher" >"$out/said" 2>&1
  check "$1: run of another launcher" loaded "$(cat "$out/loaded" 2>/dev/null)"
}

sleep 60 &
stranger=$!
"$hprof" attach --agent="$agent" $stranger x >"$work/log" 2>&1
check "no VM: attach is status 2" 2 $?
kill -0 $stranger
check "no VM: it is not harmed" 0 $?
kill $stranger
for home in "$@"; do one_jdk "$home"; done
rm -rf "$work"
exit $((failures > 0))
