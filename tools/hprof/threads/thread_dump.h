// Takes HotSpot's thread dumps apart: the text of jstack, of SIGQUIT and of the attach operation "threaddump"
// (Threads::print_on and DeadlockCycle::print_on_with in HotSpot's sources), and the plain text of jcmd's
// Thread.dump_to_file, which alone has virtual threads (jdk.internal.vm.ThreadDumper, JDK 21 and newer).
//
// All of it is text of the profiled program: names may contain anything, and nothing in it is trusted to be
// whole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hprof::tool {

struct DumpedThread {
  std::string name;
  uint64_t number = 0;             // as Thread.threadId(); 0: a thread of the VM
  std::string address;             // "tid=" in the dump: tells it from others of its name
  std::string nid;                 // the system's number, as printed
  double cpu_ms = -1;              // since its start; below 0: not said (JDK 8)
  std::string state;               // "BLOCKED (on object monitor)"; empty: a thread of the VM
  std::vector<std::string> stack;  // innermost first: "at a.B.c(B.java:1)", "- locked <0x...> (a a.B)"
  std::string lock;                // address of the lock that it waits for; empty: none
  std::string lock_class;          // of that lock
  std::vector<std::string> holds;  // addresses of locks
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
  bool is_cut = false;  // there were more threads or lines than any program has
};

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
  void take_lock_line(const std::string& line);
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
  std::vector<std::string> waits_;  // monitors that Object.wait() has given back
  std::string header_;              // of a thread whose name has line feeds: its lines so far
  size_t deadlocked_ = SIZE_MAX;    // whose stack is read
  size_t stacks_ = 0;               // of the deadlock, so far
};

// "#21", the VM's number of a release; 0: the text has none. vm: as ThreadDump::vm.
unsigned java_version(const std::string& vm);

// Virtual threads of one state and stack.
struct VirtualThreads {
  std::string state;  // JDK 25 and newer; else empty
  std::vector<std::string> stack;
  uint64_t count = 0;
};

// Reads the plain text of Thread.dump_to_file line by line, and keeps the virtual threads in it.
class VirtualThreadReader {
 public:
  void take(const std::string& line);
  // The groups, the largest first. Call it once, after the last line.
  std::vector<VirtualThreads> finish();
  uint64_t count() const { return count_; }

 private:
  void end_thread();

  std::map<std::string, VirtualThreads> groups_;  // by state and stack
  VirtualThreads thread_;
  bool in_thread_ = false;
  uint64_t count_ = 0;
  size_t lines_ = 0;  // of all groups
};

}  // namespace hprof::tool
