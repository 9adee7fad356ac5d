// Class loaders as numbers, to distinguish classes of the same name.
//
// A loader is found again by its identity hash code and IsSameObject; a number is never used twice. Collected
// loaders make room for others.
//
// Protocol. The lock is held for a few instructions and never while the VM is asked: a thread that another
// one has suspended may stop in any call of the VM. So weak references are compared without the lock, and one
// is deleted only after it has left the rows and every thread that was inside then has left (`inside_`).
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
  // Nobody uses it any more. jni: nullptr when nothing was ever numbered. [control]
  void destroy(JNIEnv* jni);

  // From 1 on; 0: the boot loader (nullptr). kOthers, shared by all further loaders: there is no memory for
  // one more. Not before VMStart; until then there is only the boot loader. [app][control]
  uint32_t number(JNIEnv* jni, jobject loader);
  // Of a class. [app][control]
  uint32_t number_of(JNIEnv* jni, jclass of);

  static constexpr uint32_t kOthers = UINT32_MAX;
  static constexpr uint32_t kMostLoaders = 1u << 16;  // alive at a time

 private:
  struct Row {
    jweak loader;
    jint hash;
    uint32_t number;
    uint32_t next;  // in its chain: index + 1 of the row, 0: none
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
  uint32_t chains_[kChains] = {};  // of hash codes, the last row first: index + 1
  uint32_t count_ = 0;
  uint32_t dropped_ = 0;
  uint32_t room_ = 0;
  uint32_t last_number_ = 0;
  std::atomic<uint32_t> inside_{0};
  std::atomic<bool> dropping_{false};
};

}  // namespace hprof
