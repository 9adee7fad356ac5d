// Writes one ExportProfilesServiceRequest (which is a ProfilesData): a profile for each weight of its tables.
//
// A length comes before its bytes, so everything is written twice, first to nowhere. Both times the same rows
// get the same numbers in the dictionary. Rows with the same stack, attributes and link are one sample.
#pragma once

#include <hprof/cpp/profile_proto.hpp>

#include "held_tables.h"
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
    rows_.close();
  }

  // Adds a table to the next request, without the weights that `events` has; it must live until then.
  void add(const hprof_rec_table& table, const HeldTables& events);
  // Writes the request, and forgets its tables. Returns how many rows are lost, for lack of memory.
  uint64_t write(proto::ProtoOut& out, const hprof_report_info& info, Resource& resource);
  // The thread may have another name now, which the next request takes.
  void rename_thread(hprof_thread_serial thread);
  // Keeps the names of the threads of events for the next request.
  void keep_thread_names(const hprof_rec_table& events);

 private:
  // The tables of a ProfilesDictionary, and what else has a number.
  enum Kind : uint32_t {
    kFunction,
    kLocation,
    kText,
    kAttribute,
    kStack,
    kLink,
    kKinds,
    kFrame,
    kTrace,
    kRow
  };
  // An attribute for each label column, and two of the thread.
  static constexpr uint32_t kMostAttributes = 34;
  struct Sample {
    uint32_t stack;
    uint32_t link;  // 0: none
    uint32_t attribute_count;
    uint32_t attributes[kMostAttributes];
  };
  static constexpr uint32_t kMostTables = 2 * HeldTables::kMost;  // a report's, and events
  struct Table {
    const hprof_rec_table* record;
    bool weighs[HPROF_TABLE_COLUMNS];     // the weights to write
    uint64_t sizes[HPROF_TABLE_COLUMNS];  // bytes of their profiles
    uint64_t begin_ns, end_ns;            // of its events and of the report
  };
  static constexpr uint64_t kMostRows = uint64_t{1} << 19;
  // A row that weighs anything. Rows of one sample are a chain.
  struct Row {
    const hprof_cell* cells;
    uint32_t table;
    uint32_t next;  // 0: none
    uint32_t last;  // in the first row of a chain
    uint32_t is_first;
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
  uint32_t link(proto::ProtoOut& out, const hprof_table_schema& schema, const hprof_cell* cells);
  uint32_t number(uint64_t key, Kind kind, bool* is_new);

  hprof_text string(hprof_string_id id) const;
  hprof_text label(uint32_t type, uint32_t number) const;
  // The name at its first use in this request: the record of a thread may go meanwhile.
  hprof_text thread_name(hprof_thread_serial thread);
  // Finds the rows that weigh anything. Returns how many there is no memory for.
  uint64_t find_rows();
  uint64_t value(const Row& row, const StackTable& stacks, uint32_t weight) const;
  // Defines the row's stack, link and attributes. False: no memory.
  bool define(proto::ProtoOut& out, const Row& row, Sample* sample);
  bool add_to_sample(uint32_t row, const Sample& sample);
  // `counter`: this is the first time, and counts the bytes of `out`.
  void write_dictionary(proto::ProtoOut& out, const Counter* counter);
  void write_type(proto::ProtoOut& out, uint32_t field, const StackTable& stacks, const hprof_column& column);
  void write_request(proto::ProtoOut& out, const hprof_report_info& info, Resource& resource);
  // Returns how many samples there are.
  uint64_t write_profile(proto::ProtoOut& out, uint32_t table, uint32_t weight,
                         const hprof_report_info& info);
  bool write_sample(proto::ProtoOut& out, const StackTable& stacks, uint32_t row, uint32_t weight,
                    const hprof_report_info& info);
  // Calls visit(table, weight) for each profile.
  template <class Visit>
  void each_profile(const Visit& visit) const;

  Services services_;
  NumberMap numbers_;
  NumberMap thread_names_;  // string ids by serial, greater by 1
  uint32_t counts_[kKinds] = {};
  bool is_full_ = false;     // a number was refused
  uint64_t dictionary_ = 0;  // bytes
  Table tables_[kMostTables] = {};
  uint32_t table_count_ = 0;
  LazyTable<Row> rows_;
  uint32_t row_count_ = 0;  // to write
};

}  // namespace hprof::otlp
