#include "core/hotspot/hotspot.h"

#include "core/modules/hotspot/collection_count.h"
#include "core/modules/hotspot/unload_count.h"

namespace hprof {

static constexpr const char* kUsed = "used";

const char* HotSpot::why_off(Item item) {
  return (kOffByDefault & bit_of(item)) == 0 ? "switched off"
                                             : "not tried on hardware of this kind; hotspot=+<item> uses it";
}

void HotSpot::open(uint32_t off, FindSymbol symbol, void* context, const Messages& messages) {
  off_ = off;
  symbol_ = symbol;
  context_ = context;
  messages_ = messages;
  if (is_on(Item::kVmStructs)) structs_.load(symbol, context);
  settle(Item::kVmStructs, structs_.loaded() ? nullptr : "the VM's library exports none");
  if (is_on(Item::kFlags)) flags_.load(structs_);
  settle(Item::kFlags, flags_.loaded() ? nullptr : "the VM does not say where they are");
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

const uint32_t* HotSpot::unload_count() {
  const uint32_t* count = nullptr;
  const char* why = is_on(Item::kUnloadCount) ? find_unload_count(structs_, &count) : nullptr;
  return settle(Item::kUnloadCount, why) ? count : nullptr;
}

const uint32_t* HotSpot::collection_count() {
  if (!flags_.is_on("UseSerialGC") && !flags_.is_on("UseParallelGC") && !flags_.is_on("UseConcMarkSweepGC"))
    return nullptr;
  const uint32_t* count = nullptr;
  const char* why = is_on(Item::kCollectionCount) ? find_collection_count(structs_, &count) : nullptr;
  return settle(Item::kCollectionCount, why) ? count : nullptr;
}

bool HotSpot::settle(Item item, const char* why) {
  if (!is_on(item)) why = why_off(item);
  const char* now = why == nullptr ? kUsed : why;
  const char* before = settled_[static_cast<uint32_t>(item)].exchange(now, std::memory_order_relaxed);
  if (now != before) {
    char text[160];
    TextWriter line(text, sizeof(text));
    line.put("hotspot: ").put(item_name(item)).put(why == nullptr ? " is " : " is not used: ").put(now);
    messages_.detail(text);
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
  void* function = is_on(Item::kAsyncGetCallTrace) ? symbol_(context_, "AsyncGetCallTrace") : nullptr;
  settle(Item::kAsyncGetCallTrace, function != nullptr ? nullptr : "the VM's library does not export it");
  return function;
}

}  // namespace hprof
