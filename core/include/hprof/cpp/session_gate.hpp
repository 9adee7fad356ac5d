// SPDX-License-Identifier: Apache-2.0
// What native methods of Java classes use: the program may call them when the session has ended.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>

namespace hprof {

// Lets threads of the application use a session until it ends. Zeroed memory is a closed gate. Threads are counted in
// several places, by the address of their stacks, so that they seldom write to the same memory.
class SessionGate {
 public:
  void open() { is_open_.word.store(1, std::memory_order_seq_cst); }
  bool is_open() const { return is_open_.word.load(std::memory_order_relaxed) != 0; }
  // Waits until no thread is inside. False: one still is after two seconds, such as one that a debugger has suspended;
  // then the caller keeps what it uses. The message says so. unit: "queues=y". [control]
  [[nodiscard]] bool close(const Services& services, const char* unit) {
    is_open_.word.store(0, std::memory_order_seq_cst);
    for (uint32_t i = 0; is_used() && i < kMostPauses; i++) services.threads->pause(services.host, kPauseNs);
    if (!is_used()) return true;
    TextLine<120> line;
    services.log->message(services.host,
                          line.add(unit).add(": a thread is still in a probe: the memory is not freed").c_str());
    return false;
  }
  // Calls work(), which waits for nothing that the control thread has; false: the gate is closed. [app]
  template <class Work>
  bool enter(const Work& work) {
    std::atomic<uint32_t>& inside = places_[place_of_thread()].word;
    inside.fetch_add(1, std::memory_order_seq_cst);
    const bool open = is_open_.word.load(std::memory_order_seq_cst) != 0;
    if (open) work();
    inside.fetch_sub(1, std::memory_order_release);
    return open;
  }

 private:
  static constexpr uint64_t kPauseNs = 1'000'000;
  static constexpr uint32_t kMostPauses = 2000, kPlaceBits = 4;
  struct CacheLine {
    std::atomic<uint32_t> word;
    uint32_t unused[15];
  };

  // Stacks are at addresses that differ by a multiple of some size, so the address is hashed.
  static uint32_t place_of_thread() {
    const char here = 0;
    const auto stack = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&here) >> 16);
    return stack * 0x9e3779b1u >> (32 - kPlaceBits);
  }
  bool is_used() const {
    for (const CacheLine& place : places_) {
      if (place.word.load(std::memory_order_seq_cst) != 0) return true;
    }
    return false;
  }

  CacheLine is_open_ = {};
  CacheLine places_[1u << kPlaceBits] = {};  // how many threads are inside
};

}  // namespace hprof
