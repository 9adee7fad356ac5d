// The JFR encoder: format=jfr, recordings as the JDK's `jfr`, JDK Mission Control and others read them.
//
// Events become events of the JDK's types, notes hprof.Note. Reports are not written: their tables are the
// sums of the events. A chunk ends with each report, when it is large enough, and after a minute.
#include <hprof/cpp/contexts.hpp>
#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/cpp/writer.hpp>

#include "rows.h"

namespace hprof::jfr {

namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
// The longest that a chunk gathers: the first one, after which the file can be opened and most threads have
// the names that they give themselves, and the others.
constexpr uint64_t kFirstChunkNs = kSecondNs * 5 / 2, kChunkNs = 60 * kSecondNs;
// JFR's samples have no weight, so one that stands for several is written as often as this.
constexpr uint64_t kRepeatsMost = 10'000;

// What the chunk says of the VM, whose event may come behind others.
void add_vm(Encoder& encoder) {
  const hprof_settings& settings = encoder.services.settings();
  const hprof_vm_event& vm = encoder.vm;
  TextLine<2 * kNumberMost> java;
  java.add("JRE (").add(settings.java_version).add(")");
  Event event(encoder.chunk, kJvmInformation, encoder.chunk.began_ns(), true);
  const auto add = [&](uint64_t id) {
    event.text(encoder.chunk.pools.string(static_cast<hprof_string_id>(id)));
  };
  vm.name != 0 ? add(vm.name) : event.words("Java VM");
  vm.version != 0 ? add(vm.version) : event.words(settings.java_version != 0 ? java.c_str() : nullptr);
  add(vm.arguments);
  event.words(nullptr);  // flags of the VM's own file
  add(vm.command);
  event.varint(vm.began_ms != 0         ? vm.began_ms
               : settings.attached == 0 ? encoder.chunk.created_ms()
                                        : kUnknownTime);
  const hprof_io_service* io = encoder.services.io;
  event.varint(io != nullptr ? io->process_id(encoder.services.host) : 0);
  event.keep();
}

void clear_chunk(Encoder& encoder) {
  encoder.chunk.clear();
  encoder.has_processors = encoder.has_any = encoder.has_events = false;
  std::memset(encoder.has_settings, 0, sizeof encoder.has_settings);
}

void write_chunk(Encoder& encoder, JfrOut& out, uint64_t now_ns) {
  add_vm(encoder);
  encoder.chunk.write(out, now_ns);
  encoder.has_chunk = true;
  clear_chunk(encoder);
}

// Calls add(), which returns false for want of memory: then again in a new chunk, and counts the event as
// lost if that fails, too. True: added.
template <class Add>
bool add_event(Encoder& encoder, JfrOut& out, uint64_t now_ns, const Add& add) {
  bool added = add();
  if (!added && encoder.has_any) {
    write_chunk(encoder, out, now_ns);
    added = add();
  }
  if (!added) {
    clear_chunk(encoder);
    count_loss(encoder.lost_events);
    return false;
  }
  encoder.has_any = true;
  if (encoder.chunk.is_full()) write_chunk(encoder, out, now_ns);
  return true;
}

void add_row(Encoder& encoder, JfrOut& out, const hprof_rec_table& table, const Source& source,
             uint64_t index, uint32_t context, uint64_t now_ns) {
  Row row = {encoder, table, index, 0, context};
  const uint64_t all = source.copies != nullptr ? source.copies(row) : 1;
  const uint64_t copies = all < kRepeatsMost ? all : kRepeatsMost;
  for (row.copy = copies; row.copy-- > 0 && out.ok();) {
    // An event that filled the chunk is in the file already.
    if (add_event(encoder, out, now_ns, [&] { return add_request(row) && source.add(row); }))
      encoder.has_events = encoder.has_any;
  }
  if (copies != all) count_loss(encoder.lost_copies, all - copies);
}

// Returns the first of the columns tables::kContext.
uint32_t context_of(const hprof_table_schema& schema) {
  for (uint32_t i = 0; i + tables::kContextCells <= schema.column_count; i++)
    if (std::strcmp(hprof_column_at(&schema, i)->name, tables::kContext[0].name) == 0) return i;
  return HPROF_NO_COLUMN;
}

hprof_status add_events(Encoder& encoder, JfrOut& out, const hprof_rec_table& table) {
  const uint64_t now_ns = encoder.chunk.time_of(table.head);
  if (encoder.has_events &&
      now_ns - encoder.chunk.began_ns() >= (encoder.has_chunk ? kChunkNs : kFirstChunkNs))
    write_chunk(encoder, out, now_ns);
  for (const Source& source : kSources) {
    if (!is_table(table, source.events, source.columns)) continue;
    encoder.seen |= 1u << (&source - kSources);
    const uint32_t context = context_of(*table.schema);
    for (uint64_t i = 0; i < table.row_count && out.ok(); i++)
      add_row(encoder, out, table, source, i, context, now_ns);
    return out.status();
  }
  return HPROF_UNSUPPORTED;
}

// A table of sums. Prints a message, once, if no event came: its collector makes none with these options.
void look_at_sums(Encoder& encoder, const hprof_rec_table& table) {
  for (const Source& source : kSources) {
    const uint32_t bit = 1u << (&source - kSources);
    if (source.sums == nullptr || std::strcmp(table.schema->name, source.sums) != 0) continue;
    if (table.row_count == 0 || ((encoder.seen | encoder.said) & bit) != 0) return;
    encoder.said |= bit;
    TextLine<256> text;
    text.add("format=jfr holds events only, and of ").add(table.schema->title).add(" there are none");
    if (std::strcmp(source.sums, HPROF_TABLE_ALLOC_SITES) == 0) text.add("; sites=sampled has them");
    if (std::strcmp(source.sums, HPROF_TABLE_LATENCY) == 0) text.add("; latency-events= has the slow ones");
    if (encoder.services.log != nullptr) encoder.services.log->message(encoder.services.host, text.c_str());
  }
}

void add_note(Encoder& encoder, JfrOut& out, const hprof_rec_note& note) {
  const uint64_t now_ns = encoder.chunk.time_of(note.head);
  add_event(encoder, out, now_ns, [&] {
    Event event(encoder.chunk, kNote, now_ns, true);
    event.text(note.text);
    return event.keep();
  });
}

void end_file(Encoder& encoder, JfrOut& out, uint64_t now_ns) {
  if (encoder.has_chunk && !encoder.has_any) return;
  write_chunk(encoder, out, now_ns);
}

// The event of the VM's end, with the first report that is made of it.
void add_end(Encoder& encoder, JfrOut& out, const hprof_rec_report& report) {
  if (encoder.is_over || report.info->reason != HPROF_REPORT_EXIT) return;
  const uint64_t now_ns = encoder.chunk.time_of(report.head);
  encoder.is_over = add_event(encoder, out, now_ns, [&] {
    Event event(encoder.chunk, kShutdown, now_ns);
    event.zeros(2);  // thread, stack
    event.words("The VM ends");
    return event.keep();
  });
}

}  // namespace

