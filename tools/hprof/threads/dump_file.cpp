#include "tools/hprof/threads/dump_file.h"

#include <algorithm>
#include <cstdlib>

#include "tools/format/ascii_lines.h"
#include "tools/hprof/threads/lock_owners.h"

namespace hprof::tool {

namespace {

// A hostile file must not take more memory than programs of any size need.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of a file
constexpr size_t kMostVirtualThreads = 4000000;
constexpr size_t kMostGroups = 100000;
constexpr size_t kMostLockIds = 1000000;
constexpr size_t kMostJson = size_t{16} << 20;  // bytes of one thread, and of what is around the threads
constexpr size_t kHeadLines = 3;                // number of the process, time, release

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// "#31 "
size_t end_of_number(const std::string& header) {
  size_t at = 1;
  while (at < header.size() && is_digit(header[at])) at++;
  return at > 1 && header.compare(at, 2, " \"") == 0 ? at : 0;
}

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

}  // namespace

void ThreadCollector::add(DumpedThread thread, bool is_virtual) {
  if (is_virtual) return add_virtual(std::move(thread));
  if (dump.threads.size() == kMostThreads) {
    dump.is_cut = true;
    return;
  }
  lines_ += thread.stack.size();
  dump.threads.push_back(std::move(thread));
}

bool ThreadCollector::has_room(size_t lines) {
  const bool has = lines <= kMostFrames && lines_ + lines <= kMostLines;
  dump.is_cut = dump.is_cut || !has;
  return has;
}

void ThreadCollector::add_owner(const std::string& lock, uint64_t number) {
  if (dump.owners.size() < kMostLockIds) dump.owners[lock] = number;
}

void ThreadCollector::add_virtual(DumpedThread thread) {
  dump.virtual_count++;
  VirtualThread added;
  added.group = group_of(thread);
  if (added.group == VirtualThread::kNone || dump.virtual_threads.size() == kMostVirtualThreads) return;
  for (const DumpedLock& lock : thread.holds) add_owner(lock.id, thread.number);
  if (!thread.lock.id.empty()) added.lock = index_of(thread.lock);
  added.name = std::move(thread.name);
  added.number = thread.number;
  dump.virtual_threads.push_back(std::move(added));
}

// kNone: there is no room for it.
uint32_t ThreadCollector::group_of(const DumpedThread& thread) {
  std::string key = thread.state;
  for (const std::string& frame : thread.stack) key += "\n" + frame;
  const auto found = groups_.find(key);
  if (found != groups_.end()) {
    dump.virtual_groups[found->second].count++;
    return found->second;
  }
  if (groups_.size() == kMostGroups || !has_room(thread.stack.size())) {
    dump.is_cut = true;
    return VirtualThread::kNone;
  }
  const auto index = static_cast<uint32_t>(dump.virtual_groups.size());
  lines_ += thread.stack.size();
  dump.virtual_groups.push_back({thread.state, thread.stack, 1});
  groups_.emplace(std::move(key), index);
  return index;
}

uint32_t ThreadCollector::index_of(const DumpedLock& lock) {
  const auto found = lock_ids_.find(lock.id);
  if (found != lock_ids_.end()) return found->second;
  if (lock_ids_.size() == kMostLockIds) return VirtualThread::kNone;
  const auto index = static_cast<uint32_t>(dump.virtual_locks.size());
  dump.virtual_locks.push_back(lock);
  lock_ids_.emplace(lock.id, index);
  return index;
}

void DumpFileReader::take(const std::string& line) {
  if (head_ < kHeadLines) {
    const std::string text = without_blanks(line);
    if (head_ == 0 && !is_number(text)) head_ = SIZE_MAX;  // another text
    if (head_ == kHeadLines - 1) set_release(text);
    if (head_ < kHeadLines) head_++;
    return;
  }
  if (head_ > kHeadLines) return;
  const bool begun = !header_.empty();
  if (begun || (begins(line, "#") && end_of_number(line) != 0)) {
    if (!begun) end_thread();
    if (!begun) header_lines_ = 0;
    header_ += (begun ? "\n" : "") + line;
    if (begin_thread(header_) || ++header_lines_ == kMostHeaderLines) header_.clear();
  } else if (in_thread_) {
    take_of_thread(line);
  }
}

// "#31 \"name\" virtual WAITING 2026-01-01T00:00:00Z"; state and time from JDK 25 on. A name with line feeds
// makes a header of several lines.
bool DumpFileReader::begin_thread(const std::string& header) {
  const size_t number = end_of_number(header), end = header.rfind('"');
  if (end <= number + 1) return false;
  std::string rest = without_blanks(header.substr(end + 1));
  constexpr char kVirtual[] = "virtual";
  const bool is_virtual = begins(rest, kVirtual);
  if (is_virtual) rest = without_blanks(rest.substr(sizeof kVirtual - 1));
  begin_thread(std::strtoull(header.c_str() + 1, nullptr, 10), header.substr(number + 2, end - number - 2),
               is_virtual, rest.substr(0, rest.find(' ')));
  return true;
}

void DumpFileReader::begin_thread(uint64_t number, const std::string& name, bool is_virtual,
                                  const std::string& state) {
  thread_ = DumpedThread();
  thread_.number = number;
  thread_.name = name;
  thread_.state = state;
  is_virtual_ = is_virtual;
  in_thread_ = true;
  locks_.begin();
}

// "    at a.B.c(B.java:1)", of JDK 21 without "at", "    - parking to wait for <a.B@hash>, owner #21".
void DumpFileReader::take_of_thread(const std::string& line) {
  const std::string text = without_blanks(line);
  if (text.empty()) return;
  if (text[0] == '-') {
    locks_.take(text, false, &thread_);
    take_owner(text);
    // A lock's line names one object, which would tell apart virtual threads that do the same.
    if (is_virtual_) return;
  }
  if (threads_.has_room(thread_.stack.size() + 1))
    thread_.stack.push_back(text[0] == '-' || begins(text, "at ") ? text : "at " + text);
}

// Since JDK 27 also of locks of java.util.concurrent.
void DumpFileReader::take_owner(const std::string& line) {
  constexpr char kOwner[] = ">, owner #";
  const size_t at = line.find(kOwner);
  if (at == std::string::npos || thread_.lock.id.empty()) return;
  threads_.add_owner(thread_.lock.id, std::strtoull(line.c_str() + at + sizeof kOwner - 1, nullptr, 10));
}

void DumpFileReader::end_thread() {
  if (in_thread_) threads_.add(std::move(thread_), is_virtual_);
  in_thread_ = false;
}

ThreadDump DumpFileReader::finish() {
  end_thread();
  return std::move(threads_.dump);
}

void DumpFileReader::take(const JsonValue& thread) {
  const std::vector<JsonValue>& stack = thread["stack"].items;
  // JDK 21 to 24 do not say which are virtual.
  const bool runs_virtual = thread["state"].words().empty() && !stack.empty() &&
                            begins(stack.back().words(), "java.base/java.lang.VirtualThread.run(");
  const JsonValue& number = thread["tid"];  // text, of JDK 27 a number
  begin_thread(std::strtoull(number.text.c_str(), nullptr, 10), thread["name"].words(),
               thread["virtual"].is_true() || runs_virtual, thread["state"].words());
  const std::vector<JsonValue>& owned = thread["monitorsOwned"].items;
  size_t next = 0;  // they come in the order of the frames
  for (size_t depth = 0; depth < stack.size(); ++depth) {
    take_of_thread("at " + stack[depth].words());
    for (; next < owned.size() && owned[next]["depth"].number() <= depth; ++next)
      for (const JsonValue& lock : owned[next]["locks"].items)
        if (!lock.words().empty()) take_of_thread("- locked <" + lock.words() + ">");
    if (depth != 0) continue;
    const JsonValue& blocker = thread["parkBlocker"];
    const std::string owner = blocker["owner"].text;
    if (!blocker["object"].words().empty())
      take_of_thread("- parking to wait for <" + blocker["object"].words() + ">" +
                     (is_number(owner) ? ", owner #" + owner : ""));
    if (!thread["blockedOn"].words().empty())
      take_of_thread("- waiting to lock <" + thread["blockedOn"].words() + ">");
    if (!thread["waitingOn"].words().empty())
      take_of_thread("- waiting on <" + thread["waitingOn"].words() + ">");
  }
  end_thread();
}

namespace {

// Cuts the threads out of {"threadDump":{"threadContainers":[{"threads":[{...}]}]}}, so that one at a time is
// in memory.
class JsonCutter {
 public:
  explicit JsonCutter(DumpFileReader* reader) : reader_(reader) {}

