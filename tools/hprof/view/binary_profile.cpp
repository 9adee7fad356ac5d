// Binary files with CPU SAMPLES or ALLOC SITES records.
#include <unordered_map>

#include "tools/format/binary_format.h"
#include "tools/format/definitions.h"
#include "tools/hprof/view/profile.h"

namespace hprof::tool {

namespace {

// A name out of a class file: java/util/Map becomes java.util.Map.
std::string dotted(std::string name) {
  for (char& letter : name)
    if (letter == '/') letter = '.';
  return name;
}

class BinaryProfile {
 public:
  BinaryProfile(Input& in, Profile* profile) : in_(in), profile_(*profile) {}

  bool run(std::string* error) {
    FileHeader header;
    if (!read_header(in_, &header)) {
      *error = "byte 0: " + std::string(header.problem);
      return false;
    }
    profile_.about.emplace_back("format", header.version);
    profile_.created_ms = header.milliseconds;
    RecordHead head{};
    bool cut = false;
    while (read_record_head(in_, &head, &cut)) {
      const bool good = record(head);
      const bool whole = in_.ok();
      in_.clear_limit();
      if (!good || !whole || !in_.seek(head.body()) || !in_.skip(head.length)) {
        *error = "byte " + std::to_string(head.offset) +
                 ": the record is cut short or its counts do not fit its length";
        return false;
      }
    }
    if (cut) {
      *error = "byte " + std::to_string(head.offset) + ": the file ends within a record";
      return false;
    }
    return true;
  }

 private:
  struct Frame {
    uint64_t method, source;
    uint32_t owner;
    int32_t line;
  };

  bool record(const RecordHead& head) {
    in_.set_limit(head.end());
    switch (head.tag) {
      case kString: {
        const uint64_t id = in_.id();
        return in_.ok() && in_.text(head.length - in_.id_size(), &strings_[id]);
      }
      case kLoadClass: {
        const uint32_t serial = in_.u4();
        in_.id();
        in_.u4();
        classes_[serial] = in_.id();
        return true;
      }
      case kFrame: {
        const uint64_t id = in_.id();
        Frame frame{};
        frame.method = in_.id();
        in_.id();
        frame.source = in_.id();
        frame.owner = in_.u4();
        frame.line = static_cast<int32_t>(in_.u4());
        frames_[id] = frame;
        return true;
      }
      case kTrace:
        return trace();
      case kCpuSamples:
        return samples();
      case kAllocSites:
        return sites();
      default:
        return true;
    }
  }

  bool trace() {
    const uint32_t serial = in_.u4();
    in_.u4();
    const uint32_t count = in_.u4();
    std::vector<ProfileFrame>& frames = profile_.traces[serial];
    frames.clear();
    for (uint32_t i = 0; i < count && in_.ok(); ++i) {
      const auto found = frames_.find(in_.id());
      if (!in_.ok()) return false;
      ProfileFrame frame;
      if (found != frames_.end()) {
        frame.class_name = dotted(strings_[classes_[found->second.owner]]);
        frame.method = strings_[found->second.method];
        frame.source = strings_[found->second.source];
        frame.line = found->second.line;
      } else {
        frame.method = "unknown";
      }
      frames.push_back(std::move(frame));
    }
    return in_.ok();
  }

  bool samples() {
    ProfileTable table = samples_table();
    in_.u4();
    const uint32_t count = in_.u4();
    for (uint32_t i = 0; i < count && in_.ok(); ++i) {
      const uint64_t samples = in_.u4();
      table.rows.push_back({in_.u4(), {samples}, {}});
    }
    return keep(std::move(table));
  }

  bool sites() {
    ProfileTable table = sites_table();
    in_.skip(2 + 4 + 4 + 4 + 8 + 8);  // flags, cutoff and totals
    const uint32_t count = in_.u4();
    for (uint32_t i = 0; i < count && in_.ok(); ++i) {
      in_.u1();
      const std::string name = dotted(strings_[classes_[in_.u4()]]);
      const uint32_t trace = in_.u4();
      const uint64_t live_bytes = in_.u4(), live = in_.u4(), bytes = in_.u4(), objects = in_.u4();
      table.rows.push_back({trace, {live_bytes, live, bytes, objects}, name});
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
  std::unordered_map<uint64_t, std::string> strings_;
  std::unordered_map<uint32_t, uint64_t> classes_;  // by serial: the name's string
  std::unordered_map<uint64_t, Frame> frames_;
};

}  // namespace

bool read_binary_profile(Input& in, Profile* profile, std::string* error) {
  return BinaryProfile(in, profile).run(error);
}

}  // namespace hprof::tool
