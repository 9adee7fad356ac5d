#include "tools/hprof/threads/file_threads.h"

#include <algorithm>
#include <map>

#include "tools/format/ascii_lines.h"
#include "tools/format/file_kind.h"
#include "tools/format/json.h"
#include "tools/format/source_file.h"
#include "tools/format/value_text.h"
#include "tools/heap/questions/heap_names.h"
#include "tools/heap/questions/heap_report.h"
#include "tools/heap/questions/thread_facts.h"
#include "tools/hprof/print/profile_sums.h"
#include "tools/hprof/threads/dump_file.h"
#include "tools/hprof/threads/lock_owners.h"
#include "tools/hprof/view/profile.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr size_t kMostMonitorsShown = 8;

// Threads of a heap dump, which stood still for it.
class HeapDump {
 public:
  explicit HeapDump(const Snapshot& snapshot) : snapshot_(snapshot), list_(threads_in_heap(snapshot)) {}

  ThreadDump threads() {
    for (const ThreadInHeap& each : list_.threads)
      if (each.object != kNoObject && each.facts.number != 0) numbers_[each.object] = each.facts.number;
    for (const ThreadInHeap& each : list_.threads) add(each);
    ThreadDump& dump = threads_.dump;
    dump.virtual_count += list_.left_out;
    dump.is_cut = dump.is_cut || list_.left_out != 0;
    const std::string java = java_version(snapshot_);
    dump.vm = "heap dump of " + date_text(snapshot_.outline.header.milliseconds) +
              (java.empty() ? "" : ", Java " + java);
    dump.deadlocks = circles_of(dump);
    return std::move(dump);
  }

  std::string note() const {
    std::string text;
    for (const std::string& problem : snapshot_.outline.problems) text += "INCOMPLETE: " + problem + "\n";
    const bool has_blocked =
        std::any_of(list_.threads.begin(), list_.threads.end(),
                    [](const ThreadInHeap& each) { return each.facts.state.rfind("blocked", 0) == 0; });
    if (has_blocked) text += "A heap dump does not say for which monitors threads are blocked.\n";
    const size_t count = list_.monitors.size();
    if (count != 0) text += "MONITORS IN USE: " + std::to_string(count) + "\n";
    for (size_t i = 0; i < count && i < kMostMonitorsShown; ++i)
      text += "    " + snapshot_.describe(list_.monitors[i]) + "\n";
    if (count > kMostMonitorsShown)
      text += "    and " + std::to_string(count - kMostMonitorsShown) + " more\n";
    return text;
  }

 private:
  void add(const ThreadInHeap& from) {
    DumpedThread thread;
    thread.name = from.name;
    thread.number = from.facts.number;
    thread.state = from.facts.state;
    for (const std::string& frame : from.frames)
      if (threads_.has_room(thread.stack.size() + 1)) thread.stack.push_back("at " + frame);
    const uint32_t blocker = from.facts.blocker;
    const uint32_t of = blocker == kNoObject ? kNoClass : snapshot_.class_of(blocker);
    const bool is_own = from.facts.owner != kNoObject && from.facts.owner == from.object;
    if (of != kNoClass && is_lock(snapshot_.class_name(of)) && !is_own) {
      thread.lock = {snapshot_.describe(blocker), snapshot_.class_name(of)};
      const auto owner = numbers_.find(from.facts.owner);
      if (owner != numbers_.end()) threads_.add_owner(thread.lock.id, owner->second);
    }
    threads_.add(std::move(thread), from.is_virtual);
  }

  const Snapshot& snapshot_;
  const ThreadsInHeap list_;
  ThreadCollector threads_;
  std::map<uint32_t, uint64_t> numbers_;  // of thread objects
};

bool read_heap_threads(const std::string& path, std::unique_ptr<DumpFile> file, ThreadDump* dump,
                       std::string* note, std::string* error) {
  HeapSettings settings;
  settings.index_from = UINT64_MAX - 1;  // one that is there is used
  HeapRun run{settings, {path}, [&](const std::string&) { return std::move(file); }};
  os::bound_memory(0);  // as in `hprof heap`: what it maps may be larger than the memory
  use_heap(run, [&](const Snapshot& snapshot) {
    HeapDump heap(snapshot);
    *dump = heap.threads();
    *note = heap.note();
  });
  *error = run.error;
  return error->empty();
}

