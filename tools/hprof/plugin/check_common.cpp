// Tests what is the same for units of all kinds: options, and a host that lacks something or is newer.
#include "tools/hprof/plugin/check_parts.h"

namespace hprof::tool {

namespace {

constexpr uint64_t kAllocationsMost = 500;

constexpr struct {
  uint32_t kind;
  void (*use)(CheckedHost& host, const hprof_unit& unit, const Options& options);
  std::vector<CheckStep> (*steps)();
} kKinds[] = {{HPROF_UNIT_COLLECTOR, use_collector, collector_steps},
              {HPROF_UNIT_ENCODER, use_encoder, encoder_steps},
              {HPROF_UNIT_FILTER, use_filter, filter_steps},
              {HPROF_UNIT_SINK, use_sink, sink_steps}};

void use(CheckedHost& host, const hprof_unit& unit, const Options& options) {
  for (const auto& row : kKinds) {
    if (row.kind == unit.kind) row.use(host, unit, options);
  }
}

void options(const hprof_unit& unit, const Findings& findings) {
  for (const Options& trial : option_trials(unit)) {
    CheckedHost host(with_trial(findings, trial), unit);
    use(host, unit, trial);
  }
}

void no_memory(const hprof_unit& unit, const Findings& findings) {
  for (uint64_t call = 0; call < kAllocationsMost; call++) {
    CheckedHost host(without_remarks(findings), unit);
    host.mock.fail_allocation = call;
    use(host, unit, {});
    if (host.mock.allocations <= call) return;
  }
}

void no_counters(const hprof_unit& unit, const Findings& findings) {
  CheckedHost host(without_remarks(findings), unit);
  host.mock.has_counters = false;
  use(host, unit, {});
}

void newer_host(const hprof_unit& unit, const Findings& findings) {
  std::string usual;
  {
    CheckedHost host(without_remarks(findings), unit);
    use(host, unit, {});
    usual = host.refusal;
  }
  CheckedHost host(without_remarks(findings), unit);
  host.become_newer();
  use(host, unit, {});
  if (host.refusal != usual) host.fault("refuses a newer core: " + host.refusal);
}

}  // namespace

std::vector<CheckStep> steps_of(uint32_t unit_kind) {
  std::vector<CheckStep> steps;
  for (const auto& row : kKinds) {
    if (row.kind == unit_kind) steps = row.steps();
  }
  if (steps.empty()) return steps;
  steps.insert(steps.end(), {{"options", "options at their bounds", options},
                             {"memory", "no memory at each call", no_memory},
                             {"counters", "no loss counter is left", no_counters},
                             {"newer", "a newer core, with longer structs", newer_host}});
  return steps;
}

}  // namespace hprof::tool
