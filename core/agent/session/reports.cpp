#include "core/agent/session/reports.h"

#include <cstdio>
#include <cstring>
#include <initializer_list>

#include <hprof/encoder.h>

#include "core/agent/session/log.h"
#include "core/agent/session/memory_plan.h"
#include "core/agent/session/setup.h"
#include "core/agent/session/unit_checks.h"
#include "core/agent/session/units.h"
#include "core/agent/vm/jvmti_text.h"
#include "core/agent/vm/thread_book.h"
#include "core/base/build.h"
#include "core/base/counters.h"
#include "core/base/status.h"
#include "core/base/text_tools.h"
#include "core/model/model.h"
#include "core/pipeline/pipeline.h"

namespace hprof {

namespace {

// Strings of answers to commands of net=, each of which stays in the tables.
constexpr uint32_t kMostEchoes = 50000;

Instant window_begin(const CollectorSlot& slot) {
  return slot.window_end.ns > slot.began.ns ? slot.window_end : slot.began;
}

bool emits_events_only(const hprof_unit& unit) {
  return unit.records != nullptr && unit.records[0] == nullptr;
}

int put_loss(char (&text)[200], const char* what, uint64_t value) {
  return snprintf(text, sizeof(text), "lost %llu %s", static_cast<unsigned long long>(value), what);
}

}  // namespace

void Reports::write_losses() {
  parts_.losses.each_nonzero([this](const char* what, uint64_t value) {
    char text[200];
    const int size = put_loss(text, what, value);
    write_note(Str(text, static_cast<size_t>(size)));
  });
}

// For formats that have no notes. Their encoders may lose rows until the end of a report.
void Reports::say_losses() {
  if (parts_.units.outputs().takes_notes) return;
  parts_.losses.each_nonzero([this](const char* what, uint64_t value) {
    char text[200];
    put_loss(text, what, value);
    parts_.log.say(text);
  });
}

// Under the encode lock, with all events written: the end of a thread that is still listed comes later.
void Reports::learn_thread_names() {
  JNIEnv* jni = parts_.jni();
  if (jni == nullptr) return;
  parts_.threads.learn_names(
      jni, 0,
      [](void* pipeline, uint32_t serial, ThreadChange) {
        hprof_rec_definition record = {{sizeof(record), HPROF_RECORD_THREAD_START, 0}, serial, kDefinedAgain};
        static_cast<Pipeline*>(pipeline)->write(&record.head);
      },
      &parts_.pipeline);
}

// True: with every= the report at the end is the last window's.
bool Reports::is_window(const hprof_report& report) const {
  return kHasReportWindows && window_table_ != nullptr &&
         (report.reason == HPROF_REPORT_WINDOW || report.reason == HPROF_REPORT_EXIT);
}

// A heap dump is repeated at the program's end, but not at a detach or when the peer leaves, who have the
// dumps that they requested.
bool Reports::is_due(const CollectorSlot& slot, const hprof_report& report) const {
  const bool has_output = (slot.unit->flags & HPROF_UNIT_NO_OUTPUT) == 0;
  if (emits_events_only(*slot.unit) || (has_output && !slot.is_reported)) return false;
  if (report.records != nullptr && !have_common(slot.unit->records, report.records)) return false;
  if (is_window(report)) return slot.has_data && (slot.running || window_begin(slot).ns < slot.ended.ns);
  if (report.reason != HPROF_REPORT_EXIT) return slot.has_data;
  const bool left =
      parts_.phase() == SessionPhase::kEnding || conversation_over_.load(std::memory_order_relaxed);
  return (slot.running || slot.unreported) && !(slot.dumped && left);
}

// The program is what the launcher's command begins with: a class, or a jar, which may have blanks in its
// path and is the first of the class path.
void Reports::learn_names() {
  if (!kHasSockets || platform::host_name(host_name_, sizeof(host_name_)) == 0) host_name_[0] = 0;
  char *command = nullptr, *path = nullptr;
  if (parts_.jvmti->GetSystemProperty("sun.java.command", &command) != JVMTI_ERROR_NONE || command == nullptr)
    return;
  if (parts_.jvmti->GetSystemProperty("java.class.path", &path) != JVMTI_ERROR_NONE) path = nullptr;
  const JvmtiText command_text(parts_.jvmti, command), path_text(parts_.jvmti, path);
  size_t jar = 0;
  while (path != nullptr && path[jar] != '\0' && path[jar] == command[jar]) jar++;
  const bool is_jar = jar != 0 && strchr(":;", path[jar]) != nullptr && strchr(" ", command[jar]) != nullptr;
  const size_t size = is_jar ? jar : strcspn(command, " ");
  if (size < sizeof(program_)) memcpy(program_, command, size);
}

// Says what ran and how, once in each output and in each report that stands alone.
void Reports::write_session() {
  noted_output_ = parts_.pipeline.output_number();
  // Arrays of characters, since pointers would need relocations.
  static constexpr char kProperties[][16] = {"java.vm.name", "java.vm.version"};
  char text[1024];
  TextWriter line(text, sizeof(text));
  line.put("program ").put(program_).put(", process ").put_unsigned(platform::process_id());
  if (host_name_[0] != 0) line.put(" on ").put(host_name_);
  line.put(",");
  for (const auto& name : kProperties) {
    char* value = nullptr;
    if (parts_.jvmti->GetSystemProperty(name, &value) != JVMTI_ERROR_NONE) value = nullptr;
    line.put(" ").put(JvmtiText(parts_.jvmti, value).str());
  }
  jint processors = 0;
  if (parts_.jvmti->GetAvailableProcessors(&processors) != JVMTI_ERROR_NONE) processors = 0;
  line.put(", ").put_unsigned(static_cast<uint64_t>(processors)).put(" processors");
  line.put(parts_.setup.is_attached() ? ", attached; options" : "; options");
  parts_.setup.put_options(&line);
  write_note(line.text());
}

hprof_status Reports::write_note(Str text) {
  hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {text.data, text.size}};
  return parts_.pipeline.write(&note.head);
}

