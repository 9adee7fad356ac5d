#include "profile.h"

#include <hprof/cpp/text.hpp>

namespace hprof::pprof {

namespace {

// Field numbers of profile.proto: of Profile,
constexpr uint32_t kSampleType = 1, kSample = 2, kMapping = 3, kLocation = 4, kFunction = 5, kText = 6,
                   kTime = 9, kDuration = 10, kPeriodType = 11, kPeriod = 12, kComment = 13,
                   kDefaultType = 14;
// of ValueType, Sample, Label, Mapping, Location, Line, Function.
constexpr uint32_t kType = 1, kUnit = 2;
constexpr uint32_t kLocations = 1, kValues = 2, kLabel = 3;
constexpr uint32_t kKey = 1, kString = 2, kNumber = 3, kNumberUnit = 4;
constexpr uint32_t kFileName = 5, kHasFunctions = 7, kHasFiles = 8, kHasLines = 9, kHasInlined = 10;
constexpr uint32_t kId = 1, kInMapping = 2, kLine = 4;
constexpr uint32_t kLineFunction = 1, kLineNumber = 2;
constexpr uint32_t kName = 2, kSystemName = 3, kFile = 4;

// Locations that are not frames, with numbers beyond those of frames.
constexpr uint64_t kUnknownLocation = uint64_t{1} << 32, kCutLocation = kUnknownLocation + 1;
constexpr uint32_t kUnknownBit = 1, kCutBit = 2;

// The only mapping: readers group by it, and ask for symbols without it.
constexpr uint32_t kProgram = 1;

constexpr uint32_t kIdDigits = 16;
constexpr uint32_t kMostPairs = 8;  // of a label set
constexpr uint32_t kMostSet = 512;  // bytes of one

// A column of sets like "route:/cart;job:nightly", each of whose labels is one here, too.
bool is_label_set(const hprof_column& column) {
  return column.type == HPROF_COLUMN_TEXT && std::strcmp(column.name, "labels") == 0;
}

bool is_number(const hprof_column& column) {
  return column.type == HPROF_COLUMN_COUNT || column.type == HPROF_COLUMN_NANOSECONDS ||
         column.type == HPROF_COLUMN_BYTES || column.type == HPROF_COLUMN_INT;
}
bool is_label(const hprof_column& column) {
  if ((column.flags & (HPROF_COLUMN_WEIGHT | HPROF_COLUMN_CONTINUED)) != 0) return false;
  return is_number(column) || column.type == HPROF_COLUMN_CLASS || column.type == HPROF_COLUMN_TEXT ||
         column.type == HPROF_COLUMN_THREAD || column.type == HPROF_COLUMN_ID;
}

}  // namespace

bool Profile::open(const Services& services) {
  services_ = services;
  return frames_.open(services) && methods_.open(services);
}

void Profile::close() {
  frames_.close();
  methods_.close();
}

void Profile::begin(ProtoOut& out, const hprof_report_info* info) {
  frames_.clear();
  methods_.clear();
  std::memset(kept_, 0, sizeof kept_);
  texts_ = thread_key_ = other_locations_ = 0;
  has_table_ = false;
  add_text(out, {nullptr, 0});  // number 0 is the empty one
  const bool is_named =
      info != nullptr && HPROF_HAS(info, hprof_report_info, program) && info->program[0] != 0;
  write_mapping(out, is_named ? info->program : "java");
  if (info == nullptr) return;
  out.number(kTime, info->begin_wall_ns);
  out.number(kDuration, info->end_ns - info->begin_ns);
}

uint32_t Profile::add_text(ProtoOut& out, hprof_text first, hprof_text second) {
  const bool both = second.data != nullptr;
  out.begin(kText, text_size(first) + (both ? 1 + text_size(second) : 0));
  out.characters(first);
  if (both) {
    out.bytes(".", 1);
    out.characters(second);
  }
  return texts_++;
}

uint32_t Profile::add_words(ProtoOut& out, const char* words) { return add_text(out, proto::text_of(words)); }

hprof_text Profile::string(hprof_string_id id) const {
  return id != 0 ? services_.ids->string_text(services_.host, id) : hprof_text{nullptr, 0};
}

hprof_text Profile::text_of(Of of, uint32_t number) const {
  if (of == Of::kClass) return string(find_class(services_.ids, services_.host, number)->name);
  if (of == Of::kThread) return string(find_thread(services_.ids, services_.host, number)->name);
  return string(number);
}

// 0: there is no text.
uint32_t Profile::kept_text(ProtoOut& out, Of of, uint32_t number) {
  const hprof_text text = text_of(of, number);
  if (text.data == nullptr || text.size == 0) return 0;
  const uint64_t key = uint64_t{static_cast<uint32_t>(of)} << 32 | number;
  Kept& kept = kept_[(number * 4 + static_cast<uint32_t>(of)) % kKept];
  if (kept.key != key) kept = {key, add_text(out, text)};
  return kept.index;
}

void Profile::write_note(ProtoOut& out, hprof_text text) { out.number(kComment, add_text(out, text)); }

void Profile::write_mapping(ProtoOut& out, const char* program) {
  const uint32_t name = add_words(out, program);
  constexpr uint32_t kFlags[] = {kHasFunctions, kHasFiles, kHasLines, kHasInlined};
  uint64_t size = number_size(kId, kProgram) + number_size(kFileName, name);
  for (const uint32_t flag : kFlags) size += number_size(flag, 1);
  out.begin(kMapping, size);
  out.number(kId, kProgram);
  out.number(kFileName, name);
  for (const uint32_t flag : kFlags) out.number(flag, 1);
}

// Writes a ValueType; returns the number of its name.
uint64_t Profile::write_type(ProtoOut& out, uint32_t field, const StackTable& stacks,
                             const hprof_column& column) {
  const uint64_t type = add_words(out, type_of(stacks, column));
  const uint64_t unit = add_words(out, unit_name(column));
  out.begin(field, number_size(kType, type) + number_size(kUnit, unit));
  out.number(kType, type);
  out.number(kUnit, unit);
  return type;
}

void Profile::write_head(ProtoOut& out, const StackTable& stacks) {
  const hprof_rec_table& table = stacks.table();
  uint64_t first = 0;
  for (uint32_t i = 0; i < stacks.weight_count(); i++) {
    if (!adds_up(stacks.weight(i))) continue;
    const uint64_t type = write_type(out, kSampleType, stacks, stacks.weight(i));
    if (i == stacks.first_weight()) first = type;
  }
  out.number(kDefaultType, first);
  if (table.period != 0 && table.period_column < table.schema->column_count) {
    write_type(out, kPeriodType, stacks, *hprof_column_at(table.schema, table.period_column));
    out.number(kPeriod, table.period);
  }
  for (uint32_t i = 0; i < table.schema->column_count && i < HPROF_TABLE_COLUMNS; i++) {
    const hprof_column& column = *hprof_column_at(table.schema, i);
    keys_[i] = is_label(column) ? add_words(out, column.name) : 0;
    units_[i] = is_label(column) && is_number(column) ? add_words(out, unit_of(column)) : 0;
  }
}

void Profile::write_function(ProtoOut& out, uint64_t id, uint32_t name, uint32_t file) {
  out.begin(kFunction, number_size(kId, id) + number_size(kName, name) + number_size(kSystemName, name) +
                           number_size(kFile, file));
  out.number(kId, id);
  out.number(kName, name);
  out.number(kSystemName, name);
  out.number(kFile, file);
}

void Profile::write_location(ProtoOut& out, uint64_t id, uint64_t function, int32_t line) {
  const uint64_t number = line > 0 ? static_cast<uint64_t>(line) : 0;
  const uint32_t size = number_size(kLineFunction, function) + number_size(kLineNumber, number);
  out.begin(kLocation, number_size(kId, id) + number_size(kInMapping, kProgram) + part_size(kLine, size));
  out.number(kId, id);
  out.number(kInMapping, kProgram);
  out.begin(kLine, size);
  out.number(kLineFunction, function);
  out.number(kLineNumber, number);
}

// False: no memory.
bool Profile::define_frame(ProtoOut& out, hprof_frame_id id) {
  const auto frame = find_frame(services_.ids, services_.host, id);
  const WrittenNumbers::Added method = methods_.add(frame->method);
  if (method == WrittenNumbers::Added::kNew) {
    const auto info = find_method(services_.ids, services_.host, frame->method);
    const auto owner = find_class(services_.ids, services_.host, info->owner);
    const uint32_t file = kept_text(out, Of::kString, owner->source);
    const hprof_text name = string(info->name), owner_name = string(owner->name);
    const uint32_t text = name.data == nullptr         ? add_words(out, "[unknown]")
                          : owner_name.data == nullptr ? add_text(out, name)
                                                       : add_text(out, owner_name, name);
    // 0 for a frame without a method, which is no function number.
    write_function(out, frame->method != 0 ? frame->method : kUnknownLocation, text, file);
  }
  if (method == WrittenNumbers::Added::kNoRoom) return false;
  const WrittenNumbers::Added added = frames_.add(id);
  if (added == WrittenNumbers::Added::kNew) {
    write_location(out, id, frame->method != 0 ? frame->method : kUnknownLocation, frame->line);
  }
  return added != WrittenNumbers::Added::kNoRoom;
}

void Profile::define_location(ProtoOut& out, uint64_t location, uint32_t bit, const char* name) {
  if ((other_locations_ & bit) != 0) return;
  other_locations_ |= bit;
  // Its function belongs to no method, and is not that of frames without a method.
  write_function(out, location + 2, add_words(out, name), 0);
  write_location(out, location, location + 2, 0);
}

bool Profile::define_frames(ProtoOut& out, const hprof_trace_info& trace) {
  for (uint32_t i = 0; i < trace.frame_count && out.ok(); i++) {
    if (!define_frame(out, trace.frames[i])) return false;
  }
  if (trace.frame_count == 0) define_location(out, kUnknownLocation, kUnknownBit, "[unknown]");
  if (is_cut(trace)) define_location(out, kCutLocation, kCutBit, "[cut]");
  return true;
}

// The digits of an identifier of 8 or 16 bytes; 0: there is none.
uint32_t Profile::add_id(ProtoOut& out, const hprof_table_schema& schema, uint32_t column,
                         const hprof_cell* row) {
  char digits[2 * kIdDigits];
  uint32_t size = 0;
  uint64_t any = 0;
  do {
    any |= row[column].u;
    for (uint32_t shift = 64; shift != 0;)
      digits[size++] = "0123456789abcdef"[row[column].u >> (shift -= 4) & 15];
    column++;
  } while (size < sizeof digits && column < schema.column_count &&
           (hprof_column_at(&schema, column)->flags & HPROF_COLUMN_CONTINUED) != 0);
  return any != 0 ? add_text(out, {digits, size}) : 0;
}

// Names and values of a set are texts that follow each other.
uint32_t Profile::add_pairs(ProtoOut& out, hprof_string_id list, Label* labels) {
  const uint64_t key = uint64_t{static_cast<uint32_t>(Of::kPairs)} << 32 | list;
  Kept& kept = kept_[(list * 4 + static_cast<uint32_t>(Of::kPairs)) % kKept];
  const bool is_new = kept.key != key;
  if (is_new) kept = {key, texts_};
  const hprof_text text = string(list);
  TextLine<kMostSet> set;
  set.add(text.data, text.size);
  uint32_t count = 0;
  each_pair(set.c_str(), ':', ";", [&](hprof_text name, hprof_text value) {
    if (count == kMostPairs) return;
    const uint32_t at = kept.index + 2 * count;
    if (is_new) {
      add_text(out, name);
      add_text(out, value);
    }
    labels[count++] = {at, at + 1, 0, 0};
  });
  return count;
}

uint32_t Profile::find_labels(ProtoOut& out, const StackTable& stacks, const WeightedStack& stack,
                              const hprof_trace_info& trace, Label* labels) {
  const hprof_table_schema& schema = *stacks.table().schema;
  uint32_t count = 0;
  const auto add = [&](uint32_t key, Of of, uint64_t number) {
    const uint32_t text = number != 0 ? kept_text(out, of, static_cast<uint32_t>(number)) : 0;
    if (text != 0) labels[count++] = {key, text, 0, 0};
  };
  for (uint32_t i = 0; i < schema.column_count && i < HPROF_TABLE_COLUMNS; i++) {
    const uint64_t cell = stack.row[i].u;
    if (keys_[i] == 0) continue;
    const hprof_column& column = *hprof_column_at(&schema, i);
    if (column.type == HPROF_COLUMN_ID) {
      const uint32_t text = add_id(out, schema, i, stack.row);
      if (text != 0) labels[count++] = {keys_[i], text, 0, 0};
    } else if (is_label_set(column)) {
      if (cell != 0) count += add_pairs(out, static_cast<hprof_string_id>(cell), labels + count);
    } else if (units_[i] != 0) {
      if (cell != 0) labels[count++] = {keys_[i], 0, cell, units_[i]};
    } else {
      add(keys_[i],
          column.type == HPROF_COLUMN_CLASS    ? Of::kClass
          : column.type == HPROF_COLUMN_THREAD ? Of::kThread
                                               : Of::kString,
          cell);
    }
  }
  if (trace.thread != 0) {
    if (thread_key_ == 0) thread_key_ = add_words(out, "thread");
    add(thread_key_, Of::kThread, trace.thread);
  }
  return count;
}

void Profile::write_sample(ProtoOut& out, const StackTable& stacks, const WeightedStack& stack,
                           const hprof_trace_info& trace) {
  Label labels[HPROF_TABLE_COLUMNS + kMostPairs + 1];
  const uint32_t label_count = find_labels(out, stacks, stack, trace, labels);
  // Computes sizes first: a length precedes its bytes.
  uint64_t locations = trace.frame_count == 0 ? varint_size(kUnknownLocation) : 0, values = 0, all = 0;
  if (is_cut(trace)) locations += varint_size(kCutLocation);
  for (uint32_t i = 0; i < trace.frame_count; i++) locations += varint_size(trace.frames[i]);
  for (uint32_t i = 0; i < stacks.weight_count(); i++) {
    if (adds_up(stacks.weight(i))) values += varint_size(stack.weights[i]);
  }
  const auto label_size = [](const Label& label) {
    return number_size(kKey, label.key) + number_size(kString, label.text) +
           number_size(kNumber, label.number) + number_size(kNumberUnit, label.unit);
  };
  for (uint32_t i = 0; i < label_count; i++) all += part_size(kLabel, label_size(labels[i]));
  all += part_size(kLocations, locations) + part_size(kValues, values);

  out.begin(kSample, all);
  out.begin(kLocations, locations);
  if (trace.frame_count == 0) out.varint(kUnknownLocation);
  for (uint32_t i = 0; i < trace.frame_count && out.ok(); i++) out.varint(trace.frames[i]);
  if (is_cut(trace)) out.varint(kCutLocation);
  out.begin(kValues, values);
  for (uint32_t i = 0; i < stacks.weight_count(); i++) {
    if (adds_up(stacks.weight(i))) out.varint(stack.weights[i]);
  }
  for (uint32_t i = 0; i < label_count; i++) {
    out.begin(kLabel, label_size(labels[i]));
    out.number(kKey, labels[i].key);
    out.number(kString, labels[i].text);
    out.number(kNumber, labels[i].number);
    out.number(kNumberUnit, labels[i].unit);
  }
}

void Profile::write(ProtoOut& out, const StackTable& stacks, uint64_t* lost) {
  has_table_ = true;
  write_head(out, stacks);
  each_weighted_stack(stacks, [&](const WeightedStack& stack) {
    bool weighs = false;
    for (uint32_t i = 0; i < stacks.weight_count(); i++) weighs = weighs || stack.weights[i] != 0;
    if (!weighs || !out.ok()) return;
    const auto trace = find_trace(services_.ids, services_.host, stack.trace);
    if (define_frames(out, *trace)) {
      write_sample(out, stacks, stack, *trace);
    } else {
      count_loss(lost);
    }
  });
}

}  // namespace hprof::pprof
