// The mock host behind the core's checks: of records, messages and thread tags.
#pragma once

#include <set>
#include <string>

#include <hprof/mock/mock_config.h>
#include <hprof/mock/mock_host.h>
#include <hprof/mock/unit_run.h>

#include "core/pipeline/record_kinds.h"
#include "tools/hprof/plugin/check_steps.h"

namespace hprof::tool {

// The thread tag under which the unit's code runs.
enum class Where { kControl, kReport, kApp, kGc, kWriter };

class CheckedHost {
 public:
  explicit CheckedHost(const Findings& findings);
  ~CheckedHost();
  CheckedHost(const CheckedHost&) = delete;
  CheckedHost& operator=(const CheckedHost&) = delete;

  // Reports each fault once.
  void fault(const std::string& words);
  // Checks the error of a unit that refused: one line of text.
  void check_refusal(hprof_status status, const char* error);
  // The JNIEnv of a VM without any classes.
  void* jni() const;
  // Checks, after destroy or close, that the unit has released everything.
  void check_balance();

  MockHost mock;
  Where where = Where::kControl;
  const Findings& findings;
  RecordKinds kinds;
  std::string taken_file;  // a file that another process holds open

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

// The values to try for each option, one option at a time; the first: all defaults.
std::vector<std::map<std::string, std::string>> option_trials(const hprof_unit& unit);
// "gc-least=0", "the defaults"
std::string trial_name(const std::map<std::string, std::string>& trial);

// with_trial: findings that name the trial; both drop remarks.
Findings with_trial(const Findings& findings, const std::map<std::string, std::string>& trial);
Findings without_remarks(const Findings& findings);

}  // namespace hprof::tool