// Windows, and allocation sites by command, are the only reports of what is new.
hprof_report_info Reports::info_of(CollectorSlot& slot, const hprof_report& report) {
  const bool is_incremental = (report.flags & HPROF_SITES_INCREMENTAL) != 0;
  const bool is_again = slot.reported.ns > slot.began.ns;
  const bool is_new_only = is_incremental || is_window(report);
  const Instant begin = is_window(report)            ? window_begin(slot)
                        : is_incremental && is_again ? slot.reported
                                                     : slot.began;
  const Instant end = slot.running ? Instant::now() : slot.ended;
  if (!is_window(report)) slot.reported = end;
  const auto* encoder = parts_.units.encoder_ops();
  if (reports_begun_ == 0) learn_names();
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
          parts_.setup.core().labels,
          has_suffix ? encoder->file_suffix : "",
          has_type ? encoder->content_type : "",
          host_name_,
          program_};
}

// No message for windows, which come often.
bool Reports::says(const hprof_report& report) const {
  return parts_.settings.verbose != 0 && !parts_.units.outputs().none && report.reason != HPROF_REPORT_WINDOW;
}

// Prints "Dumping <what> ... done." as the original did, unless verbose=n or there is no output.
hprof_status Reports::report_one(CollectorSlot& slot, const hprof_report& report, bool is_last,
                                 Reported* reported) {
  char text[320];
  OutputName name;
  put_name(&name);
  if (parts_.pipeline.finish_report_output()) {
    keep_windows(true);
    if (this->says(report)) say_done(name);
  }
  snprintf(text, sizeof(text), "Dumping %s ...", slot.unit->summary);
  const bool says = this->says(report);
  if (says) platform::write_stderr(text);
  const hprof_report_info info = info_of(slot, report);
  parts_.pipeline.begin_report(info);
  parts_.log.last().forget();
  hprof_status status = is_window(report) ? make_window(slot, report, info) : make_report(slot, report);
  if (status == HPROF_OK && kHasReportWindows && window_table_ != nullptr)
    status = write_window_note(is_window(report) ? windows_begun_ : 0, info);
  if (says) platform::write_stderr(status == HPROF_OK ? " done.\n" : " failed.\n");
  if (status == HPROF_NO_MEMORY) {
    const auto used = static_cast<unsigned long long>(parts_.memory.used() / 1024);
    snprintf(text, sizeof(text), "%s: no memory for the report: %lluk of max-memory= are in use",
             slot.unit->summary, used);
    parts_.log.say(text);
  }
  if (status != HPROF_OK) {
    TextWriter why(reported->why, sizeof(reported->why));
    parts_.log.last().put(&why, status_text(status));
  }
  const bool dumps = hprof_is_listed(slot.unit->records, HPROF_KIND_HEAP_DUMP_BEGIN) != 0;
  if (status != HPROF_OK && dumps) {
    snprintf(text, sizeof(text), "the heap dump broke off%s", reported->why);
    parts_.pipeline.abandon(text);
  }
  // Inside the report: readers that take single reports do not get what follows.
  const bool is_alone = parts_.units.outputs().is_report_alone();
  if (is_alone || noted_output_ != parts_.pipeline.output_number()) write_session();
  if (is_last || is_alone) write_losses();
  parts_.pipeline.end_report(info, status);
  if (is_last && report.reason != HPROF_REPORT_WINDOW) say_losses();
  if (status == HPROF_OK) {
    slot.unreported = slot.running;
    slot.dumped = dumps;
  }
  return status;
}

