// The reports of a session's collectors, and other output that commands ask for.
#include <cstdio>
#include <initializer_list>

#include <hprof/encoder.h>
#include <hprof/tables.h>

#include "core/agent/session.h"
#include "core/agent/unit_checks.h"
#include "core/base/build.h"
#include "core/base/text_tools.h"

namespace hprof {

namespace {

// Strings of answers to commands of net=: each takes a little of the tables for good.
constexpr uint32_t kMostEchoes = 50000;
constexpr const char* kCpuTables[] = {HPROF_TABLE_CPU_SAMPLES, HPROF_TABLE_CPU_TIMES, HPROF_TABLE_CPU_OLD,
                                      nullptr};

bool has_cpu_table(const CollectorSlot& slot) { return have_common(slot.unit->records, kCpuTables); }

}  // namespace

// `says`: print it on standard error if the format has no place for it.
void Session::note_losses(bool says) {
  losses_.each_nonzero([this, says](const char* words, uint64_t value) {
    char text[200];
    int size = snprintf(text, sizeof(text), "lost %llu %s", static_cast<unsigned long long>(value), words);
    hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {text, static_cast<uint64_t>(size)}};
    pipeline_.write(&note.head);
    const bool has_place = pipeline_.has_output() && is_taken(encoder_.unit->records, HPROF_KIND_NOTE);
    if (says && !has_place) say(text);
  });
}

// With every= the report at the end is the last window's.
bool Session::is_window(const hprof_report& report) const {
  return !kEmbedded && setup_.core().every != 0 &&
         (report.reason == HPROF_REPORT_WINDOW || report.reason == HPROF_REPORT_EXIT);
}

Instant Session::window_begin(const CollectorSlot& slot) {
  return slot.window_end.ns > slot.began.ns ? slot.window_end : slot.began;
}

// A dump that was taken is repeated at the program's end, but not at a detach or when the peer leaves: they
// have the dumps that they asked for.
bool Session::is_due(const CollectorSlot& slot, const hprof_report& report) const {
  if (report.records != nullptr && !have_common(slot.unit->records, report.records)) return false;
  if (is_window(report)) return slot.has_data && (slot.running || window_begin(slot).ns < slot.ended.ns);
  if (report.reason != HPROF_REPORT_EXIT) return slot.has_data;
  const bool left = phase() == Phase::kEnding || conversation_over_.load(std::memory_order_relaxed);
  return (slot.running || slot.unreported) && !(slot.dumped && left);
}

