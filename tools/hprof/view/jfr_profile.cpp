// Reads recordings of JDK Flight Recorder. Each kind of event with stacks becomes a table.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "tools/format/definitions.h"
#include "tools/format/jfr_file.h"
#include "tools/hprof/view/expansion.h"
#include "tools/hprof/view/windows.h"

namespace hprof::tool {

namespace {

constexpr uint64_t kNsPerMs = 1000000;
constexpr char kNote[] = "hprof.Note", kOthers[] = "OTHER EVENTS";

ProfileTable native_table() {
  return {"native_samples", "NATIVE METHOD SAMPLES", samples_table().weights, {}};
}
ProfileTable wall_table() { return {"wall_samples", "WALL CLOCK SAMPLES", samples_table().weights, {}}; }
ProfileTable cpu_time_table() {
  ProfileTable table = {"cpu_time_samples", "CPU TIME SAMPLES", samples_table().weights, {}};
  table.weights.push_back({"time", "CPU time", ProfileWeight::kNanoseconds, false, false});
  return table;
}

// A table of what events have, and how many events there were. sample: 1, if events are samples.
ProfileTable sums_table(const char* name, const char* title, const ProfileWeight& weight, const char* events,
                        uint64_t sample = 0) {
  return {name, title, {weight, {events, events, ProfileWeight::kCount, false, false, sample}}, {}, true};
}
const ProfileWeight kAllocated = {"allocated_bytes", "allocated bytes", ProfileWeight::kBytes, true, false};
const ProfileWeight kBlocked = {"time", "time blocked", ProfileWeight::kNanoseconds, true, false};
ProfileTable allocations_table() { return sums_table("alloc_sites", "SITES", kAllocated, "samples", 1); }
ProfileTable buffers_table() { return sums_table("tlab_sites", "TLAB SITES", kAllocated, "events", 1); }
ProfileTable blocked_table() { return sums_table("monitor_time", "MONITOR TIME", kBlocked, "contentions"); }
ProfileTable waits_table() { return sums_table("monitor_wait", "MONITOR WAIT", kBlocked, "waits"); }
ProfileTable parks_table() { return sums_table("thread_park", "THREAD PARK", kBlocked, "parks"); }
ProfileTable sleeps_table() { return sums_table("thread_sleep", "THREAD SLEEP", kBlocked, "sleeps"); }
const ProfileWeight kTook = {"time", "time", ProfileWeight::kNanoseconds, true, false};
ProfileTable slow_calls_table() { return sums_table("slow_calls", "SLOW CALLS", kTook, "calls"); }
ProfileTable system_gc_table() { return sums_table("system_gc", "CALLS OF SYSTEM.GC", kTook, "calls"); }
// Named as in JSON of io=y and exceptions=y.
ProfileTable io_table() {
  ProfileTable table = sums_table("io_calls", "FILES AND SOCKETS", kTook, "calls");
  table.weights.push_back({"bytes", "bytes", ProfileWeight::kBytes, false, false});
  return table;
}
ProfileTable exceptions_table() {
  return {"exceptions", "EXCEPTIONS", {{"made", "made", ProfileWeight::kCount, true, false}}, {}, true};
}
ProfileTable deprecated_table() {
  return {"deprecated_calls",
          "DEPRECATED METHODS CALLED",
          {{"callers", "callers", ProfileWeight::kCount, true, false}},
          {},
          true};
}

// How the events of a type become rows. Of tables with a leaf the first weight has the amount if there is
// one, of samples the second one, and what is left counts.
struct Source {
  const char* type;
  ProfileTable (*table)();
  const char* thread;
  const char* leaf;             // the field of a class, method or text; null: none
  const char* amount;           // the field to add up; null: none
  const char* count;            // the field of how many events it stands for; null: one
  const char* verb = nullptr;   // what the name begins with; null: nothing
  const char* bytes = nullptr;  // the field of the third weight; null: none
};
constexpr Source kSources[] = {
    {"jdk.ExecutionSample", samples_table, "sampledThread", nullptr, nullptr, nullptr},
    {"jdk.CPUTimeSample", cpu_time_table, "eventThread", nullptr, "samplingPeriod", nullptr},
    {"profiler.WallClockSample", wall_table, "sampledThread", nullptr, nullptr, "samples"},
    {"jdk.NativeMethodSample", native_table, "sampledThread", nullptr, nullptr, nullptr},
    {"jdk.ObjectAllocationSample", allocations_table, "eventThread", "objectClass", "weight", nullptr},
    {"jdk.ObjectAllocationInNewTLAB", buffers_table, "eventThread", "objectClass", "tlabSize", nullptr},
    {"jdk.ObjectAllocationOutsideTLAB", buffers_table, "eventThread", "objectClass", "allocationSize",
     nullptr},
    {"jdk.JavaMonitorEnter", blocked_table, "eventThread", "monitorClass", "duration", nullptr},
    {"jdk.JavaMonitorWait", waits_table, "eventThread", "monitorClass", "duration", nullptr},
    {"jdk.ThreadPark", parks_table, "eventThread", "parkedClass", "duration", nullptr},
    {"jdk.ThreadSleep", sleeps_table, "eventThread", nullptr, "duration", nullptr},
    {"jdk.FileRead", io_table, "eventThread", "path", "duration", nullptr, "file read ", "bytesRead"},
    {"jdk.FileWrite", io_table, "eventThread", "path", "duration", nullptr, "file write ", "bytesWritten"},
    {"jdk.SocketRead", io_table, "eventThread", "host", "duration", nullptr, "socket read ", "bytesRead"},
    {"jdk.SocketWrite", io_table, "eventThread", "host", "duration", nullptr, "socket write ",
     "bytesWritten"},
    {"jdk.JavaExceptionThrow", exceptions_table, "eventThread", "thrownClass", nullptr, nullptr},
    {"jdk.JavaErrorThrow", exceptions_table, "eventThread", "thrownClass", nullptr, nullptr},
    {"jdk.SystemGC", system_gc_table, "eventThread", nullptr, "duration", nullptr},
    {"jdk.DeprecatedInvocation", deprecated_table, "eventThread", "method", nullptr, nullptr},
    {"hprof.SlowCall", slow_calls_table, "eventThread", nullptr, "duration", nullptr},
};

class JfrProfile {
 public:
  JfrProfile(Input& in, Profile* profile) : file_(in), profile_(*profile), numbers_(profile) {}

