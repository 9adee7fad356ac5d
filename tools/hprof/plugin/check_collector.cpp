// Tests a collector's life cycle: in every order that collector.h allows, with every option, without memory,
// without an output.
#include <hprof/collector.h>

#include "tools/hprof/plugin/check_parts.h"

namespace hprof::tool {

namespace {

constexpr uint32_t kTurns = 3;
constexpr uint64_t kOsId = 4711;
constexpr uint32_t kStartsMost = 100;

// A collector under test; each call is announced before it is made.
class Watched {
 public:
  Watched(CheckedHost& host, const hprof_unit& unit, const Options& options = {})
      : host_(host), ops_(*static_cast<const hprof_collector_ops*>(unit.ops)), config_(unit, options) {
    status_ = create_unit(host, ops_, config_, &self_);
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
    host_.check_status("start", status);
    if (!started_) {
      host_.findings.remark("start answers " + status_name(status) + " here");
      stop();
    }
    return started_;
  }
  void stop() {
    host_.findings.doing("stop");
    ops_.stop(self_);
    started_ = false;
    host_.check_stopped();
  }
  void reset() {
    host_.findings.doing("reset");
    ops_.reset(self_);
  }
  void report(uint32_t reason) {
    hprof_report why = {};
    why.reason = reason;
    const Handed<hprof_report> handed(host_, why);
    host_.findings.doing("report");
    host_.where = Where::kReport;
    host_.check_status("report", ops_.report(self_, &handed.of));
    host_.where = Where::kControl;
    if (!HPROF_HAS(&ops_, hprof_collector_ops, reported)) return;
    host_.findings.doing("reported");
    ops_.reported(self_);
  }
  // Changes that commands ask for, and one that does not exist.
  void control() {
    if (!HPROF_HAS(&ops_, hprof_collector_ops, control)) return;
    for (const uint32_t what :
         {HPROF_CONTROL_CPU_SAMPLING, HPROF_CONTROL_ALLOC_TRACES, HPROF_CONTROL_DEPTH, 99}) {
      for (const int64_t value : {0, 1}) {
        const Handed<hprof_control> handed(host_, {0, what, value, 0});
        host_.findings.doing("control " + std::to_string(what));
        host_.check_status("control", ops_.control(self_, &handed.of));
      }
    }
  }
  void run_threads() {
    host_.findings.doing("its own threads");
    for (const auto& thread : host_.mock.agent_threads) {
      thread->turns_left = kTurns;
      thread->body(thread->argument, host_.jni(), thread.get());
    }
  }
  void handle();
  void targets(void* jni, void* jclass, void* object, hprof_method_id method);

