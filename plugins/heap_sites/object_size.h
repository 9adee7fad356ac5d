// How to find the size of an object from its class and header, in one word: kMeasured, by asking the VM; the
// number of bytes, where all objects of the class have the same size; or for arrays the log2 of the element
// size, and how many computed sizes are still to be compared with the VM's.
#pragma once

#include <cstdint>

namespace hprof::sites {

constexpr uint32_t kMeasured = 0;
constexpr uint32_t kArraySize = 1u << 31, kOneCheck = 1u << 8, kShifts = kOneCheck - 1;
constexpr uint32_t kChecks = 64;

constexpr uint32_t array_size(uint32_t element_shift) {
  return kArraySize | kChecks * kOneCheck | element_shift;
}
constexpr bool is_size_of_all(uint32_t word) { return word != kMeasured && word < kArraySize; }
// True: of an array, and compared often enough.
constexpr bool is_computed(uint32_t word) { return (word & ~kShifts) == kArraySize; }
constexpr uint32_t shift_in(uint32_t word) { return word & kShifts; }

// log2 of an array's element size, by its class' signature, "[I". [any]
uint32_t element_shift(const char* signature, uint32_t reference_shift);

}  // namespace hprof::sites