hprof_status Encoder::open(char*, uint32_t) {
  if (!chunk.open(services)) return HPROF_NO_MEMORY;
  if (services.log != nullptr) {
    lost_events =
        services.log->loss_counter(services.host, "events: no memory for them in JFR (max-memory=)");
    lost_copies = services.log->loss_counter(
        services.host,
        "events: JFR has no weights, and one event is written 10,000 times at most (interval=)");
  }
  return HPROF_OK;
}

hprof_status Encoder::encode(const hprof_record* record, hprof_out* to) {
  JfrOut out(to);
  switch (record->kind) {
    case HPROF_RECORD_FILE_BEGIN: {
      chunk.begin_file(as<hprof_rec_file_begin>(record));
      Contexts contexts;
      contexts.open(services);
      has_contexts = contexts.are_on();
      if (has_contexts && !chunk.add_sample_threads()) return HPROF_NO_MEMORY;
      break;
    }
    case HPROF_RECORD_FILE_END:
      end_file(*this, out, chunk.time_of(*record));
      break;
    case HPROF_RECORD_THREAD_START:  // again, if it has another name
      chunk.pools.rename(as<hprof_rec_definition>(record).id);
      break;
    case HPROF_RECORD_NOTE:
      add_note(*this, out, as<hprof_rec_note>(record));
      break;
    case HPROF_RECORD_REPORT_END:
      add_end(*this, out, as<hprof_rec_report>(record));
      if (has_events) write_chunk(*this, out, chunk.time_of(*record));
      break;
    case HPROF_RECORD_TABLE: {
      const auto& table = as<hprof_rec_table>(record);
      if ((table.flags & HPROF_TABLE_EVENTS) != 0) return add_events(*this, out, table);
      look_at_sums(*this, table);
      break;
    }
    default:
      break;
  }
  return out.status();
}

namespace {

// Tables of sums are taken, so that their collectors may run, and left out.
constexpr const char* kRecords[] = {HPROF_KIND_FILE_BEGIN,
                                    HPROF_KIND_FILE_END,
                                    HPROF_KIND_THREAD_START,
                                    HPROF_KIND_NOTE,
                                    HPROF_KIND_REPORT_END,
                                    HPROF_TABLE_CPU_SAMPLE_EVENTS,
                                    HPROF_TABLE_ALLOC_SITE_EVENTS,
                                    HPROF_TABLE_MONITOR_TIME_EVENTS,
                                    HPROF_TABLE_MONITOR_WAIT_EVENTS,
                                    HPROF_TABLE_THREAD_EVENTS,
                                    HPROF_TABLE_THREAD_COUNT_EVENTS,
                                    HPROF_TABLE_VM_EVENTS,
                                    HPROF_TABLE_PAUSE_EVENTS,
                                    HPROF_TABLE_HEAP_EVENTS,
                                    HPROF_TABLE_LOAD_EVENTS,
                                    HPROF_TABLE_CPU_SAMPLES,
                                    HPROF_TABLE_ALLOC_SITES,
                                    HPROF_TABLE_HEAP_SUMMARY,
                                    HPROF_TABLE_MONITOR_TIME,
                                    HPROF_TABLE_IO_EVENTS,
                                    HPROF_TABLE_IO,
                                    HPROF_TABLE_SLOW_CALL_EVENTS,
                                    HPROF_TABLE_LATENCY,
                                    HPROF_TABLE_LATENCY_CLASSES,
                                    nullptr};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "format=jfr";

constexpr hprof_unit kUnit =
    encoder_unit<Encoder>("encoder_jfr", kSelect, "a recording of events, for jfr and JMC", kRecords);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::jfr

HPROF_MODULE(encoder_jfr, "1.0", "hprof", hprof::jfr::kUnits, 1)
