// The mock host with the core's checks in front: records, messages, and what a thread's tag forbids.
#pragma once

#include <set>
#include <string>

#include <hprof/mock/mock_config.h>
#include <hprof/mock/mock_host.h>
#include <hprof/mock/unit_run.h>

#include "core/pipeline/record_kinds.h"
#include "tools/hprof/plugin/check_steps.h"

namespace hprof::tool {

// Where the unit's code runs, as the headers' tags have it.
enum class Where { kControl, kReport, kApp, kGc, kWriter };

class CheckedHost {
 public:
  explicit CheckedHost(const Findings& findings);
  ~CheckedHost();
  CheckedHost(const CheckedHost&) = delete;
  CheckedHost& operator=(const CheckedHost&) = delete;

  // Each fault once.
  void fault(const std::string& words);
  // A unit has said no: are there words for it, in one line?
  void check_refusal(hprof_status status, const char* error);
  // The JNIEnv of a VM that knows nothing.
  void* jni() const;
  // After destroy or close: nothing of the unit's is left.
  void check_balance();

  MockHost mock;
  Where where = Where::kControl;
  const Findings& findings;
  RecordKinds kinds;
  std::string taken_file;  // open, and not by the unit

 private:
  friend struct CheckedServices;
  hprof_emit_service emit_;
  hprof_log_service log_;
  const hprof_emit_service* mock_emit_;
  const hprof_log_service* mock_log_;
  std::set<std::string> said_;
};

// "HPROF_UNSUPPORTED" or its number.
std::string status_name(int64_t status);

// The values that each option is tried with, one option at a time; the first are the defaults.
std::vector<std::map<std::string, std::string>> option_trials(const hprof_unit& unit);
// "gc-least=0", "the defaults"
std::string trial_name(const std::map<std::string, std::string>& trial);

// Findings that name the trial, without remarks; findings without remarks.
Findings with_trial(const Findings& findings, const std::map<std::string, std::string>& trial);
Findings without_remarks(const Findings& findings);

}  // namespace hprof::tool
