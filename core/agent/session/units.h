// The units of a session: what the options selected, what they need of the VM, and which run.
#pragma once

#include <jvmti.h>

#include <hprof/encoder.h>
#include <hprof/sink.h>

#include "core/agent/session/session_parts.h"
#include "core/agent/session/unit_slot.h"
#include "core/agent/vm/event_hub.h"
#include "core/pipeline/output_plan.h"
#include "platform/platform.h"

namespace hprof {

class Units {
 public:
  explicit Units(const SessionParts& parts) : parts_(parts) {}

  // Before the program starts [onload]; false: a message has said why.

  // Fills in the settings, a slot for each selected unit, and the plan of their outputs.
  bool make();
  // Requests the capabilities that they need.
  bool ask_for_capabilities();
  // Creates the collectors; skips one that fails, unless it is the last.
  bool create_collectors();
  // Reserves the memory that later starts will take; `slot`, which starts now, may use its own part.
  // [onload][control]
  void keep_for_starts(const CollectorSlot* slot = nullptr) const;

  // While the program runs [control].

  // Start or stop all collectors.
  void start_all(JNIEnv* jni);
  void stop_all();
  // Start or stop one collector. Call settle_events after the last stop.
  bool start(CollectorSlot& slot, JNIEnv* jni);
  void stop(CollectorSlot& slot);
  void settle_events();
  // Enables the VM's events that are needed now. False: the VM refused one that it supports; a message names
  // it. [control], by ClassRewriter also [app]
  bool enable_events();
  // Returns the depth that was set, which is limited.
  uint32_t set_depth(uint32_t depth);
  bool is_collecting() const;

  // The process exits, perhaps inside a callback, so stops wait at most a second for callbacks. [any] but
  // [signal]
  void hurry() { hurries_.store(true, std::memory_order_relaxed); }
  // Gives up all units: services refuse their calls from now on. [app]
  void abandon_all();
  bool is_any_gone() const;
  // The unit that a control thread is in, and the function; nullptr: none. [any]
  const UnitSlot* inside(const char** function) const;
  // Destroys the collectors; none runs any more, and no callback is inside. [control]
  void destroy_collectors();

  uint32_t collector_count() const { return collector_count_; }
  CollectorSlot& collector(uint32_t index) { return collectors_[index]; }
  const CollectorSlot& collector(uint32_t index) const { return collectors_[index]; }
  UnitSlot& encoder() { return encoder_; }
  UnitSlot& sink() { return sink_; }
  UnitSlot& filter() { return filter_; }  // unit is nullptr: none
  const hprof_encoder_ops* encoder_ops() const;
  const hprof_sink_ops* sink_ops() const;
  const hprof_settings& settings() const { return settings_; }  // of all units
  const OutputPlan& outputs() const { return outputs_; }
  EventHub& events() { return events_; }
  bool needs_any(uint64_t needs) const { return (needs_ & needs) != 0; }  // HPROF_NEED_*
  bool uses_any(uint64_t needs) const { return ((needs_ | wants_) & needs) != 0; }
  bool is_subscribed(uint64_t event) const;
  // Bytes that collectors will take when they start or report.
  uint64_t needed_later() const { return needed_later_; }

 private:
  bool add(UnitSlot& slot, uint32_t unit_index);
  void choose_depth();
  const hprof_variant* choose_variant(const hprof_unit* unit) const;
  bool plan_outputs();
  void say_left_out(const CollectorSlot& slot) const;
  uint64_t events_wanted() const;
  void prepare_to_collect(JNIEnv* jni);
  // Closes the gate and calls stop, also after a start that failed. False: the collector is abandoned.
  bool end(CollectorSlot& slot);
  void abandon(CollectorSlot& slot, const char* what);
  int64_t callback_deadline() const;

  const SessionParts& parts_;
  hprof_settings settings_ = {};
  OutputPlan outputs_;
  CollectorSlot collectors_[kMostCollectors];
  uint32_t collector_count_ = 0;
  UnitSlot encoder_;
  UnitSlot sink_;
  UnitSlot filter_;
  uint64_t needs_ = 0;  // HPROF_NEED_* of the units, or of their variants
  uint64_t wants_ = 0;
  uint64_t needed_later_ = 0;
  EventHub events_;
  platform::Mutex events_lock_;  // of the enabled events and what decides on them
  std::atomic<bool> hurries_{false};
};

}  // namespace hprof
