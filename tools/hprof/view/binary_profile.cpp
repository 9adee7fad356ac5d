// Reads binary files with CPU SAMPLES or ALLOC SITES records.
#include "tools/format/records.h"
#include "tools/hprof/view/expansion.h"
#include "tools/hprof/view/windows.h"

namespace hprof::tool {

namespace {

// java/util/Map becomes java.util.Map.
std::string dotted(std::string name) {
  for (char& letter : name)
    if (letter == '/') letter = '.';
  return name;
}

class BinaryProfile {
 public:
  BinaryProfile(Input& in, Profile* profile) : in_(in), profile_(*profile), ends_(profile) {}

  bool run(std::string* error) {
    RecordReader records(in_);
    const bool readable = records.begin();
    if (!readable) {
      *error = "byte 0: " + records.header().problem;
      return false;
    }
    profile_.about.emplace_back("format", records.header().version);
    profile_.created_ms = records.header().milliseconds;
    while (records.next()) {
      expansion_.reach(records.head().end());
      const bool fits = record(records.head());
      if (fits && !is_too_much_) continue;
      *error = "byte " + std::to_string(records.head().offset) + ": " +
               (fits ? Expansion::kProblem : "the record's counts do not fit its length");
      return false;
    }
    if (!name_threads()) {
      *error = "byte " + std::to_string(in_.offset()) + ": " + Expansion::kProblem;
      return false;
    }
    *error = records.problem();
    return error->empty();
  }

 private:
  // At the end, as a thread that is named anew has another record.
  bool name_threads() {
    std::map<uint64_t, size_t> places;
    for (const auto& [serial, thread] : names_.threads) {
      places[serial] = profile_.all_threads.size();
      profile_.all_threads.push_back({serial, text(thread.name), thread.ended});
      if (!expansion_.take(profile_.all_threads.back().name.size())) return false;
    }
    for (const auto& [trace, serial] : trace_threads_) {
      const auto place = places.find(serial);
      if (place == places.end()) continue;
      const std::string& name = profile_.all_threads[place->second].name;
      if (!expansion_.take(name.size())) return false;
      profile_.threads[trace] = name;
      profile_.thread_places[trace] = place->second;
    }
    return true;
  }

  bool record(const RecordHead& head) {
    switch (head.tag) {
      case kString: {
        if (!names_.take(in_, head)) return false;
        in_.seek(head.body());
        ends_.take(names_.string(in_.id()));
        return in_.ok();
      }
      case kLoadClass:
      case kFrame:
      case kStartThread:
      case kEndThread:
        return names_.take(in_, head);
      case kTrace:
        return names_.take(in_, head) && trace(head);
      case kCpuSamples:
        return samples();
      case kAllocSites:
        return sites();
      case kHeapDump:
      case kHeapDumpSegment:
        put_plain_table({"HEAP DUMP", {}, {}}, &profile_);
        return true;
      default:
        return true;
    }
  }

  std::string class_name(uint32_t serial) const {
    const auto found = names_.classes.find(serial);
    return found == names_.classes.end() ? std::string() : dotted(text(found->second.name));
  }
  std::string text(uint64_t id) const { return std::string(names_.string(id)); }

  // Reads the trace that was just taken.
  bool trace(const RecordHead& head) {
    in_.seek(head.body());
    const uint32_t serial = in_.u4();
    trace_threads_[serial] = names_.traces[serial].thread;
    std::vector<ProfileFrame>& frames = profile_.traces[serial];
    frames.clear();
    for (uint64_t id : names_.traces[serial].frames) {
      const auto found = names_.frames.find(id);
      ProfileFrame frame;
      if (found != names_.frames.end()) {
        frame.class_name = class_name(found->second.class_serial);
        frame.method = text(found->second.method);
        frame.source = text(found->second.source);
        frame.line = found->second.line;
      } else {
        frame.method = "unknown";
      }
      is_too_much_ = !expansion_.take(Expansion::bytes_of(frame));
      if (is_too_much_) return true;
      frames.push_back(std::move(frame));
    }
    names_.traces.erase(serial);
    return true;
  }

  bool samples() {
    ProfileTable table = samples_table();
    SampleRow row;
    for (uint32_t left = read_samples(in_).rows; left > 0 && read_row(in_, &row); --left)
      table.rows.push_back({row.trace, {row.count}, {}});
    return keep(std::move(table));
  }

  bool sites() {
    ProfileTable table = sites_table();
    SiteRow row;
    for (uint32_t left = read_sites(in_).rows; left > 0 && read_row(in_, &row); --left) {
      table.rows.push_back({row.trace,
                            {row.live_bytes, row.live_objects, row.bytes, row.objects},
                            class_name(row.class_serial)});
      is_too_much_ = !expansion_.take(table.rows.back().name.size());
      if (is_too_much_) return true;
    }
    return keep(std::move(table));
  }

  bool keep(ProfileTable table) {
    if (!in_.ok()) return false;
    if (!table.rows.empty()) profile_.tables.push_back(std::move(table));
    return true;
  }

  Input& in_;
  Profile& profile_;
  Definitions names_;
  std::map<uint64_t, uint64_t> trace_threads_;  // serials
  ReportEnds ends_;
  Expansion expansion_;
  bool is_too_much_ = false;
};

}  // namespace

bool read_binary_profile(Input& in, Profile* profile, std::string* error) {
  return BinaryProfile(in, profile).run(error);
}

}  // namespace hprof::tool
