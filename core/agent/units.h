// The units of a session: what the options selected, what they need of the VM, and which of them run.
#pragma once

#include <jvmti.h>

#include <hprof/encoder.h>
#include <hprof/sink.h>

#include "core/agent/event_hub.h"
#include "core/agent/session_parts.h"
#include "core/agent/unit_slot.h"
#include "platform/platform.h"

namespace hprof {

class Units {
 public:
  explicit Units(const SessionParts& parts) : parts_(parts) {}

  // --- before the program starts [onload]; false: a message has said why

  // Fills in what units are told, and a slot for each that was selected.
  bool make();
  // Asks the VM for what they need.
  bool ask_for_capabilities();
  // Creates the collectors; one that fails is left out, unless it is the last.
  bool create_collectors();
  // Keeps what collectors that have not started yet will take in start; `slot` is starting and may have its
  // own part of that. [onload][control]
  void keep_for_starts(const CollectorSlot* slot = nullptr) const;

  // --- while it lives [control]

  // Start or stop all collectors.
  void start_all(JNIEnv* jni);
  void stop_all();
  // One of them. After stop: settle_events, once.
  bool start(CollectorSlot& slot, JNIEnv* jni);
  void stop(CollectorSlot& slot);
  void settle_events();
  // Enables the events that are wanted now. False: an available one was refused, as a message says.
  // [control], ClassRewriter [app]
  bool enable_events();
  // Returns the depth that is set, which has a limit.
  uint32_t set_depth(uint32_t depth);
  bool is_collecting() const;

  // --- the end

  // The process exits, perhaps inside of a callback: they are waited for no longer than a second. [any] but
  // [signal]
  void hurry() { hurries_.store(true, std::memory_order_relaxed); }
  // Gives all units up: their requests are refused from now on. [app]
  void abandon_all();
  bool is_any_gone() const;
  // The unit that a control thread is inside of, and the function; nullptr: none. [any]
  const UnitSlot* inside(const char** function) const;
  // Nothing of them runs any more, and no callback is inside. [control]
  void destroy_collectors();

  // --- what they are

  uint32_t collector_count() const { return collector_count_; }
  CollectorSlot& collector(uint32_t index) { return collectors_[index]; }
  const CollectorSlot& collector(uint32_t index) const { return collectors_[index]; }
  UnitSlot& encoder() { return encoder_; }
  UnitSlot& sink() { return sink_; }
  UnitSlot& filter() { return filter_; }  // unit is nullptr: none
  const hprof_encoder_ops* encoder_ops() const;
  const hprof_sink_ops* sink_ops() const;
  const hprof_settings& settings() const { return settings_; }  // what they are told
  EventHub& events() { return events_; }
  bool needs_any(uint64_t needs) const { return (needs_ & needs) != 0; }  // HPROF_NEED_*
  bool uses_any(uint64_t needs) const { return ((needs_ | wants_) & needs) != 0; }
  bool is_subscribed(uint64_t event) const;
  bool records_unloads() const;  // the output has a place for unloaded classes
  // Readers of binary dumps expect one per file; the file sink numbers the later ones.
  bool has_dump_a_file() const;
  // The same for encoders that make a document of each report.
  bool has_document_a_file() const;
  // True: the encoder takes dumps made by somebody else. Dumps of several streams are put in order, for which
  // the sink must be able to overwrite.
  bool takes_foreign_dumps(uint32_t streams) const;
  uint64_t needed_later() const {
    return needed_later_;
  }  // bytes that collectors that start, or report, take

 private:
  bool add(UnitSlot& slot, uint32_t unit_index);
  void choose_depth();
  const hprof_variant* choose_variant(const hprof_unit* unit) const;
  bool can_patch() const;
  uint64_t events_wanted() const;
  void prepare_to_collect(JNIEnv* jni);
  void abandon(CollectorSlot& slot, const char* what);
  int64_t callback_deadline() const;

  const SessionParts& parts_;
  hprof_settings settings_ = {};
  CollectorSlot collectors_[kMostCollectors];
  uint32_t collector_count_ = 0;
  UnitSlot encoder_;
  UnitSlot sink_;
  UnitSlot filter_;
  uint64_t needs_ = 0;  // HPROF_NEED_* of the units, or of their variants
  uint64_t wants_ = 0;
  uint64_t needed_later_ = 0;
  EventHub events_;
  platform::Mutex events_lock_;  // of what is enabled, and why
  std::atomic<bool> hurries_{false};
};

}  // namespace hprof