  // What comes before a problem is a profile.
  bool run(std::string* error) {
    uint64_t first_ns = 0, last_ns = 0, chunks = 0;
    for (; file_.next_chunk(); ++chunks) {
      if (chunks == 0) first_ns = file_.start_ns();
      if (chunks == 0) begin_times(first_ns);
      last_ns = std::max(last_ns, file_.end_ns());
      if (chunks == 0) profile_.about.emplace_back("format", "JFR " + file_.version());
      read_chunk();
      if (!file_.problem().empty()) break;
    }
    const std::string problem =
        file_.problem().empty() ? "" : "byte " + std::to_string(file_.problem_at()) + ": " + file_.problem();
    if (chunks == 0 && tables_.empty() && others_.empty() && !problem.empty()) {
      *error = problem;
      return false;
    }
    if (!problem.empty()) profile_.notes.push_back("not read, from there on: " + problem);
    profile_.unread = problem;
    if (lost_ != 0)
      profile_.notes.push_back("events whose stack is not in the file: " + std::to_string(lost_));
    if (has_times() && taken_ != 0) {
      first_ns = std::max(first_ns, from_ns_);
      last_ns = std::max(first_ns, std::min(last_ns, to_ns_));
    }
    profile_.created_ms = first_ns / kNsPerMs;
    profile_.duration_ns = last_ns - std::min(first_ns, last_ns);
    profile_.is_stretch = profile_.duration_ns != 0;
    profile_.keeps_to_times = true;
    if (has_times())
      profile_.about.emplace_back("events",
                                  "events of " + stretch_text(first_ns / kNsPerMs, last_ns / kNsPerMs));
    keep_tables();
    return true;
  }

 private:
  struct Table {
    ProfileTable made;
    double amounts = 0, squares = 0;  // sums of the amounts of samples, and of their squares
    std::map<std::pair<uint64_t, std::string>, size_t> rows;  // by trace and name
  };

  // False: too much is made of the file. Reading stops at the event.
  bool take(uint64_t bytes) {
    const uint64_t decoded = file_.decoded();
    bytes = add_saturated(bytes, decoded - std::exchange(decoded_, decoded));
    if (expansion_.take(bytes)) return true;
    file_.refuse(Expansion::kProblem);
    return false;
  }

