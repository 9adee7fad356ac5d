#include "request.h"

#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/names.hpp>

namespace hprof::otlp {

using namespace proto;

namespace {

// Field numbers of opentelemetry/proto/profiles/v1development of opentelemetry-proto 1.10 (`hprof
// --version` says so): of the request, ResourceProfiles, ScopeProfiles,
constexpr uint32_t kResourceProfiles = 1, kDictionary = 2;
constexpr uint32_t kResource = 1, kScopeProfiles = 2;
constexpr uint32_t kScope = 1, kProfiles = 2;
// of InstrumentationScope, ProfilesDictionary,
constexpr uint32_t kScopeName = 1, kScopeVersion = 2;
constexpr uint32_t kMappings = 1, kLocations = 2, kFunctions = 3, kLinks = 4, kStrings = 5, kAttributes = 6,
                   kStacks = 7;
// of Profile, ValueType, Sample,
constexpr uint32_t kSampleType = 1, kSamples = 2, kTime = 3, kDuration = 4, kPeriodType = 5, kPeriod = 6,
                   kProfileId = 7;
constexpr uint32_t kType = 1, kUnit = 2;
constexpr uint32_t kStackIndex = 1, kAttributeIndices = 2, kLinkIndex = 3, kValues = 4, kTimes = 5;
// of Function, Location, Line, Stack, Link, KeyValueAndUnit.
constexpr uint32_t kName = 1, kFile = 3;
constexpr uint32_t kLines = 3;
constexpr uint32_t kLineFunction = 1, kLineNumber = 2;
constexpr uint32_t kLocationIndices = 1;
constexpr uint32_t kTraceId = 1, kSpanId = 2;
constexpr uint32_t kKey = 1, kValue = 2;

constexpr char kScopeText[] = "hprof", kVersionText[] = "1.0";

uint64_t hash_of(uint64_t hash, hprof_text text) {
  if (text.data == nullptr) return hash;
  const uint8_t* at = reinterpret_cast<const uint8_t*>(text.data);
  const uint8_t* const end = at + text.size;
  char shown[kUtf8Most];
  while (at != end) {
    const uint32_t size = put_code(shown, next_code(at, end));
    for (uint32_t i = 0; i < size; i++) hash = mix(hash, static_cast<uint8_t>(shown[i]) + 1u);
  }
  return hash;
}

bool has_period(const hprof_rec_table& table) {
  return table.period != 0 && table.period_column < table.schema->column_count;
}

bool is_events(const hprof_rec_table& table) { return (table.flags & HPROF_TABLE_EVENTS) != 0; }

// The first column of a type and, unless null, a name; HPROF_NO_COLUMN: none.
uint32_t find_column(const hprof_table_schema& schema, uint32_t type, const char* name) {
  for (uint32_t i = 0; i < schema.column_count && i < HPROF_TABLE_COLUMNS; i++) {
    const hprof_column& column = *hprof_column_at(&schema, i);
    if (column.type == type && (name == nullptr || std::strcmp(column.name, name) == 0)) return i;
  }
  return HPROF_NO_COLUMN;
}

// When an event was over; 0 for a row of a table that has no times.
uint64_t time_of(const hprof_rec_table& table, const hprof_cell* cells) {
  const uint32_t column =
      is_events(table) ? find_column(*table.schema, HPROF_COLUMN_TIME, nullptr) : HPROF_NO_COLUMN;
  return column != HPROF_NO_COLUMN ? cells[column].u : 0;
}

void put_big_endian(uint64_t number, uint8_t* to) {
  for (uint32_t i = 0; i < 8; i++) to[i] = static_cast<uint8_t>(number >> (56 - 8 * i));
}

}  // namespace

// An output that only counts.
class Counter {
 public:
  Counter() {
    out_.size = sizeof out_;
    out_.more = &Counter::more;
    empty();
  }
  hprof_out* out() { return &out_; }
  uint64_t size() const { return before_ + static_cast<uint64_t>(out_.at - room_); }

