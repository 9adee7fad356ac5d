// hprof threads: thread dumps taken apart, and what is said of them.
#include <doctest/doctest.h>

#include "tests/unit/tool/command_support.h"
#include "tools/format/gzip_source.h"
#include "tools/hprof/threads/thread_dump.h"
#include "tools/hprof/threads/threads_report.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

const std::string kHead =
    "2026-11-29 10:09:53\nFull thread dump OpenJDK 64-Bit Server VM (17.0.2+8 mixed mode):\n\n";

std::string waiting(const std::string& name, int number, const std::string& lock) {
  return "\"" + name + "\" #" + std::to_string(number) +
         " prio=5 os_prio=0 cpu=1.50ms elapsed=3.35s tid=0x0000" + std::to_string(number) +
         " nid=0x61d5 waiting for monitor entry  [0x00007f2d741d1000]\n"
         "   java.lang.Thread.State: BLOCKED (on object monitor)\n"
         "\tat demo.A.both(A.java:4)\n\t- waiting to lock <" +
         lock +
         "> (a demo.Lock)\n"
         "\tat java.lang.Thread.run(java.base@17.0.2/Thread.java:840)\n\n";
}

std::string holding(const std::string& name, int number, const std::string& lines) {
  return "\"" + name + "\" #" + std::to_string(number) +
         " daemon prio=5 os_prio=0 cpu=20.00ms elapsed=3.35s tid=0x0000" + std::to_string(number) +
         " nid=0x61da runnable  [0x00007f2d741d1000]\n   java.lang.Thread.State: RUNNABLE\n" + lines + "\n";
}

const std::string kHolds = "\tat demo.A.hold(A.java:9)\n\t- locked <0x10> (a demo.Lock)\n";

ThreadDump read(const std::string& text) {
  ThreadDumpReader reader;
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    reader.take(text.substr(at, end - at));
  }
  return reader.finish();
}

}  // namespace

TEST_CASE("threads are read with their numbers, times, states and locks") {
  const ThreadDump dump =
      read(kHead + waiting("a \"b\" #7", 12, "0x10") + holding("holder", 13, kHolds) +
           "\"VM Thread\" os_prio=0 cpu=0.72ms elapsed=3.41s tid=0x99 nid=0x61c2 runnable  \n\n");
  REQUIRE(dump.threads.size() == 3);
  CHECK(dump.vm == "OpenJDK 64-Bit Server VM (17.0.2+8 mixed mode)");
  CHECK(dump.threads[0].name == "a \"b\" #7");
  CHECK(dump.threads[0].number == 12);
  CHECK(dump.threads[0].cpu_ms == 1.5);
  CHECK(dump.threads[0].lock.id == "0x10");
  CHECK(dump.threads[0].stack.size() == 3);
  REQUIRE(dump.threads[1].holds.size() == 1);
  CHECK(dump.threads[1].holds[0].id == "0x10");
  CHECK(dump.threads[2].number == 0);
  CHECK(dump.threads[2].stack.empty());
}

TEST_CASE("a name with line feeds does not hide its thread") {
  const ThreadDump dump = read(kHead + waiting("two\nlines", 12, "0x10") + holding("next", 13, kHolds));
  REQUIRE(dump.threads.size() == 2);
  CHECK(dump.threads[0].name == "two\nlines");
  CHECK(dump.threads[1].name == "next");
}

TEST_CASE("a monitor that Object.wait() has given back is not held") {
  const ThreadDump dump =
      read(kHead + holding("waits", 13,
                           "\tat java.lang.Object.wait(Native Method)\n\t- waiting on <0x10> (a demo.Lock)\n"
                           "\tat demo.A.pause(A.java:5)\n\t- locked <0x10> (a demo.Lock)\n"));
  REQUIRE(dump.threads.size() == 1);
  CHECK(dump.threads[0].holds.empty());
  CHECK(dump.threads[0].lock.id.empty());
}

TEST_CASE("parking for a lock counts as waiting for it, for a condition or a queue not") {
  const auto lock_of = [](const std::string& of) {
    const ThreadDump dump =
        read(kHead + holding("parks", 13, "\t- parking to wait for  <0x20> (a " + of + ")\n"));
    return dump.threads.at(0).lock.id;
  };
  CHECK(lock_of("java.util.concurrent.locks.ReentrantLock$NonfairSync") == "0x20");
  CHECK(lock_of("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject").empty());
  CHECK(lock_of("java.util.concurrent.SynchronousQueue$TransferStack").empty());
}

TEST_CASE("who holds a lock of java.util.concurrent is said where the dump has it") {
  const ThreadDump dump =
      read(kHead + holding("has", 13,
                           "\tat demo.A.hold(A.java:9)\n\n   Locked ownable synchronizers:\n"
                           "\t- <0x20> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)\n"));
  REQUIRE(dump.threads.at(0).holds.size() == 1);
  CHECK(dump.threads.at(0).holds[0].id == "0x20");
  CHECK(dump.threads.at(0).stack.size() == 1);
}

