// What the engines keep per thread.
#include "plugins/cpu_samples/thread_states.h"

namespace hprof::samples {

void ThreadStates::take(ThreadState* state, hprof_thread_serial serial) {
  state->generation.fetch_add(1, std::memory_order_relaxed);
  state->os_id = 0;
  state->timer = nullptr;
  state->sampled.store(1, std::memory_order_relaxed);
  state->cpu_seen.store(0, std::memory_order_relaxed);
  state->cpu_open.store(0, std::memory_order_relaxed);
  state->serial.store(serial, std::memory_order_relaxed);
}

void ThreadStates::close(const Services& services) {
  for (Chain& chain : chains_) {
    ThreadState* state = chain.first.exchange(nullptr, std::memory_order_relaxed);
    while (state != nullptr) {
      ThreadState* next = state->next;
      services.release(state, 1);
      state = next;
    }
  }
}

}  // namespace hprof::samples
