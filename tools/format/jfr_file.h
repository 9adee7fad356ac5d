// Reads recordings of JDK Flight Recorder, chunk by chunk: those of the JDK since 11, of async-profiler, and
// of format=jfr.
//
// A chunk describes itself: its metadata has the types and their fields, its constant pools hold the values
// that events refer to by number. A field is read from its bytes when it is asked for.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/format/input.h"

namespace hprof::tool {

struct JfrType;

struct JfrField {
  std::string_view name;
  uint64_t type_id = 0;
  const JfrType* type = nullptr;  // null: the metadata does not have it
  bool is_in_pool = false, is_array = false;
};

struct JfrType {
  enum Kind { kFields, kByte, kShort, kInt, kLong, kFloat, kDouble, kText };
  std::string_view name;  // "jdk.ExecutionSample"
  Kind kind = kFields;
  std::vector<JfrField> fields;
};

// A value of an event or of a constant pool. Events are valid until the next one, all else until the next
// chunk.
struct JfrValue {
  const JfrType* type = nullptr;  // null: there is no such value
  std::string_view bytes;         // the value and what follows it
  uint64_t number = 0;            // its number in the pool; 0: none
  const JfrField* array = nullptr;
};

class JfrFile {
 public:
  explicit JfrFile(Input& in) : in_(in) {}

  // Reads the metadata and the constant pools of the next chunk. False: the file has no more, or problem().
  bool next_chunk();
  // Goes to the next event of the chunk. False: the chunk has no more, or problem().
  bool next_event();
  // The type of the event; null: the metadata does not have it.
  const JfrType* event_type() const;
  // False: problem().
  bool read_event(JfrValue* event);

  // The field of that name, looked up in its pool. Its type is null: the type has no such field, or the pool
  // no value of its number.
  JfrValue field(const JfrValue& of, std::string_view name) const;
  // The elements of an array, looked up in their pool.
  std::vector<JfrValue> elements(const JfrValue& array) const;
  // The value of an integer, from the low bytes; 0: it is none.
  uint64_t number(const JfrValue& value) const;
  // A string, or the first field of a type that is made of one; "": it is none.
  std::string text(const JfrValue& value) const;
  uint64_t nanoseconds(uint64_t ticks) const;
  // The time since 1970 at which the clock of events showed these ticks.
  uint64_t time_of(uint64_t ticks) const;

  const std::string& version() const { return version_; }  // of the chunk: "2.1"
  uint64_t start_ns() const { return start_ns_; }          // since 1970
  uint64_t end_ns() const { return start_ns_ + duration_ns_; }
  // What is wrong, and at which byte; "": nothing.
  const std::string& problem() const { return problem_; }
  uint64_t problem_at() const { return problem_at_; }
  // Makes that the problem of the event that was read.
  void refuse(const std::string& problem) { fail(event_, problem); }
  uint64_t end() const { return end_; }  // offset of the chunk's end
  // How many bytes field(), elements() and text() went through so far, some of them many times.
  uint64_t decoded() const { return decoded_; }

 private:
  class Cursor;
  bool fail(uint64_t at, const std::string& problem);
  bool read_head();
  bool find_parts();
  uint64_t number_of(unsigned size);
  bool begin_event();
  bool take_event(std::string* bytes);
  bool read_metadata();
  bool read_element(Cursor& from, unsigned depth, JfrType* owner);
  bool read_pool(Cursor& from);
  bool skip(Cursor& from, const JfrType* type, unsigned depth) const;
  bool skip(Cursor& from, const JfrField& field, unsigned depth) const;
  bool read_text(Cursor& from, std::string* text, bool may_refer = true) const;
  JfrValue value_at(Cursor& from, const JfrField& field) const;

  Input& in_;
  std::string problem_;
  uint64_t problem_at_ = 0;
  uint64_t begin_ = 0, end_ = 0;  // of the chunk
  std::string version_;
  uint64_t start_ns_ = 0, duration_ns_ = 0, start_ticks_ = 0, ticks_per_second_ = 1;
  bool is_packed_ = true;  // integers have as many bytes as they need

  uint64_t next_ = 0;                            // offset of the next event,
  uint64_t event_ = 0, event_id_ = 0;            // of this one, and its type
  std::string event_bytes_;                      // its fields
  std::vector<uint64_t> pool_offsets_;           // offsets of the events that hold pools
  uint64_t metadata_offset_ = 0;                 // of the last event of metadata, which has all types
  std::deque<std::string> words_;                // what the types refer to
  std::unordered_map<uint64_t, JfrType> types_;  // by number
  std::deque<std::string> pool_bytes_;           // what the pools refer to
  using Pool = std::unordered_map<uint64_t, std::string_view>;
  std::unordered_map<uint64_t, Pool> pools_;  // by the number of the type
  uint64_t text_type_ = 0;                    // number of the type whose pool has strings
  mutable uint64_t decoded_ = 0;
};

}  // namespace hprof::tool