TEST_CASE("a circle is printed once, with each thread's lock, holder and stack") {
  const ThreadDump dump = read(
      kHead + waiting("left", 12, "0x20") + waiting("right", 13, "0x10") +
      "Found one Java-level deadlock:\n=============================\n"
      "\"left\":\n  waiting to lock monitor 0x7f (object 0x20, a demo.Lock),\n  which is held by "
      "\"right\"\n\n"
      "\"right\":\n  waiting for ownable synchronizer 0x10, (a demo.Sync),\n  which is held by \"left\"\n\n"
      "Java stack information for the threads listed above:\n"
      "===================================================\n"
      "\"left\":\n\tat demo.A.left(A.java:4)\n\"right\":\n\tat demo.A.right(A.java:5)\n\nFound 1 "
      "deadlock.\n");
  REQUIRE(dump.deadlocks.size() == 1);
  REQUIRE(dump.deadlocks[0].size() == 2);
  CHECK(dump.deadlocks[0][0].waits_for == "demo.Lock <0x20>");
  CHECK(dump.deadlocks[0][0].holder == "right");
  CHECK(dump.deadlocks[0][1].waits_for == "demo.Sync <0x10>");
  CHECK(dump.deadlocks[0][1].stack == std::vector<std::string>{"at demo.A.right(A.java:5)"});
  const std::string text = hang_text(dump, Blocked::kAll);
  has(text, "DEADLOCK: 2 threads");
  CHECK(text.find("BLOCKED") == std::string::npos);
}

TEST_CASE("a pool is said to hang when all of its threads wait for locks") {
  const std::string two = waiting("pool-1-thread-1", 21, "0x10") + waiting("pool-1-thread-2", 22, "0x10");
  const std::string holder = holding("holder", 13, kHolds);
  const std::string text = hang_text(read(kHead + two + holder), Blocked::kPools);
  has(text, "2 of the 2 threads of pool-1-thread-#");
  has(text, "held by \"holder\" #13");
  has(text, "at demo.A.hold(A.java:9)");
  const std::string third = holding("pool-1-thread-3", 23, "\tat demo.A.work(A.java:9)\n");
  CHECK(hang_text(read(kHead + two + holder + third), Blocked::kPools).empty());
  CHECK(!hang_text(read(kHead + two + holder + third), Blocked::kAll).empty());
}

TEST_CASE("threads of one stack stand together, the busiest first, by the time between two dumps") {
  const std::string idle = waiting("pool-1-thread-1", 21, "0x10") + waiting("pool-1-thread-2", 22, "0x30");
  const ThreadDump dump = read(kHead + idle + holding("holder", 13, kHolds));
  CpuTimes before = cpu_times(dump);
  before[{"0x000013", "holder"}] = 8;
  const std::string text = threads_text(dump, before, 1);
  has(text, "12.0 ms of CPU in 1.0 s");
  CHECK(text.find("holder") < text.find("2 threads: \"pool-1-thread-1\" #21, \"pool-1-thread-2\" #22"));
}

TEST_CASE("of several dumps in a log the last one counts") {
  const ThreadDump dump = read("log\n" + kHead + holding("first", 1, kHolds) + "more log\n" + kHead +
                               holding("second", 2, kHolds));
  REQUIRE(dump.threads.size() == 1);
  CHECK(dump.threads[0].name == "second");
}

TEST_CASE("the release is read from the dump's head") {
  CHECK(java_version("OpenJDK 64-Bit Server VM (25.0.3+9-LTS mixed mode, sharing)") == 25);
  CHECK(java_version("OpenJDK 64-Bit Server VM (25.504-b01 mixed mode)") == 8);
  CHECK(java_version("no version") == 0);
}

TEST_CASE("a file is taken for a dump, or refused by its name") {
  const Files files;
  has(said({"threads", files.put("dump.txt", kHead + holding("holder", 13, kHolds))}), "\"holder\" #13");
  has(complained({"threads", files.put("other.txt", "no dump\n")}), "other.txt: no thread dump");
}

TEST_CASE("a compressed dump is read, and one of Windows") {
  const Files files;
  std::string dump = kHead + holding("holder", 13, kHolds), lines;
  for (const char letter : dump) lines += letter == '\n' ? std::string("\r\n") : std::string(1, letter);
  has(said({"threads", files.put("dump.txt", lines)}), "\"holder\" #13");
  if (!deflate_gzip(&dump)) return;
  has(said({"threads", files.put("dump.txt.gz", dump)}), "\"holder\" #13");
  has(complained({"threads", files.put("cut.txt.gz", dump.substr(0, dump.size() / 2))}), "cut.txt.gz: ");
}

TEST_CASE("a hostile dump is read to a bound, which is said") {
  std::string many = kHead;
  for (int i = 0; i < 200001; ++i) many += "\"a\" #1\n";
  ThreadDump dump = read(many);
  CHECK(dump.threads.size() == 200000);
  has(counts_text(dump), "more threads or frames");
  std::string deep = holding("deep", 13, "");
  for (int i = 0; i < 20000; ++i)
    deep += "\t- waiting on <" + std::to_string(i) + "> (a demo.Lock)\n\t- locked <0x1> (a A)\n";
  dump = read(kHead + deep);
  CHECK(dump.threads.at(0).stack.size() <= 10000);
  CHECK(dump.threads.at(0).holds.size() <= 1000);
  std::string open = kHead + "\"never ends\n";
  for (int i = 0; i < 20000; ++i) open += "\n";
  CHECK(read(open + holding("next", 14, kHolds)).threads.size() == 1);
}
