// The definitions of a binary file: strings, classes, frames and traces, kept for names in messages and
// tables. Memory grows with the number of definitions, not with the size of the heap dump.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/format/input.h"

namespace hprof::tool {

// Ids of files are multiples of 8 or nearly sequential; std::hash would leave most buckets empty.
struct IdHash {
  size_t operator()(uint64_t id) const {
    id = (id ^ (id >> 30)) * 0xbf58476d1ce4e5b9u;
    return static_cast<size_t>(id ^ (id >> 29));
  }
};
template <typename Value>
using IdMap = std::unordered_map<uint64_t, Value, IdHash>;

// The entries of a map, in the order of the file.
template <typename Place>
std::vector<std::pair<uint64_t, Place>> by_place(const IdMap<Place>& map) {
  std::vector<std::pair<uint64_t, Place>> entries(map.begin(), map.end());
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    bool before = a.second < b.second, after = b.second < a.second;
    return before || (!after && a.first < b.first);
  });
  return entries;
}

struct FileHeader {
  std::string version;  // "JAVA PROFILE 1.0.2"
  uint32_t id_size = 0;
  uint64_t milliseconds = 0;  // since 1970
  std::string problem;        // why read_header() returned false
};

// Reads the header and sets the input's id size. False: it is not a binary file, its id size is neither 4
// nor 8, or Android wrote it.
bool read_header(Input& in, FileHeader* header);

struct RecordHead {
  uint64_t offset;  // of the tag
  uint8_t tag;
  uint32_t time;  // microseconds since the header's time
  uint64_t length;
  uint64_t body() const { return offset + 9; }
  uint64_t end() const { return body() + length; }
};

// Reads the head of the next record. False: the file has ended; *cut: within a head.
bool read_record_head(Input& in, RecordHead* head, bool* cut);

struct LoadedClass {
  uint32_t serial;
  uint64_t id;
  uint32_t trace;
  uint64_t name;
  bool unloaded;
};

struct StackFrame {
  uint64_t method, signature, source;
  uint32_t class_serial;
  int32_t line;
};

struct StackTrace {
  uint32_t thread;
  std::vector<uint64_t> frames;
};

struct StartedThread {
  uint64_t object;
  uint32_t trace;
  uint64_t name, group, parent_group;
  bool ended;
};

class Definitions {
 public:
  // Longer strings are cut: no name is longer.
  static constexpr uint64_t kStringMax = 1 << 16;

  IdMap<std::string> strings;
  IdMap<LoadedClass> classes;     // by serial number
  IdMap<uint32_t> class_serials;  // serial number by class object id
  IdMap<StackFrame> frames;       // by frame id
  IdMap<StackTrace> traces;       // by serial number
  IdMap<StartedThread> threads;   // by serial number

  // Reads and keeps a definition record's body, wherever the input is. False: no definition, or incomplete.
  // No checks.
  bool take(Input& in, const RecordHead& head);

  std::string_view string(uint64_t id) const;
  // As in Java source; "class 0x.." or "class #.." if the file has no name.
  std::string class_name(uint64_t class_id) const;
  std::string class_name_of_serial(uint32_t serial) const;
  // `pkg.Class.method(File.java:12)`.
  std::string frame_text(const StackFrame& frame) const;
  // `pkg.Class.method`.
  std::string method_text(const StackFrame& frame) const;
};

// "[[Ljava/lang/String;" and "java/lang/String" as Java writes them; other names unchanged but for the
// slashes.
std::string java_name(std::string_view name);

}  // namespace hprof::tool
