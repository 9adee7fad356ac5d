// The reports of a session's collectors, and what else is written at a command's wish.
#include <cstdio>
#include <initializer_list>

#include <hprof/encoder.h>
#include <hprof/tables.h>

#include "core/agent/session.h"
#include "core/base/text_tools.h"

namespace hprof {

namespace {

// Strings of answers to commands of net=: each takes a little of the tables for good.
constexpr uint32_t kMostEchoes = 50000;
constexpr const char* kCpuTables[] = {HPROF_TABLE_CPU_SAMPLES, HPROF_TABLE_CPU_TIMES, HPROF_TABLE_CPU_OLD,
                                      nullptr};

bool has_cpu_table(const CollectorSlot& slot) { return have_common(slot.unit->records, kCpuTables); }

}  // namespace

void Session::note_losses() {
  losses_.each_nonzero([this](const char* words, uint64_t value) {
    char text[200];
    int size = snprintf(text, sizeof(text), "lost %llu %s", static_cast<unsigned long long>(value), words);
    hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {text, static_cast<uint64_t>(size)}};
    pipeline_.write(&note.head);
    // The binary format has no place for it.
    if (!pipeline_.has_output() || !is_taken(encoder_.unit->records, HPROF_KIND_NOTE)) say(text);
  });
}

// At the program's end the heap is dumped again; who leaves before has asked for the dumps that he wants.
bool Session::is_due(const CollectorSlot& slot, const hprof_report& report) const {
  if (report.records != nullptr && !have_common(slot.unit->records, report.records)) return false;
  if (report.reason != HPROF_REPORT_EXIT) return slot.has_data;
  const bool left = phase() == Phase::kEnding || conversation_over_.load(std::memory_order_relaxed);
  return (slot.running || slot.unreported) && !(slot.dumped && left);
}

// Only allocation sites can be reported by what is new, and only where a command says so.
hprof_report_info Session::info_of(CollectorSlot& slot, const hprof_report& report) {
  const bool is_new_only = (report.flags & HPROF_SITES_INCREMENTAL) != 0;
  const bool is_again = slot.reported.ns > slot.began.ns;
  const Instant begin = is_new_only && is_again ? slot.reported : slot.began;
  const Instant end = slot.running ? Instant::now() : slot.ended;
  slot.reported = end;
  const auto* encoder = static_cast<const hprof_encoder_ops*>(encoder_.unit->ops);
  const bool has_suffix = HPROF_HAS(encoder, hprof_encoder_ops, file_suffix);
  const bool has_type = HPROF_HAS(encoder, hprof_encoder_ops, content_type);
  return {sizeof(hprof_report_info),
          ++reports_begun_,
          report.reason,
          is_new_only ? 0u : 1u,
          begin.wall_ns,
          end.wall_ns,
          begin.ns,
          end.ns,
          slot.unit->id,
          setup_.core().labels,
          has_suffix ? encoder->file_suffix : "",
          has_type ? encoder->content_type : ""};
}

// Says "Dumping <what> ... done." as the original did, unless verbose=n or there is no output.
hprof_status Session::report_one(CollectorSlot& slot, const hprof_report& report) {
  char text[160];
  if (pipeline_.finish_part_output() && settings_.verbose != 0) say_done();
  snprintf(text, sizeof(text), "Dumping %s ...", slot.unit->summary);
  const bool says = settings_.verbose != 0 && pipeline_.has_output();
  if (says) platform::write_stderr(text);
  const hprof_report_info info = info_of(slot, report);
  pipeline_.begin_part(info);
  hprof_status status;
  {
    Inside mark(slot.inside, "report", tag::kControl | tag::kReport);
    status = slot.ops->report(slot.self, &report);
  }
  if (says) platform::write_stderr(status == HPROF_OK ? " done.\n" : " failed.\n");
  if (status == HPROF_NO_MEMORY) {
    const auto used = static_cast<unsigned long long>(memory_.used() / 1024);
    snprintf(text, sizeof(text), "%s: no memory for the report: %lluk of max-memory= are in use",
             slot.unit->summary, used);
    say(text);
  }
  const bool dumps = hprof_is_listed(slot.unit->records, HPROF_KIND_HEAP_DUMP_BEGIN) != 0;
  if (status != HPROF_OK && dumps) pipeline_.abandon("the heap dump broke off");
  pipeline_.end_part(info, status);
  if (status == HPROF_OK) {
    slot.unreported = slot.running;
    slot.dumped = dumps;
  }
  return status;
}

// A sink that is not one for files has a name of another kind.
const char* Session::output_name(char (&path)[kOutputNameMost]) const {
  if (!pipeline_.has_output()) return "none";
  const char* name = pipeline_.name();
  platform::File file;
  if (platform::is_absolute_path(name) || platform::file_open(name, &file) != 0) return name;
  platform::file_close(&file);
  return platform::absolute_path(name, path, sizeof(path)) != 0 ? path : name;
}

void Session::put_output(TextWriter* out) const {
  char path[kOutputNameMost];
  out->put_printable(output_name(path)).put(" (");
  put_size(*out, pipeline_.bytes_written()).put(')');
}

void Session::say_done() const {
  char text[kOutputNameMost + 60];
  TextWriter out(text, sizeof(text));
  put_output(&out.put("done: "));
  say(text);
}

// CPU tables first: gprof2dot wants no section between the beginning and theirs.
Reported Session::report(const hprof_report& report) {
  Reported reported;
  bool any = false;
  for (uint32_t i = 0; i < collector_count_; i++) any = any || is_due(collectors_[i], report);
  if (!any) return reported;
  reported.output_gone = !pipeline_.begin_report();
  if (reported.output_gone) return reported;
  for (const bool takes_cpu : {true, false}) {
    for (uint32_t i = 0; i < collector_count_; i++) {
      CollectorSlot& slot = collectors_[i];
      if (takes_cpu != has_cpu_table(slot) || !is_due(slot, report)) continue;
      hprof_status status = report_one(slot, report);
      if (status == HPROF_ABORTED) reported.output_gone = true;
      status == HPROF_OK ? reported.written++ : reported.failed++;
    }
  }
  note_losses();
  pipeline_.end_report();
  if (!pipeline_.settle()) reported.output_gone = true;
  if (!reported.output_gone && reported.written != 0 && settings_.verbose != 0 && pipeline_.has_output())
    say_done();
  for (uint32_t i = 0; i < collector_count_ && report.reason != HPROF_REPORT_EXIT; i++) {
    CollectorSlot& slot = collectors_[i];
    if (HPROF_HAS(slot.ops, hprof_collector_ops, reported) && is_due(slot, report)) {
      Inside mark(slot.inside, "reported", tag::kControl);
      slot.ops->reported(slot.self);
    }
  }
  return reported;
}

void Session::echo(uint32_t serial, bool good, const char* text) {
  if (echoes_ == kMostEchoes || !pipeline_.begin_report(false)) return;
  if (++echoes_ == kMostEchoes) say("no more answers to commands are written into the output");
  char line[400];
  int size = snprintf(line, sizeof(line), "hprof command %u %s: %s", serial, good ? "ok" : "failed", text);
  if (size >= static_cast<int>(sizeof(line))) size = sizeof(line) - 1;
  hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {line, static_cast<uint64_t>(size)}};
  StringId id = model_.string(Str(line, static_cast<size_t>(size)));
  // An encoder writes one of them and has no place for the other.
  pipeline_.write(&note.head);
  if (id != StringId::kNone) pipeline_.define(HPROF_RECORD_STRING, raw(id));
  pipeline_.end_report();
}

}  // namespace hprof
