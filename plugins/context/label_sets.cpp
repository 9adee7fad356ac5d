#include "label_sets.h"

namespace hprof::context {

void LabelSets::begin() {
  const uint32_t next = session_.load(std::memory_order_relaxed) % (kSessions - 1) + 1;
  session_.store(0, std::memory_order_release);
  if (count_.load(std::memory_order_relaxed) != 0) {
    for (auto& text : texts_) text.store(0, std::memory_order_relaxed);
  }
  count_.store(0, std::memory_order_relaxed);
  session_.store(next, std::memory_order_release);
}

// Half of the slots stay free, so a search is short.
uint32_t LabelSets::number_of(hprof_string_id text, uint32_t most) {
  const uint32_t session = session_.load(std::memory_order_acquire) << kSlotBits;
  const uint32_t start = text * 2654435769u >> (32 - kSlotBits);
  for (uint32_t i = 0; i < kSlots && text != 0; i++) {
    const uint32_t slot = (start + i) & (kSlots - 1);
    uint32_t there = texts_[slot].load(std::memory_order_acquire);
    if (there == 0) {
      if (count_.load(std::memory_order_relaxed) >= most) return 0;
      if (texts_[slot].compare_exchange_strong(there, text, std::memory_order_acq_rel)) {
        count_.fetch_add(1, std::memory_order_relaxed);
        there = text;
      }
    }
    if (there == text) return session | slot;
  }
  return 0;
}

}  // namespace hprof::context
