#include "core/base/counters.h"

#include "core/base/text_tools.h"

namespace hprof {
namespace {

// One after the other, each with its NUL.
constexpr char kCoreTexts[] =
#define HPROF_LOSS_TEXT(name, text) text "\0"
    HPROF_CORE_LOSSES(HPROF_LOSS_TEXT);
#undef HPROF_LOSS_TEXT

}  // namespace

void LossCounters::open() {
  for (Str text = kCoreTexts; !text.empty(); text = Str(text.data + text.size + 1)) counter(text);
}

uint64_t* LossCounters::counter(Str text) {
  if (text.empty()) return nullptr;
  text = text.part(0, kTextBytes - 1);
  for (uint32_t i = 0; i < kMost; ++i) {
    uint32_t state = states_[i].load(std::memory_order_acquire);
    if (state == kFree && states_[i].compare_exchange_strong(state, kClaimed, std::memory_order_acquire,
                                                             std::memory_order_acquire)) {
      copy_text(texts_[i], kTextBytes, text);
      states_[i].store(kReady, std::memory_order_release);
      return &values_[i];
    }
    while (state != kReady) state = states_[i].load(std::memory_order_acquire);
    if (text == Str(texts_[i])) return &values_[i];
  }
  return nullptr;
}

}  // namespace hprof