  bool has_times() const { return !profile_.from.empty() || !profile_.to.empty(); }

  // The moments of the times of day, for a recording that began then.
  void begin_times(uint64_t first_ns) {
    const uint64_t first_ms = first_ns / kNsPerMs;
    const int64_t began = local_ms(first_ms), offset = began - static_cast<int64_t>(first_ms);
    const auto moment = [&](const std::string& time, uint64_t any) {
      const int64_t ms = time.empty() ? 0 : moment_of(time, began) - offset;
      return time.empty() ? any : ms < 0 ? 0 : static_cast<uint64_t>(ms) * kNsPerMs;
    };
    from_ns_ = moment(profile_.from, 0);
    to_ns_ = moment(profile_.to, UINT64_MAX);
  }

  // True: the event ended before --from, or began at --to or later.
  bool is_at_other_time(const JfrValue& event) const {
    const JfrValue start = file_.field(event, "startTime");
    if (start.type == nullptr) return false;
    const uint64_t began = file_.time_of(file_.number(start));
    const uint64_t lasted = file_.nanoseconds(file_.number(file_.field(event, "duration")));
    return add_saturated(began, lasted) < from_ns_ || began >= to_ns_;
  }

  void read_chunk() {
    expansion_.reach(file_.end());
    traces_.clear();
    std::unordered_map<const JfrType*, const Source*> sources;
    JfrValue event;
    while (file_.next_event()) {
      const JfrType* type = file_.event_type();
      const auto [place, fresh] = sources.try_emplace(type, nullptr);
      if (fresh && type != nullptr) place->second = source_of(type->name);
      const bool is_note = type != nullptr && type->name == kNote;
      const bool is_wanted = place->second != nullptr || is_note;
      const bool is_chosen = has_times() && type != nullptr && !is_note;
      if ((is_wanted || is_chosen) && !file_.read_event(&event)) return;
      if (is_chosen && is_at_other_time(event)) continue;
      ++taken_;
      if (!is_wanted) {
        ++others_[type == nullptr ? "of a type that the file does not describe" : std::string(type->name)];
        continue;
      }
      if (is_note)
        profile_.notes.push_back(file_.text(file_.field(event, "text")));
      else
        add(event, *place->second);
      if (!take(0)) return;
    }
  }

  static const Source* source_of(std::string_view type) {
    const auto* found = std::find_if(std::begin(kSources), std::end(kSources),
                                     [&](const Source& each) { return type == each.type; });
    return found == std::end(kSources) ? nullptr : found;
  }

  void add(const JfrValue& event, const Source& source) {
    Table& table = tables_[source.table];
    if (table.made.name.empty()) table.made = source.table();
    const uint64_t trace = trace_of(event, source.thread);
    const std::string name = name_of(event, source);
    const auto [place, fresh] = table.rows.try_emplace({trace, name}, table.made.rows.size());
    if (fresh) table.made.rows.push_back({trace, std::vector<uint64_t>(table.made.weights.size()), name});
    std::vector<uint64_t>& values = table.made.rows[place->second].values;
    const size_t count = table.made.leaf && values.size() > 1 ? 1 : 0;
    values[count] = add_saturated(values[count], source.count == nullptr ? 1 : amount(event, source.count));
    if (source.bytes != nullptr) values[2] = add_saturated(values[2], amount(event, source.bytes));
    if (source.amount == nullptr) return;
    const uint64_t added = amount(event, source.amount);
    values[1 - count] = add_saturated(values[1 - count], added);
    if (table.made.weights[count].sample == 0) return;
    table.amounts += static_cast<double>(added);
    table.squares += static_cast<double>(added) * static_cast<double>(added);
  }

  // Times are in ticks. Below 0: not known.
  uint64_t amount(const JfrValue& event, std::string_view field) const {
    const uint64_t number = file_.number(file_.field(event, field));
    if (number > INT64_MAX) return 0;
    return field == "duration" || field == "samplingPeriod" ? file_.nanoseconds(number) : number;
  }

  // What the row of an event is told apart by: the class, method or target.
  std::string name_of(const JfrValue& event, const Source& source) const {
    if (source.leaf == nullptr) return "";
    const JfrValue value = file_.field(event, source.leaf);
    if (value.type != nullptr && value.type->name == "jdk.types.Method")
      return class_of(file_.field(value, "type")) + "." + file_.text(file_.field(value, "name"));
    if (source.verb == nullptr) return class_of(value);
    const JfrValue port = file_.field(event, "port");
    return source.verb + (port.type == nullptr ? file_.text(value) : peer_of(event, file_.number(port)));
  }