// Apart from windows, only allocation sites can be reported by what is new, and only if a command says so.
hprof_report_info Session::info_of(CollectorSlot& slot, const hprof_report& report) {
  const bool is_incremental = (report.flags & HPROF_SITES_INCREMENTAL) != 0;
  const bool is_again = slot.reported.ns > slot.began.ns;
  const bool is_new_only = is_incremental || is_window(report);
  const Instant begin = is_window(report)            ? window_begin(slot)
                        : is_incremental && is_again ? slot.reported
                                                     : slot.began;
  const Instant end = slot.running ? Instant::now() : slot.ended;
  if (!is_window(report)) slot.reported = end;
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

// Windows are frequent, so they are written without a message.
bool Session::says(const hprof_report& report) const {
  return settings_.verbose != 0 && pipeline_.has_output() && report.reason != HPROF_REPORT_WINDOW;
}

// Says "Dumping <what> ... done." as the original did, unless verbose=n or there is no output.
hprof_status Session::report_one(CollectorSlot& slot, const hprof_report& report, bool is_last,
                                 Reported* reported) {
  char text[320];
  OutputName name;
  put_name(&name);
  if (pipeline_.finish_part_output()) {
    keep_windows(true);
    if (this->says(report)) say_done(name);
  }
  snprintf(text, sizeof(text), "Dumping %s ...", slot.unit->summary);
  const bool says = this->says(report);
  if (says) platform::write_stderr(text);
  const hprof_report_info info = info_of(slot, report);
  pipeline_.begin_part(info);
  words_.forget();
  hprof_status status = is_window(report) ? make_window(slot, report, info) : make_report(slot, report);
  if (says) platform::write_stderr(status == HPROF_OK ? " done.\n" : " failed.\n");
  if (status == HPROF_NO_MEMORY) {
    const auto used = static_cast<unsigned long long>(memory_.used() / 1024);
    snprintf(text, sizeof(text), "%s: no memory for the report: %lluk of max-memory= are in use",
             slot.unit->summary, used);
    say(text);
  }
  if (status != HPROF_OK) {
    TextWriter why(reported->why, sizeof(reported->why));
    words_.put(&why, status_text(status));
  }
  const bool dumps = hprof_is_listed(slot.unit->records, HPROF_KIND_HEAP_DUMP_BEGIN) != 0;
  if (status != HPROF_OK && dumps) {
    snprintf(text, sizeof(text), "the heap dump broke off%s", reported->why);
    pipeline_.abandon(text);
  }
  // Inside the report: readers that take reports one by one do not get what comes after it.
  if (is_last || pipeline_.parts_stand_alone()) note_losses(is_last && report.reason != HPROF_REPORT_WINDOW);
  pipeline_.end_part(info, status);
  if (status == HPROF_OK) {
    slot.unreported = slot.running;
    slot.dumped = dumps;
  }
  return status;
}

hprof_status Session::make_report(CollectorSlot& slot, const hprof_report& report) {
  Inside mark(slot.inside, "report", tag::kControl | tag::kReport);
  return slot.ops->report(slot.self, &report);
}

// The collector reports all its data; write() passes on what is new. Until keep_windows is called, the next
// window begins where this one did.
hprof_status Session::make_window(CollectorSlot& slot, const hprof_report& report,
                                  const hprof_report_info& info) {
  hprof_report whole = report;
  whole.cutoff = 0;
  window_cutoff_ = report.cutoff;
  window_of_ = &slot;
  slot.windows.begin(memory_);
  const hprof_status status = make_report(slot, whole);
  window_of_ = nullptr;
  if (status != HPROF_OK) {
    slot.windows.drop();
    return status;
  }
  slot.window_written = {info.end_wall_ns, info.end_ns};
  return note_window(info);
}

hprof_status Session::note_window(const hprof_report_info& info) {
  char begin[platform::kTimestampSize], end[platform::kTimestampSize];
  platform::format_timestamp(static_cast<int64_t>(info.begin_wall_ns) / platform::kNanosPerMilli, begin,
                             sizeof(begin));
  platform::format_timestamp(static_cast<int64_t>(info.end_wall_ns) / platform::kNanosPerMilli, end,
                             sizeof(end));
  char text[240];
  const int size = snprintf(
      text, sizeof(text),
      "window %u: %s to %s, %.3f s; tables have what is new in it, and what lives at its end; other notes "
      "and losses are since the start",
      windows_begun_, begin, end, static_cast<double>(info.end_ns - info.begin_ns) / 1e9);
  hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {text, static_cast<uint64_t>(size)}};
  const hprof_status status = pipeline_.write(&note.head);
  return status == HPROF_UNSUPPORTED ? HPROF_OK : status;
}

hprof_status Session::write(const UnitSlot& slot, hprof_record* record) {
  if (kEmbedded || &slot != window_of_ || record->kind != HPROF_RECORD_TABLE) return pipeline_.write(record);
  const hprof_frame_id frame = raw(model_.synthetic_frame("JVM", "nothing_in_this_window"));
  const TraceSerial nothing = model_.trace(ThreadSerial{0}, &frame, 1);
  hprof_rec_table window;
  Windows& windows = collectors_[window_of_->index].windows;
  const hprof_status status =
      windows.cut(*reinterpret_cast<const hprof_rec_table*>(record), window_cutoff_, raw(nothing), &window);
  if (status == HPROF_FAILED)
    hprof::complain(slot, Complaint::kKeys,
                    "every=: the keys of a table do not tell its rows apart; it is refused");
  return status == HPROF_OK ? pipeline_.write(&window.head) : status;
}

