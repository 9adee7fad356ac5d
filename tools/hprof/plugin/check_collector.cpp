// Tests a collector's life cycle: in every order that collector.h allows, with every option, without memory,
// without an output.
#include <hprof/collector.h>

#include "tools/hprof/plugin/check_parts.h"
#include "tools/hprof/plugin/checked_host.h"

namespace hprof::tool {

namespace {

constexpr uint64_t kAllocationsMost = 500;
constexpr uint32_t kTurns = 3;

// A collector under test; each call is announced before it is made.
class Watched {
 public:
  Watched(CheckedHost& host, const hprof_unit& unit, const std::map<std::string, std::string>& options = {})
      : host_(host), ops_(*static_cast<const hprof_collector_ops*>(unit.ops)), config_(unit, options) {
    char error[512] = "";
    host.findings.doing("create");
    status_ = ops_.create(host.mock.host(), config_.data(), &self_, error, sizeof error);
    if (status_ != HPROF_OK) host.check_refusal(status_, error);
    if (status_ != HPROF_OK) why_not_ = error;
  }
  ~Watched() {
    if (status_ == HPROF_OK) {
      if (started_) stop();
      host_.findings.doing("destroy");
      ops_.destroy(self_);
    }
    host_.check_balance();
  }

  bool made() const { return status_ == HPROF_OK; }
  const std::string& why_not() const { return why_not_; }

  // Each letter is a call: s start, r report, z reset, e stop, t turns of its threads.
  void live(const char* calls) {
    for (; made() && *calls != 0; calls++) {
      if (*calls == 's' && !start()) return;
      if (*calls == 'r') report(HPROF_REPORT_COMMAND);
      if (*calls == 'z') reset();
      if (*calls == 'e') stop();
      if (*calls == 't') run_threads();
    }
  }

  bool start() {
    host_.findings.doing("start");
    const hprof_status status = ops_.start(self_);
    started_ = status == HPROF_OK;
    if (!started_) host_.findings.remark("start answers " + status_name(status) + " here");
    return started_;
  }
  void stop() {
    host_.findings.doing("stop");
    ops_.stop(self_);
    started_ = false;
    if (!host_.mock.agent_threads.empty()) host_.fault("has a thread that still runs after stop");
  }
  void reset() {
    host_.findings.doing("reset");
    ops_.reset(self_);
  }
  void report(uint32_t reason) {
    hprof_report why = {};
    why.size = sizeof why;
    why.reason = reason;
    host_.findings.doing("report");
    host_.where = Where::kReport;
    const hprof_status status = ops_.report(self_, &why);
    host_.where = Where::kControl;
    if (status < HPROF_OK || status > HPROF_ABORTED)
      host_.fault("report answers " + status_name(status) + ", which is no status");
  }
  void run_threads() {
    host_.findings.doing("its own threads");
    for (const auto& thread : host_.mock.agent_threads) {
      thread->turns_left = kTurns;
      thread->body(thread->argument, host_.jni(), thread.get());
    }
  }
  void handle();

 private:
  CheckedHost& host_;
  const hprof_collector_ops& ops_;
  MockConfig config_;
  void* self_ = nullptr;
  hprof_status status_;
  std::string why_not_;
  bool started_ = false;
};

// Calls the handlers of events that need nothing of a VM but a thread.
void Watched::handle() {
  const hprof_handlers* handlers = ops_.handlers;
  void* jni = host_.jni();
  hprof_thread* thread = host_.mock.add_app_thread(1, 4711);
  const auto in = [&](Where where, const char* name, auto&& body) {
    host_.findings.doing(name);
    host_.where = where;
    body();
    host_.where = Where::kControl;
  };
  if (HPROF_HAS(handlers, hprof_handlers, vm_init))
    in(Where::kApp, "vm_init", [&] { handlers->vm_init(self_, jni, thread); });
  if (HPROF_HAS(handlers, hprof_handlers, thread_start))
    in(Where::kApp, "thread_start", [&] { handlers->thread_start(self_, jni, thread); });
  if (HPROF_HAS(handlers, hprof_handlers, gc_start))
    in(Where::kGc, "gc_start", [&] { handlers->gc_start(self_); });
  if (HPROF_HAS(handlers, hprof_handlers, object_free))
    in(Where::kGc, "object_free", [&] { handlers->object_free(self_, 0); });
  if (HPROF_HAS(handlers, hprof_handlers, gc_finish))
    in(Where::kGc, "gc_finish", [&] { handlers->gc_finish(self_); });
  if (HPROF_HAS(handlers, hprof_handlers, class_unload))
    in(Where::kControl, "class_unload", [&] { handlers->class_unload(self_, 1); });
  if (HPROF_HAS(handlers, hprof_handlers, thread_end))
    in(Where::kApp, "thread_end", [&] { handlers->thread_end(self_, jni, thread); });
  if (HPROF_HAS(handlers, hprof_handlers, vm_death))
    in(Where::kControl, "vm_death", [&] { handlers->vm_death(self_, jni); });
}

void life(const hprof_unit& unit, const Findings& findings) {
  for (const char* calls : {"", "se", "ser", "serz", "sre", "strrzre", "szre", "sesrzetr", "sr"}) {
    CheckedHost host(findings);
    Watched collector(host, unit);
    if (!collector.made()) return findings.remark("not run here: " + collector.why_not());
    collector.live(calls);
  }
}

void options(const hprof_unit& unit, const Findings& findings) {
  for (const auto& trial : option_trials(unit)) {
    const Findings named = with_trial(findings, trial);
    CheckedHost host(named);
    Watched(host, unit, trial).live("stre");
  }
}

void no_memory(const hprof_unit& unit, const Findings& findings) {
  const Findings quiet = without_remarks(findings);
  for (uint64_t call = 0; call < kAllocationsMost; call++) {
    CheckedHost host(quiet);
    host.mock.fail_allocation = call;
    { Watched(host, unit).live("strzre"); }
    if (host.mock.allocations <= call) return;
  }
}

void no_output(const hprof_unit& unit, const Findings& findings) {
  const Findings quiet = without_remarks(findings);
  for (hprof_status status : {HPROF_ABORTED, HPROF_FAILED, HPROF_UNSUPPORTED, HPROF_DROPPED}) {
    CheckedHost host(quiet);
    host.mock.write_status = host.mock.event_status = status;
    Watched(host, unit).live("strre");
  }
}

void handlers(const hprof_unit& unit, const Findings& findings) {
  const Findings quiet = without_remarks(findings);
  CheckedHost host(quiet);
  Watched collector(host, unit);
  if (!collector.made() || !collector.start()) return;
  for (int i = 0; i < 3; i++) collector.handle();
  collector.live("rer");
}

}  // namespace

std::vector<CheckStep> collector_steps() {
  return {{"life in all orders", life},
          {"options at their bounds", options},
          {"events", handlers},
          {"no memory at each call", no_memory},
          {"no output", no_output}};
}

}  // namespace hprof::tool
