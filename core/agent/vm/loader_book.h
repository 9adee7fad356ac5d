// Numbers class loaders, to distinguish classes of the same name.
//
// A loader is found by its identity hash code and IsSameObject; a number is never reused. Rows of collected
// loaders are reused.
//
// Protocol. The lock is held for a few instructions and never during a call of the VM, in which a thread may
// be suspended. So weak references are compared without the lock, and one is deleted only after it has left
// the rows and every thread that was inside then has left (`inside_`).
#pragma once

#include <atomic>
#include <cstdint>
#include <jvmti.h>

#include "core/base/memory_account.h"
#include "platform/platform.h"

namespace hprof {

class LoaderBook {
 public:
  void create(jvmtiEnv* jvmti, MemoryAccount* memory) { jvmti_ = jvmti, memory_ = memory; }
  // Frees the book, which no thread uses any more. jni: nullptr if no loader was numbered. [control]
  void destroy(JNIEnv* jni);

  // The number of a loader, from 1; 0: the boot loader (nullptr); kOthers, when there is no memory for
  // another one. Not before VMStart, until which there is only the boot loader. [app][control]
  uint32_t number(JNIEnv* jni, jobject loader);
  // The number of a class's loader. [app][control]
  uint32_t number_of(JNIEnv* jni, jclass of);

  static constexpr uint32_t kOthers = UINT32_MAX;
  static constexpr uint32_t kMostLoaders = 1u << 16;  // at a time

 private:
  struct Row {
    jweak loader;
    jint hash;
    uint32_t number;
    uint32_t next;  // next in the chain: index + 1 of the row; 0: none
    bool gone;
  };
  static constexpr uint32_t kChains = 256;

  uint32_t find_or_add(JNIEnv* jni, jobject loader, jint hash);
  bool next_like(jint hash, uint32_t above, Row* found);
  uint32_t add(jweak reference, jint hash, uint32_t seen);
  uint32_t& chain_of(jint hash) { return chains_[static_cast<uint32_t>(hash) % kChains]; }
  void link(uint32_t index);
  bool is_full();
  bool grow();
  void drop_gone(JNIEnv* jni);
  void delete_dropped(JNIEnv* jni);

  jvmtiEnv* jvmti_ = nullptr;
  MemoryAccount* memory_ = nullptr;
  platform::Mutex lock_;
  // count_ rows in the order of their numbers, then dropped_ rows to be deleted.
  Row* rows_ = nullptr;
  uint32_t chains_[kChains] = {};  // by hash code: index + 1 of the last row
  uint32_t count_ = 0;
  uint32_t dropped_ = 0;
  uint32_t room_ = 0;
  uint32_t last_number_ = 0;
  std::atomic<uint32_t> inside_{0};
  std::atomic<bool> dropping_{false};
};

}  // namespace hprof
