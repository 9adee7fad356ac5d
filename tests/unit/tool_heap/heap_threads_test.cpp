// hprof threads on heap dumps: threads by stack, and who holds the locks that they are parked for.
#include <doctest/doctest.h>

#include "tests/unit/tool/command_support.h"
#include "tests/unit/tool_heap/small_heap.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

constexpr uint64_t kSync = 0x30, kThread = 0x31, kVirtual = 0x32, kName = 0x603;
constexpr uint64_t kLock = 0x1000, kOther = 0x1001, kWorker = 0x2000, kWaiter = 0x2001,
                   kVirtualWaiter = 0x2002;
constexpr uint32_t kRunnable = 0x5, kBlocked = 0x401, kParked = 0x291;

// "worker" with a stack, and whatever else a test adds.
struct ThreadHeap {
  SmallHeap heap;
  ThreadHeap() {
    HprofBuilder& b = heap.builder();
    b.end().string(0x600, "work").string(0x601, "()V").string(0x602, "Holder.java").string(kName, "worker");
    const char* fields[] = {"exclusiveOwnerThread", "parkBlocker", "tid", "threadStatus"};
    for (uint64_t i = 0; i < 4; ++i) b.string(0x500 + i, fields[i]);
    const std::pair<uint64_t, const char*> classes[] = {
        {kSync, "java/util/concurrent/locks/ReentrantLock$NonfairSync"},
        {kThread, "java/lang/Thread"},
        {kVirtual, "java/lang/VirtualThread"}};
    for (const auto& [id, name] : classes)
      b.string(id + 0x700, name).load_class(static_cast<uint32_t>(id), id, 0, id + 0x700);
    b.frame(0x700, 0x600, 0x601, 0x602, SmallHeap::kHolder, 12);
    b.trace(9, 3, {0x700}).start_thread(3, kWorker, 9, kName);
    b.begin(0x1c);
    b.class_dump(kSync, SmallHeap::kObject, 8, {{0x500, 2}});
    b.class_dump(kThread, SmallHeap::kObject, 20, {{0x501, 2}, {0x502, 11}, {0x503, 10}});
    b.class_dump(kVirtual, kThread, 20, {});
    b.u1(0x08).id(kWorker).u4(3).u4(9);
    heap.thread(kWaiter, 4);
  }
  void lock(uint64_t id, uint64_t owner) { heap.builder().instance(id, kSync, 8).id(owner); }
  void thread(uint64_t id, uint64_t of, uint64_t blocker, uint64_t number, uint32_t status) {
    heap.builder().instance(id, of, 20).id(blocker).u8(number).u4(status);
  }
};

}  // namespace

TEST_CASE("a heap dump says who holds the lock that threads are parked for") {
  ThreadHeap made;
  made.lock(kLock, kWorker);
  made.thread(kWorker, kThread, 0, 40, kRunnable);
  made.thread(kWaiter, kThread, kLock, 41, kParked);
  made.thread(kVirtualWaiter, kVirtual, kLock, 42, kParked);
  made.heap.builder().u1(0x07).id(kOther);
  made.heap.bytes(kOther, 1);
  const Files files;
  const std::string text = said({"threads", files.put("app.hprof", made.heap.file())});
  has(text, "app.hprof, heap dump of ");
  has(text,
      "BLOCKED: 1 thread and 1 virtual thread wait for java.util.concurrent.locks.ReentrantLock$NonfairSync "
      "@ 0x1000, held by \"worker\" #40\n");
  has(text, "  \"worker\" #40, runnable\n    at Holder.work(Holder.java:12)\n");
  has(text, "VIRTUAL THREADS: 1\n  1 thread: #42, parked\n");
  has(text, "MONITORS IN USE: 1\n    byte[] @ 0x1001\n");
}

TEST_CASE("threads that wait for each other's locks are deadlocked, as the program stood still") {
  ThreadHeap made;
  made.lock(kLock, kWorker);
  made.lock(kOther, kWaiter);
  made.thread(kWorker, kThread, kOther, 40, kParked);
  made.thread(kWaiter, kThread, kLock, 41, kParked);
  const Files files;
  const std::string text = said({"threads", files.put("app.hprof", made.heap.file())}, kFoundProblems);
  has(text, "DEADLOCK: 2 threads wait for each other\n");
  CHECK(text.find("LIKELY") == std::string::npos);
}

TEST_CASE("what a heap dump does not say is named") {
  ThreadHeap made;
  made.thread(kWorker, kThread, 0, 40, kBlocked);
  const Files files;
  const std::string text = said({"threads", files.put("app.hprof", made.heap.file())});
  has(text, "A heap dump does not say for which monitors threads are blocked.\n");
  has(complained({"threads", files.put("cut.hprof", made.heap.file().substr(0, 19))}), "cut.hprof: ");
  HprofBuilder samples;
  samples.string(1, "x").frame(2, 1, 1, 1, 1, 3).trace(7, 0, {2});
  samples.begin(0x0d).u4(5).u4(1).u4(5).u4(7).end();
  has(complained({"threads", files.put("java.hprof", samples.bytes())}),
      "java.hprof: no heap dump in it; it has CPU SAMPLES");
}
