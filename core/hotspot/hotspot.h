// Everything specific to HotSpot: which items (items.def) this VM has, which of them the user switched off,
// and the result of each check. Every user of an item has a fallback.
#pragma once

#include <atomic>
#include <jvmti.h>

#include "core/base/message.h"
#include "core/hotspot/code_heap.h"
#include "core/hotspot/items.h"
#include "core/hotspot/thread_ids.h"
#include "core/hotspot/vm_flags.h"
#include "core/hotspot/vm_structs.h"
#include "core/modules/hotspot/weak_peeks.h"

namespace hprof {

using FindSymbol = void* (*)(void* context, const char* name);

class HotSpot {
 public:
  // off: a bit for each item that is switched off. `symbol` finds exported symbols of the VM's library, which
  // stays loaded. [onload]
  void open(uint32_t off, FindSymbol symbol, void* context, const Messages& messages);
  // Undoes changes in the VM where possible. Nobody uses it any more. [control]
  void close();
  // The VM is live. current: the calling thread. [control]
  void on_vm_init(JNIEnv* jni, jthread current);
  // When collectors start, with the fault guard in place. [control]
  void prepare_to_collect();

  // Not switched off. [any]
  bool is_on(Item item) const { return (off_ & bit_of(item)) == 0; }
  // Why it is not on: static text. [any]
  static const char* why_off(Item item);
  // Sets the result of an item's check: why it is not used, or nullptr: it is used. Each result is printed
  // once, as a detail. Returns whether it is used. [onload][control][app]
  bool settle(Item item, const char* why);

  const VmStructs& structs() const { return structs_; }
  const VmFlags& flags() const { return flags_; }
  const NativeThreadIds& thread_ids() const { return thread_ids_; }
  const CodeHeap& code_heap() const { return code_heap_; }

  // Makes the VM's compilers record the position of every instruction in code that they compile from now on.
  // [onload]
  bool use_precise_code();
  // AsyncGetCallTrace; nullptr: none, or not to be used. [control]
  void* async_get_call_trace();
  // Keeps the fault guard in place until close(). False: there is none. Not with -Xcheck:jni: the VM would
  // warn of handlers that are not its own. [control]
  bool hold_guard();
  // See hprof_hotspot_service; nullptr: not known. [control]
  const uint32_t* collection_count();
  const uint32_t* unload_count();
  // GarbageCollectionStart is needed beside GarbageCollectionFinish. [onload][control]
  void want_collections() { wants_collections_ = is_on(Item::kWeakReuse); }
  bool wants_collections() const { return wants_collections_; }
  uint64_t are_gone(JNIEnv* jni, void* const* references, uint32_t count) {
    return weak_peeks_.are_gone(*this, jni, references, count);
  }

 private:
  uint32_t off_ = 0;
  FindSymbol symbol_ = nullptr;
  void* context_ = nullptr;
  Messages messages_;
  VmStructs structs_;
  VmFlags flags_;
  NativeThreadIds thread_ids_;
  CodeHeap code_heap_;
  WeakPeeks weak_peeks_;
  uint8_t* precise_code_ = nullptr;  // the flag, where it was changed
  bool holds_guard_ = false;
  bool wants_collections_ = false;
  std::atomic<const char*> settled_[kItems] = {};
};

}  // namespace hprof
