// The frames that a thread has met lately and the numbers that name them, so that a stack of known frames has
// its trace without a question to the VM; and the jmethodIDs of the methods of such frames, by which a new
// position in one of them is named.
//
// A frame is a method and a position in it. A method is the VM's own pointer or a jmethodID: which are
// different addresses, and valid until classes are unloaded or redefined.
#pragma once

#include <cstdint>

#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/services.hpp>

namespace hprof::sites {

// Belongs to one thread; overwrites.
class FrameNames {
 public:
  static constexpr uint32_t kPairs = 1u << 13, kMethods = 1u << 13;

  // Without memory it knows nothing. [owner]
  void open(const UnitMemory& memory) {
    pairs_ = memory.allocate<Pair>(kPairs);
    methods_ = memory.allocate<Method>(kMethods);
  }
  void close(const UnitMemory& memory) {
    memory.release(pairs_, kPairs);
    memory.release(methods_, kMethods);
  }
  // Forgets all unless the number is the last one: classes may have been unloaded since. [owner]
  void set_epoch(uint32_t epoch);
  // 0: not known. [owner]
  hprof_frame_id find(const hprof_raw_frame& frame) const {
    if (pairs_ == nullptr) return 0;
    const Pair& pair = pairs_[place(frame)];
    for (const Entry& entry : pair.entries) {
      if (entry.method == frame.method && entry.location == frame.location) return entry.id;
    }
    return 0;
  }
  // In place of the older of two. [owner]
  void put(const hprof_raw_frame& frame, hprof_frame_id id);
  // The jmethodID of the VM's method; null: not known. [owner]
  void* id_of(const void* method) const {
    if (methods_ == nullptr) return nullptr;
    const Method& known = methods_[place(method)];
    return known.method == method ? known.id : nullptr;
  }
  // In place of another one. [owner]
  void put_id(const void* method, void* id) {
    if (methods_ != nullptr) methods_[place(method)] = {method, id};
  }

 private:
  struct Entry {
    void* method;  // null: free
    int32_t location;
    hprof_frame_id id;
  };
  struct Method {
    const void* method;  // null: free
    void* id;
  };
  struct Pair {
    Entry entries[2];
  };
  static uint64_t place(const hprof_raw_frame& frame) {
    static_assert(kPairs == 1u << 13, "the upper thirteen bits of the hash");
    const uint64_t word =
        reinterpret_cast<uintptr_t>(frame.method) + (static_cast<uint64_t>(frame.location) << 48);
    return word * 0x9e3779b97f4a7c15ull >> 51;
  }

  static uint64_t place(const void* method) {
    static_assert(kMethods == 1u << 13, "the upper thirteen bits of the hash");
    return reinterpret_cast<uintptr_t>(method) * 0x9e3779b97f4a7c15ull >> 51;
  }

  Pair* pairs_ = nullptr;
  Method* methods_ = nullptr;
  uint32_t epoch_ = 0;
};

}  // namespace hprof::sites