hprof_status Reports::make_report(CollectorSlot& slot, const hprof_report& report) {
  Inside mark(slot.inside, "report", tag::kControl | tag::kReport);
  reporting_.store(&slot, std::memory_order_relaxed);
  const hprof_status status = slot.ops->report(slot.self, &report);
  reporting_.store(nullptr, std::memory_order_relaxed);
  return status;
}

// The collector reports everything, of which write() passes on what is new. The next window begins where this
// one did, until keep_windows().
hprof_status Reports::make_window(CollectorSlot& slot, const hprof_report& report,
                                  const hprof_report_info& info) {
  hprof_report whole = report;
  whole.cutoff = 0;
  window_cutoff_ = report.cutoff;
  window_of_ = &slot;
  window_table_->begin(slot.windows, parts_.memory);
  const hprof_status status = make_report(slot, whole);
  window_of_ = nullptr;
  if (status != HPROF_OK) {
    window_table_->drop(slot.windows);
    return status;
  }
  slot.window_written = {info.end_wall_ns, info.end_ns};
  return HPROF_OK;
}

hprof_status Reports::write_window_note(uint32_t window, const hprof_report_info& info) {
  char text[240];
  TextWriter line(text, sizeof(text));
  window_table_->put_note(window, info, &line);
  const hprof_status status = write_note(line.text());
  return status == HPROF_UNSUPPORTED ? HPROF_OK : status;
}

bool Reports::is_reporting(const UnitSlot& slot) const {
  if (reporting_.load(std::memory_order_relaxed) == &slot) return true;
  complain(slot, Complaint::kRecord, "it writes records outside of report(); they are left out");
  return false;
}

hprof_status Reports::write(const UnitSlot& slot, hprof_record* record) {
  if (!is_reporting(slot)) return HPROF_FAILED;
  if (!kHasReportWindows || &slot != window_of_ || record->kind != HPROF_RECORD_TABLE)
    return parts_.pipeline.write(record);
  const hprof_frame_id frame = raw(parts_.model.synthetic_frame("JVM", "nothing_in_this_window"));
  const TraceSerial nothing = parts_.model.trace(ThreadSerial{0}, &frame, 1);
  hprof_rec_table window;
  const hprof_status status =
      window_table_->cut(window_of_->windows, *reinterpret_cast<const hprof_rec_table*>(record),
                         window_cutoff_, raw(nothing), &window);
  if (status == HPROF_FAILED)
    complain(slot, Complaint::kKeys, "every=: the keys of a table do not tell its rows apart; it is refused");
  return status == HPROF_OK ? parts_.pipeline.write(&window.head) : status;
}

// written: else the next window repeats what was lost.
void Reports::keep_windows(bool written) {
  if (!kHasReportWindows) return;
  for (uint32_t i = 0; i < parts_.units.collector_count(); i++) {
    CollectorSlot& slot = parts_.units.collector(i);
    if (slot.window_written.ns == 0) continue;
    if (written) {
      window_table_->keep(slot.windows);
      slot.window_end = slot.window_written;
    } else {
      window_table_->drop(slot.windows);
    }
    slot.window_written = {};
  }
}

void Reports::forget_windows(CollectorSlot& slot) const {
  if (kHasReportWindows && window_table_ != nullptr) window_table_->forget(slot.windows);
}

// The first collector to start begins the first window.
void Reports::begin_windows() {
  if (!kHasReportWindows || window_table_ == nullptr || window_ends_at() != platform::kNoDeadline) return;
  const int64_t every = parts_.setup.core().every * platform::kNanosPerSecond;
  window_ends_at_.store(platform::monotonic_ns() + every, std::memory_order_relaxed);
}

// Windows end on a fixed grid; ends that passed during a slow report are skipped.
void Reports::report_window() {
  const int64_t every = parts_.setup.core().every * platform::kNanosPerSecond;
  report({sizeof(hprof_report), HPROF_REPORT_WINDOW, parts_.settings.cutoff, 0, 0, nullptr});
  parts_.pipeline.renew_output();
  const int64_t now = platform::monotonic_ns();
  int64_t next = window_ends_at() + every;
  while (next <= now) next += every;
  window_ends_at_.store(parts_.units.is_collecting() ? next : platform::kNoDeadline,
                        std::memory_order_relaxed);
}

