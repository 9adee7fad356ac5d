// Writes one profile.proto message piece by piece: fields may come in any order, and repeated fields any
// number of times.
//
// Texts are numbered in the order in which they are written. Functions have the numbers of methods, locations
// those of frames.
#pragma once

#include <hprof/cpp/profile_proto.hpp>
#include <hprof/cpp/written_numbers.hpp>

namespace hprof::pprof {

using namespace proto;

class Profile {
 public:
  // False: no memory. [onload][control]
  bool open(const Services& services);
  void close();

  // Begins a message.
  void begin(ProtoOut& out, const hprof_report_info* info);
  bool has_begun() const { return texts_ != 0; }
  bool has_table() const { return has_table_; }
  // Writes the message's table. Counts rows without memory in *lost.
  void write(ProtoOut& out, const StackTable& stacks, uint64_t* lost);
  void write_note(ProtoOut& out, hprof_text text);

 private:
  // A direct-mapped cache of written texts; one that was evicted is written again.
  struct Kept {
    uint64_t key;
    uint32_t index;
  };
  static constexpr uint32_t kKept = 512;
  enum class Of : uint32_t { kString = 1, kClass, kThread, kPairs };

  uint32_t add_text(ProtoOut& out, hprof_text first, hprof_text second = {nullptr, 0});
  uint32_t add_words(ProtoOut& out, const char* words);
  uint32_t kept_text(ProtoOut& out, Of of, uint32_t number);
  hprof_text text_of(Of of, uint32_t number) const;
  hprof_text string(hprof_string_id id) const;

  void write_mapping(ProtoOut& out, const char* program);
  uint64_t write_type(ProtoOut& out, uint32_t field, const StackTable& stacks, const hprof_column& column);
  void write_head(ProtoOut& out, const StackTable& stacks);
  bool define_frames(ProtoOut& out, const hprof_trace_info& trace);
  bool define_frame(ProtoOut& out, hprof_frame_id id);
  void define_location(ProtoOut& out, uint64_t location, uint32_t bit, const char* name);
  void write_function(ProtoOut& out, uint64_t id, uint32_t name, uint32_t file);
  void write_location(ProtoOut& out, uint64_t id, uint64_t function, int32_t line);
  void write_sample(ProtoOut& out, const StackTable& stacks, const WeightedStack& stack,
                    const hprof_trace_info& trace);

  // A text, or a number and its unit. Key, text and unit are numbers of texts.
  struct Label {
    uint32_t key, text;
    uint64_t number;
    uint32_t unit;
  };
  uint32_t add_id(ProtoOut& out, const hprof_table_schema& schema, uint32_t column, const hprof_cell* row);
  uint32_t add_pairs(ProtoOut& out, hprof_string_id list, Label* labels);
  uint32_t find_labels(ProtoOut& out, const StackTable& stacks, const WeightedStack& stack,
                       const hprof_trace_info& trace, Label* labels);

  Services services_;
  WrittenNumbers frames_, methods_;
  uint32_t texts_ = 0;
  uint32_t thread_key_ = 0;
  // Texts: names of the label columns, and the units of those that are numbers.
  uint32_t keys_[HPROF_TABLE_COLUMNS] = {}, units_[HPROF_TABLE_COLUMNS] = {};
  uint32_t other_locations_ = 0;  // bits of the locations that are no frames and are defined
  bool has_table_ = false;
  Kept kept_[kKept] = {};
};

}  // namespace hprof::pprof
