// The readers of thread dumps, which are text of the profiled program.
#include "tests/fuzz/seeds.h"
#include "tools/hprof/threads/dump_file.h"
#include "tools/hprof/threads/lock_owners.h"
#include "tools/hprof/threads/threads_report.h"

using namespace hprof::tool;

std::vector<std::string> fuzz_seeds() {
  return {
      "Full thread dump VM (17.0.2+8 mixed mode):\n"
      "\"left\" #12 [25066] daemon prio=5 os_prio=0 cpu=1.50ms elapsed=3.35s tid=0x12 nid=0x61d5 waiting  "
      "[0x7f]\n"
      "   java.lang.Thread.State: BLOCKED (on object monitor)\n\tat a.A.b(A.java:4)\n"
      "\t- waiting to lock <0x20> (a a.Lock)\n\t- locked <0x10> (a a.Lock)\n\n"
      "   Locked ownable synchronizers:\n\t- <0x30> (a java.util.concurrent.locks.ReentrantLock$Sync)\n\n"
      "\"pool-1\" #13 prio=5 tid=0x13 nid=1 in Object.wait()\n   java.lang.Thread.State: WAITING (on object "
      "monitor)\n"
      "\t- waiting on <0x20> (a a.Lock)\n\t- locked <0x20> (a a.Lock)\n\n\"VM Thread\" os_prio=0 tid=0x99 "
      "nid=2 runnable\n"
      "Found one Java-level deadlock:\n=====\n\"left\":\n"
      "  waiting to lock monitor 0x7f (object 0x20, a a.Lock),\n  which is held by \"pool-1\"\n\"pool-1\":\n"
      "  waiting for ownable synchronizer 0x10, (a a.Sync),\n  which is held by \"left\"\n"
      "Java stack information for the threads listed above:\n\"left\":\n\tat "
      "a.A.b(A.java:4)\n\"pool-1\":\n\tat a.A.c(A.java:5)\n",
      "4711\n2026\n27.0.1+3\n\n#3 \"p\" BLOCKED 2026\n    at a.A.b(A.java:4)\n    - waiting to lock <a.L@1>\n"
      "    - locked <a.L@2>\n\n#32 \"\" virtual WAITING 2026\n    at a.A.a(A.java:2)\n    - waiting to lock "
      "<a.L@2>, owner #3\n    - locked <a.L@1>\n\n#33 \"x\" "
      "virtual\n      a.A.a(A.java:2)\n",
      "{\"threadDump\":{\"runtimeVersion\":\"27\",\"threadContainers\":[{\"container\":\"c\",\"threads\":[{"
      "\"tid\":3,"
      "\"virtual\":true,\"name\":\"n\",\"state\":\"WAITING\",\"parkBlocker\":{\"object\":\"a.L@1\",\"owner\":"
      "3},"
      "\"stack\":[\"a.A.a(A.java:2)\"],\"monitorsOwned\":[{\"depth\":0,\"locks\":[\"a.L@1\"]}]}]}]}}"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  MemorySource source(data, size);
  ThreadDump dump;
  std::string error;
  const bool is_read = read_thread_dump(source, &dump, &error);
  if (is_read == dump.vm.empty()) __builtin_trap();
  uint64_t grouped = 0;
  for (const VirtualGroup& group : dump.virtual_groups) grouped += group.count;
  if (grouped != dump.virtual_count && !dump.is_cut) __builtin_trap();
  ThreadDump both = dump;
  add_virtual_threads(dump, &both);
  both.likely_deadlocks = circles_of(both);
  hang_text(both, Blocked::kAll);
  hang_text(dump, Blocked::kPools);
  threads_text(dump, cpu_times(dump), 1);
  if (virtual_threads_text(dump).empty() != (dump.virtual_count == 0)) __builtin_trap();
  if (counts_text(dump).empty()) __builtin_trap();
  java_version(dump.vm);
  return 0;
}