// The names of other sinks are not file names.
const char* Reports::output_name(char (&path)[kOutputNameMost]) const {
  if (parts_.units.outputs().none) return "none";
  const char* name = parts_.pipeline.name();
  platform::File file;
  if (platform::is_absolute_path(name) || platform::file_open(name, &file) != 0) return name;
  platform::file_close(&file);
  return platform::absolute_path(name, path, sizeof(path)) != 0 ? path : name;
}

void Reports::put_output(TextWriter* out) const {
  char path[kOutputNameMost];
  out->put_printable(output_name(path)).put(" (");
  put_size(*out, parts_.pipeline.bytes_written()).put(')');
}

// Read while the output is open: a closed one has no size.
void Reports::put_name(OutputName* name) const {
  char path[kOutputNameMost];
  TextWriter(name->text, sizeof(name->text)).put_printable(output_name(path));
}

void Reports::say_done(const OutputName& name) const {
  char text[kOutputNameMost + 60];
  TextWriter out(text, sizeof(text));
  put_size(out.put("done: ").put(name.text).put(" ("), parts_.pipeline.bytes_written()).put(')');
  parts_.log.say(text);
}

Reported Reports::report(const hprof_report& report) {
  Reported reported;
  const MemoryTurn::Hold turn(parts_.turn, MemoryAccount::kAll);
  uint32_t due = 0;
  for (uint32_t i = 0; i < parts_.units.collector_count(); i++)
    due += is_due(parts_.units.collector(i), report) ? 1 : 0;
  if (due == 0) return reported;
  reported.output_gone = !parts_.pipeline.acquire();
  if (reported.output_gone) return reported;
  learn_thread_names();
  if (is_window(report)) windows_begun_++;
  for (const uint32_t first : {HPROF_UNIT_REPORTS_FIRST, 0u}) {
    for (uint32_t i = 0; i < parts_.units.collector_count(); i++) {
      CollectorSlot& slot = parts_.units.collector(i);
      if ((slot.unit->flags & HPROF_UNIT_REPORTS_FIRST) != first || !is_due(slot, report)) continue;
      hprof_status status = report_one(slot, report, --due == 0, &reported);
      if (status == HPROF_ABORTED) reported.output_gone = true;
      status == HPROF_OK ? reported.written++ : reported.failed++;
    }
  }
  parts_.pipeline.release();
  // At the end the message comes when the output is closed, since more may be written.
  const bool ends_soon = report.reason == HPROF_REPORT_EXIT;
  if (!parts_.pipeline.settle(ends_soon)) reported.output_gone = true;
  keep_windows(!reported.output_gone);
  if (!reported.output_gone && reported.written != 0 && says(report) && !ends_soon) {
    OutputName name;
    put_name(&name);
    say_done(name);
  }
  for (uint32_t i = 0; i < parts_.units.collector_count() && report.reason != HPROF_REPORT_EXIT; i++) {
    CollectorSlot& slot = parts_.units.collector(i);
    if (HPROF_HAS(slot.ops, hprof_collector_ops, reported) && is_due(slot, report)) {
      Inside mark(slot.inside, "reported", tag::kControl);
      slot.ops->reported(slot.self);
    }
  }
  return reported;
}

bool Reports::has_last() const { return parts_.setup.core().dump_on_exit != 0 && reports_at_end_; }

bool Reports::report_at_end() {
  if (!has_last()) return false;
  const hprof_report report_at_end = {
      sizeof(hprof_report), HPROF_REPORT_EXIT, parts_.settings.cutoff, 0, 0, nullptr};
  const Reported reported = report(report_at_end);
  return !reported.output_gone && reported.written != 0 && says(report_at_end);
}

void Reports::echo(uint32_t serial, bool good, const char* text) {
  if (echoes_ == kMostEchoes || !parts_.pipeline.acquire(false)) return;
  if (++echoes_ == kMostEchoes) parts_.log.say("no more answers to commands are written into the output");
  char line[400];
  int size = snprintf(line, sizeof(line), "hprof command %u %s: %s", serial, good ? "ok" : "failed", text);
  if (size >= static_cast<int>(sizeof(line))) size = sizeof(line) - 1;
  StringId id = parts_.model.string(Str(line, static_cast<size_t>(size)));
  // An encoder takes one of the two records.
  write_note(Str(line, static_cast<size_t>(size)));
  if (id != StringId::kNone) parts_.pipeline.define(HPROF_RECORD_STRING, raw(id));
  parts_.pipeline.release();
}

}  // namespace hprof
