// The records of the top level, except for heap dumps.
#include <hprof/cpp/dump_types.hpp>
#include <hprof/cpp/table.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/tables.h>

#include "binary.h"

namespace hprof::binary {

namespace {

constexpr char kHeader101[] = "JAVA PROFILE 1.0.1";
constexpr char kHeader102[] = "JAVA PROFILE 1.0.2";

// How many items of `each` bytes fit in a record with `fixed` other bytes: its length is a u4.
uint32_t fitting(uint64_t count, uint32_t each, uint32_t fixed) {
  const uint64_t most = (UINT32_MAX - fixed) / each;
  return static_cast<uint32_t>(count < most ? count : most);
}

void write_file_begin(Encoder& encoder, BinaryOut& out, const hprof_rec_file_begin& begin) {
  if (begin.id_size != 4 && begin.id_size != 8) return out.fail(HPROF_FAILED);
  encoder.id_size = begin.id_size;
  encoder.segments = begin.heap_dump != 0;
  encoder.last_time = encoder.empty_trace = encoder.in_dump = 0;
  encoder.segment_used = encoder.foreign_dumps = 0;
  end_foreign(encoder);
  encoder.positions.close();
  if (encoder.segments != 0) encoder.positions.open(Services(encoder.host));
  // with the NUL
  out.bytes(encoder.segments != 0 ? kHeader102 : kHeader101, sizeof kHeader101);
  out.u4(begin.id_size);
  out.u8(begin.created_ms);
}

void write_string(Encoder& encoder, BinaryOut& out, const hprof_rec_definition& definition) {
  hprof_text text = encoder.ids->string_text(encoder.host, definition.id);
  if (text.data == nullptr) text.size = 0;
  const uint32_t size = fitting(text.size, 1, encoder.id_size);
  write_head(encoder, out, kUtf8, definition.head.time_us, encoder.id_size + size);
  out.string(definition.id);
  out.bytes(text.data, size);
}

// Of a window's report: what hprof print and others know its tables by.
void write_window(Encoder& encoder, BinaryOut& out, const hprof_rec_report& report) {
  constexpr uint64_t kNsPerMs = 1000000;
  if (report.info == nullptr) return;
  const hprof_report_info& info = *report.info;
  const bool is_window = info.reason == HPROF_REPORT_WINDOW || info.reason == HPROF_REPORT_EXIT;
  if (info.cumulative != 0 || !is_window || report.status != HPROF_OK) return;
  TextLine<100> text;
  text.add("window ").add(info.begin_wall_ns / kNsPerMs).add(" to ").add(info.end_wall_ns / kNsPerMs);
  text.add(" ms since 1970");
  write_head(encoder, out, kUtf8, report.head.time_us, encoder.id_size + text.size());
  out.string(kLastString - info.sequence % 0x1000000);
  out.bytes(text.c_str(), text.size());
}

void write_class(Encoder& encoder, BinaryOut& out, const hprof_rec_definition& definition) {
  const auto info = find_class(encoder.ids, encoder.host, definition.id);
  write_head(encoder, out, kLoadClass, definition.head.time_us, 8 + 2 * encoder.id_size);
  out.u4(definition.id);
  const IdPositions::Class* dumped = encoder.positions.find_class(definition.id);
  const hprof_object_id object = info->object == 0 && dumped != nullptr ? dumped->object : info->object;
  if (object == 0) encoder.positions.mark_class(out, definition.id);
  out.class_object(object, definition.id);
  out.trace(info->trace);
  out.string(info->name);
}

uint32_t line_of(const Encoder& encoder, const Known<hprof_frame_info>& frame) {
  if (!frame || frame->line < HPROF_LINE_NATIVE) return static_cast<uint32_t>(HPROF_LINE_UNKNOWN);
  if (frame->line > 0 && encoder.host->settings->line_numbers == 0) return HPROF_LINE_NONE;
  return static_cast<uint32_t>(frame->line);
}

void write_frame(Encoder& encoder, BinaryOut& out, const hprof_rec_definition& definition) {
  const auto frame = find_frame(encoder.ids, encoder.host, definition.id);
  const auto method = find_method(encoder.ids, encoder.host, frame->method);
  const auto owner = find_class(encoder.ids, encoder.host, method->owner);
  write_head(encoder, out, kFrame, definition.head.time_us, 8 + 4 * encoder.id_size);
  out.frame(definition.id);
  out.string(method->name);
  out.string(method->signature);
  out.string(owner->source);
  out.u4(method->owner);
  out.u4(line_of(encoder, frame));
}

void write_trace(Encoder& encoder, BinaryOut& out, uint64_t time_us, hprof_trace_serial serial) {
  const auto info = find_trace(encoder.ids, encoder.host, serial);
  const uint32_t count = fitting(info->frame_count, encoder.id_size, 12);
  write_head(encoder, out, kTrace, time_us, 12 + count * encoder.id_size);
  out.trace(serial);
  out.thread(info->thread);
  out.u4(count);
  for (uint32_t i = 0; i < count && out.ok(); i++) out.frame(info->frames[i]);
}

void write_thread_start(Encoder& encoder, BinaryOut& out, const hprof_rec_definition& definition) {
  const auto info = find_thread(encoder.ids, encoder.host, definition.id);
  write_head(encoder, out, kStartThread, definition.head.time_us, 8 + 4 * encoder.id_size);
  out.thread(definition.id);
  encoder.positions.mark_thread(out, definition.id);
  out.object(info->object);
  out.trace(info->trace);
  out.string(info->name);
  out.string(info->group);
  out.string(info->parent_group);
}

void write_settings(Encoder& encoder, BinaryOut& out, const hprof_rec_control_settings& settings) {
  write_head(encoder, out, kControlSettings, settings.head.time_us, 6);
  out.u4((settings.alloc_traces != 0 ? 1u : 0) | (settings.cpu_sampling != 0 ? 2u : 0));
  out.u2(settings.depth > 0xffff ? 0xffff : settings.depth);
}

void write_cpu_samples(Encoder& encoder, BinaryOut& out, const hprof_rec_table& table) {
  const uint32_t count = fitting(table.row_count, 8, 8);
  write_head(encoder, out, kCpuSamples, table.head.time_us, 8 + 8 * count);
  out.u4(saturated(column_total(table, HPROF_CPU_COUNT)));
  out.u4(count);
  for (uint32_t i = 0; i < count && out.ok(); i++) {
    const auto& row = row_at<hprof_cpu_row>(table, i);
    out.u4(saturated(row.count));
    out.trace(static_cast<hprof_trace_serial>(row.trace));
  }
}

// 0: no array; else the basic type of its elements, objects for arrays of arrays.
uint32_t array_indicator(const Encoder& encoder, hprof_class_serial serial) {
  const auto info = find_class(encoder.ids, encoder.host, serial);
  const hprof_text signature = encoder.ids->string_text(encoder.host, info->signature);
  if (signature.data == nullptr || signature.size < 2 || signature.data[0] != '[') return 0;
  const uint32_t type = type_of(signature.data[1]);
  return type != 0 ? type : HPROF_TYPE_OBJECT;
}

void write_sites(Encoder& encoder, BinaryOut& out, const hprof_rec_table& table) {
  const uint32_t count = fitting(table.row_count, 25, 34);
  const float cutoff = static_cast<float>(table.cutoff);
  uint32_t cutoff_bits;
  static_assert(sizeof cutoff_bits == sizeof cutoff, "the format wants a 4-byte IEEE float");
  std::memcpy(&cutoff_bits, &cutoff, sizeof cutoff_bits);
  write_head(encoder, out, kAllocSites, table.head.time_us, 34 + 25 * count);
  out.u2(((table.flags & HPROF_TABLE_CHANGES) != 0 ? 1u : 0) |
         (table.order == HPROF_SITE_ALLOCATED_BYTES ? 2u : 0) |
         ((table.flags & HPROF_TABLE_COLLECTED) != 0 ? 4u : 0));
  out.u4(cutoff_bits);
  out.u4(saturated(column_total(table, HPROF_SITE_LIVE_BYTES)));
  out.u4(saturated(column_total(table, HPROF_SITE_LIVE_BYTES + 1)));
  out.u8(column_total(table, HPROF_SITE_ALLOCATED_BYTES));
  out.u8(column_total(table, HPROF_SITE_ALLOCATED_BYTES + 1));
  out.u4(count);
  for (uint32_t i = 0; i < count && out.ok(); i++) {
    const auto& row = row_at<hprof_site_row>(table, i);
    const auto owner = static_cast<hprof_class_serial>(row.owner);
    out.u1(array_indicator(encoder, owner));
    out.u4(owner);
    out.trace(static_cast<hprof_trace_serial>(row.trace));
    out.u4(saturated(row.live_bytes));
    out.u4(saturated(row.live_objects));
    out.u4(saturated(row.allocated_bytes));
    out.u4(saturated(row.allocated_objects));
  }
}

void write_heap_summary(Encoder& encoder, BinaryOut& out, const hprof_rec_table& table) {
  for (uint64_t i = 0; i < table.row_count; i++) {
    const auto& row = row_at<hprof_heap_summary_row>(table, i);
    write_head(encoder, out, kHeapSummary, table.head.time_us, 24);
    out.u4(saturated(row.live_bytes));
    out.u4(saturated(row.live_objects));
    out.u8(row.allocated_bytes);
    out.u8(row.allocated_objects);
  }
}

// The function for a table that the format has a record for; nullptr: it has none.
using WriteTable = void (*)(Encoder& encoder, BinaryOut& out, const hprof_rec_table& table);
WriteTable writer_of(const hprof_rec_table& table) {
  if (is_table(table, HPROF_TABLE_CPU_SAMPLES, 3)) return write_cpu_samples;
  if (is_table(table, HPROF_TABLE_ALLOC_SITES, 6)) return write_sites;
  if (is_table(table, HPROF_TABLE_HEAP_SUMMARY, 4)) return write_heap_summary;
  return nullptr;
}

// A dump by JVMTI has given objects of classes an id whose LOAD CLASS came before.
void patch_classes(Encoder& encoder, BinaryOut& out) {
  for (hprof_class_serial serial = 1; serial < encoder.positions.class_end(); serial++) {
    const IdPositions::Class& of = *encoder.positions.find_class(serial);
    if (of.position == 0 || of.object != 0) continue;
    const hprof_object_id id = find_class(encoder.ids, encoder.host, serial)->object;
    if (id != 0) out.patch_object(of.position, id);
  }
}

bool is_heap_dump(uint32_t kind) {
  return kind >= HPROF_RECORD_HEAP_DUMP_BEGIN && kind <= HPROF_RECORD_FOREIGN_DUMP;
}

bool names_traces(const hprof_record* record) {
  const uint32_t kind = record->kind;
  if (kind == HPROF_RECORD_TABLE) {
    const WriteTable write = writer_of(as<hprof_rec_table>(record));
    return write == write_cpu_samples || write == write_sites;
  }
  return kind == HPROF_RECORD_CLASS || kind == HPROF_RECORD_TRACE || kind == HPROF_RECORD_THREAD_START ||
         is_heap_dump(kind);
}

}  // namespace

void write_head(Encoder& encoder, BinaryOut& out, Tag tag, uint64_t time_us, uint32_t length) {
  const uint32_t time = saturated(time_us);
  // Readers take a decreasing time for an overflow, which happens after 71 minutes.
  if (time > encoder.last_time) encoder.last_time = time;
  out.u1(tag);
  out.u4(encoder.last_time);
  out.u4(length);
}

void write_record(Encoder& encoder, BinaryOut& out, const hprof_record* record) {
  if (record->kind == HPROF_RECORD_FILE_BEGIN) {
    return write_file_begin(encoder, out, as<hprof_rec_file_begin>(record));
  }
  if (encoder.id_size == 0) return out.fail(HPROF_FAILED);
  if (encoder.empty_trace == 0 && names_traces(record)) {
    encoder.empty_trace = 1;
    write_trace(encoder, out, record->time_us, 0);
  }
  if (is_heap_dump(record->kind)) return write_heap_record(encoder, out, record);
  switch (record->kind) {
    case HPROF_RECORD_FILE_END:
      if (encoder.in_dump != 0) end_dump(encoder, out, record->time_us);
      patch_classes(encoder, out);
      break;
    case HPROF_RECORD_STRING:
      write_string(encoder, out, as<hprof_rec_definition>(record));
      break;
    case HPROF_RECORD_CLASS:
      write_class(encoder, out, as<hprof_rec_definition>(record));
      break;
    case HPROF_RECORD_CLASS_UNLOAD:
      if (auto* of = encoder.positions.find_class(as<hprof_rec_definition>(record).id)) *of = {};
      write_head(encoder, out, kUnloadClass, record->time_us, 4);
      out.u4(as<hprof_rec_definition>(record).id);
      break;
    case HPROF_RECORD_FRAME:
      write_frame(encoder, out, as<hprof_rec_definition>(record));
      break;
    case HPROF_RECORD_TRACE:
      if (as<hprof_rec_definition>(record).id != 0) {
        write_trace(encoder, out, record->time_us, as<hprof_rec_definition>(record).id);
      }
      break;
    case HPROF_RECORD_THREAD_START:
      write_thread_start(encoder, out, as<hprof_rec_definition>(record));
      break;
    case HPROF_RECORD_THREAD_END:
      write_head(encoder, out, kEndThread, record->time_us, 4);
      out.thread(as<hprof_rec_definition>(record).id);
      break;
    case HPROF_RECORD_CONTROL_SETTINGS:
      write_settings(encoder, out, as<hprof_rec_control_settings>(record));
      break;
    case HPROF_RECORD_REPORT_END:
      write_window(encoder, out, as<hprof_rec_report>(record));
      break;
    case HPROF_RECORD_TABLE:
      if (const WriteTable write = writer_of(as<hprof_rec_table>(record))) {
        write(encoder, out, as<hprof_rec_table>(record));
      } else {
        out.fail(HPROF_UNSUPPORTED);
      }
      break;
    default:
      out.fail(HPROF_UNSUPPORTED);
  }
}

}  // namespace hprof::binary
