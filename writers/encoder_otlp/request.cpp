#include "request.h"

#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/names.hpp>

namespace hprof::otlp {

using namespace proto;

namespace {

// Field numbers of opentelemetry/proto/profiles/v1development: of the request, ResourceProfiles,
// ScopeProfiles,
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
constexpr uint32_t kStackIndex = 1, kAttributeIndices = 2, kValues = 4;
// of Function, Location, Line, Stack, KeyValueAndUnit.
constexpr uint32_t kName = 1, kFile = 3;
constexpr uint32_t kLines = 3;
constexpr uint32_t kLineFunction = 1, kLineNumber = 2;
constexpr uint32_t kLocationIndices = 1;
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
  return numbers_.open(services) && thread_names_.open(services);
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

bool Request::define(ProtoOut& out, const StackTable& stacks, const WeightedStack& row, Sample* sample) {
  const hprof_table_schema& schema = *stacks.table().schema;
  const auto trace = find_trace(services_.ids, services_.host, row.trace);
  hprof_thread_serial thread = trace->thread;
  sample->attribute_count = 0;
  const auto add = [&](const char* key, const Value& value) {
    if (sample->attribute_count < kMostAttributes)
      sample->attributes[sample->attribute_count++] = attribute(out, key, value);
  };
  sample->stack = stack(out, row.trace, *trace);
  for (uint32_t i = 0; i < schema.column_count && i < HPROF_TABLE_COLUMNS; i++) {
    const hprof_column& column = *hprof_column_at(&schema, i);
    const auto cell = static_cast<uint32_t>(row.row[i].u);
    const hprof_text text = label(column.type, cell);
    if (text.data != nullptr && text.size != 0) add(column.name, {text, 0});
    if (column.type == HPROF_COLUMN_THREAD && cell != 0) thread = cell;
  }
  if (thread != 0) {
    const hprof_text name = thread_name(thread);
    if (name.data != nullptr) add("thread.name", {name, 0});
    add("thread.id", {{nullptr, 0}, thread});
  }
  return !is_full_;
}

hprof_text Request::thread_name(hprof_thread_serial thread) {
  uint32_t* name = thread_names_.at(mix(0, thread));
  is_full_ = is_full_ || name == nullptr;
  if (name == nullptr) return {nullptr, 0};
  if (*name == 0) *name = find_thread(services_.ids, services_.host, thread)->name + 1;
  return string(*name - 1);
}

// Visits the rows to write: those that weigh anything.
template <class Visit>
void Request::each_row(const StackTable& stacks, const Visit& visit) const {
  uint64_t count = 0;
  each_weighted_stack(stacks, [&](const WeightedStack& row) {
    bool weighs = false;
    for (uint32_t i = 0; i < stacks.weight_count(); i++)
      weighs = weighs || (row.weights[i] != 0 && adds_up(stacks.weight(i)));
    if (weighs && count++ < rows_) visit(row);
  });
}

void Request::write_type(ProtoOut& out, uint32_t field, const StackTable& stacks,
                         const hprof_column& column) {
  const uint32_t type = words(out, type_of(stacks, column)), unit = words(out, unit_name(column));
  if (field == 0) return;
  out.begin(field, number_size(kType, type) + number_size(kUnit, unit));
  out.number(kType, type);
  out.number(kUnit, unit);
}

void Request::write_dictionary(ProtoOut& out, const StackTable& stacks, const Counter* counter) {
  const hprof_rec_table& table = stacks.table();
  numbers_.clear();
  std::memset(counts_, 0, sizeof counts_);
  for (uint32_t field = kMappings; field <= kStacks; field++) out.begin(field, 0);
  for (uint32_t i = 0; i < stacks.weight_count(); i++) {
    if (weighs_[i]) write_type(out, 0, stacks, stacks.weight(i));
  }
  if (has_period(table)) write_type(out, 0, stacks, *hprof_column_at(table.schema, table.period_column));
  uint64_t rows = 0;
  if (counter != nullptr) dictionary_ = counter->size();
  Sample sample;
  each_row(stacks, [&](const WeightedStack& row) {
    if (is_full_ || !define(out, stacks, row, &sample)) return;
    rows++;
    if (counter != nullptr) dictionary_ = counter->size();
  });
  if (counter != nullptr) rows_ = rows;
}

uint64_t Request::write_profile(ProtoOut& out, const StackTable& stacks, uint32_t weight,
                                const hprof_report_info& info) {
  uint64_t count = 0;
  const hprof_rec_table& table = stacks.table();
  write_type(out, kSampleType, stacks, stacks.weight(weight));
  each_row(stacks, [&](const WeightedStack& row) {
    const uint64_t value = row.weights[weight];
    Sample sample;
    if (value == 0 || !out.ok()) return;
    count++;
    define(out, stacks, row, &sample);
    uint64_t attributes = 0;
    for (uint32_t i = 0; i < sample.attribute_count; i++) attributes += varint_size(sample.attributes[i]);
    out.begin(kSamples, number_size(kStackIndex, sample.stack) +
                            (attributes != 0 ? part_size(kAttributeIndices, attributes) : 0) +
                            part_size(kValues, varint_size(value)));
    out.number(kStackIndex, sample.stack);
    if (attributes != 0) out.begin(kAttributeIndices, attributes);
    for (uint32_t i = 0; i < sample.attribute_count; i++) out.varint(sample.attributes[i]);
    out.begin(kValues, varint_size(value));
    out.varint(value);
  });
  out.fixed64(kTime, info.begin_wall_ns);
  out.number(kDuration, info.end_ns - info.begin_ns);
  if (has_period(table)) {
    write_type(out, kPeriodType, stacks, *hprof_column_at(table.schema, table.period_column));
    out.number(kPeriod, table.period);
  }
  const uint64_t first = mix(mix(mix(1, info.begin_wall_ns), info.end_wall_ns), info.sequence);
  const uint64_t process = services_.io != nullptr ? services_.io->process_id(services_.host) : 0;
  const uint64_t id[] = {hash_of(mix(first, process), text_of(info.unit)), mix(mix(2, first), weight)};
  out.begin(kProfileId, sizeof id);
  out.bytes(id, sizeof id);
  return count;
}

uint64_t Request::write(ProtoOut& out, const StackTable& stacks, const hprof_report_info& info,
                        Resource& resource) {
  uint64_t all = 0, sizes[HPROF_TABLE_COLUMNS] = {};  // of profiles; 0: there is none
  rows_ = UINT64_MAX;
  is_full_ = false;
  thread_names_.clear();
  std::memset(weighs_, 0, sizeof weighs_);
  each_row(stacks, [&](const WeightedStack& row) {
    all++;
    for (uint32_t i = 0; i < stacks.weight_count(); i++)
      weighs_[i] = weighs_[i] || (row.weights[i] != 0 && adds_up(stacks.weight(i)));
  });
  Counter counter;
  ProtoOut counted(counter.out());
  write_dictionary(counted, stacks, &counter);
  if (rows_ == 0) return all;
  is_full_ = false;  // what follows is known

  const uint64_t scope =
      part_size(kScopeName, sizeof kScopeText - 1) + part_size(kScopeVersion, sizeof kVersionText - 1);
  resource.collect(info);
  uint64_t profiles = part_size(kScope, scope);
  for (uint32_t i = 0; i < stacks.weight_count(); i++) {
    if (!weighs_[i]) continue;
    Counter one;
    ProtoOut to(one.out());
    if (write_profile(to, stacks, i, info) == 0) continue;
    sizes[i] = one.size();
    profiles += part_size(kProfiles, sizes[i]);
  }
  out.begin(kResourceProfiles, part_size(kResource, resource.size()) + part_size(kScopeProfiles, profiles));
  out.begin(kResource, resource.size());
  resource.write(out);
  out.begin(kScopeProfiles, profiles);
  out.begin(kScope, scope);
  out.text(kScopeName, text_of(kScopeText));
  out.text(kScopeVersion, text_of(kVersionText));
  for (uint32_t i = 0; i < stacks.weight_count(); i++) {
    if (sizes[i] == 0) continue;
    out.begin(kProfiles, sizes[i]);
    write_profile(out, stacks, i, info);
  }
  out.begin(kDictionary, dictionary_);
  write_dictionary(out, stacks, nullptr);
  return all - rows_;
}

}  // namespace hprof::otlp
