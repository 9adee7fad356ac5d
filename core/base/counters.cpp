#include "core/base/counters.h"

#include "core/base/text_tools.h"

namespace hprof {
namespace {

// One after the other, each with its NUL.
constexpr char kCoreWords[] =
#define HPROF_LOSS_WORDS(name, words) words "\0"
    HPROF_CORE_LOSSES(HPROF_LOSS_WORDS);
#undef HPROF_LOSS_WORDS

}  // namespace

void LossCounters::open() {
  for (Str words = kCoreWords; !words.empty(); words = Str(words.data + words.size + 1)) counter(words);
}

uint64_t* LossCounters::counter(Str words) {
  if (words.empty()) return nullptr;
  words = words.part(0, kWords - 1);
  for (uint32_t i = 0; i < kMost; ++i) {
    uint32_t state = states_[i].load(std::memory_order_acquire);
    if (state == kFree && states_[i].compare_exchange_strong(state, kClaimed, std::memory_order_acquire,
                                                             std::memory_order_acquire)) {
      copy_text(words_[i], kWords, words);
      states_[i].store(kReady, std::memory_order_release);
      return &values_[i];
    }
    while (state != kReady) state = states_[i].load(std::memory_order_acquire);
    if (words == Str(words_[i])) return &values_[i];
  }
  return nullptr;
}

}  // namespace hprof
