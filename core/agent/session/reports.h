// The reports of a session's collectors: when one is due, what of it is new, and the messages about it.
//
// With every= a report is a window: the collector reports everything, from which earlier windows are
// subtracted (core/modules/report_windows).
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/collector.h>

#include "core/agent/session/last_message.h"
#include "core/agent/session/session_parts.h"
#include "core/agent/session/unit_slot.h"
#include "core/protocol/command_target.h"

namespace hprof {

class Reports {
 public:
  explicit Reports(const SessionParts& parts) : parts_(parts) {}

  // Writes the reports of all collectors that have data; with report.records, of those that emit one of
  // these. [control] under Control::acquire
  Reported report(const hprof_report& report);
  // With every=: writes the window that ends now, and begins the next. [control] under Control::acquire
  void report_window();
  // Writes the report at the end, if one is due. True: the output has it. [control]
  bool report_at_end();
  // Omits that report. [control] under Control::acquire
  void leave_out_last() { reports_at_end_ = false; }
  bool has_last() const;
  // The peer of net= sends no more commands: a heap dump that it has is not repeated. [any] but [signal]
  void end_conversation() { conversation_over_.store(true, std::memory_order_relaxed); }

  // With every=: what makes windows. [onload]
  void use_windows(const WindowTable* table) { window_table_ = table; }
  // After the collector was reset, or is new. [control]
  void forget_windows(CollectorSlot& slot) const;
  // Called when the first collector starts: begins the first window. [control]
  void begin_windows();
  // End of the current window by the monotonic clock; kNoDeadline: none. [any]
  int64_t window_ends_at() const { return window_ends_at_.load(std::memory_order_relaxed); }

  // True: the unit is inside its report(). False: it is not, and a message has said so. [control][heap]
  bool is_reporting(const UnitSlot& slot) const;
  // Writes a record of a collector's report; of a window, only its growth. [control]
  hprof_status write(const UnitSlot& slot, hprof_record* record);
  // Writes the result of a command of net=, by its serial number: in text a note; in binary, which has no
  // record for it, an unused string. One thread at a time.
  void echo(uint32_t serial, bool good, const char* text);

  // The output's name, for a file its full path, written to `path`. [control]
  static constexpr size_t kOutputNameMost = 1024;
  const char* output_name(char (&path)[kOutputNameMost]) const;
  // Appends the name with the size: "/tmp/app.txt (12 KB)". [control]
  void put_output(TextWriter* out) const;
  // Read while the output is open, printed when it is closed.
  struct OutputName {
    char text[kOutputNameMost] = "";
  };
  void put_name(OutputName* name) const;
  void say_done(const OutputName& name) const;
  // The last message about the output, which may have failed long before a command.
  LastMessage& output_message() { return output_message_; }

 private:
  bool is_window(const hprof_report& report) const;
  bool is_due(const CollectorSlot& slot, const hprof_report& report) const;
  bool says(const hprof_report& report) const;
  hprof_report_info info_of(CollectorSlot& slot, const hprof_report& report);
  void learn_names();
  void write_session();
  hprof_status report_one(CollectorSlot& slot, const hprof_report& report, bool is_last, Reported* reported);
  hprof_status make_report(CollectorSlot& slot, const hprof_report& report);
  hprof_status make_window(CollectorSlot& slot, const hprof_report& report, const hprof_report_info& info);
  hprof_status write_window_note(uint32_t window, const hprof_report_info& info);
  void keep_windows(bool written);
  hprof_status write_note(Str text);
  void write_losses();
  void say_losses();
  void learn_thread_names();

  const SessionParts& parts_;
  LastMessage output_message_;
  std::atomic<bool> conversation_over_{false};
  bool reports_at_end_ = true;
  uint32_t reports_begun_ = 0;
  uint32_t noted_output_ = 0;  // number of the last output that says what ran
  char host_name_[256] = "";   // as in hprof_report_info; both are read for the first report
  char program_[256] = "";
  const WindowTable* window_table_ = nullptr;  // nullptr: no every=
  uint32_t windows_begun_ = 0;
  std::atomic<const UnitSlot*> reporting_{nullptr};  // the collector that is inside its report()
  CollectorSlot* window_of_ = nullptr;               // the collector whose window is being written
  double window_cutoff_ = 0;
  std::atomic<int64_t> window_ends_at_{platform::kNoDeadline};
  uint32_t echoes_ = 0;
};

}  // namespace hprof
