// The seeds of a fuzz target as text, for the standalone driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

std::vector<std::string> fuzz_seeds();

extern "C" inline size_t fuzz_seed(size_t number, const uint8_t** data);
extern "C" __attribute__((used)) inline size_t fuzz_seed(size_t number, const uint8_t** data) {
  static const std::vector<std::string> seeds = fuzz_seeds();
  if (number >= seeds.size()) return 0;
  *data = reinterpret_cast<const uint8_t*>(seeds[number].data());
  return seeds[number].size();
}
