// Writes one ExportProfilesServiceRequest (which is a ProfilesData): a profile for each weight of a table.
//
// A length comes before its bytes, so everything is written twice, first to nowhere. Both times the same rows
// get the same numbers in the dictionary.
#pragma once

#include <hprof/cpp/profile_proto.hpp>

#include "number_map.h"
#include "resource.h"

namespace hprof::otlp {

class Counter;

class Request {
 public:
  // False: no memory. [onload][control]
  bool open(const Services& services);
  void close() {
    numbers_.close();
    thread_names_.close();
  }

  // Writes a table. Returns how many of its rows are lost, for lack of memory.
  uint64_t write(proto::ProtoOut& out, const StackTable& stacks, const hprof_report_info& info,
                 Resource& resource);

 private:
  // The tables of a ProfilesDictionary, and what else has a number.
  enum Kind : uint32_t { kFunction, kLocation, kText, kAttribute, kStack, kKinds, kFrame, kTrace };
  // An attribute for each label column, and two of the thread.
  static constexpr uint32_t kMostAttributes = 34;
  struct Sample {
    uint32_t stack;
    uint32_t attribute_count;
    uint32_t attributes[kMostAttributes];
  };

  // Each returns a number of the dictionary, after writing what it stands for if it is new; 0: no memory.
  uint32_t text(proto::ProtoOut& out, hprof_text first, hprof_text second = {nullptr, 0});
  uint32_t words(proto::ProtoOut& out, const char* line) { return text(out, proto::text_of(line)); }
  uint32_t function(proto::ProtoOut& out, uint32_t name, uint32_t file);
  uint32_t location(proto::ProtoOut& out, uint32_t function, int32_t line);
  uint32_t attribute(proto::ProtoOut& out, const char* key, const Value& value);
  uint32_t frame(proto::ProtoOut& out, hprof_frame_id id);
  uint32_t location_at(proto::ProtoOut& out, const hprof_trace_info& trace, uint32_t index);
  uint32_t stack(proto::ProtoOut& out, hprof_trace_serial serial, const hprof_trace_info& trace);
  uint32_t number(uint64_t key, Kind kind, bool* is_new);

  hprof_text string(hprof_string_id id) const;
  hprof_text label(uint32_t type, uint32_t number) const;
  // The name at its first use in this request: the record of a thread may go meanwhile.
  hprof_text thread_name(hprof_thread_serial thread);
  // Defines the row's stack and attributes. False: no memory.
  bool define(proto::ProtoOut& out, const StackTable& stacks, const WeightedStack& row, Sample* sample);
  // `counter`: this is the first time, and counts the bytes of `out`.
  void write_dictionary(proto::ProtoOut& out, const StackTable& stacks, const Counter* counter);
  void write_type(proto::ProtoOut& out, uint32_t field, const StackTable& stacks, const hprof_column& column);
  // Returns how many samples there are.
  uint64_t write_profile(proto::ProtoOut& out, const StackTable& stacks, uint32_t weight,
                         const hprof_report_info& info);
  template <class Visit>
  void each_row(const StackTable& stacks, const Visit& visit) const;

  Services services_;
  NumberMap numbers_;
  NumberMap thread_names_;  // string ids by serial, greater by 1
  uint32_t counts_[kKinds] = {};
  bool is_full_ = false;                   // a number was refused
  uint64_t rows_ = 0;                      // to write
  uint64_t dictionary_ = 0;                // bytes
  bool weighs_[HPROF_TABLE_COLUMNS] = {};  // the weights that are not all 0
};

}  // namespace hprof::otlp