// What was written to a lost output is repeated in the next window.
void Session::keep_windows(bool written) {
  if (kEmbedded) return;
  for (uint32_t i = 0; i < collector_count_; i++) {
    CollectorSlot& slot = collectors_[i];
    if (slot.window_written.ns == 0) continue;
    if (written) {
      slot.windows.keep();
      slot.window_end = slot.window_written;
    } else {
      slot.windows.drop();
    }
    slot.window_written = {};
  }
}

// The first to start begins the first window.
void Session::begin_windows() {
  if (kEmbedded || setup_.core().every == 0 || window_ends_at() != platform::kNoDeadline) return;
  const int64_t every = setup_.core().every * platform::kNanosPerSecond;
  window_ends_at_.store(platform::monotonic_ns() + every, std::memory_order_relaxed);
}

// Windows end on a fixed grid; ends that passed during a slow report are skipped.
void Session::report_window() {
  const int64_t every = setup_.core().every * platform::kNanosPerSecond;
  report({sizeof(hprof_report), HPROF_REPORT_WINDOW, settings_.cutoff, 0, 0, nullptr});
  pipeline_.renew_output();
  const int64_t now = platform::monotonic_ns();
  int64_t next = window_ends_at() + every;
  while (next <= now) next += every;
  window_ends_at_.store(is_collecting() ? next : platform::kNoDeadline, std::memory_order_relaxed);
}

// Other sinks than the file sink have names of another kind.
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

// Read while the output is open: a closed one has no size.
void Session::put_name(OutputName* name) const {
  char path[kOutputNameMost];
  TextWriter(name->text, sizeof(name->text)).put_printable(output_name(path));
}

void Session::say_done(const OutputName& name) const {
  char text[kOutputNameMost + 60];
  TextWriter out(text, sizeof(text));
  put_size(out.put("done: ").put(name.text).put(" ("), pipeline_.bytes_written()).put(')');
  say(text);
}

MemoryAccount::Share Session::memory_share() const {
  const uint64_t first = memory_first_.load(std::memory_order_relaxed);
  if (first == 0) return MemoryAccount::kRest;
  // The VM walks the heap on threads of its own.
  const bool is_first = first == static_cast<uint64_t>(platform::current_thread_id()) || jni() == nullptr;
  return is_first ? share_of_first_.load(std::memory_order_relaxed) : MemoryAccount::kRest;
}

// CPU tables first: gprof2dot wants no section between the beginning and theirs.
Reported Session::report(const hprof_report& report) {
  Reported reported;
  const MemoryFirst first(*this, MemoryAccount::kAll);
  uint32_t due = 0;
  for (uint32_t i = 0; i < collector_count_; i++) due += is_due(collectors_[i], report) ? 1 : 0;
  if (due == 0) return reported;
  reported.output_gone = !pipeline_.begin_report();
  if (reported.output_gone) return reported;
  if (is_window(report)) windows_begun_++;
  for (const bool takes_cpu : {true, false}) {
    for (uint32_t i = 0; i < collector_count_; i++) {
      CollectorSlot& slot = collectors_[i];
      if (takes_cpu != has_cpu_table(slot) || !is_due(slot, report)) continue;
      hprof_status status = report_one(slot, report, --due == 0, &reported);
      if (status == HPROF_ABORTED) reported.output_gone = true;
      status == HPROF_OK ? reported.written++ : reported.failed++;
    }
  }
  pipeline_.end_report();
  // At the end this is said when the output is closed, since more may be written to it.
  const bool ends_soon = report.reason == HPROF_REPORT_EXIT;
  if (!pipeline_.settle(ends_soon)) reported.output_gone = true;
  keep_windows(!reported.output_gone);
  if (!reported.output_gone && reported.written != 0 && says(report) && !ends_soon) {
    OutputName name;
    put_name(&name);
    say_done(name);
  }
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
  // An encoder writes one of the two and has no place for the other.
  pipeline_.write(&note.head);
  if (id != StringId::kNone) pipeline_.define(HPROF_RECORD_STRING, raw(id));
  pipeline_.end_report();
}

}  // namespace hprof
