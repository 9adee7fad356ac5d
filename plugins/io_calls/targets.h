// The targets of calls, as strings of the core: the path of a file, host:port of a socket's peer.
//
// They are read from the object's fields at its first call. A cache, by identity hash code, then finds them
// by a weak reference; an object that shares its place loses it.
#pragma once

#include <atomic>
#include <jvmti.h>

#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/text.hpp>

namespace hprof::io_calls {

class Targets {
 public:
  // is_redacted: numbers in place of names. False: no memory. [onload]
  bool open(const Services& services, bool is_redacted);
  // The target of a file's or socket's object, of that class or one below it. [app]
  hprof_string_id of(JNIEnv* jni, const char* owner, jobject object);

 private:
  static constexpr uint32_t kSlots = 4096;
  static constexpr uint64_t kMostTargets = 16384;

  // users: how many threads read the slot; kTaken: one writes it. Threads that find it so do without.
  struct Slot {
    std::atomic<uint32_t> users;
    hprof_string_id target;
    jweak object;
  };
  struct Target {
    std::atomic<uint32_t> string;
  };
  static constexpr uint32_t kTaken = 1u << 31;

  hprof_string_id string_of(const TextBuffer& text);

  Services services_;
  jvmtiEnv* jvmti_ = nullptr;
  bool is_redacted_ = false;
  Slot* slots_ = nullptr;
  HashTable<Target, Growth::kLevels> targets_;  // by the hash of the text
  std::atomic<uint32_t> numbers_{0};
  hprof_string_id other_ = 0;  // of targets without room
};

}  // namespace hprof::io_calls
