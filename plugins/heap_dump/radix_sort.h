// LSD radix sort (Knuth, The Art of Computer Programming, volume 3, 5.2.5): a million numbers by 25 bits in a
// tenth of the time of std::sort.
#pragma once

#include <cstdint>

namespace hprof::dump {

// Sorts `count` numbers, fewer than 2^32, by their bits from `low` up to, not including, `high`; stable.
// `spare`: room for as many. Returns where the result is: `numbers` or `spare`. Takes 8 KiB of stack. Any
// thread.
inline uint64_t* radix_sort(uint64_t* numbers, uint64_t* spare, uint64_t count, uint32_t low, uint32_t high) {
  constexpr uint32_t kDigitBits = 11;
  constexpr uint32_t kDigits = 1u << kDigitBits;
  for (uint32_t shift = low; shift < high; shift += kDigitBits) {
    const uint32_t bits = high - shift < kDigitBits ? high - shift : kDigitBits;
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    uint32_t next[kDigits] = {};  // how many numbers have a digit; then where the next of them goes
    for (uint64_t i = 0; i < count; i++) next[numbers[i] >> shift & mask]++;
    uint32_t sum = 0;
    for (uint32_t& entry : next) {
      const uint32_t numbers_with_digit = entry;
      entry = sum;
      sum += numbers_with_digit;
    }
    for (uint64_t i = 0; i < count; i++) spare[next[numbers[i] >> shift & mask]++] = numbers[i];
    uint64_t* sorted = spare;
    spare = numbers;
    numbers = sorted;
  }
  return numbers;
}

}  // namespace hprof::dump