// The threads and monitors of a MONITOR DUMP; the classes of monitors are all that is known of these.
class MonitorDump {
 public:
  explicit MonitorDump(const Profile& profile) : profile_(profile) {}

  void add_thread(uint64_t id, const std::string& name, const std::string& state, uint64_t trace) {
    if (threads_.size() == kMostThreads) {
      collector_.dump.is_cut = true;
      return;
    }
    DumpedThread& thread = threads_.emplace_back();
    thread.name = name;
    thread.number = id;
    thread.state = state;
    const auto found = profile_.traces.find(trace);
    if (found != profile_.traces.end())
      for (const ProfileFrame& frame : found->second)
        if (collector_.has_room(thread.stack.size() + 1)) thread.stack.push_back("at " + frame_text(frame));
    places_.emplace(id, threads_.size() - 1);
  }
  void add_monitor(const std::string& of) {
    monitor_ = {"monitor " + std::to_string(++monitors_) + " of the report", of};
  }
  void set_owner(uint64_t id) {
    const auto found = places_.find(id);
    if (found != places_.end() && threads_[found->second].holds.size() < kMostLocks)
      threads_[found->second].holds.push_back(monitor_);
  }
  void set_waiting(uint64_t id) {
    const auto found = places_.find(id);
    if (found != places_.end()) threads_[found->second].lock = monitor_;
  }

  bool is_empty() const { return threads_.empty(); }
  ThreadDump finish() {
    for (DumpedThread& thread : threads_) collector_.add(std::move(thread), false);
    ThreadDump& dump = collector_.dump;
    dump.vm = "the last MONITOR DUMP of the report";
    // Threads run while the agent looks at them.
    dump.likely_deadlocks = circles_of(dump);
    return std::move(dump);
  }

 private:
  const Profile& profile_;
  std::vector<DumpedThread> threads_;
  std::map<uint64_t, size_t> places_;  // by id
  DumpedLock monitor_;
  size_t monitors_ = 0;
  ThreadCollector collector_;
};

// "S|intr|CW"
std::string state_of(std::string_view status) {
  const std::string_view state = status.substr(status.rfind('|') + 1);
  static constexpr std::pair<std::string_view, const char*> kStates[] = {
      {"R", "runnable"}, {"SL", "sleeping"}, {"MW", "blocked on a monitor"},
      {"CW", "waiting"}, {"ZO", "ended"},    {"NS", "not started"}};
  for (const auto& each : kStates)
    if (each.first == state) return each.second;
  return "";
}

// The lines of MONITOR DUMP in a report as text.
class TextDump {
 public:
  explicit TextDump(const Profile& profile) : profile_(profile) {
    for (const ProfileThread& thread : profile.all_threads) names_.emplace(thread.serial, &thread.name);
  }

  void take(std::string_view line) {
    if (line == "MONITOR DUMP BEGIN") dump_ = std::make_unique<MonitorDump>(profile_);
    inside_ = line == "MONITOR DUMP BEGIN" || (inside_ && line != "MONITOR DUMP END");
    if (!inside_) return;
    Scan scan(line);
    uint64_t thread = 0, trace = 0;
    if (scan.maybe("    THREAD ")) {
      if (scan.decimal(&thread) && scan.literal(", trace ") && scan.decimal(&trace) &&
          scan.literal(", status: "))
        dump_->add_thread(thread, name_of(thread), state_of(scan.rest()), trace);
    } else if (scan.maybe("    MONITOR ") || scan.maybe("    RAW MONITOR ")) {
      const std::string_view name = scan.rest();
      dump_->add_monitor(class_of(name.substr(0, name.rfind(" unowned"))));
    } else if (scan.maybe("\towner: thread ")) {
      if (scan.decimal(&thread)) dump_->set_owner(thread);
    } else if (scan.maybe("\twaiting to enter: ")) {
      take_waiting(scan.rest());
    }
  }
  std::unique_ptr<MonitorDump> finish() { return std::move(dump_); }

 private:
  // "thread 200002, <unknown thread>"
  void take_waiting(std::string_view list) {
    while (!list.empty()) {
      const size_t end = std::min(list.find(", "), list.size());
      uint64_t thread = 0;
      Scan scan(list.substr(0, end));
      if (scan.literal("thread ") && scan.decimal(&thread)) dump_->set_waiting(thread);
      list.remove_prefix(std::min(end + 2, list.size()));
    }
  }
  std::string name_of(uint64_t thread) const {
    const auto found = names_.find(thread);
    return found == names_.end() ? "" : *found->second;
  }
  // "Ljava/lang/Object;"
  static std::string class_of(std::string_view signature) { return java_name(signature); }

