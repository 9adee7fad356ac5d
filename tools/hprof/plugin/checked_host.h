// The mock host behind the core's checks: of records, messages and thread tags.
#pragma once

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <hprof/mock/mock_config.h>
#include <hprof/mock/mock_host.h>
#include <hprof/mock/unit_run.h>

#include "core/pipeline/record_kinds.h"
#include "tools/hprof/plugin/check_steps.h"

namespace hprof::tool {

// The thread tag under which the unit's code runs.
enum class Where { kControl, kReport, kApp, kGc, kWriter, kSignal };

using Options = std::map<std::string, std::string>;

class CheckedHost {
 public:
  CheckedHost(Findings findings, const hprof_unit& unit);
  ~CheckedHost();
  CheckedHost(const CheckedHost&) = delete;
  CheckedHost& operator=(const CheckedHost&) = delete;

  // Reports each fault once.
  void fault(const std::string& text);
  // Checks the error of a unit that refused: one line of text. what: a remark says it, with the reason.
  void check_refusal(hprof_status status, const char* error, const char* what = nullptr);
  // A function has answered: checks that it is a status.
  void check_status(const char* function, hprof_status status);
  // The host and its tables end in members that this version does not know.
  void become_newer();
  // Bytes by which structs that the unit is handed are longer.
  uint32_t later() const { return is_newer_ ? kLater : 0; }
  static constexpr uint32_t kLater = 64;
  // The JNIEnv of the mock's VM.
  void* jni() const;
  // Checks, after stop, that nothing of the unit runs.
  void check_stopped();
  // Checks, after destroy or close, that the unit has released everything.
  void check_balance();

  MockHost mock;
  Where where = Where::kControl;
  const Findings findings;
  RecordKinds kinds;
  std::string taken_file;    // held open, not by the unit
  std::string refusal;       // why the unit did not start; "": it did
  bool is_troubled = false;  // files or peers take nothing

 private:
  friend struct CheckedServices;
  const hprof_unit& unit_;
  bool is_newer_ = false;
  std::vector<std::vector<uint64_t>> newer_tables_;
  hprof_emit_service emit_;
  hprof_log_service log_;
  const hprof_emit_service* mock_emit_;
  const hprof_log_service* mock_log_;
  std::set<std::string> said_;
};

// "HPROF_UNSUPPORTED" or its number.
std::string status_name(int64_t status);

// The values that each option is tried with, one option at a time; the first are the defaults.
std::vector<Options> option_trials(const hprof_unit& unit);
// "gc_pauses-least=0", "the defaults"
std::string trial_name(const Options& trial);

// Findings that name the trial, without remarks; and findings without remarks.
Findings with_trial(const Findings& findings, const Options& trial);
Findings without_remarks(const Findings& findings);

// Creates a unit that has `create`, and checks its refusal, which a remark says.
template <typename Ops>
hprof_status create_unit(CheckedHost& host, const Ops& ops, const MockConfig& config, void** self) {
  char error[512] = "";
  host.findings.doing("create");
  const hprof_status status = ops.create(host.mock.host(), config.data(), self, error, sizeof error);
  if (status != HPROF_OK) host.check_refusal(status, error, "not run here: ");
  return status;
}

// A struct as a newer core hands it over: behind what this version knows are bytes of members that it does
// not know.
template <typename T>
class Handed {
 public:
  Handed(const CheckedHost& host, const T& known) {
    std::memset(later_, 0xa5, sizeof later_);
    of = known;
    of.size = sizeof(T) + host.later();
  }
  T of;

 private:
  unsigned char later_[CheckedHost::kLater];
};

}  // namespace hprof::tool