 private:
  CheckedHost& host_;
  const hprof_collector_ops& ops_;
  MockConfig config_;
  void* self_ = nullptr;
  hprof_status status_;
  bool started_ = false;
};

// Each native target of the unit's probes, as the core's class calls it. There is a JNIEnv, so the calling
// convention is that of a plain function.
void Watched::targets(void* jni, void* jclass, void* object, hprof_method_id method) {
  host_.where = Where::kApp;
  const auto number = static_cast<int32_t>(method);
  for (uint32_t user = 1; user <= host_.mock.probe_users.size(); user++) {
    const auto word =
        static_cast<int64_t>(reinterpret_cast<uintptr_t>(host_.mock.probe_users[user - 1].self));
    const auto call = [&](const char* name, uint32_t point, auto... arguments) {
      const auto function = reinterpret_cast<int64_t (*)(void*, void*, int64_t, decltype(arguments)...)>(
          host_.mock.probe_target(user, point));
      if (function == nullptr) return int64_t{0};
      host_.findings.doing(name);
      return function(jni, jclass, word, arguments...);
    };
    call("the target of LEAF", HPROF_POINT_LEAF, number);
    call("the target of OBJECT", HPROF_POINT_OBJECT, object);
    call("the target of MADE", HPROF_POINT_MADE, object);
    call("the target of CAUGHT", HPROF_POINT_CAUGHT, object, number);
    const int64_t begun = call("the target of BEGIN", HPROF_POINT_BEGIN, number);
    const int64_t passed = call("the target of ARGUMENTS", HPROF_POINT_ARGUMENTS, number, object, object,
                                object, int64_t{1}, int64_t{2});
    const int64_t kept = begun != 0 ? begun : passed;
    if (kept == 0) continue;
    call("the target of HANDLER", HPROF_POINT_HANDLER, kept, number);
    call("the target of END", HPROF_POINT_END, kept);
    call("the target of RESULT", HPROF_POINT_RESULT, kept, object, int64_t{3});
  }
  host_.where = Where::kControl;
}

// Every handler, in an order that occurs, and a tick of a sampling timer.
void Watched::handle() {
  hprof_handlers on = {};
  if (ops_.handlers != nullptr) hprof_copy_sized(&on, sizeof on, ops_.handlers, ops_.handlers->size);
  MockHost& mock = host_.mock;
  hprof_thread* thread = mock.add_app_thread(1, kOsId);
  thread->size += host_.later();
  void* jni = host_.jni();
  void *object = mock.vm_object(), *jclass = mock.vm_class();
  void* self = self_;
  const auto call = [&](const char* name, Where where, auto function, auto... arguments) {
    if (function == nullptr) return;
    host_.findings.doing(name);
    host_.where = where;
    function(self, arguments...);
    host_.where = Where::kControl;
  };
  call("vm_init", Where::kApp, on.vm_init, jni, thread);
  call("thread_start", Where::kApp, on.thread_start, jni, thread);
  call("class_load", Where::kApp, on.class_load, jni, thread, jclass);
  call("class_prepare", Where::kApp, on.class_prepare, jni, thread, jclass);
  call("vm_object_alloc", Where::kApp, on.vm_object_alloc, jni, thread, object, jclass, int64_t{24});
  call("sampled_object_alloc", Where::kApp, on.sampled_object_alloc, jni, thread, object, jclass,
       int64_t{24});
  call("monitor_contended_enter", Where::kApp, on.monitor_contended_enter, jni, thread, object);
  call("monitor_contended_entered", Where::kApp, on.monitor_contended_entered, jni, thread, object);
  call("monitor_wait", Where::kApp, on.monitor_wait, jni, thread, object, int64_t{10});
  call("monitor_waited", Where::kApp, on.monitor_waited, jni, thread, object, 1u);
  const hprof_method_id method = mock.add_method(mock.add_class("Check", "LCheck;"), "m", "()V");
  if (jni != nullptr) targets(jni, jclass, object, method);
  host_.findings.doing("a sample");
  host_.where = Where::kSignal;
  mock.tick(kOsId);
  host_.where = Where::kControl;
  call("gc_start", Where::kGc, on.gc_start);
  call("gc_finish", Where::kGc, on.gc_finish);
  call("class_unload", Where::kControl, on.class_unload, 1u);
  call("thread_end", Where::kApp, on.thread_end, jni, thread);
  call("vm_death", Where::kControl, on.vm_death, jni);
}

void life(const hprof_unit& unit, const Findings& findings) {
  for (const char* calls : {"", "se", "ser", "serz", "sre", "strrzre", "szre", "sesrzetr", "sr"}) {
    CheckedHost host(findings, unit);
    Watched collector(host, unit);
    if (!collector.made()) return;
    collector.live(calls);
  }
}

// What the unit, or a variant of it, requests of the VM.
uint64_t requests_of(const hprof_unit& unit) {
  uint64_t bits = unit.needs | unit.wants;
  for (uint32_t i = 0; i < unit.variant_count; i++) {
    const auto& variant = *reinterpret_cast<const hprof_variant*>(
        reinterpret_cast<const char*>(unit.variants) + size_t{i} * unit.variant_stride);
    bits |= variant.needs | variant.wants;
  }
  return bits;
}

// With each option, since units ask for probes by their options.
void targets(const hprof_unit& unit, const Findings& findings) {
  for (const Options& trial : option_trials(unit)) {
    CheckedHost host(without_remarks(findings), unit);
    const Watched collector(host, unit, trial);
    if (!collector.made()) continue;
    if (!host.mock.probe_users.empty() && (requests_of(unit) & HPROF_NEED_CLASS_HOOKS) == 0)
      host.fault("asks for probes without HPROF_NEED_CLASS_HOOKS: no class gets any");
    check_targets(host);
  }
}

void refused_starts(const hprof_unit& unit, const Findings& findings) {
  for (uint32_t call = 0; call < kStartsMost; call++) {
    CheckedHost host(without_remarks(findings), unit);
    host.mock.let_vm_answer();
    host.mock.add_app_thread(1, kOsId, host.mock.vm_object());
    host.mock.fail_start = call;
    Watched(host, unit).live("sresr");
    if (host.mock.starts <= call) return;
  }
}

void no_output(const hprof_unit& unit, const Findings& findings) {
  for (hprof_status status : {HPROF_ABORTED, HPROF_FAILED, HPROF_UNSUPPORTED, HPROF_DROPPED}) {
    CheckedHost host(without_remarks(findings), unit);
    host.mock.write_status = host.mock.event_status = status;
    Watched(host, unit).live("strre");
  }
}

void handle_events(CheckedHost& host, const hprof_unit& unit) {
  Watched collector(host, unit);
  if (!collector.made() || !collector.start()) return;
  for (int i = 0; i < 3; i++) collector.handle();
  collector.live("trer");
}

void events(const hprof_unit& unit, const Findings& findings) {
  for (const uint32_t takes_events : {0, 1}) {
    CheckedHost host(without_remarks(findings), unit);
    host.mock.settings.events = takes_events;
    handle_events(host, unit);
  }
}

void events_of_a_vm(const hprof_unit& unit, const Findings& findings) {
  CheckedHost host(without_remarks(findings), unit);
  host.mock.let_vm_answer();
  host.mock.settings.events = 1;
  handle_events(host, unit);
}

void controls(const hprof_unit& unit, const Findings& findings) {
  CheckedHost host(without_remarks(findings), unit);
  Watched collector(host, unit);
  if (!collector.made() || !collector.start()) return;
  collector.control();
  collector.live("re");
}

}  // namespace

void use_collector(CheckedHost& host, const hprof_unit& unit, const Options& options) {
  Watched collector(host, unit, options);
  if (!collector.made() || !collector.start()) return;
  collector.handle();
  collector.live("trzre");
}

std::vector<CheckStep> collector_steps() {
  return {{"life", "life in all orders", life},
          {"events", "events", events},
          {"vm", "events, in a VM that answers", events_of_a_vm},
          {"control", "changes by command", controls},
          {"starts", "each thread, timer or probe refused", refused_starts},
          {"targets", "classes with targets of probes", targets},
          {"output", "no output", no_output}};
}

}  // namespace hprof::tool
