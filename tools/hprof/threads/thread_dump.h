// What a dump says of threads and their locks, and the reader of HotSpot's own: the text of jstack, of
// SIGQUIT and of the attach operation "threaddump" (Threads::print_on and DeadlockCycle::print_on_with in
// HotSpot's sources).
//
// All of it is text of the profiled program: names may contain anything, and nothing in it is trusted to be
// whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace hprof::tool {

struct DumpedLock {
  std::string id;  // address, or "a.Class@hash" in the VM's file of virtual threads
  std::string of;  // class
};

// A platform thread.
struct DumpedThread {
  std::string name;
  uint64_t number = 0;             // as Thread.threadId(); 0: a thread of the VM
  std::string address;             // "tid=" in the dump: tells it from others of its name
  std::string nid;                 // the system's number, as printed
  double cpu_ms = -1;              // since its start; below 0: not said (JDK 8)
  std::string state;               // "BLOCKED (on object monitor)"; empty: a thread of the VM
  std::vector<std::string> stack;  // innermost first: "at a.B.c(B.java:1)", "- locked <0x...> (a a.B)"
  DumpedLock lock;                 // that it waits for; its id is empty: none
  std::vector<DumpedLock> holds;
};

// A million of them must not take much memory.
struct VirtualThread {
  std::string name;
  uint64_t number = 0;    // as Thread.threadId()
  uint32_t group = 0;     // index in virtual_groups
  uint32_t lock = kNone;  // that it waits for: index in virtual_locks

  static constexpr uint32_t kNone = UINT32_MAX;
};

// Virtual threads of one state and stack.
struct VirtualGroup {
  std::string state;  // JDK 25 and newer; else empty
  std::vector<std::string> stack;
  uint64_t count = 0;
};

// One of the threads that wait for each other in a circle, as the VM found them.
struct DeadlockedThread {
  std::string name;
  std::string waits_for;  // "java.lang.Object <0x...>"
  std::string holder;     // name of the thread that has it
  std::vector<std::string> stack;
};

struct ThreadDump {
  std::string vm;  // "OpenJDK 64-Bit Server VM (17.0.2+8 mixed mode)"; empty: there is no dump in the text
  std::vector<DumpedThread> threads;
  std::vector<std::vector<DeadlockedThread>> deadlocks;
  // Circles of threads that the VM has not looked at in one moment: they may have moved on in between.
  std::vector<std::vector<DeadlockedThread>> likely_deadlocks;
  std::vector<VirtualGroup> virtual_groups;
  std::deque<VirtualThread> virtual_threads;
  uint64_t virtual_count = 0;  // of all, also of those that are not in virtual_threads
  std::vector<DumpedLock> virtual_locks;
  std::map<std::string, uint64_t>
      owners;           // number of the thread that has a lock, by the lock's id, where it is said
  bool is_cut = false;  // there were more threads or lines than any program has
};

// A hostile text must not take more memory and time than programs of any size need.
constexpr size_t kMostHeaderLines = 16;  // of a name with line feeds
constexpr size_t kMostThreads = 200000;
constexpr size_t kMostLines = 4000000;  // of all stacks
constexpr size_t kMostFrames = 10000;   // lines of one stack
constexpr size_t kMostLocks = 1000;     // that one thread holds, or has given back

// Takes what the lines of one thread say of locks: "- locked <0x...> (a a.B)", of the VM's file "- locked
// <a.B@hash>".
class LockLines {
 public:
  // The lines of the next thread begin.
  void begin() { waits_.clear(); }
  // line: without blanks around it. owned: it is inside of "Locked ownable synchronizers".
  void take(const std::string& line, bool owned, DumpedThread* thread);

 private:
  bool is_given_back(const std::string& id) const;

  std::vector<std::string>
      waits_;  // monitors that the thread waits for, or that Object.wait() has given back
};

// True: a thread that parks for an object of this class waits until another thread gives it up.
bool is_lock(const std::string& of);

// Text without blanks around it.
std::string without_blanks(const std::string& line);

// Reads a thread dump line by line. Of several dumps in a text the last one counts.
class ThreadDumpReader {
 public:
  // A line without its line feed.
  void take(std::string line);
  // The dump. Call it once, after the last line.
  ThreadDump finish();

 private:
  enum class Part { kBefore, kThreads, kDeadlock, kDeadlockStacks };

  bool begins_part(const std::string& line);
  void take_of_thread(const std::string& line);
  void take_of_deadlock(const std::string& line);
  void take_deadlocked_stack(const std::string& line);
  bool begin_thread(const std::string& header);
  void end_thread();
  bool has_room(std::vector<std::string>& lines);

  ThreadDump dump_;
  Part part_ = Part::kBefore;
  bool in_thread_ = false;
  bool owned_ = false;  // inside of "Locked ownable synchronizers"
  size_t lines_ = 0;    // of all stacks, so far
  size_t header_lines_ = 0;
  LockLines locks_;
  std::string header_;            // of a thread whose name has line feeds: its lines so far
  size_t deadlocked_ = SIZE_MAX;  // whose stack is read
  size_t stacks_ = 0;             // of the deadlock, so far
};

// "#21", the VM's number of a release; 0: the text has none. vm: as ThreadDump::vm.
unsigned java_version(const std::string& vm);

}  // namespace hprof::tool
