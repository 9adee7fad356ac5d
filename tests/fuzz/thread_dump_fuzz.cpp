// The readers of thread dumps, which are text of the profiled program.
#include <algorithm>

#include "tests/fuzz/seeds.h"
#include "tools/hprof/threads/thread_dump.h"
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
      "#32 \"\" virtual WAITING 2026\n    at a.A.a(A.java:2)\n    - waiting on <a.A@1>\n\n#33 \"x\" "
      "virtual\n      a.A.a(A.java:2)\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  ThreadDumpReader reader;
  VirtualThreadReader virtual_reader;
  for (size_t at = 0, end = 0; at <= text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    reader.take(text.substr(at, end - at));
    virtual_reader.take(text.substr(at, end - at));
  }
  const ThreadDump dump = reader.finish();
  const std::vector<VirtualThreads> groups = virtual_reader.finish();
  uint64_t grouped = 0;
  for (const VirtualThreads& group : groups) grouped += group.count;
  if (grouped != virtual_reader.count()) __builtin_trap();
  const std::string texts[] = {hang_text(dump, Blocked::kAll), hang_text(dump, Blocked::kPools),
                               threads_text(dump, cpu_times(dump), 1), counts_text(dump),
                               virtual_threads_text(groups, virtual_reader.count())};
  if (texts[2].empty() || texts[4].empty()) __builtin_trap();
  java_version(dump.vm);
  return 0;
}
