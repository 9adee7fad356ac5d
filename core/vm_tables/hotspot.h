// What hprof uses of HotSpot beyond the specifications: which items (items.def) this VM has, which the user
// switched off, and the result of each check. Every user of an item has a fallback.
//
// What only some units need is in the module `hotspot` (core/modules/hotspot), which has the non-virtual
// functions compiled in, and reaches the core's state by the virtual ones.
#pragma once

#include <atomic>
#include <jvmti.h>

#include <hprof/host.h>

#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/vm_tables/code_heap.h"
#include "core/vm_tables/items.h"
#include "core/vm_tables/thread_ids.h"
#include "core/vm_tables/vm_flags.h"
#include "core/vm_tables/vm_structs.h"

namespace hprof {

struct HotSpotTable;

// What the session passes to HotSpot.
struct HotSpotUse {
  void* context;                                      // passed to the functions
  void* (*symbol)(void* context, const char* name);   // an exported symbol of the VM's library, which stays
                                                      // loaded
  const HotSpotTable* (*open_module)(void* context);  // nullptr: it is not there [onload]
  bool (*is_waited_for_by_attach)(void* context);     // the VM's attach thread waits for the session [any]
  Messages messages;
  Memory memory;  // [any] but [signal]
  uint32_t java_version;
};

// Called around each collection, before anything else. Functions of a library that stays loaded.
struct CollectionHook {
  void (*begins)();         // [gc]
  void (*ends)();           // [gc]
  void (*is_unreported)();  // collections may come without events from now on [control]
};

class HotSpot {
 public:
  // [onload]
  void open(const ItemChoice& choice, const HotSpotUse& use);
  // Undoes changes in the VM where possible. Not used any more afterwards. [control]
  void close();
  // The module hotspot, opened at the first call; nullptr: there is none. [onload]; later only if opened then
  const HotSpotTable* open_module();
  // Call it when the VM is live. current: the calling thread. [control]
  void on_vm_init(JNIEnv* jni, jthread current);
  // Call it when collectors start, with the fault guard installed. [control]
  void prepare_to_collect();

  // False: switched off by hotspot=. [any]
  bool is_on(Item item) const { return (off_ & bit_of(item)) == 0; }
  // Why an item is off: static text. [any]
  virtual const char* why_off(Item item) const;
  // Sets the result of an item's check: nullptr: it is used, else why not. Each result is printed once, as a
  // detail. Returns whether the item is used. [onload][control][app]
  virtual bool settle(Item item, const char* why);

  const VmStructs& structs() const { return structs_; }
  const VmFlags& flags() const { return flags_; }
  const NativeThreadIds& thread_ids() const { return thread_ids_; }
  const CodeHeap& code_heap() const { return code_heap_; }
  uint32_t java_version() const { return use_.java_version; }
  const Memory& memory() const { return use_.memory; }
  // True: the VM's attach thread waits for the session. [any]
  bool is_waited_for_by_attach() const { return use_.is_waited_for_by_attach(use_.context); }

  // Makes the VM's compilers record the position of every instruction in code that they compile from now on.
  // [onload]
  bool use_precise_code();
  // AsyncGetCallTrace; nullptr: none, or switched off. [control]
  void* async_get_call_trace();
  // Keeps the fault guard installed until close(). False: there is none, as with -Xcheck:jni, where the VM
  // warns about foreign handlers. [control]
  virtual bool hold_guard();
  // Requests GarbageCollectionStart beside GarbageCollectionFinish, and `hook` at both. [onload][control]
  virtual void hook_collections(const CollectionHook* hook);
  const CollectionHook* collection_hook() const { return collection_hook_; }
  // Hides a field from core reflection. [control]
  void hide_field(JNIEnv* jni, jclass owner, const char* field);

 private:
  uint32_t off_ = 0;
  uint32_t unseen_ = 0;  // those of off_ that were not seen with this Java version
  HotSpotUse use_ = {};
  VmStructs structs_;
  VmFlags flags_;
  NativeThreadIds thread_ids_;
  CodeHeap code_heap_;
  bool asked_for_module_ = false;
  const HotSpotTable* module_ = nullptr;
  const CollectionHook* collection_hook_ = nullptr;
  uint8_t* precise_code_ = nullptr;  // the flag's value in the VM, if it was changed
  bool holds_guard_ = false;
  std::atomic<const char*> settled_[kItems] = {};
};

// The beginning of the core's record of a unit, by which a service finds HotSpot from the unit's host.
struct HostRecord {
  hprof_host host = {};
  HotSpot* hotspot = nullptr;
};
inline HotSpot& hotspot_of(const hprof_host* host) {
  return *reinterpret_cast<const HostRecord*>(host)->hotspot;
}

}  // namespace hprof
