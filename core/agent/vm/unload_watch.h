// Finds unloaded classes: keeps a weak reference to each class, and checks it after collections.
//
// Protocol. The thread that takes a slot writes it, its reference last (release); the sweep, on one thread
// at a time, empties and frees it. A class is watched once: a bit of its serial says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include "core/base/memory_account.h"
#include "core/base/region.h"
#include "platform/platform.h"

namespace hprof {

class UnloadWatch {
 public:
  // Switches it on. most_classes: all serials are below; every_class: also watch classes without a serial so
  // far. False: no memory. [onload]
  bool open(MemoryAccount& memory, uint32_t most_classes, bool every_class);
  // Frees the watch, which no thread uses any more. jni: nullptr if no class was watched. [control]
  void destroy(JNIEnv* jni);
  bool is_on() const { return most_ != 0; }
  bool watches_every_class() const { return every_class_; }

  // False: no memory. [app][control]
  bool add(JNIEnv* jni, jclass of, uint32_t serial);
  // Reports unloaded classes, each serial once per add. Does nothing if it is off, if it has swept after that
  // many collections already, or while another thread sweeps. [control]
  void sweep(JNIEnv* jni, uint32_t collections, void* context, void (*gone)(void* context, uint32_t serial));

 private:
  struct Slot {
    std::atomic<jweak> reference;  // nullptr: free, or being written
    uint32_t serial;
    uint32_t next_free;
  };

  Slot* slots() const { return reinterpret_cast<Slot*>(slots_region_.base()); }
  std::atomic<uint32_t>* mark_of(uint32_t serial) const {
    return reinterpret_cast<std::atomic<uint32_t>*>(marks_region_.base()) + serial / 32;
  }
  uint32_t take_slot();

  uint32_t most_ = 0;
  bool every_class_ = false;
  Region slots_region_;
  Region marks_region_;
  platform::Mutex lock_;  // of the free slots; held for a few instructions
  uint32_t count_ = 1;    // 0 is "none"
  uint32_t first_free_ = 0;
  std::atomic<bool> sweeping_{false};
  uint32_t swept_at_ = 0;
};

}  // namespace hprof
