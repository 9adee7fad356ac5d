// Reads what jcmd's Thread.dump_to_file writes, plain text or JSON (jdk.internal.vm.ThreadDumper, JDK 21 and
// newer): all threads, virtual ones among them, and since JDK 25 the locks that they wait for and have. The
// VM looks at one thread after the other.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/format/input.h"
#include "tools/format/json.h"
#include "tools/hprof/threads/thread_dump.h"

namespace hprof::tool {

// Makes a dump of one thread after the other.
class ThreadCollector {
 public:
  // A virtual thread goes into the group of its state and stack.
  void add(DumpedThread thread, bool is_virtual);
  // Thread `number` has the lock.
  void add_owner(const std::string& lock, uint64_t number);
  // False, and the dump is cut: it has no more room for a stack of so many lines.
  bool has_room(size_t lines);

  ThreadDump dump;

 private:
  void add_virtual(DumpedThread thread);
  uint32_t group_of(const DumpedThread& thread);
  uint32_t index_of(const DumpedLock& lock);

  size_t lines_ = 0;                          // of all stacks
  std::map<std::string, uint32_t> groups_;    // by state and stack
  std::map<std::string, uint32_t> lock_ids_;  // of virtual threads
};

class DumpFileReader {
 public:
  // A line of the plain text, without its line feed.
  void take(const std::string& line);
  // One object of "threads" in JSON.
  void take(const JsonValue& thread);
  // The dump; its vm is empty if the text is no such file. Call it once, after the last line.
  ThreadDump finish();
  // vm: what the file says of the VM's release.
  void set_release(const std::string& release) { threads_.dump.vm = "Java " + release; }

 private:
  bool begin_thread(const std::string& header);
  void begin_thread(uint64_t number, const std::string& name, bool is_virtual, const std::string& state);
  void take_of_thread(const std::string& line);
  void take_owner(const std::string& line);
  void end_thread();

  ThreadCollector threads_;
  DumpedThread thread_;
  bool in_thread_ = false, is_virtual_ = false;
  std::string header_;  // of a thread whose name has line feeds: its lines so far
  size_t header_lines_ = 0;
  size_t head_ = 0;  // lines before the first thread, so far
  LockLines locks_;
};

using TakeLine = std::function<void(const std::string&)>;
// Passes the lines to `take`, without their ends. False with *error.
bool read_lines(ByteSource& source, const TakeLine& take, std::string* error);

// Reads a dump of any form. False with *error.
bool read_thread_dump(ByteSource& source, ThreadDump* dump, std::string* error);

}  // namespace hprof::tool
