// SPDX-License-Identifier: Apache-2.0
// What native methods of Java classes use: the program may call them when the session has ended.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/services.hpp>

namespace hprof {

// Lets threads of the application use a session until it ends. Zeroed memory is a closed gate.
class SessionGate {
 public:
  void open() { is_open_.store(1, std::memory_order_seq_cst); }
  bool is_open() const { return is_open_.load(std::memory_order_relaxed) != 0; }
  // Waits until no thread is inside. [control]
  void close(const Services& services) {
    is_open_.store(0, std::memory_order_seq_cst);
    while (inside_.load(std::memory_order_seq_cst) != 0) services.threads->pause(services.host, kPauseNs);
  }
  // Calls work(), which waits for nothing that the control thread has; false: the gate is closed. [app]
  template <class Work>
  bool enter(const Work& work) {
    inside_.fetch_add(1, std::memory_order_seq_cst);
    const bool open = is_open_.load(std::memory_order_seq_cst) != 0;
    if (open) work();
    inside_.fetch_sub(1, std::memory_order_release);
    return open;
  }

 private:
  static constexpr uint64_t kPauseNs = 1'000'000;

  std::atomic<uint32_t> is_open_{0};
  std::atomic<uint32_t> inside_{0};
};

}  // namespace hprof