  // host:port as io=y has it: without a port, all peers that have connected to the program.
  std::string peer_of(const JfrValue& event, uint64_t port) const {
    std::string host = file_.text(file_.field(event, "host"));
    if (host.empty()) host = file_.text(file_.field(event, "address"));
    if (host.find(':') != std::string::npos && host[0] != '[') host = "[" + host + "]";
    return host + ":" + (port != 0 ? std::to_string(port) : "*");
  }

  std::string class_of(const JfrValue& value) const {
    return java_name(file_.text(file_.field(value, "name")));
  }

  // The trace of an event, shared by those of the same stack and thread.
  uint64_t trace_of(const JfrValue& event, const char* thread_field) {
    const JfrValue stack = file_.field(event, "stackTrace"), thread = file_.field(event, thread_field);
    if (stack.type == nullptr && stack.number != 0) ++lost_;
    if (stack.number == 0) return number_of(stack, thread);
    const auto [place, fresh] = traces_.try_emplace({stack.number, thread.number}, 0);
    if (fresh) place->second = number_of(stack, thread);
    return place->second;
  }

  uint64_t number_of(const JfrValue& stack, const JfrValue& thread) {
    std::vector<ProfileFrame> frames;
    for (const JfrValue& each : file_.elements(file_.field(stack, "frames"))) {
      const JfrValue method = file_.field(each, "method");
      ProfileFrame frame;
      frame.class_name = class_of(file_.field(method, "type"));
      keep_stable_part(&frame.class_name);
      frame.method = file_.text(file_.field(method, "name"));
      if (frame.method.empty()) frame.method = "unknown";
      frame.line = static_cast<int32_t>(file_.number(file_.field(each, "lineNumber")));
      if (!take(Expansion::bytes_of(frame))) break;
      frames.push_back(std::move(frame));
    }
    std::string name = file_.text(file_.field(thread, "javaName"));
    if (name.empty()) name = file_.text(file_.field(thread, "osName"));
    const bool is_cut = file_.number(file_.field(stack, "truncated")) != 0;
    return numbers_.number_of(std::move(frames), name, is_cut);
  }

  // Samples stand for amounts of their own. The variance of a sum is the sum of their squares, as if each
  // stood for the mean that is weighted by the amounts.
  static void add_sampling(Table* table) {
    if (table->amounts == 0) return;
    table->made.weights[table->made.leaf ? 0 : 1].sample =
        static_cast<uint64_t>(std::max(1.0, table->squares / table->amounts));
  }

  void keep_tables() {
    for (const Source& source : kSources) {
      const auto found = tables_.find(source.table);
      if (found == tables_.end()) continue;
      add_sampling(&found->second);
      profile_.tables.push_back(std::move(found->second.made));
      tables_.erase(found);
    }
    if (others_.empty()) return;
    std::vector<std::pair<uint64_t, std::string>> sorted;
    for (const auto& [name, count] : others_) sorted.emplace_back(count, name);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    PlainTable table = {
        kOthers, {std::string(kOthers) + ", which are no part of the profile", "     count type"}, {}};
    for (const auto& [count, name] : sorted) {
      const std::string number = std::to_string(count);
      table.rows.push_back(
          {std::string(number.size() < 10 ? 10 - number.size() : 0, ' ') + number + " " + name});
    }
    put_plain_table(std::move(table), &profile_);
  }

  JfrFile file_;
  Profile& profile_;
  TraceTable numbers_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> traces_;  // of the chunk, by numbers of stack and thread
  std::map<ProfileTable (*)(), Table> tables_;
  std::map<std::string, uint64_t> others_;  // how many events of each other type
  uint64_t lost_ = 0;
  uint64_t from_ns_ = 0, to_ns_ = UINT64_MAX;  // since 1970: --from and --to
  uint64_t taken_ = 0;                         // events between them, and notes
  Expansion expansion_;
  uint64_t decoded_ = 0;  // by file_, as far as the expansion has it
};

}  // namespace

bool read_jfr_profile(Input& in, Profile* profile, std::string* error) {
  return JfrProfile(in, profile).run(error);
}

}  // namespace hprof::tool