 private:
  void empty() {
    out_.at = room_;
    out_.end = room_ + sizeof room_;
  }
  static hprof_status more(hprof_out* out, uint32_t) {
    auto* self = reinterpret_cast<Counter*>(out);
    self->before_ = self->size();
    self->empty();
    return HPROF_OK;
  }

  hprof_out out_ = {};  // the first member
  uint64_t before_ = 0;
  uint8_t room_[HPROF_OUT_MOST];
};

bool Request::open(const Services& services) {
  services_ = services;
  if (!numbers_.open(services) || !thread_names_.open(services) || !rows_.open(services, kMostRows))
    return false;
  // Kept for writing the rows of a report, since holding them may take all memory that is left.
  numbers_.keep_room();
  rows_.cover(1);
  return true;
}

uint32_t Request::number(uint64_t key, Kind kind, bool* is_new) {
  uint32_t* number = numbers_.at(mix(mix(0, kind + 1u), key));
  is_full_ = is_full_ || number == nullptr;
  *is_new = number != nullptr && *number == 0;
  if (*is_new) *number = ++counts_[kind];
  return number != nullptr ? *number : 0;
}

uint32_t Request::text(ProtoOut& out, hprof_text first, hprof_text second) {
  const bool both = second.data != nullptr;
  const hprof_text dot = text_of(".");
  uint64_t hash = hash_of(0, first);
  if (both) hash = hash_of(hash_of(hash, dot), second);
  if (hash == 0) return 0;  // the empty text
  bool is_new = false;
  const uint32_t index = number(hash, kText, &is_new);
  if (!is_new) return index;
  out.begin(kStrings, text_size(first) + (both ? 1 + text_size(second) : 0));
  out.characters(first);
  if (both) out.characters(dot);
  if (both) out.characters(second);
  return index;
}

uint32_t Request::function(ProtoOut& out, uint32_t name, uint32_t file) {
  bool is_new = false;
  const uint32_t index = number(uint64_t{name} << 32 | file, kFunction, &is_new);
  if (!is_new) return index;
  out.begin(kFunctions, number_size(kName, name) + number_size(kFile, file));
  out.number(kName, name);
  out.number(kFile, file);
  return index;
}

uint32_t Request::location(ProtoOut& out, uint32_t function, int32_t line) {
  const uint64_t shown = line > 0 ? static_cast<uint64_t>(line) : 0;
  bool is_new = false;
  const uint32_t index = number(uint64_t{function} << 32 | shown, kLocation, &is_new);
  if (!is_new) return index;
  const uint32_t size = number_size(kLineFunction, function) + number_size(kLineNumber, shown);
  out.begin(kLocations, part_size(kLines, size));
  out.begin(kLines, size);
  out.number(kLineFunction, function);
  out.number(kLineNumber, shown);
  return index;
}

uint32_t Request::attribute(ProtoOut& out, const char* key, const Value& value) {
  const uint32_t name = words(out, key);
  const bool is_text = value.text.data != nullptr;
  bool is_new = false;
  const uint64_t hash = is_text ? hash_of(mix(1, name), value.text) : mix(mix(2, name), value.number);
  const uint32_t index = number(hash, kAttribute, &is_new);
  if (!is_new) return index;
  out.begin(kAttributes, number_size(kKey, name) + part_size(kValue, value_size(value)));
  out.number(kKey, name);
  write_value(out, kValue, value);
  return index;
}

hprof_text Request::string(hprof_string_id id) const {
  return id != 0 ? services_.ids->string_text(services_.host, id) : hprof_text{nullptr, 0};
}

hprof_text Request::label(uint32_t type, uint32_t number) const {
  if (number == 0) return {nullptr, 0};
  if (type == HPROF_COLUMN_CLASS) return string(find_class(services_.ids, services_.host, number)->name);
  return type == HPROF_COLUMN_TEXT ? string(number) : hprof_text{nullptr, 0};
}

uint32_t Request::frame(ProtoOut& out, hprof_frame_id id) {
  const uint64_t key = mix(mix(0, kFrame + 1u), id);
  const uint32_t* known = numbers_.at(key);
  is_full_ = is_full_ || known == nullptr;
  if (is_full_ || *known != 0) return is_full_ ? 0 : *known;
  const auto frame = find_frame(services_.ids, services_.host, id);
  const auto method = find_method(services_.ids, services_.host, frame->method);
  const auto owner = find_class(services_.ids, services_.host, method->owner);
  const hprof_text name = string(method->name), owner_name = string(owner->name);
  const uint32_t shown = name.data == nullptr         ? words(out, "[unknown]")
                         : owner_name.data == nullptr ? text(out, name)
                                                      : text(out, owner_name, name);
  const uint32_t index = location(out, function(out, shown, text(out, string(owner->source))), frame->line);
  *numbers_.at(key) = index;
  return index;
}

// A stack is its frames, and a word at its root if it was cut.
uint32_t Request::location_at(ProtoOut& out, const hprof_trace_info& trace, uint32_t index) {
  if (index < trace.frame_count) return frame(out, trace.frames[index]);
  return location(out, function(out, words(out, trace.frame_count == 0 ? "[unknown]" : "[cut]"), 0), 0);
}

uint32_t Request::stack(ProtoOut& out, hprof_trace_serial serial, const hprof_trace_info& trace) {
  const uint64_t key = mix(mix(0, kTrace + 1u), serial);
  const uint32_t* known = numbers_.at(key);
  is_full_ = is_full_ || known == nullptr;
  if (is_full_ || *known != 0) return is_full_ ? 0 : *known;
  const uint32_t count = trace.frame_count + (trace.frame_count == 0 || is_cut(trace) ? 1 : 0);
  uint64_t hash = 0, size = 0;
  for (uint32_t i = 0; i < count && !is_full_; i++) {
    const uint32_t at = location_at(out, trace, i);
    hash = mix(hash, at);
    size += varint_size(at);
  }
  bool is_new = false;
  const uint32_t index = number(hash, kStack, &is_new);
  if (is_full_) return 0;
  if (is_new) {
    out.begin(kStacks, part_size(kLocationIndices, size));
    out.begin(kLocationIndices, size);
    for (uint32_t i = 0; i < count; i++) out.varint(location_at(out, trace, i));
  }
  *numbers_.at(key) = index;
  return index;
}

// 0: the row has no ids of a trace.
uint32_t Request::link(ProtoOut& out, const hprof_table_schema& schema, const hprof_cell* cells) {
  const uint32_t trace = find_column(schema, HPROF_COLUMN_ID, "trace_id");
  const uint32_t span = find_column(schema, HPROF_COLUMN_ID, "span_id");
  if (trace == HPROF_NO_COLUMN || span == HPROF_NO_COLUMN || trace + 1 >= schema.column_count) return 0;
  const uint64_t words[] = {cells[trace].u, cells[trace + 1].u, cells[span].u};
  if ((words[0] | words[1] | words[2]) == 0) return 0;
  bool is_new = false;
  const uint32_t index = number(mix(mix(mix(0, words[0]), words[1]), words[2]), kLink, &is_new);
  if (!is_new) return index;
  uint8_t ids[24];
  for (uint32_t i = 0; i < 3; i++) put_big_endian(words[i], ids + 8 * i);
  out.begin(kLinks, part_size(kTraceId, 16) + part_size(kSpanId, 8));
  out.begin(kTraceId, 16);
  out.bytes(ids, 16);
  out.begin(kSpanId, 8);
  out.bytes(ids + 16, 8);
  return index;
}

bool Request::define(ProtoOut& out, const Row& row, Sample* sample) {
  const hprof_rec_table& table = *tables_[row.table].record;
  const hprof_table_schema& schema = *table.schema;
  const auto serial = static_cast<hprof_trace_serial>(row.cells[StackTable(table).trace_column()].u);
  const auto trace = find_trace(services_.ids, services_.host, serial);
  hprof_thread_serial thread = trace->thread;
  const uint32_t of_thread = find_column(schema, HPROF_COLUMN_THREAD, nullptr);
  sample->attribute_count = 0;
  const auto add = [&](const char* key, const Value& value) {
    if (sample->attribute_count < kMostAttributes)
      sample->attributes[sample->attribute_count++] = attribute(out, key, value);
  };
  sample->stack = stack(out, serial, *trace);
  sample->link = link(out, schema, row.cells);
  for (uint32_t i = 0; i < schema.column_count && i < HPROF_TABLE_COLUMNS; i++) {
    const hprof_column& column = *hprof_column_at(&schema, i);
    const auto cell = static_cast<uint32_t>(row.cells[i].u);
    const hprof_text text = label(column.type, cell);
    if (text.data != nullptr && text.size != 0) add(column.name, {text, 0});
    const bool counts = column.type >= HPROF_COLUMN_COUNT && column.type <= HPROF_COLUMN_BYTES;
    if (counts && (column.flags & HPROF_COLUMN_KEY) != 0) add(column.name, {{nullptr, 0}, row.cells[i].u});
    if (i == of_thread && cell != 0) thread = cell;
    if (column.type == HPROF_COLUMN_THREAD_STATE) add("thread.state", {text_of(state_name(cell)), 0});
  }
  if (thread != 0) {
    const hprof_text name = thread_name(thread);
    if (name.data != nullptr) add("thread.name", {name, 0});
    add("thread.id", {{nullptr, 0}, thread});
  }
  return !is_full_;
}

// Appends a row to the chain of its sample. False: no memory.
bool Request::add_to_sample(uint32_t row, const Sample& sample) {
  uint64_t key = mix(mix(mix(mix(0, kRow + 1u), rows_[row].table), sample.stack), sample.link);
  key = mix(key, sample.attributes, sample.attribute_count);
  uint32_t* first = numbers_.at(key);
  is_full_ = is_full_ || first == nullptr;
  if (is_full_) return false;
  if (*first == 0) {
    *first = row + 1;
    rows_[row].last = row;
    rows_[row].is_first = 1;
    return true;
  }
  uint32_t& last = rows_[*first - 1].last;
  rows_[last].next = row;
  last = row;
  return true;
}

hprof_text Request::thread_name(hprof_thread_serial thread) {
  uint32_t* name = thread_names_.at(mix(0, thread));
  is_full_ = is_full_ || name == nullptr;
  if (name == nullptr) return {nullptr, 0};
  if (*name == 0) *name = find_thread(services_.ids, services_.host, thread)->name + 1;
  return string(*name - 1);
}

void Request::rename_thread(hprof_thread_serial thread) {
  uint32_t* name = thread_names_.at(mix(0, thread));
  if (name != nullptr) *name = find_thread(services_.ids, services_.host, thread)->name + 1;
}

void Request::keep_thread_names(const hprof_rec_table& events) {
  const uint32_t column = find_column(*events.schema, HPROF_COLUMN_THREAD, nullptr);
  for (uint64_t i = 0; column != HPROF_NO_COLUMN && i < events.row_count; i++) {
    const auto thread = static_cast<hprof_thread_serial>(hprof_row_at(&events, i)[column].u);
    if (thread != 0) thread_name(thread);
  }
}

uint64_t Request::value(const Row& row, const StackTable& stacks, uint32_t weight) const {
  return cell_value(stacks.weight(weight), row.cells[stacks.weight_column(weight)]);
}

uint64_t Request::find_rows() {
  uint64_t lost = 0;
  row_count_ = 0;
  for (uint32_t t = 0; t < table_count_; t++) {
    Table& table = tables_[t];
    const StackTable stacks(*table.record);
    bool has_weights[HPROF_TABLE_COLUMNS] = {};
    for (uint64_t i = 0; i < table.record->row_count; i++) {
      const Row row = {hprof_row_at(table.record, i), t, 0, 0, 0};
      bool weighs = false;
      for (uint32_t w = 0; w < stacks.weight_count(); w++) {
        const bool any = table.weighs[w] && value(row, stacks, w) != 0;
        has_weights[w] = has_weights[w] || any;
        weighs = weighs || any;
      }
      if (!weighs) continue;
      if (lost != 0 || !rows_.cover(uint64_t{row_count_} + 1)) {
        lost++;
        continue;
      }
      rows_[row_count_++] = row;
      const uint64_t at = time_of(*table.record, row.cells);
      if (at != 0 && (table.begin_ns == 0 || at < table.begin_ns)) table.begin_ns = at;
      if (at >= table.end_ns) table.end_ns = at + 1;
    }
    std::memcpy(table.weighs, has_weights, sizeof has_weights);
  }
  return lost;
}

void Request::write_type(ProtoOut& out, uint32_t field, const StackTable& stacks,
                         const hprof_column& column) {
  const uint32_t type = words(out, type_of(stacks, column)), unit = words(out, unit_name(column));
  if (field == 0) return;
  out.begin(field, number_size(kType, type) + number_size(kUnit, unit));
  out.number(kType, type);
  out.number(kUnit, unit);
}

template <class Visit>
void Request::each_profile(const Visit& visit) const {
  for (uint32_t t = 0; t < table_count_; t++) {
    for (uint32_t w = 0; w < HPROF_TABLE_COLUMNS; w++) {
      if (tables_[t].weighs[w]) visit(t, w);
    }
  }
}

void Request::write_dictionary(ProtoOut& out, const Counter* counter) {
  numbers_.clear();
  std::memset(counts_, 0, sizeof counts_);
  for (uint32_t field = kMappings; field <= kStacks; field++) out.begin(field, 0);
  each_profile([&](uint32_t t, uint32_t weight) {
    const hprof_rec_table& table = *tables_[t].record;
    const StackTable stacks(table);
    write_type(out, 0, stacks, stacks.weight(weight));
    if (has_period(table)) write_type(out, 0, stacks, *hprof_column_at(table.schema, table.period_column));
  });
  uint32_t rows = 0;
  if (counter != nullptr) dictionary_ = counter->size();
  Sample sample;
  for (uint32_t i = 0; i < row_count_ && !is_full_; i++) {
    if (!define(out, rows_[i], &sample)) break;
    if (counter == nullptr) continue;
    if (!add_to_sample(i, sample)) break;
    rows++;
    dictionary_ = counter->size();
  }
  if (counter != nullptr) row_count_ = rows;
}

// Writes the sample that begins with a row. False: all its values are 0.
bool Request::write_sample(ProtoOut& out, const StackTable& stacks, uint32_t row, uint32_t weight,
                           const hprof_report_info& info) {
  const bool has_times = is_events(stacks.table());
  uint64_t sum = 0, count = 0, values = 0, attributes = 0;
  const auto each_value = [&](const auto& visit) {
    for (uint32_t i = row;; i = rows_[i].next) {
      const uint64_t value = this->value(rows_[i], stacks, weight);
      if (value != 0) visit(rows_[i], value);
      if (rows_[i].next == 0) return;
    }
  };
  each_value([&](const Row&, uint64_t value) {
    sum += value;
    count++;
    values += varint_size(value);
  });
  if (count == 0) return false;
  if (!has_times) values = varint_size(sum);
  Sample sample;
  define(out, rows_[row], &sample);
  for (uint32_t i = 0; i < sample.attribute_count; i++) attributes += varint_size(sample.attributes[i]);
  out.begin(kSamples, number_size(kStackIndex, sample.stack) +
                          (attributes != 0 ? part_size(kAttributeIndices, attributes) : 0) +
                          number_size(kLinkIndex, sample.link) + part_size(kValues, values) +
                          (has_times ? part_size(kTimes, 8 * count) : 0));
  out.number(kStackIndex, sample.stack);
  if (attributes != 0) out.begin(kAttributeIndices, attributes);
  for (uint32_t i = 0; i < sample.attribute_count; i++) out.varint(sample.attributes[i]);
  out.number(kLinkIndex, sample.link);
  out.begin(kValues, values);
  if (!has_times) {
    out.varint(sum);
    return true;
  }
  each_value([&](const Row&, uint64_t value) { out.varint(value); });
  out.begin(kTimes, 8 * count);
  each_value([&](const Row& of, uint64_t) {
    out.little_endian(info.begin_wall_ns + (time_of(stacks.table(), of.cells) - info.begin_ns));
  });
  return true;
}

uint64_t Request::write_profile(ProtoOut& out, uint32_t t, uint32_t weight, const hprof_report_info& info) {
  uint64_t count = 0;
  const Table& table = tables_[t];
  const StackTable stacks(*table.record);
  write_type(out, kSampleType, stacks, stacks.weight(weight));
  for (uint32_t i = 0; i < row_count_ && out.ok(); i++) {
    if (rows_[i].table == t && rows_[i].is_first != 0 && write_sample(out, stacks, i, weight, info)) count++;
  }
  out.fixed64(kTime, info.begin_wall_ns + (table.begin_ns - info.begin_ns));
  out.number(kDuration, table.end_ns - table.begin_ns);
  if (has_period(*table.record)) {
    write_type(out, kPeriodType, stacks, *hprof_column_at(table.record->schema, table.record->period_column));
    out.number(kPeriod, table.record->period);
  }
  const uint64_t first = mix(mix(mix(1, info.begin_wall_ns), info.end_wall_ns), info.sequence);
  const uint64_t process = services_.io != nullptr ? services_.io->process_id(services_.host) : 0;
  const uint64_t id[] = {hash_of(mix(first, process), text_of(info.unit)),
                         mix(mix(2, first), t * HPROF_TABLE_COLUMNS + weight)};
  out.begin(kProfileId, sizeof id);
  out.bytes(id, sizeof id);
  return count;
}

void Request::add(const hprof_rec_table& record, const HeldTables& events) {
  const StackTable stacks(record);
  if (table_count_ == kMostTables) return;
  Table& table = tables_[table_count_++];
  table = {&record, {}, {}, 0, 0};
  for (uint32_t i = 0; i < stacks.weight_count(); i++) {
    const hprof_column& weight = stacks.weight(i);
    table.weighs[i] = adds_up(weight) && (is_events(record) || !events.has(record, weight));
  }
}

uint64_t Request::write(ProtoOut& out, const hprof_report_info& info, Resource& resource) {
  for (uint32_t i = 0; i < table_count_; i++) {
    tables_[i].begin_ns = info.begin_ns;
    tables_[i].end_ns = info.end_ns;
  }
  is_full_ = false;
  uint64_t lost = find_rows();
  const uint32_t found = row_count_;
  Counter counter;
  ProtoOut counted(counter.out());
  write_dictionary(counted, &counter);
  lost += found - row_count_;
  is_full_ = false;  // what follows is known
  if (row_count_ != 0) write_request(out, info, resource);
  table_count_ = 0;
  thread_names_.clear();
  return lost;
}

void Request::write_request(ProtoOut& out, const hprof_report_info& info, Resource& resource) {
  const uint64_t scope =
      part_size(kScopeName, sizeof kScopeText - 1) + part_size(kScopeVersion, sizeof kVersionText - 1);
  resource.collect(info);
  uint64_t profiles = part_size(kScope, scope);
  each_profile([&](uint32_t t, uint32_t weight) {
    Counter one;
    ProtoOut to(one.out());
    // None if the rows that weigh anything are lost.
    const bool any = write_profile(to, t, weight, info) != 0;
    tables_[t].weighs[weight] = any;
    tables_[t].sizes[weight] = one.size();
    if (any) profiles += part_size(kProfiles, one.size());
  });
  out.begin(kResourceProfiles, part_size(kResource, resource.size()) + part_size(kScopeProfiles, profiles));
  out.begin(kResource, resource.size());
  resource.write(out);
  out.begin(kScopeProfiles, profiles);
  out.begin(kScope, scope);
  out.text(kScopeName, text_of(kScopeText));
  out.text(kScopeVersion, text_of(kVersionText));
  each_profile([&](uint32_t t, uint32_t weight) {
    out.begin(kProfiles, tables_[t].sizes[weight]);
    write_profile(out, t, weight, info);
  });
  out.begin(kDictionary, dictionary_);
  write_dictionary(out, nullptr);
}

}  // namespace hprof::otlp
