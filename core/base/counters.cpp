#include "core/base/counters.h"

#include "core/base/text_tools.h"

namespace hprof {
namespace {

const char* const kCoreWords[] = {
#define HPROF_LOSS_WORDS(name, words) words,
    HPROF_CORE_LOSSES(HPROF_LOSS_WORDS)
#undef HPROF_LOSS_WORDS
};
static_assert(sizeof kCoreWords / sizeof *kCoreWords == static_cast<size_t>(Loss::kCount),
              "one text per reason");

}  // namespace

void LossCounters::open() {
  for (const char* words : kCoreWords) counter(Str(words));
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