  const Profile& profile_;
  std::map<uint64_t, const std::string*> names_;
  std::unique_ptr<MonitorDump> dump_;
  bool inside_ = false;
};

// A record of format=json.
std::unique_ptr<MonitorDump> dump_of(const JsonValue& record, const Profile& profile) {
  auto dump = std::make_unique<MonitorDump>(profile);
  for (const JsonValue& each : record["threads"].items) {
    const std::string& state = each["state"].words();
    dump->add_thread(each["thread"]["id"].number(), each["thread"]["name"].words(),
                     state == "blocked" ? "blocked on a monitor" : state, each["trace"].number());
  }
  for (const JsonValue& each : record["monitors"].items) {
    dump->add_monitor(each["class"]["name"].words());
    if (each["owner"].kind == JsonValue::kObject) dump->set_owner(each["owner"]["id"].number());
    for (const JsonValue& thread : each["waiting_to_enter"].items) dump->set_waiting(thread["id"].number());
  }
  return dump;
}

std::unique_ptr<MonitorDump> last_dump(ByteSource& source, bool is_json, const Profile& profile) {
  Input in(source);
  LineReader lines(in);
  TextDump text(profile);
  std::unique_ptr<MonitorDump> last;
  std::string_view line, name;
  while (lines.next(&line)) {
    JsonValue record;
    if (!is_json) text.take(line);
    if (is_json && begins_record(line, &name) && name == "monitor_dump" && parse_json(line, &record))
      last = dump_of(record, profile);
  }
  return is_json ? std::move(last) : text.finish();
}

// What the file has in place of what it lacks.
std::string lack_text(const std::string& lack, const Profile& profile) {
  std::string text = lack;
  const size_t threads = profile.all_threads.size();
  if (threads != 0) text += "; it names " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  for (size_t i = 0; i < profile.tables.size(); ++i)
    text += (i == 0 ? "; it has " : ", ") + profile.tables[i].title;
  if (!profile.tables.empty()) text += ", by thread as hprof print --threads shows it";
  return text;
}

bool read_report(ByteSource& source, ThreadDump* dump, std::string* error) {
  Profile profile;
  if (!read_profile(source, &profile, error)) return false;
  std::unique_ptr<MonitorDump> last;
  bool is_json = false;
  if (source.seek(0)) {
    Input in(source);
    is_json = kind_of(in).profile == ProfileKind::kJson;
  }
  if (source.seek(0)) last = last_dump(source, is_json, profile);
  if (last == nullptr || last->is_empty()) {
    *error = lack_text("no MONITOR DUMP, which monitor=y writes as text and JSON", profile);
    return false;
  }
  *dump = last->finish();
  return true;
}

bool is_binary(ByteSource& source) {
  Input in(source);
  FileHeader header;
  const bool is = read_header(in, &header);
  return source.seek(0) && is;
}

bool read_other(ByteSource& source, ThreadDump* dump, std::string* error) {
  if (read_thread_dump(source, dump, error)) return true;
  if (!source.error().empty() || !source.seek(0)) return false;
  constexpr std::string_view kReport = "JAVA PROFILE ";
  Input in(source);
  const FileKind kind = kind_of(in);
  std::string begin;
  in.text(kReport.size(), &begin);
  if (kind.profile != ProfileKind::kNone || begin == kReport)
    return source.seek(0) && read_report(source, dump, error);
  if (!kind.name.empty() && kind.name != "a JSON file") *error = "cannot read " + kind.name;
  return false;
}

}  // namespace

bool read_threads_of_file(const std::string& path, ThreadDump* dump, std::string* note, std::string* error) {
  auto file = std::make_unique<DumpFile>(path);
  const std::unique_ptr<ByteSource> source = file->open(error);
  if (source == nullptr) return false;
  if (!is_binary(*source)) {
    if (read_other(*source, dump, error)) return true;
    *error = path + ": " + *error;
    return false;
  }
  if (read_heap_threads(path, std::move(file), dump, note, error)) return true;
  Profile profile;
  std::string ignored;
  if (source->seek(0) && read_profile(*source, &profile, &ignored)) *error = lack_text(*error, profile);
  return false;
}

}  // namespace hprof::tool
