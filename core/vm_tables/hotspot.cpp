#include "core/vm_tables/hotspot.h"

#include "core/vm_tables/hotspot_table.h"

namespace hprof {

static constexpr const char* kUsed = "used";

const char* HotSpot::why_off(Item item) const {
  if ((unseen_ & bit_of(item)) != 0) return "not tried with this version of Java; hotspot=+<item> uses it";
  return (kOffByDefault & bit_of(item)) == 0 ? "switched off"
                                             : "not tried on hardware of this kind; hotspot=+<item> uses it";
}

void HotSpot::open(const ItemChoice& choice, const HotSpotUse& use) {
  unseen_ = unseen_items(use.java_version) & ~choice.on;
  off_ = choice.off | unseen_ | (kOffByDefault & ~choice.on);
  use_ = use;
  if (is_on(Item::kVmStructs)) structs_.load(use.symbol, use.context);
  settle(Item::kVmStructs, structs_.loaded() ? nullptr : "the VM's library exports none");
  if (is_on(Item::kFlags)) flags_.load(structs_);
  settle(Item::kFlags, flags_.loaded() ? nullptr : "the VM does not say where they are");
}

const HotSpotTable* HotSpot::open_module() {
  if (asked_for_module_) return module_;
  asked_for_module_ = true;
  module_ = use_.open_module(use_.context);
  if (module_ != nullptr) platform::add_guarded_reads(module_->reads());
  return module_;
}

void HotSpot::close() {
  if (precise_code_ != nullptr) *precise_code_ = 0;
  precise_code_ = nullptr;
  if (holds_guard_) platform::uninstall_fault_guard();
  holds_guard_ = false;
}

bool HotSpot::hold_guard() {
  if (!holds_guard_ && !flags_.is_on("CheckJNICalls")) holds_guard_ = platform::install_fault_guard() == 0;
  return holds_guard_;
}

void HotSpot::hook_collections(const CollectionHook* hook) { collection_hook_ = hook; }

void HotSpot::hide_field(JNIEnv* jni, jclass owner, const char* field) {
  const char* why = "the module hotspot is not there";
  if (module_ != nullptr && is_on(Item::kFieldFilter)) why = module_->hide_field(jni, owner, field);
  settle(Item::kFieldFilter, why);
}

bool HotSpot::settle(Item item, const char* why) {
  if (!is_on(item)) why = why_off(item);
  const char* now = why == nullptr ? kUsed : why;
  const char* before = settled_[static_cast<uint32_t>(item)].exchange(now, std::memory_order_relaxed);
  if (now != before) {
    char text[160];
    TextWriter line(text, sizeof(text));
    line.put("hotspot: ").put(item_name(item)).put(why == nullptr ? " is " : " is not used: ").put(now);
    use_.messages.detail(text);
  }
  return why == nullptr;
}

void HotSpot::on_vm_init(JNIEnv* jni, jthread current) {
  const char* why = is_on(Item::kThreadIds) ? thread_ids_.prepare(structs_, jni, current) : nullptr;
  settle(Item::kThreadIds, why);
}

void HotSpot::prepare_to_collect() {
  if (code_heap_.is_prepared()) return;
  const char* why = is_on(Item::kCodeHeap) ? code_heap_.prepare(structs_) : nullptr;
  settle(Item::kCodeHeap, why);
}

bool HotSpot::use_precise_code() {
  const bool on = is_on(Item::kPreciseCode) &&
                  (precise_code_ != nullptr || flags_.turn_on("DebugNonSafepoints", &precise_code_));
  return settle(Item::kPreciseCode, on ? nullptr : "the flag is off and cannot be changed");
}

void* HotSpot::async_get_call_trace() {
  void* function = is_on(Item::kAsyncGetCallTrace) ? use_.symbol(use_.context, "AsyncGetCallTrace") : nullptr;
  settle(Item::kAsyncGetCallTrace, function != nullptr ? nullptr : "the VM's library does not export it");
  return function;
}

}  // namespace hprof