  // False: something is longer than the VM writes it, or a thread is not JSON.
  bool take(char letter) {
    if (depth_ < kThreads || (depth_ == kThreads && letter == ']')) return take_around(letter);
    // Between the threads of a list there are commas and blanks.
    if (depth_ == kThreads && letter != '{') return true;
    thread_.push_back(letter);
    count(letter);
    if (depth_ > kThreads) return thread_.size() < kMostJson;
    JsonValue thread;
    const bool is_good = parse_json(thread_, &thread);
    if (is_good) reader_->take(thread);
    thread_.clear();
    return is_good;
  }
  const std::string& around() const { return around_; }

 private:
  static constexpr unsigned kThreads = 5;  // depth in a list of threads

  bool take_around(char letter) {
    around_.push_back(letter);
    count(letter);
    return around_.size() < kMostJson;
  }
  void count(char letter) {
    if (in_text_) {
      in_text_ = is_escaped_ || letter != '"';
      is_escaped_ = !is_escaped_ && letter == '\\';
    } else if (letter == '"') {
      in_text_ = true;
    } else if (letter == '{' || letter == '[') {
      depth_++;
    } else if ((letter == '}' || letter == ']') && depth_ > 0) {
      depth_--;
    }
  }

  DumpFileReader* reader_;
  unsigned depth_ = 0;
  bool in_text_ = false, is_escaped_ = false;
  std::string thread_, around_;
};

// True: the source begins as a file in JSON. Leaves it at its start.
bool is_json_dump(ByteSource& source) {
  constexpr size_t kHead = 4096;
  std::string head(kHead, '\0');
  size_t size = 0;
  while (size < kHead) {
    const size_t got = source.read(reinterpret_cast<uint8_t*>(&head[size]), kHead - size);
    if (got == 0) break;
    size += got;
  }
  head.resize(size);
  const size_t at = head.find_first_not_of(" \t\r\n");
  return source.seek(0) && at != std::string::npos && head[at] == '{' &&
         head.find("\"threadDump\"") != std::string::npos;
}

// Reads one thread after the other. False with *error.
bool read_json_dump(ByteSource& source, ThreadDump* dump, std::string* error) {
  Input in(source);
  in.set_limit(kMostBytes);
  DumpFileReader reader;
  JsonCutter cutter(&reader);
  bool is_good = true;
  while (is_good && !in.at_end()) is_good = cutter.take(static_cast<char>(in.u1()));
  JsonValue around;
  const uint64_t offset = in.offset();
  *error = source.error();
  if (!error->empty()) return false;
  if (!is_good || !parse_json(cutter.around(), &around) || around["threadDump"].kind != JsonValue::kObject) {
    *error = "byte " + std::to_string(offset) + ": no whole thread dump in JSON";
    return false;
  }
  reader.set_release(around["threadDump"]["runtimeVersion"].words());
  *dump = reader.finish();
  return true;
}

}  // namespace

bool read_lines(ByteSource& source, const TakeLine& take, std::string* error) {
  Input in(source);
  in.set_limit(kMostBytes);
  LineReader lines(in);
  std::string_view line;
  while (lines.next(&line)) take(std::string(line));
  *error = source.error();
  if (in.offset() == kMostBytes) *error = "more than a gigabyte";
  return error->empty();
}

bool read_thread_dump(ByteSource& source, ThreadDump* dump, std::string* error) {
  const bool is_json = is_json_dump(source);
  ThreadDumpReader of_jstack;
  DumpFileReader of_file;
  const auto take = [&](const std::string& line) {
    of_jstack.take(line);
    of_file.take(line);
  };
  if (is_json ? !read_json_dump(source, dump, error) : !read_lines(source, take, error)) return false;
  if (!is_json) *dump = of_jstack.finish();
  if (dump->vm.empty()) *dump = of_file.finish();
  if (dump->deadlocks.empty()) dump->likely_deadlocks = circles_of(*dump);
  if (dump->vm.empty())
    *error = "no thread dump of jstack, SIGQUIT (\"Full thread dump\") or jcmd's Thread.dump_to_file";
  return !dump->vm.empty();
}

}  // namespace hprof::tool
