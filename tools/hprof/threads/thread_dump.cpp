#include "tools/hprof/threads/thread_dump.h"

#include <algorithm>
#include <cstdlib>

namespace hprof::tool {

namespace {

constexpr char kDump[] = "Full thread dump ";
constexpr char kDeadlock[] = "Found one Java-level deadlock:";
constexpr char kDeadlockStacks[] = "Java stack information for the threads listed above:";
constexpr size_t kMostDeadlocked = 10000;

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

// The text between two marks, or "".
std::string between(const std::string& text, const char* before, const char* after) {
  const size_t at = text.find(before);
  if (at == std::string::npos) return "";
  const size_t begin = at + std::string(before).size(), end = text.find(after, begin);
  return end == std::string::npos ? "" : text.substr(begin, end - begin);
}

// The value of " name=" behind the thread's name.
std::string attribute(const std::string& attributes, const std::string& name) {
  const size_t at = attributes.find(" " + name + "=");
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size() + 2;
  return attributes.substr(begin, attributes.find(' ', begin) - begin);
}

// Where the attributes behind a thread's name begin; npos: the line ends inside the name.
size_t end_of_name(const std::string& header) {
  size_t at = header.rfind("\" #");
  if (at == std::string::npos) at = header.rfind("\" os_prio=");
  if (at == std::string::npos) at = header.rfind("\" prio=");
  return at == 0 ? std::string::npos : at;
}

// A quoted name that a line ends with, before its colon: "\"main\":"
bool is_name_line(const std::string& line) {
  return line.size() >= 3 && line[0] == '"' && line.compare(line.size() - 2, 2, "\":") == 0;
}

}  // namespace

bool is_lock(const std::string& of) {
  return begins(of, "java.util.concurrent.locks.") && of.find("$ConditionObject") == std::string::npos;
}

std::string without_blanks(const std::string& line) {
  const size_t begin = line.find_first_not_of(" \t"), end = line.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : line.substr(begin, end - begin + 1);
}

bool LockLines::is_given_back(const std::string& id) const {
  return std::find(waits_.begin(), waits_.end(), id) != waits_.end();
}

void LockLines::take(const std::string& line, bool owned, DumpedThread* thread) {
  DumpedLock lock{between(line, "<", ">"), between(line, "(a ", ")")};
  if (lock.id.empty()) return;
  if (lock.of.empty()) lock.of = lock.id.substr(0, lock.id.rfind('@'));
  const bool relocks = begins(line, "- waiting to re-lock in wait()");
  const bool enters = relocks || begins(line, "- waiting to lock ");
  if (begins(line, "- locked ") || owned) {
    if (!is_given_back(lock.id) && thread->holds.size() < kMostLocks) thread->holds.push_back(lock);
  } else if (enters || (begins(line, "- parking to wait for ") && is_lock(lock.of))) {
    thread->lock = lock;
  }
  const bool gives_back = enters || begins(line, "- waiting on ");
  if (gives_back && waits_.size() < kMostLocks) waits_.push_back(lock.id);
}

bool ThreadDumpReader::begins_part(const std::string& line) {
  if (begins(line, kDump)) {
    dump_ = ThreadDump();
    dump_.vm = line.substr(sizeof kDump - 1);
    if (!dump_.vm.empty() && dump_.vm.back() == ':') dump_.vm.pop_back();
    part_ = Part::kThreads;
  } else if (part_ != Part::kBefore && line == kDeadlock && dump_.deadlocks.size() < kMostDeadlocked) {
    dump_.deadlocks.emplace_back();
    part_ = Part::kDeadlock;
  } else if (part_ == Part::kDeadlock && line == kDeadlockStacks) {
    deadlocked_ = SIZE_MAX;
    stacks_ = 0;
    part_ = Part::kDeadlockStacks;
  } else {
    return false;
  }
  end_thread();
  return true;
}

void ThreadDumpReader::take(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (begins_part(line)) return;
  if (part_ == Part::kThreads) take_of_thread(line);
  if (part_ == Part::kDeadlock) take_of_deadlock(line);
  if (part_ == Part::kDeadlockStacks) take_deadlocked_stack(line);
}

ThreadDump ThreadDumpReader::finish() {
  end_thread();
  return std::move(dump_);
}

// A name with line feeds makes a header of several lines.
bool ThreadDumpReader::begin_thread(const std::string& header) {
  const size_t end = end_of_name(header);
  if (end == std::string::npos) return false;
  if (dump_.threads.size() == kMostThreads) {
    dump_.is_cut = true;
    return true;
  }
  DumpedThread thread;
  thread.name = header.substr(1, end - 1);
  const std::string attributes = header.substr(end + 1);
  if (begins(attributes, " #")) thread.number = std::strtoull(attributes.c_str() + 2, nullptr, 10);
  thread.address = attribute(attributes, "tid");
  thread.nid = attribute(attributes, "nid");
  const std::string cpu = attribute(attributes, "cpu");
  if (!cpu.empty()) thread.cpu_ms = std::strtod(cpu.c_str(), nullptr);
  dump_.threads.push_back(std::move(thread));
  in_thread_ = true;
  owned_ = false;
  return true;
}

void ThreadDumpReader::take_of_thread(const std::string& line) {
  if (!header_.empty() || begins(line, "\"")) {
    if (header_.empty()) end_thread();
    if (header_.empty()) header_lines_ = 0;
    header_ += (header_.empty() ? "" : "\n") + line;
    if (begin_thread(header_) || ++header_lines_ == kMostHeaderLines) header_.clear();
    return;
  }
  if (!in_thread_) return;
  DumpedThread& thread = dump_.threads.back();
  const std::string text = without_blanks(line);
  constexpr char kState[] = "java.lang.Thread.State: ";
  if (begins(text, kState)) {
    thread.state = text.substr(sizeof kState - 1);
  } else if (text == "Locked ownable synchronizers:") {
    owned_ = true;
  } else if (begins(text, "at ") || begins(text, "- ")) {
    if (text[0] == '-') locks_.take(text, owned_, &thread);
    if (!owned_ && has_room(thread.stack)) thread.stack.push_back(text);
  }
}

bool ThreadDumpReader::has_room(std::vector<std::string>& lines) {
  const bool has = lines.size() < kMostFrames && lines_ < kMostLines;
  if (has) lines_++;
  dump_.is_cut = dump_.is_cut || !has;
  return has;
}

void ThreadDumpReader::end_thread() {
  in_thread_ = owned_ = false;
  locks_.begin();
  header_.clear();
}

// "\"left\":", "  waiting to lock monitor 0x... (object 0x..., a Class),", "  which is held by \"right\"".
// Of java.util.concurrent: "  waiting for ownable synchronizer 0x..., (a Class),".
void ThreadDumpReader::take_of_deadlock(const std::string& line) {
  std::vector<DeadlockedThread>& circle = dump_.deadlocks.back();
  constexpr char kHeld[] = "which is held by ";
  const size_t held = line.find(kHeld);
  if (is_name_line(line)) {
    if (circle.size() == kMostDeadlocked) return;
    circle.emplace_back();
    circle.back().name = line.substr(1, line.size() - 3);
  } else if (circle.empty()) {
    return;
  } else if (line.find("waiting to lock monitor") != std::string::npos) {
    circle.back().waits_for = between(line, ", a ", ")") + " <" + between(line, "(object ", ",") + ">";
  } else if (line.find("waiting for ownable synchronizer") != std::string::npos) {
    circle.back().waits_for = between(line, "(a ", ")") + " <" + between(line, "synchronizer ", ",") + ">";
  } else if (held != std::string::npos) {
    std::string holder = line.substr(held + sizeof kHeld - 1);
    if (holder.size() >= 2 && holder[0] == '"' && holder.back() == '"')
      holder = holder.substr(1, holder.size() - 2);
    circle.back().holder = holder;
  }
}

// The stacks come in the order of the threads.
void ThreadDumpReader::take_deadlocked_stack(const std::string& line) {
  std::vector<DeadlockedThread>& circle = dump_.deadlocks.back();
  const std::string text = without_blanks(line);
  if (is_name_line(line)) {
    deadlocked_ = stacks_++;
  } else if (deadlocked_ < circle.size() && (begins(text, "at ") || begins(text, "- "))) {
    if (has_room(circle[deadlocked_].stack)) circle[deadlocked_].stack.push_back(text);
  }
}

unsigned java_version(const std::string& vm) {
  // "(25.0.3+9-LTS mixed mode)", of JDK 8 "(25.392-b08 mixed mode)".
  const size_t at = vm.rfind('(');
  if (at == std::string::npos) return 0;
  const std::string version = vm.substr(at + 1, vm.find_first_of(" )", at) - at - 1);
  if (version.find("-b") != std::string::npos && version.find('+') == std::string::npos) return 8;
  return static_cast<unsigned>(std::strtoul(version.c_str(), nullptr, 10));
}

}  // namespace hprof::tool
